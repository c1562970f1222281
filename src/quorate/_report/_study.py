"""The page about a study: only what its store holds is read, nothing runs again."""

import json
import os
import shlex
from dataclasses import dataclass
from typing import Any

import numpy as np

from quorate._report._page import Report, origin, render
from quorate._report._pages import Page
from quorate._report._pictures import study_pictures
from quorate._report._reproduce import ReproduceSection
from quorate.stats import Scores, friedman, win_tie_loss
from quorate.study import Results, Standing


@dataclass(frozen=True, slots=True)
class StudyCell:
    """A method on a data set: accuracy over folds, and how it compares."""

    mean: float
    deviation: float
    mark: int
    """1 where the reference is significantly better, -1 where it is worse."""
    best: bool


@dataclass(frozen=True, slots=True)
class StudyRow:
    """A data set, and every method on it."""

    block: str
    methods: dict[str, StudyCell]


@dataclass(frozen=True, slots=True)
class FriedmanSection:
    """The test of all methods being equal."""

    chi_square: float
    p_value: float
    differ: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyPage(Page):
    """The page about a study."""

    kind: str = "study"
    name: str
    reference: str
    methods: list[str]
    data_sets: list[str]
    ensembles: list[str]
    n_blocks: int
    n_repeats: int
    n_cells: int
    standings: list[Standing]
    accuracies: list[StudyRow]
    friedman: FriedmanSection | None
    failures: list[dict[str, Any]]
    preparation: list[dict[str, Any]]
    plan: dict[str, Any] | None
    reproduce: ReproduceSection


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
    against = reference or results.methods[-1]
    standings = list(results.standings(against))
    scores = results.scores().complete_blocks()
    command = ["quorate", "study", "report", store or "STORE", "--html", "report.html"]
    command += [] if reference is None else ["--reference", reference]
    page = StudyPage(
        **origin(),
        title=title or f"Study {results.name}",
        name=results.name,
        reference=against,
        methods=list(results.methods),
        data_sets=_in_order(results, "data"),
        ensembles=_in_order(results, "ensemble"),
        n_blocks=scores.n_blocks,
        n_repeats=scores.n_repeats,
        n_cells=len(results.rows),
        standings=standings,
        accuracies=_accuracies(scores, against),
        friedman=_friedman(scores),
        failures=list(results.failures),
        preparation=list(results.preparation),
        plan=plan,
        reproduce=ReproduceSection("", shlex.join(command), file=store),
    )
    plan_text = json.dumps(plan, indent=2, ensure_ascii=False)
    made = render("study.html", page, study_pictures(results), plan_text=plan_text)
    if output is not None:
        made.save(output)
    return made


def _in_order(results: Results, name: str) -> list[str]:
    return list(dict.fromkeys(str(row[name]) for row in results.rows))


def _accuracies(scores: Scores, against: str) -> list[StudyRow]:
    """Return, for each data set, mean, deviation, mark and rank of every method."""
    values = np.asarray(scores.values)
    mean, spread = values.mean(axis=2), values.std(axis=2, ddof=1)
    marks = np.zeros(mean.shape, dtype=int)
    if scores.n_methods > 1:
        compared = win_tie_loss(scores, against)
        places = [scores.methods.index(method) for method in compared.methods]
        marks[:, places] = compared.marks
    best = mean >= mean.max(axis=1, keepdims=True) - 1e-12
    return [
        StudyRow(
            block,
            {
                method: StudyCell(
                    float(mean[b, m]),
                    float(spread[b, m]),
                    int(marks[b, m]),
                    bool(best[b, m]),
                )
                for m, method in enumerate(scores.methods)
            },
        )
        for b, block in enumerate(scores.blocks)
    ]


def _friedman(scores: Scores) -> FriedmanSection | None:
    if scores.n_methods < 2 or scores.n_blocks < 2:
        return None
    test = friedman(scores)
    return FriedmanSection(
        float(test.chi_square), float(test.chi_square_p_value), test.differ()
    )
