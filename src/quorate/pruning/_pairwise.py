"""Select by pairwise agreement, distances or divergences."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from quorate._checks import is_whole
from quorate._kernels.information import mutual_information
from quorate._random import as_generator
from quorate._theory import pairwise_diversity
from quorate._typing import Array, FloatArray, IntArray
from quorate._votes import VoteCounts, Votes, totals
from quorate.pruning._base import NEAR, Pruner, PrunerInputs, PrunerTags, first_best
from quorate.pruning._vote_shares import most_accurate_first


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
    Ignores accuracy altogether, so it tends to collect weak members. Cost: one matrix
    product for kappa, then a sort of all pairs. Ignores weights; with a mask, pairs are
    compared on common samples. Implementations differ on whether a member may come in
    through several pairs; here it may.

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

    def _select(self, inputs: PrunerInputs, size: int) -> IntArray:
        votes: VoteCounts = inputs.votes
        if votes.n_members == 1:
            return np.zeros(1, dtype=np.intp)
        kappa = pairwise_diversity(votes, "kappa", outputs="label")
        rows, columns = np.triu_indices(votes.n_members, k=1)
        by_kappa = np.argsort(kappa[rows, columns], kind="stable")
        flat = np.column_stack([rows[by_kappa], columns[by_kappa]]).ravel()
        _, first_seen = np.unique(flat, return_index=True)
        return np.argsort(first_seen, kind="stable")[:size]


class _DistanceBased(Pruner):
    """Base class of methods that keep members far from each other."""

    distance: str

    def _distances(self, votes: VoteCounts) -> FloatArray:
        """Return the pairwise distances, zero on the diagonal."""
        self._one_of("distance", "kappa", "disagreement")
        apart = pairwise_diversity(votes, self.distance, outputs="label")
        if self.distance == "kappa":
            apart = 1.0 - apart
        np.fill_diagonal(apart, 0.0)
        return apart


@dataclass(repr=False, eq=False)
class FarthestFirst(_DistanceBased):
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
    Ignores accuracy after the first pick. Ignores weights. The authors of EPBD
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

    tags = PrunerTags(takes_summary=True)
    keep: float | int | None = 0.2
    distance: str = "kappa"
    start: str | int = "best"
    random_state: Any = None

    def _select(self, inputs: PrunerInputs, size: int) -> list[int]:
        votes: VoteCounts = inputs.votes
        apart = self._distances(votes)
        return _traverse(apart, [self._first(votes)], size, np.minimum)

    def _first(self, votes: VoteCounts) -> int:
        n = votes.n_members
        if is_whole(self.start) and 0 <= int(self.start) < n:
            return int(self.start)
        if isinstance(self.start, str) and self.start == "best":
            return int(most_accurate_first(votes)[0])
        if isinstance(self.start, str) and self.start == "random":
            return int(as_generator(self.random_state, self._owner).integers(n))
        raise self._refuse(
            "start", f"must be 'best', 'random' or a member from 0 to {n - 1}"
        )


@dataclass(repr=False, eq=False)
class LocalSearch(_DistanceBased):
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
    picking: ``order_`` is sorted by position. Ignores accuracy, except that a single
    member is the most accurate. Ignores weights. The authors of EPBD maximised kappa
    here too.

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

    tags = PrunerTags(has_order=False, nested=False, takes_summary=True)
    keep: float | int | None = 0.2
    distance: str = "kappa"
    eps: float = 0.001

    def _select(self, inputs: PrunerInputs, size: int) -> IntArray:
        votes: VoteCounts = inputs.votes
        eps = self._number("eps")
        apart = self._distances(votes)
        if size == 1:
            return most_accurate_first(votes)[:1]
        rows, columns = np.triu_indices(votes.n_members, k=1)
        pair = int(apart[rows, columns].argmax())
        start = [int(rows[pair]), int(columns[pair])]
        picked = _traverse(apart, start, size, np.minimum)
        inside = np.zeros(votes.n_members, dtype=bool)
        inside[picked] = True
        reach = apart[:, inside].sum(axis=1)
        total = reach[inside].sum() / 2.0
        while not inside.all():
            ins, outs = np.flatnonzero(inside), np.flatnonzero(~inside)
            after = total - reach[ins][:, None] + reach[outs] - apart[np.ix_(ins, outs)]
            after = after.ravel()
            best = first_best(after, np.ones(after.size, dtype=bool), NEAR)
            if not after[best] > total * (1.0 + eps / votes.n_members):
                break
            leaving, coming = ins[best // outs.size], outs[best % outs.size]
            inside[leaving], inside[coming] = False, True
            reach = reach - apart[leaving] + apart[coming]
            total = after[best]
        return np.flatnonzero(inside)


def _traverse(
    apart: FloatArray, start: list[int], size: int, reach: np.ufunc, near: float = 0.0
) -> list[int]:
    """Grow a set by the member farthest from it.

    ``reach`` combines distances to members into one distance to the set: their minimum
    or their sum.
    """
    picked = list(start)
    outside = np.ones(len(apart), dtype=bool)
    outside[picked] = False
    distance = reach.reduce(apart[picked])
    while len(picked) < size:
        member = first_best(distance, outside, near)
        picked.append(member)
        outside[member] = False
        distance = reach(distance, apart[member])
    return picked


@dataclass(repr=False, eq=False)
class MRMR(Pruner):
    """Add relevant members with little redundancy (MRMR).

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
    Starts with the most accurate member. Ignores weights. Cost: the agreement of all
    pairs, then O(n) per pick; in bits, O(nm) per pick.

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
    keep: float | int | None = 0.2
    mi: str = "agreement"

    def _select(self, inputs: PrunerInputs, size: int) -> list[int]:
        votes: VoteCounts = inputs.votes
        self._one_of("mi", "agreement", "bits")
        if self.mi == "bits":
            cast = self._needs_samples(votes, "mi")
            codes, k = cast.codes, cast.n_classes
            relevance = mutual_information(codes, cast.y, k)
            shared = lambda t: mutual_information(codes, codes[t], k)  # noqa: E731
            return _add_relevant(votes, size, relevance, shared)
        right, asked = totals.member_counts(votes)
        agree: Array
        agree, total = totals.agreement(votes)
        if votes.is_masked:
            agree = agree / np.maximum(total, 1)
            return _add_relevant(votes, size, right / asked, agree.__getitem__)
        # Integers where possible, so that ties are exact.
        return _add_relevant(votes, size, right, agree.__getitem__, near=0.0)


def _add_relevant(
    votes: VoteCounts, size: int, relevance: Array, redundancy: Any, near: float = NEAR
) -> list[int]:
    """Add members by relevance minus mean redundancy with the selected ones."""
    picked = [int(most_accurate_first(votes)[0])]
    outside = np.ones(votes.n_members, dtype=bool)
    burden = np.zeros_like(relevance)
    while len(picked) < size:
        outside[picked[-1]] = False
        burden = burden + redundancy(picked[-1])
        score = relevance * len(picked) - burden
        if near:
            score = score / len(picked)
        picked.append(first_best(score, outside, near))
    return picked


@dataclass(repr=False, eq=False)
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
    you have them. Ignores accuracy. Ignores weights.

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

    keep: float | int | None = 0.2
    distributions: Any = None
    symmetric: bool = True

    def _select(self, inputs: PrunerInputs, size: int) -> list[int]:
        votes = inputs.votes
        self._flag("symmetric")
        shares = self._class_distributions(votes)
        # KL(row || column) of all pairs; shares are at least 1e-13.
        own = (shares * np.log(np.where(shares > 0, shares, 1.0))).sum(axis=1)
        divergence = own[:, None] - shares @ np.log(np.maximum(shares, 1e-13)).T
        if not self.symmetric:
            divergence = np.triu(divergence, k=1)
        return _traverse((divergence + divergence.T) / 2.0, [0], size, np.add, NEAR)

    def _class_distributions(self, votes: Votes) -> FloatArray:
        given = totals.class_counts(votes).astype(float)
        if self.distributions is not None:
            given = np.asarray(self.distributions, dtype=float)
            fits = given.ndim == 2 and len(given) == votes.n_members
            if not (fits and np.isfinite(given).all() and (given >= 0).all()
                    and given.any(axis=1).all()):  # fmt: skip
                raise ValueError(
                    "KLDivergence(distributions): must be one row for each of "
                    f"{votes.n_members} members, of finite numbers that are not "
                    f"negative and not all zero; got shape {given.shape}."
                )
        return np.asarray(given / given.sum(axis=1, keepdims=True))
