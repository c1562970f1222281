"""Errors over size that choosing has not flattered.

A method that orders members by some samples looks better on these than it is, so a size
that is chosen on the same samples keeps no promise. Here the samples are cut into
folds. Members are ordered without each fold in turn and judged on it, so that every
sample is judged once, by an order that has not seen it.
"""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from quorate._kernels.limits import excess_limit, upper_limit
from quorate._scoring import Judged, Score, judge_votes
from quorate._typing import Array, FloatArray, IntArray
from quorate.choosing._curve import SizeCurve, losses_of
from quorate.choosing._evidence import Evidence
from quorate.pruning import Pruner, make_pruner
from quorate.votes import Votes, outcome_of, prefix_errors, prefix_outcomes

if TYPE_CHECKING:
    from quorate.choosing._size import Size

N_FOLDS = 5
CONFIDENCE = 0.95
_SEED = 0


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class CrossFittedCurve(SizeCurve):
    """Error over size on samples that did not choose, and what follows for the rest."""

    excess_limits: FloatArray
    """Upper limit on how much more the first 1, 2, ... err than all, 95 % each."""
    votes_per_sample: FloatArray
    """Usable votes on a sample, on average, of the first 1, 2, ... members."""

    def members_for(self, size: int) -> int:
        """Return how many members have as many votes as the first so many have here.

        Of the first hundred members of a forest some 37 may vote on a sample out of
        bag. A forest of 37 has as many votes, and the first 37 are no worse than any.
        """
        votes = float(self.votes_per_sample[size - 1])
        return min(size, math.ceil(votes - 1e-9))

    def within_one_standard_error(self) -> int:
        """Return the smallest size from which on none is clearly worse than the best.

        One that happens to look good among worse ones does not count: of many sizes,
        some do.
        """
        best = self.best_size - 1
        worse = self.errors > self.errors[best] + self.standard_errors[best]
        before = np.flatnonzero(worse[:best])
        return int(before[-1]) + 2 if before.size else 1

    def within(self, tolerance: float) -> int | None:
        """Return the smallest size that is known to err at most this much more.

        Sizes are looked at from the largest down until one fails, as certificates do.
        None if not even the largest one passes.
        """
        fits = np.array(self.excess_limits <= tolerance)
        if self.ends_with_all:
            fits[-1] = True  # that is the whole ensemble
        failed = np.flatnonzero(~fits)
        first = int(failed[-1]) + 2 if failed.size else 1
        return first if first <= self.order.size else None


def cross_fitted_curve(
    evidence: Evidence, pruner: Pruner, order: IntArray, score: Score | None = None
) -> CrossFittedCurve:
    """Return the error over size, each sample judged by an order that has not seen it.

    Parameters
    ----------
    evidence : Evidence
    pruner : Pruner
        The method, set to order everybody.
    order : array of int
        The order by all samples, to which the sizes belong.
    score : Score, optional
        What to count instead of errors.
    """
    votes = evidence.votes
    folds = folds_of(votes, by_class=score is not None)
    if score is not None:
        return _scored_curve(evidence, pruner, order, score, folds)
    n_sizes = order.size
    errors = np.empty((n_sizes, votes.n_samples))
    for held in folds:
        others = np.setdiff1d(np.arange(votes.n_samples), held)
        fitted = _fit(pruner, evidence.at(others, same_further=True))
        n_sizes = min(n_sizes, fitted.order_.size)
        found = prefix_errors(votes.at(held), *fitted.path())
        for row, on_samples in zip(errors[:n_sizes], found, strict=False):
            row[held] = on_samples
    return _curve(votes, order[:n_sizes], errors[:n_sizes])


def _curve(votes: Votes, order: IntArray, errors: FloatArray) -> CrossFittedCurve:
    full, n = votes.sample_errors(), votes.n_samples
    # Ties count in part and are rounded against the smaller ensemble, sums are not.
    more = np.ceil(np.maximum(errors - full, 0).sum(axis=1) - 1e-9)
    less = np.floor(np.maximum(full - errors, 0).sum(axis=1) + 1e-9)
    return CrossFittedCurve(
        order=order,
        errors=errors.mean(axis=1),
        standard_errors=errors.std(axis=1) / np.sqrt(n),
        full_error=float(full.mean()),
        excess_limits=excess_limit(more, less, n, 1 - CONFIDENCE),
        ends_with_all=order.size == votes.n_members,
        votes_per_sample=_votes_per_sample(votes, order),
    )


def _scored_curve(
    evidence: Evidence,
    pruner: Pruner,
    order: IntArray,
    score: Score,
    folds: list[IntArray],
) -> CrossFittedCurve:
    """Put together what the folds say at each size, and score that."""
    votes = evidence.votes
    n_sizes = order.size
    taken: Array | None = None
    for held in folds:
        others = np.setdiff1d(np.arange(votes.n_samples), held)
        fitted = _fit(pruner, evidence.at(others, same_further=True))
        n_sizes = min(n_sizes, fitted.order_.size)
        judged = votes.at(held)
        found = prefix_outcomes(judged, *fitted.path(), shares=score.needs_shares)
        for size, outcome in zip(range(n_sizes), found, strict=False):
            part = score.take(outcome, judged.y)
            if taken is None:
                shape = (order.size, votes.n_samples, *part.shape[1:])
                taken = np.empty(shape, dtype=part.dtype)
            taken[size, held] = part
    assert taken is not None
    whole = judge_votes(votes, score)
    each = [score.judge(row, votes.y) for row in taken[:n_sizes]]
    errors, spread = losses_of(each, score)
    limits = np.array([one.limit_behind(whole, CONFIDENCE) for one in each])
    return CrossFittedCurve(
        order=order[:n_sizes],
        errors=errors,
        standard_errors=spread,
        full_error=float(score.loss(whole.score)),
        excess_limits=np.where(np.isfinite(limits), limits, np.inf),
        ends_with_all=n_sizes == votes.n_members,
        votes_per_sample=_votes_per_sample(votes, order[:n_sizes]),
        score=score,
    )


def _votes_per_sample(votes: Votes, order: IntArray) -> FloatArray:
    _, asked = votes.member_counts()
    return np.cumsum(asked[order]) / votes.n_samples


@dataclass(frozen=True, slots=True)
class ExpectedError:
    """Error to expect of members whose number was found by errors.

    With another score than accuracy an error is what is missing to its best value.
    """

    error: float
    """What to expect."""
    limit: float
    """What it is at most, with 95 % confidence."""
    score: Score | None = None
    """The score asked for; None for accuracy."""
    standard_error: float | None = None
    """Standard error of what to expect, where another score was asked for."""

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


def expected_error(
    evidence: Evidence, pruner: Pruner, size: "Size", score: Score | None = None
) -> ExpectedError:
    """Find members and their number without each fold in turn, and judge them on it.

    The errors that found a size flatter it: of many sizes, some look good. So the whole
    procedure is repeated without the samples that judge it.
    """
    votes = evidence.votes
    errors = np.empty(votes.n_samples)
    taken: Array | None = None
    for held in folds_of(votes, by_class=score is not None):
        others = np.setdiff1d(np.arange(votes.n_samples), held)
        part = evidence.at(others, same_further=True)
        fitted = _fit(pruner, part)
        curve = cross_fitted_curve(part, pruner, fitted.order_, score)
        number = size.on(curve, part.costs)
        judged = votes.at(held)
        if number is not None:
            # Out of bag, the first so many stand for fewer that vote on every sample.
            if not (fitted.tags.nested or votes.is_masked):
                fitted = _fit(make_pruner(pruner, keep=number), part)
            order, weights = fitted.path()
            last = min(number, order.size)
            along = None if weights is None else weights[:last]
            found = _last(judged, order[:last], along, score)
        elif score is None:
            found = judged.sample_errors()  # everybody stays
        else:
            everybody = outcome_of(judged, shares=score.needs_shares)
            found = score.take(everybody, judged.y)
        if score is None:
            errors[held] = found
            continue
        if taken is None:
            taken = np.empty((votes.n_samples, *found.shape[1:]), dtype=found.dtype)
        taken[held] = found
    if score is not None:
        assert taken is not None
        return _expected_score(score.judge(taken, votes.y), score)
    wrong = float(np.ceil(errors.sum() - 1e-9))
    # Half of the risk is left to the difference between the members of the folds and
    # those that are kept in the end.
    limit = upper_limit(wrong, votes.n_samples, (1 - CONFIDENCE) / 2)
    return ExpectedError(float(errors.mean()), float(limit))


def _last(
    votes: Votes,
    order: IntArray,
    weights: list[FloatArray] | None,
    score: Score | None,
) -> Array:
    """Return the errors of all members of an order, or what a score needs of them."""
    if score is None:
        *_, errors = prefix_errors(votes, order, weights)
        return errors
    shares = score.needs_shares
    *_, outcome = prefix_outcomes(votes, order, weights, shares=shares)
    return score.take(outcome, votes.y)


def _expected_score(found: Judged, score: Score) -> ExpectedError:
    # As with errors, half of the risk is left to the members of the folds.
    limit = found.lower_limit(1 - (1 - CONFIDENCE) / 2)
    return ExpectedError(
        float(score.loss(found.score)),
        float(score.loss(limit)),
        score,
        found.standard_error,
    )


def _fit(pruner: Pruner, evidence: Evidence) -> Pruner:
    fitted: Pruner = make_pruner(pruner).fit(
        evidence.votes,
        evidence.features() if pruner.tags.needs_features else None,
        unlabelled=evidence.unlabelled() if pruner.tags.uses_unlabelled else None,
    )
    return fitted


def folds_of(votes: Votes, *, by_class: bool = False) -> list[IntArray]:
    """Return the samples in folds, fewer where few samples leave a member without.

    ``by_class`` spreads every class over the folds, which scores of classes need.

    None at all where every way to hold some back leaves a member without votes.
    """
    mixed = np.random.default_rng(_SEED).permutation(votes.n_samples)
    if by_class:
        mixed = mixed[np.argsort(votes.y[mixed], kind="stable")]
    for n_folds in range(min(N_FOLDS, votes.n_samples), 1, -1):
        folds: list[IntArray] = [
            np.sort(mixed[start::n_folds]) for start in range(n_folds)
        ]
        if all(_somebody_is_left(votes, held) for held in folds):
            return folds
    return []


def _somebody_is_left(votes: Votes, held: IntArray) -> bool:
    if not votes.is_masked:
        return votes.n_samples > held.size
    others = np.delete(votes.codes, held, axis=1)
    return bool((others >= 0).any(axis=1).all())
