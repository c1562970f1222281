"""Out-of-fold probabilities in, a weight for each model out."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from numbers import Integral
from typing import Any

import numpy as np

from quorate._blending._means import FLOOR, Recipe, log_ratios
from quorate._blending._pool import (
    ProbabilityArrays,
    ProbabilityPool,
    as_prediction,
    blended,
)
from quorate._blending._weighing import WAYS, Weigher
from quorate._output import table_html
from quorate._random import as_seed
from quorate._scoring import (
    EvaluatedScore,
    Score,
    ScoreEstimate,
    check_scoring,
    shown_scoring,
    stratified_folds,
    try_out,
)
from quorate._typing import Array, FloatArray, IntArray
from quorate._votes import Votes, VoteSource
from quorate.pruning import Pruner, method_name

_OWNER = "blend"
_LARGEST_SHOWN = 10
_GEOMETRIC = (
    f"product(max(p, {FLOOR:g}) ** (sharpness * geometric_weight)), scaled to add up "
    "to 1"
)
_WORDS = {
    "mean": "the weighted mean of the probabilities",
    "geometric": "the weighted geometric mean of the probabilities, sharpened",
    "both": "the mean of a weighted mean and of a sharpened geometric mean",
}
_LINES = {
    "mean": "P = sum(weight * p)",
    "geometric": f"P = {_GEOMETRIC}",
    "both": f"P = (M + G) / 2, M = sum(mean_weight * p), G = {_GEOMETRIC}",
}


@dataclass(frozen=True, slots=True, eq=False)
class Blend:
    """Weights of models, and how good their blend is on samples it was not made on.

    Attributes
    ----------
    weights : dict from str to float
        Model -> weight; the largest first, adding up to one, without those of none. Of
        a blend of two means, the mean of its weights in both: what a model counts, and
        not enough to compute the blend. :meth:`recipe` has all it takes.
    names : list of str
        All models, in the order they were given.
    sharpness : float or None
        None if the blend is the plain weighted mean of probabilities. Otherwise there
        is a geometric mean in it, the product of powers ``sharpness * weight`` scaled
        to one: above 1 it is surer than its models.
    classes : ndarray
        The classes, sorted: the columns of :meth:`predict_proba`.
    method : str
        How the weights were found.
    scoring : str
        What the scores are.
    nested : ScoreEstimate
        Score of the blend, weights chosen on other folds.
    best_nested : ScoreEstimate
        Score of the best single model, chosen on other folds.
    mean_nested : ScoreEstimate
        Score of the plain mean of all models.
    plain_nested : ScoreEstimate or None
        Score of the plain weighted mean in a blend of two means, alone: what the method
        "simplex" gives. None for other blends, and where models were to be few.
    best_single : str
        The model that is best alone.
    """

    weights: dict[str, float]
    names: list[str]
    sharpness: float | None
    classes: Array
    method: str
    scoring: str
    nested: ScoreEstimate
    best_nested: ScoreEstimate
    mean_nested: ScoreEstimate
    plain_nested: ScoreEstimate | None
    best_single: str
    _recipe: Recipe = field(repr=False)
    _pool: ProbabilityPool = field(repr=False)

    @property
    def score(self) -> float:
        """Score of the blend, weights chosen on other folds."""
        return self.nested.score

    @property
    def standard_error(self) -> float:
        """Standard error of :attr:`score`."""
        return self.nested.standard_error

    @property
    def rule(self) -> str:
        """What the blend is: a weighted "mean", a "geometric" one, or "both"."""
        if len(self._recipe) == 2:
            return "both"
        return "mean" if self.sharpness is None else "geometric"

    @property
    def formula(self) -> str:
        """The rule in one line, by the names of the columns of :meth:`recipe`."""
        return _LINES[self.rule]

    def in_words(self) -> str:
        """Say what kind of mean it is, with its sharpness."""
        words, sharpness = _WORDS[self.rule], self.sharpness
        return words if sharpness is None else f"{words} (sharpness {sharpness:.2f})"

    def recipe(self) -> dict[str, list[Any]]:
        """Return all that is needed to compute the blend by hand, as columns.

        Models with a weight, what they weigh in each of the means, the sharpness, and
        the :attr:`formula`: ``pandas.DataFrame(blend.recipe())`` is what ``quorate
        blend -o weights.csv`` writes.
        """
        inside = [self.names.index(name) for name in self.weights]
        table: dict[str, list[Any]] = {"model": list(self.weights)}
        for mean in reversed(self._recipe):  # the plain one first, as in the formula
            kind = "geometric_weight" if mean.sharpness is not None else "mean_weight"
            title = "weight" if self.rule == "mean" else kind
            table[title] = [float(mean.weights[place]) for place in inside]
        if self.sharpness is not None:
            table["sharpness"] = [self.sharpness] * len(inside)
        table["rule"] = [self.formula] * len(inside)
        return table

    def predict_proba(self, probabilities: Any) -> FloatArray:
        """Return the blend of the models' probabilities on other samples.

        Parameters
        ----------
        probabilities : dict, 3-d array, sequence of arrays or folder
            As :func:`blend` takes them. Arrays without names stand for all models, in
            their order; of named ones only those with a weight are needed.
        """
        owner = "Blend.predict_proba"
        named = isinstance(probabilities, (Mapping, str, os.PathLike))
        arrays = ProbabilityArrays(probabilities, None if named else self.names, owner)
        missing = [name for name in self.weights if name not in arrays]
        if missing:
            raise ValueError(
                f"{owner}: {missing[0]!r} has a weight of "
                f"{self.weights[missing[0]]:.3f} and no array here."
            )
        arrays.columns = self._pool.arrays.columns
        shares = lru_cache(1)(lambda place: arrays[self.names[place]].astype(float))
        ratios = lambda place: log_ratios(shares(place))  # noqa: E731
        (blend,) = blended([(self._recipe, slice(None))], shares, ratios)
        if blend.shape[1] != self.classes.size:
            raise ValueError(
                f"{owner}: arrays of {blend.shape[1]} classes; the blend was made of "
                f"{self.classes.size}."
            )
        return blend

    def predict(self, probabilities: Any) -> Array:
        """Return the class of the largest blended probability."""
        shares = self.predict_proba(probabilities)
        return np.asarray(self.classes[shares.argmax(axis=1)])

    def votes(self) -> Votes:
        """Return the models' votes, for diversity, reports and pictures.

        They are taken for votes of cross-validation, which is what out-of-fold
        probabilities are.
        """
        votes = self._pool.votes()
        return Votes.from_codes(
            votes.codes,
            votes.y,
            votes.classes,
            names=votes.names,
            class_probabilities=votes.class_probabilities,
            decision_rule=votes.decision_rule,
            source=VoteSource.FOLDS,
            family="pool",
        )

    def rows(self) -> list[tuple[str, str, str]]:
        """Return what is compared: who, score, standard error."""
        compared = [
            (f"blend of {len(self.weights)}", self.nested),
            ("weighted mean (simplex)", self.plain_nested),
            (f"best single model ({self.best_single})", self.best_nested),
            (f"mean of all {len(self.names)}", self.mean_nested),
        ]
        return [
            (name, f"{judged.score:.4f}", f"{judged.standard_error:.4f}")
            for name, judged in compared
            if judged is not None
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain numbers and words."""
        recipe = self.recipe()
        plain = self.plain_nested
        return {
            "weights": dict(self.weights),
            "rule": self.rule,
            "formula": self.formula,
            **{
                f"{kind}_weights": dict(
                    zip(recipe["model"], recipe[f"{kind}_weight"], strict=True)
                )
                for kind in ("mean", "geometric")
                if f"{kind}_weight" in recipe
            },
            "sharpness": self.sharpness,
            "method": self.method,
            "scoring": self.scoring,
            "score": self.nested.score,
            "standard_error": self.nested.standard_error,
            "simplex_score": None if plain is None else plain.score,
            "best_single": self.best_single,
            "best_single_score": self.best_nested.score,
            "mean_score": self.mean_nested.score,
            "classes": self.classes.tolist(),
        }

    def __repr__(self) -> str:
        return (
            f"Blend({len(self.weights)} of {len(self.names)} models, {self.method}: "
            f"{self.in_words()}; {self.scoring} {self.nested.score:.4f} +- "
            f"{self.nested.standard_error:.4f}, best single model "
            f"{self.best_nested.score:.4f}, mean of all {self.mean_nested.score:.4f})"
        )

    def _repr_html_(self) -> str:
        shown = list(self.weights.items())[:_LARGEST_SHOWN]
        left = len(self.weights) - len(shown)
        more = f" and {left} more with less." if left else "."
        return table_html(
            f"Blend by {self.method}", ("", self.scoring, "+-"), self.rows()
        ) + table_html(
            "Weights",
            ("model", "weight"),
            [(name, f"{weight:.3f}") for name, weight in shown],
            f"{len(shown)} of {len(self.names)} models{more} The blend is "
            f"{self.in_words()}: {self.formula}. Scores are of weights chosen on other "
            "samples.",
        )


def blend(
    probabilities: Any,
    y: Any,
    names: Sequence[str] | None = None,
    method: str | Pruner = "auto",
    keep: int | None = None,
    scoring: Any = None,
    *,
    classes: Sequence[Any] | None = None,
    folds: int = 5,
    random_state: int | None = 0,
) -> Blend:
    """Weigh models by the probabilities they gave, without the models.

    Parameters
    ----------
    probabilities : dict, 3-d array, sequence of arrays or folder
        Out-of-fold probabilities (samples x classes) of each model, on the same samples
        in the same order: ``{name: array}``, an array of shape (n_models, n_samples,
        n_classes), a list of arrays, or a folder of ``.npy`` files or
        tables, one for each model. Data frames will do as arrays; their columns, and
        those of files, may be called as the classes are and then stand in any order.
        With two classes one column is enough, that of the second class; a series whose
        name is a class (and not that of its model, nor 0) is the column of that class.
    y : array-like of shape (n_samples,)
        The labels.
    names : sequence of str, optional
        Names for arrays that have none; of named ones, those to take, each once.
    method : str or Pruner
        "geometric": the weighted geometric mean with the smallest logarithmic loss,
        as sharp as the samples want it. "simplex": the weighted mean with the smallest
        logarithmic loss. "both": the mean of these two. "single", "mean": the best
        model, all alike. A name of :func:`quorate.methods`, such as "ges" or "brier",
        or a pruner object. "auto": "both" for the logarithmic loss, and for another
        scoring whichever does best by it on samples it has not seen.
    keep : int, optional
        At most this many models; of "mean", those that score best alone. It counts
        instead of that of a pruner object.
    scoring : str, scorer or callable, optional
        What the scores are, and what "auto" is to make large; the logarithmic loss by
        default (``"neg_log_loss"``).
    classes : sequence, optional
        What the columns stand for, where they have no names that say so and that is
        not the sorted labels in y. Labels that are numbers as text ("10" sorts before
        "9") need it where columns have no names.
    folds : int
        Folds for the scores: weights are chosen on all but one and scored on that one.
    random_state : int or None
        Seed of the folds and of the random halves that "simplex" averages over.

    Returns
    -------
    Blend
        With ``weights`` by name, scores of the blend, of the best single model and of
        the plain mean, and ``predict_proba(arrays)``.

    Notes
    -----
    Choosing and scoring on the same samples flatters, so scores are nested: all
    choices, that of the best single model too, are made anew on each set of folds.
    Arrays are read and checked one at a time; 4 bytes are kept for each model, sample
    and class, and up to twice that while weights are found. Methods of
    :mod:`quorate.pruning` see votes with probabilities, and so take more.

    Weights of "simplex" have a loss at most 1e-5 above the smallest there is, and those
    of "geometric" one that a further step would lower by no more than 1e-7: far below
    the standard error of any score.

    See Also
    --------
    prune : Choose among models that are there.

    Examples
    --------
    >>> import numpy as np
    >>> import quorate
    >>> y = np.arange(60) % 2
    >>> noise = np.random.default_rng(0).normal(size=(3, 60))
    >>> given = 1 / (1 + np.exp(-(y - 0.5) * 3 - noise))
    >>> found = quorate.blend({"a": given[0], "b": given[1], "c": given[2]}, y)
    >>> sorted(found.weights), round(sum(found.weights.values()), 6)
    (['a', 'b', 'c'], 1.0)
    >>> found.score > found.mean_nested.score
    True
    >>> found.predict(
    ...     {"a": [0.9, 0.2], "b": [0.8, 0.3], "c": [0.9, 0.1]}
    ... )
    array([1, 0])
    """
    scoring = "neg_log_loss" if scoring is None else scoring
    arrays = check_request(probabilities, names, method, keep, scoring, folds)
    pool = ProbabilityPool(arrays, y, classes, _OWNER)
    counts = np.bincount(pool.y, minlength=pool.classes.size)
    rarest = int(counts.min())
    if rarest < 2:
        raise ValueError(
            f"{_OWNER}: class {pool.classes[counts.argmin()].item()!r} has {rarest} "
            "samples; weights can be chosen and scored with two or more."
        )
    score = _score_of(pool, scoring)
    seed = as_seed(random_state, _OWNER)
    places = stratified_folds(pool.y, min(folds, rarest), seed)
    held_out: list[IntArray] = [
        np.flatnonzero(places == fold) for fold in range(places.max() + 1)
    ]
    others = [np.flatnonzero(places != fold) for fold in range(len(held_out))]
    sets: list[IntArray] = [np.arange(pool.n_samples), *others]
    weigher = Weigher(pool, method, keep, score, seed)
    recipe, *nested = weigher(sets)
    pool.refuse_swapped()  # not before: files are looked at once for both
    alone, *nested_alone = weigher.best_single(sets)
    weights = np.mean([mean.weights for mean in recipe], axis=0)
    wanted = [nested, nested_alone]
    if keep is None and all(len(each) == 2 for each in nested):
        wanted.append([each[1:] for each in nested])
    judged = _judged(pool, score, wanted, held_out)
    return Blend(
        weights={
            pool.names[place]: float(weights[place])
            for place in np.argsort(-weights, kind="stable")
            if weights[place] > 0
        },
        names=pool.names,
        sharpness=recipe[0].sharpness,
        classes=pool.classes,
        method=method if isinstance(method, str) else type(method).__name__,
        scoring=score.name,
        nested=judged[0],
        best_nested=judged[1],
        mean_nested=score.estimate_prediction(as_prediction(pool.mean, pool.y)),
        plain_nested=judged[2] if len(judged) == 3 else None,
        best_single=pool.names[int(alone[0].weights.argmax())],
        _recipe=recipe,
        _pool=pool,
    )


def _score_of(pool: ProbabilityPool, scoring: Any) -> Score:
    """Return the score that is meant, tried out if only its scorer knows it."""
    score = check_scoring(scoring, _OWNER, classes=pool.classes)
    if not isinstance(score, EvaluatedScore):
        return score
    shares = pool.arrays[pool.names[0]].astype(float)
    prediction = as_prediction(shares / shares.sum(axis=1, keepdims=True), pool.y)
    try_out(score, prediction, f"{_OWNER}(scoring={shown_scoring(scoring)})")
    return score


def _judged(
    pool: ProbabilityPool,
    score: Score,
    wanted: list[list[Recipe]],
    held_out: list[IntArray],
) -> list[ScoreEstimate]:
    """Score weights on folds that did not choose them; arrays are looked at once."""
    recipes = [recipe for nested in wanted for recipe in nested]
    parts = iter(pool.blended(recipes, held_out * len(wanted)))
    judged = []
    for _ in wanted:
        shares = np.empty((pool.n_samples, pool.classes.size))
        for rows in held_out:
            shares[rows] = next(parts)
        judged.append(score.estimate_prediction(as_prediction(shares, pool.y)))
    return judged


def check_request(
    probabilities: Any,
    names: Sequence[str] | None = None,
    method: Any = "auto",
    keep: int | None = None,
    scoring: Any = None,
    folds: int = 5,
) -> ProbabilityArrays:
    """Refuse what :func:`blend` could not do, before any array is looked at.

    Examples
    --------
    >>> from quorate._blending import check_request
    >>> check_request({"a": [0.2], "b": [0.3]}, method="jess")
    Traceback (most recent call last):
    ...
    ValueError: unknown method 'jess'; did you mean ...?
    """
    numbers: list[tuple[str, Any, int]] = [("keep", keep, 1), ("folds", folds, 2)]
    for name, value, least in numbers:
        is_whole = isinstance(value, Integral) and not isinstance(value, bool)
        if not (name == "keep" and value is None) and not (is_whole and value >= least):
            raise ValueError(
                f"{_OWNER}({name}={value!r}): a whole number of at least {least}."
            )
    check_scoring(scoring, _OWNER)
    if not isinstance(method, Pruner) and method not in WAYS:
        method_name(method)
    return ProbabilityArrays(probabilities, names, _OWNER)
