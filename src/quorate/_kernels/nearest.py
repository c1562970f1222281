"""Nearest probabilities, on a grid or not, and rounding down to float32."""

import numpy as np

from quorate._typing import Array, FloatArray


def onto_simplex(table: FloatArray) -> FloatArray:
    """Return the nearest columns that are not negative and sum to 1.

    Up to rounding in the sum.

    Examples
    --------
    >>> import numpy as np
    >>> onto_simplex(np.array([[0.5], [0.9], [0.0]]))
    array([[0.3],
           [0.7],
           [0. ]])
    """
    falling = np.sort(table, axis=0)[::-1]
    ranks = np.arange(1, len(table) + 1)[:, None]
    excess = (np.cumsum(falling, axis=0) - 1) / ranks
    # The last rank whose value stays positive after subtracting the same amount.
    last = np.count_nonzero(falling > excess, axis=0) - 1
    taken = excess[last, np.arange(table.shape[1])]
    return np.asarray(np.maximum(table - taken, 0.0))


def round_leaves(table: FloatArray, levels: int) -> FloatArray:
    """Return the nearest columns whose entries are multiples of 1 / levels.

    Columns sum to 1 before and after: entries are rounded down, and those that lose
    most, of equals the first, are rounded up instead.

    Examples
    --------
    >>> import numpy as np
    >>> round_leaves(np.array([[0.7], [0.2], [0.1]]), 4)
    array([[0.75],
           [0.25],
           [0.  ]])
    """
    parts = table * levels
    lower = np.floor(parts)
    missing = np.rint(levels - lower.sum(axis=0))
    order = np.argsort(lower - parts, axis=0, kind="stable")
    ranks = np.argsort(order, axis=0, kind="stable")
    return np.asarray((lower + (ranks < missing)) / levels)


def rounded_down(numbers: FloatArray) -> Array:
    """Return the largest float32 that is not above each number.

    A float32 is at most one if and only if it is at most the other, so trees that
    compare 32-bit values with 64-bit thresholds predict the same with these.
    """
    if numbers.dtype == np.float32:
        return numbers
    with np.errstate(over="ignore", under="ignore"):
        nearest = numbers.astype(np.float32)
        below = np.nextafter(nearest, np.float32(-np.inf))
    return np.where(nearest > numbers, below, nearest)
