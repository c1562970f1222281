"""DREP: diversity regularised pruning."""

import numpy as np

from quorate._typing import Ties
from quorate._votes import Votes
from quorate.pruning._growing import ErrorDriven, let_best_in, let_in
from quorate.pruning._tags import PrunerTags


class DREP(ErrorDriven):
    """Add members that differ and lower the error (DREP).

    Among the share ``rho`` of candidates whose votes differ most from the set's vote,
    adds the one that gives the smallest error, as long as the error falls.

    Parameters
    ----------
    keep : float, int or None
        At most this many members; any number by default.
    rho : float
        Share of candidates to look at, in (0, 1].
    ties : {"expected", "lowest"}
        How a tied vote counts.

    Attributes
    ----------
    errors_ : ndarray of shape (n_kept_,)
        Error of the vote after each addition.

    Notes
    -----
    Ends when no candidate lowers the error; ``keep`` is an upper limit. Two members
    that differ tie, and a tie counts half: with equal weights and a vote on every
    sample a second member never lowers the error, and the most accurate one is all that
    is kept. Out-of-bag votes or ``ties="lowest"`` let it go on. Honours weights and
    masks. Published implementations differ: one adds members that leave the error as it
    is, and one compares positions with the wrong thing, so that members come in storage
    order.

    References
    ----------
    N. Li, Y. Yu, Z.-H. Zhou, "Diversity regularized ensemble pruning", ECML 2012.

    Examples
    --------
    >>> import quorate
    >>> votes = quorate.Votes([[1, 1, 1, 0], [1, 1, 1, 0], [0, 1, 0, 1]], [1, 1, 1, 1])
    >>> quorate.pruning.DREP(rho=0.5).fit(votes).order_
    array([0])
    """

    tags = PrunerTags(
        finds_size=True,
        honours_keep=False,
        uses_weights=True,
        driven_by_accuracy=True,
    )

    def __init__(
        self,
        keep: float | int | None = None,
        rho: float = 0.25,
        ties: Ties = "expected",
    ) -> None:
        super().__init__(keep, ties)
        self.rho = rho

    def _select(self, votes: Votes, size: int) -> list[int]:
        if not 0 < self.rho <= 1:
            raise self._refuse("rho", "a share in (0, 1]")
        ballot = self._open(votes)
        picked = let_best_in(ballot)
        errors = [ballot.error]
        while len(picked) < size:
            others = np.flatnonzero(~ballot.inside)
            alike = ballot.agreement()[others]
            few = int(np.ceil(self.rho * others.size - 1e-9))
            unlike = np.argsort(alike, kind="stable")[:few]
            after = ballot.errors_if_added(others[unlike])
            # unlike is sorted by agreement and position, as ties are to be broken
            best = int(np.argmin(after))
            if not after[best] < ballot.error:
                break
            let_in(ballot, picked, int(others[unlike[best]]))
            errors.append(ballot.error)
        self._note(ballot, errors)
        return picked
