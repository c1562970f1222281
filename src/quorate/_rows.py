"""Rows in any form that classifiers take: arrays, frames, sparse matrices, lists.

Frames may be those of pandas, polars, Arrow or Dask; none of these is imported here.
"""

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
    if is_arrow(X):
        return X.take(rows)
    if hasattr(X, "shape"):
        return sliceable(X)[rows]
    return [X[row] for row in rows]


def cut_rows(X: Any, rows: slice) -> Any:
    """Return consecutive rows."""
    if isinstance(X, np.ndarray):
        return X[rows]
    if is_arrow(X):
        start, stop, _ = rows.indices(X.num_rows)
        return X.slice(start, stop - start)
    return X.iloc[rows] if hasattr(X, "iloc") else sliceable(X)[rows]


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


def is_arrow(X: Any) -> bool:
    """Tell whether X is a table of Arrow."""
    return module_of(X) == "pyarrow" and hasattr(X, "num_rows")


def module_of(X: Any) -> str:
    """Return the package that something is from."""
    return type(X).__module__.partition(".")[0]
