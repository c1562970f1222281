"""The pictures of a page, and what each says at its points.

Titles, captions and what those who do not see a picture should know stand in the
templates; these have the display that was drawn at hand.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from quorate import display
from quorate._choosing import Selection
from quorate._report._expected import (
    CurveSection,
    Measure,
    MethodsSection,
)
from quorate._report._pages import EnsemblePage, SummaryPage
from quorate._report._savings import (
    LazyCurve,
    LazyRow,
    Times,
)
from quorate._report._sections import (
    DecompositionSection,
    MeasureRow,
    MemberRow,
    Pair,
)
from quorate._report._svg import Picture, Point, draw
from quorate._report._text import (
    milliseconds,
    number,
    percent,
    plural,
    points,
    size,
)
from quorate._theory import Diagnosis
from quorate._typing import BoolArray, IntArray
from quorate._votes import VoteCounts, Votes
from quorate.risk import RiskAssessment
from quorate.stats import Scores
from quorate.study import Results

# At most so many points say something to who points at them.
_MOST_POINTS = 400


def ensemble_pictures(
    page: EnsemblePage,
    votes: Votes,
    pair_votes: Votes,
    selection: Selection,
    diagnosis: Diagnosis | None,
) -> dict[str, Picture]:
    """Draw what fits; pictures of pairs look at ``pair_votes``, on fewer samples."""
    lazy, pruning = page.lazy if page.lazy.honest else None, page.pruning
    drawn = _votes_pictures(page, pair_votes, diagnosis, selection.support)
    if diagnosis is not None:
        drawn.append(_margins(votes, selection.applied_to(votes)))
        if hasattr(selection.pruner, "trace_samples_"):
            drawn.append(_pick_trace(selection, votes))
    curve = pruning.curve
    if isinstance(curve, CurveSection) and curve.best_size is not None:
        drawn.append(_size_curve(curve, pruning.n_kept, page.measure))
    if page.methods.rows:
        drawn.append(_method_gains(page.methods, page.measure))
    if lazy is not None and lazy.curve is not None:
        drawn.append(_lazy_curve(lazy.curve))
    memory, times, expected = pruning.bytes, pruning.milliseconds, pruning.expected
    if lazy and memory and times and expected:
        kept = f"{pruning.n_kept} kept"
        drawn.append(_trade_off(memory, times, expected.accuracy, kept, lazy.rows[1:]))
    return {picture.id: picture for picture in drawn}


def summary_pictures(
    page: SummaryPage, summary: VoteCounts, diagnosis: Diagnosis | None
) -> dict[str, Picture]:
    """Draw what counts are enough for; the others look at single samples."""
    drawn = _votes_pictures(page, summary, diagnosis, None)
    return {picture.id: picture for picture in drawn}


def _votes_pictures(
    page: EnsemblePage | SummaryPage,
    votes: VoteCounts,
    diagnosis: Diagnosis | None,
    support: BoolArray | None,
) -> list[Picture]:
    """Draw members, pairs and diversity; scores only where these mean something."""
    drawn = [_agreement(votes, support)] if votes.n_members > 1 else []
    if diagnosis is None or page.decomposition is None or page.diversity is None:
        return drawn
    if votes.n_members > 1:
        drawn.append(_pairs_of_members(votes, support))
    return [
        *drawn,
        _decomposition(page.decomposition),
        _measures(page.diversity, votes),
        _risk_curve(diagnosis.risk),
        _members_map(page.members, support, page.votes.accuracy),
    ]


def _decomposition(parts: DecompositionSection) -> Picture:
    """Draw the error of the vote as that of the members minus diversity."""
    rows = {"all members": parts.all}
    if parts.kept is not None:
        rows["kept"] = parts.kept
    numbers = np.array([(r.error, r.member_error, r.diversity) for r in rows.values()])
    marks = [
        (
            row.error,
            float(place),
            f"{name}: error of the plurality vote {percent(row.error)}\n"
            f"members' mean error {percent(row.member_error)}\n"
            f"diversity {percent(row.diversity)}",
        )
        for place, (name, row) in enumerate(rows.items())
    ]
    shown = display.DecompositionDisplay(tuple(rows), *numbers.T)
    return draw("decomposition", shown, marks, height=2.4 if len(rows) > 1 else 1.9)


def _measures(rows: Sequence[MeasureRow], votes: VoteCounts) -> Picture:
    """Draw thirteen measures of all members and of those kept."""
    # For the ranges; the values are those of the table, on all samples.
    shown = display.DiversityDisplay.from_votes(votes)
    shown.before = np.array([row.all for row in rows])
    if rows[0].kept is not None:
        shown.after = np.array([row.kept for row in rows], dtype=float)
    marks = []
    for at, (row, place) in enumerate(
        zip(rows, shown.place(shown.before), strict=True)
    ):
        text = f"{row.measure}: {row.meaning}\nall members {number(row.all)}"
        if row.kept is not None:
            text += f", kept {number(row.kept)}"
        marks.append((float(np.nan_to_num(place)), float(at), text))
    return draw("measures", shown, marks, height=5.6)


def _pairs_of_members(votes: VoteCounts, support: BoolArray | None) -> Picture:
    """Draw agreement and error of each pair."""
    pairs = display.KappaErrorDisplay.from_votes(votes, support)
    marks = [
        (
            float(pairs.kappa[at]),
            float(pairs.error[at]),
            f"on the outline: kappa {number(pairs.kappa[at], 3)}, mean error "
            f"{percent(pairs.error[at], 1)}",
        )
        for at in pairs.hull
    ]
    return draw("kappa", pairs, marks, width=5.6, height=4.2)


def _agreement(votes: VoteCounts, support: BoolArray | None) -> Picture:
    """Draw who votes like whom."""
    shown = display.AgreementDisplay.from_votes(votes, support)
    return draw("agreement", shown, width=5.6, height=4.6)


def _risk_curve(risk: RiskAssessment) -> Picture:
    """Draw the risk estimate over diversity, and where the ensemble is."""
    shown = display.RiskCurveDisplay.from_assessment(risk)
    where = "no interval" if risk.interval is None else f"interval {risk.interval}"
    mark = (
        float(np.clip(risk.diversity, -0.49, 0.49)),
        max(float(risk.risk), 1e-9) if np.isfinite(risk.risk) else 1.0,
        f"this ensemble: diversity {number(risk.diversity)} on its worst sample, "
        f"risk estimate {number(risk.risk, 1)}, {where}",
    )
    return draw("risk", shown, [mark], width=7.2, height=4.6)


def _members_map(
    rows: Sequence[MemberRow], support: BoolArray | None, accuracy: float | None
) -> Picture:
    """Draw how often each member is right, over how much it agrees."""
    shown = display.MembersDisplay(
        agreement=np.array([row.agreement for row in rows], dtype=float),
        accuracy=np.array([row.accuracy for row in rows], dtype=float),
        kept=support,
        vote_accuracy=float(accuracy or 0.0),
    )
    marks = [
        (
            row.agreement,
            row.accuracy,
            f"member {row.member}: right on {percent(row.accuracy)}, agrees with "
            f"{percent(row.agreement, 1)} of the others"
            + (f", {row.kept}" if row.kept else "")
            + (f", pick {row.pick}" if row.pick else ""),
        )
        for row in rows[:_MOST_POINTS]
        if row.accuracy is not None and np.isfinite(row.agreement)
    ]
    return draw("members-map", shown, marks, height=3.8)


def _margins(votes: Votes, kept: Votes) -> Picture:
    """Draw the share of samples up to each margin."""
    before, after = (display.MarginDisplay.from_votes(v).before for v in (votes, kept))
    marks = [
        (
            float(margin),
            float(np.mean(values <= margin)),
            f"{name}: {percent(np.mean(values <= margin), 1)} of the samples have a "
            f"margin up to {number(margin, 1)}",
        )
        for name, values in (("all members", before), ("kept", after))
        for margin in np.linspace(-0.8, 0.8, 9)
    ]
    return draw("margins", display.MarginDisplay(before, after), marks)


def _pick_trace(selection: Selection, votes: Votes) -> Picture:
    """Draw which sample asked for each pick."""
    shown = display.PickTraceDisplay.from_pruner(selection.pruner, votes)
    n_picks = min(selection.n_kept, shown.samples.size)
    shown.samples, shown.margins = shown.samples[:n_picks], shown.margins[:n_picks]
    shown.members = shown.members[:n_picks]
    marks = [
        (
            at + 1.0,
            float(shown.margins[at]),
            f"pick {at + 1}: member {shown.members[at]}, for sample "
            f"{shown.samples[at]} with margin {number(shown.margins[at], 3)}",
        )
        for at in evenly_spread(n_picks, _MOST_POINTS)
    ]
    return draw("trace", shown, marks, width=7.2, height=4.4, panels=True)


def _size_curve(curve: CurveSection, n_kept: int, measure: Measure) -> Picture:
    """Draw the error over the number of members."""
    sizes, errors = curve.sizes, curve.errors
    every = np.arange(1, int(sizes[-1]) + 1)
    shown = display.SizeCurveDisplay(
        every,
        np.interp(every, sizes, errors),
        np.interp(every, sizes, curve.standard_errors),
        curve.full_error,
        min(n_kept, int(every[-1])),
        scoring=measure.title,
        top=measure.top,
    )
    values = errors if measure.is_accuracy else measure.top - errors
    called = "error" if measure.is_accuracy else measure.title
    marks = [
        (
            float(sizes[at]),
            float(values[at]),
            f"{plural(sizes[at])}: {called} {measure.write(values[at])}",
        )
        for at in evenly_spread(sizes.size, 60)
    ]
    return draw("sizes", shown, marks)


def _method_gains(methods: MethodsSection, measure: Measure) -> Picture:
    """Draw what methods gain at the same size."""
    rows = methods.rows
    shown = display.GainDisplay(
        tuple(row.method for row in rows),
        np.array([row.gain for row in rows]),
        np.array([row.gain_error for row in rows]),
    )
    marks = [
        (
            row.gain,
            float(place),
            f"{row.method}: {measure.write(row.score)}, {measure.differ(row.gain)} "
            f"from all members (standard error {measure.doubt(row.gain_error)})",
        )
        for place, row in enumerate(rows)
    ]
    return draw("method-gains", shown, marks, height=1.2 + 0.3 * len(rows))


def _lazy_curve(curve: LazyCurve) -> Picture:
    """Draw members asked against predictions that change."""
    marks = [
        (
            changed,
            asked,
            f"confidence {setting:g}: {number(asked, 1)} members asked, "
            f"{percent(changed)} of predictions change",
        )
        for setting, asked, changed in zip(
            curve.settings, curve.members_asked, curve.disagreement, strict=True
        )
    ]
    return draw("lazy-curve", display.LazyCurveDisplay.from_curve(curve), marks)


def _trade_off(
    memory: Pair, times: Times, accuracy: Pair, kept: str, lazy: Sequence[LazyRow]
) -> Picture:
    """Draw memory, time and accuracy of the ensemble, pruned and lazy."""
    models = [
        ("all members", memory.before, times.before, accuracy.before, "full"),
        (kept, memory.after, times.after, accuracy.after, "pruned"),
    ]
    models += [
        (row.mode, memory.before, times.before / row.speedup,
         accuracy.before - row.disagreement, "lazy")
        for row in lazy
        if row.mode not in ("bayes, 90 %", "bayes, 99 %")  # the curve has these
    ]  # fmt: skip
    marks = [
        (
            taken,
            right,
            f"{name}: {milliseconds(taken)}, {size(needed)}, {percent(right)}",
        )
        for name, needed, taken, right, _ in models
    ]
    shown = display.TradeOffDisplay(models)
    return draw("trade-off", shown, marks, width=8.4, height=3.8, panels=True)


def study_pictures(results: Results) -> dict[str, Picture]:
    """Draw every picture that fits the results."""
    scores = results.scores().complete_blocks()
    drawn = [] if min(scores.n_methods, scores.n_blocks) < 2 else _ranks(scores)
    for name, write in (
        ("accuracy", points),
        ("seconds", lambda value: milliseconds(1e3 * value)),
        ("bytes", size),
        ("kept", lambda value: number(value, 1)),
    ):
        drawn.append(_quantity(results, name, write))
    parts = display.DecompositionDisplay.from_results(results)
    marks = [
        (float(error), float(row), f"{name}: error of the vote {percent(error)}")
        for row, (name, error) in enumerate(zip(parts.names, parts.error, strict=True))
    ]
    height = 1.4 + 0.34 * len(parts.names)
    drawn.append(draw("study-decomposition", parts, marks, width=7.2, height=height))
    shown: Any = display.CorrelationDisplay.from_results(results)
    drawn.append(draw("correlations", shown, width=9.2, height=6.2, panels=True))
    shown = display.RiskErrorDisplay.from_results(results)
    drawn.append(draw("risk-and-error", shown, width=9.6, height=3.4, panels=True))
    if display.methods_of_own_size(results):
        shown = display.SizeAccuracyDisplay.from_results(results)
        marks = [
            (share, gain, f"{name} keeps {percent(share, 0)} and gains {points(gain)}")
            for name, (share, gain) in shown.means.items()
        ]
        drawn.append(draw("own-size", shown, marks, width=7.0, height=4.2))
    return {picture.id: picture for picture in drawn}


def _ranks(scores: Scores) -> list[Picture]:
    """Draw average ranks, and which methods differ."""
    shown = display.RankDisplay.from_scores(scores)
    groups = display.CriticalDifferenceDisplay.from_scores(scores)
    marks: list[Point] = [
        (
            float(shown.average_ranks[at]),
            float(row),
            f"{shown.methods[at]}: average rank {number(shown.average_ranks[at], 2)}",
        )
        for row, at in enumerate(np.argsort(shown.average_ranks, kind="stable"))
    ]
    n, bars = len(marks), len(groups.cliques)
    on_axis = [(rank, 0.0, words) for rank, _, words in marks]
    deep = 1.2 + 0.26 * n + 0.12 * bars
    return [
        draw("ranks", shown, marks, width=7.0, height=1.3 + 0.27 * n),
        draw("critical-difference", groups, on_axis, width=7.2, height=deep),
    ]


def _quantity(results: Results, name: str, write: Callable[[Any], str]) -> Picture:
    """Draw a quantity of every method, the best on top."""
    is_accuracy = name == "accuracy"
    shown = display.QuantityDisplay.from_results(results, name, relative=is_accuracy)
    medians = shown.medians
    order = np.argsort(-medians if is_accuracy else medians, kind="stable")
    marks = [
        (
            float(medians[at]),
            float(row),
            f"{shown.methods[at]}: median {write(medians[at])}",
        )
        for row, at in enumerate(order)
    ]
    height = 1.2 + 0.28 * len(order)
    return draw(f"quantity-{name}", shown, marks, width=7.0, height=height)


def evenly_spread(length: int, most: int) -> IntArray:
    """Return at most so many positions, evenly spread, both ends among them."""
    places = np.linspace(0, length - 1, min(length, most)).round()
    return np.unique(places).astype(np.intp)
