"""The tables of a report: which columns, called what, written how."""

from typing import Any

from quorate._report._advice import method_of_this_report
from quorate._report._blend import blend_rows
from quorate._report._format import (
    count,
    milliseconds,
    number,
    percent,
    points,
    size,
    times,
)
from quorate._report._measure import measure_of
from quorate._report._tables import Cell, Column, Table, make_table

# Beyond so many classes, pairs of them say more than a square of numbers.
_SQUARE = 8


def ensemble_tables(data: dict[str, Any]) -> dict[str, Table]:
    """Return the tables of the report on an ensemble."""
    found = [
        _few_sizes(data),
        _classes(data),
        _confusion(data),
        _confused(data),
        _diversity(data),
        _members(data),
        _savings(data),
        _methods(data),
        _lazy(data),
    ]
    return {table.id: table for table in found if table is not None}


def ensemble_rows(data: dict[str, Any]) -> list[tuple[str, str]]:
    """Return what the ensemble is, as names and values."""
    ensemble, votes = data["ensemble"], data["votes"]
    source = data["reproduce"]["source"]
    members = ", ".join(
        f"{count(n)} {name}" for name, n in ensemble["member_types"].items()
    )
    facts = [("type", ensemble["type"]), ("members", members)]
    if source is not None:
        facts += [("model file", source["model"]), ("samples from", source["data"])]
        facts += [("target column", source["target"])]
    if ensemble["n_features"] is not None:
        facts.append(("features", count(ensemble["n_features"])))
    facts.append(("classes", count(ensemble["n_classes"])))
    pickled = data["pruning"]["bytes"]
    if pickled is not None:
        facts.append(("size, pickled", size(pickled["before"])))
    if ensemble["nodes"] is not None:
        facts.append(("nodes of all trees", count(sum(ensemble["nodes"]))))
    if ensemble["depth"] is not None:
        lowest, highest = min(ensemble["depth"]), max(ensemble["depth"])
        levels = count(lowest) if lowest == highest else f"{lowest} to {highest}"
        facts.append(("depth of the trees", levels))
    weighted = ", weighted" * (ensemble["weighted"] and votes["rule"] == "average")
    facts.append(("decides by", data["words"]["decides_by"] + weighted))
    facts.append(("votes used", votes["chosen_on"]))
    facts.append(("samples voted on", _samples(votes)))
    if data["blend"] is not None:
        facts += blend_rows(data["blend"])
    return facts + _accuracies(data)


def summary_tables(data: dict[str, Any]) -> dict[str, Table]:
    """Return the tables of the report on a summary."""
    found = [
        _classes(data),
        _confusion(data),
        _confused(data),
        _diversity(data),
        _members(data),
        _rivals(data),
    ]
    return {table.id: table for table in found if table is not None}


def summary_rows(data: dict[str, Any]) -> list[tuple[str, str]]:
    """Return what was counted, as names and values."""
    ensemble, votes = data["ensemble"], data["votes"]
    weighted = ", weighted" * (ensemble["weighted"] and votes["rule"] == "average")
    facts = [
        ("members", count(ensemble["n_members"])),
        ("classes", count(ensemble["n_classes"])),
        ("decides by", data["words"]["decides_by"] + weighted),
        ("votes used", votes["chosen_on"]),
        ("samples voted on", _samples(votes)),
    ]
    if data["reproduce"]["file"] is not None:
        facts.insert(0, ("file", data["reproduce"]["file"]))
    return facts + _accuracies(data)


def has_two_accuracies(data: dict[str, Any]) -> bool:
    """Tell whether the ensemble and the plurality of its votes are to be told apart."""
    votes = data["votes"]
    differ = votes["accuracy"] != votes["plurality_accuracy"]
    return bool(votes["honest"] and (votes["rule"] == "average" or differ))


def _accuracies(data: dict[str, Any]) -> list[tuple[str, str]]:
    votes, words = data["votes"], data["words"]
    if not votes["honest"]:
        return []
    name = f"accuracy, the {words['ensemble']}, by {words['decides_by']}"
    found = [(name, percent(votes["accuracy"]))]
    if has_two_accuracies(data):
        name = f"accuracy, {words['plurality']}"
        found.append((name, percent(votes["plurality_accuracy"])))
    judged, measure = data["judged"], measure_of(data)
    if judged is not None:
        value, doubt = judged["before"]["value"], judged["before"]["standard_error"]
        said = f"{measure.write(value)} ± {measure.differ(doubt).lstrip('+')}"
        found.append((f"{judged['title']}, by which this page judges", said))
    return found


def _samples(votes: dict[str, Any]) -> str:
    text = f"{count(votes['n_samples'])}"
    if votes["drawn"]:
        text = str(votes["drawn"])
    elif votes["n_samples"] < votes["n_given"]:
        text += f" of {count(votes['n_given'])}; the others have no usable vote"
    return f"{text}, {number(votes['votes_per_sample'], 1)} votes on each, on average"


def risk_rows(data: dict[str, Any]) -> list[tuple[str, str]]:
    """Return what the risk estimate rests on, as names and values."""
    risk = data["risk"]
    if risk is None:
        return []
    where = "none" if risk["interval"] is None else f"{risk['interval']} of 8"
    return [
        ("worst sample", count(risk["worst_sample"])),
        ("margin on it", number(risk["margin"])),
        ("diversity on it", number(risk["diversity"])),
        ("interval", where),
        ("risk estimate", number(risk["risk"], 1)),
        ("estimate falls with diversity", _yes(risk["risk_decreases"])),
        ("the bound behind it applies", _yes(risk["lemma_applies"])),
        ("assumed share of wrong labels", percent(risk["noise"], 1)),
    ]


def certificate_rows(data: dict[str, Any]) -> list[tuple[str, str]]:
    """Return what a certificate rests on, as names and values."""
    found = data["certificate"]
    if found["refusal"] is not None:
        return []
    tried = found["single"] and not found["holds"]
    return [
        ("members that are enough", f"{count(found['n_kept'])} of "
         f"{count(found['n_members'])}"),
        (f"error, those {'tried' if tried else 'members'}", percent(found["error"])),
        ("error, all members", percent(found["full_error"])),
        ("extra error, at most", points(found["excess_limit"])),
        ("error, at most", percent(found["error_limit"])),
        ("asked for", f"at most {points(found['tolerance']).lstrip('+')} of extra "
         f"error, wrong in at most {percent(found['delta'], 0)} of cases"),
    ]  # fmt: skip


def _yes(holds: bool) -> str:
    return "yes" if holds else "no"


def _few_sizes(data: dict[str, Any]) -> Table:
    sizes, measure = data["sizes"], measure_of(data)
    text = sizes["text"]
    told = [name for name, each in text.items() if each is not None]
    rows = [
        {**mark, **{name: text[name][mark["at"]] for name in told}}
        for mark in sizes["marked"]
    ]
    for row in rows:
        number_kept = int(sizes["members"][row["at"]])
        row["members"] = f"{count(number_kept)} member{'s' * (number_kept != 1)}"
        if "score" in row:
            row["score"] = f"{row['score']} ± {row['doubt']}"
    times_of = data["pruning"]["milliseconds"]
    n_rows = "" if times_of is None else count(times_of["rows"])
    return make_table(
        "few-sizes",
        "Some sizes side by side",
        (
            Column("members", "keep"),
            Column("what", "which"),
            Column("size", "size", end=True),
            Column("time", f"time for {n_rows} samples", end=True),
            Column("score", f"{measure.title} on held-back samples", end=True),
            Column("promise", "promised extra error", end=True),
        ),
        rows,
        sortable=False,
        stacked=True,
    )


def _confusion(data: dict[str, Any]) -> Table | None:
    found = data["confusion"]
    if found is None or found["classes"] is None or len(found["classes"]) > _SQUARE:
        return None
    names = found["classes"]
    columns = [Column("true", "true class")]
    columns += [Column(str(at), name, end=True) for at, name in enumerate(names)]
    rows = []
    for place, name in enumerate(names):
        row: dict[str, Any] = {"true": name}
        for at in range(len(names)):
            text = count(int(found["before"][place][at]))
            if found["after"] is not None:
                text += f" → {count(int(found['after'][place][at]))}"
            row[str(at)] = Cell(text, None, "end", strong=at == place)
        rows.append(row)
    return make_table(
        "confusion",
        "Taken for which class"
        + (": by all members → by those kept" if found["after"] is not None else ""),
        columns,
        rows,
        sortable=False,
        stacked=True,
    )


def _confused(data: dict[str, Any]) -> Table | None:
    found = data["confusion"]
    if found is None or not found["pairs"]:
        return None
    if found["classes"] is not None and len(found["classes"]) <= _SQUARE:
        return None
    return make_table(
        "confused",
        "Classes most often taken for another",
        (
            Column("class", "true class"),
            Column("taken_for", "taken for"),
            Column("before", "by all", count),
            Column("after", "by those kept", count),
        ),
        found["pairs"],
        stacked=True,
    )


def _classes(data: dict[str, Any]) -> Table:
    return make_table(
        "classes",
        "Classes, and the share of their samples that is found (recall)"
        if data["votes"]["honest"]
        else "Classes",
        (
            Column("class", "class"),
            Column("samples", "samples", count),
            Column("share", "share", lambda v: percent(v, 1)),
            Column("recall", "found by all", lambda v: percent(v, 1)),
            Column("recall_kept", "found by those kept", lambda v: percent(v, 1)),
            Column("recall_rival", "found by the other", lambda v: percent(v, 1),
                   "The model that the ensemble was compared with."),
        ),
        data["classes"],
        filterable=len(data["classes"]) > 10,
        stacked=len(data["classes"]) <= 10,
    )  # fmt: skip


def _diversity(data: dict[str, Any]) -> Table | None:
    if data["diversity"] is None:
        return None
    return make_table(
        "diversity-table",
        "The thirteen measures",
        (
            Column("measure", "measure"),
            Column("all", "all members", number),
            Column("kept", "kept", number),
            Column("direction", "more diverse is"),
            Column("more_diverse", "those kept are"),
            Column("meaning", "what it is", prose=True),
            Column("range", "range"),
        ),
        data["diversity"],
        filterable=True,
        stacked=True,
    )


def _members(data: dict[str, Any]) -> Table:
    kept_first = sorted(
        data["members"], key=lambda row: (row["pick"] is None, row["pick"] or 0)
    )
    return make_table(
        "members-table",
        "All members",
        (
            Column("member", "member"),
            Column("kept", "kept?"),
            Column("pick", "pick", count, "Its place in the order of picking."),
            Column("accuracy", "accuracy alone", percent,
                   "Share of its own votes that are right."),
            Column("contribution", "contribution to all", points,
                   "How much the error of all members together grows without it, on "
                   "at most 6,000 samples."),
            Column("agreement", "agreement", lambda v: percent(v, 1),
                   "Mean share of the other members that vote as it does."),
            Column("weight", "weight", number, "Its weight in the vote."),
            Column("votes", "votes used", count,
                   "Samples it was not trained on, so that its vote counts here."),
            Column("nodes", "nodes", count, "Nodes of its tree."),
            Column("depth", "depth", count, "Levels of its tree."),
            Column("bytes", "size", size, "Bytes when pickled alone."),
            Column("why", "why it stays or goes", told=True),
        ),
        kept_first,
        filterable=True,
    )  # fmt: skip


def _rivals(data: dict[str, Any]) -> Table | None:
    found = data["rivals"]
    if found is None:
        return None
    caption = "The other model beside all members"
    if found["is_order"]:
        caption = "The first members of the order beside all of them"
    return make_table(
        "rivals",
        caption,
        (
            Column("members", "members"),
            Column("accuracy", "accuracy", percent),
            Column("accuracy_all", "all members", percent),
            Column("agreement", "same answer", percent,
                   "Share of the samples on which both decide for the same class."),
            Column("only_rival", "only it errs", count,
                   "Samples that all members together get right."),
            Column("only_whole", "only all err", count,
                   "Samples that it gets right and all members together do not."),
            Column("error_limit", "error, at most", percent,
                   "On samples to come, with 95 % confidence."),
            Column("excess_limit", "more errors, at most", points,
                   "Than all members make on samples to come, with 95 % confidence."),
        ),
        [{**row, "members": count(row["members"])} for row in found["sizes"]],
        sortable=False,
    )  # fmt: skip


def _savings(data: dict[str, Any]) -> Table:
    pruning = data["pruning"]
    rows = []
    times_of = pruning["milliseconds"]
    timed = "" if times_of is None else f"time for {count(times_of['rows'])} samples"
    for what, key, write, words in (
        ("members", "members", count, ("fewer", "more")),
        ("nodes", "nodes", count, ("fewer", "more")),
        ("size, pickled", "bytes", size, ("smaller", "larger")),
        (timed, "milliseconds", milliseconds, ("faster", "slower")),
        ("accuracy, on the votes chosen on", "accuracy", percent, None),
    ):
        pair = pruning[key]
        if pair is None:
            continue
        before, after = pair["before"], pair["after"]
        change = points(after - before)
        if words is not None:
            change = _changed(before, after, *words)
        rows.append(
            {
                "what": what,
                "before": write(before),
                "after": write(after),
                "change": change,
            }
        )
    judged, measure = data["judged"], measure_of(data)
    if judged is not None:
        rows.append(
            {
                "what": f"{judged['title']}, on the votes chosen on",
                "before": measure.write(judged["before"]["value"]),
                "after": measure.write(judged["after"]["value"]),
                "change": measure.differ(judged["gain"]["value"]),
            }
        )
    mine = method_of_this_report(data)
    if mine is not None:
        rows.append(
            {
                "what": "accuracy, on held-back samples",
                "before": percent(mine["accuracy"] - mine["gain"]),
                "after": percent(mine["accuracy"]),
                "change": points(mine["gain"]),
            }
        )
    if mine is not None and judged is not None:
        value, gain = mine[measure.value], mine[measure.gain]
        rows.append(
            {
                "what": f"{judged['title']}, on held-back samples",
                "before": measure.write(value - gain),
                "after": measure.write(value),
                "change": measure.differ(gain),
            }
        )
    return make_table(
        "savings",
        "Before and after pruning",
        (
            Column("what", "what"),
            Column("before", "all members", end=True),
            Column("after", "kept", end=True),
            Column("change", "change", end=True),
        ),
        rows,
        stacked=True,
    )


def _changed(before: float, after: float, less: str, more: str) -> str:
    """Say how many times less or more there is of what should be little."""
    if before == after:
        return "the same"
    if after < before:
        return f"{times(before / after)} {less}"
    return f"{times(after / before)} {more}"


def _methods(data: dict[str, Any]) -> Table | None:
    compared = data["methods"]
    if compared["refusal"] is not None:
        return None
    measure = measure_of(data)
    scored = [Column("score", measure.title, measure.write)]
    if data["judged"] is None:
        scored = []
    return make_table(
        "methods-table",
        f"Methods at {count(compared['size'])} "
        f"{'member' if compared['size'] == 1 else 'members'}, on held-back samples",
        (
            Column("method", "method"),
            Column("members", "members", lambda v: f"{v:g}"),
            Column("accuracy", "accuracy", percent),
            *scored,
            Column(measure.gain, "against all", measure.differ,
                   "Difference to all members, on the same samples."),
            Column(measure.gain_error, "standard error",
                   lambda v: measure.differ(v).lstrip("+"),
                   "How far that difference may be off by chance."),
            Column("seconds", "time to choose", lambda v: milliseconds(
                None if v is None else 1e3 * v), "For both halves together."),
            Column("chosen", "used here"),
        ),
        [{**row, "chosen": row["chosen"] or ""} for row in compared["rows"]],
        stacked=True,
    )  # fmt: skip


def _lazy(data: dict[str, Any]) -> Table | None:
    lazy = data["lazy"]
    if not lazy["rows"]:
        return None
    return make_table(
        "lazy-table",
        "Ways to vote lazily",
        (
            Column("mode", "mode"),
            Column("members_asked", "members asked", lambda v: number(v, 1),
                   "Mean over the samples."),
            Column("share_asked", "of all", lambda v: percent(v, 0)),
            Column("disagreement", "predictions changed", percent,
                   "Against the prediction of all members."),
            Column("allowed", "allowed on average", percent,
                   "What the mode allows, on average over samples to come."),
            Column("milliseconds", f"time for {count(lazy['n_samples'])} samples",
                   milliseconds),
            Column("speedup", "times as fast", times),
        ),
        [{**row, "mode": row["mode"].replace(" %", "\u00a0%")} for row in lazy["rows"]],
        stacked=True,
    )  # fmt: skip
