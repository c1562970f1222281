"""Minima of quadratic functions over numbers that may not be negative."""

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve, solve_triangular
from scipy.optimize import nnls

from quorate._typing import BoolArray, FloatArray

_RIDGE = 1e-10
_TRIES = 60
# Exchanges that may be no better than those before, until they are made one by one.
_PATIENCE = 5


def quadratic_minimum(
    curvature: FloatArray, linear: FloatArray, positive: BoolArray
) -> FloatArray:
    """Minimise ``x @ curvature @ x / 2 + linear @ x`` over ``x >= 0``.

    Once it is known which x are positive, they solve a system of linear equations. So
    one begins with a guess; those that come out negative become zero, those at zero
    that should rise become positive, all at once, and the system is solved anew. Mostly
    a few exchanges are enough. Where they lead nowhere the last word is with the slower
    way of least squares, which always ends.

    Parameters
    ----------
    curvature : array of shape (n, n)
        Symmetric, and bent upwards everywhere, if only a little.
    linear : array of shape (n,)
        The slopes at zero.
    positive : bool array of shape (n,)
        Those thought to be positive. The better the guess, the sooner the end.
    """
    slack = 1e-12 * float(np.abs(linear).max())
    inside, fewest, patience = positive.copy(), linear.size + 1, _PATIENCE
    for _ in range(_TRIES):
        found = np.zeros(linear.size)
        if inside.any():
            try:
                factor = cho_factor(
                    curvature[np.ix_(inside, inside)], check_finite=False
                )
            except LinAlgError:
                break
            found[inside] = cho_solve(factor, -linear[inside], check_finite=False)
        wrong = np.where(inside, found < 0.0, curvature @ found + linear < -slack)
        count = int(wrong.sum())
        if not count:
            return found
        if count < fewest:
            fewest, patience = count, _PATIENCE
        elif patience:
            patience -= 1
        else:
            wrong[: np.flatnonzero(wrong)[-1]] = False
        inside ^= wrong
    lift = max(0.0, -float(np.linalg.eigvalsh(curvature)[0]))
    lift += _RIDGE * float(np.trace(curvature))
    lower = np.linalg.cholesky(curvature + lift * np.eye(linear.size))
    found, _ = nnls(lower.T, solve_triangular(lower, -linear, lower=True))
    return np.asarray(found)
