"""Who wins a plurality vote, how many tie for it, and if the truth is among them."""

import numpy as np

from quorate._typing import Array, BoolArray, IntArray

# Two float scores closer than this share of the total weight are tied; without it the
# rounding of the additions would decide elections.
TIE_TOLERANCE = 1e-12


def leaders(scores: Array, slack: float | Array) -> BoolArray:
    """Mark the classes (first axis) whose score is within ``slack`` of the best."""
    return np.asarray(scores >= scores.max(axis=0) - slack)


def verdict(
    scores: Array, slack: float, y: Array
) -> tuple[IntArray, IntArray, BoolArray]:
    """Return the winner (lowest code of a tie), how many tie, and if ``y`` does."""
    top = leaders(scores, slack)
    winner = top.argmax(axis=0)
    tied = np.count_nonzero(top, axis=0)
    has_truth = top[y, np.arange(y.size)]
    return winner, tied, has_truth
