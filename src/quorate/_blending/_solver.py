"""Minimise a convex loss over model weights, on several sets of samples at once.

For both arithmetic and geometric means, a matrix (models x samples) is summed over the
models with non-negative weights, and each sample has a convex loss of its sum. Four
ideas make the solver fast for many models and samples:

1. Few models get a weight. Steps use the active models only; then one pass over all
   models checks their gradients. If no inactive model would help, the minimum is found.
2. A subsample has nearly the same minimum, so the search starts there.
3. A Newton step can use an approximate curvature from some of the samples. The minimum
   is determined by the gradients, which are computed from all samples.
4. Similar sets of samples (all of them, and all but one fold) have similar weights. So
   the other sets start from the solution of the first, and one matrix product gives the
   sums or the gradients of all sets.
"""

from typing import NamedTuple, Protocol

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve, solve_triangular
from scipy.optimize import nnls

from quorate._typing import Array, BoolArray, FloatArray, IntArray

_ROUNDS = 100
_STEPS = 50
_FIRST_STEPS = 2  # per round, while models are still added
_HALVINGS = 20
_JOIN = 20
# Sizes of the samples to start with if there are many.
_SOME = (5_000, 25_000)
# With this many samples, and this many per active model, one approximate curvature is
# used for all steps and sets.
_MANY, _MANY_EACH = 10_000, 20
# Samples used for it, or this many per active model if that is more.
_ENOUGH, _ENOUGH_EACH = 5_000, 100
# Up to this many numbers are computed in double precision.
_DOUBLE = 4_000_000
_COLUMNS = 8_192
_NOISE = 1e-10
_RIDGE = {8: 1e-10, 4: 3e-7}  # by itemsize
_LIFT = 1e-10
# Maximum number of exchanges of the positive set, and of exchanges without improvement
# before they are made one by one.
_TRIES, _PATIENCE = 60, 5


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
        """Return losses (sets, samples) and gradients (sets, samples * width)."""

    def slope_changes(self, rows: Array, sums: FloatArray) -> FloatArray:
        """Return the change of the gradients for each row of changes of the sums."""

    def at(self, samples: slice) -> "Loss":
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


def minimise(
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
        Samples in each set. The first set must be the largest.
    start : array of shape (n_models,)
        Initial weights.
    tolerance : Tolerance
        Stopping tolerances.
    """
    n_samples = sets.shape[1]
    loosely = Tolerance(10 * tolerance.fall, 10 * tolerance.slope)
    for count in _SOME:
        if n_samples < 2 * count:
            break
        every = slice(None, None, n_samples // count)
        few = _columns(data, every, n_samples)
        search = _Search(few, loss.at(every))
        start = search.minimise(sets[:1, every], start[None], loosely)[0]
    search = _Search(data, loss)
    first = search.minimise(sets[:1], start[None], tolerance)
    if len(sets) == 1:
        return first
    others = search.minimise(
        sets[1:], np.repeat(first, len(sets) - 1, axis=0), tolerance
    )
    return np.concatenate([first, others])


def long_product(data: Array, columns: Array) -> FloatArray:
    """Return ``data @ columns``, accumulated in double precision.

    In single precision, rounding errors would accumulate over many samples.
    """
    product = np.zeros((len(data), columns.shape[1]))
    for begin in range(0, len(columns), _COLUMNS):
        block = slice(begin, begin + _COLUMNS)
        product += data[:, block] @ columns[block]
    return product


class _Search:
    """The active models and their current weights."""

    def __init__(self, data: Array, loss: Loss) -> None:
        self._data, self._loss = data, loss
        dtype = np.dtype(float) if data.size <= _DOUBLE else data.dtype
        # Allocated for all models; pages that are never written use no memory.
        self._room = np.empty(data.shape, dtype=dtype)
        self._inside: IntArray = np.empty(0, dtype=np.intp)
        self._rough: _RoughCurvature | None = None

    def minimise(
        self, sets: Array, start: FloatArray, tolerance: Tolerance
    ) -> FloatArray:
        """Return the optimal weights on each set."""
        task = _Task(self._loss, sets, len(self._data), self._room.dtype)
        self._begin(np.flatnonzero((start > 0).any(axis=0)))
        weights, n_steps = start[:, self._inside], _FIRST_STEPS
        for _ in range(_ROUNDS):
            weights, sums, settled = self._settle(task, weights, n_steps, tolerance)
            slopes = task.slopes(self._data, self._loss.evaluate(sums)[1])
            slopes -= 2.0 * task.pulls[:, None] * task.equal
            slopes[:, self._inside] = np.inf
            steepest = slopes.min(axis=0)
            outside = np.flatnonzero(steepest < -tolerance.slope)
            if not outside.size and (settled or n_steps == _STEPS):
                break
            n_steps = _FIRST_STEPS if outside.size else _STEPS
            join = outside[np.argsort(steepest[outside], kind="stable")]
            join = join[: max(_JOIN, self._inside.size)]
            self._join(join)
            weights = np.pad(weights, ((0, 0), (0, join.size)))
        every = np.zeros((len(sets), len(self._data)))
        every[:, self._inside] = weights
        return every

    def _begin(self, models: IntArray) -> None:
        """Deactivate models that are not among these, and activate the others."""
        stay = np.flatnonzero(np.isin(self._inside, models))
        for place, before in enumerate(stay):
            if place < before:
                self._room[place] = self._room[before]
        self._inside = self._inside[stay]
        if self._rough is not None:
            self._rough.keep(stay)
        self._join(models[~np.isin(models, self._inside)])

    def _join(self, models: IntArray) -> None:
        for place, model in enumerate(models, start=self._inside.size):
            self._room[place] = self._data[model]
        self._inside = np.concatenate([self._inside, models])

    def _settle(
        self, task: "_Task", weights: FloatArray, n_steps: int, tolerance: Tolerance
    ) -> tuple[FloatArray, FloatArray, bool]:
        """Return improved weights, their sums, and whether they are optimal."""
        rows = self._room[: self._inside.size]
        weights, sums = weights.copy(), weights.astype(rows.dtype) @ rows
        if not len(rows):
            return weights, sums, True
        going: IntArray = np.arange(len(weights))
        for _ in range(n_steps):
            here = weights[going]
            losses, slopes = self._loss.evaluate(sums[going])
            values = task.values(losses, here, going)
            gradient = task.slopes(rows, slopes, going)
            gradient += 2.0 * task.pulls[going, None] * (here - task.equal)
            steps = np.empty_like(here)
            for place, which in enumerate(going):
                curvature = self._curvature(task, which, sums[which])
                bottom = gradient[place] - curvature @ here[place]
                steps[place] = quadratic_minimum(curvature, bottom, here[place] > 0)
            steps -= here
            falls = -(gradient * steps).sum(axis=1)
            more = falls > 2.0 * tolerance.fall
            more |= gradient.min(axis=1) < -tolerance.slope
            going, here, steps = going[more], here[more], steps[more]
            if not going.size:
                break
            moves = steps.astype(rows.dtype) @ rows
            least = values[more] + _NOISE
            length = np.ones((going.size, 1), dtype=rows.dtype)
            for _ in range(_HALVINGS):
                moved, there = here + length * steps, sums[going] + length * moves
                new = task.values(self._loss.evaluate(there)[0], moved, going)
                fine = new <= least - 1e-4 * length[:, 0] * falls[more]
                if fine.all():
                    break
                length[~fine] /= 2.0
            # If no step improves the loss, only rounding errors remain.
            going = going[fine]
            weights[going], sums[going] = moved[fine], there[fine]
        return weights, sums, not going.size

    def _curvature(self, task: "_Task", which: int, sums: FloatArray) -> FloatArray:
        """Return the curvature of the loss of one set over the active models."""
        rows, loss = self._room[: self._inside.size], self._loss
        n_samples = task.sets.shape[1]
        if self._rough is None and n_samples >= max(_MANY, _MANY_EACH * len(rows)):
            every = max(1, n_samples // max(_ENOUGH, _ENOUGH_EACH * len(rows)))
            self._rough = _RoughCurvature(loss, sums, n_samples, every)
        if self._rough is not None:
            curvature = self._rough.for_models(rows)
        else:
            chosen = np.repeat(task.sets[which], loss.width)
            bent = loss.slope_changes(rows, sums) * chosen
            curvature = np.asarray(rows @ bent.T, dtype=float) / task.sizes[which]
        # Identical models make the weights ambiguous; keep them where they are.
        stay = _RIDGE[rows.dtype.itemsize] * float(np.trace(curvature))
        curvature[np.diag_indices_from(curvature)] += 2.0 * task.pulls[which] + stay
        return curvature


class _Task:
    """Sets of samples, and the cost of weights on each of them."""

    def __init__(
        self, loss: Loss, sets: Array, n_models: int, dtype: np.dtype[np.floating]
    ) -> None:
        self._loss = loss
        self.sets = sets.astype(dtype)
        self.sizes = sets.sum(axis=1, dtype=float)
        self.pulls = loss.pull / self.sizes
        self.equal = 1.0 / n_models

    def values(
        self, losses: FloatArray, weights: FloatArray, which: IntArray
    ) -> FloatArray:
        """Return the cost of weights on some of the sets."""
        total = (losses * self.sets[which]).sum(axis=1, dtype=float)
        away = ((weights - self.equal) ** 2).sum(axis=1)
        values = total / self.sizes[which] + self.pulls[which] * away
        return np.asarray(values + self._loss.slant * weights.sum(axis=1))

    def slopes(
        self, data: Array, slopes: FloatArray, which: IntArray | slice = slice(None)
    ) -> FloatArray:
        """Return the gradient of the mean loss over the weights, without the pull."""
        sets = np.repeat(self.sets[which], self._loss.width, axis=1)
        columns = np.ascontiguousarray((slopes * sets).T, dtype=data.dtype)
        rises = long_product(data, columns).T / self.sizes[which, None]
        return np.asarray(rises + self._loss.slant)


class _RoughCurvature:
    """The curvature at one point from some of the samples; models can be added."""

    def __init__(
        self, loss: Loss, sums: FloatArray, n_samples: int, every: int
    ) -> None:
        self._some, self._n_samples = slice(None, None, every), n_samples
        self._loss = loss.at(self._some)
        self._sums = _columns(sums[None], self._some, n_samples)[0]
        self._rows = np.empty((0, self._sums.size), dtype=sums.dtype)
        self._found = np.empty((0, 0))

    def keep(self, stay: IntArray) -> None:
        """Drop the other models."""
        self._rows, self._found = self._rows[stay], self._found[np.ix_(stay, stay)]

    def for_models(self, rows: Array) -> FloatArray:
        """Return the curvature of these models; the known ones must come first."""
        old = len(self._found)
        if len(rows) > old:
            new = _columns(rows[old:], self._some, self._n_samples)
            bent = self._loss.slope_changes(new, self._sums).T
            self._rows = np.concatenate([self._rows, new])
            cross = np.asarray(self._rows @ bent, dtype=float)
            cross /= self._sums.size / self._loss.width
            cross[old:] = (cross[old:] + cross[old:].T) / 2.0
            self._found = np.block([[self._found, cross[:old]], [cross.T]])
        return self._found.copy()


def _columns(data: Array, some: slice, n_samples: int) -> Array:
    """Return the columns of some samples."""
    few = data.reshape(len(data), n_samples, -1)[:, some]
    return np.ascontiguousarray(few).reshape(len(data), -1)


def quadratic_minimum(
    curvature: FloatArray, linear: FloatArray, positive: BoolArray
) -> FloatArray:
    """Minimise ``x @ curvature @ x / 2 + linear @ x`` over ``x >= 0``.

    Given the set of positive x, they solve a linear system. Starting from a guess,
    negative solutions become zero and zeros with a negative gradient become positive,
    all at once, and the system is solved again. A few exchanges are usually enough. If
    they do not converge, slower non-negative least squares is used, which always
    terminates.

    Parameters
    ----------
    curvature : array of shape (n, n)
        Symmetric and positive definite.
    linear : array of shape (n,)
        Gradient at zero.
    positive : bool array of shape (n,)
        Initial guess of the positive x. A better guess needs fewer steps.
    """
    slack = 1e-12 * float(np.abs(linear).max())
    inside, fewest, patience = positive.copy(), linear.size + 1, _PATIENCE
    for _ in range(_TRIES):
        x = np.zeros(linear.size)
        if inside.any():
            try:
                factor = cho_factor(
                    curvature[np.ix_(inside, inside)], check_finite=False
                )
            except LinAlgError:
                break
            x[inside] = cho_solve(factor, -linear[inside], check_finite=False)
        wrong = np.where(inside, x < 0.0, curvature @ x + linear < -slack)
        count = int(wrong.sum())
        if not count:
            return x
        if count < fewest:
            fewest, patience = count, _PATIENCE
        elif patience:
            patience -= 1
        else:
            wrong[: np.flatnonzero(wrong)[-1]] = False
        inside ^= wrong
    lift = max(0.0, -float(np.linalg.eigvalsh(curvature)[0]))
    lift += _LIFT * float(np.trace(curvature))
    lower = np.linalg.cholesky(curvature + lift * np.eye(linear.size))
    x, _ = nnls(lower.T, solve_triangular(lower, -linear, lower=True))
    return np.asarray(x)
