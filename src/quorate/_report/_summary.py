"""The report on a summary: what counts alone can say, and what they cannot."""

import platform
from datetime import UTC, datetime
from typing import Any

import numpy as np

from quorate._report import _facts
from quorate._report._advice import lead_of_summary, summary_advice
from quorate._report._confusion import taken_for
from quorate._report._page import Report, embeddable, render, require_extra
from quorate._report._pictures import summary_pictures
from quorate._report._reproduce import summary_again
from quorate._report._rivals import rival_facts
from quorate._report._sections import (
    certificate_rows,
    has_two_accuracies,
    risk_rows,
    summary_rows,
    summary_tables,
)
from quorate._report._words import (
    GLOSSARY,
    LEFT_OUT,
    LEFT_OUT_WITHOUT_RIVAL,
    OF_CHOOSING,
    UNSCORED,
)
from quorate._theory import diagnose
from quorate._typing import FloatArray
from quorate._version import versions
from quorate._votes import Summary, VoteSource

_VOTES_USED = {
    **_facts.VOTES_USED,
    VoteSource.FOLDS: "Each ensemble was asked about samples that it was not trained "
    "on, so the numbers are honest.",
}
_UNKNOWN = (
    "Nobody has said where the votes are from. If no member was trained on the "
    "samples, the numbers are honest."
)


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
    require_extra()
    if summary.source is VoteSource.UNLABELLED:
        raise ValueError(f"report: {summary.source.flaw}.")
    if summary.own_confusion is None:
        summary = summary.by_plurality()  # nothing else is known of what it decides
    honest = summary.source is None or summary.source.is_honest
    diagnosis = diagnose(summary, noise) if honest else None
    data: dict[str, Any] = {
        "format": "quorate-report/1",
        "kind": "summary",
        "title": title or _title(summary),
        "made": datetime.now(UTC).date().isoformat(),
        "ensemble": {
            "n_members": summary.n_members,
            "n_classes": summary.n_classes,
            "weighted": not summary.has_equal_weights,
        },
        "words": _words(summary),
        "votes": _vote_facts(summary, honest),
        "classes": class_facts(summary, honest),
        "confusion": taken_for(summary.confusion(), None, summary.classes)
        if honest
        else None,
        "judged": None,
        "blend": None,
        "diversity": _facts.diversity_facts(diagnosis, None),
        "decomposition": _facts.decomposition_facts(diagnosis, None),
        "risk": None if diagnosis is None else diagnosis.to_dict()["risk"],
        "members": _member_facts(summary, honest),
        **rival_facts(summary, honest),
        "settings": {"noise": noise},
        "reproduce": summary_again(noise, title, file),
        "versions": {
            **versions("scikit-learn", "numpy", "scipy"),
            "platform": platform.platform(),
        },
    }
    data["left_out"] = [*LEFT_OUT]
    if data["rivals"] is None:
        data["left_out"].append(LEFT_OUT_WITHOUT_RIVAL)
    data["advice"] = summary_advice(data)
    pictures = summary_pictures(summary, diagnosis, data)
    return render(
        "summary.html",
        data,
        kind="report on a summary of votes",
        lead=lead_of_summary(data),
        glossary=[pair for pair in GLOSSARY if pair[0] not in OF_CHOOSING],
        facts=summary_rows(data),
        risk_facts=risk_rows(data),
        certificate_facts=certificate_rows(data),
        tables=summary_tables(data),
        pictures=pictures,
        marks=embeddable({p.id: p.marks for p in pictures.values() if p.marks}),
        two_accuracies=has_two_accuracies(data),
        unscored=UNSCORED,
    )


def _title(summary: Summary) -> str:
    members = f"{summary.n_members:,} member{'s' * (summary.n_members != 1)}"
    return f"Votes of {members} on {summary.n_samples:,} samples"


def _words(summary: Summary) -> dict[str, str]:
    """Return what to call the ensemble, its members, and the two ways to decide."""
    votes_of = "votes" if summary.has_equal_weights else "weighted votes"
    averages = summary.rule == "average"
    return {
        "ensemble": "ensemble",
        "member": "member",
        "members": "members",
        "decides_by": "averaged probabilities" if averages else votes_of,
        "plurality": f"plurality of the members' {votes_of}"
        + ("" if averages else ", a tie counted as a random choice"),
    }


def _vote_facts(summary: Summary, honest: bool) -> dict[str, Any]:
    """Say which votes were counted and how right they are, where that can be told."""
    source = summary.source
    _, asked = summary.member_counts()
    return {
        "chosen_on": "not said" if source is None else str(source),
        "honest": honest,
        "meaning": _UNKNOWN if source is None else _VOTES_USED[source],
        "rule": summary.rule,
        "ties": summary.ties,
        "n_samples": summary.n_samples,
        "n_given": summary.n_samples,
        "drawn": "",
        "votes_per_sample": float(asked.sum() / summary.n_samples),
        **_facts.accuracy_facts(summary, honest),
    }


def class_facts(summary: Summary, honest: bool) -> list[dict[str, Any]]:
    """Return, for each class, its samples and how many of them are found.

    By the ensemble, and by another model where there is one and that was counted.
    """
    table, rivals = summary.confusion(), summary.rivals
    there = table.sum(axis=1)
    found = None if rivals is None or rivals.sizes.size > 1 else rivals.found
    return [
        {
            "class": str(label),
            "samples": int(there[code]),
            "share": float(there[code] / there.sum()),
            "recall": float(table[code, code] / there[code])
            if honest and there[code]
            else None,
            "recall_rival": float(found[0, code] / there[code])
            if honest and there[code] and found is not None
            else None,
        }
        for code, label in enumerate(summary.classes)
    ]


def _member_facts(summary: Summary, honest: bool) -> list[dict[str, Any]]:
    """Return a row per member: how often it is right, how much it agrees."""
    _, asked = summary.member_counts()
    weighted = not summary.has_equal_weights
    agreement, accuracies = _mean_agreement(summary), summary.accuracies
    return [
        {
            "member": name,
            "accuracy": float(accuracies[at]) if honest else None,
            "kept": None,
            "pick": None,
            "agreement": float(agreement[at]),
            "weight": float(summary.weights[at])
            if weighted and summary.weights is not None
            else None,
            "votes": int(asked[at]) if summary.is_masked else None,
        }
        for at, name in enumerate(summary.names)
    ]


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
