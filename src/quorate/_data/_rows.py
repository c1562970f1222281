"""Rows of anything a classifier may be asked about: arrays, frames, sparse, lists.

Frames may be those of pandas, polars, Arrow or Dask; none of these is imported here.
"""

from importlib import import_module
from typing import Any

import numpy as np


def count_rows(X: Any) -> int:
    """Return the number of rows.

    Examples
    --------
    >>> count_rows([[1, 2], [3, 4], [5, 6]])
    3
    """
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)


def take_rows(X: Any, rows: Any) -> Any:
    """Return the rows at these positions, in that order.

    Examples
    --------
    >>> take_rows(["ant", "bee", "cow"], [2, 0])
    ['cow', 'ant']
    """
    if isinstance(X, np.ndarray):
        return X.take(rows, axis=0)
    if hasattr(X, "iloc"):
        return X.iloc[rows]
    if _is_arrow(X):
        return X.take(rows)
    if hasattr(X, "shape"):
        return X[rows]
    return [X[row] for row in rows]


def cut_rows(X: Any, rows: slice) -> Any:
    """Return consecutive rows."""
    if _is_arrow(X):
        start, stop, _ = rows.indices(X.num_rows)
        return X.slice(start, stop - start)
    return X.iloc[rows] if hasattr(X, "iloc") else X[rows]


def joined_rows(parts: list[Any]) -> Any:
    """Return the rows of several tables of one kind, one below the other.

    Examples
    --------
    >>> joined_rows([[[1, 2]], [[3, 4], [5, 6]]]).tolist()
    [[1, 2], [3, 4], [5, 6]]
    """
    first = parts[0]
    if hasattr(first, "iloc"):
        return import_module("pandas").concat(parts, ignore_index=True)
    if hasattr(first, "tocsr"):
        return import_module("scipy.sparse").vstack(parts, format="csr")
    if _is_arrow(first):
        return import_module("pyarrow").concat_tables(parts)
    if _home(first) == "polars":
        return import_module("polars").concat(parts)
    return np.concatenate([np.asarray(part) for part in parts])


def in_memory(X: Any) -> Any:
    """Return X as it is; what Dask has only planned is computed, once for everybody.

    Examples
    --------
    >>> in_memory([[1, 2]])
    [[1, 2]]
    """
    return X.compute() if _home(X) in ("dask", "dask_expr") else X


def _is_arrow(X: Any) -> bool:
    return _home(X) == "pyarrow" and hasattr(X, "num_rows")


def _home(X: Any) -> str:
    """Return the package that something is from."""
    return type(X).__module__.partition(".")[0]


def sliceable(X: Any) -> Any:
    """Return X as it is, or in another form if rows cannot be taken from it.

    COO, DIA and BSR have no rows to take, LIL and DOK give them slowly.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> sliceable(sp.coo_array([[0, 1]])).format
    'csr'
    """
    if hasattr(X, "tocsr") and X.format not in ("csr", "csc"):
        return X.tocsr()
    return X
