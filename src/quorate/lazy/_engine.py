"""Ask members block by block, on the rows that are still open."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from quorate._typing import BoolArray, FloatArray, IntArray
from quorate.lazy._panel import Panel, count_rows, take_rows
from quorate.lazy._rules import Rule, Stops

# A tree needs about as long for a row as copying this many of its columns takes.
_COLUMNS_PER_MEMBER = 100


@dataclass(frozen=True, slots=True)
class Outcome:
    """What lazy voting found."""

    codes: IntArray
    """Class of each row."""
    asked: IntArray
    """Members asked about each row."""
    scores: FloatArray
    """What they gave to each class."""


def vote(
    panel: Panel, order: IntArray, stops: Stops, rule: Rule, raw: Any, X: Any
) -> Outcome:
    """Ask members in order until the rule, or the last of them, decides each row."""
    n_rows, n_classes = count_rows(X), panel.classes.size
    codes = np.zeros(n_rows, dtype=np.intp)
    asked = np.zeros(n_rows, dtype=np.intp)
    scores = np.zeros((n_rows, n_classes))
    width = X.shape[1] if isinstance(X, np.ndarray) else 1
    rows, running = np.arange(n_rows), np.zeros((n_rows, n_classes))
    is_open = np.ones(n_rows, dtype=bool)
    last = stops.ends.size - 1
    unsettled = np.zeros(n_rows, dtype=bool)
    start = since = 0
    for step, end in enumerate(stops.ends):
        if step < last and not rule.possible(step):
            continue
        for member in order[start:end]:
            running += panel.members[member](X)
        start, since = end, end - start
        leader, best, second = lead(running + panel.handicap)
        done = rule.decided(step, best, second)
        if step == last:
            unsettled = is_open & ~(best - second > panel.margin)
            done = np.ones_like(is_open)
        done &= is_open
        found = rows[done]
        codes[found] = leader[done]
        asked[found] = end
        scores[found] = running[done]
        is_open &= ~done
        n_open = int(is_open.sum())
        if n_open == 0:
            break
        if _worth_closing_ranks(n_open, is_open.size, width, since):
            keep = np.flatnonzero(is_open)
            rows, running, X = rows[keep], running[keep], take_rows(X, keep)
            is_open = np.ones(n_open, dtype=bool)
    if start == panel.n_members and unsettled.any():
        codes[rows[unsettled]] = panel.settle(
            take_rows(raw, rows[unsettled]), take_rows(X, np.flatnonzero(unsettled))
        )
    return Outcome(codes, asked, scores)


def _worth_closing_ranks(n_open: int, n_rows: int, width: int, block: int) -> bool:
    """Tell whether copying the open rows is cheaper than asking about closed ones."""
    return (n_rows - n_open) * block * _COLUMNS_PER_MEMBER >= n_open * width


def lead(scores: FloatArray) -> tuple[IntArray, FloatArray, FloatArray]:
    """Return who leads on each row, with how much, and what the next one has."""
    best = scores[:, 0].copy()
    # A class without a rival is ahead of nothing.
    second = np.full_like(best, -np.inf if scores.shape[1] > 1 else 0.0)
    leader = np.zeros(best.size, dtype=np.intp)
    for code in range(1, scores.shape[1]):
        score = scores[:, code]
        better = score > best
        second = np.maximum(second, np.minimum(best, score))
        best = np.maximum(best, score)
        leader[better] = code
    return leader, best, second


@dataclass(frozen=True, slots=True)
class Trail:
    """The course of the full vote: leader and lead of each row at each stop."""

    leaders: IntArray
    best: FloatArray
    second: FloatArray
    reference: IntArray
    """What the ensemble itself says."""

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.reference.size)

    def stopped(self, rule: Rule) -> IntArray:
        """Return the stop at which each row is decided."""
        first = np.full(self.n_rows, len(self.best) - 1)
        for step in range(len(self.best) - 2, -1, -1):
            first[rule.decided(step, self.best[step], self.second[step])] = step
        return first

    def changed(self, at: IntArray) -> BoolArray:
        """Tell which rows get another class if they stop there."""
        early = at < len(self.best) - 1  # those at the end are settled
        leaders = self.leaders[at, np.arange(self.n_rows)]
        other: BoolArray = early & (leaders != self.reference)
        return other


def follow(panel: Panel, order: IntArray, stops: Stops, raw: Any, X: Any) -> Trail:
    """Ask everyone and write down the course of the vote."""
    n_rows = count_rows(X)
    shape = stops.ends.size, n_rows
    trail = Trail(
        np.zeros(shape, dtype=np.intp),
        np.zeros(shape),
        np.zeros(shape),
        panel.reference(raw, X),
    )
    running = np.zeros((n_rows, panel.classes.size))
    start = 0
    for step, end in enumerate(stops.ends):
        for member in order[start:end]:
            running += panel.members[member](X)
        start = end
        found = lead(running + panel.handicap)
        trail.leaders[step], trail.best[step], trail.second[step] = found
    return trail


def agreements(panel: Panel, reference: IntArray, X: Any) -> FloatArray:
    """Return the mean share that each member gives to the ensemble's own answer."""
    rows = np.arange(reference.size)
    weights = np.where(panel.weights == 0, 1.0, panel.weights)
    given = [float(ask(X)[rows, reference].mean()) for ask in panel.members]
    return np.asarray(given) / weights
