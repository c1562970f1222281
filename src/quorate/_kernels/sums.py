"""Sums over the samples a member gets right, or over the classes it votes for."""

import numpy as np

from quorate._kernels.counts import column_blocks
from quorate._typing import Array, FloatArray


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
