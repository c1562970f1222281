"""Weights of arithmetic and geometric means that minimise log-loss.

The loss of an arithmetic mean depends on one number per model and sample: the
probability of the true class. So a pool is one matrix (models x samples), and finding
the best weights is a convex mixture problem with a unique optimal value. For each
model, the mean of ``probability / average`` over the samples is the rate at which the
loss falls when a little of the model is mixed in. If none exceeds one, the mixture is
optimal. Because the loss is convex, the largest excess over one also bounds how much
the loss can still fall, which certifies the solution.

An arithmetic mean is less confident than its members, but should be more confident if
they use different information. A geometric mean adds up log-probabilities, with weights
that need not sum to one; their sum is the sharpness. Its loss is also convex in the
weights (it is that of a logistic regression without intercept). A penalty towards equal
weights, worth a few samples, reduces overfitting.
"""

from typing import Any, NamedTuple, TypeAlias

import numpy as np

from quorate._blending._solver import Tolerance, minimise_on_sets
from quorate._typing import Array, FloatArray, IntArray

# Probabilities are clipped to this in a geometric mean; otherwise a single model that
# is wrong and certain would decide alone.
FLOOR = 1e-3
_PULL = 3.0
# Up to this many models, all are active from the start.
_FEW = 100
_ALLOWED = Tolerance(fall=1e-7, slope=3e-5)
_GAP = 1e-5
# Weights of a subset start from those of all samples and must forget the samples that
# are not in it. A hundredth of the gap leaves a tenth of that information.
_FALL = 1e-2


class WeightedMean(NamedTuple):
    """Weights of models that sum to one, and the kind of mean.

    Attributes
    ----------
    sharpness : float or None
        None for the arithmetic mean; otherwise the exponent of the geometric mean.
    """

    weights: FloatArray
    sharpness: float | None = None


# Means that are averaged with equal weight.
Recipe: TypeAlias = tuple[WeightedMean, ...]


def plain_means(
    given: Array,
    sets: Array | None = None,
    start: FloatArray | None = None,
) -> list[WeightedMean]:
    """Return the weights of the mixture with the smallest log-loss.

    Parameters
    ----------
    given : array of shape (n_models, n_samples)
        Probability of the true class by each model, above zero.
    sets : bool array of shape (n_sets, n_samples), optional
        Which samples are in each set, the largest first; one set of all by default.
    """
    sets = np.ones((1, given.shape[1]), dtype=bool) if sets is None else sets
    if start is None:
        sample = given[:, :: max(1, given.shape[1] // 5_000)]
        best = np.log(sample).mean(axis=1, dtype=float).argmax()
        start = np.eye(len(given))[best]
    solutions = minimise_on_sets(
        given, _MixtureLoss(), sets, start, Tolerance(_FALL * _GAP, _GAP)
    )
    return [WeightedMean(weights / weights.sum()) for weights in solutions]


def geometric_means(
    ratios: Array, y: IntArray, sets: Array | None = None
) -> list[WeightedMean]:
    """Return the weights of the geometric mean with the smallest log-loss.

    Parameters
    ----------
    ratios : array of shape (n_models, n_samples, n_classes - 1)
        From :func:`log_ratios`.
    y : array of shape (n_samples,)
        Classes as integer codes.
    sets : bool array of shape (n_sets, n_samples), optional
        Which samples are in each set, the largest first; one set of all by default.
    """
    sets = np.ones((1, y.size), dtype=bool) if sets is None else sets
    n_models, _, n_ratios = ratios.shape
    start = np.full(n_models, 1.0 / n_models if n_models <= _FEW else 0.0)
    data, loss = ratios.reshape(n_models, -1), _SoftmaxLoss(y, n_ratios)
    means = []
    for weights in minimise_on_sets(data, loss, sets, start, _ALLOWED):
        sharpness = float(weights.sum())
        if sharpness <= 0:
            means.append(WeightedMean(np.full(n_models, 1.0 / n_models), 0.0))
        else:
            means.append(WeightedMean(weights / sharpness, sharpness))
    return means


def log_ratios(probabilities: Array) -> Array:
    """Return log-ratios of class probabilities to that of the last class."""
    floored = np.maximum(probabilities, probabilities.dtype.type(FLOOR))
    return np.asarray(np.log(floored[..., :-1] / floored[..., -1:]))


def shares_of(ratios: FloatArray) -> FloatArray:
    """Return the probabilities for given log-ratios."""
    logs = np.concatenate([ratios, np.zeros((*ratios.shape[:-1], 1))], axis=-1)
    logs -= logs.max(axis=-1, keepdims=True)
    with np.errstate(under="ignore"):  # negligible values become zero
        shares = np.exp(logs)
    return np.asarray(shares / shares.sum(axis=-1, keepdims=True))


class _MixtureLoss:
    """Negative log of the average, with a cost per weight so that weights sum to one.

    At the minimum of ``sum(weights) - mean(log(weights @ given))`` the sum is one.
    """

    width, slant, pull = 1, 1.0, 0.0

    def evaluate(self, sums: FloatArray) -> tuple[FloatArray, FloatArray]:
        with np.errstate(divide="ignore", invalid="ignore"):
            return -np.log(sums), -1.0 / sums

    def slope_changes(self, rows: Array, sums: FloatArray) -> FloatArray:
        return np.asarray(rows * (1.0 / (sums * sums)))

    def at(self, samples: Any) -> "_MixtureLoss":
        return self


class _SoftmaxLoss:
    """Log-loss as a function of the log-ratios to the last class."""

    slant, pull = 0.0, _PULL

    def __init__(self, y: IntArray, width: int) -> None:
        self._y, self.width = y, width
        self._true = np.eye(width + 1, dtype=np.int8)[y][:, :-1]

    def evaluate(self, sums: FloatArray) -> tuple[FloatArray, FloatArray]:
        sums = sums.reshape(-1, self.width)
        shares, losses = self._probabilities(sums)
        losses -= (sums * self._true).sum(axis=1)
        return losses, (shares - self._true).ravel()

    def slope_changes(self, rows: Array, sums: FloatArray) -> FloatArray:
        shares, _ = self._probabilities(sums.reshape(-1, self.width))
        rows = rows.reshape(len(rows), -1, self.width)
        mean = (rows * shares).sum(axis=2, keepdims=True)
        return np.asarray((rows - mean) * shares).reshape(len(rows), -1)

    def at(self, samples: Any) -> "_SoftmaxLoss":
        return _SoftmaxLoss(self._y[samples], self.width)

    @staticmethod
    def _probabilities(sums: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return class probabilities and the log of their normaliser."""
        largest = np.maximum(sums.max(axis=-1, keepdims=True), 0.0)
        with np.errstate(under="ignore"):
            parts = np.exp(sums - largest)
            total = parts.sum(axis=-1, keepdims=True) + np.exp(-largest)
            shares = parts / total
        return shares, (largest + np.log(total))[..., 0]
