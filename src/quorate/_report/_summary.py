"""The page about a summary of votes."""

from dataclasses import dataclass, replace

import numpy as np

from quorate._judging import certify
from quorate._report import _sections
from quorate._report._advice import best_member, votes_advice
from quorate._report._expected import (
    DELTA,
    CertificateSection,
    NoCertificate,
    reason_of,
)
from quorate._report._page import Report, Step, VotesPage, render
from quorate._report._pictures import evenly_spread, votes_pictures
from quorate._report._reproduce import reproduce_summary
from quorate._report._sections import fill, why_unscored
from quorate._report._text import count, plural, points, unsigned
from quorate._theory import diagnose
from quorate._typing import FloatArray
from quorate._votes import PairedErrors, Summary, VoteSource, totals
from quorate.stats import error_limit, excess_limit

_MOST_SIZES = 30
_OTHER_BATCHES = Step(
    "Make the summary again from samples that no member was trained on.",
    "These are the training samples of the members, so there are no scores.",
)
_CHOOSE = Step(
    "To keep fewer members, choose them on a sample of the rows.",
    "Pass them to quorate.prune(ensemble, X, y); quorate.certify(quorate.summarise("
    "ensemble, batches, against=small)) then compares both models on all rows.",
)


@dataclass(frozen=True, slots=True)
class RivalClassRow:
    """A class with its recall, also by another model."""

    class_: str
    samples: int
    share: float
    recall: float | None
    recall_rival: float | None


@dataclass(frozen=True, slots=True)
class RivalRow:
    """Comparison of another model, or of the first members, with all members."""

    members: int
    accuracy: float
    accuracy_all: float
    agreement: float | None
    only_rival: int
    only_whole: int
    error_limit: float | None
    excess_limit: float | None


@dataclass(frozen=True, slots=True)
class RivalsSection:
    """Another model on the same samples."""

    is_order: bool
    n_members: int
    sizes: list[RivalRow]


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryPage(VotesPage):
    """The page about a summary of votes."""

    kind: str = "summary"
    rivals: RivalsSection | None


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
    honest = not summary.why_unreliable
    n_samples, classes = summary.n_samples, summary.classes
    diagnosis = confusion = None
    if honest:
        diagnosis, table = diagnose(summary, noise), summary.confusion()
        confusion = _sections.confusion_section(table, None, classes, n_samples)
    weights = None if summary.has_equal_weights else summary.weights
    agreement = _mean_agreement(summary)
    certificate = _certificate(summary, honest)
    page = SummaryPage(
        title=title or f"Votes of {plural(summary.n_members)} on {n_samples:,} samples",
        **_sections.votes_sections(summary, diagnosis),
        classes=_class_rows(summary, honest),
        confusion=confusion,
        members=_sections.member_rows(summary, agreement, weights, honest),
        certificate=certificate,
        rivals=_rivals_section(summary.rivals, certificate) if honest else None,
        reproduce=reproduce_summary(noise, title, file),
    )
    page = replace(page, advice=_advice(page))
    pictures = votes_pictures(page, summary, diagnosis)
    return render("summary.html", page, pictures, unscored=why_unscored(summary))


def _advice(page: SummaryPage) -> list[Step]:
    """Return recommendations from counts alone, the most important first."""
    if not page.votes.honest:
        return [_OTHER_BATCHES]
    choose = _CHOOSE if page.rivals is None else None
    steps = [best_member(page), _rival(page), *votes_advice(page), choose]
    return [step for step in steps if step is not None]


def _rival(page: SummaryPage) -> Step | None:
    """Recommend whether to use the other model."""
    certificate = page.certificate
    if page.rivals is None:
        return None
    if isinstance(certificate, NoCertificate):
        title = "Do not rely on the smaller model yet: there is no guarantee."
        return Step(title, certificate.refusal)
    limit = unsigned(points(certificate.tolerance))
    title = (
        f"Do not count on fewer members: more than {limit} of extra error cannot be "
        "ruled out."
    )
    if certificate.holds:
        kept = f"{count(certificate.n_kept)} of {count(certificate.n_members)}"
        title = f"Use {kept} members: they are certified to be about as good."
    return Step(title, certificate.text)


def _certificate(summary: Summary, honest: bool) -> CertificateSection | NoCertificate:
    """Return the certificate of the other model, if there is one."""
    if summary.rivals is None:
        return NoCertificate(
            "The summary was made without a second model to compare with."
        )
    if not honest:
        return NoCertificate(why_unscored(summary))
    try:
        proven = certify(summary, delta=DELTA)
    except ValueError as error:
        return NoCertificate(reason_of(error))
    return fill(CertificateSection, proven, text=str(proven))


def _rivals_section(
    rivals: PairedErrors | None, certificate: CertificateSection | NoCertificate
) -> RivalsSection | None:
    """Compare each size with all members; a subset of the sizes, if there are many."""
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
            # A limit holds for one size fixed in advance, not for the best of many.
            error_limit=error_limit(int(rivals.wrong[at]), n) if counted else None,
            excess_limit=float(excess[at]) if counted else None,
        )
        for at in shown
    ]
    return RivalsSection(not counted, int(rivals.sizes.max()), rows)


def _class_rows(summary: Summary, honest: bool) -> list[RivalClassRow]:
    """Return the number of samples and the recall of each class.

    Recall is that of the ensemble, and of another model if it was counted.
    """
    table, rivals = summary.confusion(), summary.rivals
    there, rows = table.sum(axis=1), []
    counted = rivals is not None and rivals.sizes.size == 1
    found = rivals.found if counted and rivals is not None else None
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
    """Return the share of the others' votes that equal those of each member.

    If all members vote, that is the mean share of others that agree with it.
    """
    same, common = (table.astype(float) for table in totals.agreement(summary))
    np.fill_diagonal(same, 0.0)
    np.fill_diagonal(common, 0.0)
    pairs = common.sum(axis=1)
    return np.asarray(
        np.divide(same.sum(axis=1), pairs, np.full_like(pairs, np.nan), where=pairs > 0)
    )
