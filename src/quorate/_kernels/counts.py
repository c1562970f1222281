"""Correct votes per sample, and votes per class."""

from collections.abc import Iterator

import numpy as np

from quorate._typing import Array, BoolArray, FloatArray, IntArray

# Bytes of a column block: small enough for the cache, large enough for BLAS.
_BLOCK_BYTES = 1 << 23
# Up to this many classes, one comparison per class beats a histogram.
_FEW_CLASSES = 16


def column_blocks(n_rows: int, n_columns: int, itemsize: int) -> Iterator[slice]:
    """Yield slices of columns whose blocks with ``n_rows`` rows stay small."""
    width = max(256, _BLOCK_BYTES // max(1, n_rows * itemsize))
    for start in range(0, n_columns, width):
        yield slice(start, min(start + width, n_columns))


def count_true(flags: BoolArray) -> IntArray:
    """Sum a boolean matrix over its first axis.

    Flags are added as bytes, 255 rows at a time, because their sum fits in a byte and
    adding bytes is many times faster than widening each flag first.
    """
    flat = flags.view(np.uint8)
    total = np.zeros(flags.shape[1], dtype=np.int32)
    for start in range(0, len(flat), 255):
        total += np.add.reduce(flat[start : start + 255], axis=0, dtype=np.uint8)
    return total


def correct_per_sample(codes: Array, y: Array) -> IntArray:
    """Count the members that are correct on each sample."""
    count = np.empty(codes.shape[1], dtype=np.int32)
    for block in column_blocks(len(codes), codes.shape[1], 1):
        count[block] = count_true(codes[:, block] == y[block])
    return count


def votes_per_sample(codes: Array) -> IntArray:
    """Count the members that have a vote on each sample."""
    count = np.empty(codes.shape[1], dtype=np.int32)
    for block in column_blocks(len(codes), codes.shape[1], 1):
        count[block] = count_true(codes[:, block] >= 0)
    return count


def correct_per_member(codes: Array, y: Array) -> IntArray:
    """Count the samples on which each member is correct."""
    return np.array([np.count_nonzero(row == y) for row in codes], dtype=np.int64)


def votes_per_member(codes: Array) -> IntArray:
    """Count the samples on which each member has a vote."""
    return np.array([np.count_nonzero(row >= 0) for row in codes], dtype=np.int64)


def tally(codes: Array, n_classes: int) -> IntArray:
    """Count the votes of each class on each sample, (n_classes, n_samples)."""
    n_samples = codes.shape[1]
    if n_classes <= _FEW_CLASSES:
        counts = np.empty((n_classes, n_samples), dtype=np.int32)
        for block in column_blocks(len(codes), n_samples, 1):
            part = codes[:, block]
            for label in range(n_classes):
                counts[label, block] = count_true(part == label)
        return counts
    # One extra bin for missing votes, dropped at the end.
    bins = n_classes + 1
    counts = np.empty((n_classes, n_samples), dtype=np.int32)
    for block in column_blocks(max(len(codes), bins), n_samples, 8):
        part = codes[:, block].astype(np.int64) + 1
        part += bins * np.arange(part.shape[1])
        histogram = np.bincount(part.ravel(), minlength=bins * part.shape[1])
        counts[:, block] = histogram.reshape(-1, bins)[:, 1:].T
    return counts


def weighted_tally(codes: Array, weights: FloatArray, n_classes: int) -> FloatArray:
    """Sum the weights of the votes of each class on each sample."""
    n_samples = codes.shape[1]
    scores = np.empty((n_classes, n_samples))
    for block in column_blocks(len(codes), n_samples, 8):
        part = codes[:, block]
        for label in range(n_classes):
            scores[label, block] = weights @ (part == label)
    return scores
