"""Sums of values that flags pick, eight flags at a time.

Eight values have 256 sums, so a byte of eight flags looks its sum up: adding up under
all rows of flags costs an eighth of the additions, and the flags an eighth of the
memory. (Known as the method of the Four Russians.)
"""

import numpy as np

from quorate._typing import Array, BoolArray, FloatArray

Octets = Array

# Sums looked up at a time: few enough to stay in cache.
_AT_ONCE = 1 << 15


def octets_of_rows(flags: BoolArray) -> Octets:
    """Pack each row's flags, to add up over columns: (bytes, rows)."""
    return np.ascontiguousarray(np.packbits(flags, axis=1).T)


def octets_of_columns(flags: BoolArray) -> Octets:
    """Pack each column's flags, to add up over rows: (bytes, columns)."""
    return np.packbits(flags, axis=0)


def sum_where_set(octets: Octets, values: Array) -> FloatArray:
    """Return, for each packed row (or column), the sum of values under its flags."""
    n_bytes, n_sums = octets.shape
    table = _sums_of_eight(values, n_bytes)
    total = np.zeros(n_sums)
    step = max(1, _AT_ONCE // max(1, n_sums))
    offsets = 256 * np.arange(step)[:, None]
    for start in range(0, n_bytes, step):
        part = octets[start : start + step]
        places = part + offsets[: len(part)]
        # Places are never outside; clipping only spares the check.
        found = table[start : start + step].ravel().take(places, mode="clip")
        total += found.sum(axis=0)
    return total


def _sums_of_eight(values: Array, n_bytes: int) -> FloatArray:
    """Return the sum that each byte picks among each eight values, (bytes, 256)."""
    padded = np.zeros(8 * n_bytes)
    padded[: values.size] = values
    eights = padded.reshape(n_bytes, 8)[:, ::-1]  # the first flag is the highest bit
    table = np.zeros((n_bytes, 256))
    for bit in range(8):
        low, high = 1 << bit, 2 << bit
        np.add(table[:, :low], eights[:, bit, None], out=table[:, low:high])
    return table
