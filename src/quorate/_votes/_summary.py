"""Summaries of votes: sums over samples that can be added over batches."""

import os
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from quorate._checks import one_of
from quorate._output import facts_html
from quorate._typing import Array, FloatArray, IntArray, Ties
from quorate._votes._checks import have_equal_weights, read_only
from quorate._votes._counts import SampleGroups, SmallestMargins
from quorate._votes._labels import positions, union
from quorate._votes._paired import PairedErrors, sum_if_known
from quorate._votes._rule import (
    PLURALITY,
    DecisionRule,
    RuleName,
    VoteSource,
    find_rule,
)
from quorate._votes._text import accuracy_text, size_rows, votes_text

# The sums, with the axes of each table: members (M), classes (K).
MEMBER_SUMS = {
    "right": "M",  # samples on which a member is right
    "cast": "M",  # and on which it votes
    "by_class": "KM",  # votes for each class
    "both_right": "MM",  # samples on which both of two members are right
    "same": "MM",  # and on which both vote for the same class
}
# The row member, on samples the column member voted on.
MASKED_SUMS = {"common": "MM", "right_where_other": "MM", "by_class_where_other": "KMM"}
# Plurality vote: entropies and shares of correct votes in fixed-point steps; samples by
# true and predicted class (ties go to the lowest); samples by true class whose votes
# all have weight zero.
VOTE_SUMS = {
    "groups": "",
    "entropy": "",
    "n_entropies": "",
    "shares": "",
    "confusion": "KK",
    "undecided": "K",
}
AXES = {
    **MEMBER_SUMS,
    **MASKED_SUMS,
    **VOTE_SUMS,
    **{f"equal_{name}": axes for name, axes in VOTE_SUMS.items()},
    "own": "KK",  # samples by true class and decision by the ensemble's own rule
    "margins": "",  # of weighted votes
}

# The sum of two summaries has the weaker of the two sources.
FROM_WEAKEST = (
    VoteSource.UNLABELLED,
    VoteSource.TRAINING,
    VoteSource.UNKNOWN,
    None,
    VoteSource.FOLDS,
    VoteSource.OUT_OF_BAG,
    VoteSource.ASSUMED_NEW,
    VoteSource.NEW,
)


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class Summary:
    """Counts of the votes of an ensemble, without the samples.

    Created by :meth:`Votes.summary` or :func:`quorate.summarise`. Summaries of batches
    can be added with ``+`` or ``sum``, in any order and grouping; the result is the
    summary of the votes on all samples. :func:`quorate.diversity`,
    :func:`quorate.pairwise_diversity`, :func:`quorate.decompose`,
    :func:`quorate.assess_risk`, :func:`quorate.compare`, :func:`quorate.certify`,
    :func:`quorate.report` and the methods tagged ``takes_summary`` take one.

    Summaries can be added if they have the same members, weights and rule. Members are
    matched by name only, so add only summaries of the same model. Classes that only one
    of them has are added.

    Attributes
    ----------
    names, classes, weights, decision_rule, source, family
        As for :class:`Votes`.
    sums : dict
        The sums by name. With unequal weights also those of equal votes, named
        ``equal_``; ``own`` is missing if the predictions of the ensemble are not known.
    against : PairedErrors, optional
        Errors of other models on the same samples, if requested.

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
    classes: Array
    weights: FloatArray | None
    decision_rule: DecisionRule = PLURALITY
    source: VoteSource | None = None
    family: str | None = None
    sums: dict[str, Any]
    against: PairedErrors | None = None

    def _sum(self, name: str) -> Any:
        return self.sums[name]

    @property
    def _groups(self) -> SampleGroups:
        groups: SampleGroups = self.sums["groups"]
        return groups

    @property
    def n_members(self) -> int:
        """Number of members."""
        return len(self.names)

    @property
    def n_samples(self) -> int:
        """Number of samples with a usable vote."""
        return self._groups.n_samples

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return int(self.classes.size)

    @property
    def rule(self) -> RuleName:
        """How the ensemble predicts: "average" or "heads"."""
        return self.decision_rule.name

    @property
    def has_equal_weights(self) -> bool:
        """Whether every member's vote counts the same."""
        return have_equal_weights(self.weights)

    @property
    def accuracies(self) -> FloatArray:
        """Accuracy of each member on its usable votes."""
        return read_only(self.sums["right"] / self.sums["cast"])

    @property
    def why_unreliable(self) -> str:
        """Why errors on these votes do not estimate errors on new data, or empty."""
        return "" if self.source is None else self.source.why_unreliable

    @property
    def is_masked(self) -> bool:
        """Whether votes may be missing."""
        return "common" in self.sums

    @property
    def class_probabilities(self) -> None:
        """None, because a summary only counts votes."""
        return None

    # Predictions

    def confusion(self, rule: RuleName | None = None) -> IntArray:
        """Return the confusion matrix: samples by true class (rows) and prediction.

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
        own = find_rule(self, "confusion", rule) == self.decision_rule
        table = self.sums.get("own") if own else self.sums["confusion"]
        if table is None:
            raise ValueError(
                "confusion: this summary does not contain the predictions of the "
                "ensemble with equal weights; use rule='heads', or summarise an "
                "ensemble with equal weights."
            )
        table = np.array(table)
        table[:, 0] += self.sums["undecided"]  # the lowest of a tie of all
        return table

    def accuracy(self, ties: Ties | None = None, rule: RuleName | None = None) -> float:
        """Return the share of correct predictions; see :meth:`Votes.accuracy`."""
        wanted = find_rule(self, "accuracy", rule)
        how = wanted.ties if ties is None else ties
        one_of("accuracy", "ties", how, ("expected", "lowest"))
        groups = self._groups
        if how == "expected" and wanted.name == "heads":
            return groups.mean(groups.has_truth / groups.tied(self.n_classes))
        right = float(np.trace(self.confusion(rule)))
        unvoted = int(groups.times[groups.cast == 0].sum())
        return (right + unvoted / self.n_classes) / self.n_samples

    def error(self, ties: Ties | None = None, rule: RuleName | None = None) -> float:
        """Return the mean error; see :meth:`Votes.sample_errors`."""
        return 1.0 - self.accuracy(ties, rule)

    # Derived summaries

    def unweighted(self) -> "Summary":
        """Return the summary of the same votes without weights."""
        if self.weights is None:
            return self
        if self.has_equal_weights:
            return replace(self, weights=None)
        equal = {name: self.sums[f"equal_{name}"] for name in VOTE_SUMS}
        others = (*MEMBER_SUMS, *(MASKED_SUMS if self.is_masked else ()))
        sums = {name: self.sums[name] for name in others} | equal
        if self.rule == "heads" and self.decision_rule.against == 0:
            sums["own"] = sums["confusion"]
        return replace(self, weights=None, sums=sums, against=None)

    def by_plurality(self) -> "Summary":
        """Return the summary of the same votes with plurality as the rule."""
        sums = {**self.sums, "own": self.sums["confusion"]}
        return replace(self, decision_rule=PLURALITY, sums=sums, against=None)

    def shifted(self, start: int) -> "Summary":
        """Return the same summary with sample positions shifted."""
        sums = dict(self.sums)
        for name in sums.keys() & {"groups", "equal_groups"}:
            sums[name] = replace(sums[name], first=sums[name].first + start)
        if "margins" in sums:
            margins = sums["margins"].by_lambda
            sums["margins"] = SmallestMargins(
                tuple(replace(one, place=one.place + start) for one in margins)
            )
        return replace(self, sums=sums)

    # Sums

    def __add__(self, other: object) -> "Summary":
        if not isinstance(other, Summary):
            return NotImplemented
        self._check_same_ensemble(other)
        classes = union([self.classes, other.classes], self.classes)
        one, two = self._with_classes(classes), other._with_classes(classes)
        return replace(
            one,
            source=min(one.source, two.source, key=FROM_WEAKEST.index),
            family=one.family if one.family == two.family else None,
            sums={
                name: value + two.sums[name]
                for name, value in one.sums.items()
                if name in two.sums
            },
            against=sum_if_known(one.against, two.against),
        )

    def __radd__(self, other: object) -> "Summary":
        # sum() starts with 0.
        if isinstance(other, int) and other == 0:
            return self
        return NotImplemented

    def _check_same_ensemble(self, other: "Summary") -> None:
        """Raise an error unless another summary is of the same members and rule."""
        if self.names != other.names:
            strange = sorted(set(self.names) ^ set(other.names))
            which = f"only one has {strange[0]!r}" if strange else "their order differs"
            raise ValueError(
                f"Summary: summaries of {self.n_members} and {other.n_members} members "
                f"cannot be added unless the members are the same; {which}."
            )
        equal = self.has_equal_weights and other.has_equal_weights
        if not equal and not np.array_equal(
            np.asarray(self.weights, float), np.asarray(other.weights, float)
        ):
            raise ValueError(
                "Summary: votes with different weights cannot be added; use "
                "unweighted() to ignore the weights."
            )
        if self.is_masked != other.is_masked:
            raise ValueError(
                "Summary: votes with and without a mask cannot be added; add summaries "
                "of out-of-bag votes, or of votes on new samples."
            )
        if self.decision_rule != other.decision_rule:
            raise ValueError(
                f"Summary: an ensemble that predicts by {_rule_text(self)} cannot be "
                f"added to one that predicts by {_rule_text(other)}; use "
                "by_plurality() on both."
            )

    def _with_classes(self, classes: Array) -> "Summary":
        """Return the summary with more classes."""
        if self.classes.dtype == classes.dtype and self.n_classes == classes.size:
            return self
        places = positions(self.classes, classes, "Summary: classes")

        sums = dict(self.sums)
        for name in sums:
            for axis, letter in enumerate(AXES[name]):
                if letter == "K":
                    table = np.moveaxis(sums[name], axis, 0)
                    rows = np.zeros((classes.size, *table.shape[1:]), table.dtype)
                    rows[places] = table
                    sums[name] = np.moveaxis(rows, 0, axis)
        against = self.against
        if against is not None:
            against = against.in_classes(places, classes.size)
        return replace(self, classes=classes, sums=sums, against=against)

    # Files

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a ``.npz`` file, without pickle, replacing the old one atomically."""
        from quorate._votes._files import save_counts

        save_counts(self, path)

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
        from quorate._votes._files import load_summary

        return load_summary(path)

    # Representations

    def __repr__(self) -> str:
        return votes_text(self, is_known="own" in self.sums)

    def _repr_html_(self) -> str:
        accuracy = accuracy_text(self, is_known="own" in self.sums)
        rows = [*size_rows(self), ("accuracy", accuracy)]
        if self.against is not None:
            rows.append(("beside them", str(self.against)))
        return facts_html("Summary of votes", rows)


def _rule_text(summary: Summary) -> str:
    rule = summary.decision_rule
    if rule.name == "average":
        return "averaged probabilities"
    return (
        f"heads (ties {rule.ties}{f', {rule.against:g} against' * bool(rule.against)})"
    )
