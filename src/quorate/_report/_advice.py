"""Recommendations derived from the numbers of a page."""

import math

from quorate._report import _text
from quorate._report._sections import CHOSEN_BEFORE, Section
from quorate._report._text import ScoreFormat, count, percent, unsigned

Step = dict[str, str]

# Differences below this many standard errors are not significant.
_CLEAR = 2.0
# A loss below this does not justify a large model.
_SMALL_LOSS = 0.005


def step(title: str, text: str) -> Step:
    """Return a recommendation."""
    return {"title": title, "text": text}


def advice(page: Section, score: ScoreFormat) -> list[Step]:
    """Return recommendations: what loses nothing comes first.

    There is one recommendation about which members to keep: a single member replaces
    the selection of the page.
    """
    votes = page["votes"]
    steps = [] if page["compact"] is None else [_use_compact(page)]
    if not votes["honest"]:
        title = "Run this report on samples that no member was trained on."
        steps.append(step(title, votes["meaning"]))
    if votes["chosen_before"]:
        title = "Run this report on samples that were not used for an earlier choice."
        steps.append(step(title, CHOSEN_BEFORE))
    # Single members are not compared by another score.
    alone = best_member(page) if page["judged"] is None else None
    return [*steps, alone or _prune(page, score)]


def _use_compact(page: Section) -> Step:
    """Recommend the compact form of the whole ensemble."""
    sizes, times = page["pruning"]["bytes"], page["pruning"]["milliseconds"]
    time = _text.milliseconds
    return step(
        f"Compact it: {_text.size(page['compact']['bytes'])} instead of "
        f"{_text.size(sizes['before'])}, and nothing is lost.",
        f"quorate.compact keeps all {count(page['ensemble']['n_members'])} "
        f"{page['words']['members']} and gives the same answers, in "
        f"{time(times['compact'])} instead of {time(times['before'])} for "
        f"{count(times['rows'])} samples. Where it predicts, it needs NumPy alone.",
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
    enough = 0 if pruning["curve"] is None else pruning["curve"]["enough"]
    if enough > n_kept:
        why += f"; {count(enough)} are within one standard error of the best"
    return step(f"Keep more than {kept} members.", f"{why}.")
