"""Grow a set member by member, guided by the error of its vote."""

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from quorate._kernels.information import mutual_information, shared_information
from quorate._typing import Array, FloatArray, Progress, Ties
from quorate._votes import Votes
from quorate.pruning._base import (
    NEAR,
    Pruner,
    PrunerInputs,
    PrunerTags,
    first_best,
)
from quorate.pruning._running import (
    RunningLoss,
    RunningVote,
    exchange,
    running_vote,
)
from quorate.pruning._vote_shares import most_accurate_first

_BACKFITTING_ROUNDS = 100


# The members in order, and the error of the vote after each addition.
Additions: TypeAlias = tuple[list[int], FloatArray]


class ErrorDriven(Pruner):
    """Base class of methods that use the vote error of a growing set."""

    tags = PrunerTags(uses_weights=True, driven_by_accuracy=True)

    def __init__(self, keep: float | int | None = 0.2, ties: Ties = "expected") -> None:
        self.keep, self.ties = keep, ties

    def _select(self, inputs: PrunerInputs, size: int) -> list[int]:
        picked, self.errors_ = self._add_members(inputs, size)
        return picked

    @abstractmethod
    def _add_members(self, inputs: PrunerInputs, size: int) -> Additions:
        """Add members until the size is reached."""

    def _empty_vote(self, votes: Votes) -> RunningVote:
        self._one_of("ties", "expected", "lowest")
        return running_vote(votes, self.ties)

    def _first(self, votes: Votes) -> list[int]:
        """Return the most accurate member, to start with."""
        return [int(most_accurate_first(votes)[0])]

    def _lower_error(
        self, inputs: PrunerInputs, size: int, exchange_rounds: int = 0
    ) -> Additions:
        """Add the member that lowers the error most, with rounds of exchanges."""
        votes = inputs.votes
        running, everybody = self._empty_vote(votes), np.arange(votes.n_members)

        def mend(picked: list[int]) -> None:
            if len(picked) >= 3:
                exchange(running, votes.n_members, picked, exchange_rounds, 0.0)

        return _add_best(
            running,
            self._first(votes),
            size,
            lambda: -running.losses(everybody),
            inputs.progress,
            mend=mend,
        )


def _add_best(
    running: RunningLoss,
    picked: list[int],
    size: int,
    scores: Callable[[], Array],
    progress: Progress,
    tolerance: float = 0.0,
    mend: Callable[[list[int]], None] = lambda picked: None,
) -> Additions:
    """Add the member with the largest score until the size is reached.

    ``mend`` may exchange members after each addition.
    """
    for member in picked:
        running.add(member)
    errors = [running.loss()]
    progress(1, size)
    while len(picked) < size:
        after = scores()
        outside = np.ones(after.size, dtype=bool)
        outside[picked] = False
        picked.append(first_best(after, outside, tolerance))
        running.add(picked[-1])
        mend(picked)
        errors.append(running.loss())
        progress(len(picked), size)
    return picked, np.array(errors)


@dataclass(repr=False, eq=False)
class ReducedError(ErrorDriven):
    """Add the member that lowers the error of the vote most (RE).

    Starts with the most accurate member. The classic that most selectors are measured
    against; driven by accuracy, so it needs out-of-bag or held-out votes.

    Parameters
    ----------
    keep : float or int
        Fraction in (0, 1] or number of members to keep.
    ties : {"expected", "lowest"}
        How ties are counted; see :meth:`quorate.Votes.sample_errors`.
    backfitting : bool
        After each addition from the third on, exchange members one at a time for the
        best replacement while the error falls, at most 100 rounds.

    Attributes
    ----------
    errors_ : ndarray of shape (n_kept_,)
        Error of the vote after each addition.

    Notes
    -----
    Cost: O(nm/64) per pick in two classes, since only samples within one vote of a tie
    are looked at. Uses weights and masks.

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

    keep: float | int | None = 0.2
    ties: Ties = "expected"
    backfitting: bool = False

    @property
    def has_order(self) -> bool:
        """Whether each prefix is a selection; not with exchanges."""
        return not self.backfitting

    def _add_members(self, inputs: PrunerInputs, size: int) -> Additions:
        rounds = _BACKFITTING_ROUNDS if self.backfitting else 0
        return self._lower_error(inputs, size, rounds)


@dataclass(repr=False, eq=False)
class OrderedError(ErrorDriven):
    """Keep the prefix of smallest error in the order of RE (OEP).

    Parameters
    ----------
    keep : float, int or None
        At most this many members; any number by default.
    ties : {"expected", "lowest"}
        How ties are counted.

    Attributes
    ----------
    errors_ : ndarray
        Error of the vote of each prefix, up to the largest one looked at.

    Notes
    -----
    Finds its own size, often a small one. Uses weights and masks.

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

    tags = replace(ErrorDriven.tags, finds_size=True, honours_keep=False)
    keep: float | int | None = None
    ties: Ties = "expected"

    def _add_members(self, inputs: PrunerInputs, size: int) -> Additions:
        picked, errors = self._lower_error(inputs, size)
        return picked[: int(np.argmin(errors)) + 1], errors


class Complementariness(ErrorDriven):
    """Add the member most often right where the vote is wrong (CM).

    Parameters
    ----------
    keep : float or int
        Fraction in (0, 1] or number of members to keep.
    ties : {"expected", "lowest"}
        How ties are counted.

    Attributes
    ----------
    errors_ : ndarray of shape (n_kept_,)
        Error of the vote after each addition.

    Notes
    -----
    Starts with the most accurate member. Uses weights and masks. On training votes of
    members that are nearly perfect there is nothing left to complement.

    References
    ----------
    G. Martínez-Muñoz and A. Suárez, "Aggregation ordering in bagging", AIA 2004.

    Examples
    --------
    >>> import quorate
    >>> votes = quorate.Votes([[1, 1, 1, 0], [1, 1, 1, 0], [0, 0, 0, 1]], [1, 1, 1, 1])
    >>> quorate.pruning.Complementariness(keep=2).fit(votes).order_
    array([0, 2])
    """

    def _add_members(self, inputs: PrunerInputs, size: int) -> Additions:
        running, first = self._empty_vote(inputs.votes), self._first(inputs.votes)
        return _add_best(running, first, size, running.rescued, inputs.progress)


class MRMC(ErrorDriven):
    """Add relevant members that complement the rest (MRMC).

    Adds the member with the largest sum of relevance, what the whole ensemble's
    accuracy loses without it, and complementarity, what the set's accuracy gains.

    Parameters
    ----------
    keep : float or int
        Fraction in (0, 1] or number of members to keep.
    ties : {"expected", "lowest"}
        How ties are counted.

    Attributes
    ----------
    errors_ : ndarray of shape (n_kept_,)
        Error of the vote after each addition.

    Notes
    -----
    Starts with the most accurate member, the more relevant of equals. Uses weights and
    masks. The original leaves open which set complementarity refers to; the authors of
    EPBD used a fixed one whose members then vote twice.

    References
    ----------
    X. Xia, T. Lin, Z. Chen, "Maximum relevancy maximum complementary based ordered
    aggregation for ensemble pruning", Applied Intelligence 48, 2018.

    Examples
    --------
    >>> import quorate
    >>> votes = quorate.Votes([[1, 1, 1, 0], [1, 1, 1, 0], [0, 1, 1, 1]], [1, 1, 1, 1])
    >>> quorate.pruning.MRMC(keep=2).fit(votes).n_kept_
    2
    """

    def _add_members(self, inputs: PrunerInputs, size: int) -> Additions:
        votes = inputs.votes
        running = self._empty_vote(votes)
        if votes.n_members == 1:
            return [0], np.array([votes.error(self.ties, rule="heads")])
        total = running.scale * votes.n_samples
        running.become(range(votes.n_members))
        with_all = total - running.error
        without = total - running.errors_if_flipped()
        # Relevance is 1 - without / whole; the constant and the sign are irrelevant
        # here.
        relevance = -(without / (with_all or 1))
        by_both = np.lexsort((-relevance, -votes.accuracies))
        running.become([])

        def scores() -> Array:
            own = total - running.error
            joined = total - running.errors_if_added()
            return np.asarray(relevance + joined / (own or 1))

        first = [int(by_both[0])]
        return _add_best(running, first, size, scores, inputs.progress, NEAR)


@dataclass(repr=False, eq=False)
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
        How ties are counted.

    Attributes
    ----------
    errors_ : ndarray of shape (n_kept_,)
        Error of the vote after each addition.

    Notes
    -----
    Ends when no candidate lowers the error; ``keep`` is an upper limit. Two members
    that differ tie, and a tie counts half: with equal weights and a vote on every
    sample a second member never lowers the error, and the most accurate one is all that
    is kept. Out-of-bag votes or ``ties="lowest"`` let it go on. Uses weights and masks.
    Published implementations differ: one adds members that leave the error as it is,
    and one compares positions with the wrong thing, so that members come in storage
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

    tags = replace(ErrorDriven.tags, finds_size=True, honours_keep=False)
    keep: float | int | None = None
    rho: float = 0.25
    ties: Ties = "expected"

    def _add_members(self, inputs: PrunerInputs, size: int) -> Additions:
        rho = self._number("rho", above=0, most=1)
        running = self._empty_vote(inputs.votes)
        picked = self._first(inputs.votes)
        running.add(picked[0])
        errors = [running.loss()]
        while len(picked) < size:
            others = np.flatnonzero(~running.inside)
            few = int(np.ceil(rho * others.size - 1e-9))
            unlike = np.argsort(running.agreement()[others], kind="stable")[:few]
            after = running.errors_if_added(others[unlike])
            # unlike is sorted by agreement and position, which breaks ties
            best = int(np.argmin(after))
            if not after[best] < running.error:
                break
            picked.append(int(others[unlike[best]]))
            running.add(picked[-1])
            errors.append(running.loss())
        return picked, np.array(errors)


class DiscEP(ErrorDriven):
    """Add members informative where the vote is wrong (DiscEP).

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
    than 1e-12 are equal and go to the lowest position. Uses weights in the vote of the
    set, and masks. Each pick looks at all pairs of a candidate and a member of the set:
    a matrix product for each pair of classes. The authors of EPBD split samples by the
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

    def _add_members(self, inputs: PrunerInputs, size: int) -> Additions:
        votes = inputs.votes
        running = self._empty_vote(votes)

        def scores() -> FloatArray:
            errs = running.sample_errors() > 0
            members = np.flatnonzero(running.inside)
            codes, k = votes.codes, votes.n_classes
            shared = shared_information(codes, members, k, np.flatnonzero(~errs))
            about = mutual_information(codes, votes.y, k, errs)
            return np.asarray(about + shared.mean(axis=1))

        first = self._first(votes)
        return _add_best(running, first, size, scores, inputs.progress, NEAR)
