"""The report on a study: only what its store holds is read, nothing runs again."""

import json
import os
import platform
import shlex
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

import numpy as np

from quorate._report._format import count, milliseconds, number, percent, size
from quorate._report._page import Report, embeddable, render, require_extra
from quorate._report._pictures import study_pictures
from quorate._report._tables import Cell, Column, Table, make_table
from quorate._report._words import STUDY_GLOSSARY
from quorate._version import versions
from quorate.stats import friedman
from quorate.study import Results

_MARKS = {1: "+", 0: "", -1: "\u2212"}


def study_report(
    results: Results,
    *,
    output: str | os.PathLike[str] | None = None,
    plan: dict[str, Any] | None = None,
    store: str | None = None,
    reference: str | None = None,
    title: str | None = None,
) -> Report:
    """Write one page about the results of a study.

    Parameters
    ----------
    results : Results
        From :meth:`quorate.study.Results.read`.
    output : path, optional
        File to write the page to.
    plan : dict, optional
        The plan in plain types, as the store has it, to be shown.
    store : str, optional
        Where the results came from, for the command that makes the page again.
    reference : str, optional
        The method the others are compared with; the last one by default.
    title : str, optional
        Title of the page.
    """
    require_extra()
    against = reference or results.methods[-1]
    standings = [asdict(one) for one in results.standings(against)]
    scores = results.scores().complete_blocks()
    data: dict[str, Any] = {
        "format": "quorate-report/1",
        "kind": "study",
        "title": title or f"Study {results.name}",
        "made": datetime.now(UTC).date().isoformat(),
        "name": results.name,
        "reference": against,
        "methods": list(results.methods),
        "data_sets": _in_order(results, "data"),
        "ensembles": _in_order(results, "ensemble"),
        "n_blocks": scores.n_blocks,
        "n_repeats": scores.n_repeats,
        "n_cells": len(results.rows),
        "standings": standings,
        "accuracies": _accuracies(results, scores, against),
        "friedman": _friedman(scores),
        "failures": [_failure(row) for row in results.failures],
        "preparation": _preparation(results),
        "plan": plan,
        "reproduce": {"shell": _command(store, reference), "store": store},
        "versions": {
            **versions("scikit-learn", "numpy", "scipy"),
            "platform": platform.platform(),
        },
    }
    pictures = study_pictures(results)
    made = render(
        "study.html",
        data,
        kind="report on a study",
        lead=_lead(data),
        glossary=STUDY_GLOSSARY,
        plan_facts=_plan_facts(data),
        plan_text=json.dumps(plan, indent=2, ensure_ascii=False),
        tables=_tables(data),
        pictures=pictures,
        marks=embeddable({p.id: p.marks for p in pictures.values() if p.marks}),
    )
    if output is not None:
        made.save(output)
    return made


def _in_order(results: Results, name: str) -> list[str]:
    return list(dict.fromkeys(str(row[name]) for row in results.rows))


def _accuracies(results: Results, scores: Any, against: str) -> list[dict[str, Any]]:
    """Return, for each data set, mean, deviation, mark and rank of every method."""
    from quorate.stats import win_tie_loss

    values = np.asarray(scores.values)
    mean, spread = values.mean(axis=2), values.std(axis=2, ddof=1)
    marks: dict[str, Any] = {}
    if scores.n_methods > 1:
        compared = win_tie_loss(scores, against)
        marks = {
            method: compared.marks[:, at] for at, method in enumerate(compared.methods)
        }
    return [
        {
            "block": block,
            "methods": {
                method: {
                    "mean": mean[b, m],
                    "deviation": spread[b, m],
                    "mark": int(marks[method][b]) if method in marks else 0,
                    "best": bool(mean[b, m] >= mean[b].max() - 1e-12),
                }
                for m, method in enumerate(scores.methods)
            },
        }
        for b, block in enumerate(scores.blocks)
    ]


def _friedman(scores: Any) -> dict[str, Any] | None:
    if scores.n_methods < 2 or scores.n_blocks < 2:
        return None
    test = friedman(scores)
    return {
        "chi_square": float(test.chi_square),
        "p_value": float(test.chi_square_p_value),
        "differ": test.differ(),
    }


def _failure(row: dict[str, Any]) -> dict[str, Any]:
    text = str(row["error"])
    lines = text.strip().splitlines() or [""]
    return {
        "data": row["data"],
        "method": row["method"],
        "ensemble": row["ensemble"],
        "fold": f"{row['repeat']}.{row['fold']}",
        "why": lines[-1],
        "traceback": text,
    }


def _preparation(results: Results) -> list[dict[str, Any]]:
    return [
        {
            "data": row["data"],
            "fold": f"{row['repeat']}.{row['fold']}",
            "rows": row.get("rows"),
            "columns": row.get("columns"),
            "features": row.get("features"),
            "what": row.get("what"),
        }
        for row in results.preparation
    ]


def _command(store: str | None, reference: str | None) -> str:
    words = ["quorate", "study", "report", store or "STORE", "--html", "report.html"]
    if reference is not None:
        words += ["--reference", reference]
    return shlex.join(words)


def _lead(data: dict[str, Any]) -> str:
    best, last = data["standings"][0], data["standings"][-1]
    text = (
        f"{count(len(data['methods']))} methods on {count(data['n_blocks'])} data sets "
        f"and {count(data['n_repeats'])} folds. {best['method']} has the best average "
        f"rank, {number(best['rank'], 2)}"
    )
    if last is not best:
        text += f", and {last['method']} the worst, {number(last['rank'], 2)}"
    return text + f"; mean accuracies go from {_range(data['standings'])}."


def _range(standings: list[dict[str, Any]]) -> str:
    found = [row["accuracy"] for row in standings]
    return f"{percent(min(found), 1)} to {percent(max(found), 1)}"


def _plan_facts(data: dict[str, Any]) -> list[tuple[str, str]]:
    plan = data["plan"] or {}
    facts = [
        ("study", data["name"]),
        ("data sets", ", ".join(data["data_sets"])),
        ("ensembles", "; ".join(data["ensembles"])),
        ("methods", ", ".join(data["methods"])),
        ("compared with", data["reference"]),
        ("cells that went well", count(data["n_cells"])),
        ("cells that failed", count(len(data["failures"]))),
    ]
    for key, name in (
        ("folds", "folds"),
        ("repeats", "repeats"),
        ("prune_on", "members are chosen on"),
        ("binary", "classes joined into two"),
        ("rows", "rows of a data set, at most"),
        ("seed", "seed"),
    ):
        if plan.get(key) is not None:
            facts.append((name, str(plan[key])))
    return facts


def _tables(data: dict[str, Any]) -> dict[str, Table]:
    found = [_standings(data), _by_data_set(data), _failures(data), _prepared(data)]
    return {table.id: table for table in found if table.rows}


def _standings(data: dict[str, Any]) -> Table:
    rows = [
        {
            **row,
            "wtl": "reference"
            if row["wins"] is None
            else f"{row['wins']}/{row['ties']}/{row['losses']}",
            "milliseconds": 1e3 * row["seconds"],
        }
        for row in data["standings"]
    ]
    against = data["reference"]
    return make_table(
        "standings",
        "Methods, by average rank",
        (
            Column("method", "method"),
            Column("rank", "rank", lambda v: number(v, 2),
                   "Average over the data sets; 1 is best."),
            Column("accuracy", "accuracy", percent, "Mean over data sets and folds."),
            Column("wtl", "W/T/L", None, "Wins, ties and losses of the reference, "
                   f"{against}, against the method.", end=True),
            Column("kept", "kept", lambda v: number(v, 1), "Members kept, mean."),
            Column("milliseconds", "time", milliseconds, "To choose them, mean."),
            Column("bytes", "size", size, "Of the members kept, mean."),
        ),
        rows,
        filterable=True,
    )  # fmt: skip


def _by_data_set(data: dict[str, Any]) -> Table:
    methods = [row["method"] for row in data["standings"]]
    order = [name for name in data["methods"] if name in methods]
    rows = [
        {
            "block": row["block"],
            **{f"m{at}": _score(row["methods"][name]) for at, name in enumerate(order)},
        }
        for row in data["accuracies"]
    ]
    columns = [Column("block", "data set")]
    columns += [Column(f"m{at}", name, percent) for at, name in enumerate(order)]
    return make_table(
        "accuracies",
        "Accuracy in per cent, mean \u00b1 standard deviation over folds",
        columns,
        rows,
        filterable=True,
    )


def _score(cell: dict[str, Any]) -> Cell:
    text = f"{100 * cell['mean']:.2f}\u202f\u00b1\u202f{100 * cell['deviation']:.2f}"
    mark = _MARKS[cell["mark"]]
    return Cell(f"{text}{mark}", float(cell["mean"]), "n", strong=cell["best"])


def _failures(data: dict[str, Any]) -> Table:
    return make_table(
        "failures-table",
        "Cells that failed",
        (
            Column("data", "data set"),
            Column("method", "method"),
            Column("ensemble", "ensemble"),
            Column("fold", "repeat.fold"),
            Column("why", "why", prose=True),
        ),
        data["failures"],
        filterable=len(data["failures"]) > 10,
    )


def _prepared(data: dict[str, Any]) -> Table:
    return make_table(
        "preparation-table",
        "What was done to the data before any learner saw it",
        (
            Column("data", "data set"),
            Column("fold", "repeat.fold"),
            Column("rows", "rows", count),
            Column("columns", "columns", count),
            Column("features", "features", count),
            Column("what", "what", prose=True),
        ),
        data["preparation"],
        filterable=True,
    )
