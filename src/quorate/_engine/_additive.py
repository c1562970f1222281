"""An ensemble as a sum: what each member adds to each class."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from quorate._engine._arrays import TreeArrays
from quorate._typing import Array, FloatArray, IntArray

Ask: TypeAlias = Callable[[Any], FloatArray]
"""Rows in, what a member adds to each class out."""
FACTS = ("margin", "against", "divides", "weights", "reach", "handicap")
"""What a compact model keeps of an ensemble, beside its trees and its classes."""


@dataclass(frozen=True, slots=True)
class AdditiveEnsemble:
    """The members of an ensemble, to be evaluated one after the other.

    Attributes
    ----------
    members : tuple[Ask, ...]
        Functions from prepared rows to what the member adds to each class.
    weights : FloatArray
        The most a member can add to one class.
    reach : FloatArray
        The most a member can take from the lead of one class over another.
    margin : float
        Leads that rounding can explain are not above this.
    handicap : FloatArray
        Taken off the classes where sums are exact, so that the lowest wins a tie.
    model : Any
        Decides close votes; None for lists and dicts.
    adds_in_order : Callable[[], bool]
        Whether sums in the order of the members are the ensemble's own, to the bit.
    divides : bool
        Whether it divides the sums by the weight of all before it compares them.
    against : float
        What a vote takes from each of the other classes, per weight.
    arrays : Callable[[], TreeArrays] | None
        Makes arrays of its trees, for kernels; None if it has not only trees.
    why_no_arrays : str
        Why there are no arrays.
    plain_columns : int | None
        Number of columns of finite arrays that need no ``prepare``, or None.
    """

    members: tuple[Ask, ...]
    classes: Array
    weights: FloatArray
    reach: FloatArray
    margin: float
    handicap: FloatArray
    prepare: Callable[[Any], Any]
    model: Any
    adds_in_order: Callable[[], bool]
    divides: bool = True
    against: float = 0.0
    arrays: Callable[[], TreeArrays] | None = None
    why_no_arrays: str = ""
    plain_columns: int | None = None

    @property
    def n_members(self) -> int:
        """Number of members."""
        return len(self.members)

    @property
    def is_equal(self) -> bool:
        """Whether all members have the same weight."""
        return bool((self.weights == self.weights[0]).all())

    def handicapped(self, scores: FloatArray) -> FloatArray:
        """Add the handicap that breaks ties if sums are exact."""
        return scores + self.handicap if self.handicap[-1] else scores

    def decide(self, given: Iterable[FloatArray]) -> IntArray:
        """Return the winning classes from the members' shares, summed in order."""
        total: Any = 0.0
        for weight, shares in zip(self.weights, given, strict=True):
            if self.against:
                shares = np.where(shares != 0, weight, self.against * weight)
            total = total + shares
        if self.divides:
            # The division can make two close sums equal.
            total = total / self.weights.sum()
        if self.against and self.classes.size == 2:
            ahead: IntArray = (total[:, 1] - total[:, 0] > 0).astype(np.intp)
            return ahead
        winners: IntArray = np.argmax(total, axis=1)
        return winners

    def reference(self, raw: Any, X: Any) -> IntArray:
        """Return the ensemble's own predictions, the reference for early exit."""
        if self.model is None:
            return self.decide(ask(X) for ask in self.members)
        return np.searchsorted(self.classes, np.asarray(self.model.predict(raw)))

    def agreements(self, reference: IntArray, X: Any) -> FloatArray:
        """Return each member's mean share for the ensemble's own prediction."""
        rows = np.arange(reference.size)
        weights = np.where(self.weights == 0, 1.0, self.weights)
        given = [float(ask(X)[rows, reference].mean()) for ask in self.members]
        return np.asarray(given) / weights
