"""Conformal risk control: the smallest threshold that unlabelled rows can certify."""

import math

import numpy as np

from quorate._typing import FloatArray
from quorate.lazy._engine import VoteHistory
from quorate.lazy._rules import ExactRule, relative_lead

# A threshold just above a lead is out of reach of rounding in that lead.
_ABOVE = 1e-9


def rows_needed(epsilon: float) -> int:
    """Return how many rows can certify a disagreement of epsilon at all."""
    needed = math.ceil(1 / epsilon) - 1
    return needed if 1 / (needed + 1) <= epsilon else needed + 1


def changes_allowed(n_rows: int, epsilon: float) -> int:
    """Return the largest d with (d + 1) / (n_rows + 1) <= epsilon; below 0 if none."""
    allowed = math.floor(epsilon * (n_rows + 1)) - 1
    while (allowed + 2) / (n_rows + 1) <= epsilon:
        allowed += 1
    while allowed >= 0 and (allowed + 1) / (n_rows + 1) > epsilon:
        allowed -= 1
    return allowed


def calibrate(
    history: VoteHistory, exact: ExactRule, epsilon: float
) -> tuple[float, float]:
    """Return the smallest threshold that keeps to epsilon, and what it certifies.

    Each row has a largest threshold under which its prediction is changed; a threshold
    above it is harmless to that row. Counting a row as changed by every threshold up to
    that one makes the loss fall with the threshold, as risk control demands.
    """
    allowed = changes_allowed(history.n_rows, epsilon)
    worst = np.sort(harmful_thresholds(history, exact))[::-1]
    highest = worst[allowed] if allowed < worst.size else -np.inf
    threshold = 0.0 if highest < 0 else float(highest * (1 + _ABOVE) + _ABOVE)
    changed = int((worst >= threshold).sum())
    return threshold, (changed + 1) / (history.n_rows + 1)


def harmful_thresholds(history: VoteHistory, exact: ExactRule) -> FloatArray:
    """Return for each row the largest threshold that changes it, -1 if none does."""
    harmful = np.full(history.n_rows, -1.0)
    reached = np.full(history.n_rows, -1.0)
    for step in range(len(history.best) - 1):
        best, second = history.best[step], history.second[step]
        now = relative_lead(exact.stops, step, best, second)
        wrong = history.leaders[step] != history.reference
        # Only a lead above all before it is the first to pass some threshold. A vote
        # that is decided exactly is right, so later stops do not matter there either.
        first = now > reached
        harmful = np.where(first & wrong, np.maximum(harmful, now), harmful)
        reached = np.fmax(reached, now)
    return harmful
