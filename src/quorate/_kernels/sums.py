"""Sums over samples, of values selected by flags, and in fixed point.

Eight values have 256 possible sums, so each byte of eight flags is a table lookup. This
takes an eighth of the additions and of the memory (the method of the Four Russians).

In fixed point, each value is rounded to a multiple of 2**-48 and added as an integer,
so order and grouping do not change the sum. A step is far below the rounding error of a
mean over a million floats.
"""

import numpy as np

from quorate._kernels.counts import column_blocks
from quorate._typing import Array, FloatArray

Octets = Array

# Sums looked up at a time, to stay in cache.
_AT_ONCE = 1 << 15
# Bytes whose sums are computed at a time, 2 kB for each.
_BYTES = 32
# Rows compared at a time, in whole bytes.
_ROWS = 64
STEPS = 2.0**48
"""Steps in one."""
_LOW_BITS = 24


def sum_where_correct(codes: Array, y: Array, values: Array) -> FloatArray:
    """Sum ``values`` (one per sample) over the samples each member gets right.

    Exact for integers while the sums stay below 2**53.
    """
    total = np.zeros(len(codes))
    for block in column_blocks(len(codes), codes.shape[1], 8):
        total += (codes[:, block] == y[block]) @ values[block].astype(float)
    return total


def sum_by_vote(codes: Array, table: Array) -> FloatArray:
    """Sum, for each member, the entry of ``table`` (classes x samples) it votes for."""
    total = np.zeros(len(codes))
    for block in column_blocks(len(codes), codes.shape[1], 8):
        part = codes[:, block]
        for label, values in enumerate(table[:, block]):
            total += (part == label) @ values.astype(float)
    return total


def sum_where_voted(codes: Array, values: Array) -> FloatArray:
    """Sum ``values`` over the samples each member votes on."""
    total = np.zeros(len(codes))
    for block in column_blocks(len(codes), codes.shape[1], 8):
        total += (codes[:, block] >= 0) @ values[block].astype(float)
    return total


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


def whole_steps(values: Array, times: Array | int = 1) -> int:
    """Return the sum of ``values``, each times its count, in fixed-point steps.

    For values below 2**13 in size, and counts below 2**25.
    """
    steps = np.rint(np.asarray(values, dtype=float) * STEPS).astype(np.int64)
    # In two halves, because the sum of full values would overflow 64 bits.
    high, low = steps >> _LOW_BITS, steps & ((1 << _LOW_BITS) - 1)
    return (int((high * times).sum()) << _LOW_BITS) + int((low * times).sum())


def as_float(steps: int) -> float:
    """Convert a fixed-point sum to a float."""
    return float(steps / int(STEPS))
