"""The pictures of a page: what each is called, says, and tells at its points.

A picture is a function that takes what is known and returns the picture, or None where
it does not fit. To add one, write it in the file of its section and name it here.
"""

from collections.abc import Callable
from typing import Any

from quorate._choosing import Selection
from quorate._report._pictures import (
    _diversity,
    _lazy,
    _members,
    _pruning,
    _study,
    _vote,
)
from quorate._report._pictures._input import PictureInput, evenly_spread
from quorate._report._svg import Picture
from quorate._theory import Diagnosis
from quorate._votes import Summary, Votes
from quorate.study import Results

__all__ = [
    "ensemble_pictures",
    "evenly_spread",
    "study_pictures",
    "summary_pictures",
]

ENSEMBLE_PICTURES: tuple[Callable[[PictureInput], Picture | None], ...] = (
    _vote.decomposition,
    _diversity.measures,
    _vote.margins,
    _vote.risk_curve,
    _members.members_map,
    _pruning.size_curve,
    _diversity.pairs_of_members,
    _diversity.agreement,
    _members.pick_trace,
    _pruning.method_gains,
    _lazy.lazy_curve,
    _lazy.trade_off,
)
# What counts are enough for; the others look at single samples.
SUMMARY_PICTURES: tuple[Callable[[PictureInput], Picture | None], ...] = (
    _vote.decomposition,
    _diversity.measures,
    _vote.risk_curve,
    _members.members_map,
    _diversity.pairs_of_members,
    _diversity.agreement,
)
STUDY_PICTURES: tuple[Callable[[Results], Picture | None], ...] = (
    _study.ranks,
    _study.critical_difference,
    _study.accuracy,
    _study.time_to_choose,
    _study.memory,
    _study.members_kept,
    _study.decomposition,
    _study.correlations,
    _study.risk_and_error,
    _study.size_and_accuracy,
)


def ensemble_pictures(
    votes: Votes,
    some: Votes,
    selection: Selection,
    diagnosis: Diagnosis | None,
    data: dict[str, Any],
) -> dict[str, Picture]:
    """Draw everything; ``some`` are the votes that pictures of pairs look at."""
    given = PictureInput(votes, some, selection, diagnosis, data)
    return _by_id([make(given) for make in ENSEMBLE_PICTURES])


def summary_pictures(
    summary: Summary, diagnosis: Diagnosis | None, data: dict[str, Any]
) -> dict[str, Picture]:
    """Draw what can be drawn from counts."""
    given = PictureInput(None, summary, None, diagnosis, data)
    return _by_id([make(given) for make in SUMMARY_PICTURES])


def study_pictures(results: Results) -> dict[str, Picture]:
    """Draw every picture that fits the results."""
    return _by_id([make(results) for make in STUDY_PICTURES])


def _by_id(drawn: list[Picture | None]) -> dict[str, Picture]:
    return {picture.id: picture for picture in drawn if picture is not None}
