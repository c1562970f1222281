"""Entropy of votes over the classes, and their mutual information, in bits."""

import numpy as np

from quorate._kernels.counts import column_blocks
from quorate._typing import Array, BoolArray, FloatArray, IntArray

# Above this many classes, counting pair by pair beats matrix products.
_FEW_CLASSES = 8


def entropy(counts: Array, base: float | None = None) -> FloatArray:
    """Return the entropy of votes per class, from (n_classes, ...) to (...).

    Counts are sorted first, so that permuted classes give identical floats.
    """
    ordered = np.sort(counts, axis=0)
    total = ordered.sum(axis=0)
    share = ordered / np.where(total > 0, total, 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.where(share > 0, -share * np.log(share), 0.0)
    value: FloatArray = terms.sum(axis=0)
    return value if base is None else value / np.log(base)


def mutual_information(
    codes: Array, other: Array, n_classes: int, where: BoolArray | None = None
) -> FloatArray:
    """Return I(row; other) for each row of ``codes``, over common samples.

    ``where`` restricts the samples; 0 without common samples.
    """
    if where is not None:
        codes, other = codes[:, where], other[where]
    usable = other >= 0
    if not usable.all():
        codes, other = codes[:, usable], other[usable]
    bins = n_classes + 1  # one more for votes that are missing
    joint = np.empty((len(codes), bins, n_classes))
    offset = other.astype(np.intp)
    for row, out in zip(codes, joint, strict=True):
        flat = (row.astype(np.intp) + 1) * n_classes + offset
        out[:] = np.bincount(flat, minlength=bins * n_classes).reshape(bins, n_classes)
    return information_of(joint[:, 1:])


def shared_information(
    codes: Array, others: IntArray, n_classes: int, samples: IntArray
) -> FloatArray:
    """Return I(row; other) for each row of ``codes`` and some of the rows.

    Over the given samples that both voted on, (n_rows, n_others); 0 without common
    samples.
    """
    codes = codes[:, samples]
    if n_classes > _FEW_CLASSES:
        rows = [mutual_information(codes, codes[other], n_classes) for other in others]
        return np.stack(rows, axis=1)
    # Without a mask, a member that votes for no other class votes for the first.
    first = 0 if codes.size and codes.min() < 0 else 1
    joint = np.zeros((len(codes), len(others), n_classes, n_classes))
    counts = np.zeros((n_classes, len(codes)))
    for block in column_blocks(len(codes), codes.shape[1], 4):
        part = codes[:, block]
        # Counts of a block are far below 2**24, so single precision is exact.
        flags = [
            (part == label).astype(np.float32) for label in range(n_classes)[first:]
        ]
        for mine, own in enumerate(flags, first):
            counts[mine] += own.sum(axis=1)
            for theirs, other in enumerate(flags, first):
                joint[:, :, mine, theirs] += own @ other[others].T
    if first:
        joint[:, :, 1:, 0] = counts[1:].T[:, None] - joint[:, :, 1:].sum(axis=3)
        rest = counts[1:, others].T - joint[:, :, 1:, 1:].sum(axis=2)
        joint[:, :, 0, 1:] = rest
        joint[:, :, 0, 0] = codes.shape[1] - joint.sum(axis=(2, 3))
    return information_of(joint)


def information_of(joint: FloatArray) -> FloatArray:
    """Return the mutual information of contingency tables, (..., rows, columns)."""
    total = joint.sum(axis=(-2, -1), keepdims=True)
    share = joint / np.where(total > 0, total, 1)
    rows, columns = share.sum(-1, keepdims=True), share.sum(-2, keepdims=True)
    chance = rows * columns
    some = share > 0
    ratio = np.where(some, share, 1.0) / np.where(some, chance, 1.0)
    value: FloatArray = (share * np.log2(ratio)).sum(axis=(-2, -1))
    return value
