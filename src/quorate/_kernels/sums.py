"""Sums over samples, of values selected by votes, and in fixed point.

In fixed point, each value is rounded to a multiple of 2**-48 and added as an integer,
so order and grouping do not change the sum. A step is far below the rounding error of a
mean over a million floats.
"""

import numpy as np

from quorate._kernels.counts import column_blocks
from quorate._typing import Array, FloatArray, IntArray

# Up to this many classes, comparing with each beats looking votes up.
_FEW_CLASSES = 7
# Bytes per vote of a block of comparisons, with room to spare.
_TEMPORARY = 32

STEPS = 2.0**48
"""Steps in one."""
_LOW_BITS = 24


def sum_where_correct(codes: Array, y: Array, values: Array) -> FloatArray:
    """Sum ``values``, one per sample, where each member is correct.

    Exact for integers while the sums stay below 2**53.
    """
    total = np.zeros(len(codes))
    for block in column_blocks(len(codes), codes.shape[1], 8):
        total += (codes[:, block] == y[block]) @ values[block].astype(float)
    return total


def sum_by_vote(codes: Array, table: Array, masked: bool) -> FloatArray:
    """Sum, for each member, the entry of ``table`` (classes x samples) it votes for.

    A missing vote adds nothing.
    """
    n_classes, n_samples = table.shape
    if n_classes > _FEW_CLASSES:
        bins = vote_bins(n_samples, n_classes)
        flat = np.zeros((n_samples, n_classes + 1))
        flat[:, 1:] = table.T
        return np.array([flat.ravel().take(bins + row).sum() for row in codes])
    total, first = np.zeros(len(codes)), 0
    if not masked:  # who votes for no other class votes for the first
        total += table[0].sum()
        table, first = table[1:] - table[0], 1
    for block in column_blocks(len(codes), n_samples, _TEMPORARY):
        part = codes[:, block]
        for label, values in enumerate(table[:, block], first):
            total += (part == label) @ values.astype(float)
    return total


def sum_by_class(
    codes: Array, weights: FloatArray, n_classes: int, masked: bool
) -> FloatArray:
    """Sum the weights of the votes for each class on each sample."""
    n_samples = codes.shape[1]
    if n_classes > _FEW_CLASSES:
        bins = vote_bins(n_samples, n_classes)
        flat = np.zeros((n_classes + 1) * n_samples)
        for row, weight in zip(codes, weights, strict=True):
            flat[bins + row] += weight
        return flat.reshape(n_samples, -1)[:, 1:].T
    total, first = np.zeros((n_classes, n_samples)), 0 if masked else 1
    for block in column_blocks(len(codes), n_samples, _TEMPORARY):
        part = codes[:, block]
        for label in range(first, n_classes):
            total[label, block] = weights @ (part == label)
    if not masked:
        total[0] = weights.sum() - total[1:].sum(axis=0)
    return total


def vote_bins(n_samples: int, n_classes: int) -> IntArray:
    """Return the bin of class 0 on each sample; the one before is for no vote."""
    return (n_classes + 1) * np.arange(n_samples) + 1


def sum_where_voted(codes: Array, values: Array) -> FloatArray:
    """Sum ``values`` over the samples each member votes on."""
    total = np.zeros(len(codes))
    for block in column_blocks(len(codes), codes.shape[1], 8):
        total += (codes[:, block] >= 0) @ values[block].astype(float)
    return total


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
