"""CM and MRMC: add the member that complements those picked."""

import numpy as np

from quorate._typing import Array, Ties
from quorate._votes import Votes
from quorate.pruning._growing import ErrorDriven
from quorate.pruning._picking import NEAR
from quorate.pruning._tags import PrunerTags


class Complementariness(ErrorDriven):
    """Add the member most often correct where the vote errs (CM).

    Parameters
    ----------
    keep : float or int
        Fraction in (0, 1] or number of members to keep.
    ties : {"expected", "lowest"}
        How a tied vote counts.
    class_weight : {"balanced"}, optional
        Let every class count the same, however rare.

    Attributes
    ----------
    errors_ : ndarray of shape (n_kept_,)
        Error of the vote after each addition.

    Notes
    -----
    Starts with the most accurate member. Honours weights and masks. On training
    votes of members that are nearly perfect there is nothing left to complement.

    References
    ----------
    G. Martínez-Muñoz and A. Suárez, "Aggregation ordering in bagging", AIA 2004.

    Examples
    --------
    >>> import quorate
    >>> votes = quorate.Votes([[1, 1, 1, 0], [1, 1, 1, 0], [0, 0, 0, 1]], [1, 1, 1, 1])
    >>> quorate.pruning.Complementariness(keep=2).fit(votes).order_
    array([0, 2])
    """

    tags = PrunerTags(
        uses_weights=True, takes_class_weight=True, driven_by_accuracy=True
    )

    def __init__(
        self,
        keep: float | int | None = 0.2,
        ties: Ties = "expected",
        class_weight: str | None = None,
    ) -> None:
        super().__init__(keep, ties)
        self.class_weight = class_weight

    def _select(self, votes: Votes, size: int) -> list[int]:
        ballot = self._open_for_classes(votes)
        return self._grow(ballot, size, ballot.rescued, self._near(ballot))


class MRMC(ErrorDriven):
    """Add relevant members that complement the rest (MRMC).

    Adds the member with the largest sum of relevance, what the whole ensemble's
    accuracy loses without it, and complementarity, what the set's accuracy gains.

    Parameters
    ----------
    keep : float or int
        Fraction in (0, 1] or number of members to keep.
    ties : {"expected", "lowest"}
        How a tied vote counts.

    Attributes
    ----------
    errors_ : ndarray of shape (n_kept_,)
        Error of the vote after each addition.

    Notes
    -----
    Starts with the most accurate member, the more relevant of equals. Honours weights
    and masks. The original leaves open which set complementarity refers to; the authors
    of EPBD used a fixed one whose members then vote twice.

    References
    ----------
    X. Xia, T. Lin, Z. Chen, "Maximum relevancy maximum complementary based ordered
    aggregation for ensemble pruning", Applied Intelligence 48, 2018.

    Examples
    --------
    >>> import quorate
    >>> votes = quorate.Votes([[1, 1, 1, 0], [1, 1, 1, 0], [0, 1, 1, 1]], [1, 1, 1, 1])
    >>> quorate.pruning.MRMC(keep=2).fit(votes).n_kept_
    2
    """

    def _select(self, votes: Votes, size: int) -> list[int]:
        if votes.n_members == 1:
            self.errors_ = np.array([votes.error(self.ties, rule="heads")])
            return [0]
        ballot = self._open(votes)
        total = ballot.scale * votes.n_samples
        ballot.become(range(votes.n_members))
        whole = total - ballot.error
        without = total - ballot.errors_if_removed()
        # Relevance is 1 - without / whole; a constant and a sign do not matter here.
        relevance = -(without / whole) if whole else -np.asarray(without, dtype=float)
        first = _best_then(votes.accuracies, relevance)
        ballot.become([first])

        def score() -> Array:
            own = total - ballot.error
            joined = total - ballot.errors_if_added()
            gain = joined / own if own else np.asarray(joined, dtype=float)
            return np.asarray(relevance + gain)

        return self._grow(ballot, size, score, tolerance=NEAR)


def _best_then(first: Array, second: Array) -> int:
    """Return the position of the largest, by the second key among equals."""
    return int(np.lexsort((np.arange(first.size), -second, -first))[0])
