"""Rules and thresholds at every stop of a full vote, and calibration.

The threshold of the calibrated mode is the smallest that unlabelled rows can certify:
on average over draws of the rows, by conformal risk control; for the given draw with a
stated confidence, by an exact binomial test. Each row has a largest threshold that
changes its prediction, so the share of changes falls with the threshold and no
correction for multiple testing is needed: some threshold t is the first with a share of
at most epsilon, and a smaller one is chosen only if too few rows are changed by t.
"""

import math
from collections.abc import Iterable, Iterator
from typing import Any, Literal, TypeAlias

import numpy as np
from scipy.special import betaincinv
from scipy.stats import binom

from quorate._engine import AdditiveEnsemble, Lead, Stops, relative_lead
from quorate._kernels.verdicts import lead
from quorate._rows import count_rows
from quorate._typing import FloatArray, IntArray

Guarantee: TypeAlias = Literal["mean"] | float

# A threshold just above a lead, beyond its rounding error.
_ABOVE = 1e-9


def leads_at_stops(ensemble: AdditiveEnsemble, stops: Stops, X: Any) -> Iterator[Lead]:
    """Evaluate all members, and yield the leaders and leads at each stop but the last.

    Nothing is stored; callers compute what they need as the vote proceeds.
    """
    running = np.zeros((count_rows(X), ensemble.classes.size))
    start = 0
    for end in stops.ends[:-1]:
        for member in stops.order[start:end]:
            running += ensemble.members[member](X)
        start = end
        yield lead(ensemble.handicapped(running))


def rows_needed(epsilon: float, guarantee: Guarantee = "mean") -> int:
    """Return how many rows are needed to certify a disagreement of epsilon."""
    if guarantee == "mean":
        needed = math.ceil(1 / epsilon) - 1
    else:
        needed = math.ceil(math.log(1 - guarantee) / math.log1p(-epsilon))
    needed = max(needed - 1, 1)
    while not _holds(0, needed, epsilon, guarantee):
        needed += 1
    return needed


def check_rows(n_rows: int, epsilon: float, guarantee: Guarantee) -> None:
    """Raise an error for too few calibration samples."""
    needed = rows_needed(epsilon, guarantee)
    sure = "" if guarantee == "mean" else f", guarantee={guarantee}"
    owner = f"LazyClassifier(mode='calibrated', epsilon={epsilon}{sure})"
    if not n_rows:
        raise ValueError(
            f"{owner}: fit(X) needs at least {needed} samples; labels are not needed."
        )
    if changes_allowed(n_rows, epsilon, guarantee) < 0:
        # The smallest share that this many rows can certify, rounded up to two digits.
        least = 1 / (n_rows + 1)
        if guarantee != "mean":
            least = -math.expm1(math.log(1 - guarantee) / n_rows)
        step = 10.0 ** (math.floor(math.log10(least)) - 1)
        raise ValueError(
            f"{owner}: {n_rows} samples are too few for this guarantee; pass at least "
            f"{needed}, or an epsilon of {math.ceil(least / step - 1e-9) * step:g} or "
            "more."
        )


def changes_allowed(n_rows: int, epsilon: float, guarantee: Guarantee = "mean") -> int:
    """Return how many changed rows still certify epsilon; negative if none do.

    On average: the largest d with (d + 1) / (n_rows + 1) <= epsilon. With a confidence:
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
    # The number allowed in advance, not the number observed: that would be a limit
    # chosen by the same rows.
    if guarantee == "mean":
        return threshold, (allowed + 1) / (harmful.size + 1)
    limit = betaincinv(allowed + 1.0, harmful.size - allowed, guarantee)
    return threshold, min(float(limit), epsilon)


def harmful_thresholds(
    leads: Iterable[Lead], stops: Stops, reference: IntArray
) -> FloatArray:
    """Return the largest threshold that changes each row's prediction, -1 if none.

    Larger thresholds are harmless to that row. A row counts as changed by every
    threshold up to that one, which makes the loss monotone.
    """
    harmful = np.full(reference.size, -1.0)
    reached = np.full(reference.size, -1.0)
    for step, (leader, best, second) in enumerate(leads):
        now = relative_lead(stops.root[step], best, second)
        # Only a lead above all earlier ones is the first to pass some threshold. An
        # exactly decided vote is correct, so later stops do not matter either.
        first = (now > reached) & (leader != reference)
        np.maximum(harmful, now, out=harmful, where=first)
        np.fmax(reached, now, out=reached)
    return harmful
