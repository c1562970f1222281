"""The figures of a page, with tooltips for their points.

Titles, captions and alternative texts are in the templates, which have access to the
display that was drawn.
"""

from collections.abc import Sequence

import numpy as np

from quorate import display
from quorate._report import _text
from quorate._report._expected import Analysis
from quorate._report._page import Picture, draw
from quorate._report._sections import Section
from quorate._report._text import ScoreFormat, number, percent
from quorate._theory import Diagnosis
from quorate._typing import BoolArray, FloatArray, IntArray
from quorate._votes import VoteCounts, Votes
from quorate.risk import RiskAssessment
from quorate.study import Results

# Maximum number of points with tooltips.
_MOST_POINTS = 400
# Width and height of figures of studies without a row for each method.
_SIZES = {
    "diversity-correlation": (9.2, 6.2),
    "risk-and-error": (9.6, 3.4),
    "size-and-accuracy": (7.0, 4.2),
}
Rows = Sequence[Section]


def ensemble_pictures(
    page: Section, analysis: Analysis, pair_votes: Votes
) -> dict[str, Picture]:
    """Draw all applicable figures; those of pairs use only ``pair_votes``."""
    pruning = page["pruning"]
    votes, selection, before = analysis.votes, analysis.selection, analysis.before
    drawn = votes_pictures(page, pair_votes, before, selection.support)
    more = []
    if before is not None:
        kept = None if selection.distilled else selection.applied_to(votes)
        more.append(_margins(votes, kept))
    score = analysis.score_format
    if pruning["curve"].get("best_size") is not None:
        more.append(_size_curve(pruning["curve"], pruning["n_kept"], score))
    return drawn | {picture.id: picture for picture in more}


def votes_pictures(
    page: Section,
    votes: VoteCounts,
    diagnosis: Diagnosis | None,
    support: BoolArray | None = None,
) -> dict[str, Picture]:
    """Draw members, pairs and diversity; scores only if they are meaningful."""
    drawn = []
    if votes.n_members > 1:
        alike = display.AgreementDisplay.from_votes(votes, support)
        drawn.append(draw("agreement", alike, width=5.6, height=4.6))
    if diagnosis is not None:
        if votes.n_members > 1:
            drawn.append(_pairs_of_members(votes, support))
        drawn += [
            _risk_curve(diagnosis.risk),
            _members_map(page["members"], support, page["votes"]["accuracy"]),
        ]
    return {picture.id: picture for picture in drawn}


def _column(rows: Rows, name: str) -> FloatArray:
    """Return a column of a table; missing values are NaN."""
    return np.array([row[name] for row in rows], dtype=float)


def _pairs_of_members(votes: VoteCounts, support: BoolArray | None) -> Picture:
    """Draw agreement and error of each pair."""
    pairs = display.KappaErrorDisplay.from_votes(votes, support)
    kappa, error = pairs.kappa[pairs.hull], pairs.error[pairs.hull]
    texts = [
        f"on the outline: kappa {number(k, 3)}, mean error {percent(e, 1)}"
        for k, e in zip(kappa, error, strict=True)
    ]
    return draw("kappa", pairs, kappa, error, texts, width=5.6, height=4.2)


def _risk_curve(risk: RiskAssessment) -> Picture:
    """Draw the risk estimate by diversity, with the position of the ensemble."""
    shown = display.RiskCurveDisplay.from_assessment(risk)
    at = float(np.clip(risk.diversity, -0.49, 0.49))
    height = max(float(risk.risk), 1e-9) if np.isfinite(risk.risk) else 1.0
    where = "no interval" if risk.interval is None else f"interval {risk.interval}"
    text = (
        f"this ensemble: diversity {number(risk.diversity)} on its worst sample, "
        f"risk estimate {number(risk.risk, 1)}, {where}"
    )
    return draw("risk", shown, [at], [height], [text], width=7.2, height=4.6)


def _members_map(rows: Rows, support: BoolArray | None, accuracy: float) -> Picture:
    """Draw the accuracy of each member against its agreement with the others."""
    x, y = _column(rows, "agreement"), _column(rows, "accuracy")
    shown = display.MembersDisplay(x, y, support, accuracy)
    # A single member has no others to agree with.
    some = rows[: _MOST_POINTS if np.isfinite(x).all() else 0]
    texts = [
        f"member {row['member']}: right on {percent(row['accuracy'])}, agrees with "
        f"{percent(row['agreement'], 1)} of the others"
        + (f", {row['kept']}" if row["kept"] else "")
        + (f", pick {row['pick']}" if row["pick"] else "")
        for row in some
    ]
    marked = x[: len(some)], y[: len(some)], texts
    return draw("members-map", shown, *marked, height=3.8)


def _margins(votes: Votes, kept: Votes | None) -> Picture:
    """Draw the share of samples up to each margin."""
    before, after = (
        None if each is None else display.MarginDisplay.from_votes(each).before
        for each in (votes, kept)
    )
    assert before is not None
    marked = [
        (margin, float(np.mean(values <= margin)), name)
        for name, values in (("all members", before), ("kept", after))
        if values is not None
        for margin in np.linspace(-0.8, 0.8, 9).tolist()
    ]
    texts = [
        f"{name}: {percent(share, 1)} of the samples have a margin up to "
        f"{number(margin, 1)}"
        for margin, share, name in marked
    ]
    at, shares, _ = zip(*marked, strict=True)
    return draw("margins", display.MarginDisplay(before, after), at, shares, texts)


def _size_curve(curve: Section, n_kept: int, score: ScoreFormat) -> Picture:
    """Draw the error by number of members."""
    names = "sizes", "errors", "standard_errors"
    sizes, errors, doubts = (np.array(curve[name]) for name in names)
    every = np.arange(1, int(sizes[-1]) + 1)
    shown = display.SizeCurveDisplay(
        every,
        np.interp(every, sizes, errors),
        np.interp(every, sizes, doubts),
        curve["full_error"],
        min(n_kept, int(every[-1])),
        scoring=score.title,
        top=score.top,
    )
    values = errors if score.is_accuracy else score.top - errors
    called = "error" if score.is_accuracy else score.title
    some = evenly_spread(sizes.size, 60)
    texts = [
        f"{_text.plural(sizes[at])}: {called} {score.write(values[at])}" for at in some
    ]
    return draw("sizes", shown, sizes[some], values[some], texts)


def study_pictures(results: Results) -> dict[str, Picture]:
    """Draw all figures that apply to the results; tables have their numbers."""
    rows = 7.0, 1.4 + 0.34 * len(results.methods)
    pictures = {}
    for name, shown in display.study_displays(results).items():
        width, height = _SIZES.get(name, rows)
        panels = isinstance(shown, display.PanelsDisplay)
        pictures[name] = draw(name, shown, width=width, height=height, panels=panels)
    return pictures


def evenly_spread(length: int, most: int) -> IntArray:
    """Return evenly spaced indices, up to a number, including both ends."""
    places = np.linspace(0, length - 1, min(length, most)).round()
    return np.unique(places).astype(np.intp)
