"""DiscEP: discriminative ensemble pruning by mutual information."""

import numpy as np

from quorate._kernels.information import mutual_information, shared_information
from quorate._typing import FloatArray
from quorate._votes import Votes
from quorate.pruning._growing import ErrorDriven
from quorate.pruning._picking import NEAR


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
    vote, and masks. Each pick looks at all pairs of a candidate and a member of the
    set: a product of matrices for each pair of classes. The authors of
    EPBD split samples by the candidate's own mistakes instead, which is another method.

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

        def score() -> FloatArray:
            errs = ballot.sample_errors() > 0
            members = np.flatnonzero(ballot.inside)
            codes, k = votes.codes, votes.n_classes
            shared = shared_information(codes, members, k, np.flatnonzero(~errs))
            about = mutual_information(codes, votes.y, k, errs)
            return np.asarray(about + shared.mean(axis=1))

        return self._grow(ballot, size, score, tolerance=NEAR)
