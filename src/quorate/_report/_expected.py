"""Expected scores of the kept members, and of random ones."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from quorate._choosing import (
    CrossFittedCurve,
    Evidence,
    ExpectedError,
    FixedSize,
    Selection,
    choose,
    expected_curve,
    expected_errors,
)
from quorate._ensembles import Ensemble
from quorate._report._reproduce import Request
from quorate._report._sections import (
    Section,
    before_after,
    why_unscored,
)
from quorate._report._text import ScoreFormat
from quorate._scoring import Score
from quorate._theory import Diagnosis, diagnose
from quorate._typing import IntArray
from quorate._votes import Votes
from quorate.pruning import RandomSubset

# Maximum number of samples to give reasons on.
MOST_SAMPLES = 6_000
_TOO_FEW = "There are too few samples to hold some of them out for evaluation."
_DRAWS = 100
_FEW_DRAWS = 10


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


def analyse(
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


def curve_section(analysis: Analysis) -> Section:
    """Return the expected error by number of members.

    At every size for methods with an order; otherwise of the kept members and of all.
    """
    votes, n_kept = analysis.votes, analysis.selection.n_kept
    curve, expected = analysis.curve, analysis.expected
    if expected is None:
        return {"refusal": analysis.refusal}
    best_size = enough = order = None
    if curve is None:
        sizes = np.unique([n_kept, votes.n_members])
        whole = analysis.score.estimate_votes(votes)
        full_error = whole.loss
        errors = np.full(sizes.size, whole.loss)
        doubts = np.full(sizes.size, whole.standard_error)
    else:
        sizes, full_error, best_size = curve.sizes, curve.full_error, curve.best_size
        enough, order = curve.within_one_standard_error(), curve.order.tolist()
        errors, doubts = curve.errors.copy(), curve.standard_errors.copy()
    if n_kept < votes.n_members or analysis.selection.weights is not None:
        # Chosen again at that size if smaller selections are not prefixes of larger
        # ones, and including the size if it was found from errors.
        errors[sizes == n_kept] = expected.error
        doubts[sizes == n_kept] = expected.standard_error
    return {
        "refusal": None,
        "sizes": sizes.tolist(),
        "errors": errors.tolist(),
        "standard_errors": doubts.tolist(),
        "full_error": float(full_error),
        "best_size": best_size,
        "enough": enough,
        "order": order,
        "n_samples": int(expected.samples.size),
        "scoring": analysis.score.name,
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


def choice_section(analysis: Analysis) -> Section | None:
    """Compare the members that the method keeps with random ones, none distilled.

    Both are cross-validated on the same samples. The standard error of random members
    is that of one draw, as there is one selection. Out of bag, more members are drawn,
    so that the wanted number has a vote on each sample.
    """
    score, size, request = analysis.score, analysis.selection.n_kept, analysis.request
    chosen_by, seed = analysis.selection.score, request.random_state
    evidence = analysis.evidence.at(analysis.some_samples(), share_unlabelled=True)
    votes, keep = evidence.votes, size
    if analysis.expected is None or _lacks_class(votes, score):
        return None
    chosen = choose(
        evidence, request.method, FixedSize(size), seed=seed, scoring=chosen_by.given
    )
    (expected,) = expected_errors(evidence, [chosen], score)
    if expected is None:
        return None
    if votes.is_masked:
        keep = min(round(size / (votes.codes >= 0).mean()), votes.n_members)
    random = RandomSubset(keep=keep, random_state=np.random.default_rng(seed))
    draws = np.array([random.fit(votes).support_ for _ in range(_DRAWS)])
    loss = float(score.subset_losses(votes, draws, voted_only=True)[0].mean())
    whole = score.estimate_votes(votes)
    some = (score.estimate_votes(votes.keep(drawn)) for drawn in draws[:_FEW_DRAWS])
    doubt = float(np.mean([whole.behind(drawn)[1] for drawn in some]))
    return {
        "kept": {"score": score.top - expected.error, "error": expected.excess_error},
        "random": {"score": score.top - loss, "error": doubt},
        "n_draws": _DRAWS,
    }


def _lacks_class(votes: Votes, score: Score) -> bool:
    """Return whether a class is missing that the score needs."""
    return score.needs_every_class and np.unique(votes.y).size < votes.n_classes
