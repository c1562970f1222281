"""What to do next, in plain words, from the numbers of a report."""

import math
from typing import Any

from quorate._report._format import count, milliseconds, percent, points, size, times
from quorate._report._measure import measure_of

# A difference below this many standard errors is not told apart from chance.
_CLEAR = 2.0
# Losing less than this is not worth a large model.
_SMALL_LOSS = 0.005
# Share of the members asked, at most, for lazy voting to be worth a sentence.
_FEW_ASKED = 0.8


def lead(data: dict[str, Any]) -> str:
    """Return the gist of the report in two sentences."""
    votes, pruning, words = data["votes"], data["pruning"], data["words"]
    saved = 1 - pruning["bytes"]["after"] / pruning["bytes"]["before"]
    some = f"{count(pruning['n_kept'])} of them would need {percent(saved, 0)} less"
    asked = (
        f"{count(data['ensemble']['n_members'])} {words['members']}, asked about "
        f"{count(votes['n_samples'])} samples"
    )
    if not votes["honest"]:
        return (
            f"{asked} that they were trained on, from which nobody can tell how good "
            f"they are. {some} memory."
        )
    judged = method_of_this_report(data)
    reach = (
        f"reach {percent(judged['accuracy'], 1)} on samples held back from the choice"
        if judged is not None
        else f"reach {percent(pruning['accuracy']['after'], 1)}"
    )
    if data["judged"] is not None:
        return _lead_by_score(data, asked, some)
    return (
        f"{asked}, are right on {percent(votes['member_accuracy'], 1)} of them on "
        f"average; the {words['ensemble']} is right on "
        f"{percent(votes['accuracy'], 1)}. {some} memory and {reach}."
    )


def _lead_by_score(data: dict[str, Any], asked: str, some: str) -> str:
    measure, words, judged = measure_of(data), data["words"], data["judged"]
    row = method_of_this_report(data)
    reached = judged["after"]["value"] if row is None else row[measure.value]
    where = "" if row is None else " on samples held back from the choice"
    doubt = measure.differ(judged["before"]["standard_error"]).lstrip("+")
    return (
        f"{asked}: the {words['ensemble']} has a {measure.title} of "
        f"{measure.write(judged['before']['value'])} (standard error {doubt}), by "
        f"which this page judges {judged['why']}. {some} memory and reach "
        f"{measure.write(reached)}{where}."
    )


def advice(data: dict[str, Any]) -> list[dict[str, str]]:
    """Return what to do, the most important first."""
    steps = [
        _honest_votes(data),
        _best_member(data),
        _prune(data),
        _other_method(data),
        _lazy(data),
        _weak_members(data),
        _poor_class(data),
        _diversity(data),
    ]
    return [step for step in steps if step is not None]


def _step(title: str, text: str) -> dict[str, str]:
    return {"title": title, "text": text}


def _honest_votes(data: dict[str, Any]) -> dict[str, str] | None:
    if data["votes"]["honest"]:
        return None
    return _step(
        "Make this report again with samples that no member was trained on.",
        "The members were asked about their own training samples, so nothing could be "
        "scored, and the choice of members may be a poor one.",
    )


def _best_member(data: dict[str, Any]) -> dict[str, str] | None:
    votes = data["votes"]
    if data["judged"] is not None:
        return None  # that is a matter of accuracy
    if not votes["honest"] or votes["best_member_accuracy"] <= votes["accuracy"]:
        return None
    return _step(
        f"Ask whether you need an ensemble: member {votes['best_member']} alone is "
        "better.",
        f"It is right on {percent(votes['best_member_accuracy'])} of the samples, the "
        f"{data['words']['ensemble']} on {percent(votes['accuracy'])}. The best of "
        "many looks better than it is, so confirm it on new samples.",
    )


def _prune(data: dict[str, Any]) -> dict[str, str]:
    pruning, row = data["pruning"], method_of_this_report(data)
    kept = f"{count(pruning['n_kept'])} of {count(data['ensemble']['n_members'])}"
    needs = _needs(pruning)
    if not data["votes"]["honest"]:
        return _step(
            f"Keep {kept} members only after a test on other samples.",
            f"Chosen by {pruning['method']}, they need {needs}. What that costs in "
            "accuracy cannot be told from samples that the members were trained on.",
        )
    if row is None:
        return _step(
            f"Keep {kept} members only after a test: there are few samples here.",
            f"They need {needs}. What that costs in accuracy cannot be said honestly "
            "from so few samples.",
        )
    measure = measure_of(data)
    loss, doubt = -row[measure.gain], row[measure.gain_error]
    by = measure.differ(abs(loss)).lstrip("+")
    change = f"{by} {'less' if loss > 0 else 'more'} accurate than all of them"
    if data["judged"] is not None:
        word = "worse" if loss > 0 else "better"
        change = f"{by} {word} than all of them in {measure.title}"
    change += f" (standard error {measure.differ(doubt).lstrip('+')})"
    found = f"Chosen by {pruning['method']}, they need {needs}. On held-back samples "
    if loss <= max(_SMALL_LOSS, _CLEAR * doubt):
        return _step(
            f"Keep {kept} members: little or nothing is lost.",
            f"{found}they are {change}.",
        )
    curve = pruning["curve"]
    return _step(
        f"Keep more than {kept} members, or another choice of them.",
        f"{found}they are {change}. {count(curve['enough'])} members would be within "
        "one standard error of the best.",
    )


def _needs(pruning: dict[str, Any]) -> str:
    before, after = pruning["bytes"]["before"], pruning["bytes"]["after"]
    speed = pruning["milliseconds"]
    return (
        f"{size(after)} instead of {size(before)}, and "
        f"{milliseconds(speed['after'])} instead of {milliseconds(speed['before'])} "
        f"for {count(speed['rows'])} samples"
    )


def _other_method(data: dict[str, Any]) -> dict[str, str] | None:
    mine = method_of_this_report(data)
    if mine is None:
        return None
    compared = [row for row in data["methods"]["rows"] if row["seconds"] is not None]
    measure = measure_of(data)
    best = max(compared, key=lambda row: row[measure.value])
    lead_over_mine = best[measure.value] - mine[measure.value]
    # More than the truth, as both were judged on the same samples.
    doubt = math.hypot(best[measure.gain_error], mine[measure.gain_error])
    lead_said = measure.differ(lead_over_mine).lstrip("+")
    better = (
        f"{lead_said} more accurate"
        if data["judged"] is None
        else f"{lead_said} better in {measure.title}"
    )
    if lead_over_mine > max(0.001, _CLEAR * doubt):
        return _step(
            f"Try {best['method']} instead of {mine['method']}.",
            f"Chosen on one half of the samples and judged on the other, its members "
            f"are {better}, at the same size.",
        )
    chance = next(row for row in data["methods"]["rows"] if row["is_random"])
    if mine[measure.value] <= chance[measure.value]:
        return _step(
            "Do not expect much from the choice of members.",
            f"Members drawn at random do as well as those of {mine['method']} here "
            f"({measure.write(chance[measure.value])} and "
            f"{measure.write(mine[measure.value])} on held-back samples). What helps "
            "is their number.",
        )
    return None


def _lazy(data: dict[str, Any]) -> dict[str, str] | None:
    if not data["lazy"]["honest"]:
        return None
    worth = [
        row
        for row in data["lazy"]["rows"]
        if row["share_asked"] <= _FEW_ASKED
        and row["allowed"] is not None
        and max(row["disagreement"], row["allowed"]) <= _SMALL_LOSS
    ]
    if not worth:
        return None
    # By members asked, not by the clock: made again, the page says the same.
    best = min(worth, key=lambda row: row["members_asked"])
    changed = (
        "no prediction changes"
        if best["disagreement"] == 0
        else f"{percent(best['disagreement'])} of the predictions change"
    )
    return _step(
        "If time matters more than memory, vote lazily: "
        f"{percent(best['share_asked'], 0)} of the members answer.",
        f"Mode {best['mode']} asks {count(round(best['members_asked']))} members per "
        f"sample on average, and {changed} on the samples tried. It was "
        f"{times(best['speedup'])} as fast here.",
    )


def _weak_members(data: dict[str, Any]) -> dict[str, str] | None:
    if not data["votes"]["honest"]:
        return None
    if data["judged"] is not None:
        return None  # nor is that
    chance = max(row["share"] for row in data["classes"])
    weak = [row["member"] for row in data["members"] if row["accuracy"] < chance]
    if not weak or data["ensemble"]["weighted"]:
        return None
    who = (
        f"Member {weak[0]} is" if len(weak) == 1 else f"{count(len(weak))} members are"
    )
    return _step(
        f"{who} worse than always naming the most frequent class.",
        "Sort the table of members by accuracy and look at the end of it.",
    )


def _poor_class(data: dict[str, Any]) -> dict[str, str] | None:
    known = [row for row in data["classes"] if row["recall"] is not None]
    if len(known) < 2:
        return None
    worst = min(known, key=lambda row: row["recall"])
    if worst["recall"] >= 0.5:
        return None
    return _step(
        f"Look at class {worst['class']}: the {data['words']['ensemble']} finds "
        f"{percent(worst['recall'], 0)} of it.",
        f"It has {count(worst['samples'])} samples. No choice of members mends what "
        "none of them learnt.",
    )


def _diversity(data: dict[str, Any]) -> dict[str, str] | None:
    if data["decomposition"] is None:
        return None
    parts = data["decomposition"]["all"]
    if parts["diversity"] >= 0.1 * parts["member_error"]:
        return None
    return _step(
        "Train members that differ more.",
        f"Voting saves only {points(parts['diversity']).lstrip('+')} over the average "
        "member: the members err together. Other features, other samples or other "
        "kinds of members would give the vote something to correct.",
    )


def method_of_this_report(data: dict[str, Any]) -> dict[str, Any] | None:
    """Return how the method of the report did on held-back samples, if known."""
    return next((row for row in data["methods"]["rows"] if row["chosen"]), None)
