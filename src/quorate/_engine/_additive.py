"""An ensemble as a sum: what each member adds to each class."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from quorate._engine._arrays import TreeArrays
from quorate._engine._walk import Walk
from quorate._kernels.verdicts import rounding
from quorate._typing import Array, FloatArray, IntArray

Evaluate: TypeAlias = Callable[[Any], FloatArray]
"""Rows in, what a member adds to each class out."""
STORED_FIELDS = ("margin", "against", "divides", "weights", "reach", "handicap")
"""What a compact model stores of an ensemble, beside its trees and its classes."""
# Units in which weights may be counted, and how many of them add up exactly even with
# the handicap that breaks ties.
_GRAINS = (1.0, 2.0**-10)
_COUNTABLE = 2**20
_STEP = 2.0**-30


@dataclass(frozen=True, slots=True)
class AdditiveEnsemble:
    """The members of an ensemble, to be evaluated one after the other.

    Attributes
    ----------
    members : tuple[Evaluate, ...]
        Functions from prepared rows to what the member adds to each class; none if
        ``walk`` evaluates them all together.
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
    trees : TreeArrays | None
        Its trees; None if members are evaluated by themselves.
    why_no_trees : str
        Why there are none.
    walk : Walk | None
        Its trees in NumPy, for ensembles without ``members``.
    takes_plain : bool
        Whether finite arrays with the right number of columns need no ``prepare``.
    """

    members: tuple[Evaluate, ...]
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
    trees: TreeArrays | None = None
    why_no_trees: str = ""
    walk: Walk | None = None
    takes_plain: bool = False

    @property
    def n_members(self) -> int:
        """Number of members."""
        return self.weights.size

    @property
    def is_equal(self) -> bool:
        """Whether all members have the same weight."""
        return bool((self.weights == self.weights[0]).all())

    @property
    def decision(self) -> str:
        """The name that ``forest.c`` uses for the decision rule."""
        if self.against:
            return "against"
        return "average" if self.divides else "heads"

    def shares(self, X: Any) -> Iterable[FloatArray]:
        """Return what each member adds to each class, in their own order."""
        if self.walk is not None:
            return self.walk(np.arange(self.n_members), X)
        return (evaluate(X) for evaluate in self.members)

    def handicapped(self, scores: FloatArray) -> FloatArray:
        """Add the handicap that breaks ties if sums are exact."""
        return scores + self.handicap if self.handicap[-1] else scores

    def decide(self, all_shares: Iterable[FloatArray]) -> IntArray:
        """Return the winning classes from the members' shares, summed in order."""
        total: Any = 0.0
        for weight, shares in zip(self.weights, all_shares, strict=True):
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
            return self.decide(self.shares(X))
        return np.searchsorted(self.classes, np.asarray(self.model.predict(raw)))

    def agreements(self, reference: IntArray, X: Any) -> FloatArray:
        """Return each member's mean share for the ensemble's own prediction."""
        rows = np.arange(reference.size)
        weights = np.where(self.weights == 0, 1.0, self.weights)
        shares = [part[rows, reference].mean() for part in self.shares(X)]
        return np.asarray(shares) / weights


def tie_handicap(
    weights: FloatArray, n_classes: int, is_whole: bool
) -> tuple[FloatArray, float]:
    """Return what is taken off each class to break ties, and the margin of rounding.

    If members give their whole weight to one class, and weights add up without
    rounding, there is a handicap and no margin; otherwise the other way round.
    """
    total = float(np.abs(weights).sum())
    for grain in _GRAINS if is_whole else ():
        units = weights / grain
        if total / grain < _COUNTABLE and np.array_equal(units, np.rint(units)):
            return 0.0 - grain * _STEP * np.arange(float(n_classes)), 0.0
    return np.zeros(n_classes), rounding(weights.size, total)
