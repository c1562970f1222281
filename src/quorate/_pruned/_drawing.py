"""Some of the rows to learn on, where there are very many."""

from typing import Any

import numpy as np

from quorate._data import (
    Drawn,
    GivenBatches,
    SampleForm,
    as_source,
    come_in_batches,
    count_rows,
    cut_rows,
    draw_sample,
    in_memory,
    sliceable,
)
from quorate._typing import Array, IntArray
from quorate.ensembles import Ensemble, batch_check

_AT_ONCE = 1 << 16


def some_rows(
    small: Ensemble,
    X: Any,
    target: str | None,
    size: int,
    seed: int,
) -> tuple[Any, IntArray | None, Drawn | None]:
    """Return X, the positions in it to learn on (None for all), and how these came.

    Of rows at hand all stay in X: who teaches knows its training rows only if they are
    all there. Of batches X is what was drawn.

    Parameters
    ----------
    small : Ensemble
        Who learns.
    X : array-like or batches
    target : str, optional
        The column of labels, for files.
    size : int
        How many rows to draw, if there are more.
    seed : int
        Seed of the draw.
    """
    if not come_in_batches(X, target):
        X = in_memory(X)
        n_rows = count_rows(X)
        if n_rows <= size:
            return X, None, None
        pairs = [(np.arange(n_rows), _answers(small, X))]
        _, _, rows, _ = draw_sample(GivenBatches(pairs), size, seed, owner="distil")
        return X, rows, Drawn(rows.size, n_rows, seed)
    given = as_source(X, "distil", target, form=SampleForm.for_models(small.model))
    rows_drawn, _, places, n_rows = draw_sample(
        given, size, seed, check=batch_check(small), owner="distil"
    )
    if places.size == n_rows:
        return rows_drawn, None, None
    return rows_drawn, None, Drawn(places.size, n_rows, seed)


def _answers(small: Ensemble, X: Any) -> Array:
    """Return the class that the small ensemble gives each row, to draw by."""
    table = sliceable(X)
    starts = range(0, count_rows(table), _AT_ONCE)
    parts = [cut_rows(table, slice(start, start + _AT_ONCE)) for start in starts]
    return np.concatenate([np.asarray(small.model.predict(part)) for part in parts])
