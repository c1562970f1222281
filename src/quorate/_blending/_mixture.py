"""Weights that make the averaged probability of the true class large.

The logarithmic loss of an average looks at one number per model and sample, what the
model gave the class that came true. So a pool is one matrix, models by samples, and the
best weights are those of a mixture: a convex problem with one best value.

The mean of ``probability / average`` over the samples tells of every model how much the
loss falls when a little of it is mixed in. If none is above one, no mixture is better.
By how much the largest of these means exceeds one is also the most that the loss could
still fall (it is convex), so the answer comes with its own proof.
"""

import numpy as np

from quorate._blending._descent import Allowed, least
from quorate._typing import Array, FloatArray

_GAP = 1e-5
# Weights of sets of samples that start from those of all samples must lose what they
# know from samples not in their set. A hundredth of the gap leaves a tenth of it.
_FALL = 1e-2


class _Surprise:
    """Minus the logarithm of the average; the price of weight makes them add up to one.

    At the minimum of ``sum(weights) - mean(log(weights @ given))`` their sum is one.
    """

    width, slant, pull = 1, 1.0, 0.0

    def look(self, sums: FloatArray) -> tuple[FloatArray, FloatArray]:
        with np.errstate(divide="ignore", invalid="ignore"):
            return -np.log(sums), -1.0 / sums

    def bent(self, rows: Array, sums: FloatArray) -> FloatArray:
        return np.asarray(rows / (sums * sums))

    def at(self, samples: slice) -> "_Surprise":
        return self


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
    everything = np.ones((1, given.shape[1]), dtype=bool)
    found: FloatArray = mixtures(given, everything, start, gap)[0]
    return found


def mixtures(
    given: Array, sets: Array, start: FloatArray | None = None, gap: float = _GAP
) -> FloatArray:
    """Return the weights (sets, models) of :func:`mixture_weights` for sets of samples.

    The first of the sets (bool, sets by samples) is to be the largest.
    """
    if start is None:
        start = np.zeros(len(given))
        some = given[:, :: max(1, given.shape[1] // 5_000)]
        start[int(np.log(some).mean(axis=1, dtype=float).argmax())] = 1.0
    found = least(given, _Surprise(), sets, start, Allowed(_FALL * gap, gap))
    return np.asarray(found / found.sum(axis=1, keepdims=True))
