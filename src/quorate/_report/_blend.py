"""What a page about a blend says of its weights, and of what they bring."""

from dataclasses import dataclass
from typing import Any

from quorate._blending import Blend
from quorate._report._sections import ScoreValue
from quorate._report._text import count, number
from quorate._scoring import ScoreEstimate

# A difference below this many standard errors is not told apart from chance.
CLEAR = 2.0


@dataclass(frozen=True, slots=True)
class BlendSection:
    """The weights of a blend, and how good it is beside its models."""

    weights: dict[str, float]
    n_weighted: int
    scoring: str
    method: str
    rule: str
    words: str
    formula: str
    recipe: dict[str, Any]
    best_single: str
    blend: ScoreValue
    single: ScoreValue
    mean: ScoreValue
    simplex: ScoreValue | None
    behind_single: ScoreValue


def blend_section(blend: Blend) -> BlendSection:
    """Return the weights of a blend, and how good it is beside its models."""
    plain = blend.plain_nested
    return BlendSection(
        weights={name: blend.weights.get(name, 0.0) for name in blend.names},
        n_weighted=len(blend.weights),
        scoring=blend.scoring,
        method=blend.method,
        rule=blend.rule,
        words=blend.in_words(),
        formula=blend.formula,
        recipe=blend.recipe(),
        best_single=blend.best_single,
        blend=_score(blend.nested),
        single=_score(blend.best_nested),
        mean=_score(blend.mean_nested),
        simplex=None if plain is None else _score(plain),
        behind_single=ScoreValue(*blend.nested.behind(blend.best_nested)),
    )


def _score(estimate: ScoreEstimate) -> ScoreValue:
    return ScoreValue(estimate.score, estimate.standard_error)


def blend_advice(blend: BlendSection) -> tuple[str, str]:
    """Say whether to use the blend, or one of its models, and why."""
    name, n_weighted = blend.best_single, count(blend.n_weighted)
    if blend.n_weighted == 1:
        return (
            f"Use {name} alone: no other model has a weight.",
            f"By {blend.method}, mixing in others does not help.",
        )
    ours, single = number(blend.blend.value), number(blend.single.value)
    scores = (
        f"Its {blend.scoring} is {{}}, and {{}} for {{}}, on samples that chose "
        "neither weights nor model; the larger, the better."
    )
    behind = blend.behind_single.value
    clearly = CLEAR * blend.behind_single.standard_error
    if behind > clearly:
        return (
            f"Ask whether you need the blend: {name} alone is better.",
            scores.format(single, ours, "the blend"),
        )
    if behind >= -clearly:
        return (
            f"Choose between the blend of {n_weighted} and {name} alone: they are "
            "about as good.",
            "The blend needs more models. " + scores.format(single, ours, "the blend"),
        )
    why = scores.format(ours, single, f"{name} alone")
    if blend.rule == "mean":
        use = (
            f"Use the blend of {n_weighted}, with the weights in the table of members."
        )
        return use, why
    simplex = ""
    if blend.simplex is not None:
        simplex = f", with a {blend.scoring} of {number(blend.simplex.value)}"
    return (
        f"Use the blend of {n_weighted}, by Blend.predict_proba or quorate blend "
        "--test FOLDER.",
        f"{why} It is {blend.words}; a plain mean with the weights in the table of "
        "members is something else. The method simplex finds weights for one"
        f"{simplex}.",
    )
