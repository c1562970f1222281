"""Expected error of the kept members on new data.

Errors on the samples used for choosing are optimistic, and out of bag, small ensembles
look weaker than they are. So the choice is repeated without each fold of the samples
and evaluated on that fold, with as many votes as there will be on new data.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from quorate._choosing._crossfit import (
    CONFIDENCE,
    cross_fitted_curve,
    first_votes,
    fit_on,
    folds_of,
    split_evidence,
)
from quorate._choosing._evidence import Evidence
from quorate._choosing._size import CrossFittedCurve, SizeByErrors
from quorate._progress import stage
from quorate._scoring import Score
from quorate._typing import Array, FloatArray, IntArray
from quorate._votes import Votes, WholePrediction, predicted_codes, with_changes
from quorate.pruning import Pruner, make_pruner

if TYPE_CHECKING:
    from quorate._choosing._selection import Selection

# Minimum number of samples to estimate the error of a fixed number of members.
FEWEST = 40
# Maximum number of samples on which it is estimated; the others contribute the error of
# all members.
MOST = 10_000
_SEED = 0


@dataclass(frozen=True, slots=True)
class ExpectedError:
    """Expected error of the kept members on new data.

    With a score other than accuracy, an error is the difference to its best value.

    Attributes
    ----------
    error : float
        Expected error.
    limit : float
        Upper limit of the error, with 95 % confidence.
    score : Score
        The score in which errors are measured.
    standard_error : float
        Standard error of ``error``.
    excess : float
        Expected error minus the error of all members.
    excess_error : float
        Standard error of that difference, on the same samples.
    with_size : bool
        Whether the number of members was cross-validated, too.
    before_distillation : bool
        Whether the kept members were distilled after this estimate.
    by_fewer_votes : bool
        Whether fewer votes were used than there will be on new data, as out of bag for
        a method without an order; the estimate is then pessimistic.
    samples : IntArray
        Indices of the evaluated samples, among those voted on.
    decisions : IntArray
        Predicted class of each of these samples, by members chosen without it.
    shares : FloatArray
        Class probabilities or vote shares of each of these samples.
    """

    error: float
    limit: float
    score: Score = field(compare=False)
    standard_error: float
    excess: float
    excess_error: float
    samples: IntArray = field(repr=False, compare=False)
    decisions: IntArray = field(repr=False, compare=False)
    shares: FloatArray = field(repr=False, compare=False)
    with_size: bool = False
    before_distillation: bool = False
    by_fewer_votes: bool = False

    def __str__(self) -> str:
        text = self.score.loss_text
        about, limit = text(self.error), f"at most {text(self.limit)}"
        if not self.score.is_accuracy:
            about += f" +- {self.standard_error:.4f}"
            limit = f"at least {text(self.limit)}"
        which = "before distillation: " * self.before_distillation
        title = f"{which}{self.score.loss_title}"
        return f"{title} about {about}, {limit} with 95 % confidence"

    def accuracies(self, votes: Votes) -> tuple[float, float]:
        """Return the accuracy of all members on the votes, and the expected accuracy.

        Parameters
        ----------
        votes : Votes
            The votes used for choosing.
        """
        before = votes.accuracy()
        if self.score.is_accuracy:
            return before, 1 - self.error
        return before, before + float(self._gains(votes).mean())

    def recalls(self, votes: Votes) -> dict[str, tuple[float, float]]:
        """Return the recall of each class by all members, and the expected recall."""
        gains, y = self._gains(votes), votes.y[self.samples]
        found = {}
        for code in np.unique(y).tolist():
            before = 1 - float(votes.sample_errors()[votes.y == code].mean())
            after = before + float(gains[y == code].mean())
            found[str(votes.classes[code])] = before, after
        return found

    def agreement(self, votes: Votes) -> float | None:
        """Return the share of samples on which kept and all members agree.

        None out of bag, where the kept members are a larger share of the voters than on
        new data.
        """
        if votes.is_masked:
            return None
        return float(np.mean(predicted_codes(votes)[self.samples] == self.decisions))

    def _gains(self, votes: Votes) -> FloatArray:
        """Return the gain of the kept members on each sample."""
        wrong = self.decisions != votes.y[self.samples]
        return np.asarray(votes.sample_errors()[self.samples] - wrong)

    def to_dict(self) -> dict[str, Any]:
        """Return plain types for JSON."""
        return {
            "scoring": self.score.name,
            "error": self.error,
            "standard_error": self.standard_error,
            "limit": self.limit,
            "excess": self.excess,
            "excess_error": self.excess_error,
            "before_distillation": self.before_distillation,
            "by_fewer_votes": self.by_fewer_votes,
            "n_samples": int(self.samples.size),
        }


def expected_error(selection: "Selection") -> ExpectedError | None:
    """Return the expected error of a selection; None if there are too few samples."""
    if selection.size_score is not None and not selection.sized_distilled:
        return _expected_with_size(selection, selection.size_score)
    return expected_errors(selection.evidence, [selection], selection.score)[0]


def _expected_with_size(selection: "Selection", size_score: Score) -> ExpectedError:
    """Cross-validate the choice of members together with their number.

    The error of the best of many sizes is optimistic. So the whole procedure is
    repeated without each fold and evaluated on that fold.
    """
    evidence, size, score = selection.evidence, selection.size, selection.score
    pruner = selection.orders_all or selection.pruner
    assert isinstance(size, SizeByErrors)
    votes, scorer = evidence.votes, CrossFitScorer(evidence.votes, score)
    for held, others in split_evidence(evidence, score):
        fitted = fit_on(others, pruner)
        curve = cross_fitted_curve(others, pruner, fitted.order_, size_score)
        number = size.resolve(curve)
        if number is None:
            scorer.add(held, votes.at(held))  # all members are kept
            continue
        # Out of bag, the first that vote are those of the order of all.
        if not (fitted.tags.nested or votes.is_masked):
            fitted = fit_on(others, make_pruner(pruner, keep=number))
        scorer.add_first(held, fitted, number)
    return replace(scorer.result(), with_size=True)


def expected_errors(
    evidence: Evidence, selections: Sequence["Selection"], score: Score
) -> list[ExpectedError | None]:
    """Return the expected errors of several selections.

    The same number of members is chosen without each fold of the samples, with the same
    folds for all methods, and evaluated on that fold. None if there are too few
    samples, overall or in a class, for cross-validation.

    Parameters
    ----------
    evidence : Evidence
        What the members were chosen on.
    selections : sequence of Selection
        The selections.
    score : Score
        What to count.
    """
    some, everybody = _at_most(evidence), CrossFitScorer(evidence.votes, score)
    if not can_expect(some.votes, score):
        return [None] * len(selections)
    if not all(selection.drops_members for selection in selections):
        everybody.add(np.arange(evidence.votes.n_samples), evidence.votes)
    scorers = [CrossFitScorer(some.votes, score) for _ in selections]
    chosen = [
        (*_method_of(selection, some.votes), scorer)
        for selection, scorer in zip(selections, scorers, strict=True)
        if selection.drops_members
    ]
    for held, others in split_evidence(some, score) if chosen else ():
        for pruner, number, scorer in chosen:
            with stage("cross-validating"):
                scorer.add_first(held, fit_on(others, pruner), number)
    return [
        _on_all_samples(scorer.result(), evidence.votes, selection.pruner)
        if selection.drops_members
        else everybody.result()
        for selection, scorer in zip(selections, scorers, strict=True)
    ]


def expected_curve(
    evidence: Evidence, selection: "Selection"
) -> CrossFittedCurve | None:
    """Return the expected error by size.

    None if there are too few samples, or if the method does not order all members.
    """
    if selection.found_in is not None:
        return selection.found_in
    some, score = _at_most(evidence), selection.score
    if not (has_whole_order(selection.pruner) and can_expect(some.votes, score)):
        return None
    pruner, order = make_pruner(selection.pruner, keep=1.0), selection.order
    if order.size < evidence.votes.n_members:
        order = fit_on(some, pruner).order_
    curve = cross_fitted_curve(some, pruner, order, score)
    full = score.estimate_votes(evidence.votes).loss
    share = some.votes.n_samples / evidence.votes.n_samples
    spread = _with_all_samples(curve.standard_errors, curve.excess_errors, share)
    errors = curve.errors + (full - curve.full_error)
    return replace(curve, errors=errors, full_error=full, standard_errors=spread)


def _method_of(selection: "Selection", votes: Votes) -> tuple[Pruner, int | None]:
    """Return the method used, and how many members of its order to take (None: all)."""
    pruner, number = selection.pruner, selection.n_kept
    if has_whole_order(pruner):
        # Out of bag, the first that vote are those of the order of all.
        return make_pruner(pruner, keep=1.0 if votes.is_masked else number), number
    # A truncated order is truncated again.
    return pruner, number if number < pruner.order_.size else None


def _on_all_samples(
    expected: ExpectedError, votes: Votes, pruner: Pruner
) -> ExpectedError:
    """Return the expected error over all samples, from an estimate on some of them."""
    share = expected.samples.size / votes.n_samples
    doubt = _with_all_samples(expected.standard_error, expected.excess_error, share)
    return replace(
        expected,
        error=expected.score.estimate_votes(votes).loss + expected.excess,
        standard_error=float(doubt),
        by_fewer_votes=votes.is_masked and not has_whole_order(pruner),
        samples=_drawn(votes.n_samples)[expected.samples],
    )


def can_expect(votes: Votes, score: Score) -> bool:
    """Return whether there are enough samples for cross-validation."""
    fewest = np.bincount(votes.y, minlength=votes.n_classes).min()
    if votes.n_samples < FEWEST or (score.needs_every_class and fewest < 2):
        return False
    return bool(folds_of(votes, score))


def has_whole_order(pruner: Pruner) -> bool:
    """Return whether a method orders all members independently of the size.

    New weights are valid for one size only.
    """
    tags = pruner.tags
    return pruner.has_order and tags.honours_keep and not tags.chooses_weights


class CrossFitScorer:
    """Collects cross-validated predictions and scores them."""

    def __init__(self, votes: Votes, score: Score) -> None:
        self.votes, self.score = votes, score
        self.decisions: IntArray = np.full(votes.n_samples, -1)
        self.shares: FloatArray = np.empty((votes.n_samples, votes.n_classes))
        self.inputs: Array = np.empty(0)

    def add_first(self, held: IntArray, fitted: Pruner, number: int | None) -> None:
        """Add the predictions of the first picked members, or of all of them.

        Samples on which no picked member has a vote are left out.
        """
        order, weights = fitted.path()
        votes = self.votes.at(held)
        if votes.is_masked:
            there = np.flatnonzero((votes.codes[order] >= 0).any(axis=0))
            held, votes = held[there], votes.at(there)
        if weights is not None:
            last = order[:number]
            given = np.zeros(votes.n_members)
            given[last] = weights[last.size - 1]
            votes = with_changes(votes, weights=given if given.any() else None)
        self.add(held, first_votes(votes, order, number or order.size))

    def add(self, held: IntArray, votes: Votes) -> None:
        """Add the predictions of an ensemble on the samples of a fold."""
        prediction = WholePrediction(votes)
        self.decisions[held] = prediction.codes()
        self.shares[held] = prediction.shares()
        inputs = self.score.inputs(prediction)
        if not self.inputs.size:
            shape = (self.votes.n_samples, *inputs.shape[1:])
            self.inputs = np.empty(shape, dtype=inputs.dtype)
        self.inputs[held] = inputs

    def result(self) -> ExpectedError:
        """Return the expected error of the collected predictions."""
        places = np.flatnonzero(self.decisions >= 0)
        votes = self.votes.at(places)
        found = self.score.estimate(self.inputs[places], votes.y)
        excess, doubt = found.behind(self.score.estimate_votes(votes))
        return ExpectedError(
            error=found.loss,
            # Half of the error probability is reserved for the difference between the
            # members of the folds and those that are finally kept.
            limit=found.loss_limit(1 - (1 - CONFIDENCE) / 2),
            score=self.score,
            standard_error=found.standard_error,
            excess=excess,
            excess_error=doubt,
            samples=places,
            decisions=self.decisions[places],
            shares=self.shares[places],
        )


def _at_most(evidence: Evidence) -> Evidence:
    """Return the evidence restricted to some samples if there are many."""
    n_samples = evidence.votes.n_samples
    if n_samples <= MOST:
        return evidence
    return evidence.at(_drawn(n_samples), share_unlabelled=True)


def _drawn(n_samples: int) -> IntArray:
    """Return the samples to evaluate: all, if there are few."""
    if n_samples <= MOST:
        return np.arange(n_samples)
    rng = np.random.default_rng(_SEED)
    return np.sort(rng.choice(n_samples, MOST, replace=False))


def _with_all_samples(spread: Any, differ: Any, share: float) -> Any:
    """Return the standard error of an estimate that uses all samples.

    The error of all members is known on all samples, the difference of the kept ones on
    a subsample; ``spread`` and ``differ`` are their standard errors on the subsample.
    """
    return np.sqrt(np.square(differ) * (1 - share) + np.square(spread) * share)
