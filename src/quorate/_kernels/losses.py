"""Errors of a vote and of its members, and losses of averaged votes."""

from functools import reduce

import numpy as np

from quorate._typing import Array, FloatArray, IntArray, Lambda

FLOOR = 1e-6
"""Smallest probability the logarithmic loss sees, so that no sample costs all."""
NEAR = 1e-9
"""Shares this close tie: they are sums of floats in some order."""
# Tolerance for ties of margins, which depend on the order of summation.
_MARGIN_STEPS = 2.0**40


def zero_one(
    tied: Array, has_truth: Array, right: Array, asked: Array
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return error, members' mean error and diversity of samples, by 0/1 errors.

    Parameters
    ----------
    tied, has_truth : arrays
        How many classes lead, and whether the true one is among them.
    right, asked : arrays
        The weight of the right votes and of all votes; numbers of members if equal.
    """
    error = (tied - has_truth) / tied
    nobody = asked == 0
    asked = np.where(nobody, 1.0, asked)
    # One division of integers for equal votes, so that equal samples tie exactly.
    diversity = (has_truth * asked - right * tied) / (tied * asked)
    member_error = (asked - right) / asked
    return (
        error,
        np.where(nobody, error, member_error),
        np.where(nobody, 0.0, diversity),
    )


def vote_sign(error: FloatArray, diversity: FloatArray, lambda_: Lambda) -> FloatArray:
    """Return the sign that turns diversity into the mean margin."""
    if lambda_ == "ensemble":
        return 1.0 - 2.0 * error
    # Weights that differ from the total by rounding leave no diversity.
    return np.asarray(np.sign(margin_steps(diversity)), dtype=float)


def margin_steps(margins: FloatArray) -> Array:
    """Return margins in integer steps, so that comparisons ignore rounding."""
    return np.rint(margins * _MARGIN_STEPS).astype(np.int64)


def sample_losses(kind: str, means: FloatArray, y: IntArray) -> FloatArray:
    """Return the loss of averaged votes (..., n_samples, n_classes) on each sample."""
    own = means[..., np.arange(y.size), y]
    if kind == "log_loss":
        return np.asarray(-np.log(np.maximum(own, FLOOR)))
    # Class by class, because NumPy is slow at reducing short axes.
    columns = [means[..., place] for place in range(means.shape[-1])]
    if kind == "brier":
        return np.asarray(sum(column**2 for column in columns) - 2 * own + 1)
    near = reduce(np.maximum, columns) - NEAR
    tied = sum((column >= near).astype(np.int16) for column in columns)
    return np.asarray(1.0 - (own >= near) / tied)


def log_of_product(factors: Array, halvings: int = 5) -> FloatArray:
    """Return the sum of logarithms of each row, for numbers from 1e-6 to 1e6.

    Multiplies in pairs before taking the logarithm: products of 32 such numbers do not
    overflow, nor of 4 in single precision.
    """
    total = np.zeros(len(factors))
    for _ in range(halvings):
        half = factors.shape[1] // 2
        if factors.shape[1] % 2:
            total += np.log(factors[:, -1])
        factors = factors[:, :half] * factors[:, half : 2 * half]
    return np.asarray(total + np.log(factors).sum(axis=1, dtype=float))
