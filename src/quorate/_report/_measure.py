"""What a report speaks in: accuracy, or the score that was asked for."""

from dataclasses import dataclass
from typing import Any

from quorate._choosing import ExpectedError, Selection
from quorate._report._format import number, percent, points
from quorate._scoring import Score, ScoreEstimate, balanced_accuracy
from quorate._votes import Votes
from quorate.ensembles import Ensemble

_ASKED = "as asked for"
_WEIGHTED = (
    "since its members were trained with class weights, which accuracy would hold "
    "against it"
)


def score_to_judge_by(
    scoring: Any, ensemble: Ensemble | None, votes: Votes, selection: Selection
) -> tuple[Score, str]:
    """Return the score a report speaks in, and why it is not accuracy.

    An ensemble whose classes were weighted is not judged by plain accuracy.
    """
    if not selection.judged_by.is_accuracy:
        return selection.judged_by, _ASKED
    if scoring is not None or ensemble is None:
        return selection.judged_by, ""
    if is_class_weighted(ensemble) and _has_all_classes(votes):
        return balanced_accuracy(votes.classes), _WEIGHTED
    return selection.judged_by, ""


def is_class_weighted(ensemble: Ensemble) -> bool:
    """Tell whether the ensemble, or any of its members, was given class weights."""
    models = [ensemble.core, *(member.estimator for member in ensemble.members[:1])]
    return any(getattr(model, "class_weight", None) is not None for model in models)


def _has_all_classes(votes: Votes) -> bool:
    return bool(set(votes.y.tolist()) == set(range(votes.n_classes)))


def judged_facts(
    score: Score,
    why: str,
    votes: Votes,
    kept: Votes,
    expected: ExpectedError | None,
    honest: bool,
) -> dict[str, Any] | None:
    """Return the score of all members and of those kept; None for accuracy.

    Of those kept what to expect; where that is not known, that where they were chosen.
    """
    if score.is_accuracy or not honest:
        return None
    whole, part = score.estimate_votes(votes), score.estimate_votes(kept)
    before, after = _value(whole), _value(part)
    gain, doubt = whole.behind(part)
    if expected is not None:
        gain, doubt = -expected.excess, expected.excess_error
        after = {
            "value": score.top - expected.error,
            "standard_error": expected.standard_error,
        }
    return {
        "scoring": score.name,
        "title": score.title,
        "why": why,
        "is_share": score.top == 1.0,
        "top": score.top,
        "before": before,
        "after": after,
        "gain": {"value": gain, "standard_error": doubt},
    }


def _value(estimate: ScoreEstimate) -> dict[str, float]:
    return {"value": estimate.score, "standard_error": estimate.standard_error}


@dataclass(frozen=True, slots=True)
class Measure:
    """The columns of method comparisons that count, and how to write them."""

    title: str
    value: str
    gain: str
    gain_error: str
    is_share: bool

    def write(self, value: Any) -> str:
        """Return a value of the score, for people."""
        return percent(value) if self.is_share else number(value)

    def differ(self, difference: Any) -> str:
        """Return a difference of scores, with its sign."""
        if self.is_share:
            return points(difference)
        text = number(difference)
        return text if difference is None or difference <= 0 else f"+{text}"


def measure_of(data: dict[str, Any]) -> Measure:
    """Return what the report speaks in."""
    judged = data.get("judged")
    if judged is None:
        return Measure("accuracy", "accuracy", "gain", "gain_error", True)
    return Measure(
        judged["title"], "score", "score_gain", "score_gain_error", judged["is_share"]
    )
