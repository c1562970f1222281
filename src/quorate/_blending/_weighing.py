"""Ways to weigh models by their probabilities alone."""

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from quorate._blending._geometric import geometric_weights
from quorate._blending._mixture import mixture_weights
from quorate._blending._pool import ProbabilityPool, Recipe, Weighed, as_outcome
from quorate._scoring import Score
from quorate._typing import Array, FloatArray, IntArray
from quorate.pruning import Pruner, SimplexWeights, make_pruner

# Takes the samples to look at; returns a weight for each model.
Weigh: TypeAlias = Callable[[IntArray], Recipe]

WAYS = ("auto", "both", "geometric", "simplex", "single", "mean")
_HALVES = 20
_FEW = 10_000
_INNER = 3
# Samples that are enough to tell which of several ways is best.
_ENOUGH = 5_000


def weigher(
    pool: ProbabilityPool, method: Any, keep: int | None, score: Score, seed: Any
) -> Weigh:
    """Return the function that weighs models by a method."""
    n_models = len(pool.names)
    brier = SimplexWeights(n_models if keep is None else keep, "brier", smoothing=0.0)
    ways: dict[str, Weigh] = {
        "geometric": lambda rows: _geometric(pool, rows, keep),
        "simplex": lambda rows: _mixture(pool, rows, keep, seed),
        "single": lambda rows: best_single(pool, score, rows),
        "mean": lambda rows: (Weighed(np.full(n_models, 1.0 / n_models)),),
        "both": lambda rows: _both(pool, rows, keep, seed),
    }
    if not isinstance(method, str) or method not in WAYS:
        return lambda rows: _by_pruner(pool, method, keep, rows)
    if method != "auto":
        return ways[method]
    if score.name == "neg_log_loss":
        return ways["both"]
    if keep is not None:
        del ways["mean"]
    ways["brier"] = lambda rows: _by_pruner(pool, brier, keep, rows)
    return lambda rows: _best_way(pool, list(ways.values()), score, rows, seed)


def best_single(pool: ProbabilityPool, score: Score, rows: IntArray) -> Recipe:
    """Return all weight on the model that scores best on some samples."""
    if score.name == "neg_log_loss":
        scores = np.array([np.log(given).mean() for given in pool.given[:, rows]])
    else:
        ones = map(Weighed, np.eye(len(pool.names)))
        scores = np.array([score_of(pool, score, (one,), rows) for one in ones])
    found = np.zeros(len(pool.names))
    found[int(scores.argmax())] = 1.0
    return (Weighed(found),)


def score_of(
    pool: ProbabilityPool, score: Score, recipe: Recipe, rows: IntArray
) -> float:
    """Return the score of what models say together on some samples."""
    outcome = as_outcome(pool.blended(recipe, rows))
    return score.value(score.take(outcome, pool.y[rows]), pool.y[rows])


def folds_of(y: IntArray, n_folds: int, seed: Any) -> IntArray:
    """Return the fold of each sample; every class is spread over all folds."""
    mixed = np.random.default_rng(seed).permutation(y.size)
    by_class = mixed[np.argsort(y[mixed], kind="stable")]
    folds = np.empty(y.size, dtype=np.intp)
    folds[by_class] = np.arange(y.size) % n_folds
    return folds


def _both(pool: ProbabilityPool, rows: IntArray, keep: int | None, seed: Any) -> Recipe:
    """Return the mean of a geometric and of a plain weighted mean.

    Where samples are few either may be led astray; their mean hardly is.
    """
    sharp = _geometric(pool, rows, keep)
    stay = None if keep is None else np.flatnonzero(sharp[0].weights)
    return (*sharp, *_mixture(pool, rows, keep, seed, stay))


def _geometric(pool: ProbabilityPool, rows: IntArray, keep: int | None) -> Recipe:
    """Return the weights of the geometric mean of the smallest logarithmic loss."""
    y = pool.y[rows]
    stay: IntArray = np.arange(len(pool.names))
    found = geometric_weights(pool.ratios[:, rows], y)
    while keep is not None and stay.size > keep:
        leaving = max(1, (stay.size - keep) // 3)
        best = np.argsort(-found.weights, kind="stable")[: stay.size - leaving]
        stay = stay[np.sort(best)]
        found = geometric_weights(pool.ratios[np.ix_(stay, rows)], y)
    weights = np.zeros(len(pool.names))
    weights[stay] = found.weights
    return (Weighed(weights, found.sharpness),)


def _mixture(
    pool: ProbabilityPool,
    rows: IntArray,
    keep: int | None,
    seed: Any,
    stay: IntArray | None = None,
) -> Recipe:
    """Return the weights of the mean of the smallest logarithmic loss.

    On few samples these weights follow chance, so they are averaged over random
    halves: the loss is convex, so the mean is at least as good as one of them on
    average.
    """
    given = pool.given[:, rows]
    if stay is not None:
        weights = np.zeros(len(given))
        weights[stay] = _averaged(given[stay], seed)
        return (Weighed(weights),)
    weights = _averaged(given, seed)
    while keep is not None and np.count_nonzero(weights) > keep:
        # Those of little weight leave, a third of those too many at a time.
        there = int(np.count_nonzero(weights))
        leaving = max(1, (there - keep) // 3)
        stay = np.argsort(-weights, kind="stable")[: there - leaving]
        stay.sort()
        weights = np.zeros(len(given))
        weights[stay] = _averaged(given[stay], seed)
    return (Weighed(weights),)


def _averaged(given: Array, seed: Any) -> FloatArray:
    n = given.shape[1]
    whole = mixture_weights(given)
    if n > _FEW or n < 4:
        return whole
    generator = np.random.default_rng(seed)
    total = np.zeros(len(given))
    for _ in range(_HALVES):
        half = np.sort(generator.permutation(n)[: n // 2])
        total += mixture_weights(given[:, half], start=whole)
    return total / _HALVES


def _by_pruner(
    pool: ProbabilityPool, method: Any, keep: int | None, rows: IntArray
) -> Recipe:
    """Return the weights, or the equal shares, that a pruning method gives."""
    if isinstance(method, Pruner):
        pruner = make_pruner(method)
    else:
        pruner = make_pruner(method, keep=len(pool.names) if keep is None else keep)
    pruner.fit(pool.votes(rows))
    found = getattr(pruner, "weights_", None)
    weights = pruner.support_.astype(float) if found is None else np.asarray(found)
    return (Weighed(weights / weights.sum()),)


def _best_way(
    pool: ProbabilityPool, ways: list[Weigh], score: Score, rows: IntArray, seed: Any
) -> Recipe:
    """Return the weights of the way that does best on samples it has not seen."""
    some = rows
    if rows.size > _ENOUGH:
        some = np.random.default_rng(seed).choice(rows, _ENOUGH, replace=False)
        some.sort()
    folds = folds_of(pool.y[some], _INNER, seed)
    shares = np.empty((len(ways), some.size, pool.classes.size))
    for fold in range(_INNER):
        seen, new = some[folds != fold], some[folds == fold]
        for place, way in enumerate(ways):
            shares[place, folds == fold] = pool.blended(way(seen), new)
    y = pool.y[some]
    scores = [score.value(score.take(as_outcome(each), y), y) for each in shares]
    return ways[int(np.argmax(scores))](rows)
