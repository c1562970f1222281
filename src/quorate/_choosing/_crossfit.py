"""Errors over size that choosing has not flattered.

A method that orders members by some samples looks better on these than it is, so a size
that is chosen on the same samples keeps no promise. Here the samples are cut into
folds. Members are ordered without each fold in turn and judged on it, so that every
sample is judged once, by an order that has not seen it.

Out of bag, few of the first members of an order have a vote on a sample, where all of
them would vote on a new one. So the error of seven members is that of the first seven
that may vote on a sample, and of all that may where they are fewer.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain

import numpy as np

from quorate._choosing._curve import SizeCurve, losses_of
from quorate._choosing._evidence import Evidence
from quorate._kernels.limits import excess_limit
from quorate._scoring import Score, judge_votes
from quorate._typing import Array, FloatArray, IntArray
from quorate._votes import Votes, prefix_errors, prefix_outcomes
from quorate.pruning import Pruner, make_pruner

N_FOLDS = 5
CONFIDENCE = 0.95
_SEED = 0


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class CrossFittedCurve(SizeCurve):
    """Error over size on samples that did not choose, and what follows for the rest.

    Where members may vote on some samples only, the error of so many members is that
    of the first so many that may vote on a sample: on a new one, all of them would.
    """

    excess_limits: FloatArray
    """Upper limit on how much more the first 1, 2, ... err than all, 95 % each. Where
    members may vote on some samples only, by the votes that they have, fewer than on
    new samples, so that it is rather too high."""
    excess_errors: FloatArray
    """Standard error of the difference to all members, on the same samples."""

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


Fits = Iterable[tuple[IntArray, Pruner]]
"""The samples of each fold, and the method fitted on all others."""


def cross_fitted_curve(
    evidence: Evidence,
    pruner: Pruner,
    order: IntArray,
    score: Score | None = None,
    fits: Fits | None = None,
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
    fits : iterable of pairs, optional
        The method fitted without each fold, if that was done already.
    """
    votes = evidence.votes
    if fits is None:
        fits = fit_without_each_fold(evidence, pruner, by_class=score is not None)
    if score is not None:
        return _scored_curve(votes, fits, order, score)
    full, n, n_sizes = votes.sample_errors(), votes.n_samples, order.size
    # Sums over samples: errors, their squares, errors where all members err too, and
    # by how much more and less the first members err by the votes they have.
    sums, squares, shared, more, less = np.zeros((5, order.size))
    for held, fitted in fits:
        n_sizes = min(n_sizes, fitted.order_.size)
        judged, whole = votes.at(held), full[held]
        along, weights = fitted.path()
        found = prefix_errors(judged, along, weights)
        by_size = np.zeros((order.size, held.size))
        fill_by_votes(by_size, judged, along, _counted(found, whole, more, less))
        sums += by_size.sum(axis=1)
        squares += np.square(by_size).sum(axis=1)
        shared += by_size @ whole
    errors = sums / n
    spread = np.maximum(squares / n - errors**2, 0)
    apart = errors - full.mean()
    differ = (squares - 2 * shared + np.square(full).sum()) / n - apart**2
    # Ties count in part and are rounded against the smaller ensemble, sums are not.
    limits = excess_limit(
        np.ceil(more - 1e-9), np.floor(less + 1e-9), n, 1 - CONFIDENCE
    )
    return CrossFittedCurve(
        order=order[:n_sizes],
        errors=errors[:n_sizes],
        standard_errors=np.sqrt(spread / n)[:n_sizes],
        full_error=float(full.mean()),
        excess_limits=np.asarray(limits)[:n_sizes],
        excess_errors=np.sqrt(np.maximum(differ, 0) / n)[:n_sizes],
        ends_with_all=n_sizes == votes.n_members,
    )


def _counted(
    found: Iterable[FloatArray], whole: FloatArray, more: FloatArray, less: FloatArray
) -> Iterator[FloatArray]:
    """Pass errors on, and add up by how much they are above and below the whole's."""
    for size, errors in enumerate(found):
        if size < more.size:
            more[size] += np.maximum(errors - whole, 0).sum()
            less[size] += np.maximum(whole - errors, 0).sum()
        yield errors


def _scored_curve(
    votes: Votes, fits: Fits, order: IntArray, score: Score
) -> CrossFittedCurve:
    """Put together what the folds say at each size, and score that."""
    n_sizes = order.size
    # By so many members that vote, and by the first so many, where these are others.
    taken = by_place = np.empty(0)
    for held, fitted in fits:
        n_sizes = min(n_sizes, fitted.order_.size)
        judged = votes.at(held)
        along, weights = fitted.path()
        said = prefix_outcomes(judged, along, weights, shares=score.needs_shares)
        found = (score.take(outcome, judged.y) for outcome in said)
        first = next(found)
        if not taken.size:
            shape = (order.size, votes.n_samples, *first.shape[1:])
            taken = by_place = np.empty(shape, dtype=first.dtype)
            if votes.is_masked:
                by_place = np.empty_like(taken)
        passed = _noted(chain([first], found), by_place, held)
        by_size = np.zeros((order.size, held.size, *taken.shape[2:]), taken.dtype)
        fill_by_votes(by_size, judged, along, passed)
        taken[:, held] = by_size
    whole = judge_votes(votes, score)
    each = [score.judge(row, votes.y) for row in taken[:n_sizes]]
    firsts = each
    if votes.is_masked:
        firsts = [score.judge(row, votes.y) for row in by_place[:n_sizes]]
    errors, spread = losses_of(each, score)
    limits = np.array([one.limit_behind(whole, CONFIDENCE) for one in firsts])
    differ = np.array([one.behind(whole)[1] for one in each])
    return CrossFittedCurve(
        order=order[:n_sizes],
        errors=errors,
        standard_errors=spread,
        full_error=float(score.loss(whole.score)),
        excess_limits=np.where(np.isfinite(limits), limits, np.inf),
        excess_errors=np.where(np.isfinite(differ), differ, 0.0),
        ends_with_all=n_sizes == votes.n_members,
        score=score,
    )


def _noted(found: Iterable[Array], rows: Array, held: IntArray) -> Iterator[Array]:
    """Pass on what the first 1, 2, ... members say, and write it down."""
    for size, part in enumerate(found):
        if size < len(rows):
            rows[size, held] = part
        yield part


def fill_by_votes(
    rows: Array, votes: Votes, order: IntArray, found: Iterable[Array]
) -> None:
    """Fill a row for 1, 2, ... members with what as many of them say of each sample.

    Parameters
    ----------
    rows : array of shape (n_sizes, n_samples, ...)
        What is filled.
    votes : Votes
    order : array of int
        Members in the order in which they come in.
    found : iterable of array of shape (n_samples, ...)
        What the first 1, 2, ... of them say.
    """
    if not votes.is_masked:
        for row, said in zip(rows, found, strict=False):
            row[:] = said
        return
    n_votes = np.zeros(votes.n_samples, dtype=np.intp)
    last: Array = np.empty(0)
    for member, last in zip(order, found, strict=True):
        voted = np.flatnonzero((votes.codes[member] >= 0) & (n_votes < len(rows)))
        rows[n_votes[voted], voted] = last[voted]
        n_votes[voted] += 1
    for size in range(len(rows)):
        fewer = np.flatnonzero(n_votes <= size)
        rows[size, fewer] = last[fewer]  # all that have a vote


def first_votes(votes: Votes, order: IntArray, number: int) -> Votes:
    """Return the votes of the first so many members that may vote on each sample.

    Examples
    --------
    >>> import numpy as np
    >>> import quorate
    >>> from quorate._choosing._crossfit import first_votes
    >>> valid = [[True, False], [True, True], [True, True]]
    >>> votes = quorate.Votes([[0, 0], [0, 1], [1, 1]], [0, 1], valid=valid)
    >>> first_votes(votes, np.arange(3), 2).codes
    array([[ 0, -1],
           [ 0,  1],
           [-1,  1]], dtype=int8)
    """
    if not votes.is_masked:
        return votes.keep(np.sort(order[:number]))
    may = votes.codes[order] >= 0
    among = np.zeros(votes.codes.shape, dtype=bool)
    among[order] = may & (np.cumsum(may, axis=0) <= number)
    busy = np.flatnonzero(among.any(axis=1))
    return votes.keep(busy).only(among[busy])


def fit_without_each_fold(
    evidence: Evidence, pruner: Pruner, *, by_class: bool = False
) -> Iterator[tuple[IntArray, Pruner]]:
    """Yield the samples of each fold, and the method fitted on all others."""
    for held in folds_of(evidence.votes, by_class=by_class):
        yield held, fit_on(without(held, evidence), pruner)


def without(held: IntArray, evidence: Evidence) -> Evidence:
    """Return the evidence of the samples that are not in a fold."""
    others = np.setdiff1d(np.arange(evidence.votes.n_samples), held)
    return evidence.at(others, same_further=True)


def fit_on(evidence: Evidence, pruner: Pruner) -> Pruner:
    """Return the method, fitted on some evidence; the one given is left alone."""
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
