"""Order, stops and stopping rules of early exit."""

import math
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

import numpy as np

from quorate._engine._additive import AdditiveEnsemble
from quorate._typing import BoolArray, FloatArray, IntArray

Lead: TypeAlias = tuple[IntArray, FloatArray, FloatArray]
"""Who leads on each row, with how much, and what the next one has."""
Mode: TypeAlias = Literal["exact", "bayes", "calibrated", "all"]
MODES: tuple[Mode, ...] = get_args(Mode)

# Kinds of rules: the same values as in forest.c.
EXACT, SHARE, VOTES, RELATIVE = range(4)
# Sums of shares this close to an integer are taken as that integer.
WHOLE = 1e-5
# Bounds used only to skip stops are widened by rounding.
SLACK = 1 + 1e-9
# The minimum distance of stops, as a fraction of the members, and the growth of later
# distances, relative to the members since a row could first be decided.
_FINEST = 100
_GROWTH = 0.12
# Maximum size of the array used to compute the table of needed votes.
_CHUNK = 2_000_000
_NEVER = np.iinfo(np.int64).max


@dataclass(frozen=True, slots=True)
class Stops:
    """Where voting pauses, and the weight evaluated and left at each stop.

    Attributes
    ----------
    order : IntArray
        Members in the order in which they are evaluated.
    ends : IntArray
        Members evaluated at each stop.
    asked : FloatArray
        Weight evaluated.
    left : FloatArray
        Weight left.
    rest : FloatArray
        The most that the members left can take from a lead.
    most : FloatArray
        The largest lead there can be.
    root : FloatArray
        Square root of the squared weights left.
    """

    order: IntArray
    ends: IntArray
    asked: FloatArray
    left: FloatArray
    rest: FloatArray
    most: FloatArray
    root: FloatArray


def make_stops(ensemble: AdditiveEnsemble, order: IntArray, ends: IntArray) -> Stops:
    """Return the stops of an ensemble evaluated in this order."""
    weights = np.abs(ensemble.weights[order])
    reach = ensemble.reach[order]
    asked = np.r_[0, np.cumsum(weights)][ends]
    most = np.r_[0, np.cumsum(reach)][ends]
    # Summed from the end, so that exactly nothing is left after the last.
    left = np.r_[np.cumsum(weights[::-1])[::-1], 0][ends]
    rest = np.r_[np.cumsum(reach[::-1])[::-1], 0][ends]
    squares = np.r_[np.cumsum(weights[::-1] ** 2)[::-1], 0][ends]
    return Stops(order, ends, asked, left, rest, most, np.sqrt(squares))


def make_ends(
    ensemble: AdditiveEnsemble, order: IntArray, mode: str, block_size: Any = "auto"
) -> IntArray:
    """Return the number of members after which each stop comes.

    By default stops are dense where many rows are decided and sparser later. A stop
    costs about half an evaluation of a member on every open row, so the fewer rows each
    member decides, the fewer stops pay off.
    """
    n_members = ensemble.n_members
    ends: list[int] = []
    if mode != "all" and block_size != "auto":
        ends += range(int(block_size), n_members, int(block_size))
    elif mode != "all":
        first = 0
        if mode == "exact":  # after how many a vote can be decided for good
            asked = np.cumsum(ensemble.reach[order])
            first = int(np.argmax(asked * SLACK >= asked[-1] - asked)) + 1
        end = first
        while end < n_members:
            ends += [end] * (end > 0)
            end += max(1, n_members // _FINEST, round(_GROWTH * (end - first)))
    return np.array([*ends, n_members])


def auto_order(
    ensemble: AdditiveEnsemble,
    mode: str,
    rng: Any,
    agreements: FloatArray | float = 1.0,
) -> IntArray:
    """Return the order in which members are evaluated by default.

    Random if all weights are equal and in mode "bayes", which assumes that; otherwise
    the largest weight first, times how often the member agrees with the ensemble.
    ``rng`` is a ``RandomState``; serving does not import ``numpy.random``.
    """
    if mode == "all":
        return np.arange(ensemble.n_members)
    if mode == "bayes" or ensemble.is_equal:
        return np.asarray(rng.permutation(ensemble.n_members))
    return np.argsort(-np.abs(ensemble.weights) * agreements, kind="stable")


def check_order(order: Any, n_members: int) -> IntArray:
    """Return an order as an array, or raise an error if it is not a permutation."""
    members, every = np.asarray(order), np.arange(n_members)
    fits = members.dtype.kind in "iu" and members.shape == every.shape
    if not (fits and np.array_equal(np.sort(members), every)):
        raise ValueError(
            "LazyClassifier(order=...): must be 'auto', 'given', 'random', or each of "
            f"the members 0 to {n_members - 1} once."
        )
    return np.asarray(members, dtype=np.intp)


@dataclass(frozen=True, slots=True)
class Rule:
    """When a row is decided, at each stop.

    Attributes
    ----------
    kind : int
        ``EXACT``, ``SHARE``, ``VOTES`` or ``RELATIVE``.
    limit : FloatArray
        A lead above this cannot be turned by the members left: decided by any rule.
    possible : BoolArray
        Whether any row could be decided at this stop.
    enough : FloatArray | None
        ``SHARE``: the votes that the leader needs if two classes share all votes.
        ``RELATIVE``: the square root of the squared weights left.
    needed : IntArray | None
        ``VOTES``: votes the leader needs, by stop and by votes for the two in front.
    scale : float
        ``VOTES``: votes of equal weight per unit of weight.
    threshold : float
        ``RELATIVE``: the lead that is enough, divided by that square root.
    """

    kind: int
    limit: FloatArray
    possible: BoolArray
    enough: FloatArray | None = None
    needed: IntArray | None = None
    scale: float = 0.0
    threshold: float = 0.0

    def decided(self, step: int, best: FloatArray, second: FloatArray) -> BoolArray:
        """Return for each row whether it is decided."""
        done: BoolArray = best - second > self.limit[step]
        if self.enough is not None and self.kind == SHARE:
            done |= best >= self.enough[step]
        elif self.enough is not None:
            done |= relative_lead(self.enough[step], best, second) >= self.threshold
        elif self.needed is not None:
            ahead = np.floor(best * self.scale + WHOLE)
            # A handicap can push it below zero.
            behind = np.maximum(np.ceil(second * self.scale - WHOLE), 0)
            votes, needed = ahead + behind, self.needed[step]
            # Only numbers of a forged file are out of range.
            fits = (ahead >= 0) & (votes < needed.size)
            votes = np.where(fits, votes, 0).astype(np.intp)
            done |= fits & (ahead >= needed.take(votes))
        return done


def relative_lead(root: float, best: FloatArray, second: FloatArray) -> FloatArray:
    """Return the lead divided by the root of the sum of squared weights left."""
    if root == 0:
        return np.full(best.shape, np.inf)
    relative: FloatArray = (best - second) / root
    return relative


def make_rule(
    ensemble: AdditiveEnsemble,
    stops: Stops,
    mode: str,
    confidence: float,
    threshold: float | None,
) -> Rule:
    """Return the stopping rule of a mode.

    "exact": stop when the remaining members cannot change the result. "calibrated":
    when the lead is large relative to the remaining random walk. "bayes": when the
    leader of an exchangeable vote stays ahead with confidence.
    """
    limit = stops.rest + ensemble.margin
    possible = stops.most * SLACK >= stops.rest
    if mode == "bayes":
        return _bayes_rule(ensemble, stops, confidence, limit, possible)
    if mode == "calibrated" and threshold is not None:
        possible |= stops.most * SLACK >= threshold * stops.root
        return Rule(RELATIVE, limit, possible, enough=stops.root, threshold=threshold)
    return Rule(EXACT, limit, possible)


def _bayes_rule(
    ensemble: AdditiveEnsemble,
    stops: Stops,
    confidence: float,
    limit: FloatArray,
    possible: BoolArray,
) -> Rule:
    """Return the rule for an ensemble with exchangeable members.

    Unequal weights are replaced by the number of equal weights with the same variance,
    ``sum(w)**2 / sum(w**2)``. The leader's votes are rounded down, those of the
    runner-up and those left are rounded up.
    """
    weights, has_two_classes = ensemble.weights, ensemble.classes.size == 2
    squares = float((weights**2).sum())
    scale = float(weights.sum()) / squares if squares else 0.0
    left = np.ceil(stops.left * scale - WHOLE).astype(np.intp)
    asked = np.ceil(stops.asked * scale - WHOLE).astype(np.intp)
    widest = int(asked.max()) + 2
    needed = np.full((left.size, widest + 1), _NEVER)
    # Two classes share all votes, up to rounding; with more, others get some.
    fewest = asked - 1 if has_two_classes else np.zeros_like(asked)
    for step in range(left.size):
        votes = np.arange(max(int(fewest[step]), 0), int(asked[step]) + 3)
        votes = votes[votes <= widest]
        needed[step, votes] = votes_needed(votes, left[step], confidence)
    # Stops at which a unanimous vote is enough.
    possible = possible | np.any(needed <= np.arange(widest + 1), axis=1)
    if has_two_classes and (weights == 1).all():
        enough = needed[np.arange(asked.size), asked] - WHOLE
        return Rule(SHARE, limit, possible, enough=enough)
    return Rule(VOTES, limit, possible, needed=needed, scale=scale)


def votes_needed(
    votes: IntArray, left: int | np.integer, confidence: float
) -> IntArray:
    """Return how many of the votes a leader must have to stay ahead with confidence.

    Parameters
    ----------
    votes : array of int
        Votes cast for the two in front.
    left : int
        Votes not cast yet.
    confidence : float
        Least probability that the leader has more than half of all these votes in the
        end.

    Returns
    -------
    array of int
        One more than there are votes where not even all of them are enough.

    Notes
    -----
    With n1 and n2 votes cast and a uniform prior, the leader's votes among those left
    are beta-binomial with parameters 1 + n1 and 1 + n2. Drawing n1 + n2 + 1 of all
    places in a row at random, the place of draw n1 + 1 has the distribution of the
    leader's final count, so that
    ``P(final count >= g) = P(at most n1 of the draws are among the first g places)``,
    a hypergeometric distribution function. It depends on n1 + n2 only, hence one
    quantile per number of votes takes the place of a table over both counts.
    """
    votes = np.asarray(votes, dtype=np.intp)
    left = int(left)
    most = int(votes.max()) + left + 3
    log_factorial = np.array([math.lgamma(n + 1.0) for n in range(most)])
    rows = max(1, _CHUNK // (int(votes.max()) + 2))
    return np.concatenate(
        [
            _quantiles(votes[start : start + rows], left, confidence, log_factorial)
            for start in range(0, votes.size, rows)
        ]
    )


def _quantiles(
    votes: IntArray, left: int, confidence: float, log_factorial: FloatArray
) -> IntArray:
    drawn = votes[:, None] + 1
    places = drawn + left
    front = (places - 1) // 2 + 1
    hits = np.arange(int(votes.max()) + 2)[None, :]
    outside = front - hits  # front places that are not drawn
    fits = (hits <= drawn) & (outside >= 0) & (outside <= left)

    def choose(n: IntArray, k: IntArray) -> FloatArray:
        inside = np.clip(k, 0, n)
        chosen: FloatArray = (
            log_factorial[n] - log_factorial[inside] - log_factorial[n - inside]
        )
        return chosen

    logs = choose(drawn, hits) + choose(np.array(left), outside) - choose(places, front)
    shares = np.where(fits, np.exp(logs), 0.0)
    # Summed from the small end, so that a risk of 1e-12 is accurate.
    above = np.cumsum(shares[:, ::-1], axis=1)[:, ::-1]
    risk = np.c_[above[:, 1:], np.zeros(len(votes))]
    enough: IntArray = np.argmax(risk <= 1 - confidence, axis=1)
    return np.minimum(enough, votes + 1)
