"""Counts of votes over all samples, from which ensemble measures are computed."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np

from quorate._checks import one_of
from quorate._kernels import gaps
from quorate._output import facts_html
from quorate._typing import Array, FloatArray, IntArray, Lambda, Outputs, Ties
from quorate._votes._checks import read_only
from quorate._votes._probabilities import Probabilities
from quorate._votes._rule import PLURALITY, DecisionRule, RuleName, VoteSource

LAMBDAS: tuple[Lambda, ...] = ("ensemble", "paper")
_SHOWN_CLASSES = 8


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class VoteCounts(ABC):
    """Shared base class of :class:`quorate.Votes` and :class:`quorate.Summary`.

    Everything is computed from a few sums over samples, which votes compute on first
    use and a summary stores.

    Attributes
    ----------
    names : tuple of str
        The members' names.
    classes : array
        The labels, sorted: those of ``y``, of the votes, and of the ensemble.
    weights : array of float, optional
        The voting weights as given, or None for equal votes.
    decision_rule : DecisionRule
        How the ensemble predicts, in full.
    source : VoteSource, optional
        Where the votes are from; None if unknown.
    family : str, optional
        How the members came about; None if unknown.

        "bagging": alike, on resamples. "boosting": in sequence. "pool": each on its
        own.
    """

    names: tuple[str, ...]
    classes: Array
    weights: FloatArray | None
    decision_rule: DecisionRule = PLURALITY
    source: VoteSource | None = None
    family: str | None = None

    @property
    @abstractmethod
    def n_samples(self) -> int:
        """Number of samples with at least one vote."""

    @property
    def why_unreliable(self) -> str:
        """Why errors on these votes do not estimate errors on new data, or empty."""
        return "" if self.source is None else self.source.why_unreliable

    @property
    @abstractmethod
    def is_masked(self) -> bool:
        """Whether votes may be missing."""

    @property
    @abstractmethod
    def class_probabilities(self) -> Probabilities | None:
        """The members' class probabilities, or None."""

    @abstractmethod
    def accuracy(self, ties: Ties | None = None, rule: RuleName | None = None) -> float:
        """Return the share of samples predicted correctly."""

    @abstractmethod
    def unweighted(self) -> "VoteCounts":
        """Return the same votes with equal weights."""

    @abstractmethod
    def _sum(self, name: str) -> Any:
        """Return one of the sums over samples; see ``_summary``."""

    # The members

    @property
    def n_members(self) -> int:
        """Number of members."""
        return len(self.names)

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return int(self.classes.size)

    @property
    def rule(self) -> RuleName:
        """How the ensemble predicts: "average" or "heads"."""
        return self.decision_rule.name

    @property
    def ties(self) -> Ties:
        """How an error at a tie counts by default."""
        return self.decision_rule.ties

    @property
    def has_equal_weights(self) -> bool:
        """Whether every member's vote counts the same."""
        return self.weights is None or bool((self.weights == self.weights[0]).all())

    @property
    def accuracies(self) -> FloatArray:
        """Accuracy of each member on its usable votes."""
        right, cast = self.member_counts()
        return read_only(right / cast)

    def member_counts(self) -> tuple[IntArray, IntArray]:
        """Return each member's number of correct votes and of usable votes."""
        return self._sum("right"), self._sum("cast")

    def class_counts(self) -> IntArray:
        """Return how often each member votes for each class."""
        return np.asarray(self._sum("by_class").T)

    # The samples

    def sample_groups(self) -> "SampleGroups":
        """Return samples grouped by correct and usable votes and plurality vote."""
        groups: SampleGroups = self._sum("groups")
        return groups

    def histogram(self) -> "CorrectHistogram":
        """Return how many samples have how many right votes of how many usable ones.

        Examples
        --------
        >>> from quorate import Votes
        >>> Votes([[0, 1, 1], [0, 0, 1]], [0, 1, 1]).histogram().times
        array([0, 1, 2])
        """
        groups = self.sample_groups()
        return self._histogram(groups.right, groups.cast, groups.times)

    def _histogram(
        self, right: IntArray, cast: IntArray, times: Array | None = None
    ) -> "CorrectHistogram":
        """Count (groups of ``times``) samples by correct and usable votes."""
        if not self.is_masked:
            every = np.arange(self.n_members + 1)
            total = np.bincount(right, times, minlength=every.size).astype(np.int64)
            return CorrectHistogram(every, np.full(every.size, self.n_members), total)
        keys, place = np.unique(
            cast.astype(np.int64) << _BITS | right, return_inverse=True
        )
        total = np.bincount(place, times, minlength=keys.size).astype(np.int64)
        return CorrectHistogram(keys & _MASK, keys >> _BITS, total)

    def entropy_sum(self) -> tuple[int, int]:
        """Return the summed vote entropy in fixed-point steps, and the sample count.

        Uses natural logarithms; samples whose votes have no weight are excluded. See
        ``_kernels.fixed`` for the steps.
        """
        return self._sum("entropy"), self._sum("n_entropies")

    def share_sum(self) -> int:
        """Return the summed share of correct votes, in fixed-point steps."""
        return int(self._sum("shares"))

    def smallest_margin(self, lambda_: Lambda = "ensemble") -> "SmallestMargin":
        """Return the smallest mean margin, and which sample is the first to have it.

        Parameters
        ----------
        lambda_ : {"ensemble", "paper"}
            As for :func:`quorate.decompose`.
        """
        if not self.has_equal_weights:
            margins: SmallestMargins = self._sum("margins")
            return margins.by_lambda[LAMBDAS.index(lambda_)]
        groups = self.sample_groups()
        error, _, diversity = gaps.zero_one(
            groups.tied(self.n_classes), groups.has_truth, groups.right, groups.cast
        )
        return smallest_margin(error, diversity, groups.first, lambda_)

    # Pairs of members

    def pairs(self, outputs: Outputs = "oracle") -> "PairCounts":
        """Return the contingency tables of all pairs of members.

        Parameters
        ----------
        outputs : {"oracle", "label"}
            Tables of right and wrong, or of the two classes voted for.
        """
        one_of("pairs", "outputs", outputs, ("oracle", "label"))
        total, where_other = self.pairs_in_common(), "_where_other" * self.is_masked
        if outputs == "oracle":
            both, positive = self._sum("both_right"), self._sum("right" + where_other)
        elif self.n_classes > 2:
            raise ValueError(
                "pairs(outputs='label'): a two-by-two table needs two classes, but "
                f"these votes have {self.n_classes}."
            )
        else:
            votes, same = self._sum("by_class" + where_other), self._sum("same")
            positive = votes[1] if self.n_classes == 2 else np.zeros_like(votes[0])
        if not self.is_masked:
            positive = positive[:, None]
        if outputs == "label":
            # Votes of either for the higher class, minus the samples on which they
            # differ, are twice the samples on which both vote for it.
            both = (positive + positive.T - (total - same)) // 2
        return PairCounts(both, positive - both, total)

    def pairs_in_common(self) -> IntArray:
        """Return the number of samples on which both members of a pair voted."""
        if self.is_masked:
            common: IntArray = self._sum("common")
            return common
        shape = (self.n_members, self.n_members)
        return np.broadcast_to(np.int64(self.n_samples), shape)

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
        return self._sum("same"), self.pairs_in_common()

    def chance_agreement(self) -> IntArray:
        """Return, for all pairs, the expected chance agreements times n_samples.

        For each class, multiplies both members' numbers of votes on their common
        samples; returns the sum over classes.
        """
        if not self.is_masked:
            given = self._sum("by_class")
            return np.asarray(given.T @ given)
        given = self._sum("by_class_where_other")
        return np.asarray((given * given.transpose(0, 2, 1)).sum(axis=0))

    def error(self, ties: Ties | None = None, rule: RuleName | None = None) -> float:
        """Return the mean error; see :meth:`quorate.Votes.sample_errors`."""
        return 1.0 - self.accuracy(ties, rule)

    def _asked_rule(self, owner: str, rule: RuleName | None) -> DecisionRule:
        if rule is None:
            return self.decision_rule
        one_of(owner, "rule", rule, ("average", "heads"))
        if rule == "heads":
            return PLURALITY
        if self.rule == "average":
            return self.decision_rule
        if self.class_probabilities is None:
            raise ValueError(
                f"{owner}(rule='average'): there are no probabilities; collect votes "
                "with probabilities=True."
            )
        return DecisionRule("average")

    # Representations

    def __repr__(self) -> str:
        extras = "".join(
            f", {word}"
            for word, there in (
                ("weighted", self.weights is not None),
                ("masked", self.is_masked),
                ("with probabilities", self.class_probabilities is not None),
            )
            if there
        )
        return (
            f"{type(self).__name__}"
            f"({self.n_members:,} member{'s' * (self.n_members != 1)}, "
            f"{self.n_samples:,} sample{'s' * (self.n_samples != 1)}, "
            f"{self.n_classes:,} class{'es' * (self.n_classes != 1)}{extras}; "
            f"{self._accuracy_text()})"
        )

    def _accuracy_text(self) -> str:
        """Return the accuracies of the members and the ensemble as text."""
        if self.source in (VoteSource.TRAINING, VoteSource.UNKNOWN):
            return f"{self.source}, which say nothing about accuracy"
        mean = f"{self.accuracies.mean():.1%}".replace("%", " %")
        if self.source is VoteSource.UNLABELLED:
            return f"no labels; members agree with their decision on {mean}"
        together = "vote" if self.rule == "heads" else "average"
        accuracy = f"{self.accuracy():.1%}".replace("%", " %")
        return f"members {mean} correct, their {together} {accuracy}"

    def _html(self, title: str, rows: list[tuple[str, str]]) -> str:
        """Return an HTML table with escaped labels and names."""
        shown = [str(label) for label in self.classes[:_SHOWN_CLASSES]]
        more = self.n_classes - len(shown)
        sizes = [
            ("members", f"{self.n_members:,}"),
            ("samples", f"{self.n_samples:,}"),
            ("classes", ", ".join(shown) + (f" and {more} more" if more else "")),
        ]
        return facts_html(title, [*sizes, *rows])


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
        steps = gaps.margin_steps(np.array([self.margin, self.diversity])).tolist()
        return *steps, self.place


@dataclass(frozen=True, slots=True)
class SmallestMargins:
    """The smallest margin for each definition of lambda."""

    by_lambda: tuple[SmallestMargin, ...]

    def __add__(self, other: "SmallestMargins") -> "SmallestMargins":
        both = zip(self.by_lambda, other.by_lambda, strict=True)
        return SmallestMargins(tuple(min(p, key=SmallestMargin.rank) for p in both))


def smallest_margin(
    error: FloatArray, diversity: FloatArray, places: Array, lambda_: Lambda
) -> SmallestMargin:
    """Return the smallest margin of samples, or of groups of them."""
    margins = gaps.vote_sign(error, diversity, lambda_) - 2.0 * diversity
    steps = gaps.margin_steps(margins)
    lowest = np.flatnonzero(steps == steps.min())
    further = gaps.margin_steps(diversity[lowest])
    lowest = lowest[further == further.min()]
    at = lowest[places[lowest].argmin()]
    return SmallestMargin(float(margins[at]), float(diversity[at]), int(places[at]))
