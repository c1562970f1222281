"""Weights that make the averaged probability of the true class large.

The logarithmic loss of an average looks at one number per model and sample, what the
model gave the class that came true. So a pool is one matrix, models by samples, and the
best weights are those of a mixture: a convex problem with one best value. Few models
get a weight, so the others are looked at only to see whether one of them would help:

1. the weights of the models at hand are found by Newton steps, each of which is a small
   problem of non-negative least squares;
2. the mean of ``probability / average`` over the samples tells of every model how much
   the loss falls when a little of it is mixed in. If none is above one, no mixture is
   better; otherwise the best of them join.

By how much the largest of these means exceeds one is also the most that the loss could
still fall (it is concave in what is mixed in), so the answer comes with its own proof.
"""

import numpy as np
from scipy.linalg import cho_factor, solve_triangular
from scipy.optimize import nnls

from quorate._kernels.counts import column_blocks
from quorate._typing import Array, FloatArray, IntArray

_GAP = 1e-5
_ROUGH_GAP = 1e-4
_MANY = 20_000
_SOME = 5_000
_JOIN = 20
_ROUNDS = 200
_STEPS = 3  # a round, while models still join
_LAST_STEPS = 30
_RIDGE = 1e-10


def mixture_weights(
    given: Array, start: FloatArray | None = None, gap: float = _GAP
) -> FloatArray:
    """Return the weights of the mixture with the smallest logarithmic loss.

    Parameters
    ----------
    given : array of shape (n_models, n_samples)
        What each model gave the true class, above zero.
    start : array of shape (n_models,), optional
        Weights to begin with. They change how long it takes, not what is found.
    gap : float
        How far the loss may be from the smallest there is.

    Returns
    -------
    ndarray of shape (n_models,)
        Not negative, adding up to one; most are zero.
    """
    n_models, n_samples = given.shape
    if start is None:
        start = np.zeros(n_models)
        if n_samples > _MANY:
            # Nearly the same answer from every so many-th sample, in a fraction of
            # the time.
            start = mixture_weights(given[:, :: n_samples // _SOME], gap=_ROUGH_GAP)
        else:
            alone = [np.log(row).mean(dtype=float) for row in given]
            start[int(np.argmax(alone))] = 1.0
    inside: IntArray = np.flatnonzero(start)
    weights = start[inside]
    steps, best = _STEPS, np.inf
    for _ in range(_ROUNDS):
        rows = given[inside].astype(float)
        weights = _solve(rows, weights, steps)
        stay = weights > 0
        inside, weights = inside[stay], weights[stay] / weights[stay].sum()
        gains = _gains(given, weights @ rows[stay])
        excess = float(gains.max()) - 1.0
        if excess <= gap:
            break
        # An excess that falls no more is one of weights not found well enough yet, or,
        # if they are, of rounding.
        if excess >= best:
            if steps == _LAST_STEPS:
                break
            steps = _LAST_STEPS
        best = min(best, excess)
        gains[inside] = -np.inf
        join = np.argsort(-gains, kind="stable")[:_JOIN]
        join = join[gains[join] > 1.0]
        inside = np.concatenate([inside, join])
        weights = np.concatenate([weights, np.zeros(join.size)])
    found = np.zeros(n_models)
    found[inside] = weights
    return found


def _gains(given: Array, average: FloatArray) -> FloatArray:
    """Return of every model the mean of its share over the average's."""
    inverse = (1.0 / average).astype(given.dtype)
    found = np.zeros(len(given))
    for block in column_blocks(len(given), average.size, given.itemsize):
        found += given[:, block] @ inverse[block]
    return found / average.size


def _solve(rows: FloatArray, weights: FloatArray, steps: int) -> FloatArray:
    """Minimise ``sum(weights) - mean(log(weights @ rows))`` by Newton steps.

    The sum stands in for the constraint: at the minimum it is one.
    """
    n = rows.shape[1]
    average = weights @ rows
    value = float(weights.sum() - np.log(average).mean())
    for _ in range(steps):
        scaled = rows / average
        gradient = 1.0 - scaled.mean(axis=1)
        curvature = scaled @ scaled.T / n
        curvature[np.diag_indices_from(curvature)] *= 1.0 + _RIDGE
        target = _quadratic_minimum(curvature, gradient - curvature @ weights)
        step = target - weights
        slope = float(gradient @ step)
        if slope > -1e-14:
            break
        length = 1.0
        while True:
            moved = weights + length * step
            average = moved @ rows
            new = float(moved.sum() - np.log(average).mean())
            if new <= value + 1e-4 * length * slope or length < 1e-10:
                break
            length /= 2.0
        fell = value - new
        weights, value = moved, new
        if fell < 1e-13:
            break
    return weights


def _quadratic_minimum(curvature: FloatArray, linear: FloatArray) -> FloatArray:
    """Minimise ``x @ curvature @ x / 2 + linear @ x`` over ``x >= 0``."""
    lift = _RIDGE * float(np.trace(curvature))
    factor, _ = cho_factor(curvature + lift * np.eye(len(linear)), lower=True)
    lower = np.tril(factor)
    found, _ = nnls(lower.T, solve_triangular(lower, -linear, lower=True))
    return np.asarray(found)
