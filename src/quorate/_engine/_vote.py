"""Evaluate members block by block, on the rows that are still undecided."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from quorate._engine._additive import AdditiveEnsemble
from quorate._engine._rules import Rule, Stops
from quorate._kernels.verdicts import lead
from quorate._rows import count_rows, take_rows
from quorate._typing import BoolArray, FloatArray, IntArray

# Evaluating a tree on a row takes about as long as copying this many columns.
_COLUMNS_PER_MEMBER = 100
# Numbers kept for close votes: in small batches evaluating again is slow.
_KEPT_NUMBERS = 1_000_000


@dataclass(frozen=True, slots=True)
class LazyResult:
    """Result of voting with early exit.

    Attributes
    ----------
    codes : IntArray
        Class of each row.
    asked : IntArray
        Members evaluated on each row.
    scores : FloatArray
        Sum of their shares of each class.
    """

    codes: IntArray
    asked: IntArray
    scores: FloatArray


def vote(
    ensemble: AdditiveEnsemble, stops: Stops, rule: Rule, raw: Any, X: Any
) -> LazyResult:
    """Evaluate members in order until every row is decided or none are left."""
    n_rows, n_classes = count_rows(X), ensemble.classes.size
    codes, asked = np.empty((2, n_rows), dtype=np.intp)
    scores = np.zeros((n_rows, n_classes))
    width = X.shape[1] if isinstance(X, np.ndarray) else 1
    rows, running = np.arange(n_rows), np.zeros((n_rows, n_classes))
    # The shares of each member, with the rows they belong to.
    kept: dict[int, tuple[IntArray, FloatArray]] | None = None
    if n_rows * ensemble.n_members * n_classes <= _KEPT_NUMBERS:
        kept = {}
    is_open = np.ones(n_rows, dtype=bool)
    last = stops.ends.size - 1
    start = 0
    for step, end in enumerate(stops.ends):
        if step < last and not rule.possible[step]:
            continue
        for member in stops.order[start:end]:
            shares = ensemble.members[member](X)
            running += shares
            if kept is not None:
                kept[int(member)] = rows, shares
        leader, best, second = lead(ensemble.handicapped(running))
        if step == last:
            close = is_open & ~(best - second > ensemble.margin)
            if close.any():
                leader[close] = _settle(ensemble, kept, raw, X, rows, close)
            done = is_open
        else:
            done = rule.decided(step, best, second) & is_open
        places = np.flatnonzero(done)
        closed = rows[places]
        codes[closed] = leader[places]
        asked[closed] = end
        scores[closed] = running.take(places, axis=0)
        is_open = is_open & ~done
        n_open = int(np.count_nonzero(is_open))
        if n_open == 0:
            break
        # Whether copying the open rows is cheaper than evaluating closed ones.
        n_saved = (is_open.size - n_open) * (end - start)
        if n_saved * _COLUMNS_PER_MEMBER >= n_open * width:
            keep = np.flatnonzero(is_open)
            rows, X = rows[keep], take_rows(X, keep)
            running = running.take(keep, axis=0)
            is_open = np.ones(n_open, dtype=bool)
        start = end
    return LazyResult(codes, asked, scores)


def _settle(
    ensemble: AdditiveEnsemble,
    kept: dict[int, tuple[IntArray, FloatArray]] | None,
    raw: Any,
    X: Any,
    rows: IntArray,
    close: BoolArray,
) -> IntArray:
    """Return the ensemble's own prediction on rows that rounding decides."""
    is_own = ensemble.adds_in_order()
    if is_own and kept is not None:
        parts = map(kept.__getitem__, range(ensemble.n_members))
        return ensemble.decide(
            shares[np.searchsorted(evaluated, rows[close])]
            for evaluated, shares in parts
        )
    part = take_rows(X, np.flatnonzero(close))
    if is_own:
        return ensemble.decide(evaluate(part) for evaluate in ensemble.members)
    return ensemble.reference(take_rows(raw, rows[close]), part)
