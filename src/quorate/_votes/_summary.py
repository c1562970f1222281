"""Counts that can be added over batches: of votes, and of two models on one sample."""

import os
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from quorate._checks import one_of
from quorate._data import RowDigest
from quorate._output import facts_html
from quorate._typing import Array, FloatArray, IntArray, Ties
from quorate._units import percent_text
from quorate._votes._checks import read_only
from quorate._votes._counts import SampleGroups, SmallestMargins
from quorate._votes._labels import as_labels, codes_among, positions, union
from quorate._votes._rule import (
    PLURALITY,
    DecisionRule,
    Heads,
    RuleName,
    VoteSource,
    find_rule,
)

if TYPE_CHECKING:
    from quorate._votes._votes import Votes

_SHOWN_CLASSES = 8

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


@dataclass(frozen=True, slots=True, eq=False)
class PairedErrors:
    """Errors of other models beside those of an ensemble, on the same samples.

    The others are one model, or the first members of an order, in several sizes. These
    are the counts that a comparison or a certificate needs.

    Attributes
    ----------
    sizes : array of int
        How many members each of them has.
    order : array of int, optional
        The order whose first members they are; None for a model of its own.
    weights : array of float, optional
        The weights that go with the order, one for each member, where it has some.
    errors : array of int
        Samples that only the other model, only the whole ensemble, and both get wrong,
        of each other model and class.
    samples : array of int
        Samples of each class.
    same : array of int
        Samples for which both decide for the same class.
    rows : RowDigest, optional
        Digest of the samples, where one of the models says which rows it was chosen on.
    chosen_on_rows : tuple of str
        Digests of the rows that members of either were chosen, or distilled, on.
    """

    sizes: IntArray
    order: IntArray | None
    weights: FloatArray | None
    errors: IntArray
    samples: IntArray
    same: IntArray
    rows: RowDigest | None = None
    chosen_on_rows: tuple[str, ...] = ()

    @classmethod
    def count(
        cls,
        y: Array,
        whole: Array,
        others: Iterable[Array],
        n_classes: int,
        *,
        sizes: IntArray,
        order: IntArray | None = None,
        weights: FloatArray | None = None,
        rows: RowDigest | None = None,
        chosen_on_rows: tuple[str, ...] = (),
    ) -> "PairedErrors":
        """Count errors that one, the other or both make, in each class.

        Parameters
        ----------
        y, whole : array of int
            The true classes, and those that the ensemble decides for.
        others : iterable of array of int
            Those that each other model decides for; -1 is a class that the ensemble
            does not know.
        n_classes : int
        sizes, order, weights, rows, chosen_on_rows
            What to note about the other models.
        """
        mine = np.asarray(whole != y)
        cells, same = [], []
        for decided in others:
            theirs = decided != y
            groups = (theirs & ~mine, mine & ~theirs, mine & theirs)
            cells.append(
                [np.bincount(y[group], minlength=n_classes) for group in groups]
            )
            same.append(np.count_nonzero(decided == whole))
        return cls(
            sizes=np.asarray(sizes, dtype=np.int64),
            order=order,
            weights=weights,
            errors=np.array(cells).swapaxes(0, 1),
            samples=np.bincount(y, minlength=n_classes),
            same=np.array(same, dtype=np.int64),
            rows=rows,
            chosen_on_rows=chosen_on_rows,
        )

    def __add__(self, other: "PairedErrors") -> "PairedErrors":
        if not self.are_those_of(other):
            raise ValueError(
                "Summary: results against two different models cannot be added; "
                "summarise all batches against the same model."
            )
        return replace(
            self,
            errors=self.errors + other.errors,
            samples=self.samples + other.samples,
            same=self.same + other.same,
            rows=sum_if_known(self.rows, other.rows),
        )

    def in_classes(self, places: IntArray, n_classes: int) -> "PairedErrors":
        """Return the same counts for more classes; ``places`` maps the old ones."""
        errors = np.zeros((*self.errors.shape[:2], n_classes), dtype=np.int64)
        errors[..., places] = self.errors
        samples = np.zeros(n_classes, dtype=np.int64)
        samples[places] = self.samples
        return replace(self, errors=errors, samples=samples)

    def are_those_of(self, other: "PairedErrors") -> bool:
        """Return whether other counts concern the same models."""
        return self.chosen_on_rows == other.chosen_on_rows and all(
            np.array_equal(getattr(self, name), getattr(other, name))
            for name in ("sizes", "order", "weights")
        )

    @property
    def chosen_on(self) -> bool:
        """Whether members of either model were chosen or distilled on these samples.

        In that case no limit is given.
        """
        return str(self.rows) in self.chosen_on_rows

    @property
    def n_samples(self) -> int:
        """Total number of samples."""
        return int(self.samples.sum())

    @property
    def only_other(self) -> IntArray:
        """Samples that only the other model gets wrong."""
        return np.asarray(self.errors[0].sum(axis=-1))

    @property
    def only_whole(self) -> IntArray:
        """Samples that only the whole ensemble gets wrong."""
        return np.asarray(self.errors[1].sum(axis=-1))

    @property
    def wrong(self) -> IntArray:
        """Number of errors of each other model."""
        return np.asarray((self.errors[0] + self.errors[2]).sum(axis=-1))

    @property
    def wrong_whole(self) -> int:
        """Number of errors of the whole ensemble."""
        return int((self.errors[1, 0] + self.errors[2, 0]).sum())

    @property
    def found(self) -> IntArray:
        """Correct samples per class, one row for each other model."""
        return np.asarray(self.samples - self.errors[0] - self.errors[2])

    @property
    def found_whole(self) -> IntArray:
        """Correct samples of the whole ensemble per class."""
        return np.asarray(self.samples - self.errors[1, 0] - self.errors[2, 0])

    def __str__(self) -> str:
        if self.sizes.size > 1:
            return f"{self.sizes.size} sizes of an order of {self.sizes.max()} members"
        error = f"{100 * self.wrong[0] / self.n_samples:.2f} %"
        return f"a model of {self.sizes[0]} members, error {error}"


def sum_if_known(one: Any, two: Any) -> Any:
    """Return the sum of two counts, or None if either is unknown."""
    return None if one is None or two is None else one + two


def pair_predictions(
    y: Array, whole: Array, other: Array, classes: Array | None = None, **about: Any
) -> tuple[Array, PairedErrors]:
    """Count what two models predict of the same samples.

    Parameters
    ----------
    y, whole, other : array
        The labels, and those that the ensemble and the other model predict.
    classes : array, optional
        Classes that the ensemble knows.
    **about
        What :meth:`PairedErrors.count` notes about the other model.

    Returns
    -------
    classes : array
        The classes that errors are counted by, sorted.
    PairedErrors
    """
    truth, mine, theirs = (as_labels(each, "labels") for each in (y, whole, other))
    known = [] if classes is None else [as_labels(classes, "classes")]
    found = union([truth, mine, *known], truth)
    codes, mine, theirs = (codes_among(each, found) for each in (truth, mine, theirs))
    return found, PairedErrors.count(codes, mine, [theirs], found.size, **about)


class Counted:
    """What votes and their summary have in common: the members, and how they decide."""

    __slots__ = ()

    names: tuple[str, ...]
    classes: Array
    weights: FloatArray | None
    decision_rule: DecisionRule
    source: VoteSource | None

    def _sum(self, name: str) -> Any:
        """Return one of the sums of votes by its name."""
        raise NotImplementedError

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
    def has_equal_weights(self) -> bool:
        """Whether every member's vote counts the same."""
        return self.weights is None or bool((self.weights == self.weights[0]).all())

    @property
    def accuracies(self) -> FloatArray:
        """Accuracy of each member on its usable votes."""
        return read_only(self._sum("right") / self._sum("cast"))

    @property
    def why_unreliable(self) -> str:
        """Why errors on these votes do not estimate errors on new data, or empty."""
        return "" if self.source is None else self.source.why_unreliable

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a ``.npz`` file, without pickle, replacing the old one atomically."""
        from quorate._votes._files import save_counts

        save_counts(self, path)  # type: ignore[arg-type]  # one of the two

    def __repr__(self) -> str:
        return votes_text(self)  # type: ignore[arg-type]

    def _repr_html_(self) -> str:
        return votes_html(self)  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class Summary(Counted):
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
    def n_samples(self) -> int:
        """Number of samples with a usable vote."""
        return self._groups.n_samples

    @property
    def is_masked(self) -> bool:
        """Whether votes may be missing."""
        return "common" in self.sums

    @property
    def class_probabilities(self) -> None:
        """None, because a summary only counts votes."""
        return None

    # Predictions

    def confusion(self, rule: Heads | None = None) -> IntArray:
        """Return the confusion matrix: samples by true class (rows) and prediction.

        Parameters
        ----------
        rule : {"heads"}, optional
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

    def accuracy(self, ties: Ties | None = None, rule: Heads | None = None) -> float:
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

    def error(self, ties: Ties | None = None, rule: Heads | None = None) -> float:
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


def _rule_text(summary: Summary) -> str:
    rule = summary.decision_rule
    if rule.name == "average":
        return "averaged probabilities"
    return (
        f"heads (ties {rule.ties}{f', {rule.against:g} against' * bool(rule.against)})"
    )


# Votes and summaries as text


def votes_text(votes: "Votes | Summary") -> str:
    """Return votes or a summary in one line."""
    extras = (
        ", weighted" * (votes.weights is not None)
        + ", masked" * votes.is_masked
        + ", with probabilities" * (votes.class_probabilities is not None)
    )
    return (
        f"{type(votes).__name__}"
        f"({votes.n_members:,} member{'s' * (votes.n_members != 1)}, "
        f"{votes.n_samples:,} sample{'s' * (votes.n_samples != 1)}, "
        f"{votes.n_classes:,} class{'es' * (votes.n_classes != 1)}{extras}; "
        f"{_accuracy_text(votes)})"
    )


def _accuracy_text(votes: "Votes | Summary") -> str:
    """Return the accuracies of the members and the ensemble as text.

    If the predictions of the ensemble are not known, those of the plurality vote.
    """
    if votes.source in (VoteSource.TRAINING, VoteSource.UNKNOWN):
        return f"{votes.source}, which say nothing about accuracy"
    mean = percent_text(votes.accuracies.mean(), 1)
    if votes.source is VoteSource.UNLABELLED:
        return f"no labels; members predict as the ensemble does on {mean}"
    together = "vote" if votes.rule == "heads" else "average"
    is_known = not isinstance(votes, Summary) or "own" in votes.sums
    if not is_known:
        together = "plurality vote"
    accuracy = votes.accuracy(rule=None if is_known else "heads")
    return f"members {mean} correct, their {together} {percent_text(accuracy, 1)}"


def votes_html(votes: "Votes | Summary") -> str:
    """Return sizes, first classes and accuracy as a table."""
    shown = [str(label) for label in votes.classes[:_SHOWN_CLASSES]]
    more = votes.n_classes - len(shown)
    facts = [
        ("members", f"{votes.n_members:,}"),
        ("samples", f"{votes.n_samples:,}"),
        ("classes", ", ".join(shown) + (f" and {more} more" if more else "")),
        ("accuracy", _accuracy_text(votes)),
    ]
    return facts_html(type(votes).__name__, facts)
