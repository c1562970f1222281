"""The figures of a page.

Titles, captions and alternative texts are in the templates, which have access to the
display that was drawn.
"""

import numpy as np

from quorate import display
from quorate._report._expected import Analysis
from quorate._report._page import Picture, draw
from quorate._report._sections import Section
from quorate._report._text import ScoreFormat
from quorate._theory import Diagnosis
from quorate._typing import BoolArray
from quorate._votes import VoteCounts, Votes
from quorate.study import Results

# Width and height of figures of studies without a row for each method.
_SIZES = {
    "diversity-correlation": (9.2, 6.2),
    "risk-and-error": (9.6, 3.4),
    "size-and-accuracy": (7.0, 4.2),
}


def ensemble_pictures(
    page: Section, analysis: Analysis, pair_votes: Votes
) -> dict[str, Picture]:
    """Draw all applicable figures; those of pairs use only ``pair_votes``."""
    votes, selection, before = analysis.votes, analysis.selection, analysis.before
    if before is None:
        return {}
    drawn = votes_pictures(pair_votes, before, selection.support)
    shown = display.MarginDisplay.from_votes(votes)
    if not selection.distilled:
        kept = selection.applied_to(votes)  # with its own weights
        shown.after = display.MarginDisplay.from_votes(kept).before
    drawn["margins"] = draw("margins", shown)
    if (curve := page["pruning"]["curve"]) is not None:
        score = analysis.score_format
        drawn["sizes"] = _size_curve(curve, selection.n_kept, score)
    return drawn


def votes_pictures(
    votes: VoteCounts, diagnosis: Diagnosis, support: BoolArray | None = None
) -> dict[str, Picture]:
    """Draw pairs of members, and the risk estimate."""
    risk = display.RiskCurveDisplay.from_assessment(diagnosis.risk)
    drawn = {"risk": draw("risk", risk, width=7.2, height=4.6)}
    if votes.n_members > 1:
        pairs = display.KappaErrorDisplay.from_votes(votes, support)
        drawn["kappa"] = draw("kappa", pairs, width=5.6, height=4.2)
    return drawn


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
    return draw("sizes", shown)


def study_pictures(results: Results) -> dict[str, Picture]:
    """Draw all figures that apply to the results; tables have their numbers."""
    rows = 7.0, 1.4 + 0.34 * len(results.methods)
    pictures = {}
    for name, shown in display.study_displays(results).items():
        width, height = _SIZES.get(name, rows)
        panels = isinstance(shown, display.PanelsDisplay)
        pictures[name] = draw(name, shown, width=width, height=height, panels=panels)
    return pictures
