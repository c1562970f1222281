"""Split large tables into parts that threads work on in parallel."""

from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from quorate._engine import LazyResult, Ready
from quorate._rows import count_rows, cut_rows
from quorate._workers import count_threads, in_threads

# Number of rows from which another worker pays off.
_ROWS_PER_JOB = 500


def ask_in_parts(
    ready: Ready,
    raw: Any,
    X: Any,
    n_jobs: int | None,
    *,
    is_finite: bool = False,
    keep_scores: bool = True,
) -> LazyResult:
    """Evaluate prepared rows, in as many parts as there are jobs."""
    n_rows, n_parts = count_rows(X), 1
    if n_rows >= 2 * _ROWS_PER_JOB:
        n_parts = min(count_threads(n_jobs), n_rows // _ROWS_PER_JOB)
    how = {"is_finite": is_finite, "keep_scores": keep_scores}
    if n_parts <= 1:
        return ready.ask_prepared(raw, X, **how)
    bounds = np.linspace(0, n_rows, n_parts + 1).astype(int)
    results = in_threads(
        n_parts,
        partial(ready.ask_prepared, **how),
        [
            (cut_rows(raw, part), cut_rows(X, part))
            for part in (slice(*pair) for pair in pairwise(bounds))
        ],
    )
    parts = [(part.codes, part.asked, part.scores) for part in results]
    return LazyResult(*map(np.concatenate, zip(*parts, strict=True)))
