"""Exact limits on proportions from counts, for any number of samples."""

from typing import Any

import numpy as np
from scipy import special

from quorate._typing import FloatArray


def upper_limit(count: Any, n: int, delta: float) -> FloatArray:
    """Return the Clopper-Pearson upper limit on a share, at error level ``delta``."""
    given = np.asarray(count)
    inside = np.minimum(given, n - 1)  # the limit at n of n is 1
    limit = special.betaincinv(inside + 1.0, n - inside, 1.0 - delta)
    return np.where(given < n, limit, 1.0)


def lower_limit(count: Any, n: int, delta: float) -> FloatArray:
    """Return the Clopper-Pearson lower limit on a share, at error level ``delta``."""
    given = np.asarray(count)
    inside = np.maximum(given, 1)  # the limit at 0 of n is 0
    limit = special.betaincinv(inside, n - inside + 1.0, delta)
    return np.where(given > 0, limit, 0.0)
