"""Scores that a table of true and predicted classes tells: accuracy and its kin.

The table has a row for each true class and a column for each predicted one. Every
function here takes many tables at once, along the leading axes. Leaving a sample out
takes one from a cell, so the jackknife over all samples is one over the cells.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from quorate._scoring._judged import Judged
from quorate._scoring._score import Score, positive_place
from quorate._typing import Array, FloatArray, IntArray
from quorate._votes import Outcome

TableFunction = Callable[[FloatArray], FloatArray]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True, repr=False)
class TableScore(Score):
    """A function of the table of true and predicted classes.

    A sample on which nobody votes counts as a guess: a share of it for each class.
    """

    function: TableFunction

    def take(self, outcome: Outcome, y: IntArray) -> Array:
        """See :class:`Score`."""
        return np.asarray(outcome.codes, dtype=np.int32)

    def value(self, taken: Array, y: IntArray) -> float:
        """See :class:`Score`."""
        return float(self.of_tables(count_pairs(taken, y, self.classes.size)))

    def of_tables(self, counts: FloatArray) -> FloatArray:
        """Return the score of tables with a last column of samples nobody votes on."""
        return self.function(_guessed(counts))

    def judge(self, taken: Array, y: IntArray) -> Judged:
        """See :class:`Score`."""
        score, parts = self.parts(count_pairs(taken, y, self.classes.size))
        return Judged(score, parts[y, taken])

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


def _guessed(counts: FloatArray) -> FloatArray:
    """Return tables in which what nobody votes on is spread over the classes."""
    known, nobody = counts[..., :-1], counts[..., -1:]
    return np.asarray(known + nobody / known.shape[-1])


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


def table_function(name: str, classes: Array) -> TableFunction | None:
    """Return the function of a name, None if it is not one of a table."""
    plain = {"balanced_accuracy": balanced, "matthews_corrcoef": matthews}
    if name in plain:
        return plain[name]
    kind, _, average = name.partition("_")
    if kind not in ("precision", "recall", "f1", "jaccard"):
        return None
    if average in ("macro", "micro", "weighted"):
        return partial(by_class, kind=kind, average=average, place=0)
    place = positive_place(classes)
    if average or place is None:
        return None
    return partial(by_class, kind=kind, average="binary", place=place)


def _right(tables: FloatArray) -> FloatArray:
    return np.asarray(np.diagonal(tables, axis1=-2, axis2=-1))


def _over(above: FloatArray, below: FloatArray) -> FloatArray:
    """Divide; nothing over nothing is 0."""
    there = below > 0
    return np.asarray(np.where(there, above, 0.0) / np.where(there, below, 1.0))
