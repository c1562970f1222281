"""DiscEP: discriminative ensemble pruning by mutual information."""

import numpy as np

from quorate._kernels.information import mutual_information
from quorate._typing import Array, BoolArray, FloatArray, Ties
from quorate.pruning._ballot import open_ballot
from quorate.pruning._base import Pruner, first_best, most_accurate_first
from quorate.votes import Votes


class DiscEP(Pruner):
    """Add the member that tells most where the vote errs (DiscEP).

    Where the set errs, a candidate's votes should carry information about the truth;
    where the set is correct, about the votes of its members. The sum of both decides.

    Parameters
    ----------
    keep : float or int
        Fraction in (0, 1] or number of members to keep.
    ties : {"expected", "lowest"}
        Whether a tied vote counts as an error.

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

    paper_name = "DiscEP"
    uses_weights = True
    driven_by_accuracy = True

    def __init__(self, keep: float | int | None = 0.2, ties: Ties = "expected") -> None:
        super().__init__(keep)
        self.ties = ties

    def _select(self, votes: Votes, size: int | None) -> list[int]:
        self._one_of("ties", "expected", "lowest")
        assert size is not None
        ballot = open_ballot(votes, self.ties)
        picked = [int(most_accurate_first(votes)[0])]
        ballot.flip(picked[0])
        while len(picked) < size:
            errs = ballot.sample_errors() > 0
            score = self._about(votes, votes.y, errs)
            shared = np.zeros(votes.n_members)
            for member in picked:
                shared += self._about(votes, votes.codes[member], ~errs)
            score += shared / len(picked)
            best = first_best(score, ~ballot.inside, 1e-12)
            picked.append(best)
            ballot.flip(best)
            self._progress(len(picked), size)
        return picked

    def _about(self, votes: Votes, other: Array, where: BoolArray) -> FloatArray:
        return mutual_information(votes.codes, other, votes.n_classes, where)
