"""Summaries of votes: counts that add up, whatever the samples were split into."""

import os
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from quorate._messages import one_of
from quorate._typing import Array, FloatArray, IntArray, Lambda, Outputs, Ties
from quorate._votes._adding import add_summaries
from quorate._votes._pair_counts import PairCounts
from quorate._votes._profile import Histogram, Profile, full_histogram, histogram_of
from quorate._votes._reading import Reading
from quorate._votes._rule import PLURALITY, DecisionRule, RuleName, VoteSource
from quorate._votes._sums import PairSums, VoteSums, Worst

if TYPE_CHECKING:
    from collections.abc import Callable

    from quorate._votes._paired import PairedErrors


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Summary:
    """What all samples together say about the votes of an ensemble's members.

    Made by :meth:`Votes.summary` or :func:`quorate.summarise`. It holds counts and
    sums, and no sample: summaries of batches add up with ``+``, in any order and
    grouping, and ``sum`` adds up many. The answers that the sum gives are those of the
    votes on all samples. :func:`quorate.diversity`, :func:`quorate.pairwise_diversity`,
    :func:`quorate.decompose`, :func:`quorate.assess_risk`, :func:`quorate.compare`,
    :func:`quorate.certify`, :func:`quorate.report` and the methods tagged
    ``takes_summary`` take one.

    Summaries of the same members, weights and rule add up. Members in another order
    are found by name; a class that only one of the two has seen is added. Members are
    known by their names alone: add up summaries of one model only.

    Examples
    --------
    >>> import quorate
    >>> first = quorate.Votes([[0, 1], [1, 1], [0, 0]], [0, 1]).summary()
    >>> second = quorate.Votes([[1, 0], [1, 0], [1, 1]], [1, 0]).summary(start=2)
    >>> first + second
    Summary(3 members, 4 samples, 2 classes; members 75.0 % correct, their vote 100.0 %)
    >>> round(quorate.diversity(first + second, "disagreement"), 4)
    0.5
    """

    names: tuple[str, ...]
    """The members' names."""
    classes: Array
    """The labels, sorted."""
    weights: FloatArray | None
    """The voting weights as given, or None for equal votes."""
    decision_rule: DecisionRule
    """How the ensemble decides, in full."""
    source: VoteSource | None
    """Where the votes are from; None if nobody has said."""
    family: str | None
    """How the members came about; None if nobody has said."""
    pair_sums: PairSums = field(repr=False)
    """Tables of all pairs of members."""
    vote_sums: VoteSums = field(repr=False)
    """What the plurality vote made of the samples."""
    equal_sums: VoteSums | None = field(repr=False)
    """The same if all had the same weight; None where they have."""
    own_confusion: IntArray | None = field(repr=False)
    """Samples by true class and the ensemble's own decision; None if not known."""
    rivals: "PairedErrors | None" = None
    """How other models did on the same samples, if that was asked."""
    reading: Reading | None = field(default=None, repr=False)
    """How members that count their classes were understood; None without such."""

    # What was given

    @property
    def n_members(self) -> int:
        """Number of members."""
        return len(self.names)

    @property
    def n_samples(self) -> int:
        """Number of samples somebody voted on."""
        return self.vote_sums.profile.n_samples

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return int(self.classes.size)

    @property
    def is_masked(self) -> bool:
        """Whether votes may be missing."""
        return self.pair_sums.is_masked

    @property
    def rule(self) -> RuleName:
        """How the ensemble decides: "average" or "heads"."""
        return self.decision_rule.name

    @property
    def ties(self) -> Ties:
        """How an error at a tie counts where nothing else is said."""
        return self.decision_rule.ties

    @property
    def has_equal_weights(self) -> bool:
        """Whether every member's vote counts the same."""
        return self.weights is None or bool((self.weights == self.weights[0]).all())

    @property
    def class_probabilities(self) -> None:
        """None: a summary counts votes."""
        return None

    # What follows from it, as for Votes

    @property
    def accuracies(self) -> FloatArray:
        """Each member's share of right votes among its usable ones."""
        right, asked = self.member_counts()
        return np.asarray(right / asked)

    def member_counts(self) -> tuple[IntArray, IntArray]:
        """Return each member's number of right votes and of usable votes."""
        right: IntArray = self.pair_sums.both_right.diagonal().astype(np.int64)
        return right, self.class_counts().sum(axis=1)

    def class_counts(self) -> IntArray:
        """Return how often each member votes for each class."""
        given = self.pair_sums.by_class
        if self.is_masked:
            given = given.diagonal(axis1=1, axis2=2)
        return np.asarray(given.T)

    def histogram(self) -> Histogram:
        """Return how many samples have how many right votes of how many usable ones."""
        kinds = self.profile()
        if self.is_masked:
            return histogram_of(kinds.right, kinds.asked, kinds.times)
        return full_histogram(kinds.right, self.n_members, kinds.times)

    def profile(self) -> Profile:
        """Return the kinds of samples, by right and usable votes and by the verdict."""
        return self.vote_sums.profile

    def share_sum(self) -> int:
        """Return the sum of the samples' shares of right votes, in whole steps."""
        return self.vote_sums.shares

    def entropy_sum(self) -> tuple[int, int]:
        """Return the sum of the votes' entropies, in whole steps, and of how many."""
        return self.vote_sums.entropy, self.vote_sums.n_entropies

    def smallest_margin(self, lambda_: Lambda = "ensemble") -> Worst:
        """Return the smallest margin, and where among all samples its first one is."""
        return self.vote_sums.smallest_margin(lambda_, self.n_classes)

    def pairs(self, outputs: Outputs = "oracle") -> PairCounts:
        """Return the contingency tables of all pairs of members; see :class:`Votes`."""
        one_of("pairs", "outputs", outputs, ("oracle", "label"))
        total, given = self.pairs_in_common(), self.pair_sums
        if outputs == "oracle":
            first = given.right_where_voted
            if first is None:
                first = np.asarray(given.both_right.diagonal())[:, None]
            return PairCounts(given.both_right, first - given.both_right, total)
        if self.n_classes > 2:
            raise ValueError(
                f"pairs(outputs='label'): a two-by-two table needs two classes, "
                f"these votes have {self.n_classes}."
            )
        higher = np.zeros_like(given.same)
        if self.n_classes == 2:
            voted = given.by_class[1]
            higher = voted if self.is_masked else voted[:, None] + higher
        # Votes for the higher class, of both, less those on which they differ, twice.
        both = (higher + higher.T - (total - given.same)) // 2
        return PairCounts(both, higher - both, total)

    def pairs_in_common(self) -> IntArray:
        """Return the number of samples on which both members of a pair have a vote."""
        if self.is_masked:
            return np.asarray(self.pair_sums.by_class.sum(axis=0))
        shape = (self.n_members, self.n_members)
        return np.broadcast_to(np.int64(self.n_samples), shape)

    def agreement(self) -> tuple[IntArray, IntArray]:
        """Return, for all pairs of members, equal votes and common samples."""
        return self.pair_sums.same, self.pairs_in_common()

    def chance_agreement(self) -> IntArray:
        """Return, for all pairs, how many equal votes chance makes, times the samples.

        See :meth:`Votes.chance_agreement`.
        """
        given = self.pair_sums.by_class
        if self.is_masked:
            return np.asarray((given * given.transpose(0, 2, 1)).sum(axis=0))
        return np.asarray(given.T @ given)

    # What the ensemble decides

    def confusion(self, rule: RuleName | None = None) -> IntArray:
        """Return the samples by true class (rows) and decision (columns).

        Parameters
        ----------
        rule : {"average", "heads"}, optional
            By the ensemble's own rule if not given; "heads" for the plurality vote, the
            lowest class of a tie.

        Examples
        --------
        >>> from quorate import Votes
        >>> Votes([[0, 1, 1], [0, 0, 1], [1, 1, 1]], [0, 0, 1]).summary().confusion()
        array([[1, 1],
               [0, 1]])
        """
        own = self._asked_rule("confusion", rule) == self.decision_rule
        table = self.own_confusion if own else self.vote_sums.confusion
        if table is None:
            raise ValueError(
                "confusion: what the ensemble would decide with equal weights is not "
                "in this summary; give rule='heads', or summarise it with these."
            )
        table = table.copy()
        table[:, 0] += self.vote_sums.undecided  # the lowest of a tie of all
        return table

    def error(self, ties: Ties | None = None, rule: RuleName | None = None) -> float:
        """Return the mean error; see :meth:`Votes.sample_errors`."""
        return 1.0 - self.accuracy(ties, rule)

    def accuracy(self, ties: Ties | None = None, rule: RuleName | None = None) -> float:
        """Return the share of samples predicted right; see :meth:`Votes.accuracy`."""
        wanted = self._asked_rule("accuracy", rule)
        how = wanted.ties if ties is None else ties
        one_of("accuracy", "ties", how, ("expected", "lowest"))
        kinds = self.profile()
        if how == "expected" and wanted.name == "heads":
            return kinds.mean(kinds.has_truth / kinds.tied(self.n_classes))
        right = float(np.trace(self.confusion(rule)))
        unvoted = int(kinds.times[kinds.asked == 0].sum())
        return (right + unvoted / self.n_classes) / self.n_samples

    def _asked_rule(self, owner: str, rule: RuleName | None) -> DecisionRule:
        if rule is None:
            return self.decision_rule
        one_of(owner, "rule", rule, ("average", "heads"))
        if rule == "heads":
            return PLURALITY
        if self.rule == "average":
            return self.decision_rule
        raise ValueError(
            f"{owner}(rule='average'): this summary is of an ensemble that counts "
            "heads; it knows no probabilities."
        )

    # Other views of the same samples

    def unweighted(self) -> "Summary":
        """Return the summary of the same votes, every member counting the same."""
        if self.equal_sums is None:
            return replace(self, weights=None) if self.weights is not None else self
        rule = self.decision_rule
        counted = rule.name == "heads" and rule.against == 0
        return replace(
            self,
            weights=None,
            vote_sums=self.equal_sums,
            equal_sums=None,
            own_confusion=self.equal_sums.confusion if counted else None,
            rivals=None,
        )

    def by_plurality(self) -> "Summary":
        """Return the summary of the same votes, decided by plurality."""
        return replace(
            self,
            decision_rule=PLURALITY,
            own_confusion=self.vote_sums.confusion,
            rivals=None,
        )

    def shifted(self, start: int) -> "Summary":
        """Return the same summary, of samples that stand so much further behind."""
        return self.moved(lambda places: places + start) if start else self

    def moved(self, places: "Callable[[IntArray], IntArray]") -> "Summary":
        """Return the same summary, its samples at other positions."""
        equal = self.equal_sums
        return replace(
            self,
            vote_sums=self.vote_sums.moved(places),
            equal_sums=None if equal is None else equal.moved(places),
        )

    # Sums

    def __add__(self, other: object) -> "Summary":
        if not isinstance(other, Summary):
            return NotImplemented
        return add_summaries(self, other)

    def __radd__(self, other: object) -> "Summary":
        # sum() starts with 0.
        if isinstance(other, int) and other == 0:
            return self
        return NotImplemented

    # Files

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a ``.npz`` file, without pickle, replacing the old one in one step."""
        from quorate._votes._summary_file import save

        save(self, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "Summary":
        """Read a file written by :meth:`save`; nothing in it is executed.

        Raises
        ------
        FileFormatError
            If it is damaged, foreign, or holds arrays that no summary has.

        Examples
        --------
        >>> import tempfile, pathlib
        >>> from quorate import Votes
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "summary.npz"
        >>> Votes([[0, 1], [1, 1]], [0, 1]).summary().save(path)
        >>> Votes([[0, 1], [1, 1]], [0, 1]).summary().load(path).n_samples
        2
        """
        from quorate._votes._summary_file import load

        return load(path)

    def equals(self, other: Any) -> bool:
        """Tell whether another summary holds the same counts of the same members."""
        from quorate._votes._summary_file import READING, arrays_of

        if not isinstance(other, Summary):
            return False
        one, two = arrays_of(self), arrays_of(other)
        for name in READING:
            if name not in one or name not in two:
                one.pop(name, None), two.pop(name, None)
        return one.keys() == two.keys() and all(
            np.array_equal(one[name], two[name]) for name in one
        )

    # For people

    def __repr__(self) -> str:
        from quorate._votes._html import summary_text

        return summary_text(self)

    def _repr_html_(self) -> str:
        from quorate._votes._html import summary_html

        return summary_html(self)
