"""Flags packed 64 to a word, and how many of them are set."""

import numpy as np

from quorate._typing import Array, BoolArray, IntArray

Words = Array


def pack(flags: BoolArray) -> Words:
    """Pack flags along the last axis into words; the last word is filled with zeros."""
    n_words = -(-flags.shape[-1] // 64)
    octets = np.packbits(flags, axis=-1)
    padded = np.zeros((*flags.shape[:-1], n_words * 8), dtype=np.uint8)
    padded[..., : octets.shape[-1]] = octets
    return padded.view(np.uint64)


def pack_equal(codes: Array, target: Array) -> Words:
    """Pack where each row of ``codes`` equals ``target``, a row at a time."""
    n_words = -(-codes.shape[1] // 64)
    words = np.empty((len(codes), n_words), dtype=np.uint64)
    for row, out in zip(codes, words, strict=True):
        out[:] = pack(row == target)
    return words


def count(words: Words) -> IntArray:
    """Count the set flags along the last axis."""
    return np.asarray(np.bitwise_count(words).sum(axis=-1, dtype=np.int64))


def count_common(rows: Words, mask: Words) -> IntArray:
    """Count, for each row, the flags it shares with ``mask``."""
    return count(rows & mask)
