"""The page about a study, from stored results only."""

import json
import os
from dataclasses import dataclass
from typing import Any

import numpy as np

from quorate._report._page import Page, Report, render
from quorate._report._pictures import study_pictures
from quorate._report._reproduce import ReproduceSection, shell_line
from quorate.stats import Scores, friedman, win_tie_loss
from quorate.study import Results, Standing


@dataclass(frozen=True, slots=True)
class StudyCell:
    """A method on a data set: accuracy over folds, and its comparison.

    ``mark`` is 1 if the reference is significantly better, -1 if it is worse.
    """

    mean: float
    deviation: float
    mark: int
    best: bool


@dataclass(frozen=True, slots=True)
class StudyRow:
    """A data set with the results of every method."""

    block: str
    methods: dict[str, StudyCell]


@dataclass(frozen=True, slots=True)
class FriedmanSection:
    """The Friedman test that all methods are equal."""

    chi_square: float
    p_value: float
    differ: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyPage(Page):
    """Data of the page about a study."""

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
    words = ("quorate", "study", "report", store or "STORE")
    command = shell_line(words, {"html": "report.html", "reference": reference})
    data_sets, ensembles = (
        list(dict.fromkeys(str(row[name]) for row in results.rows))
        for name in ("data", "ensemble")
    )
    page = StudyPage(
        title=title or f"Study {results.name}",
        name=results.name,
        reference=against,
        methods=list(results.methods),
        data_sets=data_sets,
        ensembles=ensembles,
        n_blocks=scores.n_blocks,
        n_repeats=scores.n_repeats,
        n_cells=len(results.rows),
        standings=list(results.standings(against)),
        accuracies=_accuracies(scores, against),
        friedman=_friedman(scores),
        failures=list(results.failures),
        preparation=list(results.preparation),
        plan=plan,
        reproduce=ReproduceSection("", command, file=store),
    )
    plan_text = json.dumps(plan, indent=2, ensure_ascii=False)
    made = render("study.html", page, study_pictures(results), plan_text=plan_text)
    if output is not None:
        made.save(output)
    return made


def _accuracies(scores: Scores, against: str) -> list[StudyRow]:
    """Return mean, deviation, mark and rank of every method on each data set."""
    values = np.asarray(scores.values)
    mean, spread = values.mean(axis=2), values.std(axis=2, ddof=1)
    marks = np.zeros(mean.shape, dtype=int)
    if scores.n_methods > 1:
        compared = win_tie_loss(scores, against)
        places = [scores.methods.index(method) for method in compared.methods]
        marks[:, places] = compared.marks
    best = mean >= mean.max(axis=1, keepdims=True) - 1e-12
    tables = [table.tolist() for table in (mean, spread, marks, best)]
    cells = [list(map(StudyCell, *rows)) for rows in zip(*tables, strict=True)]
    return [
        StudyRow(block, dict(zip(scores.methods, row, strict=True)))
        for block, row in zip(scores.blocks, cells, strict=True)
    ]


def _friedman(scores: Scores) -> FriedmanSection | None:
    if scores.n_methods < 2 or scores.n_blocks < 2:
        return None
    test = friedman(scores)
    return FriedmanSection(test.chi_square, test.chi_square_p_value, test.differ())
