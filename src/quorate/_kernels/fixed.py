"""Sums of floats that are the same in any order and for any split.

Each value is rounded to whole steps of 2**-48, and whole numbers are added: no order
and no grouping of the additions changes the sum. A step is far below the rounding that
a mean over a million values would have otherwise.
"""

import numpy as np

from quorate._typing import Array

STEPS = 2.0**48
"""Steps in one."""
_LOW_BITS = 24


def whole_steps(values: Array, times: Array | int = 1) -> int:
    """Return the sum of ``values``, each counted so many times, in whole steps.

    For values below 2**13 in size, and counts below 2**25.
    """
    steps = np.rint(np.asarray(values, dtype=float) * STEPS).astype(np.int64)
    # Two halves, since the sum of whole values would not fit 64 bits.
    high, low = steps >> _LOW_BITS, steps & ((1 << _LOW_BITS) - 1)
    return (int((high * times).sum()) << _LOW_BITS) + int((low * times).sum())


def as_float(steps: int) -> float:
    """Return a sum of whole steps as a number."""
    return float(steps / int(STEPS))
