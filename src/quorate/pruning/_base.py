"""What all pruning methods share: checks, size, order and support."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from quorate._typing import Array, BoolArray, IntArray
from quorate.pruning._size import members_to_keep
from quorate.votes import Votes

Progress = Callable[[int, int], object]


def _silent(done: int, total: int) -> None:
    """Report nothing."""


class Pruner(BaseEstimator, ABC):  # type: ignore[misc]  # scikit-learn has no types
    """Base of all pruning methods: choose members from their votes.

    A method implements :meth:`_select`, which returns the positions of the members it
    picks, in the order of picking. Everything else is done here.

    Parameters
    ----------
    keep : float, int or None
        Fraction in (0, 1] or number of members to keep. None where a method finds its
        own size.

    Attributes
    ----------
    order_ : ndarray of shape (n_kept_,)
        Members in the order in which they were picked.
    support_ : ndarray of bool of shape (n_members,)
        Which members are kept.
    n_kept_ : int
        How many.
    weights_ : ndarray of shape (n_members,)
        Voting weights for the members kept, zero for the others; only methods that
        choose weights have them.
    """

    finds_size: ClassVar[bool] = False
    """Whether ``keep=None`` lets the method choose how many to keep."""
    honours_keep: ClassVar[bool] = True
    """Whether exactly ``keep`` members come out; otherwise at most that many."""
    uses_weights: ClassVar[bool] = False
    """Whether voting weights enter; other methods see the members as equals."""
    is_random: ClassVar[bool] = False
    """Whether ``random_state`` matters."""
    needs_features: ClassVar[bool] = False
    """Whether ``fit`` needs the samples themselves, as numbers."""
    uses_probabilities: ClassVar[bool] = False
    """Whether members' class probabilities enter where the votes have them."""
    uses_unlabelled: ClassVar[bool] = False
    """Whether ``fit`` takes votes on further samples, without labels."""
    refines: ClassVar[bool] = False
    """Whether a choice of fewer members need not be the start of one of more."""
    driven_by_accuracy: ClassVar[bool] = False
    """Whether members that look perfect on their training samples mislead it."""
    paper_name: ClassVar[str] = ""
    """The short name in the literature."""

    def __init__(self, keep: float | int | None = 0.2) -> None:
        self.keep = keep

    def fit(
        self, votes: Votes, X: Any = None, progress: Progress | None = None
    ) -> Self:
        """Choose members from their votes.

        Parameters
        ----------
        votes : Votes
            Votes on the pruning set.
        X : array-like, optional
            The samples voted on; only methods that look at features need them.
        progress : callable, optional
            Called with the steps done and their number by methods that take long.

        Returns
        -------
        Pruner
            Itself, fitted.
        """
        if not isinstance(votes, Votes):
            raise TypeError(
                f"{self._owner}.fit: expected Votes, got {type(votes).__name__}; "
                "make them with quorate.collect_votes or quorate.Votes."
            )
        size = self._size(votes.n_members)
        self._progress = progress or _silent
        try:
            seen = votes if self.uses_weights else votes.unweighted()
            picked = (
                self._select(seen, size) if X is None else self._look(seen, size, X)
            )
        finally:
            del self._progress
        self.order_ = np.asarray(picked, dtype=np.intp)
        self.support_ = np.zeros(votes.n_members, dtype=bool)
        self.support_[self.order_] = True
        self.n_kept_ = int(self.order_.size)
        return self

    @property
    def has_order(self) -> bool:
        """Whether ``order_`` is the order of picking, each prefix a choice."""
        return True

    def get_support(self, indices: bool = False) -> BoolArray | IntArray:
        """Return which members are kept, as a mask or as sorted positions."""
        check_is_fitted(self, "order_")
        support: BoolArray = self.support_
        return np.flatnonzero(support) if indices else support

    @abstractmethod
    def _select(self, votes: Votes, size: int | None) -> Sequence[int] | Array:
        """Return the members picked, in order; ``size`` is None where keep is None."""

    def _look(self, votes: Votes, size: int | None, X: Any) -> Sequence[int] | Array:
        """Select with the samples at hand; most methods have no use for them."""
        return self._select(votes, size)

    def _size(self, n_members: int) -> int | None:
        if self.keep is None and self.finds_size:
            return None
        return members_to_keep(self.keep, n_members, self._owner)

    def _refuse(self, parameter: str, fits: str) -> ValueError:
        """Return the error for a parameter that does not fit."""
        given = getattr(self, parameter)
        return ValueError(f"{self._owner}({parameter}={given!r}): {fits}.")

    def _one_of(self, parameter: str, *allowed: str) -> None:
        """Raise ``ValueError`` unless the parameter is one of the words."""
        given = getattr(self, parameter)
        if not isinstance(given, str) or given not in allowed:
            raise self._refuse(parameter, f"use {' or '.join(map(repr, allowed))}")

    def _positive(self, parameter: str) -> float:
        """Return the parameter as a float above 0, or refuse it."""
        given = getattr(self, parameter)
        if not is_number(given) or not 0 < given < np.inf:
            raise self._refuse(parameter, "a number above 0")
        return float(given)

    def _share(self, parameter: str) -> float:
        """Return the parameter as a float from 0 to 1, or refuse it."""
        given = getattr(self, parameter)
        if not is_number(given) or not 0 <= given <= 1:
            raise self._refuse(parameter, "a number from 0 to 1")
        return float(given)

    def _count(self, parameter: str, lowest: int = 0) -> int:
        """Return the parameter as a whole number, or refuse it."""
        given = getattr(self, parameter)
        whole = isinstance(given, (int, np.integer)) and not isinstance(given, bool)
        if not whole or given < lowest:
            raise self._refuse(parameter, f"a whole number, {lowest} or more")
        return int(given)

    @property
    def _owner(self) -> str:
        return type(self).__name__


def is_number(value: Any) -> bool:
    number = isinstance(value, (int, float, np.number))
    return number and not isinstance(value, bool)
