"""Votes: what every member said about every sample, and what was true."""

import os
from typing import TYPE_CHECKING, Any, Self, TypeVar

import numpy as np

from quorate._kernels import counts, pairs, verdicts
from quorate._suggest import one_of
from quorate._typing import (
    Array,
    BoolArray,
    FloatArray,
    IntArray,
    Outputs,
    Ties,
)
from quorate.votes import _labels
from quorate.votes._checks import (
    as_mask,
    as_names,
    as_weights,
    check_shapes,
    hide_invalid,
    leave_out_unvoted,
    member_positions,
    read_only,
)
from quorate.votes._pair_counts import PairCounts
from quorate.votes._probabilities import as_stored, check_probabilities, part_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

T = TypeVar("T")


class Votes:
    """The votes of an ensemble's members on labelled samples.

    This is the one noun of quorate: measures, decomposition, risk and pruning all take
    a ``Votes`` and leave it as it is. Its arrays are read-only.

    Parameters
    ----------
    predictions : array-like of shape (n_members, n_samples)
        The label each member gives each sample; any sortable type.
    y : array-like of shape (n_samples,)
        The true labels, of the same type.
    weights : array-like of shape (n_members,), optional
        Voting weights, not negative and not all zero. Equal votes by default.
    valid : array-like of bool of shape (n_members, n_samples), optional
        Which votes may be used, as in out-of-bag estimates. What ``predictions`` holds
        elsewhere is not looked at. A sample nobody has a vote on is left out, with a
        warning; ``samples`` tells which ones stayed.
    names : sequence of str, optional
        Names of the members; their positions by default.
    probabilities : array-like of shape (n_members, n_samples, n_classes), optional
        The members' class probabilities, classes sorted as in ``classes``. Methods that
        can use them do; votes, diversity and the plurality vote do not change. What
        they hold where ``valid`` is False is not looked at.

    See Also
    --------
    collect_votes : Ask the members of a fitted ensemble.

    Notes
    -----
    A plurality vote goes to the class with the largest total weight. Where several tie,
    :meth:`predict` names the lowest, and an error counts as expected under a random
    choice among them (``ties="expected"``) unless told otherwise (``ties="lowest"``).
    Equal weights are counted in integers, so their ties are exact; other weights tie
    when they differ by at most 1e-12 of the total.

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

    __slots__ = (
        "_cache",
        "_classes",
        "_codes",
        "_masked",
        "_names",
        "_probabilities",
        "_samples",
        "_weights",
        "_y",
    )

    def __init__(
        self,
        predictions: Any,
        y: Any,
        weights: Any = None,
        valid: Any = None,
        names: "Iterable[str] | None" = None,
        probabilities: Any = None,
    ) -> None:
        mask = None if valid is None else as_mask(valid)
        truth = _labels.as_labels(y, "y")
        if mask is not None:
            predictions = hide_invalid(predictions, truth, mask)
        rows = _labels.as_rows(predictions)
        check_shapes(rows, truth)
        classes, codes, y_codes = _labels.encode(rows, truth)
        if mask is not None:
            codes[~mask] = -1
        if probabilities is not None:
            probabilities = check_probabilities(
                probabilities, codes.shape, classes, mask
            )
        masked = mask is not None
        self._set(codes, y_codes, classes, weights, names, masked, None, probabilities)

    @classmethod
    def _from_codes(
        cls,
        codes: Array,
        y: Array,
        classes: Array,
        weights: Any = None,
        names: "Iterable[str] | None" = None,
        masked: bool = False,
        samples: Array | None = None,
        probabilities: Array | None = None,
    ) -> Self:
        """Build from encoded arrays; -1 is a vote that may not be used."""
        votes = cls.__new__(cls)
        votes._set(codes, y, classes, weights, names, masked, samples, probabilities)
        return votes

    def _set(
        self,
        codes: Array,
        y: Array,
        classes: Array,
        weights: Any,
        names: "Iterable[str] | None",
        masked: bool,
        samples: Array | None = None,
        probabilities: Array | None = None,
    ) -> None:
        if masked and samples is None:
            codes, y, samples = leave_out_unvoted(codes, y)
            if probabilities is not None and samples.size < probabilities.shape[1]:
                probabilities = part_of(probabilities, None, samples)
        elif samples is None:
            samples = np.arange(y.size)
        self._codes = read_only(codes)
        self._y = read_only(y)
        self._classes = read_only(classes)
        self._samples = read_only(samples)
        self._masked = masked
        self._probabilities = as_stored(probabilities)
        self._weights = None if weights is None else as_weights(weights, len(codes))
        self._names = as_names(names, len(codes))
        self._cache: dict[str, Any] = {}

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
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        # Arrays lose their read-only flag on the way; _set restores it.
        self._set(**state)

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
    def probabilities(self) -> Array | None:
        """The members' class probabilities, or None where only votes were collected.

        Of shape (n_members, n_samples, n_classes), 32-bit floats, zero where there is
        no usable vote. Read from a temporary file where they take more than 512 MB.
        """
        return self._probabilities

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

    def predict(self) -> Array:
        """Return the label of the (weighted) plurality vote; the lowest of a tie."""
        winner, _, _ = self.verdict()
        return np.asarray(self._classes[winner])

    def sample_errors(self, ties: Ties = "expected") -> FloatArray:
        """Return the vote's error on each sample: 0, 1, or between the two at a tie.

        Parameters
        ----------
        ties : {"expected", "lowest"}
            Count a tie as a random choice among the tied classes would err on average,
            or as :meth:`predict` does.
        """
        one_of("sample_errors", "ties", ties, ("expected", "lowest"))
        winner, tied, has_truth = self.verdict()
        if ties == "lowest":
            return np.asarray(winner != self._y, dtype=float)
        return np.asarray((tied - has_truth) / tied)

    def error(self, ties: Ties = "expected") -> float:
        """Return the vote's mean error; see :meth:`sample_errors`."""
        return float(self.sample_errors(ties).mean())

    def accuracy(self, ties: Ties = "expected") -> float:
        """Return the share of samples voted right; see :meth:`sample_errors`."""
        return 1.0 - self.error(ties)

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

    # Fewer or plainer votes

    def keep(self, members: Any) -> "Votes":
        """Return the votes of some members.

        Parameters
        ----------
        members : array-like of bool of shape (n_members,), or array-like of int
            A mask, or positions in the order wanted.

        Examples
        --------
        >>> from quorate import Votes
        >>> votes = Votes([[0, 1], [1, 1], [0, 0]], [0, 1], names=["a", "b", "c"])
        >>> votes.keep([2, 0]).names
        ('c', 'a')
        """
        chosen = member_positions(members, self.n_members)
        return Votes._from_codes(
            self._codes[chosen],
            self._y,
            self._classes,
            None if self._weights is None else self._weights[chosen],
            [self._names[member] for member in chosen],
            self._masked,
            self._samples,
            None
            if self._probabilities is None
            else part_of(self._probabilities, chosen, None),
        )

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
        return Votes._from_codes(
            self._codes,
            self._y,
            self._classes,
            weights,
            self._names,
            self._masked,
            self._samples,
            self._probabilities,
        )

    # Files

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a ``.npz`` file, without pickle, replacing the old one in one step."""
        from quorate.votes._files import save

        save(self, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "Votes":
        """Read a file written by :meth:`save`; nothing in it is executed.

        Examples
        --------
        >>> import tempfile, pathlib
        >>> from quorate import Votes
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "votes.npz"
        >>> Votes([[0, 1], [1, 1]], [0, 1], names=["tree", "knn"]).save(path)
        >>> Votes.load(path).names
        ('tree', 'knn')
        """
        from quorate.votes._files import load

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
            A CSV file (may be gzipped), a Parquet file, or a frame.
        label : str
            The column of true labels.
        members : sequence of str, optional
            The columns of votes; all others by default.
        weights : array-like, optional
            Voting weights of the members.

        Examples
        --------
        >>> import pandas as pd
        >>> from quorate import Votes
        >>> frame = pd.DataFrame({"tree": [0, 1], "knn": [1, 1], "y": [0, 1]})
        >>> Votes.from_table(frame, label="y").names
        ('tree', 'knn')
        """
        from quorate.votes._files import from_table

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
            f"{_count(self.n_classes, 'class', 'classes')}{extras}; "
            f"members {self.accuracies.mean():.1%} correct, "
            f"their vote {self.accuracy():.1%})".replace("%", " %")
        )

    def _repr_html_(self) -> str:
        from quorate.votes._html import votes_html

        return votes_html(self)


def _count(number: int, one: str, many: str | None = None) -> str:
    return f"{number} {one if number == 1 else many or one + 's'}"
