"""Compute a weight for each model from out-of-fold probabilities."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
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
from quorate._checks import check_number, one_of
from quorate._output import Result
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
from quorate._votes import Votes

_OWNER = "blend"
_LARGEST_SHOWN = 10
_GEOMETRIC = (
    f"product(max(p, {FLOOR:g}) ** (sharpness * geometric_weight)), scaled to add up "
    "to 1"
)
_FORMULAS = {
    "mean": "P = sum(weight * p)",
    "geometric": f"P = {_GEOMETRIC}",
    "both": f"P = (M + G) / 2, M = sum(mean_weight * p), G = {_GEOMETRIC}",
}


@dataclass(frozen=True, repr=False, eq=False)
class Blend(Result):
    """Weights of models, with cross-validated scores of their blend.

    Attributes
    ----------
    weights : dict from str to float
        Weight of each model with a positive weight, largest first; they sum to one. For
        a blend of two means, the average of the weights in both, which is not enough to
        compute the blend; use :meth:`recipe` for that.
    names : list of str
        All models, in the order given.
    sharpness : float or None
        None if the blend is a weighted arithmetic mean of probabilities. Otherwise the
        blend contains a geometric mean, the normalised product of the probabilities
        raised to ``sharpness * weight``; above 1, it is more confident than its models.
    classes : ndarray
        The sorted classes, which are the columns of :meth:`predict_proba`.
    method : str
        Method used to find the weights.
    scoring : str
        Name of the score.
    nested : ScoreEstimate
        Cross-validated score of the blend.
    best_nested : ScoreEstimate
        Cross-validated score of the best single model.
    mean_nested : ScoreEstimate
        Score of the unweighted mean of all models.
    best_single : str
        Name of the best single model.
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
    best_single: str
    _recipe: Recipe = field(repr=False)
    _pool: ProbabilityPool = field(repr=False)

    @property
    def score(self) -> float:
        """Cross-validated score of the blend."""
        return self.nested.score

    @property
    def standard_error(self) -> float:
        """Standard error of :attr:`score`."""
        return self.nested.standard_error

    @property
    def rule(self) -> str:
        """Kind of blend: a weighted "mean", a "geometric" mean, or "both"."""
        if len(self._recipe) == 2:
            return "both"
        return "mean" if self.sharpness is None else "geometric"

    @property
    def formula(self) -> str:
        """The rule as a formula over the columns of :meth:`recipe`."""
        return _FORMULAS[self.rule]

    def recipe(self) -> dict[str, list[Any]]:
        """Return the columns needed to compute the blend by hand.

        The columns are the models with a weight, their weight in each mean, the
        sharpness and the :attr:`formula`. ``pandas.DataFrame(blend.recipe())`` is the
        table that ``quorate blend -o weights.csv`` writes.
        """
        inside = [self.names.index(name) for name in self.weights]
        table: dict[str, list[Any]] = {"model": list(self.weights)}
        for mean in reversed(self._recipe):  # arithmetic mean first, as in the formula
            kind = "geometric_weight" if mean.sharpness is not None else "mean_weight"
            title = "weight" if self.rule == "mean" else kind
            table[title] = [float(mean.weights[place]) for place in inside]
        if self.sharpness is not None:
            table["sharpness"] = [self.sharpness] * len(inside)
        table["rule"] = [self.formula] * len(inside)
        return table

    def predict_proba(self, probabilities: Any) -> FloatArray:
        """Return blended probabilities for other samples.

        Parameters
        ----------
        probabilities : dict, 3-d array, sequence of arrays or folder
            In any form accepted by :func:`quorate.blend`. Unnamed arrays must cover all
            models, in order; of named ones, only models with a weight are needed.
        """
        owner = "Blend.predict_proba"
        named = isinstance(probabilities, (Mapping, str, os.PathLike))
        arrays = ProbabilityArrays(probabilities, None if named else self.names, owner)
        missing = [name for name in self.weights if name not in arrays.names]
        if missing:
            raise ValueError(
                f"{owner}: no array was given for {missing[0]!r}, which has a weight "
                f"of {self.weights[missing[0]]:.3f}."
            )
        arrays.columns = self._pool.arrays.columns
        shares = lru_cache(1)(lambda place: arrays[self.names[place]].astype(float))
        ratios = lambda place: log_ratios(shares(place))  # noqa: E731
        (blend,) = blended([(self._recipe, slice(None))], shares, ratios)
        if blend.shape[1] != self.classes.size:
            raise ValueError(
                f"{owner}: the arrays have {blend.shape[1]} classes, but the blend was "
                f"fitted on {self.classes.size}."
            )
        return blend

    def predict(self, probabilities: Any) -> Array:
        """Return the class with the largest blended probability."""
        shares = self.predict_proba(probabilities)
        return np.asarray(self.classes[shares.argmax(axis=1)])

    def votes(self) -> Votes:
        """Return the votes of the models, for diversity, reports and plots.

        Their source is cross-validation, because the probabilities are out-of-fold.
        """
        return self._pool.votes()

    @property
    def _title(self) -> str:  # type: ignore[override]
        return f"Blend of {len(self.weights)} of {len(self.names)} models"

    @property
    def _header(self) -> tuple[str, ...]:  # type: ignore[override]
        return "", self.scoring, "standard error"

    @property
    def note(self) -> str:  # type: ignore[override]
        """The formula and the largest weights."""
        shown = list(self.weights.items())[:_LARGEST_SHOWN]
        left = len(self.weights) - len(shown)
        weights = ", ".join(f"{name} {weight:.3f}" for name, weight in shown)
        more = f" and {left} more with smaller weights" if left else ""
        return (
            f"{self.formula}. Weights: {weights}{more}. Scores are cross-validated: "
            "the weights were chosen on other samples."
        )

    def rows(self) -> list[tuple[str, ...]]:
        """Return the compared models with score and standard error."""
        compared = [
            (f"blend ({self.method})", self.nested),
            (f"best single model ({self.best_single})", self.best_nested),
            (f"mean of all {len(self.names)}", self.mean_nested),
        ]
        return [
            (name, f"{one.score:.4f}", f"{one.standard_error:.4f}")
            for name, one in compared
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return the results in plain types, for JSON."""
        return {
            "weights": dict(self.weights),
            "rule": self.rule,
            "formula": self.formula,
            "recipe": self.recipe(),
            "sharpness": self.sharpness,
            "method": self.method,
            "scoring": self.scoring,
            "score": self.nested.score,
            "standard_error": self.nested.standard_error,
            "best_single": self.best_single,
            "best_single_score": self.best_nested.score,
            "mean_score": self.mean_nested.score,
            "classes": self.classes.tolist(),
        }


def blend(
    probabilities: Any,
    y: Any,
    names: Sequence[str] | None = None,
    method: str = "auto",
    keep: int | None = None,
    scoring: Any = None,
    *,
    classes: Sequence[Any] | None = None,
    folds: int = 5,
    random_state: int | None = 0,
) -> Blend:
    """Find blending weights from saved probabilities, without the models.

    Parameters
    ----------
    probabilities : dict, 3-d array, sequence of arrays or folder
        Out-of-fold probabilities (samples x classes) of each model, for the same
        samples in the same order: ``{name: array}``, an array of shape (n_models,
        n_samples, n_classes), a list of arrays, or a folder of ``.npy`` files or
        tables, one for each model. Data frames are accepted as arrays. Columns of data
        frames and files that are named after the classes can be in any order. With two
        classes, the column of the second class is enough.
    y : array-like of shape (n_samples,)
        True labels.
    names : sequence of str, optional
        Names of unnamed arrays; for named ones, the models to use.
    method : {"auto", "simplex", "geometric", "mean"}
        "simplex" is the weighted arithmetic mean with the smallest log-loss.
        "geometric" is the weighted geometric mean with the smallest log-loss, with its
        sharpness fitted. "mean" is the unweighted mean. "auto" is the mean of the first
        two for log-loss; for another scoring, whichever of all these and of the best
        single model has the best cross-validated score.
    keep : int, optional
        Maximum number of models; for "mean", the models with the best individual
        scores.
    scoring : str, scorer or callable, optional
        Score to report, and to maximise with "auto"; log-loss by default
        (``"neg_log_loss"``).
    classes : sequence, optional
        Classes of unnamed columns, if they are not the sorted labels in y. Required for
        unnamed columns if labels are numbers stored as text ("10" sorts before "9").
    folds : int
        Number of folds for the cross-validated scores.
    random_state : int or None
        Seed of the folds and of the random half samples that "simplex" averages over.

    Returns
    -------
    Blend
        The weights by name; scores of the blend, of the best single model and of the
        unweighted mean; and ``predict_proba(arrays)``.

    Notes
    -----
    Scores on the samples used for choosing are optimistic, so scores are nested: all
    choices, including that of the best single model, are repeated without each fold.
    Arrays are read and checked one at a time. Memory use is 4 bytes per model, sample
    and class, and up to twice that during the fit.

    The loss of "simplex" is within 1e-5 of the minimum, and a further step would lower
    that of "geometric" by at most 1e-7: far below the standard error of any score.

    See Also
    --------
    prune : Choose among the models themselves.

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
            f"{_OWNER}: choosing and scoring weights needs at least two samples per "
            f"class, and {pool.classes[counts.argmin()].item()!r} has {rarest}."
        )
    score = _score_of(pool, scoring)
    seed = as_seed(random_state, _OWNER)
    places = stratified_folds(pool.y, min(folds, rarest), seed)
    held_out: list[IntArray] = [
        np.flatnonzero(places == fold) for fold in range(places.max() + 1)
    ]
    others = [np.flatnonzero(places != fold) for fold in range(len(held_out))]
    sets: list[IntArray] = [np.arange(pool.n_samples), *others]
    pool.read(with_ratios=method in ("auto", "geometric"))
    weigher = Weigher(pool, method, keep, score, seed)
    recipe, *nested = weigher(sets)
    alone, *nested_alone = weigher.best_single(sets)
    weights = np.mean([mean.weights for mean in recipe], axis=0)
    ours, single = pool.predict_held_out([nested, nested_alone], held_out)
    return Blend(
        weights={
            pool.names[place]: float(weights[place])
            for place in np.argsort(-weights, kind="stable")
            if weights[place] > 0
        },
        names=pool.names,
        sharpness=recipe[0].sharpness,
        classes=pool.classes,
        method=method,
        scoring=score.name,
        nested=score.estimate_prediction(ours),
        best_nested=score.estimate_prediction(single),
        mean_nested=score.estimate_prediction(as_prediction(pool.mean, pool.y)),
        best_single=pool.names[int(alone[0].weights.argmax())],
        _recipe=recipe,
        _pool=pool,
    )


def _score_of(pool: ProbabilityPool, scoring: Any) -> Score:
    """Return the requested score, probing scorers whose inputs are unknown."""
    score = check_scoring(scoring, _OWNER, classes=pool.classes)
    if not isinstance(score, EvaluatedScore):
        return score
    shares = pool.arrays[pool.names[0]].astype(float)
    prediction = as_prediction(shares / shares.sum(axis=1, keepdims=True), pool.y)
    try_out(score, prediction, f"{_OWNER}(scoring={shown_scoring(scoring)})")
    return score


def check_request(
    probabilities: Any,
    names: Sequence[str] | None = None,
    method: Any = "auto",
    keep: int | None = None,
    scoring: Any = None,
    folds: int = 5,
) -> ProbabilityArrays:
    """Raise if ``blend`` cannot handle the arguments, before reading any array.

    Examples
    --------
    >>> from quorate._blending import check_request
    >>> check_request({"a": [0.2], "b": [0.3]}, method="ges")
    Traceback (most recent call last):
    ...
    ValueError: blend(method='ges'): use 'auto' or 'simplex' or 'geometric' or 'mean'.
    """
    if keep is not None:
        check_number(_OWNER, "keep", keep, least=1, whole=True)
    check_number(_OWNER, "folds", folds, least=2, whole=True)
    one_of(_OWNER, "method", method, WAYS)
    check_scoring(scoring, _OWNER)
    return ProbabilityArrays(probabilities, names, _OWNER)
