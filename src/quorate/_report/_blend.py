"""What a page about a blend says of its weights, and of what they bring."""

from typing import Any

from quorate._blending import Blend
from quorate._report._format import count, number
from quorate._scoring import ScoreEstimate

# A difference below this many standard errors is not told apart from chance.
_CLEAR = 2.0


def blend_facts(blend: Blend) -> dict[str, Any]:
    """Return the weights of a blend, and how good it is beside its models."""
    apart, doubt = blend.nested.behind(blend.best_nested)
    return {
        "weights": {name: blend.weights.get(name, 0.0) for name in blend.names},
        "n_weighted": len(blend.weights),
        "scoring": blend.scoring,
        "method": blend.method,
        "rule": blend.rule,
        "words": blend.in_words(),
        "formula": blend.formula,
        "recipe": blend.recipe(),
        "best_single": blend.best_single,
        "blend": _score(blend.nested),
        "single": _score(blend.best_nested),
        "mean": _score(blend.mean_nested),
        "simplex": None if blend.plain_nested is None else _score(blend.plain_nested),
        "behind_single": {"value": apart, "standard_error": doubt},
    }


def _score(judged: ScoreEstimate) -> dict[str, float]:
    return {"value": judged.score, "standard_error": judged.standard_error}


def blend_rows(facts: dict[str, Any]) -> list[tuple[str, str]]:
    """Return the scores of a blend, as names and values."""
    called = {
        "blend": f"blend of {count(facts['n_weighted'])}",
        "simplex": "weighted mean (simplex)",
        "single": f"best single model ({facts['best_single']})",
        "mean": f"mean of all {count(len(facts['weights']))}",
    }
    scores = [
        (
            f"{facts['scoring']}, {name}",
            f"{number(facts[which]['value'])} ± "
            f"{number(facts[which]['standard_error'])}",
        )
        for which, name in called.items()
        if facts[which] is not None
    ]
    return [*scores, ("the blend is", f"{facts['words']}: {facts['formula']}")]


def blend_lead(facts: dict[str, Any]) -> str:
    """Say in a sentence how good the blend is beside its models."""
    of = count(facts["n_weighted"])
    if facts["n_weighted"] == len(facts["weights"]):
        of = f"all {of}"
    return (
        f"The blend of {of} has a {facts['scoring']} of "
        f"{number(facts['blend']['value'])}, the best of them alone "
        f"({facts['best_single']}) {number(facts['single']['value'])}, their plain "
        f"mean {number(facts['mean']['value'])}; the larger, the better"
    )


def blend_advice(facts: dict[str, Any]) -> dict[str, str]:
    """Say whether to use the blend, or one of its models."""
    behind = facts["behind_single"]
    scores = (
        f"Its {facts['scoring']} is {{}}, and {{}} for {{}}, on samples that chose "
        "neither weights nor model; the larger, the better."
    )
    blend, single = (number(facts[which]["value"]) for which in ("blend", "single"))
    name = facts["best_single"]
    if facts["n_weighted"] == 1:
        return {
            "title": f"Use {name} alone: no other model has a weight.",
            "text": f"By {facts['method']}, mixing in others does not help.",
        }
    if behind["value"] > _CLEAR * behind["standard_error"]:
        return {
            "title": f"Ask whether you need the blend: {name} alone is better.",
            "text": scores.format(single, blend, "the blend"),
        }
    n_weighted = count(facts["n_weighted"])
    if behind["value"] >= -_CLEAR * behind["standard_error"]:
        return {
            "title": f"Choose between the blend of {n_weighted} and {name} alone: they "
            "are about as good.",
            "text": "The blend needs more models. "
            + scores.format(single, blend, "the blend"),
        }
    said = scores.format(blend, single, f"{name} alone")
    if facts["rule"] == "mean":
        return {
            "title": f"Use the blend of {n_weighted}, with the weights in the table of "
            "members.",
            "text": said,
        }
    return {
        "title": f"Use the blend of {n_weighted}, by Blend.predict_proba or quorate "
        "blend --test FOLDER.",
        "text": f"{said} {_not_a_mean(facts)}",
    }


def _not_a_mean(facts: dict[str, Any]) -> str:
    """Say that the weights in the table are not those of a plain mean."""
    plain = facts["simplex"]
    scored = (
        ""
        if plain is None
        else f", with a {facts['scoring']} of {number(plain['value'])}"
    )
    return (
        f"It is {facts['words']}; a plain mean with the weights in the table of "
        f"members is something else. The method simplex finds weights for one{scored}."
    )
