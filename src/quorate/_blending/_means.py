"""Weights of means of probabilities that make the logarithmic loss small.

The loss of a plain mean looks at one number per model and sample, what the model gave
the class that came true. So a pool is one matrix, models by samples, and the best
weights are those of a mixture: a convex problem with one best value. The mean of
``probability / average`` over the samples tells of every model how much the loss falls
when a little of it is mixed in. If none is above one, no mixture is better. By how much
the largest of these means exceeds one is also the most that the loss could still fall
(it is convex), so the answer comes with its own proof.

A plain mean is less sure than its members; where they are right for different reasons
it should be surer. A geometric mean, for which logarithms of probabilities are added
up, with weights that need not add up to one can be both: their sum is how sharp it is.
Its loss is convex in the weights too (it is that of a logistic regression without
intercept), and a pull towards equal weights, worth a few samples, keeps them from
following chance.
"""

from typing import NamedTuple, TypeAlias

import numpy as np

from quorate._blending._solver import Tolerance, minimise
from quorate._typing import Array, FloatArray, IntArray

# Nobody is surer than this in a geometric mean; one model that is wrong and certain
# would decide alone.
FLOOR = 1e-3
_PULL = 3.0
# Up to so many models all are at hand from the beginning.
_FEW = 100
_ALLOWED = Tolerance(fall=1e-7, slope=3e-5)
_GAP = 1e-5
# Weights of sets of samples that start from those of all samples must lose what they
# know from samples not in their set. A hundredth of the gap leaves a tenth of it.
_FALL = 1e-2


class WeightedMean(NamedTuple):
    """Weights of models, adding up to one, and how they are used.

    Attributes
    ----------
    sharpness : float or None
        None for the plain weighted mean; else the power of the geometric mean.
    """

    weights: FloatArray
    sharpness: float | None = None


# Means that are averaged, each counting the same.
Recipe: TypeAlias = tuple[WeightedMean, ...]


def plain_means(
    given: Array, sets: Array | None = None, gap: float = _GAP
) -> list[WeightedMean]:
    """Return the weights of the mixture with the smallest logarithmic loss.

    Parameters
    ----------
    given : array of shape (n_models, n_samples)
        What each model gave the true class, above zero.
    sets : bool array of shape (n_sets, n_samples), optional
        Which samples are in each set, the largest first; one set of all by default.
    gap : float
        How far the loss may be from the smallest there is.
    """
    sets = np.ones((1, given.shape[1]), dtype=bool) if sets is None else sets
    start = np.zeros(len(given))
    sample = given[:, :: max(1, given.shape[1] // 5_000)]
    start[int(np.log(sample).mean(axis=1, dtype=float).argmax())] = 1.0
    solutions = minimise(
        given, _MixtureLoss(), sets, start, Tolerance(_FALL * gap, gap)
    )
    return [WeightedMean(weights / weights.sum()) for weights in solutions]


def geometric_means(
    ratios: Array, y: IntArray, sets: Array | None = None
) -> list[WeightedMean]:
    """Return the weights of the geometric mean with the smallest logarithmic loss.

    Parameters
    ----------
    ratios : array of shape (n_models, n_samples, n_classes - 1)
        From :func:`log_ratios`.
    y : array of shape (n_samples,)
        Classes, as positions.
    sets : bool array of shape (n_sets, n_samples), optional
        Which samples are in each set, the largest first; one set of all by default.
    """
    sets = np.ones((1, y.size), dtype=bool) if sets is None else sets
    n_models, _, n_ratios = ratios.shape
    start = np.full(n_models, 1.0 / n_models if n_models <= _FEW else 0.0)
    data, loss = ratios.reshape(n_models, -1), _SoftmaxLoss(y, n_ratios)
    means = []
    for weights in minimise(data, loss, sets, start, _ALLOWED):
        sharpness = float(weights.sum())
        if sharpness <= 0:
            means.append(WeightedMean(np.full(n_models, 1.0 / n_models), 0.0))
        else:
            means.append(WeightedMean(weights / sharpness, sharpness))
    return means


def log_ratios(probabilities: Array) -> Array:
    """Return logarithms of what classes get over what the last one gets."""
    floored = np.maximum(probabilities, probabilities.dtype.type(FLOOR))
    return np.asarray(np.log(floored[..., :-1] / floored[..., -1:]))


def shares_of(ratios: FloatArray) -> FloatArray:
    """Return the probabilities of which these are the logarithms of ratios."""
    logs = np.concatenate([ratios, np.zeros((*ratios.shape[:-1], 1))], axis=-1)
    logs -= logs.max(axis=-1, keepdims=True)
    with np.errstate(under="ignore"):  # what is next to nothing is nothing
        shares = np.exp(logs)
    return np.asarray(shares / shares.sum(axis=-1, keepdims=True))


class _MixtureLoss:
    """Minus the logarithm of the average; the price of weight makes them add up to one.

    At the minimum of ``sum(weights) - mean(log(weights @ given))`` their sum is one.
    """

    width, slant, pull = 1, 1.0, 0.0

    def evaluate(self, sums: FloatArray) -> tuple[FloatArray, FloatArray]:
        with np.errstate(divide="ignore", invalid="ignore"):
            return -np.log(sums), -1.0 / sums

    def slope_changes(self, rows: Array, sums: FloatArray) -> FloatArray:
        return np.asarray(rows / (sums * sums))

    def at(self, samples: slice) -> "_MixtureLoss":
        return self


class _SoftmaxLoss:
    """Logarithmic loss by the logarithms of all classes but the last over the last."""

    slant, pull = 0.0, _PULL

    def __init__(self, y: IntArray, width: int) -> None:
        self._y, self.width = y, width
        self._true = np.eye(width + 1, dtype=np.int8)[y][:, :-1]

    def evaluate(self, sums: FloatArray) -> tuple[FloatArray, FloatArray]:
        sums = sums.reshape(len(sums), -1, self.width)
        shares, losses = self._shares(sums)
        losses -= (sums * self._true).sum(axis=2)
        return losses, (shares - self._true).reshape(len(sums), -1)

    def slope_changes(self, rows: Array, sums: FloatArray) -> FloatArray:
        shares, _ = self._shares(sums.reshape(-1, self.width))
        rows = rows.reshape(len(rows), -1, self.width)
        mean = (rows * shares).sum(axis=2, keepdims=True)
        return np.asarray((rows - mean) * shares).reshape(len(rows), -1)

    def at(self, samples: slice) -> "_SoftmaxLoss":
        return _SoftmaxLoss(self._y[samples], self.width)

    @staticmethod
    def _shares(sums: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the classes' shares, and the logarithm of what they are parts of."""
        largest = np.maximum(sums.max(axis=-1, keepdims=True), 0.0)
        with np.errstate(under="ignore"):
            parts = np.exp(sums - largest)
            total = parts.sum(axis=-1, keepdims=True) + np.exp(-largest)
            shares = parts / total
        return shares, (largest + np.log(total))[..., 0]
