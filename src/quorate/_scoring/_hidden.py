"""Samples that a scorer may hand on and count, and into which it cannot look."""

from typing import Any, NoReturn

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from quorate._typing import Array, IntArray

LOOKS_INSIDE = (
    "the score looks at the samples themselves, of which only labels and predictions "
    "are kept; give a function of these two"
)


class LooksInside(AttributeError, ValueError):
    """A scorer wants to know more of samples than which they are.

    An attribute that is missing says so too, so that a scorer may still ask whether
    there is one.
    """

    def __init__(self) -> None:
        super().__init__(LOOKS_INSIDE)


class HiddenSamples(NDArrayOperatorsMixin):
    """What stands for X where only answers are left: which samples, nothing else.

    It has a length and some of its rows can be taken. Numbers in its place would be
    taken for features.

    Parameters
    ----------
    places : array of int
        Which samples, as positions among the answers.

    Examples
    --------
    >>> import numpy as np
    >>> from quorate._scoring._hidden import HiddenSamples
    >>> X = HiddenSamples(np.arange(5))
    >>> len(X), X[np.array([True, False, False, True, False])].places.tolist()
    (5, [0, 3])
    >>> X[:, 0]
    Traceback (most recent call last):
    ...
    quorate._scoring._hidden.LooksInside: the score looks at the samples themselves, ...
    """

    def __init__(self, places: IntArray) -> None:
        self.places = places
        self.looks: list[bool] = []
        """One for each attempt to look; who made it may have gone on all the same."""

    def __len__(self) -> int:
        return int(self.places.size)

    def __getitem__(self, rows: Any) -> "HiddenSamples":
        """Return some of the samples."""
        if isinstance(rows, (list, np.ndarray)):
            rows = np.asarray(rows)
        one_by_one = getattr(rows, "ndim", 0) == 1 and rows.dtype.kind in "biu"
        if not (one_by_one or isinstance(rows, slice)):
            self._refuse()
        some = HiddenSamples(self.places[rows])
        some.looks = self.looks
        return some

    def __getattr__(self, name: str) -> NoReturn:
        raise LooksInside

    def __iter__(self) -> NoReturn:
        self._refuse()

    def __array__(self, *how: Any, **more: Any) -> Array:
        self._refuse()

    def __array_ufunc__(self, *how: Any, **more: Any) -> NoReturn:
        self._refuse()

    def __array_function__(self, *how: Any, **more: Any) -> NoReturn:
        self._refuse()

    def _refuse(self) -> NoReturn:
        self.looks.append(True)
        raise LooksInside


def places_of(X: Any) -> IntArray:
    """Return which samples are meant; others than those handed out are not known."""
    if not isinstance(X, HiddenSamples):
        raise LooksInside
    return X.places
