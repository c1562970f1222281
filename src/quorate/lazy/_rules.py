"""Where to look at a vote, and the threshold that stops it.

The threshold of the calibrated rule is the smallest that unlabelled rows can certify.
On average over draws of the rows: conformal risk control. For this one draw, with a
stated confidence: an exact binomial test. Each row has a largest threshold that changes
its prediction, so the share of changes falls with the threshold and no correction is
due for having looked at many: some threshold t is the first with a share of at most
epsilon, and a smaller one is chosen only if too few rows are changed by t.
"""

import math
from collections.abc import Iterable
from typing import Any, Literal, TypeAlias

import numpy as np
from scipy.special import betaincinv
from scipy.stats import binom

from quorate._engine import SLACK, AdditiveEnsemble, Lead, Stops, relative_lead
from quorate._typing import FloatArray, IntArray

Guarantee: TypeAlias = Literal["mean"] | float

# The closest stops are this part of the members apart, and later ones this part of what
# was asked since a row could first be decided.
_FINEST = 100
_GROWTH = 0.12
# A threshold just above a lead is out of reach of rounding in that lead.
_ABOVE = 1e-9


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
            first = int(np.argmax(asked * SLACK >= asked[-1] - asked)) + 1
        end = first
        while end < n_members:
            ends += [end] * (end > 0)
            end += max(1, n_members // _FINEST, round(_GROWTH * (end - first)))
    return np.array([*ends, n_members])


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
