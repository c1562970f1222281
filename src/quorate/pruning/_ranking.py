"""Score every member once and keep the best, the first or random ones."""

import math
from abc import abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np

from quorate._kernels import sums
from quorate._random import as_generator
from quorate._typing import Array, FloatArray, IntArray
from quorate._votes import Votes, totals
from quorate.pruning._base import Pruner, PrunerInputs, PrunerTags
from quorate.pruning._vote_shares import (
    most_accurate_first,
)


class EarlyStopping(Pruner):
    """Keep the first members, in the order they were trained.

    For boosting this is stopping early; for bagging and forests it is as good as a
    random subset, because members are trained independently.

    Parameters
    ----------
    keep : float or int
        Fraction in (0, 1] or number of members to keep.

    Examples
    --------
    >>> import quorate
    >>> votes = quorate.Votes([[0, 1], [1, 1], [0, 0]], [0, 1])
    >>> quorate.pruning.EarlyStopping(keep=2).fit(votes).order_
    array([0, 1])
    """

    tags = PrunerTags(takes_summary=True)

    def _select(self, inputs: PrunerInputs, size: int) -> range:
        return range(size)


class BestMembers(Pruner):
    """Keep the most accurate members.

    A baseline every other method should beat: it ignores how members complement each
    other. On training votes of fully grown trees all members look perfect, and the
    choice is that of positions; use out-of-bag votes.

    Parameters
    ----------
    keep : float or int
        Fraction in (0, 1] or number of members to keep.

    Attributes
    ----------
    scores_ : ndarray of shape (n_members,)
        The members' accuracies.

    Examples
    --------
    >>> import quorate
    >>> votes = quorate.Votes([[0, 1], [1, 1], [0, 0]], [1, 1])
    >>> quorate.pruning.BestMembers(keep=2).fit(votes).order_
    array([1, 0])
    """

    tags = PrunerTags(driven_by_accuracy=True, takes_summary=True)

    def _select(self, inputs: PrunerInputs, size: int) -> IntArray:
        self.scores_ = inputs.votes.accuracies
        return most_accurate_first(inputs.votes)[:size]


@dataclass(repr=False, eq=False)
class RandomSubset(Pruner):
    """Keep members drawn at random, without replacement.

    The baseline that tells whether a method chooses at all.

    Parameters
    ----------
    keep : float or int
        Fraction in (0, 1] or number of members to keep.
    random_state : int, RandomState, Generator or None
        Seed of the draw.

    Examples
    --------
    >>> import quorate
    >>> votes = quorate.Votes([[0, 1], [1, 1], [0, 0]], [1, 1])
    >>> quorate.pruning.RandomSubset(keep=2, random_state=0).fit(votes).n_kept_
    2
    """

    tags = PrunerTags(takes_summary=True)
    keep: float | int | None = 0.2
    random_state: Any = None

    def _select(self, inputs: PrunerInputs, size: int) -> IntArray:
        rng = as_generator(self.random_state, self._owner)
        return rng.permutation(inputs.votes.n_members)[:size]


# Scores with logarithms are compared after rounding to this many digits.
_DIGITS = 10


@dataclass(repr=False, eq=False)
class OrientationOrdering(Pruner):
    """Order members by their angle to the reference direction (OO).

    A member's signature is +1 where it is correct and -1 where it is wrong. The
    reference direction is the diagonal, where every sample is correct, made orthogonal
    to the ensemble's mean signature: it points from what the ensemble does to what it
    lacks.

    Parameters
    ----------
    keep : float, int or None
        Fraction in (0, 1] or number of members to keep; by default those whose angle is
        below 90 degrees.

    Attributes
    ----------
    scores_ : ndarray of shape (n_members,)
        Falls as the angle grows; positive below 90 degrees.
    angle_ : float
        Angle between the reference direction and the diagonal. If it is near 90
        degrees, mean signature and diagonal almost coincide and the order is fragile.

    Notes
    -----
    Cost: O(nm). A margin criterion, so less misled by training votes than accuracy is.
    Ignores weights. If no angle is below 90 degrees the most accurate member is kept.
    One published implementation keeps the *least* aligned members.

    References
    ----------
    G. Martínez-Muñoz and A. Suárez, "Pruning in ordered bagging ensembles", ICML 2006.

    Examples
    --------
    >>> import quorate
    >>> votes = quorate.Votes([[1, 1, 1, 0], [1, 1, 0, 0], [0, 0, 1, 1]], [1, 1, 1, 1])
    >>> quorate.pruning.OrientationOrdering().fit(votes).order_
    array([2])
    """

    tags = PrunerTags(finds_size=True)
    keep: float | int | None = None

    def _select(self, inputs: PrunerInputs, size: int) -> IntArray:
        order, _ = self._by_angle(inputs.votes)
        return order[:size]

    def _select_any_size(self, inputs: PrunerInputs) -> IntArray:
        order, scores = self._by_angle(inputs.votes)
        below = order[scores[order] > 0]
        return below if below.size else most_accurate_first(inputs.votes)[:1]

    def _by_angle(self, votes: Votes) -> tuple[IntArray, FloatArray]:
        """Return the members by angle, and the scores; set the attributes."""
        right, asked = totals.sample_counts(votes)
        ensemble = 2 * right.astype(np.int64) - asked
        own_right, own_asked = totals.member_counts(votes)
        along = 2 * own_right - own_asked
        square, diagonal = int((ensemble**2).sum()), int(ensemble.sum())
        voted: Array | int = diagonal
        if votes.is_masked:
            voted = sums.sum_where_voted(votes.codes, ensemble)
        correct = sums.sum_where_correct(votes.codes, votes.y, ensemble)
        overlap = np.rint(2.0 * correct - voted).astype(np.int64)
        # Python integers, because these products may exceed 64 bits.
        pairs = zip(along.tolist(), overlap.tolist(), strict=True)
        exact = [a * square - diagonal * o if square else a for a, o in pairs]
        self.scores_ = scores = np.array(exact, dtype=float)
        self.angle_ = _angle(square, diagonal, votes.n_samples)
        if votes.is_masked:
            # With a mask, signatures differ in length, so angles need the norms.
            return np.argsort(-scores / np.sqrt(own_asked), kind="stable"), scores
        order = sorted(range(votes.n_members), key=lambda t: -exact[t])
        return np.array(order, dtype=np.intp), scores


def _angle(square: int, diagonal: int, n_samples: int) -> float:
    """Return the angle between the reference direction and the diagonal."""
    if square == 0:
        return 0.0
    # cos**2 = |c_ref|**2 / |o|**2, as c_ref is the projection of o.
    cosine = math.sqrt(max(0.0, 1.0 - diagonal**2 / (square * n_samples)))
    return math.acos(min(1.0, cosine))


class _Scored(Pruner):
    """Methods that keep the largest of scores given once.

    Attributes
    ----------
    _is_mean : bool
        Whether scores are means over samples; otherwise they are sums.
    """

    scores_: FloatArray

    def _select(self, inputs: PrunerInputs, size: int) -> IntArray:
        self.scores_ = scores = self._scores(inputs.votes)
        return np.argsort(-np.round(scores, _DIGITS), kind="stable")[:size]

    @abstractmethod
    def _scores(self, votes: Votes) -> FloatArray:
        """Return a score for each member."""


class IndividualContribution(_Scored):
    """Keep the members that contribute most to the vote (EPIC).

    A correct vote earns the runner-up's count if it is with the majority, and twice the
    majority's count minus its own if it is not; a wrong vote costs.

    Parameters
    ----------
    keep : float or int
        Fraction in (0, 1] or number of members to keep.

    Attributes
    ----------
    scores_ : ndarray of shape (n_members,)
        The contributions.

    Notes
    -----
    Cost: O(nm) once. Ignores weights; with a mask the counts are those of the usable
    votes.

    References
    ----------
    Z. Lu, X. Wu, X. Zhu, J. Bongard, "Ensemble pruning via individual contribution
    ordering", KDD 2010.

    Examples
    --------
    >>> import quorate
    >>> votes = quorate.Votes([[1, 1, 1, 0], [1, 1, 0, 0], [0, 0, 1, 1]], [1, 1, 1, 1])
    >>> quorate.pruning.IndividualContribution(keep=2).fit(votes).order_
    array([2, 0])
    """

    def _scores(self, votes: Votes) -> FloatArray:
        counts = votes.tally().astype(np.int64)
        columns = np.arange(votes.n_samples)
        most, second = _two_largest(counts)
        majority = counts.argmax(axis=0)
        label = np.arange(votes.n_classes)[:, None]
        correct = label == votes.y
        with_majority = label == majority
        earned = np.where(
            correct,
            np.where(with_majority, second, 2 * most - counts),
            counts[votes.y, columns] - counts - most,
        )
        return sums.sum_by_vote(votes.codes, earned, votes.is_masked)


@dataclass(repr=False, eq=False)
class UMEP(_Scored):
    """Keep members that are correct where the vote is close (UMEP).

    Parameters
    ----------
    keep : float or int
        Fraction in (0, 1] or number of members to keep.
    margin : {"unsupervised", "supervised"}
        The distance between the two largest shares of votes, or between the share of
        the true class and the largest other one (SMEP).

    Attributes
    ----------
    scores_ : ndarray of shape (n_members,)
        Mean of minus the logarithm of the margin over samples it gets right.

    Notes
    -----
    Margins below 1/(2n) are lifted to it; the originals leave the logarithm of zero
    open. One published implementation keeps the smallest scores, the least informative
    members. Ignores weights. A margin criterion, so less misled by training votes than
    accuracy is.

    References
    ----------
    L. Guo and S. Boukir, "Margin-based ordered aggregation for ensemble pruning",
    Pattern Recognition Letters 34, 2013.

    Examples
    --------
    >>> import quorate
    >>> votes = quorate.Votes([[1, 1, 1, 0], [1, 1, 0, 0], [0, 0, 1, 1]], [1, 1, 1, 1])
    >>> quorate.pruning.UMEP(keep=1).fit(votes).n_kept_
    1
    """

    keep: float | int | None = 0.2
    margin: str = "unsupervised"

    def _scores(self, votes: Votes) -> FloatArray:
        self._one_of("margin", "unsupervised", "supervised")
        counts = votes.tally().astype(np.int64)
        if self.margin == "unsupervised":
            most, second = _two_largest(counts)
            gap = most - second
        else:
            gap = np.abs(np.subtract(*_own_and_other(counts, votes.y)))
        surprise = -_log_share(gap, votes)
        return sums.sum_where_correct(votes.codes, votes.y, surprise) / votes.n_samples


@dataclass(repr=False, eq=False)
class MDEP(_Scored):
    """Keep members correct on close votes and rare classes (MDEP).

    Parameters
    ----------
    keep : float or int
        Fraction in (0, 1] or number of members to keep.
    alpha : float
        Weight of the margin against the share of the true class, in [0, 1].

    Attributes
    ----------
    scores_ : ndarray of shape (n_members,)
        Sum of minus the weighted logarithms over samples it gets right.

    Notes
    -----
    Margins below 1/(2n) are lifted to it. One published implementation keeps the
    smallest scores. Ignores weights.

    References
    ----------
    H. Guo et al., "Margin and diversity based ordering ensemble pruning",
    Neurocomputing 275, 2018.

    Examples
    --------
    >>> import quorate
    >>> votes = quorate.Votes([[1, 1, 1, 0], [1, 1, 0, 0], [0, 0, 1, 1]], [1, 1, 1, 1])
    >>> quorate.pruning.MDEP(keep=1).fit(votes).order_
    array([2])
    """

    keep: float | int | None = 0.2
    alpha: float = 0.2

    def _scores(self, votes: Votes) -> FloatArray:
        alpha = self._number("alpha", most=1)
        counts = votes.tally().astype(np.int64)
        own, other = _own_and_other(counts, votes.y)
        _, asked = totals.sample_counts(votes)
        share = np.log(np.maximum(own, 1) / np.maximum(asked, 1))
        both = alpha * _log_share(np.abs(own - other), votes) + (1.0 - alpha) * share
        return -sums.sum_where_correct(votes.codes, votes.y, both)


def _two_largest(counts: IntArray) -> tuple[IntArray, IntArray]:
    """Return the largest and second largest count of each sample."""
    if len(counts) == 1:
        return counts[0], np.zeros_like(counts[0])
    second, most = np.partition(counts, -2, axis=0)[-2:]
    return most, second


def _own_and_other(counts: IntArray, y: Array) -> tuple[IntArray, IntArray]:
    """Return the count of the true class and the largest other count."""
    columns = np.arange(y.size)
    own = counts[y, columns]
    others = counts.copy()
    others[y, columns] = 0
    return own, others.max(axis=0)


def _log_share(gap: IntArray, votes: Votes) -> FloatArray:
    """Return ln(gap / n), with gaps of at least one half."""
    _, asked = totals.sample_counts(votes)
    logs: FloatArray = np.log(np.maximum(gap, 0.5) / np.maximum(asked, 1))
    return logs
