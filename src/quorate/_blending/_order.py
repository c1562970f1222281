"""Whether columns that nobody named stand in the order of the sorted labels.

A model that learned 0, 1, ..., 11 has its columns in that order; the same labels as
text sort as 0, 1, 10, 11, 2, and nothing but a poor score would tell.
"""

import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from quorate._typing import Array, FloatArray, IntArray

# Samples that are enough to tell one order from another.
_ENOUGH = 5_000
_MOST_CLASSES = 200
# By so many standard errors another order has to fit better.
_CLEARLY = 5.0
# The mean recall of an order that nobody sorts by, to be taken for the true one.
_NEARLY_ALWAYS = 0.9
_SHOWN = 5
_DIGITS = re.compile(r"([0-9]+)")


class ColumnOrder:
    """True classes of samples, which tell in what order columns stand.

    Orders are compared by the mean recall of the classes, which is that of chance for
    models that say the same class, however rare, of every sample.

    Parameters
    ----------
    classes : array
        The classes, sorted.
    y : array of int
        Which of them is true, for each sample.

    Examples
    --------
    >>> import numpy as np
    >>> from quorate._blending._order import ColumnOrder
    >>> y = np.arange(60) % 3
    >>> order = ColumnOrder(np.array(["10", "8", "9"]), y)
    >>> order.check(np.eye(3)[y], "blend: 'a'")
    >>> order.check(np.eye(3)[(y - 1) % 3], "blend: 'a'")
    Traceback (most recent call last):
    ...
    ValueError: blend: 'a': the mean recall is 0%, columns sorted as the labels are, ...
    """

    def __init__(self, classes: Array, y: IntArray) -> None:
        self._classes = classes
        self._rows: Any = slice(None)
        if y.size > _ENOUGH:
            generator = np.random.default_rng(0)
            self._rows = np.sort(generator.choice(y.size, _ENOUGH, replace=False))
        self._y: IntArray = y[self._rows]
        self._counts = np.maximum(np.bincount(self._y, minlength=classes.size), 1)
        self._natural = _natural_orders(classes)

    def check(
        self, shares: FloatArray, who: str, others: Sequence[IntArray] = ()
    ) -> None:
        """Refuse probabilities that fit the classes in another order only.

        Parameters
        ----------
        shares : array of shape (n_samples, n_classes)
            Columns in the order of the sorted classes, as far as one knows.
        who : str
            Whose they are, for messages.
        others : sequence of arrays of int
            Columns of the classes in orders that may be meant next to the natural ones.
        """
        n_classes = self._classes.size
        orders = [*self._natural, *others]
        # Of two classes a model may well be wrong more often than right.
        if n_classes > _MOST_CLASSES or (n_classes < 3 and not orders):
            return
        likely = shares[self._rows].argmax(axis=1)
        pairs = np.bincount(self._y * n_classes + likely, minlength=n_classes**2)
        recalls = pairs.reshape(n_classes, n_classes) / self._counts[:, None]
        for columns in orders:
            if self._is_far_better(recalls, columns):
                self._refuse(recalls, columns, who)
        if 2 * np.trace(recalls) < n_classes:
            from scipy.optimize import linear_sum_assignment

            _, columns = linear_sum_assignment(-recalls)
            fits = _mean_recall(recalls, columns) >= _NEARLY_ALWAYS
            if fits and self._is_far_better(recalls, columns):
                self._refuse(recalls, columns, who)

    def _is_far_better(self, recalls: FloatArray, columns: IntArray) -> bool:
        n_classes = self._classes.size
        usual, other = np.diag(recalls), recalls[np.arange(n_classes), columns]
        # Each sample counts for one order, for the other, or for neither.
        noise = (usual + other)[columns != np.arange(n_classes)]
        noise = noise / self._counts[columns != np.arange(n_classes)]
        error = np.sqrt(noise.sum()) / n_classes
        gain, skill = (other - usual).mean(), other.mean() - 1 / n_classes
        return bool(gain > _CLEARLY * error and 2 * gain > skill > 0)

    def _refuse(self, recalls: FloatArray, columns: IntArray, who: str) -> None:
        fitting = self._classes[np.argsort(columns)].tolist()
        more = ", ..." if len(fitting) > _SHOWN else ""
        raise ValueError(
            f"{who}: the mean recall is {np.trace(recalls) / len(recalls):.0%}, "
            "columns sorted as the labels are, and "
            f"{_mean_recall(recalls, columns):.0%} in the order "
            f"{', '.join(map(str, fitting[:_SHOWN]))}{more}; name the order of the "
            "columns by classes=[...] (--classes)."
        )


def _mean_recall(recalls: FloatArray, columns: IntArray) -> float:
    return float(recalls[np.arange(len(recalls)), columns].mean())


def _natural_orders(classes: Array) -> list[IntArray]:
    """Return the columns of the classes in other orders that people sort text by."""
    if classes.dtype.kind != "U":
        return []
    found: dict[tuple[int, ...], IntArray] = {}
    labels = classes.tolist()
    for key in (float, _by_digits, str.casefold, _by_folded_digits):
        order = _sorted_by(key, labels)
        if order is not None and order != list(range(len(labels))):
            found.setdefault(tuple(order), np.argsort(order))
    return list(found.values())


def _sorted_by(key: Callable[[str], Any], labels: list[str]) -> list[int] | None:
    try:
        keys = [key(label) for label in labels]
    except ValueError:  # no number
        return None
    return sorted(range(len(labels)), key=keys.__getitem__)


def _by_digits(label: str) -> list[Any]:
    """Split a label where its numbers are: text and numbers come by turns."""
    parts: list[Any] = _DIGITS.split(label)
    return [int(part) if place % 2 else part for place, part in enumerate(parts)]


def _by_folded_digits(label: str) -> list[Any]:
    return _by_digits(label.casefold())
