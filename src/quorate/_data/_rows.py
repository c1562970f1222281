"""Compute, identify and draw rows, in any of the forms of :mod:`quorate._rows`."""

from collections.abc import Iterable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np
from scipy import sparse

from quorate._checks import check_number
from quorate._rows import count_rows, module_of, take_rows
from quorate._typing import Array, IntArray

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

    @classmethod
    def of_hashes(cls, hashes: Array) -> "RowDigest":
        """Return the digest of rows by their hashes."""
        return cls(hashes.size, int(hashes.sum(dtype=np.uint64)))

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
    return RowDigest.of_hashes(hash_rows(X))


def hash_rows(X: Any) -> Array:
    """Return a 64-bit hash of each row; equal values have equal hashes.

    Each value's hash is multiplied by an odd number that depends on its column. Zeros
    add nothing, so sparse matrices need not be densified.
    """
    from pandas.util import hash_array

    n_rows = count_rows(X)
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


# Stratified samples, drawn from one or more parts in one pass. Each class has a
# reservoir as large as the whole sample could be; at the end each class is cut to its
# share. The result depends on the seed and the order of the samples, not on the parts:
# each sample gets a random number by its position, and the smallest numbers are kept.

# Default sample size.
MAX_SAMPLES = 200_000


@dataclass(frozen=True, slots=True)
class Drawn:
    """A stratified sample, and what it was drawn from.

    Attributes
    ----------
    n_samples : int
        How many were drawn.
    n_rows : int
        How many there were.
    """

    n_samples: int
    n_rows: int
    seed: int

    def __str__(self) -> str:
        return self.describe()

    def describe(self, things: str = "") -> str:
        """Return how many of how many things were drawn.

        Examples
        --------
        >>> Drawn(300, 12_000, 0).describe("rows")
        '300 of 12,000 rows, drawn by class'
        """
        total = f"{self.n_rows:,} {things}".strip()
        return f"{self.n_samples:,} of {total}, drawn by class"

    def to_dict(self) -> dict[str, int]:
        """Return plain types for JSON."""
        return {"samples": self.n_samples, "of": self.n_rows, "seed": self.seed}


def sample_size(max_samples: Any, owner: str) -> int:
    """Return the maximum number of samples to draw, or raise an error."""
    if max_samples is None:
        return MAX_SAMPLES
    check_number(owner, "max_samples", max_samples, least=1, whole=True)
    return int(max_samples)


def draw_sample(
    parts: Iterable[tuple[Any, Any]],
    size: int,
    seed: int = 0,
    *,
    owner: str = "draw_sample",
) -> tuple[Any, Array, IntArray, int]:
    """Draw a stratified sample of at most ``size`` samples.

    Parameters
    ----------
    parts : iterable of (X, y)
        Samples and labels, arrays or frames of pandas if there are several; no more
        than a few are kept in memory.
    size : int
        How many.
    seed : int
        Seed of the draw.
    owner : str
        Name of the caller, for error messages.

    Returns
    -------
    X, y
        The samples drawn, in the order in which they came.
    positions : array of int
        Where they were among all.
    n_rows : int
        How many there are in all.
    """
    numbers = np.random.default_rng(seed)
    kept: list[tuple[Any, Array, Array, IntArray]] = []
    counts: dict[Any, int] = {}
    done = 0
    for X, y in parts:
        labels = np.asarray(y)
        kinds = {part.dtype.kind in "OSU" for part in (labels, *(k[1] for k in kept))}
        if len(kinds) > 1:
            raise ValueError(
                f"{owner}: some labels are text and others are numbers; write all of "
                "them in the same way."
            )
        for label, count in zip(*np.unique(labels, return_counts=True), strict=True):
            counts[label] = counts.get(label, 0) + int(count)
        drawn = numbers.random(labels.size)
        kept.append((X, labels, drawn, done + np.arange(labels.size)))
        done += labels.size
        if sum(part[1].size for part in kept) > 2 * size:
            kept = [_cut(_joined(kept), dict.fromkeys(counts, size))]
    if not kept:
        raise ValueError(f"{owner}: there are no samples to choose from.")
    if done > size < len(counts):
        raise ValueError(
            f"{owner}(max_samples={size}): at least one sample of each class is drawn, "
            f"and there are {len(counts)} classes; give {len(counts)} or more."
        )
    X, y, _, places = _cut(_joined(kept), stratum_sizes(counts, size))
    return X, y, places, done


def stratum_sizes(counts: dict[Any, int], size: int) -> dict[Any, int]:
    """Return the number of samples per class of a stratified sample, at least one.

    Shares are rounded down, and the rest goes to the largest remainders, ties by label.
    What rare classes get beyond their share is taken from the classes with the smallest
    loss.
    """
    total = sum(counts.values())
    if total <= size:
        return dict(counts)
    labels = sorted(counts)
    # Integers, multiplied by the total, so that equal remainders tie exactly.
    exact = np.array([counts[label] * size for label in labels])
    given = np.maximum(exact // total, 1)
    # A class raised to one sample has no remainder left.
    order = np.argsort(given * total - exact, kind="stable")
    given[order[: max(0, size - int(given.sum()))]] += 1
    for _ in range(int(given.sum()) - max(size, given.size)):
        given[np.where(given > 1, given * total - exact, -size * total).argmax()] -= 1
    return dict(zip(labels, given.tolist(), strict=True))


def _joined(parts: list[Any]) -> Any:
    if len(parts) == 1:
        return parts[0]
    tables = [part[0] for part in parts]
    if hasattr(tables[0], "iloc"):
        X = import_module("pandas").concat(tables, ignore_index=True)
    else:
        X = np.concatenate(tables)
    return X, *(np.concatenate([part[k] for part in parts]) for k in (1, 2, 3))


def _cut(part: Any, sizes: dict[Any, int]) -> Any:
    """Keep the samples of each class with the smallest numbers, in order."""
    X, labels, drawn, places = part
    order = np.lexsort((places, drawn))
    keep = np.zeros(labels.size, dtype=bool)
    for label, size in sizes.items():
        own = order[labels[order] == label]
        keep[own[:size]] = True
    rows = np.flatnonzero(keep)
    return take_rows(X, rows), labels[rows], drawn[rows], places[rows]
