"""Grow a set member by member, watching the error of its vote."""

from collections.abc import Callable
from typing import Any

import numpy as np

from quorate._kernels import sums
from quorate._typing import Array, FloatArray, Ties
from quorate.pruning._ballot import Ballot, open_ballot
from quorate.pruning._base import Pruner, first_best, most_accurate_first
from quorate.votes import Votes

_BACKFITTING_ROUNDS = 100


class ErrorDriven(Pruner):
    """Methods that read the vote error of a growing set."""

    uses_weights = True
    driven_by_accuracy = True
    errors_: FloatArray
    ties: Ties

    def __init__(self, keep: float | int | None = 0.2, ties: Ties = "expected") -> None:
        super().__init__(keep)
        self.ties = ties

    def _open(self, votes: Votes) -> Ballot:
        self._one_of("ties", "expected", "lowest")
        return open_ballot(votes, self.ties)

    def _grow(
        self,
        ballot: Ballot,
        size: int,
        score: Callable[[], Array],
        tolerance: float = 0.0,
        mend: Callable[[list[int]], None] = lambda picked: None,
    ) -> list[int]:
        """Add the member of the largest score until there are enough.

        Starts with the most accurate member if the set is empty. ``mend`` may exchange
        members after each addition.
        """
        picked = np.flatnonzero(ballot.inside).tolist() or _start(ballot)
        errors = [ballot.error]
        self._progress(1, size)
        while len(picked) < size:
            _take(ballot, picked, first_best(score(), ~ballot.inside, tolerance))
            mend(picked)
            errors.append(ballot.error)
            self._progress(len(picked), size)
        self._note(ballot, errors)
        return picked

    def _note(self, ballot: Ballot, errors: list[Any]) -> None:
        """Keep the vote errors seen on the way, as shares of the samples."""
        n_samples = ballot.votes.n_samples
        self.errors_ = np.array(errors, dtype=float) / (ballot.scale * n_samples)


class ReducedError(ErrorDriven):
    """Add the member that lowers the error of the vote most (RE).

    Starts with the most accurate member. The classic that most selectors are measured
    against; driven by accuracy, so it needs out-of-bag or held-out votes.

    Parameters
    ----------
    keep : float or int
        Fraction in (0, 1] or number of members to keep.
    ties : {"expected", "lowest"}
        How a tied vote counts; see :meth:`quorate.Votes.sample_errors`.
    backfitting : bool
        After each addition from the third on, exchange members one at a time for the
        best replacement while the error falls, at most 100 rounds.

    Attributes
    ----------
    errors_ : ndarray of shape (n_kept_,)
        Error of the vote after each addition.

    Notes
    -----
    Cost: O(nm/64) per pick in two classes, since only samples within one vote of
    a tie are looked at. Honours weights and masks.

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

    paper_name = "RE"

    def __init__(
        self,
        keep: float | int | None = 0.2,
        ties: Ties = "expected",
        backfitting: bool = False,
    ) -> None:
        super().__init__(keep, ties)
        self.backfitting = backfitting

    @property
    def has_order(self) -> bool:
        """Whether each prefix is a choice of its own; exchanges undo that."""
        return not self.backfitting

    def _select(self, votes: Votes, size: int | None) -> list[int]:
        assert size is not None
        ballot = self._open(votes)

        def mend(picked: list[int]) -> None:
            if self.backfitting and len(picked) >= 3:
                _backfit(ballot, picked)

        return self._grow(ballot, size, lambda: -ballot.errors_if_added(), mend=mend)


class OrderedError(ErrorDriven):
    """Keep the prefix of smallest error in the order of RE (OEP).

    Parameters
    ----------
    keep : float, int or None
        At most this many members; any number by default.
    ties : {"expected", "lowest"}
        How a tied vote counts.

    Attributes
    ----------
    errors_ : ndarray
        Error of the vote of each prefix, up to the largest one looked at.

    Notes
    -----
    Finds its own size, often a small one. Honours weights and masks.

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

    paper_name = "OEP"
    finds_size = True
    honours_keep = False

    def __init__(
        self, keep: float | int | None = None, ties: Ties = "expected"
    ) -> None:
        super().__init__(keep, ties)

    def _select(self, votes: Votes, size: int | None) -> list[int]:
        most = votes.n_members if size is None else size
        ballot = self._open(votes)
        picked = self._grow(ballot, most, lambda: -ballot.errors_if_added())
        return picked[: int(np.argmin(self.errors_)) + 1]


class Complementariness(ErrorDriven):
    """Add the member most often correct where the vote errs (CM).

    Parameters
    ----------
    keep : float or int
        Fraction in (0, 1] or number of members to keep.
    ties : {"expected", "lowest"}
        How a tied vote counts.

    Attributes
    ----------
    errors_ : ndarray of shape (n_kept_,)
        Error of the vote after each addition.

    Notes
    -----
    Starts with the most accurate member. Honours weights and masks. On training
    votes of members that are nearly perfect there is nothing left to complement.

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

    paper_name = "CM"

    def _select(self, votes: Votes, size: int | None) -> list[int]:
        assert size is not None
        ballot = self._open(votes)
        return self._grow(ballot, size, ballot.rescued)


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

    paper_name = "DREP"
    finds_size = True
    honours_keep = False

    def __init__(
        self,
        keep: float | int | None = None,
        rho: float = 0.25,
        ties: Ties = "expected",
    ) -> None:
        super().__init__(keep, ties)
        self.rho = rho

    def _select(self, votes: Votes, size: int | None) -> list[int]:
        if not 0 < self.rho <= 1:
            raise self._refuse("rho", "a share in (0, 1]")
        ballot = self._open(votes)
        picked = _start(ballot)
        errors = [ballot.error]
        while len(picked) < (votes.n_members if size is None else size):
            others = np.flatnonzero(~ballot.inside)
            alike = ballot.agreement()[others]
            few = int(np.ceil(self.rho * others.size - 1e-9))
            unlike = np.argsort(alike, kind="stable")[:few]
            after = ballot.errors_if_added(others[unlike])
            # unlike is sorted by agreement and position, as ties are to be broken
            best = int(np.argmin(after))
            if not after[best] < ballot.error:
                break
            _take(ballot, picked, int(others[unlike[best]]))
            errors.append(ballot.error)
        self._note(ballot, errors)
        return picked


class MRMC(ErrorDriven):
    """Add relevant members that complement the rest (MRMC).

    Adds the member with the largest sum of relevance, what the whole ensemble's
    accuracy loses without it, and complementarity, what the set's accuracy gains.

    Parameters
    ----------
    keep : float or int
        Fraction in (0, 1] or number of members to keep.
    ties : {"expected", "lowest"}
        How a tied vote counts.

    Attributes
    ----------
    errors_ : ndarray of shape (n_kept_,)
        Error of the vote after each addition.

    Notes
    -----
    Starts with the most accurate member, the more relevant of equals. Honours weights
    and masks. The original leaves open which set complementarity refers to; the authors
    of EPBD used a fixed one whose members then vote twice.

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

    paper_name = "MRMC"

    def _select(self, votes: Votes, size: int | None) -> list[int]:
        assert size is not None
        if votes.n_members == 1:
            self.errors_ = np.array([votes.error(self.ties)])
            return [0]
        ballot = self._open(votes)
        total = ballot.scale * votes.n_samples
        ballot.become(range(votes.n_members))
        whole = total - ballot.error
        without = total - ballot.errors_if_removed()
        # Relevance is 1 - without / whole; a constant and a sign do not matter here.
        relevance = -(without / whole) if whole else -np.asarray(without, dtype=float)
        first = _best_then(votes.accuracies, relevance)
        ballot.become([first])

        def score() -> Array:
            own = total - ballot.error
            joined = total - ballot.errors_if_added()
            gain = joined / own if own else np.asarray(joined, dtype=float)
            return np.asarray(relevance + gain)

        return self._grow(ballot, size, score, tolerance=1e-12)


class Concurrency(ErrorDriven):
    """Reward being correct where the vote is wrong (concurrency).

    A candidate earns 2 on samples it gets right and the set wrong, 1 where both are
    right, -2 where both are wrong. A tied vote counts as wrong.

    Parameters
    ----------
    keep : float or int
        Fraction in (0, 1] or number of members to keep.

    Attributes
    ----------
    errors_ : ndarray of shape (n_kept_,)
        Error of the vote after each addition.

    References
    ----------
    R. Banfield et al., "Ensemble diversity measures and their application to
    thinning", Information Fusion 6, 2005.

    Examples
    --------
    >>> import quorate
    >>> votes = quorate.Votes([[1, 1, 1, 0], [1, 1, 1, 0], [0, 0, 1, 1]], [1, 1, 1, 1])
    >>> quorate.pruning.Concurrency(keep=2).fit(votes).order_
    array([0, 2])
    """

    paper_name = "Conc"

    def __init__(self, keep: float | int | None = 0.2) -> None:
        super().__init__(keep)

    def _gains(self, votes: Votes, ballot: Ballot) -> tuple[Array, Array]:
        """Return what a right and what a wrong vote earns on each sample."""
        set_is_right = ballot.winners() == votes.y
        return np.where(set_is_right, 1, 2), np.where(set_is_right, 0, -2)

    def _select(self, votes: Votes, size: int | None) -> list[int]:
        assert size is not None
        ballot = self._open(votes)

        def score() -> Array:
            right, wrong = self._gains(votes, ballot)
            earned = sums.sum_where_correct(votes.codes, votes.y, right - wrong)
            return earned + _sum_where_voted(votes, wrong)

        return self._grow(ballot, size, score, tolerance=1e-12)


class UncertaintyWeighted(Concurrency):
    """Reward votes by how unsure the set is (UWA).

    With NT the share of the set's members that are right on a sample and NF = 1 - NT:
    right where the set is wrong earns NT, wrong where it is right costs NF, right with
    it earns NF, wrong with it costs NT. A tied vote counts as wrong.

    Parameters
    ----------
    keep : float or int
        Fraction in (0, 1] or number of members to keep.

    Attributes
    ----------
    errors_ : ndarray of shape (n_kept_,)
        Error of the vote after each addition.

    References
    ----------
    I. Partalas, G. Tsoumakas, I. Vlahavas, "An ensemble uncertainty aware measure for
    directed hill climbing ensemble pruning", Machine Learning 81, 2010.

    Examples
    --------
    >>> import quorate
    >>> votes = quorate.Votes([[1, 1, 1, 0], [1, 1, 1, 0], [0, 0, 1, 1]], [1, 1, 1, 1])
    >>> quorate.pruning.UncertaintyWeighted(keep=2).fit(votes).n_kept_
    2
    """

    paper_name = "UWA"

    def _gains(self, votes: Votes, ballot: Ballot) -> tuple[Array, Array]:
        right, asked = votes.keep(ballot.inside).unweighted().sample_counts()
        true = right / np.maximum(asked, 1)
        false = np.where(asked > 0, 1.0 - true, 0.0)
        set_is_right = ballot.winners() == votes.y
        return np.where(set_is_right, false, true), np.where(
            set_is_right, -false, -true
        )


def _start(ballot: Ballot) -> list[int]:
    """Let the most accurate member in."""
    picked: list[int] = []
    _take(ballot, picked, int(most_accurate_first(ballot.votes)[0]))
    return picked


def _take(ballot: Ballot, picked: list[int], member: int) -> None:
    ballot.flip(member)
    picked.append(member)


def _backfit(ballot: Ballot, picked: list[int]) -> None:
    """Exchange members one at a time for better ones while the error falls."""
    for _ in range(_BACKFITTING_ROUNDS):
        before = ballot.error
        for place, member in enumerate(picked):
            now = ballot.error
            ballot.flip(member)
            after = ballot.errors_if_added()
            best = first_best(-after, ~ballot.inside)
            if not after[best] < now:
                best = member
            ballot.flip(best)
            picked[place] = best
        if not ballot.error < before:
            return


def _best_then(first: Array, second: Array) -> int:
    """Return the position of the largest, by the second key among equals."""
    return int(np.lexsort((np.arange(first.size), -second, -first))[0])


def _sum_where_voted(votes: Votes, values: Array) -> FloatArray:
    """Sum values over the samples each member has a vote on."""
    if not votes.is_masked:
        return np.full(votes.n_members, float(values.sum()))
    return sums.sum_where_voted(votes.codes, values)
