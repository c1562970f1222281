"""The pictures of a report: what each is called, says, and tells at its points."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from quorate import display
from quorate._diagnosis import Diagnosis
from quorate._report._format import count, milliseconds, number, percent, points, size
from quorate._report._svg import Picture, Point, draw
from quorate._typing import IntArray
from quorate.selection import Selection
from quorate.votes import Votes

_MOST_POINTS = 400


def ensemble_pictures(
    votes: Votes,
    some: Votes,
    selection: Selection,
    diagnosis: Diagnosis,
    data: dict[str, Any],
) -> dict[str, Picture]:
    """Draw everything; ``some`` are the votes that pictures of pairs look at."""
    drawn = [
        _decomposition(data),
        _diversity(data, some),
        _margins(votes, selection),
        _risk(diagnosis),
        _members(data),
        *_size(data),
        *_pairs(some, selection),
        *_trace(votes, selection),
        *_methods(data),
        *_lazy(data),
    ]
    return {picture.id: picture for picture in drawn}


def _decomposition(data: dict[str, Any]) -> Picture:
    parts = data["decomposition"]
    names = ("all members", "kept")
    rows = [parts["all"], parts["kept"]]
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
            f"{name}: error of the vote {percent(row['error'])}\n"
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
        "The error of the vote is the members' mean error minus the diversity, "
        "for all members and for those kept.",
        f"Error of the vote {percent(whole['error'])}, mean error of the members "
        f"{percent(whole['member_error'])}, so voting saves "
        f"{points(whole['diversity'])}.",
        told,
        height=2.4,
    )


def _diversity(data: dict[str, Any], some: Votes) -> Picture:
    rows = data["diversity"]
    # For the ranges; the values are those of the table, on all samples.
    shown = display.DiversityDisplay.from_votes(some)
    shown.before = np.array([row["all"] for row in rows], dtype=float)
    shown.after = np.array([row["kept"] for row in rows], dtype=float)
    places = shown.place(shown.before)
    told = [
        (
            float(np.nan_to_num(place)),
            at,
            f"{row['measure']}: {row['meaning']}\nall members {number(row['all'])}, "
            f"kept {number(row['kept'])}",
        )
        for at, (row, place) in enumerate(zip(rows, places, strict=True))
    ]
    more = sum(row["more_diverse"] == "more" for row in rows)
    return draw(
        "measures",
        shown,
        "Thirteen measures of diversity",
        "Each bar shows how far up its range a measure is, turned so that longer "
        "means more diverse. The numbers are the plain values.",
        f"By {more} of the 12 measures that have a direction the members kept are "
        "more diverse than all of them. The table below has every value.",
        told,
        height=5.6,
    )


def _margins(votes: Votes, selection: Selection) -> Picture:
    shown = display.MarginDisplay.from_votes(votes, selection.support)
    told: list[Point] = []
    lines = [("all members", shown.before), ("kept", shown.after)]
    for name, margins in lines:
        for margin in np.linspace(-0.8, 0.8, 9):
            share = float(np.mean(np.asarray(margins) <= margin))
            words = f"{name}: {percent(share, 1)} of the samples have a margin"
            told.append((float(margin), share, f"{words} up to {number(margin, 1)}"))
    below = [percent(float(np.mean(np.asarray(m) < 0)), 1) for _, m in lines]
    return draw(
        "margins",
        shown,
        "How clear the verdicts are",
        "Share of samples up to each margin. Left of zero the vote is wrong; the "
        "further right a line stays, the clearer the vote.",
        f"The margin is below zero on {below[0]} of the samples for all members, on "
        f"{below[1]} for those kept.",
        told,
        height=3.6,
    )


def _risk(diagnosis: Diagnosis) -> Picture:
    risk = diagnosis.risk
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


def _members(data: dict[str, Any]) -> Picture:
    rows = data["members"]
    shown = display.MembersDisplay(
        agreement=np.array([row["agreement"] for row in rows], dtype=float),
        accuracy=np.array([row["accuracy"] for row in rows], dtype=float),
        kept=np.array([row["kept"] == "kept" for row in rows]),
        vote_accuracy=data["votes"]["accuracy"],
    )
    told = [
        (
            row["agreement"],
            row["accuracy"],
            f"member {row['member']}: right on {percent(row['accuracy'])}, agrees with "
            f"{percent(row['agreement'], 1)} of the others, {row['kept']}"
            + (f", pick {row['pick']}" if row["pick"] else ""),
        )
        for row in rows[:_MOST_POINTS]
        if row["agreement"] is not None
    ]
    return draw(
        "members-map",
        shown,
        "Every member",
        "How often a member is right, over how much it agrees with the others.",
        "Sort the table below for the same numbers.",
        told,
        height=3.8,
    )


def _size(data: dict[str, Any]) -> Iterator[Picture]:
    curve, pruning = data["pruning"]["curve"], data["pruning"]
    if curve["refusal"] is not None:
        return
    sizes, errors = np.asarray(curve["sizes"]), np.asarray(curve["errors"])
    every = np.arange(1, int(sizes[-1]) + 1)
    shown = display.SizeCurveDisplay(
        every,
        np.interp(every, sizes, errors),
        np.interp(every, sizes, np.asarray(curve["standard_errors"])),
        curve["full_error"],
        min(pruning["n_kept"], every[-1]),
        "",
    )
    told = [
        (
            float(sizes[at]),
            float(errors[at]),
            f"{count(sizes[at])} members: error {percent(errors[at])}",
        )
        for at in _spread(sizes.size, 60)
    ]
    yield draw(
        "sizes",
        shown,
        "How many members are enough",
        f"Error on held-back samples of the first members that {pruning['method']} "
        "picks. The band is one standard error wide on each side.",
        f"The smallest error is reached with {count(curve['best_size'])} members, and "
        f"{count(curve['enough'])} are within one standard error of it.",
        told,
    )


def _pairs(some: Votes, selection: Selection) -> Iterator[Picture]:
    if some.n_members < 2:
        return
    pairs = display.KappaErrorDisplay.from_votes(some, selection.support)
    yield draw(
        "kappa",
        pairs,
        "Pairs of members",
        "Each point is a pair: to the left they agree little, at the bottom they are "
        "seldom wrong. Both at once is what a good ensemble has.",
        f"Kappa of the pairs goes from {number(pairs.kappa.min(), 2)} to "
        f"{number(pairs.kappa.max(), 2)}, their mean error from "
        f"{percent(pairs.error.min(), 1)} to {percent(pairs.error.max(), 1)}.",
        [
            (
                float(pairs.kappa[at]),
                float(pairs.error[at]),
                f"on the outline: kappa {number(pairs.kappa[at], 3)}, mean error "
                f"{percent(pairs.error[at], 1)}",
            )
            for at in pairs.hull
        ],
        width=5.6,
        height=4.2,
    )
    agreement = display.AgreementDisplay.from_votes(some, selection.support)
    apart = agreement.agreement[~np.eye(some.n_members, dtype=bool)]
    yield draw(
        "agreement",
        agreement,
        "Who votes alike",
        "Each cell is a pair of members; bright blocks along the diagonal are groups "
        "that say the same. Triangles mark the members kept.",
        f"Two members give the same vote on {percent(apart.min(), 1)} to "
        f"{percent(apart.max(), 1)} of the samples, on {percent(apart.mean(), 1)} on "
        "average.",
        width=5.6,
        height=4.6,
    )


def _trace(votes: Votes, selection: Selection) -> Iterator[Picture]:
    if not hasattr(selection.pruner, "trace_samples_"):
        return
    shown = display.PickTraceDisplay.from_pruner(selection.pruner, votes)
    n_picks = min(selection.n_kept, shown.samples.size)
    shown.samples, shown.margins = shown.samples[:n_picks], shown.margins[:n_picks]
    shown.members = shown.members[:n_picks]
    told = [
        (
            at + 1.0,
            float(shown.margins[at]),
            f"pick {at + 1}: member {shown.members[at]}, for sample "
            f"{shown.samples[at]} with margin {number(shown.margins[at], 3)}",
        )
        for at in _spread(n_picks, _MOST_POINTS)
    ]
    yield draw(
        "trace",
        shown,
        "Pick by pick",
        "The sample that the votes are least sure of asks for a member that is right "
        "on it; this is which sample asked, and how small its margin was.",
        f"{count(n_picks)} picks for {count(np.unique(shown.samples).size)} different "
        "samples.",
        told,
        width=7.2,
        height=4.4,
        panels=True,
    )


def _methods(data: dict[str, Any]) -> Iterator[Picture]:
    rows = data["methods"]["rows"]
    if not rows:
        return
    shown = display.GainDisplay(
        names=tuple(row["method"] for row in rows),
        gain=np.array([row["gain"] for row in rows]),
        standard_error=np.array([row["gain_error"] for row in rows]),
    )
    told = [
        (
            row["gain"],
            place,
            f"{row['method']}: {percent(row['accuracy'])}, {points(row['gain'])} "
            f"from all members (standard error {points(row['gain_error'])})",
        )
        for place, row in enumerate(rows)
    ]
    yield draw(
        "contest",
        shown,
        "Methods at the same size",
        "Accuracy on held-back samples, as a difference to all members, with two "
        "standard errors on each side.",
        f"The best is {rows[0]['method']} with {percent(rows[0]['accuracy'])}.",
        told,
        height=1.2 + 0.3 * len(rows),
    )


def _lazy(data: dict[str, Any]) -> Iterator[Picture]:
    lazy = data["lazy"]
    if not lazy["honest"]:
        return
    curve = lazy["curve"]
    if curve is not None:
        shown = display.LazyCurveDisplay(
            curve["settings"], curve["members_asked"], curve["disagreement"],
            curve["mode"], curve["n_members"],
        )  # fmt: skip
        yield draw(
            "lazy-curve",
            shown,
            "How careful to be",
            "Members asked and predictions that change, along the confidence of mode "
            "bayes. Down is faster, left is more faithful.",
            "Of mode bayes: "
            + ", ".join(_setting(curve, at) for at in range(len(curve["settings"])))
            + ".",
            [
                (
                    curve["disagreement"][at],
                    curve["members_asked"][at],
                    _setting(curve, at),
                )
                for at in range(len(curve["settings"]))
            ],
            height=3.6,
        )
    yield _trade_off(data)


def _setting(curve: dict[str, Any], at: int) -> str:
    return (
        f"confidence {curve['settings'][at]:g}: "
        f"{number(curve['members_asked'][at], 1)} members asked, "
        f"{percent(curve['disagreement'][at])} of predictions change"
    )


def _trade_off(data: dict[str, Any]) -> Picture:
    pruning, lazy = data["pruning"], data["lazy"]["rows"]
    whole, after = data["votes"]["accuracy"], pruning["accuracy"]["after"]
    models = [
        ("all members", pruning["bytes"]["before"], lazy[0]["milliseconds"], whole,
         "full"),
        (f"{pruning['n_kept']} kept", pruning["bytes"]["after"],
         pruning["milliseconds"]["after"], after, "pruned"),
    ]  # fmt: skip
    models += [
        (row["mode"], pruning["bytes"]["before"], row["milliseconds"],
         whole - row["disagreement"], "lazy")
        for row in lazy[1:]
        if row["mode"] not in ("bayes, 90 %", "bayes, 99 %")  # the curve has these
    ]  # fmt: skip
    shown = display.TradeOffDisplay(models)
    return draw(
        "trade-off",
        shown,
        "Memory, time, accuracy",
        "Pruning saves memory and time, lazy voting only time. For lazy voting the "
        "accuracy is the lowest it can be, if every changed prediction were wrong.",
        "; ".join(
            f"{name}: {milliseconds(time)}, {size(n_bytes)}, {percent(accuracy)}"
            for name, n_bytes, time, accuracy, _ in models
        ),
        [
            (time, accuracy, f"{name}: {milliseconds(time)}, {percent(accuracy)}")
            for name, _, time, accuracy, _ in models
        ],
        width=8.4,
        height=3.8,
        panels=True,
    )


def _spread(length: int, most: int) -> IntArray:
    """Return at most so many positions, evenly spread, both ends among them."""
    return np.unique(np.linspace(0, length - 1, min(length, most)).round()).astype(
        np.intp
    )
