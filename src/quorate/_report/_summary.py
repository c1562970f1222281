"""The page about a summary: what counts alone can say, and what they cannot."""

from dataclasses import replace

import numpy as np

from quorate._judging import certify, error_limit, excess_limit
from quorate._report._advice import summary_advice
from quorate._report._expected import (
    DELTA,
    TOLERANCE,
    CertificateSection,
    NoCertificate,
    certified,
)
from quorate._report._page import Report, origin, render
from quorate._report._pages import (
    RivalClassRow,
    RivalRow,
    RivalsSection,
    SummaryPage,
)
from quorate._report._pictures import evenly_spread, summary_pictures
from quorate._report._reproduce import reproduce_summary
from quorate._report._sections import (
    UNSCORED,
    confusion_section,
    decomposition_section,
    ensemble_section,
    measure_rows,
    member_rows,
    votes_section,
    words,
)
from quorate._report._text import plural
from quorate._theory import diagnose
from quorate._typing import FloatArray
from quorate._votes import PairedErrors, Summary, VoteSource

_MOST_SIZES = 30


def summary_report(
    summary: Summary,
    *,
    noise: float = 0.01,
    title: str | None = None,
    file: str | None = None,
) -> Report:
    """Make the page of a summary; ``file`` names where it is from, if it is a file.

    What needs single samples, or the model itself, is left out, and the page says so.
    """
    if summary.source is VoteSource.UNLABELLED:
        raise ValueError(f"report: {summary.source.flaw}.")
    if summary.own_confusion is None:
        summary = summary.by_plurality()  # nothing else is known of what it decides
    votes = votes_section(summary)
    honest, n_samples = votes.honest, summary.n_samples
    diagnosis = diagnose(summary, noise) if honest else None
    weights = None if summary.has_equal_weights else summary.weights
    confusion = None
    if honest:
        table = summary.confusion()
        confusion = confusion_section(table, None, summary.classes, n_samples)
    certificate = _certificate(summary, honest)
    page = SummaryPage(
        **origin(),
        title=title or f"Votes of {plural(summary.n_members)} on {n_samples:,} samples",
        ensemble=ensemble_section(summary),
        words=words(summary),
        votes=votes,
        classes=_class_rows(summary, honest),
        confusion=confusion,
        diversity=measure_rows(diagnosis, None),
        decomposition=decomposition_section(diagnosis, None),
        risk=None if diagnosis is None else diagnosis.to_dict()["risk"],
        members=member_rows(summary, _mean_agreement(summary), weights, honest),
        certificate=certificate,
        rivals=_rivals_section(summary.rivals, certificate) if honest else None,
        reproduce=reproduce_summary(noise, title, file),
        advice=[],
    )
    page = replace(page, advice=summary_advice(page))
    pictures = summary_pictures(page, summary, diagnosis)
    return render("summary.html", page, pictures, unscored=UNSCORED)


def _certificate(summary: Summary, honest: bool) -> CertificateSection | NoCertificate:
    """Return what can be promised of the other model, if there is one."""
    if summary.rivals is None:
        return NoCertificate(
            "The summary was made without a second model to compare with."
        )
    if not honest:
        return NoCertificate(UNSCORED)
    try:
        return certified(certify(summary, tolerance=TOLERANCE, delta=DELTA))
    except ValueError as error:
        why = str(error).split(": ", 1)[-1]
        return NoCertificate(why[:1].upper() + why[1:])


def _rivals_section(
    rivals: PairedErrors | None, certificate: CertificateSection | NoCertificate
) -> RivalsSection | None:
    """Return how each size does beside the whole; some of them, if they are many."""
    if rivals is None:
        return None
    n, counted = rivals.n_samples, rivals.sizes.size == 1
    shown = evenly_spread(rivals.sizes.size, _MOST_SIZES)
    if isinstance(certificate, CertificateSection):
        at = np.flatnonzero(rivals.sizes == certificate.n_kept)
        shown = np.union1d(shown, at)
    excess = np.atleast_1d(excess_limit(rivals.only_rival, rivals.only_whole, n))
    rows = [
        RivalRow(
            members=int(rivals.sizes[at]),
            accuracy=(n - int(rivals.wrong[at])) / n,
            accuracy_all=(n - rivals.wrong_whole) / n,
            agreement=int(rivals.same[at]) / n if counted else None,
            only_rival=int(rivals.only_rival[at]),
            only_whole=int(rivals.only_whole[at]),
            # A limit holds for one size fixed before, not for the best of many.
            error_limit=error_limit(int(rivals.wrong[at]), n) if counted else None,
            excess_limit=float(excess[at]) if counted else None,
        )
        for at in shown
    ]
    return RivalsSection(not counted, int(rivals.sizes.max()), rows)


def _class_rows(summary: Summary, honest: bool) -> list[RivalClassRow]:
    """Return, for each class, its samples and how many of them are found.

    By the ensemble, and by another model where there is one and that was counted.
    """
    table, rivals = summary.confusion(), summary.rivals
    there, found = table.sum(axis=1), None
    if rivals is not None and rivals.sizes.size == 1:
        found = rivals.found
    rows = []
    for code, label in enumerate(summary.classes.tolist()):
        recall = rival = None
        if honest and there[code]:
            recall = float(table[code, code] / there[code])
            rival = None if found is None else float(found[0, code] / there[code])
        share = float(there[code] / there.sum())
        row = RivalClassRow(str(label), int(there[code]), share, recall, rival)
        rows.append(row)
    return rows


def _mean_agreement(summary: Summary) -> FloatArray:
    """Return how many of the others' votes are the same as each member's.

    Where everybody votes, that is the mean share of others that vote as it does.
    """
    same, common = (table.astype(float) for table in summary.agreement())
    np.fill_diagonal(same, 0.0)
    np.fill_diagonal(common, 0.0)
    pairs = common.sum(axis=1)
    return np.asarray(
        np.divide(same.sum(axis=1), pairs, np.full_like(pairs, np.nan), where=pairs > 0)
    )
