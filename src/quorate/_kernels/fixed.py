"""Order-independent sums of floats, in fixed point.

Each value is rounded to a multiple of 2**-48 and added as an integer, so order and
grouping do not change the sum. A step is far below the rounding error of a mean over a
million floats.
"""

import numpy as np

from quorate._typing import Array

STEPS = 2.0**48
"""Steps in one."""
_LOW_BITS = 24


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
