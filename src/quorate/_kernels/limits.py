"""Exact limits on shares, from counts; no approximation for any number of samples."""

from typing import Any

import numpy as np
from scipy import special

from quorate._typing import FloatArray


def upper_limit(count: Any, n: int, delta: float) -> FloatArray:
    """Return the upper limit on a share (Clopper and Pearson), wrong with ``delta``."""
    given = np.asarray(count)
    inside = np.minimum(given, n - 1)  # the limit at n of n is 1
    limit = special.betaincinv(inside + 1.0, n - inside, 1.0 - delta)
    return np.where(given < n, limit, 1.0)


def lower_limit(count: Any, n: int, delta: float) -> FloatArray:
    """Return the lower limit on a share (Clopper and Pearson), wrong with ``delta``."""
    given = np.asarray(count)
    inside = np.maximum(given, 1)  # the limit at 0 of n is 0
    limit = special.betaincinv(inside, n - inside + 1.0, delta)
    return np.where(given > 0, limit, 0.0)


def excess_limit(only_first: Any, only_second: Any, n: int, delta: float) -> FloatArray:
    """Return the upper limit on by how much one share of errors exceeds another.

    From the samples that only the first and only the second gets wrong.
    """
    upper = upper_limit(only_first, n, delta / 2)
    return np.asarray(upper - lower_limit(only_second, n, delta / 2))
