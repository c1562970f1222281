"""Votes: what every member said about every sample, and what was true."""

import os
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from quorate._messages import one_of
from quorate._typing import Array, IntArray
from quorate._votes._checks import (
    as_names,
    as_weights,
    leave_out_unvoted,
    member_positions,
    read_only,
    sample_positions,
    weights_left,
)
from quorate._votes._decided import DecidedVotes
from quorate._votes._encoding import encode, positions, widened
from quorate._votes._labels import as_labels
from quorate._votes._plausible import refuse_other_order, refuse_scores
from quorate._votes._probabilities import (
    Probabilities,
    as_columns,
    certain,
    check_probabilities,
    column_labels,
    most_likely,
)
from quorate._votes._reading import Reading
from quorate._votes._rows import (
    as_mask,
    as_rows,
    check_mask,
    check_shapes,
    shape_of,
    usable_votes,
)
from quorate._votes._rule import PLURALITY, DecisionRule, RuleName, VoteSource

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from quorate._votes._summary import Summary
_REMEDY = (
    "Pass probabilities as Votes(None, y, probabilities=..., classes=...), with the "
    "labels of their columns."
)


class Votes(DecidedVotes):
    """The votes of an ensemble's members on labelled samples.

    This is the one noun of quorate: measures, decomposition, risk and pruning all take
    a ``Votes`` and leave it as it is. Its arrays are read-only.

    Parameters
    ----------
    predictions : array-like of shape (n_members, n_samples), or None
        The label each member gives each sample; any sortable type. What a masked array
        hides may not be used, as with ``valid``. None: the most likely class by
        ``probabilities``, the lowest of several.
    y : array-like of shape (n_samples,)
        The true labels, of the same type. Labels come back as they were given; those
        that no type of number holds together exactly are refused.
    weights : array-like of shape (n_members,), optional
        Voting weights, not negative and not all zero. Equal votes by default.
    valid : array-like of bool of shape (n_members, n_samples), optional
        Which votes may be used, as in out-of-bag estimates. What ``predictions`` holds
        elsewhere is not looked at. A sample nobody has a vote on is left out, with a
        warning; ``samples`` tells which ones stayed.
    names : sequence of str, optional
        Names of the members; their positions by default.
    probabilities : array-like of shape (n_members, n_samples, n_classes), optional
        The members' class probabilities; with two classes, also those of the second
        alone, of shape (n_members, n_samples). With them the ensemble is taken to
        average probabilities; votes, diversity and the plurality vote do not change.
        What they hold where ``valid`` is False is not looked at.
    rule : {"average", "heads"}, optional
        How the ensemble decides: by the mean of the probabilities, or by the plurality
        of its members' votes. "average" if there are probabilities, else "heads".
    classes : array-like of shape (n_classes,), optional
        The labels of the columns of ``probabilities``, in their order, such as
        ``classes_`` of the model. Without, columns are those of the labels that occur,
        sorted; columns that fit the votes in another order only are refused.

    See Also
    --------
    collect_votes : Ask the members of a fitted ensemble.

    Notes
    -----
    :meth:`predict`, :meth:`accuracy` and the errors are those of the ensemble: votes
    collected from one decide as its own ``predict`` does, to the last sample, ties
    included. ``rule="heads"`` asks for the plurality vote instead, which diversity,
    decomposition and risk are about. It goes to the class with the largest total
    weight; where several tie, :meth:`predict` names the lowest, and an error counts as
    expected under a random choice among them (``ties="expected"``) unless told
    otherwise (``ties="lowest"``). Equal weights are counted in integers, so their ties
    are exact; other weights tie when they differ by at most 1e-12 of the total. Votes
    that come from no ensemble take the plurality vote.

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

    __slots__ = ()

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
        rows = as_rows(predictions, mask)
        check_shapes(shape_of(rows), truth)
        known, codes, y_codes = encode(rows, truth)
        del rows
        refuse_scores(known, _occurring(y_codes, known.size), "Votes", _REMEDY)
        if columns is not None:
            known, codes, y_codes = widened(known, codes, y_codes, [columns])
        if mask is not None:
            for row, usable in zip(codes, mask, strict=True):
                row[~usable] = -1
        shares = None
        if probabilities is not None:
            places: IntArray = np.arange(known.size)
            if columns is not None:
                places = positions(columns, known, "Votes(classes)")
            given = as_columns(probabilities, places.size)
            shares = check_probabilities(given, codes.shape, known, mask, places)
            if columns is None:
                refuse_other_order(shares, codes, known)
        self._set(
            codes,
            y_codes,
            known,
            weights,
            names,
            masked=mask is not None,
            probabilities=shares,
            rule=_own_rule(rule, shares),
        )

    @classmethod
    def from_codes(
        cls,
        codes: Array,
        y: Array,
        classes: Array,
        weights: Any = None,
        names: "Iterable[str] | None" = None,
        *,
        masked: bool = False,
        samples: IntArray | None = None,
        probabilities: Probabilities | None = None,
        rule: DecisionRule = PLURALITY,
        source: VoteSource | None = None,
        family: str | None = None,
        reading: Reading | None = None,
    ) -> Self:
        """Build from encoded arrays, as those who collect votes do.

        Parameters
        ----------
        codes : array of int of shape (n_members, n_samples)
            Positions in ``classes``; -1 for a vote that may not be used.
        y : array of int of shape (n_samples,)
            Positions in ``classes``.
        classes : array
            The labels, sorted.
        weights, names
            As for :class:`Votes`.
        masked : bool
            Whether votes may be missing.
        samples : array of int, optional
            Positions of the samples among those given.
        probabilities : Probabilities, optional
            The members' class probabilities.
        rule : DecisionRule
            How the ensemble decides.
        source : VoteSource, optional
            Where the votes are from.
        family : {"bagging", "boosting", "pool"}, optional
            How the members came about.
        reading : Reading, optional
            How members that count their classes were understood.
        """
        votes = cls.__new__(cls)
        votes._set(
            codes,
            y,
            classes,
            weights,
            names,
            masked=masked,
            samples=samples,
            probabilities=probabilities,
            rule=rule,
            source=source,
            family=family,
            reading=reading,
        )
        return votes

    def _set(
        self,
        codes: Array,
        y: Array,
        classes: Array,
        weights: Any,
        names: "Iterable[str] | None",
        *,
        masked: bool,
        samples: IntArray | None = None,
        probabilities: Probabilities | None = None,
        rule: DecisionRule = PLURALITY,
        source: VoteSource | None = None,
        family: str | None = None,
        reading: Reading | None = None,
    ) -> None:
        if masked and samples is None:
            codes, y, samples = leave_out_unvoted(codes, y)
            if probabilities is not None and samples.size < probabilities.shape[1]:
                probabilities = probabilities.at(samples)
        elif samples is None:
            samples = np.arange(y.size)
        if probabilities is not None and probabilities.are_certain:
            probabilities = certain(codes, classes.size)  # one array serves both
        self._codes = read_only(codes)
        self._y = read_only(y)
        self._classes = read_only(classes)
        self._samples = read_only(samples)
        self._masked = masked
        self._probabilities = probabilities
        self._rule = rule
        self._source = source
        self._family = family
        self._reading = reading
        self._weights = None if weights is None else as_weights(weights, len(codes))
        self._names = as_names(names, len(codes))
        self._cache = {}

    def __getstate__(self) -> dict[str, Any]:
        # Without what can be computed again.
        return {
            "codes": self._codes,
            "y": self._y,
            "classes": self._classes,
            "weights": self._weights,
            "names": self._names,
            "masked": self._masked,
            "samples": self._samples,
            "probabilities": self._probabilities,
            "rule": self._rule,
            "source": self._source,
            "family": self._family,
            "reading": self._reading,
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        # Arrays lose their read-only flag on the way; _set restores it.
        self._set(**state)

    # Fewer or plainer votes

    def keep(self, members: Any) -> "Votes":
        """Return the votes of some members.

        Parameters
        ----------
        members : array-like of bool of shape (n_members,), or array-like of int
            A mask, or positions in the order wanted. If none of them has any weight,
            they vote as equals.

        Examples
        --------
        >>> from quorate import Votes
        >>> votes = Votes([[0, 1], [1, 1], [0, 0]], [0, 1], names=["a", "b", "c"])
        >>> votes.keep([2, 0]).names
        ('c', 'a')
        """
        chosen = member_positions(members, self.n_members)
        given = self._probabilities
        if given is not None and not given.are_certain:
            given = given.keep(chosen)
        return self._like(
            codes=self._codes[chosen],
            weights=None
            if self._weights is None
            else weights_left(self._weights[chosen]),
            names=[self._names[member] for member in chosen],
            probabilities=given,
        )

    def at(self, samples: Any) -> "Votes":
        """Return the votes on some of the samples.

        Parameters
        ----------
        samples : array-like of bool of shape (n_samples,), or array-like of int
            A mask, or positions in the order wanted; a position may come again, as in
            a bootstrap.

        Examples
        --------
        >>> from quorate import Votes
        >>> Votes([[0, 1, 1], [0, 0, 1]], [0, 1, 1]).at([0, 2]).accuracy()
        1.0
        """
        rows = sample_positions(samples, self.n_samples)
        given = self._probabilities
        if given is not None and not given.are_certain:
            given = given.at(rows)
        return self._like(
            codes=self._codes[:, rows],
            y=self._y[rows],
            samples=self._samples[rows],
            probabilities=given,
        )

    def only(self, valid: Any) -> "Votes":
        """Return the votes with a mask of those that may be used.

        Parameters
        ----------
        valid : array-like of bool of shape (n_members, n_samples)
            Which votes may be used, of those that may be used now.

        Examples
        --------
        >>> from quorate import Votes
        >>> votes = Votes([[0, 1, 1], [1, 0, 1]], [0, 1, 1])
        >>> votes.only([[True, True, False], [False, False, True]]).accuracy()
        1.0
        """
        mask = as_mask(valid)
        check_mask(mask, self._codes.shape)
        given = self._probabilities
        if given is not None and not given.are_certain:
            given = given.only(mask)
        voted = self._like(
            codes=np.where(mask, self._codes, self._codes.dtype.type(-1)),
            masked=True,
            samples=None,
            probabilities=given,
        )
        # Positions stay those among the samples that were given at first.
        voted._samples = read_only(self._samples[voted._samples])
        return voted

    def unweighted(self) -> "Votes":
        """Return the same votes, every member counting the same."""
        if self._weights is None:
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
        """Return the same votes, decided by plurality, whatever the ensemble does."""
        return self._like(rule=PLURALITY)

    def with_source(self, source: VoteSource) -> "Votes":
        """Return the same votes, with word of where they are from."""
        return self._like(source=source)

    def numbered(self, positions: IntArray) -> "Votes":
        """Return the same votes, on samples that stand elsewhere among those given.

        Parameters
        ----------
        positions : array of int
            Where each sample that was given stands.
        """
        return self._like(samples=np.asarray(positions)[self._samples])

    def _like(self, **changes: Any) -> "Votes":
        """Return votes that differ from these in what is given."""
        votes = Votes.__new__(Votes)
        votes._set(**{**self.__getstate__(), **changes})
        return votes

    def summary(self, start: int = 0) -> "Summary":
        """Return what these votes say in counts, which add up over batches.

        Parameters
        ----------
        start : int
            Where the first sample given stands among all samples, for batches: so that
            the sample of the smallest margin is found again.

        Examples
        --------
        >>> from quorate import Votes
        >>> votes = Votes([[0, 1, 1], [0, 0, 1], [0, 1, 0]], [0, 1, 1])
        >>> parts = votes.at([0]).summary() + votes.at([1, 2]).summary()
        >>> parts.accuracy() == votes.accuracy()
        True
        """
        from quorate._votes._summing import summary_of

        return summary_of(self, start)

    # Files

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a ``.npz`` file, without pickle, replacing the old one in one step."""
        from quorate._votes._files import save

        save(self, path)

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
        from quorate._votes._files import load

        return load(path)

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
            A CSV file (may be gzipped), a Parquet file, or a frame. What a CSV file
            holds is read as numbers if all labels are decimal numbers and no two of
            them meet in one; 007, 1_000 and 0x10 are text.
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

    # For people

    def __repr__(self) -> str:
        extras = "".join(
            f", {word}"
            for word, there in (
                ("weighted", self._weights is not None),
                ("masked", self._masked),
                ("with probabilities", self._probabilities is not None),
            )
            if there
        )
        return (
            f"Votes({_count(self.n_members, 'member')}, "
            f"{_count(self.n_samples, 'sample')}, "
            f"{_count(self.n_classes, 'class', 'classes')}{extras}; {self._standing()})"
        )

    def _standing(self) -> str:
        if self._source in (VoteSource.TRAINING, VoteSource.UNKNOWN):
            return f"{self._source}, which say nothing about accuracy"
        if self._source is VoteSource.UNLABELLED:
            agree = f"{self.accuracies.mean():.1%}".replace("%", " %")
            return f"no labels; members agree with their decision on {agree}"
        together = "vote" if self.rule == "heads" else "average"
        return (
            f"members {self.accuracies.mean():.1%} correct, "
            f"their {together} {self.accuracy():.1%}".replace("%", " %")
        )

    def _repr_html_(self) -> str:
        from quorate._votes._html import votes_html

        return votes_html(self)


def check_votes(votes: object, owner: str) -> None:
    """Raise ``TypeError`` unless these are votes."""
    from quorate._votes._summary import Summary

    if isinstance(votes, Summary):
        raise TypeError(
            f"{owner}: needs the votes on single samples, which a Summary does not "
            "keep; give votes on some of the samples (prune and select draw them with "
            "max_samples)."
        )
    if not isinstance(votes, Votes):
        raise TypeError(
            f"{owner}: expected Votes, got {type(votes).__name__}; "
            "make them with quorate.collect_votes or quorate.Votes."
        )


def check_counts(votes: object, owner: str) -> None:
    """Raise ``TypeError`` unless these are votes or a summary of them."""
    from quorate._votes._summary import Summary

    if not isinstance(votes, Summary):
        check_votes(votes, owner)


def _own_rule(name: RuleName | None, given: Probabilities | None) -> DecisionRule:
    """Return the rule of votes that come from no ensemble."""
    if name is not None:
        one_of("Votes", "rule", name, ("average", "heads"))
    if name == "average" and given is None:
        raise ValueError(
            "Votes(rule='average'): there are no probabilities to average."
        )
    if name == "heads" or given is None:
        return PLURALITY
    return DecisionRule("average")


def _occurring(y: Array, n_classes: int) -> Array:
    found = np.zeros(n_classes, dtype=bool)
    found[y] = True
    return found


def _count(number: int, one: str, many: str | None = None) -> str:
    return f"{number} {one if number == 1 else many or one + 's'}"
