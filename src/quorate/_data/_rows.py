"""Compute and identify rows, in any of the forms of :mod:`quorate._rows`."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from quorate._rows import count_rows, module_of
from quorate._typing import Array

_VALUES = 1 << 22  # looked at in one go


def in_memory(X: Any) -> Any:
    """Return X unchanged; lazy Dask or polars data are computed once.

    Examples
    --------
    >>> in_memory([[1, 2]])
    [[1, 2]]
    """
    if module_of(X) == "polars" and hasattr(X, "collect"):
        return X.collect()
    return X.compute() if module_of(X) in ("dask", "dask_expr") else X


def index_of(table: Any) -> Any:
    """Return the index of a pandas table, or None."""
    index = getattr(table, "index", None)
    return index if hasattr(index, "equals") else None  # lists have a method index


def other_rows(index: Any, first: Any) -> str:
    """Say where the indexes of two tables differ; "" where they do not.

    Tables are joined row by row, so a shuffled table, or one of other samples, would be
    joined to the wrong rows. Without an index this cannot be checked.

    Examples
    --------
    >>> import pandas as pd
    >>> other_rows(pd.Index([0, 1]), pd.Index([0, 7]))[:51]
    'according to the index: row 1 is 1 here and 7 there'
    """
    if index is None or first is None or first.equals(index):
        return ""
    here, there = index.tolist(), first.tolist()
    # Equal dates may be stored in different units.
    if here == there or len(here) != len(there):
        return ""  # how many there are is looked at elsewhere
    row = next(row for row, label in enumerate(here) if label != there[row])
    return (
        f"according to the index: row {row} is {here[row]!r} here and {there[row]!r} "
        "there; sort both in the same way, for example with sort_index(), or drop a "
        "meaningless index with reset_index(drop=True)"
    )


def pair_in_memory(X: Any, y: Any, owner: str) -> tuple[Any, Any]:
    """Return samples and labels in memory; refuse labels in another order by index.

    Indexes without the same labels prove nothing: rows are paired by position then, as
    scikit-learn does.
    """
    X, y = in_memory(X), in_memory(y)
    index, first = index_of(y), index_of(X)
    others = other_rows(index, first)
    if others and index.isin(first).all():
        raise ValueError(
            f"{owner}: y has the rows of X in a different order, {others}."
        )
    return X, y


# Digests that identify the same rows in any order


@dataclass(frozen=True, slots=True)
class RowDigest:
    """The number of rows and the sum of their hashes; digests of parts can be added."""

    n_rows: int
    total: int

    @classmethod
    def parse(cls, text: str) -> "RowDigest":
        """Parse a digest from its text form."""
        n_rows, total = text.split("-")
        return cls(int(n_rows), int(total, 16))

    def __add__(self, other: "RowDigest") -> "RowDigest":
        total = (self.total + other.total) % 2**64
        return RowDigest(self.n_rows + other.n_rows, total)

    def __str__(self) -> str:
        return f"{self.n_rows}-{self.total:016x}"


def digest_rows(X: Any) -> RowDigest:
    """Return the digest of the rows of a table.

    It is the same for an array, a sparse matrix, a frame and a CSV file of the same
    values: numbers count as 64-bit floats, everything else as text.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.arange(6.0).reshape(3, 2)
    >>> digest_rows(X) == digest_rows(X[::-1])
    True
    >>> digest_rows(X[:1]) + digest_rows(X[1:]) == digest_rows(X)
    True
    >>> digest_rows(X) == digest_rows(X[[0, 1, 1]])
    False
    """
    n_rows = count_rows(X)
    with np.errstate(over="ignore"):
        total = int(_row_hashes(X, n_rows).sum(dtype=np.uint64))
    return RowDigest(n_rows, total)


def _row_hashes(X: Any, n_rows: int) -> Array:
    """Return a 64-bit hash of each row.

    Each value's hash is multiplied by an odd number that depends on its column. Zeros
    add nothing, so sparse matrices need not be densified.
    """
    from pandas.util import hash_array

    if sparse.issparse(X):
        rows = sparse.csr_array(X)
        keys = (_keys(rows.data), rows.indices, rows.indptr)
        sums = sparse.csr_array(keys, shape=rows.shape) @ _factors(rows.shape[1])
        return np.asarray(hash_array(sums))
    sums = np.zeros(n_rows, dtype=np.uint64)
    table = X.to_pandas() if hasattr(X, "column_names") else X
    if not hasattr(table, "iloc") or table.ndim == 1:
        table = _as_array(table).reshape(n_rows, -1)
    factors = _factors(table.shape[1])
    if isinstance(table, np.ndarray) and table.dtype.kind in "biuf":
        step = max(1, _VALUES // max(factors.size, 1))
        for start in range(0, n_rows, step):
            part = slice(start, start + step)
            sums[part] = _keys(table[part]) @ factors
    else:
        columns = table.iloc if hasattr(table, "iloc") else table
        for place, factor in enumerate(factors):
            sums += _keys(columns[:, place]) * factor
    return np.asarray(hash_array(sums))


def _as_array(X: Any) -> Array:
    """Return rows as an array; ragged rows as their text."""
    try:
        return np.asarray(X)
    except ValueError:
        return np.array([str(row) for row in X], dtype=object)


def _factors(number: int) -> Array:
    from pandas.util import hash_array

    return np.asarray(hash_array(np.arange(number)) | np.uint64(1))


def _keys(values: Any) -> Array:
    """Return a 64-bit hash of each value, 0 for zero."""
    from pandas import isna
    from pandas.util import hash_array

    try:
        if hasattr(values, "to_numpy"):
            numbers = values.to_numpy(dtype=np.float64, na_value=np.nan)
        else:
            numbers = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        things = np.asarray(values, dtype=object)
        pairs = zip(things, isna(things), strict=True)
        texts = ["" if is_missing else str(value) for value, is_missing in pairs]
        return np.asarray(hash_array(np.array(texts, dtype=object)))
    numbers = np.where(np.isnan(numbers), np.nan, numbers)  # all NaN are one
    keys = np.asarray(hash_array(numbers.ravel())).reshape(numbers.shape)
    return np.where(numbers == 0, np.uint64(0), keys)
