"""Non-negative weights of models that minimise the mean loss of samples.

Each step solves a quadratic model of the loss over ``weights >= 0`` (SciPy's
:func:`~scipy.optimize.nnls`). Few models end up with a weight, so steps update active
models only; then one pass over all models checks their gradients. If no inactive model
would help, the minimum is found.

Two shortcuts change the way, not the end: the search starts from the minimum of a
fraction of the samples, and the curvature comes from a fraction of them. The gradients,
which determine the minimum, are always those of all samples.
"""

from typing import Any, NamedTuple, Protocol

import numpy as np
from scipy.optimize import nnls

from quorate._typing import Array, BoolArray, FloatArray, IntArray

_ROUNDS = 100
_STEPS = 50
_FIRST_STEPS = 2  # per round, while models are still added
_HALVINGS = 20
_JOIN = 20
# The search starts on a fifth of the samples if these are at least so many.
_FIFTH, _MANY = 5, 5_000
# Samples used for the curvature, or this many per active model if that is more.
_ENOUGH, _ENOUGH_EACH = 5_000, 100
# Up to this many numbers are computed in double precision.
_DOUBLE = 4_000_000
_COLUMNS = 8_192
_NOISE = 1e-10
_RIDGE = {8: 1e-10, 4: 3e-7}  # by itemsize


class Loss(Protocol):
    """Loss of samples as a function of the weighted sums.

    Attributes
    ----------
    width : int
        Numbers per model and sample.
    slant : float
        Cost per unit of weight.
    pull : float
        Cost of the squared distance from equal weights, divided by the samples.
    """

    width: int
    slant: float
    pull: float

    def evaluate(self, sums: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return losses (samples) and gradients (samples * width)."""

    def slope_changes(self, rows: Array, sums: FloatArray) -> FloatArray:
        """Return the change of the gradients for each row of changes of the sums."""

    def at(self, samples: Any) -> "Loss":
        """Return the loss restricted to some samples."""


class Tolerance(NamedTuple):
    """Stopping tolerances.

    Attributes
    ----------
    fall : float
        Maximum remaining decrease of the loss over the active models.
    slope : float
        Maximum rate of decrease towards an inactive model.
    """

    fall: float
    slope: float


def minimise_on_sets(
    data: Array, loss: Loss, sets: Array, start: FloatArray, tolerance: Tolerance
) -> FloatArray:
    """Return the weights (sets, models) that minimise the mean loss on each set.

    Parameters
    ----------
    data : array of shape (n_models, n_samples * width)
        The numbers to sum.
    loss : Loss
        Loss of the sums.
    sets : bool array of shape (n_sets, n_samples)
        Samples in each set. The others start from the minimum of the first.
    start : array of shape (n_models,)
        Initial weights.
    tolerance : Tolerance
        Stopping tolerances.
    """
    weights = np.empty((len(sets), len(data)))
    weights[0] = _from_fewer_samples(data, loss, sets[0], start, tolerance)
    for place in range(1, len(sets)):
        weights[place] = _minimise(data, loss, sets[place], weights[0], tolerance)
    return weights


def _from_fewer_samples(
    data: Array, loss: Loss, inside: BoolArray, start: FloatArray, tolerance: Tolerance
) -> FloatArray:
    """Return the minimum, starting from that of a fifth of the samples, if many."""
    if inside.size >= 2 * _MANY:
        some = slice(None, None, _FIFTH)
        few = _columns(data, some, inside.size)
        loosely = Tolerance(10 * tolerance.fall, 10 * tolerance.slope)
        start = _from_fewer_samples(few, loss.at(some), inside[some], start, loosely)
    return _minimise(data, loss, inside, start, tolerance)


def _minimise(
    data: Array, loss: Loss, inside: BoolArray, start: FloatArray, tolerance: Tolerance
) -> FloatArray:
    """Return the weights that minimise the mean loss of the samples inside."""
    if not inside.all():
        cube = data.reshape(len(data), inside.size, -1)
        data = cube.compress(inside, axis=1).reshape(len(data), -1)
        loss = loss.at(inside)
    task = _Task(data, loss, int(inside.sum()))
    active = np.flatnonzero(start > 0)
    weights, n_steps = start.astype(float), _FIRST_STEPS
    for _ in range(_ROUNDS):
        settled = task.improve(weights, active, n_steps, tolerance)
        slopes = task.slopes(data, weights, task.gradients(weights, active))
        slopes[active] = np.inf
        outside = np.flatnonzero(slopes < -tolerance.slope)
        if not outside.size and (settled or n_steps == _STEPS):
            break
        n_steps = _FIRST_STEPS if outside.size else _STEPS
        steepest = outside[np.argsort(slopes[outside], kind="stable")]
        stay = active[weights[active] > 0]
        active = np.concatenate([stay, steepest[: max(_JOIN, stay.size)]])
    return weights


def long_product(data: Array, columns: Array) -> FloatArray:
    """Return ``data @ columns``, accumulated in double precision.

    In single precision, rounding errors would accumulate over many samples.
    """
    product = np.zeros((len(data), *columns.shape[1:]))
    for begin in range(0, len(columns), _COLUMNS):
        block = slice(begin, begin + _COLUMNS)
        product += data[:, block] @ columns[block]
    return product


class _Task:
    """The mean loss of some samples, with the cost of the weights."""

    def __init__(self, data: Array, loss: Loss, n_samples: int) -> None:
        self._data, self._loss, self._size = data, loss, n_samples
        self._dtype = np.dtype(float) if data.size <= _DOUBLE else data.dtype
        self._pull = loss.pull / n_samples
        self._equal = 1.0 / len(data)

    def gradients(self, weights: FloatArray, active: IntArray) -> FloatArray:
        """Return the gradient of each sample's loss over its sums."""
        sums = weights[active].astype(self._dtype) @ self._data[active]
        return self._loss.evaluate(sums)[1]

    def slopes(
        self, rows: Array, weights: FloatArray, by_sum: FloatArray
    ) -> FloatArray:
        """Return the gradient of the mean loss over the weights."""
        column = by_sum.astype(rows.dtype)
        rises = long_product(rows, column) / self._size + self._loss.slant
        return rises + 2.0 * self._pull * (weights - self._equal)

    def improve(
        self,
        weights: FloatArray,
        active: IntArray,
        n_steps: int,
        tolerance: Tolerance,
    ) -> bool:
        """Improve the active weights in place; return whether they are optimal."""
        if not active.size:
            return True
        rows = self._data[active].astype(self._dtype)
        here = weights[active]
        sums = here.astype(rows.dtype) @ rows
        value, by_sum = self._value(sums, here)
        for _ in range(n_steps):
            gradient = self.slopes(rows, here, by_sum)
            curvature = self._curvature(rows, sums)
            step = _quadratic_minimum(curvature, gradient - curvature @ here) - here
            fall = -float(gradient @ step)
            if fall <= 2.0 * tolerance.fall and gradient.min() >= -tolerance.slope:
                return True
            move, length = step.astype(rows.dtype) @ rows, 1.0
            for _ in range(_HALVINGS):
                there = sums + rows.dtype.type(length) * move
                moved = here + length * step
                new, new_by_sum = self._value(there, moved)
                if new <= value + _NOISE - 1e-4 * length * fall:
                    break
                length /= 2.0
            else:
                return True  # only rounding errors remain
            value, by_sum, sums, here = new, new_by_sum, there, moved
            weights[active] = here
        return False

    def _value(self, sums: FloatArray, weights: FloatArray) -> tuple[float, FloatArray]:
        """Return the cost of active weights, and the gradients of the losses."""
        losses, by_sum = self._loss.evaluate(sums)
        mean = float(losses.mean(dtype=float))
        away = float(((weights - self._equal) ** 2).sum())
        return mean + self._pull * away + self._loss.slant * weights.sum(), by_sum

    def _curvature(self, rows: Array, sums: FloatArray) -> FloatArray:
        """Return the curvature of the loss over the active models."""
        n, loss = self._size, self._loss
        every = max(1, n // max(_ENOUGH, _ENOUGH_EACH * len(rows)))
        if every > 1:
            some = slice(None, None, every)
            rows, sums = _columns(rows, some, n), _columns(sums[None], some, n)[0]
            loss = loss.at(some)
        curvature: FloatArray = np.asarray(
            rows @ loss.slope_changes(rows, sums).T, dtype=float
        )
        curvature *= loss.width / sums.size
        # Identical models make the weights ambiguous; keep them where they are.
        stay = _RIDGE[rows.dtype.itemsize] * float(np.trace(curvature))
        curvature.flat[:: len(curvature) + 1] += 2.0 * self._pull + stay
        return (curvature + curvature.T) / 2.0


def _columns(data: Array, some: Any, n_samples: int) -> Array:
    """Return the columns of some samples."""
    few = data.reshape(len(data), n_samples, -1)[:, some]
    return np.ascontiguousarray(few).reshape(len(data), -1)


def _quadratic_minimum(curvature: FloatArray, linear: FloatArray) -> FloatArray:
    """Minimise ``x @ curvature @ x / 2 + linear @ x`` over ``x >= 0``."""
    lift = 0.0
    while True:
        try:
            root = np.linalg.cholesky(curvature + lift * np.eye(linear.size))
            break
        except np.linalg.LinAlgError:  # rounding made it indefinite
            lift = max(10.0 * lift, 1e-10 * float(np.trace(curvature)))
    return np.asarray(nnls(root.T, np.linalg.solve(root, -linear))[0])
