"""Flags packed 64 to a word, and counts of set flags."""

import numpy as np

from quorate._typing import Array, BoolArray, IntArray

Words = Array

# Rows compared at a time, to stay in cache.
_ROWS = 16


def pack(flags: BoolArray) -> Words:
    """Pack flags along the last axis into words, padded with zeros."""
    n_words = -(-flags.shape[-1] // 64)
    octets = np.packbits(flags, axis=-1)
    padded = np.zeros((*flags.shape[:-1], n_words * 8), dtype=np.uint8)
    padded[..., : octets.shape[-1]] = octets
    return padded.view(np.uint64)


def pack_equal(codes: Array, target: Array | int) -> Words:
    """Pack the comparison of each row of ``codes`` with ``target``, in blocks."""
    n_rows, n_columns = codes.shape
    octets = np.zeros((n_rows, -(-n_columns // 64) * 8), dtype=np.uint8)
    for start in range(0, n_rows, _ROWS):
        rows = slice(start, start + _ROWS)
        octets[rows, : -(-n_columns // 8)] = np.packbits(codes[rows] == target, axis=1)
    return octets.view(np.uint64)


def count(words: Words) -> IntArray:
    """Count the set flags along the last axis."""
    # Sums in a narrower type are faster, and stay far below 2**32.
    wide = np.uint16 if 64 * words.shape[-1] < 2**16 else np.uint32
    total = np.bitwise_count(words).sum(axis=-1, dtype=wide)
    return np.asarray(total, dtype=np.int64)


def count_common(rows: Words, mask: Words) -> IntArray:
    """Count, for each row, the flags it shares with ``mask``."""
    return count(rows & mask)
