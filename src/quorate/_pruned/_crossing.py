"""Rows crossed from those at hand: each takes some of its values from another row.

How many differs from row to row, so that some new rows are close to the old ones and
some far away. A value never leaves its column: whole numbers stay whole, categories
stay categories, a missing value is a value like others. Columns that together say one
thing (0 and 1, one 1 in every row) come from the same row.
"""

from typing import Any

import numpy as np

from quorate._typing import Array, FloatArray, IntArray

_SHARES = (0.05, 0.1, 0.2, 0.3, 0.5)


class Crossing:
    """A table to cross rows of.

    Parameters
    ----------
    X : array, sparse matrix or data frame
        What :func:`as_table` returns.
    """

    def __init__(self, X: Any) -> None:
        self.X = X
        self.n_rows, self.n_columns = (int(size) for size in X.shape)
        self._unit = units(X)
        self._csr: Any = X.tocsr() if hasattr(X, "tocsr") else None

    def rows(self, size: int, rng: np.random.Generator) -> Any:
        """Return as many new rows, in the form of the table."""
        own, other = rng.integers(0, self.n_rows, (2, size))
        shares = rng.choice(_SHARES, size)
        if self._csr is not None:
            return self._sparse(own, other, shares, rng)
        n_units = int(self._unit[-1]) + 1 if self._unit.size else 0
        borrowed = rng.random((size, n_units), dtype=np.float32) < shares[:, None]
        borrowed = borrowed[:, self._unit]
        if isinstance(self.X, np.ndarray):
            return np.where(borrowed, self.X[other], self.X[own])
        return _mixed_frame(self.X, np.where(borrowed, other[:, None], own[:, None]))

    def _sparse(
        self, own: IntArray, other: IntArray, shares: FloatArray, rng: Any
    ) -> Any:
        """Decide for the entries that are stored only; columns may be many."""
        keys = rng.integers(0, 2**63, own.size, dtype=np.uint64)
        parts = []
        for rows, wanted in ((own, False), (other, True)):
            taken = self._csr[rows].tocoo()
            drawn = _uniform(keys[taken.row], self._unit[taken.col])
            stays = (drawn < shares[taken.row]) == wanted
            parts.append((taken.data[stays], taken.row[stays], taken.col[stays]))
        data, row, column = map(np.concatenate, zip(*parts, strict=True))
        order = np.lexsort((column, row))
        ends = np.searchsorted(row[order], np.arange(own.size + 1))
        made = type(self._csr)(
            (data[order], column[order], ends.astype(column.dtype)),
            shape=(own.size, self.n_columns),
        )
        return made.asformat(self.X.format)


def as_table(X: Any) -> Any:
    """Return X in a form whose rows can be crossed, None if it is not a table.

    Examples
    --------
    >>> as_table([[1, 2], [3, 4]]).shape
    (2, 2)
    >>> as_table(["a text", "another"]) is None
    True
    """
    if len(getattr(X, "shape", ())) == 2:
        is_frame = hasattr(X, "iloc") or hasattr(X, "get_columns")
        if isinstance(X, np.ndarray) or is_frame or hasattr(X, "tocsr"):
            return X
        return None
    if isinstance(X, (list, tuple)):
        try:
            found = np.asarray(X)
        except ValueError:  # rows of different lengths
            return None
        return found if found.ndim == 2 and found.dtype.kind in "biuf" else None
    return None


def units(X: Any) -> IntArray:
    """Return for each column the number of the unit it belongs to.

    A unit is a column, or neighbouring columns of 0 and 1 with one 1 in every row.

    Examples
    --------
    >>> import numpy as np
    >>> units(np.array([[7, 1, 0, 0, 3], [8, 0, 0, 1, 3]]))
    array([0, 1, 1, 1, 2])
    """
    n_rows, n_columns = (int(size) for size in X.shape)
    ones = _ones_of(X)
    total = np.zeros(n_rows, dtype=np.int32)
    joined = np.zeros(n_columns, dtype=bool)
    window: list[IntArray] = []
    start, full = 0, 0
    for column in range(n_columns):
        where = ones(column)
        if where is None:
            total[:], start, full, window = 0, column + 1, 0, []
            continue
        while total[where].any():  # two in one row: the first columns do not belong
            first = window.pop(0)
            total[first] = 0
            full -= first.size
            start += 1
        total[where] = 1
        full += where.size
        window.append(where)
        if full == n_rows and column > start:
            joined[start + 1 : column + 1] = True
            total[:], start, full, window = 0, column + 1, 0, []
    unit: IntArray = np.cumsum(~joined) - 1
    return unit


def _ones_of(X: Any) -> Any:
    """Return what tells the rows with a 1 in a column; None if it holds others."""
    if hasattr(X, "tocsr"):
        columns = X.tocsc()

        def of_sparse(place: int) -> Any:
            part = slice(columns.indptr[place], columns.indptr[place + 1])
            data, rows = columns.data[part], columns.indices[part]
            binary = bool(((data == 0) | (data == 1)).all())
            return rows[data == 1] if binary else None

        return of_sparse

    def of_dense(place: int) -> Any:
        values = _column(X, place)
        if values.dtype.kind not in "biuf":
            return None
        is_one = values == 1
        return np.flatnonzero(is_one) if (is_one | (values == 0)).all() else None

    return of_dense


def _column(X: Any, place: int) -> Array:
    if isinstance(X, np.ndarray):
        return X[:, place]
    if hasattr(X, "iloc"):
        return np.asarray(X.iloc[:, place])
    return np.asarray(X.get_columns()[place])


def _mixed_frame(X: Any, rows: IntArray) -> Any:
    """Return a frame whose values come from these rows, column by column."""
    if hasattr(X, "iloc"):
        mixed = X.iloc[rows[:, 0]].reset_index(drop=True)
        for place in range(X.shape[1]):
            mixed.isetitem(place, X.iloc[:, place].array.take(rows[:, place]))
        return mixed
    columns = [
        column.gather(rows[:, place]) for place, column in enumerate(X.get_columns())
    ]
    return type(X)(columns)


def _uniform(keys: Array, units: IntArray) -> FloatArray:
    """Return a number in [0, 1) for each pair, the same for the same pair.

    The last steps of a splitmix64 generator, which spread every bit over all others.
    """
    with np.errstate(over="ignore"):
        mixed = keys + (units.astype(np.uint64) + np.uint64(1)) * np.uint64(
            0x9E3779B97F4A7C15
        )
        mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        mixed ^= mixed >> np.uint64(31)
    return np.asarray((mixed >> np.uint64(11)).astype(float) * 2.0**-53)
