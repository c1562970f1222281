"""The page about a study, from stored results only."""

import json
import os
import shlex
from dataclasses import asdict
from typing import Any

import numpy as np

from quorate._output import plain
from quorate._report._page import Report, page_head, render
from quorate._report._pictures import study_pictures
from quorate._report._sections import Section
from quorate.stats import Scores, friedman, win_tie_loss
from quorate.study import Results


def study_report(
    results: Results,
    *,
    output: str | os.PathLike[str] | None = None,
    plan: dict[str, Any] | None = None,
    store: str | None = None,
    reference: str | None = None,
    title: str | None = None,
) -> Report:
    """Create an HTML report about the results of a study.

    Parameters
    ----------
    results : Results
        From :meth:`quorate.study.Results.read`.
    output : path, optional
        File to write the page to.
    plan : dict, optional
        The plan to show, in plain types, as in the store.
    store : str, optional
        Path of the store, for the command that reproduces the page.
    reference : str, optional
        The method the others are compared with; the last one by default.
    title : str, optional
        Title of the page.
    """
    against = reference or results.methods[-1]
    scores = results.scores().complete_blocks()
    words = ["quorate", "study", "report", store or "STORE", "--html", "report.html"]
    words += [] if reference is None else ["--reference", reference]
    data_sets, ensembles = (
        list(dict.fromkeys(str(row[name]) for row in results.rows))
        for name in ("data", "ensemble")
    )
    page = page_head("study", title or f"Study {results.name}") | {
        "name": results.name,
        "reference": against,
        "methods": list(results.methods),
        "data_sets": data_sets,
        "ensembles": ensembles,
        "n_blocks": scores.n_blocks,
        "n_repeats": scores.n_repeats,
        "n_cells": len(results.rows),
        "standings": [plain(asdict(row)) for row in results.standings(against)],
        "accuracies": _accuracies(scores, against),
        "friedman": _friedman(scores),
        "failures": plain(results.failures),
        "preparation": plain(results.preparation),
        "plan": plain(plan),
        "reproduce": {"shell": shlex.join(words), "file": store},
    }
    plan_text = json.dumps(plan, indent=2, ensure_ascii=False)
    made = render("study.html", page, study_pictures(results), plan_text=plan_text)
    if output is not None:
        made.save(output)
    return made


def _accuracies(scores: Scores, against: str) -> list[Section]:
    """Return each data set with the results of every method over folds.

    ``mark`` is 1 if the reference is significantly better, -1 if it is worse.
    """
    values = np.asarray(scores.values)
    mean, spread = values.mean(axis=2), values.std(axis=2, ddof=1)
    marks = np.zeros(mean.shape, dtype=int)
    if scores.n_methods > 1:
        compared = win_tie_loss(scores, against)
        places = [scores.methods.index(method) for method in compared.methods]
        marks[:, places] = compared.marks
    best = mean >= mean.max(axis=1, keepdims=True) - 1e-12
    names = "mean", "deviation", "mark", "best"
    cells = np.empty((*mean.shape, len(names)), dtype=object)
    for place, table in enumerate((mean, spread, marks, best)):
        cells[..., place] = table.tolist()
    return [
        {
            "block": block,
            "methods": {
                method: dict(zip(names, cell, strict=True))
                for method, cell in zip(scores.methods, row, strict=True)
            },
        }
        for block, row in zip(scores.blocks, cells.tolist(), strict=True)
    ]


def _friedman(scores: Scores) -> Section | None:
    """Return the test that all methods are equal."""
    if scores.n_methods < 2 or scores.n_blocks < 2:
        return None
    test = friedman(scores)
    return {
        "chi_square": float(test.chi_square),
        "p_value": float(test.chi_square_p_value),
        "differ": bool(test.differ()),
    }
