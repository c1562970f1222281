"""Expected scores of the kept members, and of other sizes."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from quorate._choosing import (
    CrossFittedCurve,
    Evidence,
    ExpectedError,
    Selection,
    expected_curve,
    expected_errors,
)
from quorate._ensembles import Ensemble
from quorate._report._reproduce import Request
from quorate._report._sections import Section, before_after, why_unscored
from quorate._report._text import ScoreFormat
from quorate._scoring import Score
from quorate._theory import Diagnosis, diagnose
from quorate._typing import IntArray
from quorate._votes import Votes

# Maximum number of samples to give reasons on.
MOST_SAMPLES = 6_000
_TOO_FEW = "There are too few samples to hold some of them out for evaluation."


@dataclass(frozen=True, slots=True, kw_only=True)
class Analysis:
    """A selection, with its scores as far as votes provide them.

    Attributes
    ----------
    votes : Votes
        The votes used for choosing.
    ensemble : Ensemble or None
        The ensemble of the votes; None if there are votes only.
    score, score_format : Score and ScoreFormat
        The score that the page reports, and how to write it.
    chosen_before : bool
        Whether members were already chosen on the samples.
    honest : bool
        Whether the votes can be used to score members.
    refusal : str
        Why there is no expected score, if so.
    before, after : Diagnosis or None
        Diagnoses of all members and of the kept ones; None if votes cannot be scored,
        and of distilled ones.
    smaller : fitted ensemble or None
        The kept members; None if there are votes only.
    """

    request: Request
    evidence: Evidence
    selection: Selection
    votes: Votes
    ensemble: Ensemble | None
    score: Score
    score_format: ScoreFormat
    chosen_before: bool
    honest: bool
    refusal: str
    expected: ExpectedError | None = None
    curve: CrossFittedCurve | None = None
    before: Diagnosis | None = None
    after: Diagnosis | None = None
    smaller: Any = None

    def some_samples(self, most: int | None = None) -> IntArray:
        """Return the indices of a random sample of limited size."""
        n_samples, most = self.votes.n_samples, most or MOST_SAMPLES
        if n_samples <= most:
            return np.arange(n_samples)
        rng = np.random.default_rng(self.request.random_state)
        return np.sort(rng.choice(n_samples, most, replace=False))


def analyse_selection(
    request: Request, evidence: Evidence, selection: Selection, smaller: Any = None
) -> Analysis:
    """Evaluate a selection by cross-validation, if possible."""
    votes, score = selection.votes, selection.score
    honest = votes.source is not None and not votes.why_unreliable
    scores: dict[str, Any] = {}
    if honest:
        expected = selection.expected
        scores = {"expected": expected, "before": diagnose(votes, request.noise)}
    if honest and not selection.distilled:
        if expected is None or not selection.drops_members:
            expected = expected_errors(evidence, [selection], score)[0] or expected
        scores |= {
            "expected": expected,
            "curve": expected_curve(evidence, selection),
            "after": diagnose(selection.applied_to(votes), request.noise),
        }
    return Analysis(
        request=request,
        evidence=evidence,
        selection=selection,
        votes=votes,
        ensemble=getattr(evidence, "ensemble", None),
        score=score,
        score_format=ScoreFormat(score.title, score.top) if honest else ScoreFormat(),
        chosen_before=honest and evidence.chosen_on,
        honest=honest,
        refusal=_TOO_FEW if honest else why_unscored(votes),
        smaller=smaller,
        **scores,
    )


def judged_section(analysis: Analysis) -> Section | None:
    """Return the score of the page and that of all members; None for accuracy."""
    score = analysis.score
    if score.is_accuracy or not analysis.honest:
        return None
    whole = score.estimate_votes(analysis.votes)
    return {
        "title": score.title,
        "scoring": score.name,
        "value": float(whole.score),
        "standard_error": float(whole.standard_error),
    }


def curve_section(analysis: Analysis) -> Section | None:
    """Return the expected error of each size, if the method has an order."""
    curve, expected = analysis.curve, analysis.expected
    if curve is None or expected is None:
        return None
    errors, doubts = curve.errors.copy(), curve.standard_errors.copy()
    if analysis.selection.drops_members:
        # Chosen again at that size if smaller selections are not prefixes of larger
        # ones, and including the size if it was found from errors.
        n_kept = analysis.selection.n_kept
        errors[curve.sizes == n_kept] = expected.error
        doubts[curve.sizes == n_kept] = expected.standard_error
    return {
        "sizes": curve.sizes.tolist(),
        "errors": errors.tolist(),
        "standard_errors": doubts.tolist(),
        "full_error": float(curve.full_error),
        "best_size": curve.best_size,
        "enough": curve.within_one_standard_error(),
        "order": curve.order.tolist(),
    }


def expected_section(analysis: Analysis) -> Section | None:
    """Return the score of all members and the expected score of the kept ones."""
    expected, top = analysis.expected, analysis.score.top
    if expected is None:
        return None
    return {
        "accuracy": before_after(*expected.accuracies(analysis.votes)),
        "before": top - (expected.error - expected.excess),
        "after": top - expected.error,
        "standard_error": expected.standard_error,
        "gain": -expected.excess,
        "gain_error": expected.excess_error,
        "by_fewer_votes": expected.by_fewer_votes,
        "by_whole": expected.by_whole,
        "same_label": expected.same_label,
        "n_samples": int(expected.samples.size),
        "size_found": expected.with_size,
    }
