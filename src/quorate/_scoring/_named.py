"""Scores known by name, computed from confusion matrices or class shares.

A table has a row for each true class and a column for each predicted one. Every
function of tables takes many at once, along the leading axes. Leaving a sample out
reduces one cell by one, so the jackknife over samples is a loop over cells.
"""

from abc import abstractmethod
from collections.abc import Callable
from functools import partial
from typing import TypeAlias

import numpy as np
from scipy.stats import rankdata

from quorate._kernels.limits import excess_limit, upper_limit
from quorate._scoring._score import Score, ScoreEstimate
from quorate._typing import Array, BoolArray, FloatArray, IntArray
from quorate._votes import Prediction

TableFunction: TypeAlias = Callable[[FloatArray], FloatArray]
# For each evaluated class: its code, the ranking values, and its samples.
_Columns: TypeAlias = list[tuple[int, FloatArray, BoolArray]]


# Confusion matrices


class TableScore(Score):
    """A function of the confusion matrix.

    A sample without votes counts as a guess: an equal share for each class.
    """

    __slots__ = ()

    def inputs(self, prediction: Prediction) -> Array:
        """See :class:`Score`."""
        return np.asarray(prediction.codes(), dtype=np.int32)

    def value(self, inputs: Array, y: IntArray) -> float:
        """See :class:`Score`."""
        return float(self.of_tables(count_pairs(inputs, y, self.classes.size)))

    def value_and_parts(self, inputs: Array, y: IntArray) -> tuple[float, FloatArray]:
        """See :class:`Score`."""
        score, parts = self.cell_parts(count_pairs(inputs, y, self.classes.size))
        return score, parts[y, inputs]

    def of_tables(self, counts: FloatArray) -> FloatArray:
        """Return the score of tables whose last column counts samples without votes."""
        known, nobody = counts[..., :-1], counts[..., -1:]
        function = table_function(self.name, self.classes)
        return function(np.asarray(known + nobody / known.shape[-1]))

    def cell_parts(self, counts: FloatArray) -> tuple[float, FloatArray]:
        """Return the score of a table, and the pseudo-value of each cell's samples."""
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
    """An accuracy with exact limits."""

    __slots__ = ()
    _ddof = 0

    def loss_limit(self, confidence: float) -> float:
        """See :class:`ScoreEstimate`."""
        wrong = np.ceil(self.losses.sum() - 1e-9)
        return float(upper_limit(wrong, self.losses.size, 1 - confidence))

    def excess_limit(self, other: ScoreEstimate, confidence: float) -> float:
        """See :class:`ScoreEstimate`.

        Partial errors at ties are rounded in favour of ``other``.
        """
        differences = self.losses - other.losses
        more = np.ceil(np.maximum(differences, 0).sum() - 1e-9)
        less = np.floor(np.maximum(-differences, 0).sum() + 1e-9)
        return float(excess_limit(more, less, differences.size, 1 - confidence))


class Accuracy(TableScore):
    """The share of samples predicted correctly, by counting errors.

    At a tie of the plurality vote an error counts in part, which a confusion matrix
    cannot express. Counts are integers until the last division.
    """

    __slots__ = ()

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
    # Labels use small integer types, in which products of classes overflow.
    places = y.astype(np.intp) * width + codes % width
    found = np.bincount(places, minlength=n_classes * width)
    return found.reshape(n_classes, width).astype(float)


def accuracy(tables: FloatArray) -> FloatArray:
    """Return the share of samples on the diagonal."""
    return _over(_right(tables).sum(axis=-1), tables.sum(axis=(-2, -1)))


def balanced(tables: FloatArray) -> FloatArray:
    """Return the mean recall of the classes that occur."""
    true = tables.sum(axis=-1)
    recalls = _over(_right(tables), true)
    return _over(recalls.sum(axis=-1), (true > 0).sum(axis=-1))


def matthews(tables: FloatArray) -> FloatArray:
    """Return the Matthews correlation coefficient."""
    true, predicted = tables.sum(axis=-1), tables.sum(axis=-2)
    n = true.sum(axis=-1)
    both = _right(tables).sum(axis=-1) * n - (true * predicted).sum(axis=-1)
    spread = (n**2 - (true**2).sum(axis=-1)) * (n**2 - (predicted**2).sum(axis=-1))
    return _over(both, np.sqrt(np.maximum(spread, 0.0)))


def by_class(tables: FloatArray, kind: str, average: str | int) -> FloatArray:
    """Return precision, recall, F1 or Jaccard index of a class or averaged."""
    right = _right(tables)
    true, predicted = tables.sum(axis=-1), tables.sum(axis=-2)
    above, below = {
        "precision": (right, predicted),
        "recall": (right, true),
        "f1": (2 * right, true + predicted),
        "jaccard": (right, true + predicted - right),
    }[kind]
    if average == "micro":
        return _over(above.sum(axis=-1), below.sum(axis=-1))
    each = _over(above, below)
    if isinstance(average, int):
        return np.asarray(each[..., average])
    weights = true if average == "weighted" else (true + predicted > 0).astype(float)
    return _over((each * weights).sum(axis=-1), weights.sum(axis=-1))


_PLAIN: dict[str, TableFunction] = {
    "accuracy": accuracy,
    "balanced_accuracy": balanced,
    "matthews_corrcoef": matthews,
}


def table_function(name: str, classes: Array) -> TableFunction:
    """Return the function of confusion matrices for a named score.

    It is looked up by name, so that a stored score contains no function. Raises
    KeyError for scores that a confusion matrix does not determine.
    """
    kind, _, average = name.partition("_")
    if kind not in ("precision", "recall", "f1", "jaccard"):
        return _PLAIN[name]
    if average in ("macro", "micro", "weighted"):
        return partial(by_class, kind=kind, average=average)
    place = positive_place(classes)
    if average or place is None:
        raise KeyError(name)
    return partial(by_class, kind=kind, average=place)


def positive_place(classes: Array) -> int | None:
    """Return which of two classes scikit-learn takes for the positive one, if any.

    Examples
    --------
    >>> import numpy as np
    >>> from quorate._scoring._named import positive_place
    >>> positive_place(np.array([0, 1])), positive_place(np.array([1, 2]))
    (1, 0)
    """
    there = np.flatnonzero(classes == 1)
    return int(there[0]) if classes.size == 2 and there.size == 1 else None


def _right(tables: FloatArray) -> FloatArray:
    return np.asarray(np.diagonal(tables, axis1=-2, axis2=-1))


def _over(above: FloatArray, below: FloatArray) -> FloatArray:
    """Divide; 0 / 0 is 0."""
    there = below > 0
    return np.asarray(np.where(there, above, 0.0) / np.where(there, below, 1.0))


# Class shares


class MeanScore(Score):
    """The mean of a function of the class shares of a sample."""

    __slots__ = ()

    def inputs(self, prediction: Prediction) -> Array:
        """See :class:`Score`."""
        return MEANS[self.name](prediction.shares(), prediction.y)

    def value(self, inputs: Array, y: IntArray) -> float:
        """See :class:`Score`."""
        return float(inputs.mean())

    def value_and_parts(self, inputs: Array, y: IntArray) -> tuple[float, FloatArray]:
        """See :class:`Score`."""
        return self.value(inputs, y), inputs


def log_likelihood(shares: FloatArray, y: IntArray) -> FloatArray:
    """Return the log of the true class's share, clipped as in scikit-learn."""
    least = np.finfo(shares.dtype).eps
    return np.asarray(np.log(np.clip(shares[np.arange(y.size), y], least, 1 - least)))


def negated_brier(shares: FloatArray, y: IntArray) -> FloatArray:
    """Return the negative squared distance to the truth; half of it for two classes."""
    if shares.shape[1] == 2:
        return np.asarray(-((shares[:, 1] - y) ** 2))
    squares = (shares**2).sum(axis=1) - 2 * shares[np.arange(y.size), y] + 1
    return np.asarray(-squares)


MEANS = {"neg_log_loss": log_likelihood, "neg_brier_score": negated_brier}


class _Ranking(Score):
    """An area for one of two classes, or a one-vs-rest mean over classes."""

    __slots__ = ()

    @property
    def place(self) -> int:
        """Position of the positive class."""
        return 1

    @abstractmethod
    def of_class(self, ranking: FloatArray, there: BoolArray) -> float:
        """Return the area for a class, given the mask of its samples."""

    def inputs(self, prediction: Prediction) -> Array:
        """See :class:`Score`."""
        shares = prediction.shares()
        return shares if self.classes.size > 2 else shares[:, [self.place]]

    def value(self, inputs: Array, y: IntArray) -> float:
        """See :class:`Score`."""
        columns = self._columns(inputs, y)
        areas = np.array([self.of_class(ranks, there) for _, ranks, there in columns])
        return float(areas @ self._weights(columns)) if columns else np.nan

    def _columns(self, inputs: Array, y: IntArray) -> _Columns:
        codes = [self.place] if inputs.shape[1] == 1 else range(inputs.shape[1])
        pairs = zip(codes, inputs.T, strict=True)
        columns = [(code, column, y == code) for code, column in pairs]
        return [each for each in columns if each[2].any() and not each[2].all()]

    def _weights(self, columns: _Columns) -> FloatArray:
        """Return the class weights: equal, or by number of samples."""
        if not self.name.endswith("_weighted"):
            return np.full(len(columns), 1.0 / max(len(columns), 1))
        sizes = np.array([there.sum() for _, _, there in columns], dtype=float)
        return np.asarray(sizes / sizes.sum())


class AreaUnderRoc(_Ranking):
    """The area under the ROC curve."""

    __slots__ = ()

    def of_class(self, ranking: FloatArray, there: BoolArray) -> float:
        """See :class:`_Ranking`."""
        n_in = int(there.sum())
        before = float(rankdata(ranking)[there].sum()) - n_in * (n_in + 1) / 2
        return before / (n_in * (there.size - n_in))

    def value_and_parts(self, inputs: Array, y: IntArray) -> tuple[float, FloatArray]:
        """See :class:`Score`.

        The parts are DeLong's placements of each sample among those of the other class.
        """
        columns = self._columns(inputs, y)
        if not columns:
            return np.nan, np.full(y.size, np.nan)
        areas, parts = np.empty(len(columns)), np.empty((len(columns), y.size))
        for place, (_, ranking, there) in enumerate(columns):
            areas[place], parts[place] = _placements(ranking, there)
        weights = self._weights(columns)
        score, together = float(areas @ weights), weights @ parts
        if self.name.endswith("_weighted") and inputs.shape[1] > 1:
            # Another sample of a class also changes the weight of the class.
            own = np.zeros(self.classes.size)
            own[[code for code, _, _ in columns]] = areas
            together = together + own[y] - score
        return score, together


def _placements(ranking: FloatArray, there: BoolArray) -> tuple[float, FloatArray]:
    """Return the area, and its per-sample parts."""
    n, n_in = there.size, int(there.sum())
    n_out = n - n_in
    ranks = rankdata(ranking)
    passed = (ranks[there] - rankdata(ranking[there])) / n_out
    missed = 1.0 - (ranks[~there] - rankdata(ranking[~there])) / n_in
    area = float(passed.mean())
    parts = np.empty(n)
    parts[there] = area + n / n_in * (passed - area)
    parts[~there] = area + n / n_out * (missed - area)
    return area, parts


class AveragePrecision(_Ranking):
    """Average precision: the mean precision at the ranks of the class's samples."""

    __slots__ = ()

    @property
    def place(self) -> int:
        """See :class:`_Ranking`."""
        return positive_place(self.classes) or 0

    def of_class(self, ranking: FloatArray, there: BoolArray) -> float:
        """See :class:`_Ranking`."""
        order = np.argsort(-ranking, kind="stable")
        falling, hits = ranking[order], np.cumsum(there[order])
        # Samples with equal scores are added together.
        last = np.append(np.flatnonzero(np.diff(falling)), falling.size - 1)
        hits = hits[last]
        return float(np.sum(np.diff(hits, prepend=0) * hits / (last + 1)) / hits[-1])
