"""Kappa pruning: the pairs of members that agree least."""

import numpy as np

from quorate._theory import pairwise_diversity
from quorate._typing import IntArray
from quorate._votes import VoteCounts
from quorate.pruning._base import Pruner
from quorate.pruning._tags import PrunerTags


class KappaPruning(Pruner):
    """Keep the pairs of members that agree least (kappa pruning).

    Goes through the pairs by rising kappa of the classes voted for and takes the
    members of each until there are enough.

    Parameters
    ----------
    keep : float or int
        Fraction in (0, 1] or number of members to keep.

    Notes
    -----
    Ignores accuracy altogether, so it tends to collect weak members. Cost: one product
    of matrices for kappa, then a sort of all pairs. Weights play no part; with a mask,
    pairs are compared on common samples. Implementations differ on whether a member may
    come in through several pairs; here it may.

    References
    ----------
    D. Margineantu and T. Dietterich, "Pruning adaptive boosting", ICML 1997.

    Examples
    --------
    >>> import quorate
    >>> votes = quorate.Votes([[1, 1, 0, 0], [1, 0, 1, 1], [1, 1, 0, 1]], [1, 1, 1, 1])
    >>> quorate.pruning.KappaPruning(keep=2).fit(votes).order_
    array([0, 1])
    """

    tags = PrunerTags(takes_summary=True)

    def _select(self, votes: VoteCounts, size: int) -> IntArray:
        if votes.n_members == 1:
            return np.zeros(1, dtype=np.intp)
        kappa = pairwise_diversity(votes, "kappa", outputs="label")
        rows, columns = np.triu_indices(votes.n_members, k=1)
        by_kappa = np.argsort(kappa[rows, columns], kind="stable")
        flat = np.column_stack([rows[by_kappa], columns[by_kappa]]).ravel()
        _, first_seen = np.unique(flat, return_index=True)
        return np.argsort(first_seen, kind="stable")[:size]
