"""Votes: the predictions of every member for every sample, and the true labels."""

import os
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from quorate._checks import check_names, check_type, one_of
from quorate._typing import Array, BoolArray, FloatArray, IntArray, Outputs, Ties
from quorate._votes._checks import (
    as_mask,
    as_rows,
    as_weights,
    check_mask,
    frozen,
    leave_out_unvoted,
    member_positions,
    read_only,
    sample_positions,
    weights_left,
)
from quorate._votes._counts import (
    COUNT,
    LARGEST,
    PairCounts,
    confusion,
    once,
    sample_counts,
    sample_weights,
    tally,
    verdict,
)
from quorate._votes._labels import (
    add_classes,
    as_labels,
    encode_rows,
    positions,
    refuse_probabilities,
)
from quorate._votes._predictions import predicted_codes
from quorate._votes._probabilities import (
    Probabilities,
    TabledProbabilities,
    check_probabilities,
    column_labels,
)
from quorate._votes._rule import (
    PLURALITY,
    DecisionRule,
    Heads,
    VoteSource,
    find_rule,
    why_not_covered,
)
from quorate._votes._summary import (
    MASKED_SUMS,
    MEMBER_SUMS,
    VOTE_SUMS,
    Counted,
    Summary,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


# No slots: with them, Python before 3.11.4 replaces __getstate__ and __setstate__.
@dataclass(frozen=True, eq=False, repr=False, init=False)
class Votes(Counted):
    """The votes of an ensemble's members on labelled samples.

    Measures, decomposition, risk and pruning methods take a ``Votes`` and never modify
    it. Its arrays are read-only.

    Parameters
    ----------
    predictions : array-like of shape (n_members, n_samples)
        The label that each member predicts for each sample: text, numbers or dates.
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
        The members' class probabilities. If given, the ensemble is assumed to average
        probabilities; votes, diversity and the plurality vote do not change. Values
        where ``valid`` is False are ignored.
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

    names: tuple[str, ...]
    classes: Array
    weights: FloatArray | None
    decision_rule: DecisionRule
    source: VoteSource | None
    family: str | None
    codes: Array
    y: Array
    samples: IntArray
    class_probabilities: Probabilities | None
    is_masked: bool
    left_out: IntArray
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
        classes: Any = None,
    ) -> None:
        columns = column_labels(classes, probabilities)
        mask = None if valid is None else as_mask(valid)
        truth = as_labels(y, "y")
        rows = as_rows(predictions, mask, truth)
        known, codes, y_codes = encode_rows(rows, truth, mask)
        refuse_probabilities(known, known[np.unique(y_codes)], "Votes")
        if columns is not None:
            known, codes, y_codes = add_classes(known, codes, y_codes, [columns])
        shares = None
        if probabilities is not None:
            places: IntArray = np.arange(known.size)
            if columns is not None:
                places = positions(columns, known, "Votes(classes)")
            shares = check_probabilities(
                probabilities, codes.shape, known, mask, places
            )
        made = votes_from_codes(
            codes,
            y_codes,
            known,
            weights,
            names,
            is_masked=mask is not None,
            class_probabilities=shares,
            decision_rule=PLURALITY if shares is None else DecisionRule("average"),
        )
        self.__setstate__(made.__getstate__())

    def __getstate__(self) -> dict[str, Any]:
        # Cached values are not pickled.
        names = (field.name for field in fields(self))
        return {name: getattr(self, name) for name in names if name != "_cache"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        for name, value in {**state, "_cache": {}}.items():
            if isinstance(value, np.ndarray) and value.flags.writeable:
                value = read_only(value)
            object.__setattr__(self, name, value)

    def _sum(self, name: str) -> Any:
        return once(self, name, lambda: frozen(COUNT[name](self)))

    # What there is

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
    def probabilities(self) -> Array | None:
        """The members' class probabilities, or None if only votes were collected.

        Shape (n_members, n_samples, n_classes), float32, zero without a usable vote.
        """
        given = self.class_probabilities
        if given is None:
            return None
        return once(self, "probabilities", lambda: read_only(given.block(slice(None))))

    @property
    def why_unreliable(self) -> str:
        """Why errors on these votes do not estimate errors on new data, or empty.

        Out-of-bag votes have to cover every class.
        """
        if self.source is not VoteSource.OUT_OF_BAG:
            return "" if self.source is None else self.source.why_unreliable
        _, cast = sample_counts(self)
        return why_not_covered(
            self.y, cast, self.left_out, self.classes, self.n_members
        )

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
        return tally(self)

    def pairs(self, outputs: Outputs = "oracle") -> PairCounts:
        """Return the contingency tables of all pairs of members.

        Parameters
        ----------
        outputs : {"oracle", "label"}
            Tables of right and wrong, or of the two classes voted for.
        """
        from quorate._votes.totals import pairs  # it knows votes and summaries

        return pairs(self, outputs)

    # Predictions

    def predict(self, rule: Heads | None = None) -> Array:
        """Return the labels that the ensemble predicts.

        Parameters
        ----------
        rule : {"heads"}, optional
            The ensemble's own rule by default; "heads" for the (weighted) plurality
            vote, the lowest class of a tie.
        """
        return np.asarray(self.classes[predicted_codes(self, rule)])

    def mean_probabilities(self) -> FloatArray:
        """Return the mean of the members' probabilities, (n_samples, n_classes).

        Weighted by the voting weights, over the usable votes of each sample.
        """
        given = self.class_probabilities
        if given is None:
            raise ValueError("mean_probabilities: these votes have no probabilities.")
        weights = self.weights
        if weights is None or self.has_equal_weights:  # as sample_weights has it
            weights = np.ones(self.n_members)
        total = np.zeros((self.n_samples, self.n_classes))
        for member, weight in enumerate(weights):
            total += weight * given.of(member)
        _, cast = sample_weights(self)
        return np.asarray(total / np.where(cast > 0, cast, 1)[:, None])

    def sample_errors(
        self, ties: Ties | None = None, rule: Heads | None = None
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
        rule : {"heads"}, optional
            The ensemble's own rule by default; "heads" for the plurality vote.
        """
        wanted = find_rule(self, "sample_errors", rule)
        how = wanted.ties if ties is None else ties
        one_of("sample_errors", "ties", how, ("expected", "lowest"))
        if how == "expected" and wanted.name == "heads":
            _, tied, has_truth = verdict(self)
            return np.asarray((tied - has_truth) / tied)
        errors = np.asarray(predicted_codes(self, rule) != self.y, dtype=float)
        if self.is_masked:
            _, cast = sample_counts(self)
            return np.where(cast == 0, 1 - 1 / self.n_classes, errors)
        return errors

    def error(self, ties: Ties | None = None, rule: Heads | None = None) -> float:
        """Return the mean error; see :meth:`sample_errors`."""
        return float(self.sample_errors(ties, rule).mean())

    def accuracy(self, ties: Ties | None = None, rule: Heads | None = None) -> float:
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
        return with_changes(
            self,
            codes=self.codes[chosen],
            weights=None
            if self.weights is None
            else weights_left(self.weights[chosen]),
            names=[self.names[member] for member in chosen],
            class_probabilities=self._probabilities_of(lambda old: old.keep(chosen)),
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
        return with_changes(
            self,
            codes=self.codes[:, rows],
            y=self.y[rows],
            samples=self.samples[rows],
            left_out=left_out,
            class_probabilities=self._probabilities_of(lambda old: old.at(rows)),
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
        voted = with_changes(
            self,
            codes=np.where(mask, self.codes, self.codes.dtype.type(-1)),
            is_masked=True,
            samples=None,
            class_probabilities=self._probabilities_of(lambda old: old.only(mask)),
        )
        # Positions refer to the original samples.
        return renumber(voted, self.samples)

    def _probabilities_of(
        self, change: "Callable[[Probabilities], Probabilities]"
    ) -> Probabilities | None:
        """Apply a change to the probabilities; certain ones follow from the votes."""
        given = self.class_probabilities
        return given if given is None or given.are_certain else change(given)

    def unweighted(self) -> "Votes":
        """Return the same votes without weights."""
        if self.weights is None:
            return self  # votes never change, and what was counted stays counted
        return with_changes(self, weights=None)

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
        sums["own"] = confusion(self, predicted_codes(self))
        if not self.has_equal_weights:
            equal = self.unweighted()
            sums |= {f"equal_{name}": equal._sum(name) for name in VOTE_SUMS}
            sums["margins"] = self._sum("margins")
        return Summary(
            names=self.names,
            classes=self.classes,
            weights=self.weights,
            decision_rule=self.decision_rule,
            source=self.source,
            family=self.family,
            sums=sums,
        ).shifted(start)

    # Files

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


def votes_from_codes(
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
) -> Votes:
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
    votes = Votes.__new__(Votes)
    votes.__setstate__(
        {
            "codes": codes,
            "y": y,
            "classes": classes,
            "weights": None if weights is None else as_weights(weights, len(codes)),
            "names": check_names("Votes(names)", names, len(codes)),
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


def with_changes(votes: Votes, **changes: Any) -> Votes:
    """Return a copy of votes with other weights, source, rule or samples.

    Examples
    --------
    >>> from quorate import Votes
    >>> votes = Votes([[0, 1], [1, 1], [1, 0]], [0, 1])
    >>> with_changes(votes, weights=[3, 1, 1]).accuracy()
    1.0
    """
    return votes_from_codes(**{**votes.__getstate__(), **changes})


def renumber(votes: Votes, positions: IntArray) -> Votes:
    """Return the votes with other positions: one for each sample that was given."""
    return with_changes(votes, samples=np.asarray(positions)[votes.samples])


def check_votes(votes: object, owner: str) -> None:
    """Raise ``TypeError`` unless these are votes."""
    if isinstance(votes, Summary):
        raise TypeError(
            f"{owner}: needs the votes on single samples, which a Summary does not "
            "contain; pass votes on a sample of the rows (prune draws one with "
            "max_samples)."
        )
    how = "quorate.collect_votes(ensemble, X, y) or quorate.Votes(predictions, y)"
    check_type(owner, votes, Votes, f"make them with {how}")


def check_counts(votes: object, owner: str) -> None:
    """Raise ``TypeError`` unless these are votes or a summary."""
    if not isinstance(votes, Summary):
        check_votes(votes, owner)
