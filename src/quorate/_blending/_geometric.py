"""Weights of a geometric mean: logarithms of probabilities are added up, not they.

A plain mean is less sure than its members; where they are right for different reasons
it should be surer. A geometric mean with weights that need not add up to one can be
both: their sum is how sharp it is. The logarithmic loss is convex in the weights (it is
that of a logistic regression without intercept), and a pull towards equal weights,
worth a few samples, keeps them from following chance.
"""

from typing import NamedTuple

import numpy as np

from quorate._blending._descent import Allowed, least
from quorate._typing import Array, FloatArray, IntArray

# Nobody is surer than this; one model that is wrong and certain would decide alone.
FLOOR = 1e-3
_PULL = 3.0
# Up to so many models all are at hand from the beginning.
_FEW = 100
_ALLOWED = Allowed(fall=1e-7, slope=3e-5)


class SharpWeights(NamedTuple):
    """Weights that add up to one, and their sum before that."""

    weights: FloatArray
    sharpness: float


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


def geometric_weights(
    ratios: Array, y: IntArray, start: FloatArray | None = None
) -> SharpWeights:
    """Return the weights of the geometric mean with the smallest logarithmic loss.

    Parameters
    ----------
    ratios : array of shape (n_models, n_samples, n_classes - 1)
        From :func:`log_ratios`.
    y : array of shape (n_samples,)
        Classes, as positions.
    start : array of shape (n_models,), optional
        Weights to begin with, not scaled.
    """
    return geometric_means(ratios, y, np.ones((1, y.size), dtype=bool), start)[0]


def geometric_means(
    ratios: Array, y: IntArray, sets: Array, start: FloatArray | None = None
) -> list[SharpWeights]:
    """Return what :func:`geometric_weights` does for each of several sets of samples.

    The first of the sets (bool, sets by samples) is to be the largest.
    """
    n_models, _, n_ratios = ratios.shape
    if start is None:
        start = np.full(n_models, 1.0 / n_models if n_models <= _FEW else 0.0)
    data = ratios.reshape(n_models, -1)
    loss = _TwoClasses(y) if n_ratios == 1 else _Classes(y, n_ratios)
    return [_scaled(found) for found in least(data, loss, sets, start, _ALLOWED)]


def _scaled(weights: FloatArray) -> SharpWeights:
    sharpness = float(weights.sum())
    if sharpness <= 0:
        return SharpWeights(np.full(weights.size, 1.0 / weights.size), 0.0)
    return SharpWeights(weights / sharpness, sharpness)


class _TwoClasses:
    """Logarithmic loss by the logarithm of the first class over the second."""

    width, slant, pull = 1, 0.0, _PULL

    def __init__(self, y: IntArray) -> None:
        self._y = y
        # Sums times this are large where the true class gets little.
        self._wrong = np.where(y == 0, -1, 1).astype(np.int8)

    def look(self, sums: FloatArray) -> tuple[FloatArray, FloatArray]:
        towards = sums * self._wrong
        with np.errstate(under="ignore"):  # what is next to nothing is nothing
            small = np.exp(-np.abs(towards))
            share = np.where(towards > 0, 1.0, small) / (1.0 + small)
        losses = np.log(1.0 + small) + np.maximum(towards, 0.0)
        return losses, share * self._wrong

    def bent(self, rows: Array, sums: FloatArray) -> FloatArray:
        with np.errstate(under="ignore"):
            small = np.exp(-np.abs(sums))
            return np.asarray(rows * (small / (1.0 + small) ** 2))

    def at(self, samples: slice) -> "_TwoClasses":
        return _TwoClasses(self._y[samples])


class _Classes:
    """Logarithmic loss by the logarithms of all classes but the last over the last."""

    slant, pull = 0.0, _PULL

    def __init__(self, y: IntArray, width: int) -> None:
        self._y, self.width = y, width
        self._true = np.eye(width + 1, dtype=np.int8)[y][:, :-1]

    def look(self, sums: FloatArray) -> tuple[FloatArray, FloatArray]:
        sums = sums.reshape(len(sums), -1, self.width)
        shares, losses = self._shares(sums)
        losses -= (sums * self._true).sum(axis=2)
        return losses, (shares - self._true).reshape(len(sums), -1)

    def bent(self, rows: Array, sums: FloatArray) -> FloatArray:
        shares, _ = self._shares(sums.reshape(-1, self.width))
        rows = rows.reshape(len(rows), -1, self.width)
        mean = (rows * shares).sum(axis=2, keepdims=True)
        return np.asarray((rows - mean) * shares).reshape(len(rows), -1)

    def at(self, samples: slice) -> "_Classes":
        return _Classes(self._y[samples], self.width)

    @staticmethod
    def _shares(sums: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the classes' shares, and the logarithm of what they are parts of."""
        largest = np.maximum(sums.max(axis=-1, keepdims=True), 0.0)
        with np.errstate(under="ignore"):
            parts = np.exp(sums - largest)
            total = parts.sum(axis=-1, keepdims=True) + np.exp(-largest)
            shares = parts / total
        return shares, (largest + np.log(total))[..., 0]
