"""Methods that compare members with each other: kappa, agreement, dispersion."""

import math
from fractions import Fraction
from typing import Any

import numpy as np

from quorate._diversity import pairwise_diversity
from quorate._kernels.information import mutual_information
from quorate._typing import Array, FloatArray, IntArray
from quorate.pruning._base import (
    Pruner,
    as_generator,
    first_best,
    most_accurate_first,
)
from quorate.votes import Votes

# Sums of floats that should be equal may differ by this much, relatively.
_NEAR = 1e-12


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

    paper_name = "KP"

    def _select(self, votes: Votes, size: int | None) -> IntArray:
        if votes.n_members == 1:
            return np.zeros(1, dtype=np.intp)
        kappa = pairwise_diversity(votes, "kappa", outputs="label")
        rows, columns = np.triu_indices(votes.n_members, k=1)
        by_kappa = np.argsort(kappa[rows, columns], kind="stable")
        flat = np.column_stack([rows[by_kappa], columns[by_kappa]]).ravel()
        _, first_seen = np.unique(flat, return_index=True)
        return np.argsort(first_seen, kind="stable")[:size]


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

    paper_name = "MRMR"
    driven_by_accuracy = True

    def __init__(self, keep: float | int | None = 0.2, mi: str = "agreement") -> None:
        super().__init__(keep)
        self.mi = mi

    def _select(self, votes: Votes, size: int | None) -> list[int]:
        self._one_of("mi", "agreement", "bits")
        assert size is not None
        if self.mi == "bits":
            return self._by_information(votes, size)
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
        member = first_best(score, outside, 0.0 if exact else _NEAR)


class MarginDistance(Pruner):
    """Move the mean signature to where all is correct (MDM).

    A member's signature is +1 where it is right and -1 where it is wrong. Adds the
    member that brings the sum of signatures, divided by the size of the whole ensemble,
    nearest to the point ``(p, ..., p)``; a small p gives hard samples more say.

    Parameters
    ----------
    keep : float or int
        Fraction in (0, 1] or number of members to keep.
    p : float or "schedule"
        The goal on each sample, in (0, 1), or ``2 sqrt(2 u) / n`` at step u.

    Notes
    -----
    One product of matrices, then O(n) per pick. Weights play no part. A margin
    criterion: works on training votes too. One published implementation averages
    signatures to a single number and draws p anew at every look.

    References
    ----------
    G. Martínez-Muñoz, D. Hernández-Lobato, A. Suárez, "An analysis of ensemble pruning
    techniques based on ordered aggregation", IEEE TPAMI 31, 2009.

    Examples
    --------
    >>> import quorate
    >>> votes = quorate.Votes([[1, 1, 1, 0], [1, 1, 1, 0], [0, 0, 1, 1]], [1, 1, 1, 1])
    >>> quorate.pruning.MarginDistance(keep=2).fit(votes).order_
    array([0, 2])
    """

    paper_name = "MDM"

    def __init__(self, keep: float | int | None = 0.2, p: float | str = 0.075) -> None:
        super().__init__(keep)
        self.p = p

    def _select(self, votes: Votes, size: int | None) -> list[int]:
        assert size is not None
        scheduled = self.p == "schedule"
        if not scheduled and not (isinstance(self.p, (int, float)) and 0 < self.p < 1):
            raise self._refuse("p", "a number in (0, 1), or 'schedule'")
        table = votes.pairs()
        gram = table.both + table.neither - table.first - table.second
        right, asked = votes.member_counts()
        towards = 2 * right - asked
        n = votes.n_members
        # The squared distance, times n, grows by this for the members picked already.
        burden = asked.astype(np.int64)
        outside = np.ones(n, dtype=bool)
        picked: list[int] = []
        score: Array
        for step in range(size):
            if scheduled:
                goal = 2.0 * math.sqrt(2.0 * (step + 1)) / n
                score = 2.0 * goal * n * towards - burden
                member = first_best(score, outside, _NEAR)
            else:
                p = Fraction(str(self.p))
                score = 2 * p.numerator * n * towards - p.denominator * burden
                member = first_best(score, outside)
            picked.append(member)
            outside[member] = False
            burden = burden + 2 * gram[member]
        return picked


class FarthestFirst(Pruner):
    """Keep members far from each other (farthest first, GMA).

    Adds the member whose smallest distance to the set is largest.

    Parameters
    ----------
    keep : float or int
        Fraction in (0, 1] or number of members to keep.
    distance : {"kappa", "disagreement"}
        1 - kappa of the classes voted for, or the share of different votes.
    start : {"best", "random"} or int
        The first member: the most accurate, a random or a given one.
    random_state : int, RandomState, Generator or None
        Seed of a random start.

    Notes
    -----
    Ignores accuracy after the first pick. Weights play no part. The authors of EPBD
    maximised kappa, which is a similarity, and so kept the most alike.

    References
    ----------
    T. Gonzalez, Theoretical Computer Science 38, 1985; S. Aghamolaei, M. Farhadi,
    H. Zarrabi-Zadeh, "Diversity maximization via composable coresets", CCCG 2015.

    Examples
    --------
    >>> import quorate
    >>> votes = quorate.Votes([[1, 1, 1, 0], [1, 1, 1, 0], [0, 0, 1, 1]], [1, 1, 1, 1])
    >>> quorate.pruning.FarthestFirst(keep=2).fit(votes).order_
    array([0, 2])
    """

    paper_name = "GMA"
    is_random = True

    def __init__(
        self,
        keep: float | int | None = 0.2,
        distance: str = "kappa",
        start: str | int = "best",
        random_state: Any = None,
    ) -> None:
        super().__init__(keep)
        self.distance = distance
        self.start = start
        self.random_state = random_state

    def _select(self, votes: Votes, size: int | None) -> list[int]:
        assert size is not None
        self._one_of("distance", "kappa", "disagreement")
        apart = distances(votes, self.distance)
        return farthest_first(apart, [self._first(votes)], size)

    def _first(self, votes: Votes) -> int:
        n = votes.n_members
        if isinstance(self.start, (int, np.integer)) and not isinstance(
            self.start, bool
        ):
            if 0 <= self.start < n:
                return int(self.start)
        elif self.start == "best":
            return int(most_accurate_first(votes)[0])
        elif self.start == "random":
            return int(as_generator(self.random_state).integers(n))
        raise self._refuse("start", f"'best', 'random' or a member from 0 to {n - 1}")


class LocalSearch(Pruner):
    """Keep the largest sum of distances, by local search (LCS).

    Starts from the farthest pair, filled up by farthest-first traversal, and exchanges
    one member at a time while the sum of distances grows by a factor ``1 + eps/n``.

    Parameters
    ----------
    keep : float or int
        Fraction in (0, 1] or number of members to keep.
    distance : {"kappa", "disagreement"}
        As for :class:`FarthestFirst`.
    eps : float
        The growth an exchange must bring, relative and times n.

    Notes
    -----
    The best exchange is taken each time, the first of equals. There is no order of
    picking: ``order_`` is by position. Ignores accuracy, except
    that a single member is the most accurate. Weights play no part. The authors of EPBD
    maximised kappa here too.

    References
    ----------
    Z. Abbassi, V. Mirrokni, M. Thakur, "Diversity maximization under matroid
    constraints", KDD 2013.

    Examples
    --------
    >>> import quorate
    >>> votes = quorate.Votes([[1, 1, 1, 0], [1, 1, 1, 0], [0, 0, 1, 1]], [1, 1, 1, 1])
    >>> quorate.pruning.LocalSearch(keep=2).fit(votes).order_
    array([0, 2])
    """

    paper_name = "LCS"

    def __init__(
        self,
        keep: float | int | None = 0.2,
        distance: str = "kappa",
        eps: float = 0.001,
    ) -> None:
        super().__init__(keep)
        self.distance = distance
        self.eps = eps

    @property
    def has_order(self) -> bool:
        """A set found by exchanges has no order."""
        return False

    def _select(self, votes: Votes, size: int | None) -> Any:
        assert size is not None
        self._one_of("distance", "kappa", "disagreement")
        if not self.eps >= 0:
            raise self._refuse("eps", "a number, 0 or more")
        if size == 1:
            return most_accurate_first(votes)[:1]
        apart = distances(votes, self.distance)
        rows, columns = np.triu_indices(votes.n_members, k=1)
        pair = first_best(apart[rows, columns], np.ones(rows.size, dtype=bool))
        start = [int(rows[pair]), int(columns[pair])]
        return np.sort(exchange(apart, farthest_first(apart, start, size), self.eps))


def distances(votes: Votes, kind: str) -> FloatArray:
    """Return the distance of each pair of members; zero on the diagonal."""
    if kind == "kappa":
        apart = 1.0 - pairwise_diversity(votes, "kappa", outputs="label")
    else:
        apart = pairwise_diversity(votes, "disagreement", outputs="label")
    np.fill_diagonal(apart, 0.0)
    return apart


def farthest_first(apart: FloatArray, start: list[int], size: int) -> list[int]:
    """Grow ``start`` by the member farthest from its nearest neighbour in the set."""
    picked = list(start)
    outside = np.ones(len(apart), dtype=bool)
    outside[picked] = False
    nearest = apart[picked].min(axis=0)
    while len(picked) < size:
        member = first_best(nearest, outside)
        picked.append(member)
        outside[member] = False
        nearest = np.minimum(nearest, apart[member])
    return picked


def exchange(apart: FloatArray, picked: list[int], eps: float) -> list[int]:
    """Exchange members for outsiders while the sum of distances grows enough."""
    n = len(apart)
    inside = np.zeros(n, dtype=bool)
    inside[picked] = True
    reach = apart[:, inside].sum(axis=1)
    total = reach[inside].sum() / 2.0
    while not inside.all():
        ins, outs = np.flatnonzero(inside), np.flatnonzero(~inside)
        after = total - reach[ins][:, None] + reach[outs] - apart[np.ix_(ins, outs)]
        best = first_best(after.ravel(), np.ones(after.size, dtype=bool), _NEAR)
        p, q = ins[best // outs.size], outs[best % outs.size]
        grown = after.ravel()[best]
        if not grown > total * (1.0 + eps / n):
            break
        picked = [int(q) if member == p else member for member in picked]
        inside[p], inside[q] = False, True
        reach = reach - apart[p] + apart[q]
        total = grown
    return picked


class KLDivergence(Pruner):
    """Keep members trained on different distributions (KL pruning).

    Starts with member 0 and adds the member with the largest sum of Kullback-Leibler
    divergences to the set.

    Parameters
    ----------
    keep : float or int
        Fraction in (0, 1] or number of members to keep.
    distributions : array-like of shape (n_members, n_outcomes), optional
        The distribution over training samples each member was trained on, as boosting
        weights. By default the histogram of the classes it votes for, which is what the
        authors of EPBD used.
    symmetric : bool
        Add both directions of the divergence, halved, or only that from the lower to
        the higher position.

    Notes
    -----
    Histograms of votes say little about where members differ; give ``distributions`` if
    you have them. Ignores accuracy. Weights play no part.

    References
    ----------
    D. Margineantu and T. Dietterich, "Pruning adaptive boosting", ICML 1997.

    Examples
    --------
    >>> import quorate
    >>> votes = quorate.Votes([[1, 1, 1, 0], [1, 0, 1, 1], [0, 0, 0, 1]], [1, 1, 1, 1])
    >>> quorate.pruning.KLDivergence(keep=2).fit(votes).order_
    array([0, 2])
    """

    paper_name = "KL"

    def __init__(
        self,
        keep: float | int | None = 0.2,
        distributions: Any = None,
        symmetric: bool = True,
    ) -> None:
        super().__init__(keep)
        self.distributions = distributions
        self.symmetric = symmetric

    def _select(self, votes: Votes, size: int | None) -> list[int]:
        assert size is not None
        divergence = _divergences(self._shares(votes))
        if self.symmetric:
            apart = (divergence + divergence.T) / 2.0
        else:
            upper = np.triu(divergence, k=1)
            apart = (upper + upper.T) / 2.0
        outside = np.ones(votes.n_members, dtype=bool)
        picked = [0]
        outside[0] = False
        gain = apart[0].copy()
        while len(picked) < size:
            member = first_best(gain, outside, _NEAR)
            picked.append(member)
            outside[member] = False
            gain += apart[member]
        return picked

    def _shares(self, votes: Votes) -> FloatArray:
        if self.distributions is None:
            given = votes.class_counts().astype(float)
        else:
            given = np.asarray(self.distributions, dtype=float)
            if given.ndim != 2 or len(given) != votes.n_members:
                raise ValueError(
                    f"KLDivergence(distributions): one row per member, "
                    f"{votes.n_members}; got shape {given.shape}."
                )
            if not np.isfinite(given).all() or (given < 0).any():
                raise ValueError(
                    "KLDivergence(distributions): finite numbers, none negative."
                )
            if not given.any(axis=1).all():
                raise ValueError("KLDivergence(distributions): a row is all zero.")
        return np.asarray(given / given.sum(axis=1, keepdims=True))


def _divergences(shares: FloatArray) -> FloatArray:
    """Return KL(row || column) of all pairs; shares below 1e-13 are lifted to it."""
    logs = np.log(np.where(shares > 0, shares, 1.0))
    own = (shares * logs).sum(axis=1)
    cross = shares @ np.log(np.maximum(shares, 1e-13)).T
    return np.asarray(own[:, None] - cross)
