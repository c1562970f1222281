"""Errors of many subsets of members at once, by the rule of their ensemble."""

from typing import TYPE_CHECKING, Any

import numpy as np

from quorate._kernels.counts import column_blocks
from quorate._kernels.verdicts import TIE_TOLERANCE, lead, leaders
from quorate._typing import Array, BoolArray, FloatArray
from quorate._votes._deciding import (
    add_up_in_order,
    counts_whole_votes,
    largest_rounding,
    probabilities_of,
    weights_of,
)

if TYPE_CHECKING:
    from quorate._votes._votes import Votes


def subset_errors(
    votes: "Votes", supports: Any, against: FloatArray | None = None
) -> tuple[FloatArray, FloatArray]:
    """Return the error of each subset of members, and its standard error.

    The sums of a subset are a product of matrices, so that all are judged at once.

    Parameters
    ----------
    votes : Votes
    supports : array-like of bool of shape (n_subsets, n_members)
    against : array of shape (n_samples,), optional
        Errors on the same samples; the standard error is that of the difference to
        these then.

    Examples
    --------
    >>> from quorate._votes import Votes, subset_errors
    >>> votes = Votes([[0, 1, 1], [1, 1, 0]], [0, 1, 0])
    >>> subset_errors(votes, [[True, False], [True, True]])[0].round(3)
    array([0.333, 0.333])
    """
    inside = np.asarray(supports, dtype=bool)
    whole = counts_whole_votes(votes)
    # Numbers of members are exact in single precision; other sums need double.
    shares = inside.astype(np.float32) if whole else inside * weights_of(votes)
    total, apart, squares = np.zeros((3, len(inside)))
    rows = max(votes.n_members, len(inside)) * votes.n_classes
    for block in column_blocks(rows, votes.n_samples, shares.itemsize):
        if votes.n_classes == 2 and whole:
            wrong = _wrong_of_two(votes, shares, block)
        else:
            sums = np.stack([shares @ given for given in _given(votes, shares, block)])
            if votes.ties == "expected":
                wrong = _wrong_on_average(votes, sums, shares, block, whole)
            else:
                wrong = _wrong(votes, sums, inside, block, whole)
        if votes.is_masked and votes.ties == "lowest":
            asked = inside.astype(np.float32) @ (votes.codes[:, block] >= 0)
            wrong[asked == 0] = 1 - 1 / votes.n_classes  # nobody: a guess
        total += wrong.sum(axis=1)
        if against is not None:
            wrong = wrong - against[block]
        apart += wrong.sum(axis=1)
        squares += np.einsum("ij,ij->i", wrong, wrong)
    mean = total / votes.n_samples
    variance = np.maximum(squares / votes.n_samples - (apart / votes.n_samples) ** 2, 0)
    return mean, np.sqrt(variance / votes.n_samples)


def _given(votes: "Votes", shares: Array, block: slice) -> Array:
    """Return what each member gives each class, (n_classes, n_members, samples)."""
    if votes.counts_heads:
        part = votes.codes[:, block]
        classes = np.arange(votes.n_classes)[:, None, None]
        return np.asarray(part == classes, dtype=shares.dtype)
    members = range(votes.n_members)
    given = np.stack([probabilities_of(votes, member, block) for member in members])
    return np.ascontiguousarray(given.transpose(2, 0, 1))


def _wrong_of_two(votes: "Votes", shares: Array, block: slice) -> Array:
    """Return the errors where two classes are counted, which needs one product."""
    codes, y = votes.codes[:, block], votes.y[block]
    sides = np.where(codes == y, shares.dtype.type(1), shares.dtype.type(-1))
    sides[codes < 0] = 0
    ahead = shares @ sides
    if votes.ties == "expected":
        return np.asarray(0.5 * (ahead < 0) + 0.5 * (ahead <= 0))
    lost = (ahead < 0) | ((ahead == 0) & (y == 1))  # the lower class wins a tie
    return np.asarray(lost, dtype=float)


def _wrong_on_average(
    votes: "Votes", sums: Array, shares: Array, block: slice, whole: bool
) -> Array:
    slack = 0.0 if whole else TIE_TOLERANCE * shares.sum(axis=1)[:, None]
    top = leaders(sums, slack)
    right = np.take_along_axis(top, votes.y[block][None, None, :], axis=0)[0]
    return np.asarray(1.0 - right / np.count_nonzero(top, axis=0))


def _wrong(
    votes: "Votes", sums: Array, supports: BoolArray, block: slice, whole: bool
) -> FloatArray:
    samples = np.arange(*block.indices(votes.n_samples))
    weights = weights_of(votes)
    wrong = np.empty((len(supports), samples.size))
    for place, support in enumerate(supports):
        leader, best, second = lead(sums[:, place].T)
        if not whole:
            members = np.flatnonzero(support)
            margin = largest_rounding(votes, weights[members])
            close = np.flatnonzero(best - second <= margin)
            if close.size:
                leader[close] = add_up_in_order(votes, members, weights, samples[close])
        wrong[place] = leader != votes.y[block]
    return wrong
