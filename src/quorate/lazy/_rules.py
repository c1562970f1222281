"""When to stop asking: three rules, each a yes or no per row at every stop.

The threshold of the calibrated rule is the smallest that unlabelled rows can certify.
On average over draws of the rows: conformal risk control. For this one draw, with a
stated confidence: an exact binomial test. Each row has a largest threshold that changes
its prediction, so the share of changes falls with the threshold and no correction is
due for having looked at many: some threshold t is the first with a share of at most
epsilon, and a smaller one is chosen only if too few rows are changed by t.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from scipy.special import betaincinv, gammaln
from scipy.stats import binom

from quorate._typing import BoolArray, FloatArray, IntArray
from quorate.lazy._additive import AdditiveEnsemble

Lead: TypeAlias = tuple[IntArray, FloatArray, FloatArray]
"""Who leads on each row, with how much, and what the next one has."""
Guarantee: TypeAlias = Literal["mean"] | float
MODES = ("exact", "bayes", "calibrated", "all")

# Sums of shares that miss a whole number by rounding only are taken as that number.
WHOLE = 1e-5
# Bounds that are only there to skip stops give way to rounding.
_SLACK = 1 + 1e-9
# Entries of the largest array that the table of needed votes is computed in.
_CHUNK = 2_000_000
# The closest stops are this part of the members apart, and later ones this part of what
# was asked since a row could first be decided.
_FINEST = 100
_GROWTH = 0.12
# A threshold just above a lead is out of reach of rounding in that lead.
_ABOVE = 1e-9
_NEVER = np.iinfo(np.int64).max


@dataclass(frozen=True, slots=True)
class Stops:
    """Where the asking pauses, and what has been said and is left to be said there.

    Attributes
    ----------
    order : IntArray
        Members in the order in which they are asked.
    ends : IntArray
        Members asked at each stop.
    asked : FloatArray
        Weight asked.
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
    """Return the stops of an ensemble that is asked in this order."""
    weights = np.abs(ensemble.weights[order])
    reach = ensemble.reach[order]
    asked = np.r_[0, np.cumsum(weights)][ends]
    most = np.r_[0, np.cumsum(reach)][ends]
    # Summed from the end: nothing is left after the last, to the bit.
    left = np.r_[np.cumsum(weights[::-1])[::-1], 0][ends]
    rest = np.r_[np.cumsum(reach[::-1])[::-1], 0][ends]
    squares = np.r_[np.cumsum(weights[::-1] ** 2)[::-1], 0][ends]
    return Stops(order, ends, asked, left, rest, most, np.sqrt(squares))


def make_ends(
    mode: str, block_size: Any, ensemble: AdditiveEnsemble, order: IntArray
) -> IntArray:
    """Return after how many members the vote is looked at.

    By default looks are close where many rows are decided, and wider after that. A look
    costs about as much as asking half a member about every open row, so the fewer rows
    each member decides, the fewer looks pay.
    """
    n_members = ensemble.n_members
    ends: list[int] = []
    if mode != "all" and block_size != "auto":
        ends += range(int(block_size), n_members, int(block_size))
    elif mode != "all":
        first = 0
        if mode == "exact":  # after how many a vote can be decided for good
            asked = np.cumsum(ensemble.reach[order])
            first = int(np.argmax(asked * _SLACK >= asked[-1] - asked)) + 1
        end = first
        while end < n_members:
            ends += [end] * (end > 0)
            end += max(1, n_members // _FINEST, round(_GROWTH * (end - first)))
    return np.array([*ends, n_members])


def checked_order(order: Any, n_members: int) -> IntArray:
    """Return an order given as an array, if it has every member once."""
    given, every = np.asarray(order), np.arange(n_members)
    fits = given.dtype.kind in "iu" and given.shape == every.shape
    if not (fits and np.array_equal(np.sort(given), every)):
        raise ValueError(
            f"LazyClassifier(order=...): 'auto', 'given', 'random', or each of the "
            f"members 0 to {n_members - 1} once."
        )
    checked: IntArray = given.astype(np.intp)
    return checked


@dataclass(frozen=True, slots=True)
class ExactRule:
    """Stop when the members left cannot turn the vote any more."""

    stops: Stops
    margin: float

    def decided(self, step: int, best: FloatArray, second: FloatArray) -> BoolArray:
        """Tell for each row whether its leader needs no more members."""
        enough: BoolArray = best - second > self.stops.rest[step] + self.margin
        return enough

    def possible(self, step: int) -> bool:
        """Tell whether any row could be decided at this stop."""
        return bool(self.stops.most[step] * _SLACK >= self.stops.rest[step])


@dataclass(frozen=True, slots=True)
class BayesRule:
    """Stop when the leader of an exchangeable vote stays ahead with confidence.

    Attributes
    ----------
    scale : float
        Votes of equal weight per unit of weight.
    needed : IntArray
        Votes the leader needs, by stop and by votes for the two in front.
    between_two : FloatArray | None
        What the leader needs where two classes share all votes: the same for all.
    certain : BoolArray
        Stops at which a unanimous vote is enough.
    """

    exact: ExactRule
    scale: float
    needed: IntArray
    between_two: FloatArray | None
    certain: BoolArray

    def decided(self, step: int, best: FloatArray, second: FloatArray) -> BoolArray:
        """Tell for each row whether its leader needs no more members."""
        enough: BoolArray
        if self.between_two is not None:
            enough = best >= self.between_two[step]
        else:
            ahead = np.floor(best * self.scale + WHOLE).astype(np.intp)
            behind = np.ceil(second * self.scale - WHOLE).astype(np.intp)
            np.maximum(behind, 0, out=behind)  # a handicap can push it below
            enough = ahead >= self.needed[step].take(ahead + behind)
        return enough | self.exact.decided(step, best, second)

    def possible(self, step: int) -> bool:
        """Tell whether any row could be decided at this stop."""
        return bool(self.certain[step]) or self.exact.possible(step)


@dataclass(frozen=True, slots=True)
class CalibratedRule:
    """Stop when the lead is large for what is left: in units of its random walk."""

    exact: ExactRule
    threshold: float

    def decided(self, step: int, best: FloatArray, second: FloatArray) -> BoolArray:
        """Tell for each row whether its leader needs no more members."""
        enough = relative_lead(self.exact.stops, step, best, second) >= self.threshold
        return enough | self.exact.decided(step, best, second)

    def possible(self, step: int) -> bool:
        """Tell whether any row could be decided at this stop."""
        stops = self.exact.stops
        far = stops.most[step] * _SLACK >= self.threshold * stops.root[step]
        return bool(far) or self.exact.possible(step)


Rule: TypeAlias = ExactRule | BayesRule | CalibratedRule


def relative_lead(
    stops: Stops, step: int, best: FloatArray, second: FloatArray
) -> FloatArray:
    """Return the lead in units of the root of the squared weights left."""
    root = stops.root[step]
    if root == 0:
        return np.full(best.shape, np.inf)
    relative: FloatArray = (best - second) / root
    return relative


def make_bayes(
    ensemble: AdditiveEnsemble, stops: Stops, confidence: float
) -> BayesRule:
    """Return the rule for an ensemble whose order says nothing about its members.

    Unequal weights are turned into as many equal ones as have the same variance,
    ``sum(w)**2 / sum(w**2)``; what the leader has is rounded down, what the runner-up
    has and what is left is rounded up.
    """
    weights = ensemble.weights
    squares = float((weights**2).sum())
    scale = float(weights.sum()) / squares if squares else 0.0
    left = np.ceil(stops.left * scale - WHOLE).astype(np.intp)
    asked = np.ceil(stops.asked * scale - WHOLE).astype(np.intp)
    widest = int(asked.max()) + 2
    needed = np.full((left.size, widest + 1), _NEVER)
    # Two classes share all the votes, up to rounding; more leave some for others.
    fewest = asked - 1 if ensemble.classes.size == 2 else np.zeros_like(asked)
    for step in range(left.size):
        votes = np.arange(max(int(fewest[step]), 0), int(asked[step]) + 3)
        votes = votes[votes <= widest]
        needed[step, votes] = votes_needed(votes, left[step], confidence)
    between_two = None
    if ensemble.classes.size == 2 and (weights == 1).all():
        between_two = needed[np.arange(asked.size), asked] - WHOLE
    certain: BoolArray = np.any(needed <= np.arange(widest + 1), axis=1)
    exact = ExactRule(stops, ensemble.margin)
    return BayesRule(exact, scale, needed, between_two, certain)


def make_rule(
    ensemble: AdditiveEnsemble,
    stops: Stops,
    mode: str,
    confidence: float,
    threshold: float | None,
) -> Rule:
    """Return when a mode stops."""
    if mode == "bayes":
        return make_bayes(ensemble, stops, confidence)
    exact = ExactRule(stops, ensemble.margin)
    if mode == "calibrated" and threshold is not None:
        return CalibratedRule(exact, threshold)
    return exact


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
    log_factorial = gammaln(np.arange(int(votes.max()) + left + 3) + 1.0)
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
    # Summed from the small end, so that a risk of 1e-12 is still right.
    above = np.cumsum(shares[:, ::-1], axis=1)[:, ::-1]
    risk = np.c_[above[:, 1:], np.zeros(len(votes))]
    enough: IntArray = np.argmax(risk <= 1 - confidence, axis=1)
    return np.minimum(enough, votes + 1)


def rows_needed(epsilon: float, guarantee: Guarantee = "mean") -> int:
    """Return how many rows can certify a disagreement of epsilon at all."""
    if guarantee == "mean":
        needed = math.ceil(1 / epsilon) - 1
    else:
        needed = math.ceil(math.log(1 - guarantee) / math.log1p(-epsilon))
    needed = max(needed - 1, 1)
    while not _holds(0, needed, epsilon, guarantee):
        needed += 1
    return needed


def check_rows(n_rows: int, epsilon: float, guarantee: Guarantee) -> None:
    """Refuse to calibrate on too few samples, and say how many it takes."""
    needed = rows_needed(epsilon, guarantee)
    sure = "" if guarantee == "mean" else f", guarantee={guarantee}"
    owner = f"LazyClassifier(mode='calibrated', epsilon={epsilon}{sure})"
    if not n_rows:
        raise ValueError(
            f"{owner}: fit(X) needs at least {needed} samples; labels are not needed."
        )
    if changes_allowed(n_rows, epsilon, guarantee) < 0:
        # The least share that so many can certify, with two digits, rounded up.
        least = 1 / (n_rows + 1)
        if guarantee != "mean":
            least = -math.expm1(math.log(1 - guarantee) / n_rows)
        step = 10.0 ** (math.floor(math.log10(least)) - 1)
        raise ValueError(
            f"{owner}: {n_rows} samples cannot certify that; give at least {needed}, "
            f"or an epsilon of {math.ceil(least / step - 1e-9) * step:g} or more."
        )


def changes_allowed(n_rows: int, epsilon: float, guarantee: Guarantee = "mean") -> int:
    """Return how many changed rows still certify epsilon; below 0 if none do.

    On average, the largest d with (d + 1) / (n_rows + 1) <= epsilon. With a confidence,
    the largest d whose exact (Clopper-Pearson) upper limit is at most epsilon.
    """
    if guarantee == "mean":
        allowed = math.floor(epsilon * (n_rows + 1)) - 1
    else:
        allowed = int(binom.ppf(1 - guarantee, n_rows, epsilon))
    while _holds(allowed + 1, n_rows, epsilon, guarantee):
        allowed += 1
    while allowed >= 0 and not _holds(allowed, n_rows, epsilon, guarantee):
        allowed -= 1
    return allowed


def _holds(changed: int, n_rows: int, epsilon: float, guarantee: Guarantee) -> bool:
    if guarantee == "mean":
        return (changed + 1) / (n_rows + 1) <= epsilon
    if changed == 0:
        return n_rows * math.log1p(-epsilon) <= math.log(1 - guarantee)
    return bool(binom.cdf(changed, n_rows, epsilon) <= 1 - guarantee)


def calibrate(
    harmful: FloatArray, epsilon: float, guarantee: Guarantee = "mean"
) -> tuple[float, float]:
    """Return the smallest threshold that keeps to epsilon, and what it certifies.

    Parameters
    ----------
    harmful : array of float
        For each row the largest threshold that changes it, see
        :func:`harmful_thresholds`.
    epsilon : float
        Share of rows that may change.
    guarantee : "mean" or float
        Whether the share may be epsilon on average, or with which confidence.
    """
    allowed = changes_allowed(harmful.size, epsilon, guarantee)
    worst = np.sort(harmful)[::-1]
    highest = worst[allowed] if allowed < worst.size else -np.inf
    threshold = 0.0 if highest < 0 else float(highest * (1 + _ABOVE) + _ABOVE)
    # What was allowed before the rows were seen, not what then came out: that would be
    # a limit chosen by the same rows.
    if guarantee == "mean":
        return threshold, (allowed + 1) / (harmful.size + 1)
    limit = betaincinv(allowed + 1.0, harmful.size - allowed, guarantee)
    return threshold, min(float(limit), epsilon)


def harmful_thresholds(
    course: Iterable[Lead], stops: Stops, reference: IntArray
) -> FloatArray:
    """Return for each row the largest threshold that changes it, -1 if none does.

    A threshold above it is harmless to that row. Counting a row as changed by every
    threshold up to that one makes the loss fall with the threshold.
    """
    harmful = np.full(reference.size, -1.0)
    reached = np.full(reference.size, -1.0)
    for step, (leader, best, second) in enumerate(course):
        now = relative_lead(stops, step, best, second)
        # Only a lead above all before it is the first to pass some threshold. A vote
        # that is decided exactly is right, so later stops do not matter there either.
        first = (now > reached) & (leader != reference)
        np.maximum(harmful, now, out=harmful, where=first)
        np.fmax(reached, now, out=reached)
    return harmful
