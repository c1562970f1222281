"""The error to expect of members that were chosen, on samples that did not choose them.

Errors on the samples chosen on flatter the choice, and out of bag few members look
weaker than they are. So the choice is made again without each fold of the samples in
turn, and judged on the fold by as many votes as there will be on a new sample.
"""

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from quorate._choosing._crossfit import (
    CONFIDENCE,
    CrossFittedCurve,
    Fits,
    cross_fitted_curve,
    first_votes,
    fit_on,
    fit_without_each_fold,
    folds_of,
    without,
)
from quorate._choosing._evidence import Evidence
from quorate._kernels.limits import upper_limit
from quorate._scoring import Score, judge_votes
from quorate._typing import Array, FloatArray, IntArray
from quorate._votes import Votes, outcome_of
from quorate.pruning import Pruner, make_pruner

if TYPE_CHECKING:
    from quorate._choosing._selection import Selection
    from quorate._choosing._size import Size

FEWEST = 40
"""Samples below which nothing is expected of a number of members that was given."""
MOST = 10_000
"""Samples on which such a number is judged, at most; the others add what all members
do on them."""
_SEED = 0


@dataclass(frozen=True, slots=True)
class ExpectedError:
    """Error to expect of the members kept, on samples that did not choose them.

    With another score than accuracy an error is what is missing to its best value.
    """

    error: float
    """What to expect."""
    limit: float
    """What it is at most, with 95 % confidence."""
    score: Score | None = None
    """The score asked for; None for accuracy."""
    standard_error: float = 0.0
    """Standard error of what to expect."""
    excess: float = 0.0
    """How much more that is than the error of all members; below zero, less."""
    excess_error: float = 0.0
    """Standard error of the difference, on the same samples."""
    by_fewer_votes: bool = False
    """Whether members were judged by fewer votes than there will be on new samples, as
    out of bag where a method has no order: few of them look weaker than they are."""
    samples: IntArray = field(
        default_factory=lambda: np.arange(0), repr=False, compare=False
    )
    """The samples judged on, as positions among those voted on."""
    decisions: IntArray = field(
        default_factory=lambda: np.arange(0), repr=False, compare=False
    )
    """The class that members chosen without it decide for, on each of them."""

    def __str__(self) -> str:
        if self.score is not None:
            found, least = (self.score.top - loss for loss in (self.error, self.limit))
            return (
                f"{self.score.title} about {found:.4f} +- {self.standard_error:.4f}, "
                f"at least {least:.4f} with 95 % confidence"
            )
        return (
            f"error about {self.error:.4f}, at most {self.limit:.4f} with 95 % "
            "confidence"
        )

    def accuracies(self, votes: Votes) -> tuple[float, float]:
        """Return the accuracy of all members where chosen, and what to expect.

        Parameters
        ----------
        votes : Votes
            The votes that members were chosen on.
        """
        before = votes.accuracy()
        if self.score is None:
            return before, 1 - self.error
        return before, before + float(self._gains(votes).mean())

    def recalls(self, votes: Votes) -> dict[str, tuple[float, float]]:
        """Return how much of each class all members find, and what to expect."""
        gains, y = self._gains(votes), votes.y[self.samples]
        found = {}
        for code in np.unique(y).tolist():
            before = 1 - float(votes.sample_errors()[votes.y == code].mean())
            after = before + float(gains[y == code].mean())
            found[str(votes.classes[code])] = before, after
        return found

    def agreement(self, votes: Votes) -> float | None:
        """Return the share of samples on which those kept decide as all members do.

        None out of bag, where they are a larger part of those that vote than they will
        be on new samples.
        """
        if votes.is_masked:
            return None
        return float(np.mean(votes.decisions()[self.samples] == self.decisions))

    def _gains(self, votes: Votes) -> FloatArray:
        """Return how much better those kept are on each sample, by what they decide."""
        wrong = self.decisions != votes.y[self.samples]
        return np.asarray(votes.sample_errors()[self.samples] - wrong)

    def to_dict(self) -> dict[str, Any]:
        """Return plain types for JSON."""
        return {
            "scoring": "accuracy" if self.score is None else self.score.name,
            "error": self.error,
            "standard_error": self.standard_error,
            "limit": self.limit,
            "excess": self.excess,
            "excess_error": self.excess_error,
            "by_fewer_votes": self.by_fewer_votes,
            "n_samples": int(self.samples.size),
        }


def expected_error(
    evidence: Evidence, pruner: Pruner, size: "Size", score: Score | None = None
) -> ExpectedError:
    """Find members and their number without each fold in turn, and judge them on it.

    The errors that found a size flatter it: of many sizes, some look good. So the whole
    procedure is repeated without the samples that judge it.
    """
    votes, found = evidence.votes, _Judging(evidence.votes, score)
    for held in folds_of(votes, by_class=score is not None):
        part = without(held, evidence)
        fitted = fit_on(part, pruner)
        curve = cross_fitted_curve(part, pruner, fitted.order_, score)
        number = size.on(curve, part.costs)
        if number is None:
            found.add(held, votes.at(held))  # everybody stays
            continue
        # Out of bag, the first that vote are those of the order of all.
        if not (fitted.tags.nested or votes.is_masked):
            fitted = fit_on(part, make_pruner(pruner, keep=number))
        found.judge(held, fitted, number)
    return found.result()


def expected_of(
    evidence: Evidence, selection: "Selection", score: Score | None = None
) -> ExpectedError | None:
    """Choose as many members without each fold in turn, and judge them on it.

    None where the samples are too few, or their classes too rare, to hold some back.

    Parameters
    ----------
    evidence : Evidence
        What the members were chosen on.
    selection : Selection
        Those members.
    score : Score, optional
        What to count instead of errors.
    """
    some = _some_of(evidence)
    if not can_expect(some.votes, score):
        return None
    if _keeps_all(selection):
        return _of_everybody(evidence.votes, score)
    pruner, number = selection.pruner, selection.n_kept
    # An order that was cut is cut again.
    first = number if number < pruner.order_.size else None
    if has_whole_order(pruner):
        # Out of bag, the first that vote are those of the order of all.
        keep = 1.0 if some.votes.is_masked else number
        pruner, first = make_pruner(pruner, keep=keep), number
    fits = fit_without_each_fold(some, pruner, by_class=score is not None)
    return _judged(evidence, some, fits, first, score)


def expectations(
    evidence: Evidence, selection: "Selection", score: Score | None = None
) -> tuple[ExpectedError | None, CrossFittedCurve | None]:
    """Return what to expect of the members kept, and of any number along the order.

    The same as one after the other, in less time.

    Parameters
    ----------
    evidence : Evidence
        What the members were chosen on.
    selection : Selection
        Those members.
    score : Score, optional
        What to count instead of errors.

    Returns
    -------
    expected, curve
        None both where the samples are too few, the curve also where the method has no
        order of all members.
    """
    same = (score is None) == (selection.judged_by is None)
    expected = selection.expected if same else None
    if expected is not None and _keeps_all(selection):
        expected = _of_everybody(evidence.votes, score)
    if same and isinstance(selection.curve, CrossFittedCurve):
        return expected, selection.curve
    some, number = _some_of(evidence), selection.n_kept
    if not can_expect(some.votes, score):
        return None, None
    if not has_whole_order(selection.pruner):
        return expected or expected_of(evidence, selection, score), None
    pruner = make_pruner(selection.pruner, keep=1.0)
    order = selection.order
    if order.size < evidence.votes.n_members:
        order = fit_on(some, pruner).order_
    fits = list(fit_without_each_fold(some, pruner, by_class=score is not None))
    in_fits = pruner.tags.nested or some.votes.is_masked
    if expected is None and in_fits and not _keeps_all(selection):
        expected = _judged(evidence, some, fits, number, score)
    elif expected is None:
        expected = expected_of(evidence, selection, score)
    curve = cross_fitted_curve(some, pruner, order, score, fits)
    full = _full_error(evidence.votes, score)
    return expected, replace(
        curve,
        errors=curve.errors + (full - curve.full_error),
        full_error=full,
        standard_errors=_with_all_samples(
            curve.standard_errors,
            curve.excess_errors,
            some.votes.n_samples / evidence.votes.n_samples,
        ),
    )


def _keeps_all(selection: "Selection") -> bool:
    """Tell whether those kept are the whole ensemble, with the weights it has."""
    return selection.n_kept == selection.votes.n_members and selection.weights is None


def _of_everybody(votes: Votes, score: Score | None) -> ExpectedError:
    """Return what to expect where everybody stays."""
    found = _Judging(votes, score)
    found.add(np.arange(votes.n_samples), votes)
    return found.result()


def _judged(
    evidence: Evidence,
    some: Evidence,
    fits: Fits,
    number: int | None,
    score: Score | None,
) -> ExpectedError:
    """Return what to expect of so many, judged on some samples, for all of them."""
    votes, found = some.votes, _Judging(some.votes, score)
    in_order = True
    for held, fitted in fits:
        in_order = has_whole_order(fitted)
        found.judge(held, fitted, number)
    expected, n_samples = found.result(), evidence.votes.n_samples
    doubt = _with_all_samples(
        np.array([expected.standard_error]),
        np.array([expected.excess_error]),
        expected.samples.size / n_samples,
    )
    return replace(
        expected,
        error=_full_error(evidence.votes, score) + expected.excess,
        standard_error=float(doubt[0]),
        by_fewer_votes=votes.is_masked and not in_order,
        samples=_drawn(n_samples)[expected.samples],
    )


def can_expect(votes: Votes, score: Score | None = None) -> bool:
    """Tell whether there are enough samples to hold some back."""
    if votes.n_samples < FEWEST:
        return False
    if score is not None and np.bincount(votes.y, minlength=votes.n_classes).min() < 2:
        return False
    return bool(folds_of(votes, by_class=score is not None))


def has_whole_order(pruner: Pruner) -> bool:
    """Tell whether a method puts all members in an order, whatever their number.

    New weights are those of one size, and no other.
    """
    tags = pruner.tags
    return pruner.has_order and tags.honours_keep and not tags.chooses_weights


class _Judging:
    """What members chosen without each fold say on it, put together."""

    def __init__(self, votes: Votes, score: Score | None) -> None:
        self.votes, self.score = votes, score
        self.errors: FloatArray = np.zeros(votes.n_samples)
        self.decisions: IntArray = np.full(votes.n_samples, -1)
        self.taken: Array = np.empty(0)

    def judge(self, held: IntArray, fitted: Pruner, number: int | None) -> None:
        """Note what the first so many that a method picked say, or all of them.

        Samples that none of those picked may vote on are left out.
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
            votes = votes.reweighted(given if given.any() else None)
        self.add(held, first_votes(votes, order, number or order.size))

    def add(self, held: IntArray, said: Votes) -> None:
        """Note what was said of the samples of a fold."""
        needs_shares = self.score is not None and self.score.needs_shares
        outcome = outcome_of(said, shares=needs_shares)
        self.errors[held] = said.sample_errors()
        self.decisions[held] = outcome.codes
        if self.score is None:
            return
        part = self.score.take(outcome, said.y)
        if not self.taken.size:
            shape = (self.votes.n_samples, *part.shape[1:])
            self.taken = np.empty(shape, dtype=part.dtype)
        self.taken[held] = part

    def result(self) -> ExpectedError:
        """Return what to expect of what was said."""
        places = np.flatnonzero(self.decisions >= 0)
        votes = self.votes.at(places)
        if self.score is not None:
            found = self.score.judge(self.taken[places], votes.y)
            excess, doubt = found.behind(judge_votes(votes, self.score))
            error = float(self.score.loss(found.score))
            # As with errors, half of the risk is left to the members of the folds.
            lowest = found.lower_limit(1 - (1 - CONFIDENCE) / 2)
            limit, spread = float(self.score.loss(lowest)), found.standard_error
        else:
            errors = self.errors[places]
            differ = errors - votes.sample_errors()
            error, excess = float(errors.mean()), float(differ.mean())
            spread, doubt = (_standard_error(each) for each in (errors, differ))
            wrong = float(np.ceil(errors.sum() - 1e-9))
            # Half of the risk is left to the difference between the members of the
            # folds and those that are kept in the end.
            limit = float(upper_limit(wrong, places.size, (1 - CONFIDENCE) / 2))
        return ExpectedError(
            error=error,
            limit=limit,
            score=self.score,
            standard_error=spread,
            excess=excess,
            excess_error=doubt,
            samples=places,
            decisions=self.decisions[places],
        )


def _some_of(evidence: Evidence) -> Evidence:
    """Return the evidence of some samples, if there are many."""
    n_samples = evidence.votes.n_samples
    if n_samples <= MOST:
        return evidence
    return evidence.at(_drawn(n_samples), same_further=True)


def _drawn(n_samples: int) -> IntArray:
    """Return the samples that are looked at: all, if they are few."""
    if n_samples <= MOST:
        return np.arange(n_samples)
    rng = np.random.default_rng(_SEED)
    return np.sort(rng.choice(n_samples, MOST, replace=False))


def _full_error(votes: Votes, score: Score | None) -> float:
    """Return the error of all members, or what is missing to the best score."""
    if score is None:
        return votes.error()
    return float(score.loss(judge_votes(votes, score).score))


def _with_all_samples(
    spread: FloatArray, differ: FloatArray, share: float
) -> FloatArray:
    """Return the standard error of an error that all samples have a part in.

    What all members do was seen on all of them, what those kept do differently on a
    share; ``spread`` and ``differ`` are the standard errors of both on that share.
    """
    return np.asarray(
        np.sqrt(np.square(differ) * (1 - share) + np.square(spread) * share)
    )


def _standard_error(values: FloatArray) -> float:
    return float(values.std() / np.sqrt(values.size))
