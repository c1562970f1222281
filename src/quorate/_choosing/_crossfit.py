"""Cross-validated errors by size.

Errors on the samples used to order members are optimistic, so a size chosen on them
would be, too. Here the samples are split into folds. Members are ordered without each
fold in turn and evaluated on it, so that every sample is used for evaluation once.

Out of bag, few of the first members of an order have a vote on a sample, but all of
them vote on new data. So the error of seven members is that of the first seven that
have a vote on a sample, or of all that have one if they are fewer.
"""

from collections.abc import Iterable, Iterator

import numpy as np

from quorate._choosing._evidence import Evidence
from quorate._choosing._size import CrossFittedCurve
from quorate._progress import stage
from quorate._scoring import FoldInputs, Score
from quorate._typing import Array, IntArray
from quorate._votes import Votes, prefix_predictions
from quorate.pruning import Pruner, make_pruner

N_FOLDS = 5
CONFIDENCE = 0.95
_SEED = 0


def cross_fitted_curve(
    evidence: Evidence, pruner: Pruner, order: IntArray, score: Score
) -> CrossFittedCurve:
    """Return the cross-validated error by size.

    Parameters
    ----------
    evidence : Evidence
        Evidence used for the order.
    pruner : Pruner
        The method, set up to order all members.
    order : array of int
        The order from all samples, to which the sizes refer.
    score : Score
        Score to compute.
    """
    votes = evidence.votes
    n_sizes, inputs = order.size, FoldInputs(score, votes, order.size)
    for held, others in split_evidence(evidence, score):
        with stage("cross-validating"):
            fitted = fit_on(others, pruner)
        n_sizes = min(n_sizes, fitted.order_.size)
        judged = votes.at(held)
        along, weights = fitted.path()
        prefixes = map(score.inputs, prefix_predictions(judged, along, weights))
        watched = inputs.record_prefixes(held, prefixes)
        inputs.add(held, inputs_by_votes(judged, along, watched, order.size))
    curve = inputs.curve(n_sizes, CONFIDENCE)
    return CrossFittedCurve(
        order=order[:n_sizes],
        errors=curve.losses,
        standard_errors=curve.standard_errors,
        full_error=curve.full_loss,
        score=score,
        excess_limits=curve.excess_limits,
        excess_errors=curve.excess_errors,
        ends_with_all=n_sizes == votes.n_members,
    )


def inputs_by_votes(
    votes: Votes, order: IntArray, prefixes: Iterable[Array], n_sizes: int
) -> Array:
    """Return a row of score inputs for the first 1, 2, ... members with a vote.

    Parameters
    ----------
    votes : Votes
    order : array of int
        Members in the order in which they are added.
    prefixes : iterable of array of shape (n_samples, ...)
        Score inputs of the first 1, 2, ... of them.
    n_sizes : int
        Number of rows.
    """
    rows = last = np.empty(0)
    n_votes = np.zeros(votes.n_samples, dtype=np.intp)
    for size, (member, last) in enumerate(zip(order, prefixes, strict=True)):
        if not size:
            rows = np.zeros((n_sizes, *last.shape), last.dtype)
        if votes.is_masked:
            voted = np.flatnonzero((votes.codes[member] >= 0) & (n_votes < n_sizes))
            rows[n_votes[voted], voted] = last[voted]
            n_votes[voted] += 1
        elif size < n_sizes:
            rows[size] = last
    if votes.is_masked:
        for size in range(n_sizes):
            fewer = np.flatnonzero(n_votes <= size)
            rows[size, fewer] = last[fewer]  # all that have a vote
    return rows


def first_votes(votes: Votes, order: IntArray, number: int) -> Votes:
    """Return the votes of the first members with a vote on each sample, up to a number.

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


def split_evidence(
    evidence: Evidence, score: Score
) -> Iterator[tuple[IntArray, Evidence]]:
    """Yield the samples of each fold and the evidence of all others."""
    for held in folds_of(evidence.votes, score, evidence.equal):
        others = np.setdiff1d(np.arange(evidence.votes.n_samples), held)
        yield held, evidence.at(others, share_unlabelled=True)


def fit_on(evidence: Evidence, pruner: Pruner) -> Pruner:
    """Return a copy of the method, fitted on some evidence."""
    given = evidence.for_method(pruner)
    fitted: Pruner = make_pruner(pruner).fit(
        given.votes, given.X, unlabelled=given.further
    )
    return fitted


def folds_of(votes: Votes, score: Score, equal: Array | None = None) -> list[IntArray]:
    """Return the folds of the samples, fewer if a member would be left without votes.

    Folds are stratified if the score needs all classes; equal rows are in one fold.
    Returns no folds if every split leaves a member without votes.
    """
    mixed = np.random.default_rng(_SEED).permutation(votes.n_samples)
    if score.needs_every_class:
        mixed = mixed[np.argsort(votes.y[mixed], kind="stable")]
    rows = mixed if equal is None else equal[votes.samples[mixed]]
    _, first, number = np.unique(rows, return_index=True, return_inverse=True)
    place = first.argsort().argsort()[number]  # among rows that differ
    for n_folds in range(min(N_FOLDS, first.size), 1, -1):
        folds: list[IntArray] = [
            np.sort(mixed[place % n_folds == start]) for start in range(n_folds)
        ]
        others = (np.delete(votes.codes, held, axis=1) for held in folds)
        if not votes.is_masked or all((c >= 0).any(axis=1).all() for c in others):
            return folds
    return []
