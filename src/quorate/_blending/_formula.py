"""How the probabilities of a blend follow from those of its models, in words.

Weights alone do not say it: the same weights make a plain mean or a geometric one, and
the second is as sharp as its samples want it. So what is printed or written goes with
the rule, and with every number that the rule needs.
"""

from typing import Any

import numpy as np

from quorate._blending._geometric import FLOOR
from quorate._blending._pool import Recipe
from quorate._typing import FloatArray

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


def rule_of(recipe: Recipe) -> str:
    """Return "mean", "geometric" or "both"."""
    if len(recipe) == 2:
        return "both"
    return "mean" if recipe[0].sharpness is None else "geometric"


def in_words(recipe: Recipe) -> str:
    """Say what kind of mean it is, with its sharpness."""
    words, sharpness = _WORDS[rule_of(recipe)], recipe[0].sharpness
    return words if sharpness is None else f"{words} (sharpness {sharpness:.2f})"


def formula(recipe: Recipe) -> str:
    """Return one line that computes P from p, by the names of :func:`columns`."""
    return _LINES[rule_of(recipe)]


def columns(recipe: Recipe, names: list[str]) -> dict[str, list[Any]]:
    """Return the models with a weight, and the numbers that the formula needs."""
    total: FloatArray = np.sum([mean.weights for mean in recipe], axis=0)
    inside = [place for place in np.argsort(-total, kind="stable") if total[place] > 0]
    found: dict[str, list[Any]] = {"model": [names[place] for place in inside]}
    rule = rule_of(recipe)
    for mean in reversed(recipe):  # the plain one first, as in the formula
        kind = "geometric_weight" if mean.sharpness is not None else "mean_weight"
        title = "weight" if rule == "mean" else kind
        found[title] = [float(mean.weights[place]) for place in inside]
    if rule != "mean":
        found["sharpness"] = [recipe[0].sharpness] * len(inside)
    found["rule"] = [formula(recipe)] * len(inside)
    return found
