"""Entropy of votes over the classes."""

import numpy as np

from quorate._typing import Array, FloatArray


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
