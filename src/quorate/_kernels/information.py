"""Mutual information of votes, in bits."""

import numpy as np

from quorate._typing import Array, BoolArray, FloatArray


def mutual_information(
    codes: Array, other: Array, n_classes: int, where: BoolArray | None = None
) -> FloatArray:
    """Return I(row; other) for each row of ``codes``, over samples both voted on.

    ``where`` limits the samples; nothing in common gives 0.
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


def information_of(joint: FloatArray) -> FloatArray:
    """Return the mutual information of tables of counts, (..., rows, columns)."""
    total = joint.sum(axis=(-2, -1), keepdims=True)
    share = joint / np.where(total > 0, total, 1)
    rows, columns = share.sum(-1, keepdims=True), share.sum(-2, keepdims=True)
    chance = rows * columns
    some = share > 0
    ratio = np.where(some, share, 1.0) / np.where(some, chance, 1.0)
    value: FloatArray = (share * np.log2(ratio)).sum(axis=(-2, -1))
    return value
