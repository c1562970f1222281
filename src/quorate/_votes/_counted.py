"""Votes as codes, and everything that is counted from them.

What is counted here is about the votes themselves: who is right, who agrees with whom,
whom the plurality of the members votes for. How an ensemble decides is another matter,
see ``_deciding``.
"""

from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from quorate._kernels import counts, fixed, gaps, pairs, verdicts
from quorate._kernels.entropy import entropy
from quorate._messages import one_of
from quorate._typing import Array, BoolArray, FloatArray, IntArray, Lambda, Outputs
from quorate._votes._checks import read_only
from quorate._votes._pair_counts import PairCounts
from quorate._votes._profile import Histogram, Profile, histogram_of
from quorate._votes._sums import Worst, worst_of

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")


class CountedVotes:
    """The arrays of votes, and what can be counted in them."""

    __slots__ = (
        "_cache",
        "_classes",
        "_codes",
        "_masked",
        "_names",
        "_samples",
        "_weights",
        "_y",
    )

    _cache: dict[str, Any]
    _classes: Array
    _codes: Array
    _masked: bool
    _names: tuple[str, ...]
    _samples: IntArray
    _weights: FloatArray | None
    _y: Array

    def _once(self, key: str, compute: "Callable[[], T]") -> "T":
        """Compute on first use; safe to keep because votes never change."""
        if key not in self._cache:
            self._cache[key] = compute()
        result: T = self._cache[key]
        return result

    # What was given

    @property
    def n_members(self) -> int:
        """Number of members."""
        return int(self._codes.shape[0])

    @property
    def n_samples(self) -> int:
        """Number of samples somebody voted on."""
        return int(self._codes.shape[1])

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return int(self._classes.size)

    @property
    def classes(self) -> Array:
        """The labels, sorted: those of ``y``, of the votes, and of the ensemble."""
        return self._classes

    @property
    def codes(self) -> Array:
        """The votes as positions in ``classes``; -1 where there is no usable vote."""
        return self._codes

    @property
    def y(self) -> Array:
        """The true labels as positions in ``classes``."""
        return self._y

    @property
    def weights(self) -> FloatArray | None:
        """The voting weights as given, or None for equal votes."""
        return self._weights

    @property
    def valid(self) -> BoolArray | None:
        """Which votes may be used, or None when no mask was given."""
        return read_only(self._codes >= 0) if self._masked else None

    @property
    def is_masked(self) -> bool:
        """Whether a mask of usable votes was given."""
        return self._masked

    @property
    def names(self) -> tuple[str, ...]:
        """The members' names."""
        return self._names

    @property
    def samples(self) -> IntArray:
        """Positions of the samples in the ``y`` that was given."""
        return self._samples

    # What follows from it

    @property
    def correct(self) -> BoolArray:
        """Which votes are correct, (n_members, n_samples); made anew at every call."""
        return read_only(self._codes == self._y)

    @property
    def accuracies(self) -> FloatArray:
        """Each member's share of right votes among its usable ones."""
        right, asked = self.member_counts()
        return read_only(right / asked)

    def member_counts(self) -> tuple[IntArray, IntArray]:
        """Return each member's number of right votes and of usable votes."""

        def count() -> tuple[IntArray, IntArray]:
            right = counts.correct_per_member(self._codes, self._y)
            if self._masked:
                asked = counts.votes_per_member(self._codes)
            else:
                asked = np.full(self.n_members, self.n_samples)
            return read_only(right), read_only(asked)

        return self._once("member_counts", count)

    def sample_counts(self) -> tuple[IntArray, IntArray]:
        """Return each sample's number of right votes and of usable votes."""

        def count() -> tuple[IntArray, IntArray]:
            right = counts.correct_per_sample(self._codes, self._y)
            if self._masked:
                asked = counts.votes_per_sample(self._codes)
            else:
                asked = np.full(self.n_samples, self.n_members, dtype=np.int32)
            return read_only(right), read_only(asked)

        return self._once("sample_counts", count)

    def histogram(self) -> Histogram:
        """Return how many samples have how many right votes of how many usable ones.

        Examples
        --------
        >>> from quorate import Votes
        >>> Votes([[0, 1, 1], [0, 0, 1]], [0, 1, 1]).histogram().times
        array([0, 1, 2])
        """
        right, asked = self.sample_counts()
        if self._masked:
            return self._once("histogram", lambda: histogram_of(right, asked, None))
        every = np.arange(self.n_members + 1)
        times = np.bincount(right, minlength=every.size)
        return Histogram(every, np.full(every.size, self.n_members), times)

    def profile(self) -> Profile:
        """Return the kinds of samples, by right and usable votes and by the verdict.

        Positions are those among the samples that were given.
        """

        def sort() -> Profile:
            right, asked = self.sample_counts()
            _, tied, has_truth = self.verdict()
            if self._masked:
                tied = np.where(self.shares()[1] == 0, 0, tied)
            return Profile.of(right, asked, tied, has_truth, self._samples)

        return self._once("profile", sort)

    def entropy_sum(self) -> tuple[int, int]:
        """Return the sum of the votes' entropies, in whole steps, and of how many.

        Natural logarithms; samples on which no vote has any weight do not count. See
        ``_kernels.fixed`` for the steps.
        """

        def add_up() -> tuple[int, int]:
            if self.n_classes <= 2 and self.has_equal_weights:
                some = self.histogram()
                some = some.only(some.n >= 1)
                values = entropy(np.stack([some.c, some.n - some.c]))
                return fixed.whole_steps(values, some.times), int(some.times.sum())
            total, number = 0, 0
            rows = max(self.n_members, self.n_classes)
            for block in counts.column_blocks(rows, self.n_samples, 8):
                tally = self._tally(self._codes[:, block])
                tally = tally[:, tally.any(axis=0)]
                total += fixed.whole_steps(entropy(tally))
                number += tally.shape[1]
            return total, number

        return self._once("entropy_sum", add_up)

    def share_sum(self) -> int:
        """Return the sum of the samples' shares of right votes, in whole steps."""
        if self.has_equal_weights:
            kinds = self.histogram()
            voted = kinds.only(kinds.n >= 1)
            return fixed.whole_steps(voted.c / voted.n, voted.times)

        def add_up() -> int:
            right, asked = self.shares()
            some = asked > 0
            return fixed.whole_steps(right[some] / asked[some])

        return self._once("share_sum", add_up)

    def zero_one_terms(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return error, members' mean error and diversity on each sample.

        By the plurality vote and 0/1 errors; see :func:`quorate.decompose`.
        """
        _, tied, has_truth = self.verdict()
        return gaps.zero_one(tied, has_truth, *self.shares())

    def smallest_margin(self, lambda_: Lambda = "ensemble") -> Worst:
        """Return the smallest mean margin, and which sample is the first to have it.

        Parameters
        ----------
        lambda_ : {"ensemble", "paper"}
            As for :func:`quorate.decompose`.
        """
        error, _, diversity = self.zero_one_terms()
        return worst_of(error, diversity, np.arange(self.n_samples), lambda_)

    def tally(self) -> Array:
        """Return the votes each class gets on each sample, (n_classes, n_samples).

        Whole numbers for equal votes, sums of weights otherwise.

        Examples
        --------
        >>> from quorate import Votes
        >>> Votes([[0, 1, 1], [0, 0, 1], [1, 0, 1]], [0, 0, 1]).tally()
        array([[2, 2, 0],
               [1, 1, 3]], dtype=int32)
        """
        return self._tally(self._codes)

    def _tally(self, codes: Array) -> Array:
        if self.has_equal_weights:
            return counts.tally(codes, self.n_classes)
        assert self._weights is not None
        return counts.weighted_tally(codes, self._weights, self.n_classes)

    @property
    def has_equal_weights(self) -> bool:
        """Whether every member's vote counts the same."""
        return self._weights is None or bool((self._weights == self._weights[0]).all())

    def shares(self) -> tuple[FloatArray, FloatArray]:
        """Return each sample's weight of right votes and of usable votes.

        Whole numbers of members for equal votes.
        """
        if self.has_equal_weights:
            right, asked = self.sample_counts()
            return right.astype(float), asked.astype(float)
        weights = self._weights
        assert weights is not None

        def add_up() -> tuple[FloatArray, FloatArray]:
            right = np.empty(self.n_samples)
            asked = np.full(self.n_samples, weights.sum())
            for block in counts.column_blocks(self.n_members, self.n_samples, 8):
                part = self._codes[:, block]
                right[block] = weights @ (part == self._y[block])
                if self._masked:
                    asked[block] = weights @ (part >= 0)
            return read_only(right), read_only(asked)

        return self._once("shares", add_up)

    def verdict(self) -> tuple[IntArray, IntArray, BoolArray]:
        """Return each sample's winning code, how many classes tie, and if y does."""

        def judge() -> tuple[IntArray, IntArray, BoolArray]:
            winner = np.empty(self.n_samples, dtype=np.int64)
            tied = np.empty(self.n_samples, dtype=np.int64)
            has_truth = np.empty(self.n_samples, dtype=bool)
            rows = max(self.n_members, self.n_classes)
            for block in counts.column_blocks(rows, self.n_samples, 8):
                scores = self._tally(self._codes[:, block])
                part = verdicts.verdict(scores, self._slack(), self._y[block])
                winner[block], tied[block], has_truth[block] = part
            return read_only(winner), read_only(tied), read_only(has_truth)

        return self._once("verdict", judge)

    def _slack(self) -> float:
        if self.has_equal_weights:
            return 0.0
        assert self._weights is not None
        return verdicts.TIE_TOLERANCE * float(self._weights.sum())

    def pairs(self, outputs: Outputs = "oracle") -> PairCounts:
        """Return the contingency tables of all pairs of members, computed once.

        Parameters
        ----------
        outputs : {"oracle", "label"}
            Tables of right and wrong, or of the two classes voted for.
        """
        one_of("pairs", "outputs", outputs, ("oracle", "label"))
        if outputs == "label" and self.n_classes > 2:
            raise ValueError(
                f"pairs(outputs='label'): a two-by-two table needs two classes, "
                f"these votes have {self.n_classes}."
            )

        def count() -> PairCounts:
            target = self._y if outputs == "oracle" else np.ones_like(self._y)
            both = pairs.both_equal(self._codes, target)
            if self._masked:
                first = pairs.equal_where_other_voted(self._codes, target) - both
            else:
                first = both.diagonal()[:, None] - both
            total = self.pairs_in_common()
            return PairCounts(read_only(both), read_only(first), total)

        return self._once(f"pairs_{outputs}", count)

    def agreement(self) -> tuple[IntArray, IntArray]:
        """Return, for all pairs of members, equal votes and common samples.

        Examples
        --------
        >>> from quorate import Votes
        >>> same, total = Votes([[0, 1, 2], [0, 2, 2]], [0, 1, 2]).agreement()
        >>> same
        array([[3, 2],
               [2, 3]])
        """

        def count() -> tuple[IntArray, IntArray]:
            if self.n_classes <= 2:
                table = self.pairs("label")
                return read_only(table.both + table.neither), table.total
            same = pairs.agreement(self._codes, self.n_classes)
            return read_only(same), self.pairs_in_common()

        return self._once("agreement", count)

    def chance_agreement(self) -> IntArray:
        """Return, for all pairs, how many equal votes chance makes, times the samples.

        Over classes, the sum of the products of both members' numbers of votes on the
        samples they have in common.
        """
        if self._masked:
            return self._once(
                "chance",
                lambda: read_only(pairs.chance_agreement(self._codes, self.n_classes)),
            )
        given = self.class_counts()
        return np.asarray(given @ given.T)

    def pairs_in_common(self) -> IntArray:
        """Return the number of samples on which both members of a pair have a vote."""

        def count() -> IntArray:
            if self._masked:
                return read_only(pairs.common(self._codes))
            shape = (self.n_members, self.n_members)
            return np.broadcast_to(np.int64(self.n_samples), shape)

        return self._once("common", count)

    def class_counts(self) -> IntArray:
        """Return how often each member votes for each class."""

        def count() -> IntArray:
            votes = [
                np.bincount(row[row >= 0], minlength=self.n_classes)
                for row in self._codes
            ]
            return read_only(np.array(votes))

        return self._once("class_counts", count)
