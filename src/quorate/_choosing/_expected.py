"""Expected error of the kept members on new data.

Errors on the samples used for choosing are optimistic, and out of bag, small ensembles
look weaker than they are. So the choice is repeated without each fold of the samples
and evaluated on that fold, with as many votes as there will be on new data.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeVar

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
from quorate._scoring import RareClass, Score, find_rare_class
from quorate._typing import Array, FloatArray, IntArray
from quorate._units import percent_text
from quorate._votes import (
    Prediction,
    Votes,
    WholePrediction,
    predicted_codes,
    with_changes,
)
from quorate.pruning import Pruner, make_pruner

if TYPE_CHECKING:
    from quorate._choosing._selection import Selection

AnyEvidence = TypeVar("AnyEvidence", bound=Evidence)
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
    by_whole : bool
        Whether this is for distilled members, from the out-of-bag error of all members,
        which they are made to match; decisions and shares are then those of all.
    same_label : float | None
        Then, the share of synthetic samples on which the kept and all members agree.
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
    by_whole: bool = False
    same_label: float | None = None
    by_fewer_votes: bool = False

    def __str__(self) -> str:
        text = self.score.loss_text
        about, limit = text(self.error), f"at most {text(self.limit)}"
        if not self.score.is_accuracy:
            about += f" +- {self.standard_error:.4f}"
            limit = f"at least {text(self.limit)}"
        title, of = self.score.loss_title, ""
        if self.same_label is not None:
            same = percent_text(self.same_label, 1)
            of = f", from all members out of bag and {same} equal labels"
        return f"{title} about {about}, {limit} with 95 % confidence{of}"

    def accuracies(self, votes: Votes) -> tuple[float, float]:
        """Return the accuracy of all members, and that expected of those kept.

        Parameters
        ----------
        votes : Votes
            The votes used for choosing.
        """
        if self.score.is_accuracy:
            return 1 - (self.error - self.excess), 1 - self.error
        before = votes.accuracy()
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
        if votes.is_masked or self.by_whole:
            return self.same_label
        return float(np.mean(predicted_codes(votes)[self.samples] == self.decisions))

    def rare_class(self, votes: Votes) -> RareClass | None:
        """Return how well all members, and those kept, are expected to rank one.

        None where no class is rare, or nothing is known of the kept members alone.
        """
        if votes.rule != "average" or self.by_whole:
            return None
        votes = votes.at(self.samples)
        both = WholePrediction(votes).shares(), self.shares
        return find_rare_class(
            votes.classes[votes.y],
            lambda label: (shares[:, votes.classes == label][:, 0] for shares in both),
        )

    def rare_facts(self, votes: Votes) -> dict[str, str]:
        """Return how the kept members, and all, treat a rare class, as text."""
        if (rare := self.rare_class(votes)) is None:
            return {}
        before, after = (f"{each:.4f}" for each in self.recalls(votes)[rare.label])
        rows = [*rare.rows(), (f"recall of {rare.label}", before, after)]
        return {row[0]: f"{row[2]}, all members {row[1]}" for row in rows}

    def record(self, votes: Votes) -> dict[str, Any]:
        """Return what a pruned model records: plain types, with classes on new data."""
        if self.by_whole:
            return self.to_dict()
        rare, recalls = self.rare_class(votes), self.recalls(votes)
        return {
            **self.to_dict(),
            "recalls": {label: list(pair) for label, pair in recalls.items()},
            "rare_class": None if rare is None else rare.to_dict(),
        }

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
            "by_whole": self.by_whole,
            "same_label": self.same_label,
            "by_fewer_votes": self.by_fewer_votes,
            "n_samples": int(self.samples.size),
        }


def expected_error(selection: "Selection") -> ExpectedError | None:
    """Return the expected error of a selection; None if there are too few samples."""
    if selection.size_score is not None:
        found = _expected_with_size(selection, selection.size_score)
        return _without_copies(found, selection.evidence)
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
            scorer.add(held, WholePrediction(votes.at(held)))  # all members are kept
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
    some = at_most(evidence)
    if not can_expect(some, score):
        return [None] * len(selections)
    scorers = [CrossFitScorer(some.votes, score) for _ in selections]
    chosen = [
        (*method_of(selection, some.votes), scorer)
        for selection, scorer in zip(selections, scorers, strict=True)
        if selection.drops_members
    ]
    for held, others in split_evidence(some, score) if chosen else ():
        for pruner, number, scorer in chosen:
            with stage("cross-validating"):
                scorer.add_first(held, fit_on(others, pruner), number)
    return [
        on_all_samples(scorer.result(), evidence, selection.pruner)
        if selection.drops_members
        else _of_all(evidence, score)
        for selection, scorer in zip(selections, scorers, strict=True)
    ]


def expected_by_agreement(
    selection: "Selection", before: float, after: float
) -> ExpectedError | None:
    """Return the expected error of distilled members, from votes out of bag.

    It is that of all members, and as much of what the kept ones err more before
    distillation as labels still differ. With few votes on each sample these look worse
    than they are, by about as much as with half of the votes they look worse again:
    errors fall with the inverse of the number of votes. The limit leaves that out.
    Other scores do not fall so, nor do equal labels tell them: there is no estimate.

    Parameters
    ----------
    selection : Selection
        The members before distillation.
    before, after : float
        Shares of labels that equal those of all members, before and after distillation.
    """
    votes, score = selection.votes, selection.score
    if not score.is_accuracy:
        return None
    kept = expected_errors(selection.evidence, [selection], score)[0]
    if kept is None:
        return None
    whole = _of_all(selection.evidence, score)
    halves = [votes.keep(np.arange(start, votes.n_members, 2)) for start in (0, 1)]
    by_half = float(np.mean([score.estimate_votes(half).loss for half in halves]))
    missing = float(np.mean(votes.codes < 0))
    pessimism = missing * max(by_half - whole.error, 0.0)
    share = (1 - max(after, before)) / max(1 - before, 1e-12)
    more, doubt = share * max(kept.excess, 0.0), share * kept.excess_error
    return replace(
        whole,
        error=max(whole.error - pessimism, 0.0) + more,
        limit=min(whole.limit + more, 1.0),
        standard_error=float(np.hypot(whole.standard_error, doubt)),
        excess=more,
        excess_error=doubt,
        by_whole=True,
        same_label=after,
    )


def _of_all(evidence: Evidence, score: Score) -> ExpectedError:
    """Return the error of all members on their votes."""
    votes = evidence.votes
    scorer = CrossFitScorer(votes, score)
    scorer.add(np.arange(votes.n_samples), WholePrediction(votes))
    return _without_copies(scorer.result(), evidence)


def _without_copies(expected: ExpectedError, evidence: Evidence) -> ExpectedError:
    """Return an estimate with the doubt of rows of which some are copies of others."""
    if evidence.equal is None:
        return expected
    counts = np.bincount(evidence.equal)
    wider = float(np.sqrt(counts @ counts / counts.sum()))
    limit = expected.error + wider * (expected.limit - expected.error)
    return replace(
        expected,
        limit=min(limit, 1.0) if expected.score.is_accuracy else limit,
        standard_error=wider * expected.standard_error,
        excess_error=wider * expected.excess_error,
    )


def expected_curve(
    evidence: Evidence, selection: "Selection"
) -> CrossFittedCurve | None:
    """Return the expected error by size.

    None if there are too few samples, or if the method does not order all members.
    """
    if selection.found_in is not None:
        return selection.found_in
    some, score = at_most(evidence), selection.score
    if not (has_whole_order(selection.pruner) and can_expect(some, score)):
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


def method_of(selection: "Selection", votes: Votes) -> tuple[Pruner, int | None]:
    """Return the method used, and how many members of its order to take (None: all)."""
    pruner, number = selection.pruner, selection.n_kept
    if has_whole_order(pruner):
        # Out of bag, the first that vote are those of the order of all.
        return make_pruner(pruner, keep=1.0 if votes.is_masked else number), number
    # A truncated order is truncated again.
    return pruner, number if number < pruner.order_.size else None


def on_all_samples(
    expected: ExpectedError, evidence: Evidence, pruner: Pruner, most: int | None = None
) -> ExpectedError:
    """Return the expected error over all samples, from an estimate on some of them."""
    votes = evidence.votes
    share = expected.samples.size / votes.n_samples
    doubt = _with_all_samples(expected.standard_error, expected.excess_error, share)
    on_all = replace(
        expected,
        error=expected.score.estimate_votes(votes).loss + expected.excess,
        standard_error=float(doubt),
        by_fewer_votes=votes.is_masked and not has_whole_order(pruner),
        samples=_drawn(votes.n_samples, most)[expected.samples],
    )
    return _without_copies(on_all, evidence)


def can_expect(evidence: Evidence, score: Score) -> bool:
    """Return whether there are enough samples for cross-validation."""
    votes = evidence.votes
    fewest = np.bincount(votes.y, minlength=votes.n_classes).min()
    too_few = votes.n_samples < FEWEST or (score.needs_every_class and fewest < 2)
    return not too_few and bool(folds_of(votes, score, evidence.equal))


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
        chosen = first_votes(votes, order, number or order.size)
        self.add(held, WholePrediction(chosen))

    def add(self, held: IntArray, prediction: Prediction) -> None:
        """Add predictions on the samples of a fold."""
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


def at_most(evidence: AnyEvidence, most: int | None = None) -> AnyEvidence:
    """Return the evidence restricted to some samples if there are many."""
    n_samples = evidence.votes.n_samples
    if n_samples <= (most or MOST):
        return evidence
    return evidence.at(_drawn(n_samples, most), share_unlabelled=True)


def _drawn(n_samples: int, most: int | None) -> IntArray:
    """Return the samples to evaluate: all, if there are few."""
    most = most or MOST
    if n_samples <= most:
        return np.arange(n_samples)
    rng = np.random.default_rng(_SEED)
    return np.sort(rng.choice(n_samples, most, replace=False))


def _with_all_samples(spread: Any, differ: Any, share: float) -> Any:
    """Return the standard error of an estimate that uses all samples.

    The error of all members is known on all samples, the difference of the kept ones on
    a subsample; ``spread`` and ``differ`` are their standard errors on the subsample.
    """
    return np.sqrt(np.square(differ) * (1 - share) + np.square(spread) * share)
