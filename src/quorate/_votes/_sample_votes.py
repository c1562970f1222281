"""Votes by sample: counts, and the predictions of the ensemble."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from quorate._checks import one_of
from quorate._kernels import counts, fixed, gaps, pairs, verdicts
from quorate._kernels.entropy import entropy
from quorate._typing import Array, BoolArray, FloatArray, IntArray, Lambda, Ties
from quorate._votes._checks import frozen, read_only
from quorate._votes._counts import (
    LAMBDAS,
    CorrectHistogram,
    SampleGroups,
    SmallestMargin,
    SmallestMargins,
    VoteCounts,
    smallest_margin,
)
from quorate._votes._coverage import why_not_covered
from quorate._votes._predictions import decide
from quorate._votes._probabilities import Probabilities
from quorate._votes._rule import PLURALITY, RuleName, VoteSource

T = TypeVar("T")
# Up to this many classes, comparing with each is faster than sorting.
_FEW_CLASSES = 32


@dataclass(frozen=True, slots=True, eq=False, repr=False, init=False)
class SampleVotes(VoteCounts):
    """The votes on each sample, and the predictions of the ensemble.

    Attributes
    ----------
    codes : array
        The votes as positions in ``classes``; -1 where there is no usable vote.
    y : array
        The true labels as positions in ``classes``.
    samples : array of int
        Positions of the samples in the ``y`` that was given.
    class_probabilities : Probabilities, optional
        The members' class probabilities, one member at a time; None without.
    is_masked : bool
        Whether a mask of usable votes was given.
    left_out : array of int
        Number of samples of each class without a usable vote.
    """

    codes: Array
    y: Array
    samples: IntArray
    class_probabilities: Probabilities | None
    is_masked: bool
    left_out: IntArray
    _cache: dict[str, Any]

    def _once(self, key: str, compute: Callable[[], T]) -> T:
        """Compute once and cache; votes are immutable."""
        if key not in self._cache:
            self._cache[key] = compute()
        result: T = self._cache[key]
        return result

    def _sum(self, name: str) -> Any:
        return self._once(name, lambda: frozen(COUNT[name](self)))

    @property
    def n_samples(self) -> int:
        """Number of samples with a usable vote."""
        return int(self.codes.shape[1])

    @property
    def valid(self) -> BoolArray | None:
        """Mask of usable votes, or None when no mask was given."""
        return read_only(self.codes >= 0) if self.is_masked else None

    @property
    def correct(self) -> BoolArray:
        """Which votes are correct, (n_members, n_samples); computed on each access."""
        return read_only(self.codes == self.y)

    @property
    def why_unreliable(self) -> str:
        """Why errors on these votes do not estimate errors on new data, or empty.

        Out-of-bag votes have to cover every class.
        """
        if self.source is not VoteSource.OUT_OF_BAG:
            return "" if self.source is None else self.source.why_unreliable
        _, cast = self.sample_counts()
        return why_not_covered(
            self.y, cast, self.left_out, self.classes, self.n_members
        )

    # Counts, sample by sample

    def sample_counts(self) -> tuple[IntArray, IntArray]:
        """Return each sample's number of correct votes and of usable votes."""

        def count() -> tuple[IntArray, IntArray]:
            right = counts.correct_per_sample(self.codes, self.y)
            if self.is_masked:
                cast = counts.votes_per_sample(self.codes)
            else:
                cast = np.full(self.n_samples, self.n_members, dtype=np.int32)
            return read_only(right), read_only(cast)

        return self._once("sample_counts", count)

    def shares(self) -> tuple[FloatArray, FloatArray]:
        """Return each sample's weight of correct votes and of usable votes.

        These are integers for equal votes.
        """
        weights = self.weights
        if weights is None or self.has_equal_weights:
            right, cast = self.sample_counts()
            return right.astype(float), cast.astype(float)

        def add_up() -> tuple[FloatArray, FloatArray]:
            right = np.empty(self.n_samples)
            cast = np.full(self.n_samples, weights.sum())
            for block in counts.column_blocks(self.n_members, self.n_samples, 8):
                part = self.codes[:, block]
                right[block] = weights @ (part == self.y[block])
                if self.is_masked:
                    cast[block] = weights @ (part >= 0)
            return read_only(right), read_only(cast)

        return self._once("shares of samples", add_up)

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
        return self._tally(self.codes)

    def _tally(self, codes: Array) -> Array:
        if self.weights is None or self.has_equal_weights:
            return counts.tally(codes, self.n_classes)
        return counts.weighted_tally(codes, self.weights, self.n_classes)

    def tallies(self) -> Iterator[tuple[slice, Array]]:
        """Yield the tallies of blocks of samples, to limit memory."""
        rows = max(self.n_members, self.n_classes)
        for block in counts.column_blocks(rows, self.n_samples, 8):
            yield block, self._tally(self.codes[:, block])

    def verdict(self) -> tuple[IntArray, IntArray, BoolArray]:
        """Return the winner, the number of tied classes, and whether y is tied."""

        def judge() -> tuple[IntArray, IntArray, BoolArray]:
            winner = np.empty(self.n_samples, dtype=np.int64)
            tied = np.empty(self.n_samples, dtype=np.int64)
            has_truth = np.empty(self.n_samples, dtype=bool)
            slack = 0.0
            if self.weights is not None and not self.has_equal_weights:
                slack = verdicts.TIE_TOLERANCE * float(self.weights.sum())
            for block, tally in self.tallies():
                part = verdicts.verdict(tally, slack, self.y[block])
                winner[block], tied[block], has_truth[block] = part
            return read_only(winner), read_only(tied), read_only(has_truth)

        return self._once("verdict", judge)

    def zero_one_terms(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return error, members' mean error and diversity on each sample.

        Uses the plurality vote and 0/1 errors; see :func:`quorate.decompose`.
        """
        _, tied, has_truth = self.verdict()
        return gaps.zero_one(tied, has_truth, *self.shares())

    # Counts over all samples, with faster implementations than those of a summary

    def histogram(self) -> CorrectHistogram:
        """Return the histogram of samples by correct and usable votes."""
        return self._once("histogram", lambda: self._histogram(*self.sample_counts()))

    def smallest_margin(self, lambda_: Lambda = "ensemble") -> SmallestMargin:
        """Return the smallest mean margin and its first sample, by position in y."""
        error, _, diversity = self.zero_one_terms()
        return smallest_margin(error, diversity, np.arange(self.n_samples), lambda_)

    def chance_agreement(self) -> IntArray:
        """Return, for all pairs, the agreements expected by chance, times n_samples."""
        if self.is_masked:  # one class at a time, which needs less memory
            return self._once(
                "chance",
                lambda: pairs.chance_agreement(self.codes, self.n_classes),
            )
        return VoteCounts.chance_agreement(self)

    # Predictions

    @property
    def counts_heads(self) -> bool:
        """Whether predictions depend on votes alone.

        True for averaged probabilities if every member is certain.
        """
        if self.rule == "heads":
            return True
        return (
            self.class_probabilities is not None
            and self.class_probabilities.are_certain
        )

    @property
    def probabilities(self) -> Array | None:
        """The members' class probabilities, or None if only votes were collected.

        Shape (n_members, n_samples, n_classes), float32, zero without a usable vote.
        Memory-mapped to a temporary file above 512 MB.
        """
        given = self.class_probabilities
        if given is None:
            return None
        return self._once("probabilities", lambda: read_only(given.dense()))

    def mean_probabilities(self) -> FloatArray:
        """Return the mean of the members' probabilities, (n_samples, n_classes).

        Weighted by the voting weights, over the usable votes of each sample.
        """
        given = self.class_probabilities
        if given is None:
            raise ValueError("mean_probabilities: these votes have no probabilities.")
        weights = self.weights
        if weights is None or self.has_equal_weights:  # as shares has it
            weights = np.ones(self.n_members)
        total = np.zeros((self.n_samples, self.n_classes))
        for member, weight in enumerate(weights):
            total += weight * given.of(member)
        _, asked = self.shares()
        return np.asarray(total / np.where(asked > 0, asked, 1)[:, None])

    def predict(self, rule: RuleName | None = None) -> Array:
        """Return the labels that the ensemble predicts.

        Parameters
        ----------
        rule : {"average", "heads"}, optional
            The ensemble's own rule by default; "heads" for the (weighted) plurality
            vote, the lowest class of a tie.
        """
        return np.asarray(self.classes[self.decisions(rule)])

    def decisions(self, rule: RuleName | None = None) -> IntArray:
        """Return the predictions as positions in ``classes``; see :meth:`predict`."""
        wanted = self._asked_rule("predict", rule)
        if wanted == PLURALITY:
            return self.verdict()[0]
        if wanted != self.decision_rule:
            return np.asarray(self.mean_probabilities().argmax(axis=1))
        return self._once("decisions", lambda: read_only(decide(self)))

    def sample_errors(
        self, ties: Ties | None = None, rule: RuleName | None = None
    ) -> FloatArray:
        """Return the error on each sample: 0, 1, or between the two at a tie.

        Parameters
        ----------
        ties : {"expected", "lowest"}, optional
            Whether a tie counts as the expected error of a random choice among the tied
            classes, or as the prediction of :meth:`predict`. By default, votes
            collected from an ensemble follow its predictions, and the plurality vote
            uses the expected error. Averages hardly ever tie and follow
            :meth:`predict`.
        rule : {"average", "heads"}, optional
            The ensemble's own rule by default; "heads" for the plurality vote.
        """
        wanted = self._asked_rule("sample_errors", rule)
        how = wanted.ties if ties is None else ties
        one_of("sample_errors", "ties", how, ("expected", "lowest"))
        if how == "expected" and wanted.name == "heads":
            _, tied, has_truth = self.verdict()
            return np.asarray((tied - has_truth) / tied)
        errors = np.asarray(self.decisions(rule) != self.y, dtype=float)
        if self.is_masked:
            _, asked = self.sample_counts()
            return np.where(asked == 0, 1 - 1 / self.n_classes, errors)
        return errors

    def error(self, ties: Ties | None = None, rule: RuleName | None = None) -> float:
        """Return the mean error; see :meth:`sample_errors`."""
        return float(self.sample_errors(ties, rule).mean())

    def accuracy(self, ties: Ties | None = None, rule: RuleName | None = None) -> float:
        """Return the share of samples predicted right; see :meth:`sample_errors`.

        Examples
        --------
        >>> from sklearn.datasets import load_wine
        >>> from sklearn.ensemble import RandomForestClassifier
        >>> import quorate
        >>> X, y = load_wine(return_X_y=True)
        >>> forest = RandomForestClassifier(5, max_depth=2, random_state=0)
        >>> votes = quorate.collect_votes(forest.fit(X[::2], y[::2]), X[1::2], y[1::2])
        >>> votes.accuracy() == forest.score(X[1::2], y[1::2])
        True
        >>> votes.rule, round(votes.accuracy(rule="heads"), 3)
        ('average', 0.871)
        """
        # Counted as score does, so that both give the same float.
        return float((1.0 - self.sample_errors(ties, rule)).mean())


# Sums over all samples, each computed by a suitable kernel


def _cast(votes: SampleVotes) -> IntArray:
    if votes.is_masked:
        return counts.votes_per_member(votes.codes)
    return np.full(votes.n_members, votes.n_samples)


def _by_class(votes: SampleVotes) -> IntArray:
    n, codes = votes.n_classes, votes.codes
    if n <= _FEW_CLASSES:
        each = (np.full_like(votes.y, label) for label in range(n))
        return np.stack([counts.correct_per_member(codes, label) for label in each])
    return np.stack([np.bincount(row[row >= 0], minlength=n) for row in codes], axis=1)


def _same(votes: SampleVotes) -> IntArray:
    if votes.n_classes > 2:
        return pairs.agreement(votes.codes, votes.n_classes)
    total = votes.pairs_in_common()
    if votes.n_classes == 1:
        return np.array(total)
    if votes.is_masked:
        higher = votes._sum("by_class_where_other")[1]
    else:
        higher = votes._sum("by_class")[1][:, None]
    both = pairs.both_equal(votes.codes, np.ones_like(votes.y))
    return np.asarray(total - higher - higher.T + 2 * both)


def _by_class_where_other(votes: SampleVotes) -> IntArray:
    """Count the row's votes per class on samples the column voted on."""
    rest, tables = votes._sum("common"), []
    for label in range(1, votes.n_classes):
        tables.append(_equal_where_other(votes, np.full_like(votes.y, label)))
        rest = rest - tables[-1]
    return np.stack([rest, *tables])


def _equal_where_other(votes: SampleVotes, target: Array) -> IntArray:
    return pairs.equal_where_other_voted(votes.codes, target)


def _groups(votes: SampleVotes) -> SampleGroups:
    _, tied, has_truth = votes.verdict()
    if votes.is_masked:
        tied = np.where(votes.shares()[1] == 0, 0, tied)
    return SampleGroups.count(*votes.sample_counts(), tied, has_truth, votes.samples)


def _entropies(votes: SampleVotes) -> tuple[int, int]:
    """Return the summed vote entropy in steps, and the number of samples."""
    if votes.n_classes <= 2 and votes.has_equal_weights:
        some = votes.histogram()
        some = some.only(some.n >= 1)
        values = entropy(np.stack([some.c, some.n - some.c]))
        return fixed.whole_steps(values, some.times), int(some.times.sum())
    total, number = 0, 0
    for _, tally in votes.tallies():
        voted = tally[:, tally.any(axis=0)]
        total += fixed.whole_steps(entropy(voted))
        number += voted.shape[1]
    return total, number


def _shares(votes: SampleVotes) -> int:
    if votes.has_equal_weights:
        some = votes.histogram()
        some = some.only(some.n >= 1)
        return fixed.whole_steps(some.c / some.n, some.times)
    right, cast = votes.shares()
    voted = cast > 0
    return fixed.whole_steps(right[voted] / cast[voted])


def confusion(votes: SampleVotes, decided: Array) -> IntArray:
    """Count samples by true and predicted class, if a weighted vote decided."""
    n, y = votes.n_classes, votes.y.astype(np.int64)
    if votes.is_masked:
        voted = votes.shares()[1] > 0
        y, decided = y[voted], decided[voted]
    return np.bincount(y * n + decided, minlength=n * n).reshape(n, n)


def _undecided(votes: SampleVotes) -> IntArray:
    """Count samples by true class whose votes all have weight zero."""
    idle = (votes.shares()[1] == 0) & (votes.sample_counts()[1] > 0)
    return np.bincount(votes.y[idle], minlength=votes.n_classes)


def _margins(votes: SampleVotes) -> SmallestMargins:
    error, _, diversity = votes.zero_one_terms()
    return SmallestMargins(
        tuple(
            smallest_margin(error, diversity, votes.samples, lambda_)
            for lambda_ in LAMBDAS
        )
    )


COUNT: dict[str, Callable[[SampleVotes], Any]] = {
    "right": lambda votes: counts.correct_per_member(votes.codes, votes.y),
    "cast": _cast,
    "by_class": _by_class,
    "both_right": lambda votes: pairs.both_equal(votes.codes, votes.y),
    "same": _same,
    "common": lambda votes: pairs.common(votes.codes),
    "right_where_other": lambda votes: _equal_where_other(votes, votes.y),
    "by_class_where_other": _by_class_where_other,
    "groups": _groups,
    "entropies": _entropies,
    "entropy": lambda votes: votes._sum("entropies")[0],
    "n_entropies": lambda votes: votes._sum("entropies")[1],
    "shares": _shares,
    "confusion": lambda votes: confusion(votes, votes.verdict()[0]),
    "undecided": _undecided,
    "margins": _margins,
}
