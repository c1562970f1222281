"""Votes: the predictions of every member for every sample, and the true labels."""

import os
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from quorate._checks import one_of
from quorate._typing import Array, IntArray
from quorate._votes._checks import (
    as_mask,
    as_names,
    as_rows,
    as_weights,
    check_mask,
    frozen,
    leave_out_unvoted,
    member_positions,
    sample_positions,
    usable_votes,
    weights_left,
)
from quorate._votes._counts import LARGEST, VoteCounts
from quorate._votes._labels import (
    as_labels,
    encode_rows,
    positions,
    refuse_shares,
    widened,
)
from quorate._votes._probabilities import (
    Probabilities,
    TabledProbabilities,
    as_columns,
    check_probabilities,
    column_labels,
    most_likely,
)
from quorate._votes._rule import PLURALITY, DecisionRule, RuleName, VoteSource
from quorate._votes._sample_votes import SampleVotes, confusion
from quorate._votes._summary import MASKED_SUMS, MEMBER_SUMS, VOTE_SUMS, Summary

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence


@dataclass(frozen=True, slots=True, eq=False, repr=False, init=False)
class Votes(SampleVotes):
    """The votes of an ensemble's members on labelled samples.

    Measures, decomposition, risk and pruning methods take a ``Votes`` and never modify
    it. Its arrays are read-only.

    Parameters
    ----------
    predictions : array-like of shape (n_members, n_samples), or None
        The label that each member predicts for each sample: text, numbers or dates.
        Masked values are not used, as with ``valid``. If None, the most likely class by
        ``probabilities``, the lowest of ties.
    y : array-like of shape (n_samples,)
        The true labels, of the same type. Labels keep their type; numbers that have no
        common type without loss are refused.
    weights : array-like of shape (n_members,), optional
        Voting weights, non-negative and not all zero. Equal votes by default.
    valid : array-like of bool of shape (n_members, n_samples), optional
        Mask of usable votes, for example out-of-bag votes. Other predictions are
        ignored. Samples without a usable vote are left out with a warning; ``samples``
        has the positions of the others.
    names : sequence of str, optional
        Names of the members; their positions by default.
    probabilities : array-like of shape (n_members, n_samples, n_classes), optional
        The members' class probabilities; with two classes, also those of the second
        alone, of shape (n_members, n_samples). If given, the ensemble is assumed to
        average probabilities; votes, diversity and the plurality vote do not change.
        Values where ``valid`` is False are ignored.
    rule : {"average", "heads"}, optional
        How the ensemble predicts: by the mean of the probabilities, or by the plurality
        of the votes. By default "average" if there are probabilities, else "heads".
    classes : array-like of shape (n_classes,), optional
        The labels of the columns of ``probabilities``, such as ``classes_`` of the
        model. By default, the sorted labels that occur.

    Attributes
    ----------
    codes : array of int of shape (n_members, n_samples)
        The votes as positions in ``classes``; -1 where there is no usable vote.
    y : array of int of shape (n_samples,)
        The true labels as positions in ``classes``.
    classes : array of shape (n_classes,)
        The labels, sorted: those of ``y``, of the votes, and of the ensemble.
    weights : array of float of shape (n_members,), or None
        The voting weights as given; None for equal votes.
    names : tuple of str
        The members' names.
    samples : array of int of shape (n_samples,)
        Positions of the samples in the ``y`` that was given.
    decision_rule : DecisionRule
        How the ensemble predicts, in full.
    source : VoteSource or None
        Where the votes are from; None if unknown.
    family : {"bagging", "boosting", "pool"} or None
        How the members came about; None if unknown.
    is_masked : bool
        Whether a mask of usable votes was given.

    See Also
    --------
    collect_votes : Collect the votes of a fitted ensemble.

    Notes
    -----
    :meth:`predict`, :meth:`accuracy` and the errors are those of the ensemble: for
    votes collected from an ensemble they equal its own ``predict`` on every sample,
    ties included. ``rule="heads"`` uses the plurality vote instead, on which diversity,
    decomposition and risk are based. It is the class with the largest total weight; if
    several tie, :meth:`predict` returns the lowest, and the error is the expected error
    of a random choice among them (``ties="expected"``) or that of the lowest
    (``ties="lowest"``). Equal weights are counted as integers, so their ties are exact;
    other weights tie if they differ by at most 1e-12 of the total. Votes that were not
    collected from an ensemble use the plurality vote.

    Examples
    --------
    >>> from quorate import Votes
    >>> votes = Votes([["ant", "bee"], ["ant", "ant"]], ["ant", "bee"])
    >>> votes
    Votes(2 members, 2 samples, 2 classes; members 75.0 % correct, their vote 75.0 %)
    >>> votes.predict()
    array(['ant', 'ant'], dtype='<U3')
    >>> votes.keep([0]).accuracy()
    1.0
    """

    def __init__(
        self,
        predictions: Any,
        y: Any,
        weights: Any = None,
        valid: Any = None,
        names: "Iterable[str] | None" = None,
        probabilities: Any = None,
        *,
        rule: RuleName | None = None,
        classes: Any = None,
    ) -> None:
        columns = column_labels(classes, probabilities)
        if predictions is None and probabilities is not None:
            predictions = most_likely(probabilities, columns)
        predictions, mask = usable_votes(predictions, valid)
        truth = as_labels(y, "y")
        rows = as_rows(predictions, mask, truth)
        known, codes, y_codes = encode_rows(rows, truth, mask)
        refuse_shares(known, known[np.unique(y_codes)], "Votes")
        if columns is not None:
            known, codes, y_codes = widened(known, codes, y_codes, [columns])
        shares = None
        if probabilities is not None:
            places: IntArray = np.arange(known.size)
            if columns is not None:
                places = positions(columns, known, "Votes(classes)")
            given = as_columns(probabilities, places.size)
            shares = check_probabilities(given, codes.shape, known, mask, places)
        made = Votes.from_codes(
            codes,
            y_codes,
            known,
            weights,
            names,
            is_masked=mask is not None,
            class_probabilities=shares,
            decision_rule=_own_rule(rule, shares),
        )
        self.__setstate__(made.__getstate__())

    @classmethod
    def from_codes(
        cls,
        codes: Array,
        y: Array,
        classes: Array,
        weights: Any = None,
        names: "Iterable[str] | None" = None,
        *,
        is_masked: bool = False,
        samples: IntArray | None = None,
        class_probabilities: Probabilities | None = None,
        decision_rule: DecisionRule = PLURALITY,
        source: VoteSource | None = None,
        family: str | None = None,
        left_out: IntArray | None = None,
    ) -> Self:
        """Create votes from encoded arrays.

        Parameters
        ----------
        codes : array of int of shape (n_members, n_samples)
            Positions in ``classes``; -1 for a vote that is not usable.
        y : array of int of shape (n_samples,)
            Positions in ``classes``.
        classes : array
            The labels, sorted.
        weights, names
            As for :class:`Votes`.
        is_masked : bool
            Whether votes may be missing.
        samples : array of int, optional
            Positions of the samples among those given.
        class_probabilities : Probabilities, optional
            The members' class probabilities.
        decision_rule : DecisionRule
            How the ensemble predicts.
        source : VoteSource, optional
            Where the votes are from.
        family : {"bagging", "boosting", "pool"}, optional
            How the members came about.
        left_out : array of int, optional
            How many samples of each class were left out before.
        """
        gone: IntArray = np.zeros(classes.size, dtype=np.int64)
        if left_out is not None:
            gone = left_out
        given = class_probabilities
        if is_masked and samples is None:
            gone = gone + np.bincount(y, minlength=classes.size)
            codes, y, samples = leave_out_unvoted(codes, y)
            gone = gone - np.bincount(y, minlength=classes.size)
            if given is not None and samples.size < given.shape[1]:
                given = given.at(samples)
        if given is not None and given.are_certain:
            given = TabledProbabilities.certain(
                codes, classes.size
            )  # one array serves both
        votes = cls.__new__(cls)
        votes.__setstate__(
            {
                "codes": codes,
                "y": y,
                "classes": classes,
                "weights": None if weights is None else as_weights(weights, len(codes)),
                "names": as_names(names, len(codes)),
                "is_masked": is_masked,
                "samples": np.arange(y.size) if samples is None else samples,
                "class_probabilities": given,
                "decision_rule": decision_rule,
                "source": source,
                "family": family,
                "left_out": gone,
            }
        )
        return votes

    def __getstate__(self) -> dict[str, Any]:
        # Cached values are not pickled.
        names = (field.name for field in fields(self))
        return {name: getattr(self, name) for name in names if name != "_cache"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        for name, value in {**state, "_cache": {}}.items():
            object.__setattr__(self, name, frozen(value))

    def _like(self, **changes: Any) -> "Votes":
        """Return a copy of the votes with some attributes replaced."""
        return Votes.from_codes(**{**self.__getstate__(), **changes})

    # Derived votes

    def keep(self, members: Any) -> "Votes":
        """Return the votes of some members.

        Parameters
        ----------
        members : array-like of bool of shape (n_members,), or array-like of int
            A mask, or positions in the desired order. If all of them have zero weight,
            they get equal weights.

        Examples
        --------
        >>> from quorate import Votes
        >>> votes = Votes([[0, 1], [1, 1], [0, 0]], [0, 1], names=["a", "b", "c"])
        >>> votes.keep([2, 0]).names
        ('c', 'a')
        """
        chosen = member_positions(members, self.n_members)
        return self._like(
            codes=self.codes[chosen],
            weights=None
            if self.weights is None
            else weights_left(self.weights[chosen]),
            names=[self.names[member] for member in chosen],
            class_probabilities=self._shares(lambda given: given.keep(chosen)),
        )

    def at(self, samples: Any) -> "Votes":
        """Return the votes on some of the samples.

        Parameters
        ----------
        samples : array-like of bool of shape (n_samples,), or array-like of int
            A mask, or positions in the desired order, which may repeat, as in a
            bootstrap.

        Examples
        --------
        >>> from quorate import Votes
        >>> Votes([[0, 1, 1], [0, 0, 1]], [0, 1, 1]).at([0, 2]).accuracy()
        1.0
        """
        rows = sample_positions(samples, self.n_samples)
        left_out = self.left_out
        if left_out.any():  # as many of them as of those that have a vote
            before = np.bincount(self.y, minlength=self.n_classes)
            after = np.bincount(self.y[rows], minlength=self.n_classes)
            left_out = np.where(
                before > 0, left_out * after // before.clip(1), left_out
            )
        return self._like(
            codes=self.codes[:, rows],
            y=self.y[rows],
            samples=self.samples[rows],
            left_out=left_out,
            class_probabilities=self._shares(lambda given: given.at(rows)),
        )

    def only(self, valid: Any) -> "Votes":
        """Return the votes with a mask of those that may be used.

        Parameters
        ----------
        valid : array-like of bool of shape (n_members, n_samples)
            Mask of usable votes, among those that are usable now.

        Examples
        --------
        >>> from quorate import Votes
        >>> votes = Votes([[0, 1, 1], [1, 0, 1]], [0, 1, 1])
        >>> votes.only([[True, True, False], [False, False, True]]).accuracy()
        1.0
        """
        mask = as_mask(valid)
        check_mask(mask, self.codes.shape)
        voted = self._like(
            codes=np.where(mask, self.codes, self.codes.dtype.type(-1)),
            is_masked=True,
            samples=None,
            class_probabilities=self._shares(lambda given: given.only(mask)),
        )
        # Positions refer to the original samples.
        return voted.numbered(self.samples)

    def _shares(
        self, change: "Callable[[Probabilities], Probabilities]"
    ) -> Probabilities | None:
        """Apply a change to the probabilities; certain ones follow from the votes."""
        given = self.class_probabilities
        return given if given is None or given.are_certain else change(given)

    def unweighted(self) -> "Votes":
        """Return the same votes without weights."""
        if self.weights is None:
            return self  # votes never change, and what was counted stays counted
        return self.reweighted(None)

    def reweighted(self, weights: Any) -> "Votes":
        """Return the same votes with other voting weights.

        Parameters
        ----------
        weights : array-like of shape (n_members,), or None
            The new weights; None for equal votes.

        Examples
        --------
        >>> from quorate import Votes
        >>> votes = Votes([[0, 1], [1, 1], [1, 0]], [0, 1])
        >>> votes.reweighted([3, 1, 1]).accuracy()
        1.0
        """
        return self._like(weights=weights)

    def by_plurality(self) -> "Votes":
        """Return the same votes with plurality as the rule."""
        return self._like(decision_rule=PLURALITY)

    def with_source(self, source: VoteSource) -> "Votes":
        """Return the same votes with another source."""
        return self._like(source=source)

    def numbered(self, positions: IntArray) -> "Votes":
        """Return the same votes with other positions of the samples.

        Parameters
        ----------
        positions : array of int
            The position of each sample that was given.
        """
        return self._like(samples=np.asarray(positions)[self.samples])

    def summary(self, start: int = 0) -> Summary:
        """Return the counts of these votes, which can be added over batches.

        Parameters
        ----------
        start : int
            Position of the first sample among all samples, for batches, so that the
            sample with the smallest margin can be identified.

        Examples
        --------
        >>> from quorate import Votes
        >>> votes = Votes([[0, 1, 1], [0, 0, 1], [0, 1, 0]], [0, 1, 1])
        >>> parts = votes.at([0]).summary() + votes.at([1, 2]).summary()
        >>> parts.accuracy() == votes.accuracy()
        True
        """
        if max(self.n_members, self.n_classes) > LARGEST:
            raise ValueError(
                f"Votes.summary: at most {LARGEST} members and classes are supported, "
                f"but these votes have {self.n_members} and {self.n_classes}."
            )
        names = [*MEMBER_SUMS, *VOTE_SUMS, *(MASKED_SUMS if self.is_masked else ())]
        sums = {name: self._sum(name) for name in names}
        sums["own"] = confusion(self, self.decisions())
        if not self.has_equal_weights:
            equal = self.unweighted()
            sums |= {f"equal_{name}": equal._sum(name) for name in VOTE_SUMS}
            sums["margins"] = self._sum("margins")
        about = {field.name: getattr(self, field.name) for field in fields(VoteCounts)}
        return Summary(sums=sums, **about).shifted(start)

    # Files

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a ``.npz`` file, without pickle, replacing the old one atomically."""
        from quorate._votes._files import save_counts

        save_counts(self, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "Votes":
        """Read a file written by :meth:`save`; nothing in it is executed.

        Raises
        ------
        FileFormatError
            If it is damaged, foreign, or holds arrays that no votes have. What it
            claims to hold is checked before it is unpacked.

        Examples
        --------
        >>> import tempfile, pathlib
        >>> from quorate import Votes
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "votes.npz"
        >>> Votes([[0, 1], [1, 1]], [0, 1], names=["tree", "knn"]).save(path)
        >>> Votes.load(path).names
        ('tree', 'knn')
        """
        from quorate._votes._files import load_votes

        return load_votes(path)

    @classmethod
    def from_table(
        cls,
        table: Any,
        label: str = "y",
        members: "Sequence[str] | None" = None,
        weights: Any = None,
    ) -> "Votes":
        """Read votes from a table with one column per member and one label column.

        Parameters
        ----------
        table : path, pandas or polars DataFrame
            A CSV file (may be gzipped), a Parquet file, or a frame. Labels in a CSV
            file are read as numbers if all of them are decimal numbers and stay
            distinct; 007, 1_000 and 0x10 are strings.
        label : str
            The column of true labels.
        members : sequence of str, optional
            The columns of votes; all others by default.
        weights : array-like, optional
            Voting weights of the members.

        Raises
        ------
        FileFormatError
            If the file is damaged, foreign, or has a column without a name, such as an
            index that was written along.
        ValueError
            If a label is missing, or the votes look like probabilities.

        Examples
        --------
        >>> import pandas as pd
        >>> from quorate import Votes
        >>> frame = pd.DataFrame({"tree": [0, 1], "knn": [1, 1], "y": [0, 1]})
        >>> Votes.from_table(frame, label="y").names
        ('tree', 'knn')
        """
        from quorate._votes._tables import from_table

        return from_table(table, label, members, weights)

    # Representations

    def _repr_html_(self) -> str:
        rows = self._accuracy_rows()
        if self.weights is not None:
            span = f"{self.weights.min():.3g} to {self.weights.max():.3g}"
            rows.append(("weights", span))
        if self.is_masked:
            mean = self.sample_counts()[1].mean()
            share = f"{mean / self.n_members:.1%}, {mean:.1f} per sample"
            rows.append(("usable votes", share))
        return self._html("Votes", rows)

    def _accuracy_rows(self) -> list[tuple[str, str]]:
        if self.source in (VoteSource.TRAINING, VoteSource.UNKNOWN):
            return [("votes", f"{self.source}, which say nothing about accuracy")]
        each = self.accuracies
        if self.source is VoteSource.UNLABELLED:
            why = "on samples without labels, which say nothing about accuracy"
            mean = f"{each.mean():.2%}"
            return [("votes", why), ("members agree with their decision, mean", mean)]
        best = int(each.argmax())
        rows = [
            ("member accuracy, mean", f"{each.mean():.2%}"),
            (f"best member ({self.names[best]})", f"{each[best]:.2%}"),
        ]
        own, heads = f"{self.accuracy():.2%}", f"{self.accuracy(rule='heads'):.2%}"
        if self.rule == "heads":
            return [*rows, ("accuracy of the vote", own)]
        return [
            *rows,
            ("accuracy, by averaged probabilities", own),
            ("accuracy, plurality of the members", heads),
        ]


def check_votes(votes: object, owner: str) -> None:
    """Raise ``TypeError`` unless these are votes."""
    if isinstance(votes, Summary):
        raise TypeError(
            f"{owner}: needs the votes on single samples, which a Summary does not "
            "contain; pass votes on a sample of the rows (prune and select draw one "
            "with max_samples)."
        )
    if not isinstance(votes, Votes):
        raise TypeError(
            f"{owner}: expected Votes, got {type(votes).__name__}; "
            "make them with quorate.collect_votes or quorate.Votes."
        )


def check_counts(votes: object, owner: str) -> None:
    """Raise ``TypeError`` unless these are votes or a summary."""
    if not isinstance(votes, Summary):
        check_votes(votes, owner)


def _own_rule(name: RuleName | None, given: Probabilities | None) -> DecisionRule:
    """Return the default rule for votes without an ensemble."""
    if name is not None:
        one_of("Votes", "rule", name, ("average", "heads"))
    if name == "average" and given is None:
        raise ValueError(
            "Votes(rule='average'): there are no probabilities to average."
        )
    if name == "heads" or given is None:
        return PLURALITY
    return DecisionRule("average")
