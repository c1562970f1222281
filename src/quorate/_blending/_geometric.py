"""Weights of a geometric mean: logarithms of probabilities are added up, not they.

A plain mean is less sure than its members; where they are right for different reasons
it should be surer. A geometric mean with weights that need not add up to one can be
both: their sum is how sharp it is. The logarithmic loss is convex in the weights (it is
that of a logistic regression without intercept), and a pull towards equal weights,
worth a few samples, keeps them from following chance.
"""

from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize

from quorate._typing import Array, FloatArray, IntArray

# Nobody is surer than this; one model that is wrong and certain would decide alone.
FLOOR = 1e-3
_PULL = 3.0
_MANY = 20_000
_SOME = 5_000
_STEPS = 200


class SharpWeights(NamedTuple):
    """Weights that add up to one, and their sum before that."""

    weights: FloatArray
    sharpness: float


def log_ratios(probabilities: Array) -> Array:
    """Return logarithms of what classes get over what the last one gets."""
    logs = np.log(np.maximum(probabilities, probabilities.dtype.type(FLOOR)))
    return np.asarray(logs[..., :-1] - logs[..., -1:])


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
    n_models, n_samples, n_ratios = ratios.shape
    equal = np.full(n_models, 1.0 / n_models)
    if start is None and n_samples > _MANY:
        # Nearly the same answer from every so many-th sample, in a fraction of the
        # time; a few steps on all samples are left.
        some = slice(None, None, n_samples // _SOME)
        rough = geometric_weights(np.ascontiguousarray(ratios[:, some]), y[some])
        start = rough.weights * rough.sharpness
    flat = ratios.reshape(n_models, -1)
    pull = _PULL / n_samples
    true = np.eye(n_ratios + 1)[y][:, :-1]

    def loss(weights: FloatArray) -> tuple[float, FloatArray]:
        mixed = np.asarray(weights.astype(flat.dtype) @ flat, dtype=float)
        mixed = mixed.reshape(n_samples, n_ratios)
        largest = np.maximum(mixed.max(axis=1), 0.0)
        with np.errstate(under="ignore"):
            parts = np.exp(mixed - largest[:, None])
            total = parts.sum(axis=1) + np.exp(-largest)
        surprise = largest + np.log(total) - (mixed * true).sum(axis=1)
        wrong = (parts / total[:, None] - true).ravel().astype(flat.dtype)
        slope = np.asarray(flat @ wrong, dtype=float) / n_samples
        away = weights - equal
        return (
            float(surprise.mean() + pull * (away**2).sum()),
            slope + 2.0 * pull * away,
        )

    found = minimize(
        loss,
        equal if start is None else start,
        jac=True,
        bounds=[(0.0, None)] * n_models,
        method="L-BFGS-B",
        options={"maxiter": _STEPS},
    )
    weights = np.asarray(found.x)
    sharpness = float(weights.sum())
    if sharpness <= 0:
        return SharpWeights(equal, 0.0)
    return SharpWeights(weights / sharpness, sharpness)
