"""Recommendations derived from the numbers of a page."""

import math

from quorate._report._sections import CHOSEN_BEFORE, Section
from quorate._report._text import (
    ScoreFormat,
    count,
    percent,
    unsigned,
)

Step = dict[str, str]

# Differences below this many standard errors are not significant.
_CLEAR = 2.0
# A loss below this does not justify a large model.
_SMALL_LOSS = 0.005
# Recommend distillation if at most this share of the members is kept.
_FEW_KEPT = 0.5


def step(title: str, text: str) -> Step:
    """Return a recommendation."""
    return {"title": title, "text": text}


def advice(page: Section, score: ScoreFormat) -> list[Step]:
    """Return recommendations, the most important first.

    There is one recommendation about which members to keep: a single member replaces
    the selection of the page.
    """
    votes, steps = page["votes"], []
    if not votes["honest"]:
        title = "Run this report on samples that no member was trained on."
        steps.append(step(title, votes["meaning"]))
    if votes["chosen_before"]:
        title = "Run this report on samples that were not used for an earlier choice."
        steps.append(step(title, CHOSEN_BEFORE))
    # Single members are not compared by another score.
    alone = best_member(page) if page["judged"] is None else None
    more = [alone or _prune(page, score), _distil(page)]
    return steps + [each for each in more if each is not None]


def choice_text(page: Section, score: ScoreFormat) -> str:
    """Describe how the selection compares with random members.

    Differences below two standard errors are not significant.
    """
    pruning, compared = page["pruning"], page["compared"]
    if compared is None or pruning["n_kept"] == page["ensemble"]["n_members"]:
        return ""
    mine, chance = compared["kept"], compared["random"]
    gain = mine["score"] - chance["score"]
    scores = f"{score.write(mine['score'])} and {score.write(chance['score'])}"
    how = "cross-validated" + " before distilling" * pruning["distilled"]
    if gain <= _CLEAR * math.hypot(mine["error"], chance["error"]):
        also = ", and distilling them" if pruning["can_distil"] else ""
        return (
            "The choice hardly matters here: as many members drawn at random are about "
            f"as good ({scores}, {how}). What matters is how many you "
            f"keep{also}."
        )
    return (
        "The choice matters here: the kept members are "
        f"{unsigned(score.differ(gain))} better than as many drawn at random "
        f"({scores}, {how})."
    )


def best_member(page: Section) -> Step | None:
    """Recommend a single member if it is clearly more accurate than the ensemble."""
    votes = page["votes"]
    best, together = votes["best_member_accuracy"], votes["accuracy"]
    if best is None:
        return None
    doubt = math.sqrt(together * (1 - together) / votes["n_samples"])
    if best <= together + _CLEAR * doubt:
        return None
    return step(
        f"You may not need an ensemble: member {votes['best_member']} alone is better.",
        f"Its accuracy is {percent(best)}, that of the {page['words']['ensemble']} "
        f"{percent(together)}. The best of many looks better than it is, so confirm it "
        "on new data.",
    )


def _prune(page: Section, score: ScoreFormat) -> Step:
    """Recommend the members of the page, more of them, or a test."""
    pruning, expected = page["pruning"], page["pruning"]["expected"]
    n_kept, n_members = pruning["n_kept"], page["ensemble"]["n_members"]
    kept = f"{count(n_kept)} of {count(n_members)}"
    if n_kept == n_members:
        weights = ", with new weights" if pruning["new_weights"] else ""
        return step(
            f"Keep all {count(n_kept)} members{weights}.",
            f"{pruning['method']} with {pruning['asked']} drops none of them, so "
            "nothing is saved.",
        )
    if expected is None:
        other, why = "more", "There are too few samples to estimate the loss."
        if not page["votes"]["honest"]:
            other, why = "other", "The loss cannot be estimated on training samples."
        return step(
            f"Test {kept} members on {other} samples before you use them.",
            f"Chosen by {pruning['method']}, they need {pruning['needs']}. {why}",
        )
    lost = expected["gain"] < 0
    than = f"{'less' if lost else 'more'} accurate than all of them"
    if not score.is_accuracy:
        than = f"{'worse' if lost else 'better'} than all of them in {score.title}"
    how = "As estimated out of bag," if expected["by_whole"] else "In cross-validation"
    why = (
        f"The {count(n_kept)} that {pruning['method']} picks need {pruning['needs']}. "
        f"{how} they are "
        f"{unsigned(score.differ(abs(expected['gain'])))} {than} "
        f"(standard error {score.doubt(expected['gain_error'])})"
    )
    if -expected["gain"] <= max(_SMALL_LOSS, _CLEAR * expected["gain_error"]):
        return step(f"Keep {kept} members: no clear loss.", f"{why}.")
    if expected["by_fewer_votes"]:
        return step(
            f"Check on new data before you keep only {kept} members.",
            f"{why}. But with out-of-bag votes, only some of these vote on each "
            "sample, so a few members look weaker than they are.",
        )
    enough = pruning["curve"]["enough"] or 0
    if enough > n_kept:
        why += f"; {count(enough)} are within one standard error of the best"
    return step(f"Keep more than {kept} members.", f"{why}.")


def _distil(page: Section) -> Step | None:
    pruning, whole = page["pruning"], page["words"]["ensemble"]
    if not (page["votes"]["honest"] and pruning["can_distil"]):
        return None
    if (
        pruning["distilled"]
        or pruning["n_kept"] > _FEW_KEPT * page["ensemble"]["n_members"]
    ):
        return None
    return step(
        f"Distil the whole {whole} into the trees you keep.",
        "Use distil=True in Python or --distil on the command line. A few distilled "
        f"trees agree much better with the whole {whole}, above all in their "
        "probabilities. The numbers in this report are for trees that are not "
        "distilled; compare both on new data.",
    )
