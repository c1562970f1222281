"""Sums of values selected by flags, eight flags at a time.

Eight values have 256 possible sums, so each byte of eight flags is a table lookup. This
takes an eighth of the additions and of the memory (the method of the Four Russians).
"""

import numpy as np

from quorate._typing import Array, FloatArray

Octets = Array

# Sums looked up at a time, to stay in cache.
_AT_ONCE = 1 << 15
# Bytes whose sums are computed at a time, 2 kB for each.
_BYTES = 32
# Rows compared at a time, in whole bytes.
_ROWS = 64


def rows_equal(codes: Array, target: Array | int) -> Octets:
    """Pack where rows equal ``target``, to sum over columns: (bytes, rows)."""
    n_rows, n_columns = codes.shape
    packed = np.empty((-(-n_columns // 8), n_rows), dtype=np.uint8)
    for start in range(0, n_rows, _ROWS):
        rows = slice(start, start + _ROWS)
        packed[:, rows] = np.packbits(codes[rows] == target, axis=1).T
    return packed


def columns_equal(codes: Array, target: Array | int) -> Octets:
    """Pack where columns equal ``target``, to sum over rows: (bytes, columns)."""
    n_rows, n_columns = codes.shape
    packed = np.empty((-(-n_rows // 8), n_columns), dtype=np.uint8)
    for start in range(0, n_rows, _ROWS):
        flags = codes[start : start + _ROWS] == target
        packed[start // 8 : (start + _ROWS) // 8] = np.packbits(flags, axis=0)
    return packed


def sum_where_set(octets: Octets, values: Array) -> FloatArray:
    """Return, for each packed row (or column), the sum of values with set flags."""
    n_bytes, n_sums = octets.shape
    total = np.zeros(n_sums)
    step = max(1, _AT_ONCE // max(1, n_sums))
    bunch = max(step, _BYTES)
    offsets = 256 * np.arange(step)[:, None]
    for first in range(0, n_bytes, bunch):
        rows = octets[first : first + bunch]
        part = values[8 * first : 8 * (first + bunch)]
        table = _sums_of_eight(part, len(rows))
        for start in range(0, len(rows), step):
            some = rows[start : start + step]
            places = some + offsets[: len(some)]
            # Indices are always valid; clipping only skips the check.
            found = table[start : start + step].ravel().take(places, mode="clip")
            total += found.sum(axis=0)
    return total


def _sums_of_eight(values: Array, n_bytes: int) -> FloatArray:
    """Return the sums of each group of eight values by byte, (bytes, 256)."""
    padded = np.zeros(8 * n_bytes)
    padded[: values.size] = values
    eights = padded.reshape(n_bytes, 8)[:, ::-1]  # the first flag is the highest bit
    table = np.zeros((n_bytes, 256))
    for bit in range(8):
        low, high = 1 << bit, 2 << bit
        np.add(table[:, :low], eights[:, bit, None], out=table[:, low:high])
    return table
