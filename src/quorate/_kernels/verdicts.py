"""The winner of a plurality vote, ties, and whether the truth is among them."""

import numpy as np

from quorate._typing import Array, BoolArray, FloatArray, IntArray

# Float scores this close, relative to the total weight, are tied; otherwise rounding
# would decide.
TIE_TOLERANCE = 1e-12


def leaders(scores: Array, slack: float | Array) -> BoolArray:
    """Mark the classes (first axis) whose score is within ``slack`` of the best."""
    return np.asarray(scores >= scores.max(axis=0) - slack)


def verdict(
    scores: Array, slack: float, y: Array
) -> tuple[IntArray, IntArray, BoolArray]:
    """Return the winner (lowest code of a tie), tie size, and whether ``y`` ties."""
    top = leaders(scores, slack)
    winner = top.argmax(axis=0)
    tied = np.count_nonzero(top, axis=0)
    has_truth = top[y, np.arange(y.size)]
    return winner, tied, has_truth


def lead(scores: FloatArray) -> tuple[IntArray, FloatArray, FloatArray]:
    """Return the leader of each row, its value, and the next largest value.

    Ties go to the lowest column. Class by class, because rows are short.
    """
    first = scores[:, 0]
    if scores.shape[1] == 1:  # a class without a rival is ahead of nothing
        return np.zeros(first.size, dtype=np.intp), first.copy(), np.zeros(first.size)
    second = scores[:, 1]
    leader = (second > first).astype(np.intp)
    best, behind = np.maximum(first, second), np.minimum(first, second)
    for code in range(2, scores.shape[1]):
        score = scores[:, code]
        leader[score > best] = code
        np.maximum(behind, np.minimum(best, score), out=behind)
        np.maximum(best, score, out=best)
    return leader, best, behind


def rounding(n_members: int, total: float) -> float:
    """Bound the rounding error of a lead due to the order of summation."""
    return float(8 * (n_members + 2) * np.finfo(float).eps * total)
