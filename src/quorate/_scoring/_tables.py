"""Scores that a table of true and predicted classes tells: accuracy and its kin.

The table has a row for each true class and a column for each predicted one. Every
function here takes many tables at once, along the leading axes. Leaving a sample out
takes one from a cell, so the jackknife over all samples is one over the cells.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np

from quorate._kernels.limits import excess_limit, upper_limit
from quorate._scoring._score import (
    LossCurve,
    LossSums,
    Score,
    ScoreEstimate,
    positive_place,
)
from quorate._typing import Array, BoolArray, FloatArray, IntArray
from quorate._votes import Prediction, Votes, subset_errors

TableFunction = Callable[[FloatArray], FloatArray]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True, repr=False)
class TableScore(Score):
    """A function of the table of true and predicted classes.

    A sample on which nobody votes counts as a guess: a share of it for each class.
    """

    def inputs(self, prediction: Prediction) -> Array:
        """See :class:`Score`."""
        return np.asarray(prediction.codes(), dtype=np.int32)

    def value(self, inputs: Array, y: IntArray) -> float:
        """See :class:`Score`."""
        return float(self.of_tables(count_pairs(inputs, y, self.classes.size)))

    def estimate(self, inputs: Array, y: IntArray) -> ScoreEstimate:
        """See :class:`Score`."""
        score, parts = self.parts(count_pairs(inputs, y, self.classes.size))
        return ScoreEstimate(score, self.top - score, -parts[y, inputs])

    def of_tables(self, counts: FloatArray) -> FloatArray:
        """Return the score of tables with a last column of samples nobody votes on."""
        known, nobody = counts[..., :-1], counts[..., -1:]
        function = table_function(self.name, self.classes)
        return function(np.asarray(known + nobody / known.shape[-1]))

    def parts(self, counts: FloatArray) -> tuple[float, FloatArray]:
        """Return the score of a table, and the part of a sample of each cell in it."""
        score, n = float(self.of_tables(counts)), counts.sum()
        parts = np.full(counts.shape, score)
        if n < 2:
            return score, parts
        rows, columns = np.nonzero(counts)
        without = np.repeat(counts[None], rows.size, axis=0)
        without[np.arange(rows.size), rows, columns] -= 1
        parts[rows, columns] = n * score - (n - 1) * self.of_tables(without)
        return score, parts


class AccuracyEstimate(ScoreEstimate):
    """An accuracy, with exact limits."""

    __slots__ = ()

    def behind(self, other: ScoreEstimate) -> tuple[float, float]:
        """See :class:`ScoreEstimate`."""
        differ = self.losses - other.losses
        return float(differ.mean()), self._standard_error(differ)

    def loss_limit(self, confidence: float) -> float:
        """See :class:`ScoreEstimate`."""
        wrong = float(np.ceil(self.losses.sum() - 1e-9))
        return float(upper_limit(wrong, self.losses.size, 1 - confidence))

    @staticmethod
    def _standard_error(losses: FloatArray) -> float:
        return float(losses.std() / np.sqrt(losses.size))


class Accuracy(TableScore):
    """The share of samples predicted right: errors are counted, not classes.

    At a tie of the plurality vote an error counts in part, so that the table of
    predicted classes does not tell. Counts are whole numbers until the last division.
    """

    __slots__ = ()

    @property
    def is_accuracy(self) -> bool:
        """See :class:`Score`."""
        return True

    @property
    def loss_without_members(self) -> float:
        """See :class:`Score`."""
        return 1.0 - 1.0 / self.classes.size

    def inputs(self, prediction: Prediction) -> Array:
        """See :class:`Score`."""
        return prediction.errors()

    def value(self, inputs: Array, y: IntArray) -> float:
        """See :class:`Score`."""
        return float((1.0 - inputs).mean())

    def loss(self, inputs: Array, y: IntArray) -> float:
        """See :class:`Score`."""
        return float(inputs.mean())

    def estimate(self, inputs: Array, y: IntArray) -> ScoreEstimate:
        """See :class:`Score`."""
        return AccuracyEstimate(self.value(inputs, y), float(inputs.mean()), inputs)

    def subset_losses(
        self, votes: Votes, supports: BoolArray, *, voted_only: bool = False
    ) -> tuple[FloatArray, FloatArray]:
        """See :class:`Score`."""
        errors, spread = subset_errors(votes, supports)
        if voted_only and votes.is_masked:  # guesses have been counted
            may = votes.codes >= 0
            idle = np.array([1 - may[each].any(axis=0).mean() for each in supports])
            errors = (errors - idle * self.loss_without_members) / (1 - idle)
        return errors, spread

    def loss_sums(self, votes: Votes, n_sizes: int) -> LossSums:
        """See :class:`Score`."""
        return ErrorSums(self, votes, n_sizes)

    @property
    def loss_title(self) -> str:
        """See :class:`Score`."""
        return "error"

    def loss_text(self, loss: float) -> str:
        """See :class:`Score`."""
        return f"{loss:.4f}"


class ErrorSums(LossSums):
    """Errors of 1, 2, ... members, added up fold by fold without being kept."""

    def __init__(self, score: Score, votes: Votes, n_sizes: int) -> None:
        super().__init__(score, votes, n_sizes)
        self.full = votes.sample_errors()
        # Sums over samples: errors, their squares, errors where all members err too,
        # and by how much more and less than all the first members err.
        self.sums, self.squares, self.shared = np.zeros((3, n_sizes))
        self.more, self.less = np.zeros((2, n_sizes))

    def watch(self, samples: IntArray, prefixes: Iterable[Array]) -> Iterator[Array]:
        """See :class:`LossSums`."""
        full = self.full[samples]
        for size, errors in enumerate(prefixes):
            if size < self.n_sizes:
                self.more[size] += np.maximum(errors - full, 0).sum()
                self.less[size] += np.maximum(full - errors, 0).sum()
            yield errors

    def add(self, samples: IntArray, rows: Array) -> None:
        """See :class:`LossSums`."""
        self.sums += rows.sum(axis=1)
        self.squares += np.square(rows).sum(axis=1)
        self.shared += rows @ self.full[samples]

    def curve(self, n_sizes: int, confidence: float) -> LossCurve:
        """See :class:`LossSums`."""
        n, full = self.full.size, self.full.mean()
        errors = self.sums / n
        spread = np.maximum(self.squares / n - errors**2, 0)
        differ = (self.squares - 2 * self.shared + np.square(self.full).sum()) / n
        # Ties count in part and are rounded against the smaller ensemble, sums not.
        limits = excess_limit(
            np.ceil(self.more - 1e-9), np.floor(self.less + 1e-9), n, 1 - confidence
        )
        return LossCurve(
            errors[:n_sizes],
            np.sqrt(spread / n)[:n_sizes],
            float(full),
            np.asarray(limits)[:n_sizes],
            np.sqrt(np.maximum(differ - (errors - full) ** 2, 0) / n)[:n_sizes],
        )


def count_pairs(codes: Array, y: IntArray, n_classes: int) -> FloatArray:
    """Count true and predicted classes; the last column is for no prediction (-1).

    Examples
    --------
    >>> import numpy as np
    >>> from quorate._scoring import count_pairs
    >>> count_pairs(np.array([0, 1, -1]), np.array([0, 0, 1]), 2)
    array([[1., 1., 0.],
           [0., 0., 1.]])
    """
    width = n_classes + 1
    # Labels are kept in small integers, which products of classes leave.
    places = y.astype(np.intp) * width + codes % width
    found = np.bincount(places, minlength=n_classes * width)
    return found.reshape(n_classes, width).astype(float)


def class_recalls(codes: Array, y: IntArray, n_classes: int) -> FloatArray:
    """Return the share of each class that is predicted right; NaN without samples.

    Examples
    --------
    >>> import numpy as np
    >>> from quorate._scoring import class_recalls
    >>> class_recalls(np.array([0, 1, 1]), np.array([0, 0, 1]), 2)
    array([0.5, 1. ])
    """
    there = np.bincount(y, minlength=n_classes).astype(float)
    right = np.bincount(y[codes == y], minlength=n_classes)
    there[there == 0] = np.nan
    return np.asarray(right / there)


def accuracy(tables: FloatArray) -> FloatArray:
    """Return the share of samples on the diagonal."""
    right = np.trace(tables, axis1=-2, axis2=-1)
    return np.asarray(right / tables.sum(axis=(-2, -1)))


def balanced(tables: FloatArray) -> FloatArray:
    """Return the mean recall of the classes that have samples."""
    true = tables.sum(axis=-1)
    there = true > 0
    recalls = _over(_right(tables), true)
    return np.asarray(recalls.sum(axis=-1) / np.maximum(there.sum(axis=-1), 1))


def matthews(tables: FloatArray) -> FloatArray:
    """Return Matthews' correlation of true and predicted classes."""
    true, said = tables.sum(axis=-1), tables.sum(axis=-2)
    n = true.sum(axis=-1)
    both = _right(tables).sum(axis=-1) * n - (true * said).sum(axis=-1)
    spread = (n**2 - (true**2).sum(axis=-1)) * (n**2 - (said**2).sum(axis=-1))
    return _over(both, np.sqrt(np.maximum(spread, 0.0)))


def by_class(tables: FloatArray, kind: str, average: str, place: int) -> FloatArray:
    """Return precision, recall, F1 or Jaccard's index, averaged over classes."""
    right = _right(tables)
    true, said = tables.sum(axis=-1), tables.sum(axis=-2)
    above, below = {
        "precision": (right, said),
        "recall": (right, true),
        "f1": (2 * right, true + said),
        "jaccard": (right, true + said - right),
    }[kind]
    if average == "micro":
        return _over(above.sum(axis=-1), below.sum(axis=-1))
    each = _over(above, below)
    if average == "binary":
        return np.asarray(each[..., place])
    weights = true if average == "weighted" else (true + said > 0).astype(float)
    return _over((each * weights).sum(axis=-1), weights.sum(axis=-1))


def is_of_a_table(name: str, classes: Array) -> bool:
    """Tell whether a table of true and predicted classes tells the score of a name."""
    kind, _, average = name.partition("_")
    if kind not in ("precision", "recall", "f1", "jaccard"):
        return name in _PLAIN
    return average in _AVERAGES or (not average and positive_place(classes) is not None)


def table_function(name: str, classes: Array) -> TableFunction:
    """Return the function of a name, of those that :func:`is_of_a_table`.

    It is looked up by name, so that a score in a file holds no function.
    """
    if name in _PLAIN:
        return _PLAIN[name]
    kind, _, average = name.partition("_")
    place = 0 if average else positive_place(classes) or 0
    return partial(by_class, kind=kind, average=average or "binary", place=place)


_AVERAGES = ("macro", "micro", "weighted")
_PLAIN: dict[str, TableFunction] = {
    "accuracy": accuracy,
    "balanced_accuracy": balanced,
    "matthews_corrcoef": matthews,
}


def _right(tables: FloatArray) -> FloatArray:
    return np.asarray(np.diagonal(tables, axis1=-2, axis2=-1))


def _over(above: FloatArray, below: FloatArray) -> FloatArray:
    """Divide; nothing over nothing is 0."""
    there = below > 0
    return np.asarray(np.where(there, above, 0.0) / np.where(there, below, 1.0))
