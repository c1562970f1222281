"""Counts of votes on each sample, and their sums over all samples."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from quorate._kernels import counts, losses, pairs, sums, verdicts
from quorate._kernels.information import entropy
from quorate._typing import Array, BoolArray, FloatArray, IntArray, Lambda
from quorate._votes._checks import read_only

if TYPE_CHECKING:
    from quorate._votes._summary import Summary
    from quorate._votes._votes import Votes

T = TypeVar("T")
LAMBDAS: tuple[Lambda, ...] = ("ensemble", "paper")
# Up to this many classes, comparing with each is faster than sorting.
_FEW_CLASSES = 32


@dataclass(frozen=True, slots=True, eq=False)
class PairCounts:
    """Contingency tables of all pairs of members, each an (n_members, n_members) array.

    The first member of a pair is the row, the second the column. *Positive* means right
    for oracle outputs, and voting the higher of two classes for label outputs.

    Attributes
    ----------
    both : array of int
        Samples on which both are positive.
    first : array of int
        Samples on which only the first is positive.
    total : array of int
        Samples on which both have a vote.
    """

    both: IntArray
    first: IntArray
    total: IntArray

    @property
    def second(self) -> IntArray:
        """Samples on which only the second is positive."""
        return self.first.T

    @property
    def neither(self) -> IntArray:
        """Samples on which neither is positive."""
        return self.total - self.both - self.first - self.first.T


@dataclass(frozen=True, slots=True, eq=False)
class CorrectHistogram:
    """Numbers of samples with ``c`` of ``n`` votes correct."""

    c: IntArray
    n: IntArray
    times: IntArray

    def only(self, mask: Array) -> "CorrectHistogram":
        """Return the part selected by the mask."""
        return CorrectHistogram(self.c[mask], self.n[mask], self.times[mask])

    def mean(self, values: FloatArray) -> float:
        """Average a value over the samples; NaN if there are none."""
        total = self.times.sum()
        return float((self.times * values).sum() / total) if total else float("nan")


# A key packs three 20-bit numbers and a flag, so it is below 2**61.
_BITS = 20
_MASK = (1 << _BITS) - 1
# Largest number of members and classes that fits in a key.
LARGEST = _MASK


@dataclass(frozen=True, slots=True, eq=False)
class SampleGroups:
    """Samples grouped by all that matters for equal votes.

    That is how many members are right on a sample, how many vote, how many classes lead
    and whether the true one is among them.

    Attributes
    ----------
    keys : array of int
        The groups, sorted, each as one number.
    times : array of int
        How many samples each has.
    first : array of int
        Where the first of them is.
    """

    keys: IntArray
    times: IntArray
    first: IntArray

    @classmethod
    def count(
        cls, right: Array, cast: Array, tied: Array, has_truth: Array, where: Array
    ) -> "SampleGroups":
        """Sort samples into groups.

        Parameters
        ----------
        right, cast : arrays of int
            How many members are right on each sample, and how many vote.
        tied : array of int
            How many classes lead; 0 where no vote has any weight, which is a tie of
            all classes, however many there are.
        has_truth : array of bool
            Whether the true class is one of them.
        where : array of int
            Positions of the samples, rising.
        """
        keys = cast.astype(np.int64)
        for number, bits in ((right, _BITS), (tied, _BITS), (has_truth, 1)):
            keys <<= bits
            keys |= number
        groups, first, times = np.unique(keys, return_index=True, return_counts=True)
        return cls(groups, times.astype(np.int64), where[first].astype(np.int64))

    def __add__(self, other: "SampleGroups") -> "SampleGroups":
        keys = np.concatenate([self.keys, other.keys])
        groups, place = np.unique(keys, return_inverse=True)
        times = np.zeros(groups.size, dtype=np.int64)
        np.add.at(times, place, np.concatenate([self.times, other.times]))
        first = np.full(groups.size, np.iinfo(np.int64).max)
        np.minimum.at(first, place, np.concatenate([self.first, other.first]))
        return SampleGroups(groups, times, first)

    @property
    def n_samples(self) -> int:
        """Total number of samples."""
        return int(self.times.sum())

    @property
    def cast(self) -> IntArray:
        """Number of members that vote."""
        return self.keys >> (2 * _BITS + 1)

    @property
    def right(self) -> IntArray:
        """Number of members that are correct."""
        return (self.keys >> (_BITS + 1)) & _MASK

    @property
    def undecided(self) -> Array:
        """Whether no vote has any weight."""
        return np.asarray((self.keys >> 1) & _MASK == 0)

    def tied(self, n_classes: int) -> IntArray:
        """Return the number of leading classes; all classes without weighted votes."""
        return np.where(self.undecided, n_classes, (self.keys >> 1) & _MASK)

    @property
    def has_truth(self) -> IntArray:
        """Whether the true class is among the leading ones, 0 or 1."""
        return self.keys & 1

    def mean(self, values: FloatArray) -> float:
        """Average a value per group over the samples."""
        return float((self.times * values).sum() / self.times.sum())


@dataclass(frozen=True, slots=True)
class SmallestMargin:
    """The smallest margin, on which sample, and the diversity there.

    Ties go to the smallest diversity, where the vote is worst, and then to the first
    position, which a batch may not know.

    Attributes
    ----------
    margin, diversity : float
    place : int
        Position of the first sample that has it.
    """

    margin: float
    diversity: float
    place: int

    def rank(self) -> tuple[int, int, int]:
        """Return the sort key of a margin: fixed-point steps, free of rounding."""
        steps = losses.margin_steps(np.array([self.margin, self.diversity])).tolist()
        return *steps, self.place


@dataclass(frozen=True, slots=True)
class SmallestMargins:
    """The smallest margin for each definition of lambda."""

    by_lambda: tuple[SmallestMargin, ...]

    def __add__(self, other: "SmallestMargins") -> "SmallestMargins":
        both = zip(self.by_lambda, other.by_lambda, strict=True)
        return SmallestMargins(tuple(min(p, key=SmallestMargin.rank) for p in both))


def smallest_margin_of(
    error: FloatArray, diversity: FloatArray, places: Array, lambda_: Lambda
) -> SmallestMargin:
    """Return the smallest margin of samples, or of groups of them."""
    margins = losses.vote_sign(error, diversity, lambda_) - 2.0 * diversity
    steps = losses.margin_steps(margins)
    lowest = np.flatnonzero(steps == steps.min())
    further = losses.margin_steps(diversity[lowest])
    lowest = lowest[further == further.min()]
    at = lowest[places[lowest].argmin()]
    return SmallestMargin(float(margins[at]), float(diversity[at]), int(places[at]))


# Counts on each sample, computed once for the same votes


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
    return losses.zero_one(tied, has_truth, *sample_weights(votes))


# How votes count each of the sums


def pairs_in_common(votes: "Votes | Summary") -> IntArray:
    """Return the number of samples on which both members of a pair voted."""
    if votes.is_masked:
        common: IntArray = votes._sum("common")
        return common
    shape = (votes.n_members, votes.n_members)
    return np.broadcast_to(np.int64(votes.n_samples), shape)


def histogram_of(
    votes: "Votes | Summary",
    right: IntArray,
    cast: IntArray,
    times: Array | None = None,
) -> CorrectHistogram:
    """Count (groups of ``times``) samples by correct and usable votes."""
    if not votes.is_masked:
        every = np.arange(votes.n_members + 1)
        total = np.bincount(right, times, minlength=every.size).astype(np.int64)
        return CorrectHistogram(every, np.full(every.size, votes.n_members), total)
    keys, place = np.unique(cast.astype(np.int64) << _BITS | right, return_inverse=True)
    total = np.bincount(place, times, minlength=keys.size).astype(np.int64)
    return CorrectHistogram(keys & _MASK, keys >> _BITS, total)


def _usable_per_member(votes: "Votes") -> IntArray:
    if votes.is_masked:
        return counts.votes_per_member(votes.codes)
    return np.full(votes.n_members, votes.n_samples)


def _by_class(votes: "Votes") -> IntArray:
    n, codes = votes.n_classes, votes.codes
    if n <= _FEW_CLASSES:
        each = (np.full_like(votes.y, label) for label in range(n))
        return np.stack([counts.correct_per_member(codes, label) for label in each])
    return np.stack([np.bincount(row[row >= 0], minlength=n) for row in codes], axis=1)


def _equal_votes(votes: "Votes") -> IntArray:
    if votes.n_classes > 2:
        return pairs.agreement(votes.codes, votes.n_classes)
    total = pairs_in_common(votes)
    if votes.n_classes == 1:
        return np.array(total)
    if votes.is_masked:
        higher = votes._sum("by_class_where_other")[1]
    else:
        higher = votes._sum("by_class")[1][:, None]
    both = pairs.both_equal(votes.codes, np.ones_like(votes.y))
    return np.asarray(total - higher - higher.T + 2 * both)


def _by_class_where_other(votes: "Votes") -> IntArray:
    """Count the row's votes per class on samples the column voted on."""
    rest, tables = votes._sum("common"), []
    for label in range(1, votes.n_classes):
        tables.append(_equal_where_other(votes, np.full_like(votes.y, label)))
        rest = rest - tables[-1]
    return np.stack([rest, *tables])


def _equal_where_other(votes: "Votes", target: Array) -> IntArray:
    return pairs.equal_where_other_voted(votes.codes, target)


def _count_groups(votes: "Votes") -> SampleGroups:
    _, tied, has_truth = verdict(votes)
    if votes.is_masked:
        tied = np.where(sample_weights(votes)[1] == 0, 0, tied)
    return SampleGroups.count(*sample_counts(votes), tied, has_truth, votes.samples)


def _entropies(votes: "Votes") -> tuple[int, int]:
    """Return the summed vote entropy in steps, and the number of samples."""
    if votes.n_classes <= 2 and votes.has_equal_weights:
        some = votes._sum("histogram")
        some = some.only(some.n >= 1)
        values = entropy(np.stack([some.c, some.n - some.c]))
        return sums.whole_steps(values, some.times), int(some.times.sum())
    total, number = 0, 0
    for _, tally in tallies(votes):
        voted = tally[:, tally.any(axis=0)]
        total += sums.whole_steps(entropy(voted))
        number += voted.shape[1]
    return total, number


def _share_sum(votes: "Votes") -> int:
    if votes.has_equal_weights:
        some = votes._sum("histogram")
        some = some.only(some.n >= 1)
        return sums.whole_steps(some.c / some.n, some.times)
    right, cast = sample_weights(votes)
    voted = cast > 0
    return sums.whole_steps(right[voted] / cast[voted])


def confusion(votes: "Votes", decided: Array) -> IntArray:
    """Count samples by true and predicted class, if a weighted vote decided."""
    n, y = votes.n_classes, votes.y.astype(np.int64)
    if votes.is_masked:
        voted = sample_weights(votes)[1] > 0
        y, decided = y[voted], decided[voted]
    return np.bincount(y * n + decided, minlength=n * n).reshape(n, n)


def _undecided(votes: "Votes") -> IntArray:
    """Count samples by true class whose votes all have weight zero."""
    idle = (sample_weights(votes)[1] == 0) & (sample_counts(votes)[1] > 0)
    return np.bincount(votes.y[idle], minlength=votes.n_classes)


def _margins(votes: "Votes") -> SmallestMargins:
    error, _, diversity = zero_one_terms(votes)
    return SmallestMargins(
        tuple(
            smallest_margin_of(error, diversity, votes.samples, lambda_)
            for lambda_ in LAMBDAS
        )
    )


COUNT: dict[str, "Callable[[Votes], Any]"] = {
    "right": lambda votes: counts.correct_per_member(votes.codes, votes.y),
    "cast": _usable_per_member,
    "by_class": _by_class,
    "both_right": lambda votes: pairs.both_equal(votes.codes, votes.y),
    "same": _equal_votes,
    "common": lambda votes: pairs.common(votes.codes),
    "right_where_other": lambda votes: _equal_where_other(votes, votes.y),
    "by_class_where_other": _by_class_where_other,
    "groups": _count_groups,
    "entropies": _entropies,
    "entropy": lambda votes: votes._sum("entropies")[0],
    "n_entropies": lambda votes: votes._sum("entropies")[1],
    "shares": _share_sum,
    "confusion": lambda votes: confusion(votes, verdict(votes)[0]),
    "undecided": _undecided,
    "histogram": lambda votes: histogram_of(votes, *sample_counts(votes)),
    "margins": _margins,
}
