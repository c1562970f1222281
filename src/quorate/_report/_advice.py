"""Recommendations derived from the numbers of a page."""

import math
from typing import Any

import numpy as np

from quorate._blending import Blend
from quorate._report import _text
from quorate._report._sections import CHOSEN_BEFORE, Section
from quorate._report._text import (
    ScoreFormat,
    count,
    number,
    percent,
    points,
    unsigned,
)

Step = dict[str, str]

# Differences below this many standard errors are not significant.
_CLEAR = 2.0
# A loss below this does not justify a large model.
_SMALL_LOSS = 0.005
# Recommend early exit if it evaluates at most this share of the members.
_FEW_EVALUATED = 0.8
# Recommend distillation if at most this share of the members is kept.
_FEW_KEPT = 0.5


def step(title: str, text: str) -> Step:
    """Return a recommendation."""
    return {"title": title, "text": text}


def advice(page: Section, score: ScoreFormat, blend: Blend | None) -> list[Step]:
    """Return recommendations, the most important first.

    There is one recommendation about which members to keep: a single member or another
    method replaces the selection of the page.
    """
    votes, steps = page["votes"], []
    if not votes["honest"]:
        title = "Run this report on samples that no member was trained on."
        steps.append(step(title, votes["meaning"]))
    if votes["chosen_before"]:
        title = "Run this report on samples that were not used for an earlier choice."
        steps.append(step(title, CHOSEN_BEFORE))
    keep = _other_choice(page, score) or _prune(page, score)
    if blend is None:
        steps.append(keep)
    else:
        steps.append(blend_advice(blend))
        if page["pruning"]["n_kept"] < page["ensemble"]["n_members"]:
            text = f"If fewer models are to be run: {keep['text']}"
            steps.append(step(keep["title"], text))
    about_votes = votes_advice(page)[0 if page["judged"] is None else 1 :]
    more = [_distil(page), _lazy(page), *about_votes]
    return steps + [each for each in more if each is not None]


def choice_text(page: Section, score: ScoreFormat) -> str:
    """Describe how the selection compares with random members.

    Differences below two standard errors are not significant.
    """
    mine, pruning = _own_row(page), page["pruning"]
    if mine is None or pruning["n_kept"] == page["ensemble"]["n_members"]:
        return ""
    chance = next(row for row in page["methods"]["rows"] if row["is_random"])
    gain = mine["score"] - chance["score"]
    scores = f"{score.write(mine['score'])} and {score.write(chance['score'])}"
    if gain <= _CLEAR * math.hypot(mine["gain_error"], chance["gain_error"]):
        also = ", and distilling them" if pruning["can_distil"] else ""
        return (
            "The choice hardly matters here: as many members drawn at random are about "
            f"as good ({scores}, cross-validated). What matters is how many you "
            f"keep{also}."
        )
    return (
        "The choice matters here: the kept members are "
        f"{unsigned(score.differ(gain))} better than as many drawn at random "
        f"({scores}, cross-validated)."
    )


def contributions_text(page: Section) -> str:
    """Return a note if no single member changes the error significantly."""
    grown = [row["contribution"] for row in page["members"]]
    accuracy = page["votes"]["accuracy"]
    if None in grown or accuracy is None:
        return ""
    largest = max(map(abs, grown))
    doubt = _accuracy_error(page)
    if largest >= doubt:
        return ""
    return (
        "No single member matters: without any one of them, the error of all members "
        f"changes by at most {unsigned(points(largest))} (one standard error is "
        f"{unsigned(points(doubt))})."
    )


def advised_size(page: Section, score: ScoreFormat) -> int:
    """Return how many members to keep: those of the page, or more if needed.

    More only if those of the page are clearly worse than all members: then the smallest
    size within one standard error of the best, and at least the size that the pruning
    section calls enough.
    """
    pruning, sizes = page["pruning"], page["sizes"]
    curve, n_kept, expected = pruning["curve"], pruning["n_kept"], pruning["expected"]
    if expected is None or _other_choice(page, score) or not _is_clear_loss(expected):
        return int(n_kept)
    best_size = curve.get("best_size")
    if expected["by_fewer_votes"] or best_size is None or sizes["scores"] is None:
        return int(n_kept)
    best = curve["sizes"].index(best_size)
    limit = curve["errors"][best] + curve["standard_errors"][best]
    members, scores = np.array(sizes["members"]), np.array(sizes["scores"])
    will_do = (members > n_kept) & (score.top - scores <= limit)
    will_do &= members >= (curve["enough"] or 0)
    return int(members[will_do][0]) if will_do.any() else int(n_kept)


def votes_advice(page: Section) -> list[Step | None]:
    """Return recommendations from votes: weak members, poor classes, diversity."""
    return [_weak_members(page), _poor_class(page), _diversity(page)]


def best_member(page: Section) -> Step | None:
    """Recommend a single member if it is clearly more accurate than the ensemble."""
    votes = page["votes"]
    best, together = votes["best_member_accuracy"], votes["accuracy"]
    if best is None or best <= together + _CLEAR * _accuracy_error(page):
        return None
    return step(
        f"You may not need an ensemble: member {votes['best_member']} alone is better.",
        f"Its accuracy is {percent(best)}, that of the {page['words']['ensemble']} "
        f"{percent(together)}. The best of many looks better than it is, so confirm it "
        "on new data.",
    )


def blend_advice(blend: Blend) -> Step:
    """Recommend a blend, or one of its models."""
    name, n_weighted = blend.best_single, count(len(blend.weights))
    if len(blend.weights) == 1:
        return step(
            f"Use {name} alone: no other model has a weight.",
            f"With {blend.method}, adding other models does not help.",
        )
    ours, single = number(blend.nested.score), number(blend.best_nested.score)
    scores = (
        f"Its {blend.scoring} is {{}}, and {{}} for {{}}, on samples used to choose "
        "neither weights nor model; higher is better."
    )
    behind, doubt = blend.nested.behind(blend.best_nested)
    if behind > _CLEAR * doubt:
        return step(
            f"You may not need the blend: {name} alone is better.",
            scores.format(single, ours, "the blend"),
        )
    if behind >= -_CLEAR * doubt:
        return step(
            f"Choose between the blend of {n_weighted} and {name} alone: they are "
            "about as good.",
            "The blend needs more models. " + scores.format(single, ours, "the blend"),
        )
    why = scores.format(ours, single, f"{name} alone")
    if blend.rule == "mean":
        how = "with the weights in the table of members"
        return step(f"Use the blend of {n_weighted}, {how}.", why)
    return step(
        f"Use the blend of {n_weighted}, by Blend.predict_proba or quorate blend "
        "--test FOLDER.",
        f"{why} It is not the plain mean with the weights in the table of members; "
        "the method simplex finds weights for one.",
    )


def _accuracy_error(page: Section) -> float:
    """Return the standard error of the accuracy of all members."""
    accuracy = page["votes"]["accuracy"]
    return math.sqrt(accuracy * (1 - accuracy) / page["votes"]["n_samples"])


def _own_row(page: Section) -> Any:
    """Return the row of the method of the page in the comparison, None without one."""
    return next((row for row in page["methods"]["rows"] if row["chosen"]), None)


def _other_choice(page: Section, score: ScoreFormat) -> Step | None:
    """Recommend a single member if it is better than all, or a better method."""
    # Single members are not compared with a blend or by another score.
    by_accuracy = page["judged"] is None and page["blend"] is None
    return (best_member(page) if by_accuracy else None) or _better_method(page, score)


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
    chosen = f"Chosen by {pruning['method']}, they need {pruning['needs']}."
    if not page["votes"]["honest"]:
        return step(
            f"Test {kept} members on other samples before you use them.",
            f"{chosen} The loss of accuracy cannot be estimated on samples that the "
            "members were trained on.",
        )
    if expected is None:
        return step(
            f"Test {kept} members on more samples before you use them.",
            f"{chosen} There are too few samples to estimate the loss of accuracy.",
        )
    lost = expected["gain"] < 0
    than = f"{'less' if lost else 'more'} accurate than all of them"
    if not score.is_accuracy:
        than = f"{'worse' if lost else 'better'} than all of them in {score.title}"
    why = (
        f"The {count(n_kept)} that {pruning['method']} picks need {pruning['needs']}. "
        "In cross-validation they are "
        f"{unsigned(score.differ(abs(expected['gain'])))} {than} "
        f"(standard error {score.doubt(expected['gain_error'])})"
    )
    if not _is_clear_loss(expected):
        return step(f"Keep {kept} members: no clear loss.", f"{why}.")
    if expected["by_fewer_votes"]:
        return step(
            f"Check on new data before you keep only {kept} members.",
            f"{why}. But with out-of-bag votes, only some of these vote on each "
            "sample, so a few members look weaker than they are.",
        )
    more = advised_size(page, score)
    if more == n_kept:
        return step(f"Keep more than {kept} members.", f"{why}.")
    some = f"all {count(n_members)}"
    if more < n_members:
        some = f"{count(more)} of {count(n_members)}"
        why += f"; {count(more)} are within one standard error of the best"
    return step(f"Keep {some} members rather than {count(n_kept)}.", f"{why}.")


def _is_clear_loss(expected: Section) -> bool:
    loss = -expected["gain"]
    return bool(loss > max(_SMALL_LOSS, _CLEAR * expected["gain_error"]))


def _distil(page: Section) -> Step | None:
    pruning, whole = page["pruning"], page["words"]["ensemble"]
    if page["votes"]["honest"] and pruning["distilled"]:
        return step(
            "Expect better probabilities than in this report: prune distils.",
            f"The leaves of the kept trees get new values, learned from the whole "
            f"{whole}. The numbers in this report are for the trees before "
            "distillation; compare both models on new data.",
        )
    if not (page["votes"]["honest"] and pruning["can_distil"]):
        return None
    if pruning["n_kept"] > _FEW_KEPT * page["ensemble"]["n_members"]:
        return None
    return step(
        f"Distil the whole {whole} into the trees you keep.",
        "Use distil=True in Python or --distil on the command line. A few distilled "
        f"trees agree much better with the whole {whole}, above all in their "
        "probabilities. The numbers in this report are for trees that are not "
        "distilled; compare both on new data.",
    )


def _better_method(page: Section, score: ScoreFormat) -> Step | None:
    mine = _own_row(page)
    if mine is None:
        return None
    # Not random and all members, which no method chose.
    chosen = [row for row in page["methods"]["rows"] if row["seconds"] is not None]
    best = max(chosen, key=lambda row: row["score"])
    lead = best["score"] - mine["score"]
    # Conservative, because both were evaluated on the same samples.
    doubt = math.hypot(best["gain_error"], mine["gain_error"])
    if lead <= max(0.001, _CLEAR * doubt):
        return None
    better = "more accurate" if score.is_accuracy else f"better in {score.title}"
    return step(
        f"Try {best['method']} instead of {mine['method']}.",
        "In cross-validation, at the same size, its members are "
        f"{unsigned(score.differ(lead))} {better}.",
    )


def _lazy(page: Section) -> Step | None:
    worth = [
        row
        for row in page["lazy"]["rows"]
        if page["lazy"]["honest"]
        and row["share_asked"] <= _FEW_EVALUATED
        and row["allowed"] is not None
        and max(row["disagreement"], row["allowed"]) <= _SMALL_LOSS
    ]
    if not worth:
        return None
    # By members evaluated, not by time, so that the page is reproducible.
    best = min(worth, key=lambda row: row["members_asked"])
    some = f"{percent(best['disagreement'])} of the predictions change"
    changed = some if best["disagreement"] > 0 else "no prediction changes"
    return step(
        "If time matters more than memory, use early exit: "
        f"{percent(best['share_asked'], 0)} of the members are evaluated.",
        f"Mode {best['mode']} uses {count(round(best['members_asked']))} members per "
        f"sample on average, and {changed} on the samples tried. Here it was "
        f"{_text.times(best['speedup'])} as fast.",
    )


def _weak_members(page: Section) -> Step | None:
    chance = max(row["share"] for row in page["classes"])
    weak = [
        row["member"]
        for row in page["members"]
        if row["accuracy"] is not None and row["accuracy"] < chance
    ]
    if not weak or page["ensemble"]["weighted"]:
        return None
    many = f"{count(len(weak))} members are"
    who = f"Member {weak[0]} is" if len(weak) == 1 else many
    return step(
        f"{who} worse than always predicting the most frequent class.",
        "Sort the table of members by accuracy to find them.",
    )


def _poor_class(page: Section) -> Step | None:
    scored = [row for row in page["classes"] if row["recall"] is not None]
    poorest = min(scored, key=lambda row: row["recall"], default=None)
    if poorest is None or len(scored) < 2 or poorest["recall"] >= 0.5:
        return None
    return step(
        f"Look at class {poorest['class']}: the {page['words']['ensemble']} finds "
        f"{percent(poorest['recall'], 0)} of it.",
        f"It has {count(poorest['samples'])} samples. No choice of members helps where "
        "none of them has learnt the class.",
    )


def _diversity(page: Section) -> Step | None:
    if page["decomposition"] is None:
        return None
    parts, risk = page["decomposition"]["all"], page["risk"]
    if parts["diversity"] >= 0.1 * parts["member_error"]:
        return None
    if risk["lemma_applies"] and not risk["risk_decreases"]:
        return None  # the risk section advises against more diversity
    return step(
        "Train members that differ more.",
        f"Voting saves only {unsigned(points(parts['diversity']))} compared with the "
        "average member: they are wrong on the same samples. Try other features, "
        "other samples or other kinds of members.",
    )
