"""RE and OEP: add the member that lowers the error of the vote most."""

import numpy as np

from quorate._typing import Ties
from quorate._votes import Votes
from quorate.pruning._ballot import Ballot
from quorate.pruning._class_weight import NEAR, BalancedBallot
from quorate.pruning._growing import ErrorDriven
from quorate.pruning._picking import first_best
from quorate.pruning._tags import PrunerTags

_BACKFITTING_ROUNDS = 100


class ReducedError(ErrorDriven):
    """Add the member that lowers the error of the vote most (RE).

    Starts with the most accurate member. The classic that most selectors are measured
    against; driven by accuracy, so it needs out-of-bag or held-out votes.

    Parameters
    ----------
    keep : float or int
        Fraction in (0, 1] or number of members to keep.
    ties : {"expected", "lowest"}
        How a tied vote counts; see :meth:`quorate.Votes.sample_errors`.
    backfitting : bool
        After each addition from the third on, exchange members one at a time for the
        best replacement while the error falls, at most 100 rounds.
    class_weight : {"balanced"}, optional
        Let every class count the same, however rare.

    Attributes
    ----------
    errors_ : ndarray of shape (n_kept_,)
        Error of the vote after each addition.

    Notes
    -----
    Cost: O(nm/64) per pick in two classes, since only samples within one vote of
    a tie are looked at. Honours weights and masks.

    References
    ----------
    D. Margineantu and T. Dietterich, "Pruning adaptive boosting", ICML 1997.

    Examples
    --------
    >>> import quorate
    >>> votes = quorate.Votes([[1, 1, 0, 0], [1, 0, 1, 1], [0, 1, 1, 0]], [1, 1, 1, 1])
    >>> quorate.pruning.ReducedError(keep=2).fit(votes).order_
    array([1, 0])
    """

    tags = PrunerTags(
        uses_weights=True, takes_class_weight=True, driven_by_accuracy=True
    )

    def __init__(
        self,
        keep: float | int | None = 0.2,
        ties: Ties = "expected",
        backfitting: bool = False,
        class_weight: str | None = None,
    ) -> None:
        super().__init__(keep, ties)
        self.backfitting = backfitting
        self.class_weight = class_weight

    @property
    def has_order(self) -> bool:
        """Whether each prefix is a choice of its own; exchanges undo that."""
        return not self.backfitting

    def _select(self, votes: Votes, size: int) -> list[int]:
        ballot = self._open_for_classes(votes)

        def mend(picked: list[int]) -> None:
            if self.backfitting and len(picked) >= 3:
                _backfit(ballot, picked)

        near = self._near(ballot)
        score = lambda: -ballot.errors_if_added()  # noqa: E731
        return self._grow(ballot, size, score, near, mend)


class OrderedError(ErrorDriven):
    """Keep the prefix of smallest error in the order of RE (OEP).

    Parameters
    ----------
    keep : float, int or None
        At most this many members; any number by default.
    ties : {"expected", "lowest"}
        How a tied vote counts.
    class_weight : {"balanced"}, optional
        Let every class count the same, however rare.

    Attributes
    ----------
    errors_ : ndarray
        Error of the vote of each prefix, up to the largest one looked at.

    Notes
    -----
    Finds its own size, often a small one. Honours weights and masks.

    References
    ----------
    C. Qian, Y. Yu, Z.-H. Zhou, "Pareto ensemble pruning", AAAI 2015.

    Examples
    --------
    >>> import quorate
    >>> votes = quorate.Votes([[1, 1, 0, 0], [1, 0, 1, 1], [0, 1, 1, 0]], [1, 1, 1, 1])
    >>> quorate.pruning.OrderedError().fit(votes).order_
    array([1])
    """

    tags = PrunerTags(
        finds_size=True,
        honours_keep=False,
        uses_weights=True,
        takes_class_weight=True,
        driven_by_accuracy=True,
    )

    def __init__(
        self,
        keep: float | int | None = None,
        ties: Ties = "expected",
        class_weight: str | None = None,
    ) -> None:
        super().__init__(keep, ties)
        self.class_weight = class_weight

    def _select(self, votes: Votes, size: int) -> list[int]:
        ballot = self._open_for_classes(votes)
        near = self._near(ballot)
        picked = self._grow(ballot, size, lambda: -ballot.errors_if_added(), near)
        return picked[: int(np.argmin(self.errors_)) + 1]


def _backfit(ballot: Ballot, picked: list[int]) -> None:
    """Exchange members one at a time for better ones while the error falls."""
    slack = NEAR * ballot.votes.n_samples if isinstance(ballot, BalancedBallot) else 0
    for _ in range(_BACKFITTING_ROUNDS):
        before = ballot.error
        for place, member in enumerate(picked):
            now = ballot.error
            ballot.flip(member)
            after = ballot.errors_if_added()
            best = first_best(-after, ~ballot.inside)
            # Sums over classes are floats, and those that should be equal are not.
            if not after[best] < now - slack:
                best = member
            ballot.flip(best)
            picked[place] = best
        if not ballot.error < before - slack:
            return
