"""Ways to weigh models by their probabilities alone."""

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from quorate._blending._descent import long_product
from quorate._blending._geometric import geometric_means, geometric_weights
from quorate._blending._mixture import mixture_weights, mixtures
from quorate._blending._pool import ProbabilityPool, Recipe, Weighed, as_prediction
from quorate._scoring import Score
from quorate._typing import Array, FloatArray, IntArray
from quorate.pruning import Pruner, SimplexWeights, make_pruner

# Takes sets of samples to look at, the largest first; returns weights for each.
Weigh: TypeAlias = Callable[[list[IntArray]], list[Recipe]]

WAYS = ("auto", "both", "geometric", "simplex", "single", "mean")
_HALVES = 20
_FEW = 10_000
_INNER = 3
# Samples that are enough to tell which of several ways is best.
_ENOUGH = 5_000
# Models of which logarithms are taken at once.
_AT_ONCE = 16


def weigher(
    pool: ProbabilityPool, method: Any, keep: int | None, score: Score, seed: Any
) -> Weigh:
    """Return the function that weighs models by a method."""
    brier = SimplexWeights(len(pool.names), "brier", smoothing=0.0)
    ways: dict[str, Weigh] = {
        "geometric": lambda sets: _geometric(pool, sets, keep),
        "simplex": lambda sets: _mixture(pool, sets, keep, seed),
        "single": lambda sets: best_single(pool, score, sets),
        "mean": lambda sets: _plain_mean(pool, score, sets, keep),
        "both": lambda sets: _both(pool, sets, keep, seed),
    }
    if not isinstance(method, str) or method not in WAYS:
        return lambda sets: _by_pruner(pool, method, keep, sets)
    if method != "auto":
        return ways[method]
    if score.name == "neg_log_loss":
        return ways["both"]
    if keep is not None:
        del ways["mean"]
    ways["brier"] = lambda sets: _by_pruner(pool, brier, keep, sets)
    return lambda sets: _best_way(pool, list(ways.values()), score, sets, seed)


def best_single(
    pool: ProbabilityPool, score: Score, sets: list[IntArray]
) -> list[Recipe]:
    """Return all weight on the model that scores best on each set of samples."""
    ones = np.eye(len(pool.names))
    best = _scores_alone(pool, score, sets).argmax(axis=0)
    return [(Weighed(ones[place]),) for place in best]


def _plain_mean(
    pool: ProbabilityPool, score: Score, sets: list[IntArray], keep: int | None
) -> list[Recipe]:
    """Return equal weights, of all models or of the best on each set of samples."""
    n_models = len(pool.names)
    if keep is None or keep >= n_models:
        return [(Weighed(np.full(n_models, 1.0 / n_models)),) for _ in sets]
    recipes: list[Recipe] = []
    for scores in _scores_alone(pool, score, sets).T:
        weights = np.zeros(n_models)
        weights[np.argsort(-scores, kind="stable")[:keep]] = 1.0 / keep
        recipes.append((Weighed(weights),))
    return recipes


def _scores_alone(
    pool: ProbabilityPool, score: Score, sets: list[IntArray]
) -> FloatArray:
    """Return the score of each model on each set of samples."""
    ones = np.eye(len(pool.names))
    if score.name == "neg_log_loss":
        chosen = _masks(sets, pool.n_samples).T.astype(np.float32)
        parts = np.array_split(pool.given, -(-len(ones) // _AT_ONCE))
        scores = np.concatenate([long_product(np.log(part), chosen) for part in parts])
        return np.asarray(scores / chosen.sum(axis=0))
    return np.array(
        [
            [score_of(pool, score, (Weighed(one),), rows) for rows in sets]
            for one in ones
        ]
    )


def score_of(
    pool: ProbabilityPool, score: Score, recipe: Recipe, rows: IntArray
) -> float:
    """Return the score of what models say together on some samples."""
    said = as_prediction(pool.blended([recipe], [rows])[0], pool.y[rows])
    return score.value(score.inputs(said), said.y)


def folds_of(y: IntArray, n_folds: int, seed: Any) -> IntArray:
    """Return the fold of each sample; every class is spread over all folds."""
    mixed = np.random.default_rng(seed).permutation(y.size)
    by_class = mixed[np.argsort(y[mixed], kind="stable")]
    folds = np.empty(y.size, dtype=np.intp)
    folds[by_class] = np.arange(y.size) % n_folds
    return folds


def _masks(sets: list[IntArray], n_samples: int) -> Array:
    """Return which of all samples are in each set."""
    found = np.zeros((len(sets), n_samples), dtype=bool)
    for mask, rows in zip(found, sets, strict=True):
        mask[rows] = True
    return found


def _needed(
    data: Array, y: IntArray, sets: list[IntArray]
) -> tuple[Array, IntArray, Array]:
    """Return the samples that are in some set, their classes, and who is where."""
    masks = _masks(sets, y.size)
    needed = masks.any(axis=0)
    if needed.all():
        return data, y, masks
    return data[:, needed], y[needed], masks[:, needed]


def _both(
    pool: ProbabilityPool, sets: list[IntArray], keep: int | None, seed: Any
) -> list[Recipe]:
    """Return the mean of a geometric and of a plain weighted mean.

    Where samples are few either may be led astray; their mean hardly is.
    """
    sharp = _geometric(pool, sets, keep)
    if keep is None:
        plain = _mixture(pool, sets, keep, seed)
    else:
        plain = [
            _mixture_of(pool, np.flatnonzero(recipe[0].weights), rows, seed)
            for recipe, rows in zip(sharp, sets, strict=True)
        ]
    return [(*pair[0], *pair[1]) for pair in zip(sharp, plain, strict=True)]


def _geometric(
    pool: ProbabilityPool, sets: list[IntArray], keep: int | None
) -> list[Recipe]:
    """Return the weights of the geometric mean of the smallest logarithmic loss."""
    means = geometric_means(*_needed(pool.ratios, pool.y, sets))
    recipes: list[Recipe] = []
    for rows, found in zip(sets, means, strict=True):
        stay: IntArray = np.arange(len(pool.names))
        while keep is not None and stay.size > keep:
            leaving = max(1, (stay.size - keep) // 3)
            best = np.argsort(-found.weights, kind="stable")[: stay.size - leaving]
            stay = stay[np.sort(best)]
            found = geometric_weights(pool.ratios[np.ix_(stay, rows)], pool.y[rows])
        weights = np.zeros(len(pool.names))
        weights[stay] = found.weights
        recipes.append((Weighed(weights, found.sharpness),))
    return recipes


def _mixture(
    pool: ProbabilityPool, sets: list[IntArray], keep: int | None, seed: Any
) -> list[Recipe]:
    """Return the weights of the mean of the smallest logarithmic loss.

    On few samples these weights follow chance, so they are averaged over random
    halves: the loss is convex, so the mean is at least as good as one of them on
    average.
    """
    everyone: IntArray = np.arange(len(pool.names))
    if min(rows.size for rows in sets) > _FEW:
        given, _, masks = _needed(pool.given, pool.y, sets)
        found: list[Recipe] = [(Weighed(each),) for each in mixtures(given, masks)]
    else:
        found = [_mixture_of(pool, everyone, rows, seed) for rows in sets]
    if keep is None:
        return found
    recipes: list[Recipe] = []
    for recipe, rows in zip(found, sets, strict=True):
        weights = recipe[0].weights
        while np.count_nonzero(weights) > keep:
            # Those of little weight leave, a third of those too many at a time.
            there = int(np.count_nonzero(weights))
            leaving = max(1, (there - keep) // 3)
            stay = np.argsort(-weights, kind="stable")[: there - leaving]
            recipe = _mixture_of(pool, np.sort(stay), rows, seed)
            weights = recipe[0].weights
        recipes.append(recipe)
    return recipes


def _mixture_of(
    pool: ProbabilityPool, stay: IntArray, rows: IntArray, seed: Any
) -> Recipe:
    """Return the weights of some models, found on some samples."""
    weights = np.zeros(len(pool.names))
    weights[stay] = _averaged(pool.given[np.ix_(stay, rows)], seed)
    return (Weighed(weights),)


def _averaged(given: Array, seed: Any) -> FloatArray:
    n = given.shape[1]
    if n > _FEW or n < 4:
        return mixture_weights(given)
    generator = np.random.default_rng(seed)
    halves = [generator.permutation(n)[: n // 2] for _ in range(_HALVES)]
    found = mixtures(given, _masks([np.arange(n), *halves], n))
    return np.asarray(found[1:].mean(axis=0))


def _by_pruner(
    pool: ProbabilityPool, method: Any, keep: int | None, sets: list[IntArray]
) -> list[Recipe]:
    """Return the weights, or the equal shares, that a pruning method gives."""
    size = {} if keep is None else {"keep": min(keep, len(pool.names))}
    if not isinstance(method, Pruner):
        size.setdefault("keep", len(pool.names))
    recipes: list[Recipe] = []
    for rows in sets:
        pruner = make_pruner(method, **size)
        pruner.fit(pool.votes(rows))
        found = getattr(pruner, "weights_", None)
        weights = pruner.support_.astype(float) if found is None else np.asarray(found)
        recipes.append((Weighed(weights / weights.sum()),))
    return recipes


def _best_way(
    pool: ProbabilityPool,
    ways: list[Weigh],
    score: Score,
    sets: list[IntArray],
    seed: Any,
) -> list[Recipe]:
    """Return the weights of the way that does best on samples it has not seen."""
    best = [_best_place(pool, ways, score, rows, seed) for rows in sets]
    recipes: dict[int, Recipe] = {}
    for place in set(best):
        places = [each for each, way in enumerate(best) if way == place]
        found = ways[place]([sets[each] for each in places])
        recipes.update(zip(places, found, strict=True))
    return [recipes[each] for each in range(len(sets))]


def _best_place(
    pool: ProbabilityPool, ways: list[Weigh], score: Score, rows: IntArray, seed: Any
) -> int:
    some = rows
    if rows.size > _ENOUGH:
        some = np.random.default_rng(seed).choice(rows, _ENOUGH, replace=False)
        some.sort()
    folds = folds_of(pool.y[some], _INNER, seed)
    shares = np.empty((len(ways), some.size, pool.classes.size))
    seen = [some[folds != fold] for fold in range(_INNER)]
    new = [some[folds == fold] for fold in range(_INNER)]
    for place, way in enumerate(ways):
        for fold, found in enumerate(pool.blended(way(seen), new)):
            shares[place, folds == fold] = found
    y = pool.y[some]
    scores = [score.value(score.inputs(as_prediction(s, y)), y) for s in shares]
    return int(np.argmax(scores))
