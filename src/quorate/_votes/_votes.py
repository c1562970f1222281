"""Votes: what every member said about every sample, and what was true."""

import os
from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Self, TypeVar

import numpy as np

from quorate._kernels import counts, gaps, pairs, verdicts
from quorate._messages import one_of
from quorate._typing import Array, BoolArray, FloatArray, IntArray, Lambda, Ties
from quorate._votes._checks import (
    as_names,
    as_weights,
    leave_out_unvoted,
    member_positions,
    read_only,
    sample_positions,
    weights_left,
)
from quorate._votes._counting import COUNT, summary_of
from quorate._votes._counts import (
    CorrectHistogram,
    SmallestMargin,
    VoteCounts,
    smallest_margin,
)
from quorate._votes._deciding import decide
from quorate._votes._encoding import (
    as_mask,
    as_rows,
    check_mask,
    encode,
    positions,
    usable_votes,
    widened,
)
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
from quorate._votes._rule import PLURALITY, DecisionRule, RuleName, VoteSource
from quorate._votes._summary import Summary

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

T = TypeVar("T")
_REMEDY = (
    "Pass probabilities as Votes(None, y, probabilities=..., classes=...), with the "
    "labels of their columns."
)


@dataclass(frozen=True, slots=True, eq=False, repr=False, init=False)
class Votes(VoteCounts):
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

    codes: Array
    """The votes as positions in ``classes``; -1 where there is no usable vote."""
    y: Array
    """The true labels as positions in ``classes``."""
    samples: IntArray
    """Positions of the samples in the ``y`` that was given."""
    class_probabilities: Probabilities | None
    """The members' class probabilities, one member at a time; None without."""
    is_masked: bool
    """Whether a mask of usable votes was given."""
    _cache: dict[str, Any]

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
        known, codes, y_codes = encode(as_rows(predictions, mask, truth), truth)
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
        is_masked : bool
            Whether votes may be missing.
        samples : array of int, optional
            Positions of the samples among those given.
        class_probabilities : Probabilities, optional
            The members' class probabilities.
        decision_rule : DecisionRule
            How the ensemble decides.
        source : VoteSource, optional
            Where the votes are from.
        family : {"bagging", "boosting", "pool"}, optional
            How the members came about.
        reading : Reading, optional
            How members that count their classes were understood.
        """
        given = class_probabilities
        if is_masked and samples is None:
            codes, y, samples = leave_out_unvoted(codes, y)
            if given is not None and samples.size < given.shape[1]:
                given = given.at(samples)
        if given is not None and given.are_certain:
            given = certain(codes, classes.size)  # one array serves both
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
                "reading": reading,
            }
        )
        return votes

    def __getstate__(self) -> dict[str, Any]:
        # Without what can be computed again.
        names = (field.name for field in fields(self))
        return {name: getattr(self, name) for name in names if name != "_cache"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        for name, value in {**state, "_cache": {}}.items():
            object.__setattr__(self, name, _frozen(value))

    def _like(self, **changes: Any) -> "Votes":
        """Return votes that differ from these in what is given."""
        return Votes.from_codes(**{**self.__getstate__(), **changes})

    def _once(self, key: str, compute: "Callable[[], T]") -> "T":
        """Compute on first use; safe to keep because votes never change."""
        if key not in self._cache:
            self._cache[key] = compute()
        result: T = self._cache[key]
        return result

    def _sum(self, name: str) -> Any:
        return self._once(name, lambda: _frozen(COUNT[name](self)))

    @property
    def n_samples(self) -> int:
        """Number of samples somebody voted on."""
        return int(self.codes.shape[1])

    @property
    def valid(self) -> BoolArray | None:
        """Which votes may be used, or None when no mask was given."""
        return read_only(self.codes >= 0) if self.is_masked else None

    @property
    def correct(self) -> BoolArray:
        """Which votes are correct, (n_members, n_samples); made anew at every call."""
        return read_only(self.codes == self.y)

    # Counts, sample by sample

    def sample_counts(self) -> tuple[IntArray, IntArray]:
        """Return each sample's number of right votes and of usable votes."""

        def count() -> tuple[IntArray, IntArray]:
            right = counts.correct_per_sample(self.codes, self.y)
            if self.is_masked:
                cast = counts.votes_per_sample(self.codes)
            else:
                cast = np.full(self.n_samples, self.n_members, dtype=np.int32)
            return read_only(right), read_only(cast)

        return self._once("sample_counts", count)

    def shares(self) -> tuple[FloatArray, FloatArray]:
        """Return each sample's weight of right votes and of usable votes.

        Whole numbers of members for equal votes.
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

    def tallies(self) -> "Iterator[tuple[slice, Array]]":
        """Yield blocks of samples and their tallies, which need little memory."""
        rows = max(self.n_members, self.n_classes)
        for block in counts.column_blocks(rows, self.n_samples, 8):
            yield block, self._tally(self.codes[:, block])

    def verdict(self) -> tuple[IntArray, IntArray, BoolArray]:
        """Return each sample's winning code, how many classes tie, and if y does."""

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

        By the plurality vote and 0/1 errors; see :func:`quorate.decompose`.
        """
        _, tied, has_truth = self.verdict()
        return gaps.zero_one(tied, has_truth, *self.shares())

    # Counts over all samples, by ways that are shorter than those of a summary

    def histogram(self) -> CorrectHistogram:
        """See :meth:`VoteCounts.histogram`."""
        return self._once("histogram", lambda: self._histogram(*self.sample_counts()))

    def smallest_margin(self, lambda_: Lambda = "ensemble") -> SmallestMargin:
        """See :meth:`VoteCounts.smallest_margin`; positions are those in ``codes``."""
        error, _, diversity = self.zero_one_terms()
        return smallest_margin(error, diversity, np.arange(self.n_samples), lambda_)

    def chance_agreement(self) -> IntArray:
        """See :meth:`VoteCounts.chance_agreement`."""
        if self.is_masked:  # one class at a time, which needs less memory
            return self._once(
                "chance",
                lambda: pairs.chance_agreement(self.codes, self.n_classes),
            )
        return VoteCounts.chance_agreement(self)

    # What the ensemble decides

    @property
    def counts_heads(self) -> bool:
        """Whether decisions come from votes alone.

        The mean of probabilities does where every member is certain.
        """
        if self.rule == "heads":
            return True
        return (
            self.class_probabilities is not None
            and self.class_probabilities.are_certain
        )

    @property
    def probabilities(self) -> Array | None:
        """The members' class probabilities, or None where only votes were collected.

        Of shape (n_members, n_samples, n_classes), 32-bit floats, zero where there is
        no usable vote. In a temporary file where they take more than 512 MB.
        """
        given = self.class_probabilities
        if given is None:
            return None
        return self._once("probabilities", lambda: read_only(given.dense()))

    def mean_probabilities(self) -> FloatArray:
        """Return the mean of the members' probabilities, (n_samples, n_classes).

        Weighted as they vote; of those that may vote on a sample.
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
        """Return the labels that the ensemble decides for.

        Parameters
        ----------
        rule : {"average", "heads"}, optional
            By the ensemble's own rule if not given; "heads" for the label of the
            (weighted) plurality vote, the lowest of a tie.
        """
        return np.asarray(self.classes[self.decisions(rule)])

    def decisions(self, rule: RuleName | None = None) -> IntArray:
        """Return what :meth:`predict` does, as positions in ``classes``."""
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
            Count a tie as a random choice among the tied classes would err on average,
            or as :meth:`predict` does. By default, votes collected from an ensemble
            count ties as it errs, and the plurality vote as expected. Averages hardly
            ever tie and count as :meth:`predict` decides.
        rule : {"average", "heads"}, optional
            Whose errors: the ensemble's own if not given; "heads" for the plurality
            vote.
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
        # Counted as score counts, so that both are the same number to the bit.
        return float((1.0 - self.sample_errors(ties, rule)).mean())

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
            A mask, or positions in the order wanted; a position may come again, as in
            a bootstrap.

        Examples
        --------
        >>> from quorate import Votes
        >>> Votes([[0, 1, 1], [0, 0, 1]], [0, 1, 1]).at([0, 2]).accuracy()
        1.0
        """
        rows = sample_positions(samples, self.n_samples)
        return self._like(
            codes=self.codes[:, rows],
            y=self.y[rows],
            samples=self.samples[rows],
            class_probabilities=self._shares(lambda given: given.at(rows)),
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
        check_mask(mask, self.codes.shape)
        voted = self._like(
            codes=np.where(mask, self.codes, self.codes.dtype.type(-1)),
            is_masked=True,
            samples=None,
            class_probabilities=self._shares(lambda given: given.only(mask)),
        )
        # Positions stay those among the samples that were given at first.
        return voted.numbered(self.samples)

    def _shares(
        self, change: "Callable[[Probabilities], Probabilities]"
    ) -> Probabilities | None:
        """Return the probabilities, changed as the votes are; certain ones follow."""
        given = self.class_probabilities
        return given if given is None or given.are_certain else change(given)

    def unweighted(self) -> "Votes":
        """Return the same votes, every member counting the same."""
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
        """Return the same votes, decided by plurality, whatever the ensemble does."""
        return self._like(decision_rule=PLURALITY)

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
        return self._like(samples=np.asarray(positions)[self.samples])

    def summary(self, start: int = 0) -> Summary:
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
        return summary_of(self, start)

    # Files

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a ``.npz`` file, without pickle, replacing the old one in one step."""
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


def _frozen(value: Any) -> Any:
    return read_only(value) if isinstance(value, np.ndarray) else value
