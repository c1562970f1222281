"""Error of the vote, mean error of its members, and the difference of both."""

import numpy as np

from quorate._typing import Array, FloatArray, Lambda

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
