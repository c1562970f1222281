"""Methods that compute weights from probabilities alone."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from quorate._blending._means import Recipe, WeightedMean, geometric_means, plain_means
from quorate._blending._pool import ProbabilityPool, as_prediction
from quorate._blending._solver import long_product
from quorate._scoring import Score, stratified_folds
from quorate._typing import Array, FloatArray, IntArray

# Takes sets of samples, the largest first; returns weights for each.
Weigh: TypeAlias = Callable[[list[IntArray]], list[Recipe]]

WAYS = ("auto", "simplex", "geometric", "mean")
_HALVINGS = 4
_FEW = 10_000
_INNER = 3
# Samples that are enough to choose the best of several methods.
_ENOUGH = 5_000
# Models whose logarithms are computed at once.
_AT_ONCE = 16


@dataclass(frozen=True, slots=True, eq=False)
class Weigher:
    """Computes model weights on sets of samples, the largest set first.

    Parameters
    ----------
    pool : ProbabilityPool
        The models.
    method : str
        One of :data:`WAYS`.
    keep : int or None
        Maximum number of models with a weight.
    score : Score
        Score to maximise.
    seed : int or None
        Seed of random subsets of the samples.
    """

    pool: ProbabilityPool
    method: str
    keep: int | None
    score: Score
    seed: Any

    @property
    def n_models(self) -> int:
        """Number of models."""
        return len(self.pool.names)

    def __call__(self, sets: list[IntArray]) -> list[Recipe]:
        """Return weights for each set of samples."""
        ways: dict[str, Weigh] = {
            "simplex": self._simplex,
            "geometric": self._geometric,
            "mean": self._mean,
        }
        if self.method != "auto":
            recipes = ways[self.method](sets)
        elif self.score.name == "neg_log_loss":
            recipes = self._both(sets)
        else:
            if self.keep is not None:
                del ways["mean"]
            every = [*ways.values(), self._both, self.best_single]
            recipes = self._best(every, sets)
        return [self._share_among_twins(recipe) for recipe in recipes]

    def best_single(self, sets: list[IntArray]) -> list[Recipe]:
        """Return weights of one for the best model on each set of samples."""
        best = self._scores_alone(sets).argmax(axis=0)
        return [(WeightedMean(np.eye(self.n_models)[place]),) for place in best]

    def _mean(self, sets: list[IntArray]) -> list[Recipe]:
        """Return equal weights of all models, or of the best ones on each set."""
        keep = self.n_models if self.keep is None else min(self.keep, self.n_models)
        if keep == self.n_models:
            return [(WeightedMean(np.full(keep, 1.0 / keep)),) for _ in sets]
        ranked = np.argsort(-self._scores_alone(sets), axis=0, kind="stable")
        return [
            (WeightedMean(self._spread(best[:keep], 1.0 / keep)),) for best in ranked.T
        ]

    def _spread(self, models: IntArray, weights: FloatArray | float) -> FloatArray:
        """Return weights of all models, zero except for some."""
        spread = np.zeros(self.n_models)
        spread[models] = weights
        return spread

    def _share_among_twins(self, recipe: Recipe) -> Recipe:
        """Return the same means with equal weights of identical models.

        The loss leaves these weights open. With ``keep``, as many models as have a
        weight in any of the means share it, the first of them.
        """
        twins = self.pool.twins
        used = np.any([m.weights > 0 for m in recipe], axis=0)
        earlier = np.tril(twins[:, None] == twins, -1).sum(axis=1)
        sharing = (earlier < np.bincount(twins, used)[twins]) | (self.keep is None)
        share = sharing / np.maximum(np.bincount(twins, sharing), 1)[twins]
        weights = [share * np.bincount(twins, mean.weights)[twins] for mean in recipe]
        return tuple(map(WeightedMean, weights, [mean.sharpness for mean in recipe]))

    def _scores_alone(self, sets: list[IntArray]) -> FloatArray:
        """Return the score of each model on each set of samples."""
        pool = self.pool
        if self.score.name == "neg_log_loss":
            chosen = _masks(sets, pool.n_samples).T.astype(np.float32)
            parts = np.array_split(pool.given, -(-self.n_models // _AT_ONCE))
            scores = [long_product(np.log(part), chosen) for part in parts]
            return np.asarray(np.concatenate(scores) / chosen.sum(axis=0))
        table = np.empty((self.n_models, len(sets)))
        for row, one in zip(table, np.eye(self.n_models), strict=True):
            each = pool.blended([(WeightedMean(one),)] * len(sets), sets)
            row[:] = [*map(self._value, each, sets)]
        return table

    def _value(self, shares: FloatArray, rows: IntArray) -> float:
        """Return the score of averaged probabilities on some samples."""
        prediction = as_prediction(shares, self.pool.y[rows])
        return self.score.value(self.score.inputs(prediction), prediction.y)

    def _both(self, sets: list[IntArray]) -> list[Recipe]:
        """Return the average of a geometric and an arithmetic mean.

        On few samples either one can overfit; their average is more robust.
        """
        sharp = self._geometric(sets)
        if self.keep is None:
            plain = self._simplex(sets)
        else:
            plain = [
                self._simplex_of(np.flatnonzero(recipe[0].weights), rows)
                for recipe, rows in zip(sharp, sets, strict=True)
            ]
        return [(*pair[0], *pair[1]) for pair in zip(sharp, plain, strict=True)]

    def _geometric(self, sets: list[IntArray]) -> list[Recipe]:
        """Return the weights of the geometric mean with the smallest log-loss."""
        ratios, y, keep = self.pool.ratios, self.pool.y, self.keep
        recipes: list[Recipe] = []
        needed, masks = _needed(sets, y.size)
        means = geometric_means(ratios[:, needed], y[needed], masks)
        for rows, mean in zip(sets, means, strict=True):
            stay: IntArray = np.arange(self.n_models)
            while keep is not None and stay.size > keep:
                stay = stay[_heaviest(mean.weights, stay.size, keep)]
                mean = geometric_means(ratios[np.ix_(stay, rows)], y[rows])[0]
            weights = self._spread(stay, mean.weights)
            recipes.append((WeightedMean(weights, mean.sharpness),))
        return recipes

    def _simplex(self, sets: list[IntArray]) -> list[Recipe]:
        """Return the weights of the arithmetic mean with the smallest log-loss."""
        if min(rows.size for rows in sets) > _FEW:
            needed, masks = _needed(sets, self.pool.n_samples)
            means = plain_means(self.pool.given[:, needed], masks)
            recipes: list[Recipe] = [(mean,) for mean in means]
        else:
            everybody = np.arange(self.n_models)
            recipes = [self._simplex_of(everybody, rows) for rows in sets]
        if self.keep is None:
            return recipes
        for place, rows in enumerate(sets):
            weights = recipes[place][0].weights
            while (there := int(np.count_nonzero(weights))) > self.keep:
                stay = _heaviest(weights, there, self.keep)
                recipes[place] = self._simplex_of(stay, rows)
                weights = recipes[place][0].weights
        return recipes

    def _simplex_of(self, models: IntArray, rows: IntArray) -> Recipe:
        """Return the weights of some models on some samples.

        On few samples these weights overfit, so they are averaged over random halves.
        Because the loss is convex, the averaged weights are at least as good as the
        halves are on average.
        """
        given, n = self.pool.given[np.ix_(models, rows)], rows.size
        if n > _FEW or n < 4:
            weights = plain_means(given)[0].weights
        else:
            generator = np.random.default_rng(self.seed)
            start = plain_means(given)[0].weights
            halves = [
                half
                for _ in range(_HALVINGS)
                for half in np.array_split(generator.permutation(n), 2)
            ]
            means = [plain_means(given[:, half], start=start)[0] for half in halves]
            weights = np.mean([mean.weights for mean in means], axis=0)
        return (WeightedMean(self._spread(models, weights)),)

    def _best(self, ways: list[Weigh], sets: list[IntArray]) -> list[Recipe]:
        """Return the weights of the method with the best cross-validated score."""
        best = [self._best_place(ways, rows) for rows in sets]
        recipes: dict[int, Recipe] = {}
        for place in set(best):
            places = [each for each, way in enumerate(best) if way == place]
            weighed = ways[place]([sets[each] for each in places])
            recipes.update(zip(places, weighed, strict=True))
        return [recipes[each] for each in range(len(sets))]

    def _best_place(self, ways: list[Weigh], rows: IntArray) -> int:
        pool, sample = self.pool, rows
        if rows.size > _ENOUGH:
            sample = np.random.default_rng(self.seed).choice(
                rows, _ENOUGH, replace=False
            )
            sample.sort()
        folds = stratified_folds(pool.y[sample], _INNER, self.seed)
        shares = np.empty((len(ways), sample.size, pool.classes.size))
        seen = [sample[folds != fold] for fold in range(_INNER)]
        new = [sample[folds == fold] for fold in range(_INNER)]
        for place, way in enumerate(ways):
            for fold, blend in enumerate(pool.blended(way(seen), new)):
                shares[place, folds == fold] = blend
        return int(np.argmax([self._value(each, sample) for each in shares]))


def _heaviest(weights: FloatArray, there: int, keep: int) -> IntArray:
    """Return the models left after dropping a third of the excess, at least one."""
    leaving = max(1, (there - keep) // 3)
    return np.sort(np.argsort(-weights, kind="stable")[: there - leaving])


def _masks(sets: list[IntArray], n_samples: int) -> Array:
    """Return boolean masks of the samples in each set."""
    masks = np.zeros((len(sets), n_samples), dtype=bool)
    for mask, rows in zip(masks, sets, strict=True):
        mask[rows] = True
    return masks


def _needed(sets: list[IntArray], n_samples: int) -> tuple[Any, Array]:
    """Return the samples in any set, and masks of them for each set."""
    masks = _masks(sets, n_samples)
    needed = masks.any(axis=0)
    # Using all of them needs no copy.
    return (slice(None), masks) if needed.all() else (needed, masks[:, needed])
