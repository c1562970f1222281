"""Pages from stored results: a summary of votes, and a study."""

import json
import os
import shlex
from dataclasses import asdict

import numpy as np

from quorate._judging import certify
from quorate._output import plain
from quorate._report._advice import Step, best_member, step
from quorate._report._page import Report, page_head, render
from quorate._report._pictures import study_pictures, votes_pictures
from quorate._report._reproduce import reproduce_summary
from quorate._report._sections import (
    Section,
    confusion_section,
    member_rows,
    votes_sections,
    why_unscored,
)
from quorate._report._text import count, plural, points, unsigned
from quorate._theory import diagnose
from quorate._votes import Summary, VoteSource
from quorate.stats import Scores, friedman, win_tie_loss
from quorate.study import Results


def summary_report(
    summary: Summary,
    *,
    noise: float = 0.01,
    title: str | None = None,
    file: str | None = None,
) -> Report:
    """Create the page of a summary; ``file`` is its path, if it is a file.

    The page omits what needs single samples or the model itself, with a note.
    """
    if summary.source is VoteSource.UNLABELLED:
        raise ValueError(f"report: {summary.source.why_unreliable}.")
    if "own" not in summary.sums:
        summary = summary.by_plurality()  # nothing else is known about its predictions
    honest, n_samples = not summary.why_unreliable, summary.n_samples
    title_text = (
        title or f"Votes of {plural(summary.n_members)} on {n_samples:,} samples"
    )
    diagnosis = diagnose(summary, noise) if honest else None
    other = summary.against
    page = page_head("summary", title_text)
    page |= votes_sections(summary, diagnosis)
    page |= {
        "classes": _class_rows(summary, honest),
        "confusion": confusion_section(
            summary.confusion(), None, summary.classes, n_samples
        )
        if honest
        else None,
        "members": member_rows(summary, honest),
        "certificate": _certificate(summary, honest),
        "other_model": str(other) if honest and other is not None else None,
        "reproduce": reproduce_summary(noise, title, file),
    }
    page["advice"] = _advice(page)
    pictures = {} if diagnosis is None else votes_pictures(summary, diagnosis)
    return render("summary.html", page, pictures, unscored=why_unscored(summary))


def _advice(page: Section) -> list[Step]:
    """Return recommendations from counts alone, the most important first."""
    if not page["votes"]["honest"]:
        title = "Make the summary again from samples that no member was trained on."
        text = "These are the training samples of the members, so there are no scores."
        return [step(title, text)]
    steps = [best_member(page), _use_other_model(page)]
    if page["other_model"] is None:
        choose = step(
            "To keep fewer members, choose them on a sample of the rows.",
            "Pass it to quorate.prune(ensemble, X, y); "
            "quorate.certify(quorate.summarise(ensemble, batches, against=small)) then "
            "compares both models on all rows.",
        )
        steps.append(choose)
    return [each for each in steps if each is not None]


def _use_other_model(page: Section) -> Step | None:
    """Recommend whether to use the other model."""
    certificate = page["certificate"]
    if page["other_model"] is None:
        return None
    if certificate["refusal"]:
        title = "Do not rely on the smaller model yet: there is no guarantee."
        return step(title, certificate["refusal"])
    limit = unsigned(points(certificate["tolerance"]))
    title = (
        f"Do not count on fewer members: more than {limit} of extra error cannot be "
        "ruled out."
    )
    if certificate["holds"]:
        kept = f"{count(certificate['n_kept'])} of {count(certificate['n_members'])}"
        title = f"Use {kept} members, certified to be nearly as accurate."
    return step(title, certificate["text"])


def _certificate(summary: Summary, honest: bool) -> Section:
    """Return the certificate of the other model, if there is one."""
    if summary.against is None:
        why = "The summary was made without a second model to compare with."
        return {"refusal": why}
    if not honest:
        return {"refusal": why_unscored(summary)}
    try:
        certificate = certify(summary)
    except ValueError as error:
        why = str(error).split(": ", 1)[-1]
        return {"refusal": why[:1].upper() + why[1:]}
    names = (
        *("holds", "single", "n_kept", "n_members", "n_samples", "error", "full_error"),
        *("excess_limit", "error_limit", "tolerance", "delta"),
    )
    section: Section = {name: getattr(certificate, name) for name in names}
    return {"refusal": None, "text": str(certificate), **section}


def _class_rows(summary: Summary, honest: bool) -> list[Section]:
    """Return the number of samples and the recall of each class.

    Recall is that of the ensemble, and of another model if it was counted.
    """
    table, other = summary.confusion(), summary.against
    found = other.found[0] if other is not None and other.sizes.size == 1 else None
    rows = []
    for code, label in enumerate(summary.classes.tolist()):
        n_samples = int(table[code].sum())
        scored = honest and n_samples > 0
        row = {
            "class": str(label),
            "samples": n_samples,
            "share": float(n_samples / table.sum()),
            "recall": float(table[code, code] / n_samples) if scored else None,
            "recall_other": float(found[code] / n_samples)
            if scored and found is not None
            else None,
        }
        rows.append(row)
    return rows


def study_report(
    results: Results,
    *,
    output: str | os.PathLike[str] | None = None,
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
    store : str, optional
        Path of the store, for the command that reproduces the page.
    reference : str, optional
        The method the others are compared with; the last one by default.
    title : str, optional
        Title of the page.
    """
    against = reference or next(iter(results.searches.values())).methods[-1]
    plan = None if results.plan is None else results.plan.to_dict()
    rankings = [_ranking(*part, against) for part in results.searches.items()]
    words = ["quorate", "study", "report", store or "STORE", "--html", "report.html"]
    words += [] if reference is None else ["--reference", reference]
    data_sets, ensembles = (
        list(dict.fromkeys(str(row[name]) for row in results.rows))
        for name in ("data", "ensemble")
    )
    scores = results.scores().complete_blocks()
    page = page_head("study", title or f"Study {results.name}") | {
        "name": results.name,
        "reference": against,
        "methods": list(results.methods),
        "data_sets": data_sets,
        "ensembles": ensembles,
        "n_blocks": scores.n_blocks,
        "n_repeats": scores.n_repeats,
        "n_cells": len(results.rows),
        "standings": rankings[0]["standings"],
        "rankings": rankings,
        "correlations": None,
        "failures": plain(results.failures),
        "preparation": plain(results.preparation),
        "plan": plain(plan),
        "reproduce": {"shell": shlex.join(words), "file": store},
    }
    if len(results.methods) == 1:  # nothing is ranked
        table = results.correlation_table()
        page["correlations"] = {"header": table.header[1:], "rows": table.body}
    plan_text = json.dumps(plan, indent=2, ensure_ascii=False)
    made = render("study.html", page, study_pictures(results), plan_text=plan_text)
    if output is not None:
        made.save(output)
    return made


def _ranking(search: str, results: Results, against: str) -> Section:
    """Return the tables of one search of a table of the paper, or of any study."""
    scores = results.scores().complete_blocks()
    return {
        "search": search,
        "methods": list(scores.methods),
        "standings": [plain(asdict(row)) for row in results.standings(against)],
        "accuracies": _accuracies(scores, against, results.printed()),
        "friedman": _friedman(scores),
    }


def _accuracies(scores: Scores, against: str, printed: Section) -> list[Section]:
    """Return each data set with the results of every method over folds.

    ``mark`` is 1 if the reference is significantly better, -1 if it is worse. What the
    paper prints follows.
    """
    values = np.asarray(scores.values)
    mean, spread = values.mean(axis=2), values.std(axis=2, ddof=0 if printed else 1)
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
    rows = []
    for block, row in zip(scores.blocks, cells.tolist(), strict=True):
        by_method = zip(scores.methods, row, strict=True)
        found = {
            method: dict(zip(names, cell, strict=True)) for method, cell in by_method
        }
        rows.append({"block": block, "methods": found})
        if there := printed.get(block):
            lines = {
                method: dict(zip(names, (m / 100, d / 100, 0, False), strict=True))
                for method, (m, d) in there.items()
                if method in found
            }
            rows.append({"block": f"{block}, paper", "methods": lines})
    return rows


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
