"""When two scores are the same: a difference that rounding can make is none.

Equal accuracies rarely stay equal as floats: 0.9 - 0.8 is not 0.8 - 0.7, and the mean
of the same folds depends on their order. Every test of this room therefore treats
numbers as tied that differ by at most ``SLACK`` of the size of the scores they come
from, and none decides by the last digits.
"""

from functools import reduce

import numpy as np

from quorate._typing import Array, FloatArray, IntArray

SLACK = 1e-12


def slack_of(*scores: Array) -> FloatArray:
    """Return what differences of the scores along the last axis may owe to rounding."""
    sizes = [np.abs(part).max(axis=-1, keepdims=True) for part in scores]
    slack: FloatArray = SLACK * reduce(np.maximum, sizes)
    return slack


def differences(a: Array, b: Array, slack: Array) -> FloatArray:
    """Return ``a - b``, exactly zero where they tie."""
    difference = a - b
    settled: FloatArray = np.where(np.abs(difference) <= slack, 0.0, difference)
    return settled


def levels(values: Array, slack: Array) -> IntArray:
    """Give the distinct values along the last axis numbers, from 0 for the lowest.

    Neighbours in order that are within slack of each other share a number.
    """
    order = np.argsort(values, axis=-1, kind="stable")
    ordered = np.take_along_axis(values, order, axis=-1)
    loose = np.take_along_axis(np.broadcast_to(slack, values.shape), order, axis=-1)
    step = np.diff(ordered) > np.maximum(loose[..., 1:], loose[..., :-1])
    level = np.zeros(values.shape, dtype=np.intp)
    level[..., 1:] = np.cumsum(step, axis=-1)
    numbered = np.empty_like(level)
    np.put_along_axis(numbered, order, level, axis=-1)
    return numbered
