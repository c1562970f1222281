"""Does the diversity help: what voting saves, how clear it is, what is at risk."""

import numpy as np

from quorate import display
from quorate._report._format import number, percent, points
from quorate._report._pictures._input import PictureInput
from quorate._report._svg import Picture, Point, draw


def decomposition(given: PictureInput) -> Picture | None:
    """Draw the error of the vote as that of the members minus diversity."""
    parts = given.data["decomposition"]
    if parts is None:
        return None
    known = {"all members": parts["all"], "kept": parts["kept"]}
    names = tuple(name for name, row in known.items() if row is not None)
    rows = [known[name] for name in names]
    shown = display.DecompositionDisplay(
        names,
        *(
            np.array([row[key] for row in rows])
            for key in ("error", "member_error", "diversity")
        ),
    )
    told = [
        (
            row["error"],
            place,
            f"{name}: error of the plurality vote {percent(row['error'])}\n"
            f"members' mean error {percent(row['member_error'])}\n"
            f"diversity {percent(row['diversity'])}",
        )
        for place, (name, row) in enumerate(zip(names, rows, strict=True))
    ]
    whole = parts["all"]
    return draw(
        "decomposition",
        shown,
        "What voting saves",
        "The error of the plurality vote is the members' mean error minus the "
        + (
            "diversity."
            if len(rows) == 1
            else "diversity, for all members and for those kept."
        ),
        f"Error of the plurality vote {percent(whole['error'])}, mean error of the "
        f"members {percent(whole['member_error'])}, so voting saves "
        f"{points(whole['diversity'])}.",
        told,
        height=2.4 if len(rows) > 1 else 1.9,
    )


def margins(given: PictureInput) -> Picture | None:
    """Draw the share of samples up to each margin."""
    if given.votes is None or given.selection is None or not given.is_scored:
        return None
    before, after = (
        display.MarginDisplay.from_votes(votes).before
        for votes in (given.votes, given.selection.applied_to(given.votes))
    )
    shown = display.MarginDisplay(before, after)
    told: list[Point] = []
    lines = [("all members", before), ("kept", after)]
    for name, values in lines:
        for margin in np.linspace(-0.8, 0.8, 9):
            share = float(np.mean(values <= margin))
            words = f"{name}: {percent(share, 1)} of the samples have a margin"
            told.append((float(margin), share, f"{words} up to {number(margin, 1)}"))
    below = [percent(float(np.mean(values < 0)), 1) for _, values in lines]
    return draw(
        "margins",
        shown,
        "How clear the verdicts are",
        "Share of samples up to each margin. Left of zero the plurality vote is wrong; "
        "the further right a line stays, the clearer the vote.",
        f"The margin is below zero on {below[0]} of the samples for all members, on "
        f"{below[1]} for those kept.",
        told,
        height=3.6,
    )


def risk_curve(given: PictureInput) -> Picture | None:
    """Draw the risk estimate over diversity, and where the ensemble is."""
    if given.diagnosis is None:
        return None
    risk = given.diagnosis.risk
    shown = display.RiskCurveDisplay.from_assessment(risk)
    where = "no interval" if risk.interval is None else f"interval {risk.interval}"
    told = [
        (
            float(np.clip(risk.diversity, -0.49, 0.49)),
            max(float(risk.risk), 1e-9) if np.isfinite(risk.risk) else 1.0,
            f"this ensemble: diversity {number(risk.diversity)} on its worst sample, "
            f"risk estimate {number(risk.risk, 1)}, {where}",
        )
    ]
    return draw(
        "risk",
        shown,
        "Risk estimate over diversity",
        "Blue: the estimate falls as diversity on the worst sample grows. Orange: it "
        "rises. The bound behind it holds on the thick part of the axis only.",
        f"The ensemble is at diversity {number(risk.diversity)}, in {where}. "
        f"{risk.advice}",
        told,
        width=7.2,
        height=4.6,
    )
