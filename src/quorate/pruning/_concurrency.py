"""Concurrency and UWA: reward votes by what the set says on the sample."""

import numpy as np

from quorate._kernels import sums
from quorate._typing import Array, FloatArray
from quorate._votes import Votes
from quorate.pruning._ballot import Ballot
from quorate.pruning._class_weight import (
    balanced_accuracies,
    is_balanced,
    sample_weights,
)
from quorate.pruning._growing import ErrorDriven
from quorate.pruning._picking import NEAR
from quorate.pruning._tags import PrunerTags


class Concurrency(ErrorDriven):
    """Reward being correct where the vote is wrong (concurrency).

    A candidate earns 2 on samples it gets right and the set wrong, 1 where both are
    right, -2 where both are wrong. A tied vote counts as wrong.

    Parameters
    ----------
    keep : float or int
        Fraction in (0, 1] or number of members to keep.
    class_weight : {"balanced"}, optional
        Let every class count the same, however rare.

    Attributes
    ----------
    errors_ : ndarray of shape (n_kept_,)
        Error of the vote after each addition.

    References
    ----------
    R. Banfield et al., "Ensemble diversity measures and their application to
    thinning", Information Fusion 6, 2005.

    Examples
    --------
    >>> import quorate
    >>> votes = quorate.Votes([[1, 1, 1, 0], [1, 1, 1, 0], [0, 0, 1, 1]], [1, 1, 1, 1])
    >>> quorate.pruning.Concurrency(keep=2).fit(votes).order_
    array([0, 2])
    """

    tags = PrunerTags(
        uses_weights=True, takes_class_weight=True, driven_by_accuracy=True
    )

    def __init__(
        self, keep: float | int | None = 0.2, class_weight: str | None = None
    ) -> None:
        super().__init__(keep)
        self.class_weight = class_weight

    def _gains(self, votes: Votes, ballot: Ballot) -> tuple[Array, Array]:
        """Return what a right and what a wrong vote earns on each sample."""
        set_is_right = ballot.winners() == votes.y
        return np.where(set_is_right, 1, 2), np.where(set_is_right, 0, -2)

    def _select(self, votes: Votes, size: int) -> list[int]:
        ballot = self._open(votes)
        counted: FloatArray | float = 1
        if is_balanced(self):
            counted = sample_weights(votes)
            ballot.flip(int(balanced_accuracies(votes).round(12).argmax()))

        def score() -> Array:
            right, wrong = (counted * gain for gain in self._gains(votes, ballot))
            earned = sums.sum_where_correct(votes.codes, votes.y, right - wrong)
            return earned + _sum_where_voted(votes, wrong)

        return self._grow(ballot, size, score, tolerance=NEAR)


class UncertaintyWeighted(Concurrency):
    """Reward votes by how unsure the set is (UWA).

    With NT the share of the set's members that are right on a sample and NF = 1 - NT:
    right where the set is wrong earns NT, wrong where it is right costs NF, right with
    it earns NF, wrong with it costs NT. A tied vote counts as wrong.

    Parameters
    ----------
    keep : float or int
        Fraction in (0, 1] or number of members to keep.
    class_weight : {"balanced"}, optional
        Let every class count the same, however rare.

    Attributes
    ----------
    errors_ : ndarray of shape (n_kept_,)
        Error of the vote after each addition.

    References
    ----------
    I. Partalas, G. Tsoumakas, I. Vlahavas, "An ensemble uncertainty aware measure for
    directed hill climbing ensemble pruning", Machine Learning 81, 2010.

    Examples
    --------
    >>> import quorate
    >>> votes = quorate.Votes([[1, 1, 1, 0], [1, 1, 1, 0], [0, 0, 1, 1]], [1, 1, 1, 1])
    >>> quorate.pruning.UncertaintyWeighted(keep=2).fit(votes).n_kept_
    2
    """

    def _gains(self, votes: Votes, ballot: Ballot) -> tuple[Array, Array]:
        right, asked = votes.keep(ballot.inside).unweighted().sample_counts()
        true = right / np.maximum(asked, 1)
        false = np.where(asked > 0, 1.0 - true, 0.0)
        set_is_right = ballot.winners() == votes.y
        return np.where(set_is_right, false, true), np.where(
            set_is_right, -false, -true
        )


def _sum_where_voted(votes: Votes, values: Array) -> FloatArray:
    """Sum values over the samples each member has a vote on."""
    if not votes.is_masked:
        return np.full(votes.n_members, float(values.sum()))
    return sums.sum_where_voted(votes.codes, values)
