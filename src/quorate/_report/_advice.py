"""What to do next, in plain words, from the numbers of a report."""

import math
from typing import Any

from quorate._report._blend import blend_advice, blend_lead
from quorate._report._format import count, milliseconds, percent, points, size, times
from quorate._report._measure import measure_of
from quorate._report._words import CHOSEN_BEFORE

# A difference below this many standard errors is not told apart from chance.
_CLEAR = 2.0
# Losing less than this is not worth a large model.
_SMALL_LOSS = 0.005
# Share of the members asked, at most, for lazy voting to be worth a sentence.
_FEW_ASKED = 0.8
# Share of the members kept, at most, for their leaves to be worth teaching.
_FEW_KEPT = 0.5
_FEWER_VOTES = (
    "But out of bag only some of these members may vote on a sample, so that few look "
    "weaker than they are; samples that no member has seen would tell."
)


def lead(data: dict[str, Any]) -> str:
    """Return what the report is about and what a smaller ensemble brings."""
    votes, pruning, words = data["votes"], data["pruning"], data["words"]
    some = f"{count(pruning['n_kept'])} of them"
    asked = (
        f"{count(data['ensemble']['n_members'])} {words['members']} were asked about "
        f"{count(votes['n_samples'])} samples"
    )
    if votes["drawn"]:
        asked += f", drawn from {count(votes['n_given'])}"
    if not votes["honest"]:
        return (
            f"{asked} that they were trained on, from which nobody can tell how good "
            f"they are. {some} would need {_needs(pruning)}."
        )
    blended = "" if data["blend"] is None else f" {blend_lead(data['blend'])}."
    if pruning["n_kept"] == data["ensemble"]["n_members"]:
        kept = "" if blended else f" {pruning['method']} keeps them all."
        return f"{asked}.{blended}{kept}"
    needs = "needs" if pruning["n_kept"] == 1 else "need"
    if blended:
        some = f"Chosen anew by {pruning['method']}, {some}"
    return f"{asked}.{blended} {some} {needs} {_needs(pruning)}. They {_reach(data)}."


def _reach(data: dict[str, Any]) -> str:
    """Say how good those kept are to be expected to be, and all of them."""
    measure, expected = measure_of(data), data["pruning"]["expected"]
    pair = data["judged"] or data["pruning"]["accuracy"]
    before, after = pair["before"], pair["after"]
    if data["judged"] is not None:
        before, after = before["value"], after["value"]
    where = " of the samples that chose them"
    if expected is not None:
        before, after = expected["before"], expected["after"]
        where = " of samples that did not choose them"
        if data["votes"]["chosen_before"]:
            where += ", though an earlier choice saw them"
    if data["judged"] is None:
        return (
            f"are right on {measure.write(after)}{where}, all together on "
            f"{measure.write(before)}"
        )
    where = where.replace(" of ", " on ", 1)
    return (
        f"have a {measure.title} of {measure.write(after)}{where}, all together "
        f"{measure.write(before)}; this page judges by it {data['judged']['why']}"
    )


def lead_of_summary(data: dict[str, Any]) -> str:
    """Return what a summary is of, and what voting brings."""
    votes = data["votes"]
    asked = (
        f"{count(data['ensemble']['n_members'])} members were asked about "
        f"{count(votes['n_samples'])} samples"
    )
    if not votes["honest"]:
        return (
            f"{asked} that they were trained on, from which nobody can tell how good "
            "they are."
        )
    return (
        f"{asked}. Together they are right on {percent(votes['accuracy'])}, one of "
        f"them alone on {percent(votes['member_accuracy'])} on average and on "
        f"{percent(votes['best_member_accuracy'])} at best."
    )


def summary_advice(data: dict[str, Any]) -> list[dict[str, str]]:
    """Return what to do that counts alone can tell, the most important first."""
    if not data["votes"]["honest"]:
        return [
            _step(
                "Make the summary again from samples that no member was trained on.",
                "The members were asked about their own training samples, so nothing "
                "could be scored.",
            )
        ]
    steps = [
        _best_member(data),
        _rival(data),
        _weak_members(data),
        _poor_class(data),
        _diversity(data),
        _choose(data),
    ]
    return [step for step in steps if step is not None]


def _rival(data: dict[str, Any]) -> dict[str, str] | None:
    certificate = data["certificate"]
    if data["rivals"] is None:
        return None
    if certificate["refusal"] is not None:
        return _step(
            "Do not count on the smaller model yet: nothing can be promised.",
            certificate["refusal"],
        )
    if not certificate["holds"]:
        limit = points(certificate["tolerance"]).lstrip("+")
        return _step(
            f"Do not count on fewer members: more than {limit} of extra error cannot "
            "be ruled out.",
            certificate["text"],
        )
    kept = f"{count(certificate['n_kept'])} of {count(certificate['n_members'])}"
    return _step(
        f"Use {kept} members: they are certified to be about as good.",
        certificate["text"],
    )


def _choose(data: dict[str, Any]) -> dict[str, str] | None:
    if data["rivals"] is not None:
        return None
    return _step(
        "To keep fewer members, choose them on a sample of the rows.",
        "quorate.prune(ensemble, batches, max_samples=...) draws one by class; "
        "quorate.summarise(ensemble, batches, against=small) then compares both models "
        "on all rows.",
    )


def advice(data: dict[str, Any]) -> list[dict[str, str]]:
    """Return what to do, the most important first.

    Which members to keep is said once: who should take one member, or another method,
    is not told to keep these as well.
    """
    steps = [
        _honest_votes(data),
        _new_samples(data),
        *_who_stays(data),
        _distil(data),
        _any_choice(data),
        _lazy(data),
        _weak_members(data),
        _poor_class(data),
        _diversity(data),
    ]
    return [step for step in steps if step is not None]


def _who_stays(data: dict[str, Any]) -> list[dict[str, str]]:
    """Return who is to decide: all with weights, one, some, or those of a method."""
    if data["blend"] is None:
        return [_best_member(data) or _better_method(data) or _prune(data)]
    steps = [blend_advice(data["blend"])]
    if data["pruning"]["n_kept"] < data["ensemble"]["n_members"]:
        step = _better_method(data) or _prune(data)
        why = "If fewer models are to be run: "
        steps.append(_step(step["title"], why + step["text"]))
    return steps


def _step(title: str, text: str) -> dict[str, str]:
    return {"title": title, "text": text}


def _new_samples(data: dict[str, Any]) -> dict[str, str] | None:
    if not data["votes"]["chosen_before"]:
        return None
    return _step(
        "Make this report again with samples that took no part in an earlier choice.",
        CHOSEN_BEFORE,
    )


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
    if data["judged"] is not None or data["blend"] is not None:
        return None  # that is a matter of accuracy, or of the weights
    if not votes["honest"]:
        return None
    best, together = votes["best_member_accuracy"], votes["accuracy"]
    doubt = math.sqrt(together * (1 - together) / votes["n_samples"])
    if best <= together + _CLEAR * doubt:
        return None
    return _step(
        f"Ask whether you need an ensemble: member {votes['best_member']} alone is "
        "better.",
        f"It is right on {percent(best)} of the samples, the "
        f"{data['words']['ensemble']} on {percent(together)}. The best of "
        "many looks better than it is, so confirm it on new samples.",
    )


def _prune(data: dict[str, Any]) -> dict[str, str]:
    pruning, expected = data["pruning"], data["pruning"]["expected"]
    kept = f"{count(pruning['n_kept'])} of {count(data['ensemble']['n_members'])}"
    needs = _needs(pruning)
    if pruning["n_kept"] == data["ensemble"]["n_members"]:
        weights = ", with new weights" if pruning["new_weights"] else ""
        return _step(
            f"Keep all {count(pruning['n_kept'])} members{weights}.",
            f"{pruning['method']}, asked for {pruning['asked']}, leaves none of them "
            "out, so nothing is saved.",
        )
    if not data["votes"]["honest"]:
        return _step(
            f"Keep {kept} members only after a test on other samples.",
            f"Chosen by {pruning['method']}, they need {needs}. What that costs in "
            "accuracy cannot be told from samples that the members were trained on.",
        )
    if expected is None:
        return _step(
            f"Keep {kept} members only after a test: there are few samples here.",
            f"They need {needs}. What that costs in accuracy cannot be said honestly "
            "from so few samples.",
        )
    measure = measure_of(data)
    loss, doubt = -expected["gain"], expected["gain_error"]
    by = measure.differ(abs(loss)).lstrip("+")
    change = f"{by} {'less' if loss > 0 else 'more'} accurate than all of them"
    if data["judged"] is not None:
        word = "worse" if loss > 0 else "better"
        change = f"{by} {word} than all of them in {measure.title}"
    change += f" (standard error {measure.differ(doubt).lstrip('+')})"
    found = (
        f"The {count(pruning['n_kept'])} that {pruning['method']} picks need {needs}. "
        "On samples that did not choose them "
    )
    if not _is_clear_loss(expected):
        return _step(
            f"Keep {kept} members: no clear loss.", f"{found}they are {change}."
        )
    if expected["by_fewer_votes"]:
        return _step(
            f"Check on new samples before you keep only {kept} members.",
            f"{found}they are {change}. {_FEWER_VOTES}",
        )
    other = "" if _is_any_choice_as_good(data) else ", or another choice of them"
    title = f"Keep more than {kept} members{other}."
    more = advised_size(data)
    if more > pruning["n_kept"]:
        n_members = data["ensemble"]["n_members"]
        some = f"{count(more)} of {count(n_members)} members"
        if more == n_members:
            some = f"all {count(n_members)} members"
        else:
            change += f"; {count(more)} come within one standard error of the best"
        title = f"Keep {some} rather than {count(pruning['n_kept'])}."
    return _step(title, f"{found}they are {change}.")


def advised_size(data: dict[str, Any]) -> int:
    """Return how many members to keep: those of the report, or the next that will do.

    More only where those of the report are surely worse than all of them, and then
    the fewest that come within one standard error of the best, as in the section on
    pruning.
    """
    curve, n_kept = data["pruning"]["curve"], int(data["pruning"]["n_kept"])
    expected = data["pruning"]["expected"]
    settled = _best_member(data) or _better_method(data)
    if expected is None or settled is not None or not _is_clear_loss(expected):
        return n_kept
    if expected["by_fewer_votes"] or curve["best_size"] is None:
        return n_kept
    sizes, top = data["sizes"], 1.0 if data["judged"] is None else data["judged"]["top"]
    best = list(curve["sizes"]).index(curve["best_size"])
    limit = curve["errors"][best] + curve["standard_errors"][best]
    enough = [
        int(number)
        for number, score in zip(sizes["members"], sizes["scores"], strict=True)
        if number > n_kept and top - score <= limit
    ]
    return enough[0] if enough else n_kept


def _is_clear_loss(expected: dict[str, Any]) -> bool:
    limit = max(_SMALL_LOSS, _CLEAR * expected["gain_error"])
    return bool(-expected["gain"] > limit)


def _distil(data: dict[str, Any]) -> dict[str, str] | None:
    pruning, n_members = data["pruning"], data["ensemble"]["n_members"]
    if not (data["votes"]["honest"] and pruning["can_distil"]):
        return None
    if pruning["n_kept"] > _FEW_KEPT * n_members:
        return None
    whole = data["words"]["ensemble"]
    return _step(
        f"Let the trees kept learn from the whole {whole}.",
        "Add --distil on the command line or distil=True in Python: their leaves get "
        f"new values, with which few trees agree better with the whole {whole}. No "
        "figure on this page is about such leaves; compare both on new samples.",
    )


def _needs(pruning: dict[str, Any]) -> str:
    if pruning["bytes"] is None:
        n_kept, n_members = pruning["n_kept"], pruning["members"]["before"]
        models = "model" if n_kept == 1 else "models"
        return f"{count(n_kept)} {models} to run instead of {count(n_members)}"
    before, after = pruning["bytes"]["before"], pruning["bytes"]["after"]
    speed = pruning["milliseconds"]
    return (
        f"{size(after)} instead of {size(before)}, and "
        f"{milliseconds(speed['after'])} instead of {milliseconds(speed['before'])} "
        f"for {count(speed['rows'])} samples"
    )


def _better_method(data: dict[str, Any]) -> dict[str, str] | None:
    mine = method_of_this_report(data)
    if mine is None:
        return None
    compared = [row for row in data["methods"]["rows"] if row["seconds"] is not None]
    measure = measure_of(data)
    best = max(compared, key=lambda row: row[measure.value])
    lead_over_mine = best[measure.value] - mine[measure.value]
    # More than the truth, as both were judged on the same samples.
    doubt = math.hypot(best[measure.gain_error], mine[measure.gain_error])
    if lead_over_mine <= max(0.001, _CLEAR * doubt):
        return None
    lead_said = measure.differ(lead_over_mine).lstrip("+")
    better = (
        f"{lead_said} more accurate"
        if data["judged"] is None
        else f"{lead_said} better in {measure.title}"
    )
    return _step(
        f"Try {best['method']} instead of {mine['method']}.",
        f"Chosen on one half of the samples and judged on the other, its members "
        f"are {better}, at the same size.",
    )


def _any_choice(data: dict[str, Any]) -> dict[str, str] | None:
    if not _is_any_choice_as_good(data):
        return None
    mine, measure = method_of_this_report(data), measure_of(data)
    chance = next(row for row in data["methods"]["rows"] if row["is_random"])
    assert mine is not None
    return _step(
        "Do not expect much from the choice of members.",
        f"Members drawn at random do as well as those of {mine['method']} here "
        f"({measure.write(chance[measure.value])} and "
        f"{measure.write(mine[measure.value])}, chosen on one half of the samples and "
        "judged on the other): what counts is how many stay.",
    )


def _is_any_choice_as_good(data: dict[str, Any]) -> bool:
    """Tell whether chance does as well as the method, and no other does better."""
    mine, measure = method_of_this_report(data), measure_of(data)
    if mine is None or _better_method(data) is not None:
        return False
    chance = next(row for row in data["methods"]["rows"] if row["is_random"])
    return bool(mine[measure.value] <= chance[measure.value])


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
        f"sample on average, and {changed} on the samples tried. Here it was "
        f"{times(best['speedup'])} as fast.",
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
        "Sort the table of members by accuracy alone and look at the end of it.",
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
    risk = data["risk"]
    if risk["lemma_applies"] and not risk["risk_decreases"]:
        return None  # the section on risk speaks against more diversity
    return _step(
        "Train members that differ more.",
        f"Voting saves only {points(parts['diversity']).lstrip('+')} over the average "
        "member: the members err together. Other features, other samples or other "
        "kinds of members would give the vote something to correct.",
    )


def method_of_this_report(data: dict[str, Any]) -> dict[str, Any] | None:
    """Return how the method of the report did on held-back samples, if known."""
    return next((row for row in data["methods"]["rows"] if row["chosen"]), None)
