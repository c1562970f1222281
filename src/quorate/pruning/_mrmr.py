"""MRMR: members that say much about the truth and little that others said."""

from typing import Any

import numpy as np

from quorate._kernels.information import mutual_information
from quorate._typing import Array, FloatArray
from quorate._votes import VoteCounts, Votes
from quorate.pruning._base import Pruner
from quorate.pruning._picking import NEAR, first_best, most_accurate_first
from quorate.pruning._tags import PrunerTags


class MRMR(Pruner):
    """Add relevant members that repeat little (MRMR).

    Adds the member whose agreement with the truth exceeds its mean agreement with the
    set most.

    Parameters
    ----------
    keep : float or int
        Fraction in (0, 1] or number of members to keep.
    mi : {"agreement", "bits"}
        What stands for mutual information: the share of equal labels, as in the paper
        that compared it, or mutual information itself, in bits.

    Notes
    -----
    Starts with the most accurate member. Weights play no part. Cost: the agreement of
    all pairs, then O(n) per pick; in bits, O(nm) per pick.

    References
    ----------
    X. Xia, T. Lin, Z. Chen, "Maximum relevancy maximum complementary based ordered
    aggregation for ensemble pruning", Applied Intelligence 48, 2018, which compares
    with it; in bits, Cao et al., 2018.

    Examples
    --------
    >>> import quorate
    >>> votes = quorate.Votes([[1, 1, 1, 0], [1, 1, 1, 0], [0, 1, 1, 1]], [1, 1, 1, 1])
    >>> quorate.pruning.MRMR(keep=2).fit(votes).order_
    array([0, 2])
    """

    tags = PrunerTags(driven_by_accuracy=True, takes_summary=True)

    def __init__(self, keep: float | int | None = 0.2, mi: str = "agreement") -> None:
        super().__init__(keep)
        self.mi = mi

    def _select(self, votes: VoteCounts, size: int) -> list[int]:
        self._one_of("mi", "agreement", "bits")
        if self.mi == "bits":
            return self._by_information(self._needs_samples(votes, "mi"), size)
        agree, total = votes.agreement()
        right, asked = votes.member_counts()
        # Whole numbers where they can be, so that ties are exact.
        relevance: Array = right / asked if votes.is_masked else right
        redundancy: Array = agree / np.maximum(total, 1) if votes.is_masked else agree
        first = int(most_accurate_first(votes)[0])
        return _relevant(relevance, redundancy.__getitem__, first, size)

    def _by_information(self, votes: Votes, size: int) -> list[int]:
        codes, n_classes = votes.codes, votes.n_classes
        relevance = mutual_information(codes, votes.y, n_classes)

        def redundancy(member: int) -> FloatArray:
            return mutual_information(codes, codes[member], n_classes)

        first = int(most_accurate_first(votes)[0])
        return _relevant(relevance, redundancy, first, size)


def _relevant(relevance: Array, redundancy: Any, first: int, size: int) -> list[int]:
    """Add members by relevance minus their mean redundancy with those picked."""
    outside = np.ones(relevance.size, dtype=bool)
    exact = relevance.dtype.kind == "i"
    picked: list[int] = []
    burden = np.zeros_like(relevance)
    member = first
    while True:
        picked.append(member)
        outside[member] = False
        if len(picked) == size:
            return picked
        burden = burden + redundancy(member)
        score = relevance * len(picked) - burden
        if not exact:
            score = score / len(picked)
        member = first_best(score, outside, 0.0 if exact else NEAR)
