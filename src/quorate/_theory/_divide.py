"""Quotients of counts, with a value for those that are undefined."""

import numpy as np

from quorate._typing import Array, FloatArray


def divide(numerator: Array, denominator: Array, undefined: float) -> FloatArray:
    """Divide, with ``undefined`` where the denominator is zero."""
    zero = denominator == 0
    quotient = numerator / np.where(zero, 1, denominator)
    return np.where(zero, undefined, quotient)
