"""Counts of votes on each sample, each computed once for the same votes."""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from quorate._kernels import counts, gaps, verdicts
from quorate._typing import Array, BoolArray, FloatArray, IntArray
from quorate._votes._checks import read_only

if TYPE_CHECKING:
    from quorate._votes._votes import Votes

T = TypeVar("T")


def once(votes: "Votes", key: str, compute: "Callable[[], T]") -> T:
    """Compute a value once and keep it with the votes, which are immutable."""
    if key not in votes._cache:
        votes._cache[key] = compute()
    result: T = votes._cache[key]
    return result


def sample_counts(votes: "Votes") -> tuple[IntArray, IntArray]:
    """Return each sample's number of correct votes and of usable votes."""

    def count() -> tuple[IntArray, IntArray]:
        right = counts.correct_per_sample(votes.codes, votes.y)
        if votes.is_masked:
            cast = counts.votes_per_sample(votes.codes)
        else:
            cast = np.full(votes.n_samples, votes.n_members, dtype=np.int32)
        return read_only(right), read_only(cast)

    return once(votes, "sample_counts", count)


def sample_weights(votes: "Votes") -> tuple[FloatArray, FloatArray]:
    """Return each sample's weight of correct votes and of usable votes.

    These are integers for equal votes.
    """
    weights = votes.weights
    if weights is None or votes.has_equal_weights:
        right, cast = sample_counts(votes)
        return right.astype(float), cast.astype(float)

    def add_up() -> tuple[FloatArray, FloatArray]:
        right = np.empty(votes.n_samples)
        cast = np.full(votes.n_samples, weights.sum())
        for block in counts.column_blocks(votes.n_members, votes.n_samples, 8):
            part = votes.codes[:, block]
            right[block] = weights @ (part == votes.y[block])
            if votes.is_masked:
                cast[block] = weights @ (part >= 0)
        return read_only(right), read_only(cast)

    return once(votes, "sample_weights", add_up)


def tally(votes: "Votes", samples: slice = slice(None)) -> Array:
    """Return the votes that each class gets on some samples; see ``Votes.tally``."""
    codes = votes.codes[:, samples]
    if votes.weights is None or votes.has_equal_weights:
        return counts.tally(codes, votes.n_classes)
    return counts.weighted_tally(codes, votes.weights, votes.n_classes)


def tallies(votes: "Votes") -> Iterator[tuple[slice, Array]]:
    """Yield the tallies of blocks of samples, to limit memory."""
    rows = max(votes.n_members, votes.n_classes)
    for block in counts.column_blocks(rows, votes.n_samples, 8):
        yield block, tally(votes, block)


def verdict(votes: "Votes") -> tuple[IntArray, IntArray, BoolArray]:
    """Return the plurality vote, the number of tied classes, and whether y is tied."""

    def judge() -> tuple[IntArray, IntArray, BoolArray]:
        winner = np.empty(votes.n_samples, dtype=np.int64)
        tied = np.empty(votes.n_samples, dtype=np.int64)
        has_truth = np.empty(votes.n_samples, dtype=bool)
        slack = 0.0
        if votes.weights is not None and not votes.has_equal_weights:
            slack = verdicts.TIE_TOLERANCE * float(votes.weights.sum())
        for block, given in tallies(votes):
            part = verdicts.verdict(given, slack, votes.y[block])
            winner[block], tied[block], has_truth[block] = part
        return read_only(winner), read_only(tied), read_only(has_truth)

    return once(votes, "verdict", judge)


def zero_one_terms(votes: "Votes") -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return error, members' mean error and diversity on each sample.

    Uses the plurality vote and 0/1 errors; see :func:`quorate.decompose`.
    """
    _, tied, has_truth = verdict(votes)
    return gaps.zero_one(tied, has_truth, *sample_weights(votes))
