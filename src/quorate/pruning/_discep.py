"""DiscEP: discriminative ensemble pruning by mutual information."""

import numpy as np

from quorate._kernels.information import mutual_information
from quorate._typing import Array, BoolArray, FloatArray
from quorate.pruning._growing import ErrorDriven
from quorate.pruning._picking import NEAR
from quorate.votes import Votes


class DiscEP(ErrorDriven):
    """Add the member that tells most where the vote errs (DiscEP).

    Where the set errs, a candidate's votes should carry information about the truth;
    where the set is correct, about the votes of its members. The sum of both decides.

    Parameters
    ----------
    keep : float or int
        Fraction in (0, 1] or number of members to keep.
    ties : {"expected", "lowest"}
        Whether a tied vote counts as an error.

    Attributes
    ----------
    errors_ : ndarray of shape (n_kept_,)
        Error of the vote after each addition.

    Notes
    -----
    Starts with the most accurate member. Mutual information is in bits; scores closer
    than 1e-12 are equal and go to the lowest position. Honours weights in the set's
    vote, and masks. The slowest of the greedy methods: each pick looks at all pairs of
    a candidate and a member of the set. The authors of EPBD split samples by the
    candidate's own mistakes instead, which is another method.

    References
    ----------
    Cao et al., 2018, as compared by Y. Bian and H. Chen, 2021.

    Examples
    --------
    >>> import quorate
    >>> votes = quorate.Votes([[1, 0, 1, 0], [1, 0, 1, 1], [0, 1, 0, 1]], [1, 0, 1, 1])
    >>> quorate.pruning.DiscEP(keep=2).fit(votes).n_kept_
    2
    """

    def _select(self, votes: Votes, size: int) -> list[int]:
        ballot = self._open(votes)

        def about(other: Array, where: BoolArray) -> FloatArray:
            return mutual_information(votes.codes, other, votes.n_classes, where)

        def score() -> FloatArray:
            errs = ballot.sample_errors() > 0
            members = np.flatnonzero(ballot.inside)
            shared = sum(about(votes.codes[member], ~errs) for member in members)
            return np.asarray(about(votes.y, errs) + shared / members.size)

        return self._grow(ballot, size, score, tolerance=NEAR)
