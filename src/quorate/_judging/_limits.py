"""Exact limits on error rates, from counts."""

import math
from typing import Any

import numpy as np

from quorate._kernels import limits
from quorate._typing import FloatArray


def error_limit(n_errors: int, n_samples: int, delta: float = 0.05) -> float:
    """Return the exact upper limit on an error rate.

    Parameters
    ----------
    n_errors, n_samples : int
        Errors seen, and samples looked at.
    delta : float
        Probability that the true error rate lies above the limit, at most.

    Examples
    --------
    >>> from quorate import error_limit
    >>> round(error_limit(0, 100), 4)
    0.0295
    """
    check_share("error_limit", "delta", delta)
    if not 0 <= n_errors <= n_samples or n_samples < 1:
        raise ValueError(
            f"error_limit: {n_errors} errors on {n_samples} samples; 0 to all of at "
            "least one."
        )
    return float(limits.upper_limit(n_errors, n_samples, delta))


def excess_limit(
    only_first: Any, only_second: Any, n_samples: int, delta: float = 0.05
) -> FloatArray:
    """Return the upper limit on by how much one model errs more than another.

    Parameters
    ----------
    only_first, only_second : int or array of int
        Samples that only the first, and only the second model gets wrong.
    n_samples : int
        Samples looked at.
    delta : float
        Probability that the true excess lies above the limit, at most.

    Examples
    --------
    >>> from quorate import excess_limit
    >>> float(excess_limit(3, 3, 1000).round(4))
    0.0081
    """
    check_share("excess_limit", "delta", delta)
    first, second = np.asarray(only_first), np.asarray(only_second)
    if (first < 0).any() or (second < 0).any() or (first + second > n_samples).any():
        raise ValueError(
            f"excess_limit: counts from 0 that together are at most the {n_samples} "
            "samples."
        )
    return limits.excess_limit(first, second, n_samples, delta)


def samples_needed(tolerance: float, delta: float = 0.05) -> int:
    """Return the fewest samples that can certify anything at this tolerance.

    That many suffice for a subset that is never wrong alone; real ones need more.

    Examples
    --------
    >>> from quorate import samples_needed
    >>> samples_needed(0.02)
    183
    """
    check_share("samples_needed", "tolerance", tolerance)
    check_share("samples_needed", "delta", delta)
    return math.ceil(math.log(delta / 2) / math.log1p(-tolerance) - 1e-9)


def check_share(owner: str, name: str, value: float) -> None:
    if not (isinstance(value, (int, float)) and 0 < value < 1):
        raise ValueError(f"{owner}({name}={value!r}): a number between 0 and 1.")
