"""Counts over pairs of members, by packed flags or blocked matrix products.

Counts of one block are far below 2**24, so single precision is exact; blocks are added
in double precision, exact below 2**53.
"""

import numpy as np

from quorate._kernels import bits
from quorate._kernels.counts import column_blocks
from quorate._typing import Array, IntArray

# Above this many classes, comparing rows beats a matrix product per class.
_FEW_CLASSES = 8
# From so many samples on, and up to so many members, packed flags beat a matrix
# product, except with many threads.
_MANY_SAMPLES = 4096
_FEW_MEMBERS = 400


def both_equal(codes: Array, target: Array) -> IntArray:
    """Count the samples on which both members vote ``target`` (one code per sample)."""
    if len(codes) <= _FEW_MEMBERS and codes.shape[1] >= _MANY_SAMPLES:
        return _both_by_bits(codes, target)
    total = np.zeros((len(codes), len(codes)))
    for block in column_blocks(len(codes), codes.shape[1], 4):
        hit = (codes[:, block] == target[block]).astype(np.float32)
        total += hit @ hit.T
    return total.astype(np.int64)


def _both_by_bits(codes: Array, target: Array | int) -> IntArray:
    words = bits.pack_equal(codes, target)
    total = np.empty((len(codes), len(codes)), dtype=np.int64)
    for member, own in enumerate(words):
        total[member, member:] = bits.count(words[member:] & own)
        total[member:, member] = total[member, member:]
    return total


def equal_where_other_voted(codes: Array, target: Array) -> IntArray:
    """Count the samples where the row votes ``target`` and the column has a vote."""
    total = np.zeros((len(codes), len(codes)))
    for block in column_blocks(len(codes), codes.shape[1], 4):
        part = codes[:, block]
        hit = (part == target[block]).astype(np.float32)
        total += hit @ (part >= 0).astype(np.float32).T
    return total.astype(np.int64)


def common(codes: Array) -> IntArray:
    """Count the samples on which both members have a vote."""
    total = np.zeros((len(codes), len(codes)))
    for block in column_blocks(len(codes), codes.shape[1], 4):
        voted = (codes[:, block] >= 0).astype(np.float32)
        total += voted @ voted.T
    return total.astype(np.int64)


def agreement(codes: Array, n_classes: int) -> IntArray:
    """Count the samples on which both members vote for the same class."""
    if n_classes > _FEW_CLASSES:
        return _agreement_by_rows(codes)
    n_members, n_samples = codes.shape
    if n_members <= _FEW_MEMBERS and n_samples >= 64 * n_members:
        same = [_both_by_bits(codes, label) for label in range(n_classes)]
        return np.asarray(np.sum(same, axis=0))
    total = np.zeros((len(codes), len(codes)))
    for block in column_blocks(len(codes), codes.shape[1], 4):
        part = codes[:, block]
        for label in range(n_classes):
            hit = (part == label).astype(np.float32)
            total += hit @ hit.T
    return total.astype(np.int64)


def _agreement_by_rows(codes: Array) -> IntArray:
    n_members, n_samples = codes.shape
    total = np.zeros((n_members, n_members), dtype=np.int64)
    for block in column_blocks(n_members, n_samples, 2):
        part = codes[:, block]
        voted = part >= 0
        for member in range(n_members):
            same = (part[member:] == part[member]) & voted[member]
            each = np.bitwise_count(np.packbits(same, axis=1))
            total[member, member:] += each.sum(axis=1, dtype=np.int64)
    return np.maximum(total, total.T)


def chance_agreement(codes: Array, n_classes: int) -> IntArray:
    """Sum over classes the product of both members' vote counts on common samples."""
    total = np.zeros((len(codes), len(codes)), dtype=np.int64)
    for label in range(n_classes):
        target = np.full(codes.shape[1], label, dtype=codes.dtype)
        count = equal_where_other_voted(codes, target)
        total += count * count.T
    return total
