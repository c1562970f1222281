"""Unlabelled samples made from those at hand: rows that borrow from other rows.

The votes of an ensemble on many samples tell its members apart better than few labels
do, and any sample near the data will serve. A row that takes a fifth of its features
from another row is one, and its values all have been seen in their columns.
"""

from typing import Any

import numpy as np

from quorate._ensembles._ask import ask_members
from quorate._ensembles._kind import Ensemble
from quorate._typing import BoolArray, IntArray
from quorate._votes import Votes

_ROWS = 4000
_SHARE = 0.2
# Features of all new rows together; there are fewer rows where rows are wide.
_MOST_VALUES = 2**25


def recombined_rows(X: Any, seed: int = 0) -> Any:
    """Return rows that take a fifth of their features from another row of X.

    None where X is not a table of columns.

    Examples
    --------
    >>> import numpy as np
    >>> recombined_rows(np.arange(6).reshape(3, 2)).shape
    (4000, 2)
    """
    if not hasattr(X, "shape") or len(X.shape) != 2:
        return None
    n_rows, n_columns = X.shape
    rng = np.random.default_rng(seed)
    size = max(1, min(_ROWS, _MOST_VALUES // max(n_columns, 1)))
    own, other = rng.integers(0, n_rows, (2, size))
    borrowed = rng.random((size, n_columns)) < _SHARE
    if hasattr(X, "iloc"):
        return _mixed_frame(X, own, other, borrowed)
    if hasattr(X, "tocsr"):
        return (X[own].multiply(~borrowed) + X[other].multiply(borrowed)).tocsr()
    return np.where(borrowed, X[other], X[own])


def _mixed_frame(X: Any, own: IntArray, other: IntArray, borrowed: BoolArray) -> Any:
    rows = np.where(borrowed, other[:, None], own[:, None])
    mixed = X.iloc[own].reset_index(drop=True)
    for place, name in enumerate(X.columns):
        taken = X.iloc[rows[:, place], place].reset_index(drop=True)
        mixed[name] = taken
    return mixed


def collect_recombined(ensemble: Ensemble, X: Any, n_jobs: int | None) -> Votes | None:
    """Return the votes of an ensemble on rows recombined from X, None if it has none.

    The vote of all members stands in for the labels. There are none for voting
    ensembles and pools: their members differ in quality, so that the vote of all is
    nothing to be close to.
    """
    if ensemble.kind.family == "pool":
        return None
    rows = recombined_rows(ensemble.prepare(X))
    return None if rows is None else ask_members(ensemble, rows, n_jobs=n_jobs)
