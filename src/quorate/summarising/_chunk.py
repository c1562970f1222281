"""The summary of one batch: voted on in chunks, so that memory stays small."""

import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from quorate._batches import Batch
from quorate._rows import count_rows, cut_rows
from quorate._typing import Array, FloatArray, IntArray
from quorate.choosing import Selection
from quorate.ensembles import (
    Ensemble,
    ask_members,
    drawn_rows,
    may_be_training_rows,
    read_ensemble,
    trained_on,
)
from quorate.exceptions import BatchError, LeftOutWarning
from quorate.votes import (
    Rivals,
    Summary,
    Votes,
    VoteSource,
    as_labels,
    prefix_errors,
)

# Votes on so many samples at a time: few enough to stay small, enough to be quick.
_MOST_ROWS, _FEWEST_ROWS, _VOTES = 1 << 16, 1 << 10, 1 << 26


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked about every batch; it may travel to another process."""

    model: Any
    """The ensemble that votes."""
    against: Any = None
    """The model, or the order of members, that it is compared with."""
    source: VoteSource | None = None
    """What the samples are to the members, if that is known."""
    out_of_bag: bool = False
    """Whether the batches are the training rows in order, of which each member is
    asked about those it has not seen."""

    def opened(self) -> "Asked":
        """Return the question with its models read, once for many batches."""
        ensemble = read_ensemble(self.model)
        drawn = _drawn(ensemble) if self.out_of_bag else None
        rival = rivals_of(ensemble, self.against)
        return Asked(ensemble, rival, self.source, drawn)


@dataclass(frozen=True, slots=True)
class Asked:
    """A question whose models have been read."""

    ensemble: Ensemble
    rival: "Rival | None"
    source: VoteSource | None
    drawn: list[IntArray] | None
    """The rows that each member was trained on, sorted, for out-of-bag votes."""

    @property
    def chunk_rows(self) -> int:
        """Samples to vote on at a time."""
        return max(_FEWEST_ROWS, min(_MOST_ROWS, _VOTES // self.ensemble.n_members))

    def about(self, batch: Batch, start: int = 0) -> tuple[Summary, int]:
        """Return the summary of a batch, and how many rows it has.

        Positions in it count from its own first row; ``start`` says which training row
        that is, for out-of-bag votes.
        """
        try:
            total: Summary | None = None
            rows = 0
            for X, y in batch.read(self.chunk_rows):
                part, n_rows = self.about_samples(X, y, start + rows)
                part = part.shifted(rows)
                total = part if total is None else total + part
                rows += n_rows
            if total is None:
                raise ValueError("it has no rows")
        except BatchError:
            raise
        # Whatever goes wrong with a batch, its name is what helps to find it.
        except Exception as error:
            raise BatchError(f"{batch.name}: {reason(error)}.") from error
        return total, rows

    def about_samples(self, X: Any, y: Any, start: int = 0) -> tuple[Summary, int]:
        """Return the summary of samples, and how many they are."""
        truth = as_labels(y, "y")
        n_rows = count_rows(X)
        if truth.ndim != 1 or truth.size != n_rows:
            raise ValueError(
                f"X has {n_rows} samples, y has shape {truth.shape}; one label per row"
            )
        if n_rows == 0:
            raise ValueError("it has no rows")
        prepared = self.ensemble.prepare(X)
        source = self.source
        if source is None and self.drawn is None:
            source = self._source(prepared, truth)
        total: Summary | None = None
        for rows in _chunks(n_rows, self.chunk_rows):
            votes = self._votes(cut_rows(prepared, rows), truth[rows], source, start)
            start += rows.stop - rows.start
            if not votes.n_samples:
                continue  # a few rows at the end that everybody was trained on
            part = votes.summary(rows.start)
            if self.rival is not None:
                counted = self.rival.beside(votes, cut_rows(X, rows))
                part = replace(part, rivals=counted)
            total = part if total is None else total + part
        if total is None:
            raise ValueError(
                "every member was trained on all of its rows; take larger batches"
            )
        return total, n_rows

    def _votes(
        self, prepared: Any, y: Array, source: VoteSource | None, start: int
    ) -> Votes:
        """Ask the members about some samples, or each about those it has not seen."""
        if self.drawn is None:
            return ask_members(self.ensemble, prepared, y, source=source)
        rows = np.arange(start, start + y.size)
        n_rows = len(self.drawn[0])
        if not may_be_training_rows(self.ensemble, prepared, y, rows, n_rows):
            raise ValueError(
                f"rows {start:,} to {rows[-1]:,} are not those that the members were "
                "trained on"
            )
        unseen = [_others(drawn, start, y.size) for drawn in self.drawn]
        with warnings.catch_warnings():
            # A few rows that everybody was trained on say nothing.
            warnings.simplefilter("ignore", LeftOutWarning)
            return ask_members(
                self.ensemble,
                prepared,
                y,
                unseen=unseen,
                source=VoteSource.OUT_OF_BAG,
            )

    def _source(self, prepared: Any, y: Array) -> VoteSource:
        if trained_on(self.ensemble, prepared, y):
            return VoteSource.TRAINING
        return VoteSource.OTHER


def _drawn(ensemble: Ensemble) -> list[IntArray]:
    """Return the training rows of each member, sorted."""
    drawn = drawn_rows(ensemble)
    if drawn is None or not ensemble.is_of_trees:
        raise ValueError(
            "summarise(out_of_bag=True): needs an ensemble of trees that were trained "
            "on bootstrap samples; give rows that no member was trained on."
        )
    return [np.sort(rows) for rows in drawn]


def _others(drawn: IntArray, start: int, n_rows: int) -> IntArray:
    """Return which of consecutive rows are not among those drawn."""
    first, last = np.searchsorted(drawn, [start, start + n_rows])
    left = np.ones(n_rows, dtype=bool)
    left[drawn[first:last] - start] = False
    return np.flatnonzero(left)


def _chunks(n_rows: int, size: int) -> Iterator[slice]:
    for start in range(0, n_rows, size):
        yield slice(start, min(start + size, n_rows))


def reason(error: Exception) -> str:
    """Return what an error says, on one line and without its full stop."""
    return " ".join(str(error).split()).rstrip(". ") or type(error).__name__


@dataclass(frozen=True, slots=True)
class Rival:
    """What the ensemble is compared with."""

    sizes: IntArray
    order: IntArray | None
    weights: FloatArray | None = None
    """For an order: the weights of all members, where it chose new ones."""
    model: Any = None
    """A model that is asked itself; None where the votes of the members tell."""

    def beside(self, votes: Votes, X: Any) -> Rivals:
        """Count on which samples they err and the ensemble does not, or the reverse."""
        mine = votes.decisions()
        whole = np.asarray(mine != votes.y)
        if self.model is not None:
            theirs = np.asarray(self.model.predict(X))
            labels = votes.classes
            wrong = [np.asarray(theirs != labels[votes.y])]
            same = [int(np.count_nonzero(theirs == labels[mine]))]
        elif self.sizes.size == 1:
            assert self.order is not None
            members = np.sort(self.order)
            part = votes if self.weights is None else votes.reweighted(self.weights)
            decided = part.keep(members).decisions()
            wrong = [np.asarray(decided != votes.y)]
            same = [int(np.count_nonzero(decided == mine))]
        else:
            assert self.order is not None
            errors = prefix_errors(votes, self.order, None, "lowest")
            wrong = [np.asarray(each > 0) for each in errors][::-1]
            # How often sizes agree with the whole is not asked of a certificate.
            same = [0] * len(wrong)
        return Rivals.count(
            wrong,
            whole,
            same,
            self.sizes,
            self.order,
            self.weights,
            y=votes.y,
            n_classes=votes.n_classes,
        )


def rivals_of(ensemble: Ensemble, against: Any) -> Rival | None:
    """Read what the ensemble is compared with: a model, or an order of its members."""
    if against is None:
        return None
    if isinstance(against, Selection):
        return _chosen(against)
    if _are_positions(against):
        return _ordered(np.asarray(against), ensemble.n_members)
    small = read_ensemble(against)
    if not callable(getattr(against, "predict", None)):
        raise TypeError(
            f"summarise(against): a {type(against).__name__} cannot predict by itself; "
            "give a model, a Selection or an order of members."
        )
    kept = _places(small, ensemble)
    alike = (
        kept is not None
        and against is small.model
        and small.kind is ensemble.kind
        and small.rule == ensemble.rule
        and (small.weights is None) == (ensemble.weights is None)
    )
    if alike and kept is not None and small.weights is not None:
        assert ensemble.weights is not None
        alike = np.array_equal(small.weights, ensemble.weights[kept])
    sizes = np.array([small.n_members])
    if alike and kept is not None and kept.size < ensemble.n_members:
        return Rival(sizes, kept)
    record = getattr(small.core, "pruning_", None) or {}
    listed = record.get("kept")
    order = None if listed is None else np.asarray(listed, dtype=np.int64)
    if order is not None and order.size == ensemble.n_members:
        order = None  # all of them, but maybe with other weights
    return Rival(sizes, order, model=against)


def _places(small: Ensemble, big: Ensemble) -> IntArray | None:
    """Return where the members of one are among those of the other; None if not."""
    known = {id(member.estimator): at for at, member in enumerate(big.members)}
    found = [known.get(id(member.estimator)) for member in small.members]
    if len(known) < big.n_members or None in found:
        return None
    places = np.array(found, dtype=np.int64)
    return places if (np.diff(places) > 0).all() else None


def _chosen(selection: Selection) -> Rival:
    order = np.asarray(selection.order, dtype=np.int64)
    pruner = selection.pruner
    nested = pruner.has_order and pruner.tags.nested and not pruner.tags.chooses_weights
    if not nested:
        return Rival(np.array([order.size]), order, selection.weights)
    return Rival(np.arange(order.size, 0, -1), order)


def _are_positions(given: Any) -> bool:
    if isinstance(given, list):
        return bool(given) and all(isinstance(one, (int, np.integer)) for one in given)
    return isinstance(given, np.ndarray) and given.dtype.kind in "iu"


def _ordered(order: IntArray, n_members: int) -> Rival:
    fits = order.ndim == 1 and order.size and np.unique(order).size == order.size
    if not fits or order.min() < 0 or order.max() >= n_members:
        raise ValueError(
            "summarise(against): an order has positions of members, each once, 0 to "
            f"{n_members - 1}."
        )
    return Rival(np.arange(order.size, 0, -1), order.astype(np.int64))
