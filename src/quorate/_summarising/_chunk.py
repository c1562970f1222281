"""The summary of one batch: voted on in chunks, so that memory stays small."""

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from quorate._choosing import Selection
from quorate._data import Batch, named_batch
from quorate._typing import FloatArray, IntArray
from quorate._votes import (
    PairedCounts,
    PairedErrors,
    Summary,
    Votes,
    VoteSource,
    prefix_predictions,
)
from quorate.ensembles import (
    BatchVoter,
    Ensemble,
    LeafNotes,
    RowMarks,
    check_pair,
    digests,
    joined_notes,
    marked_votes,
    marks_of,
    model_digest,
    places_among,
    read_ensemble,
    rows_of_bags,
    same_members,
    shared_rows,
    shared_votes,
)


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
    with_notes: bool = False
    """Whether it is noted where samples come to, to know training samples again."""

    def opened(self) -> "Asked":
        """Return the question with its models read, once for many batches."""
        ensemble = read_ensemble(self.model)
        drawn = rows_of_bags(ensemble, "summarise") if self.out_of_bag else None
        rival = rivals_of(ensemble, self.against)
        voter = BatchVoter(ensemble, self.source, drawn)
        return Asked(voter, rival, self.with_notes)


@dataclass(frozen=True, slots=True)
class Answer:
    """What is known of a batch once it has been voted on."""

    summary: Summary
    """Positions in it count from the first row of the batch."""
    n_rows: int
    notes: LeafNotes | None


@dataclass(frozen=True, slots=True)
class Asked:
    """A question whose models have been read."""

    voter: BatchVoter
    rival: "Rival | None"
    with_notes: bool = False
    _learned: list[tuple[str, ...]] = field(default_factory=list)

    @property
    def ensemble(self) -> Ensemble:
        """The ensemble that votes."""
        return self.voter.ensemble

    @property
    def learned(self) -> tuple[str, ...]:
        """Digests of what the members have learned, made when the first are needed."""
        self._learned[:] = self._learned or [tuple(digests(self.ensemble))]
        return self._learned[0]

    @property
    def drawn(self) -> list[IntArray] | None:
        """The rows that each member was trained on, for out-of-bag votes."""
        return self.voter.drawn

    @property
    def chunk_rows(self) -> int:
        """Samples to vote on at a time."""
        return self.voter.chunk_rows

    def about(self, batch: Batch, start: int = 0) -> Answer:
        """Return the summary of a batch.

        ``start`` says which training row its first row is, for out-of-bag votes.
        """
        with named_batch(batch.name):
            total: Summary | None = None
            rows, notes = 0, []
            for X, y in batch.parts(self.chunk_rows):
                part = self.about_samples(X, y, start + rows)
                moved = part.summary.shifted(rows)
                total = moved if total is None else total + moved
                notes.append(part.notes)
                rows += part.n_rows
        assert total is not None  # a batch without rows is refused
        known = [note for note in notes if note is not None]
        whole = joined_notes(known) if len(known) == len(notes) else None
        return Answer(total, rows, whole)

    def noted(self, batch: Batch) -> LeafNotes | None:
        """Return notes on a batch that was voted on in an earlier pass.

        None where it would have to be read from a file again.
        """
        if not self.with_notes or batch.n_rows is None:
            return None
        with named_batch(batch.name):
            ((X, y),) = batch.parts(self.chunk_rows)
            return self.voter.noted(self.voter.prepared(X, y)[0])

    def about_samples(self, X: Any, y: Any, start: int = 0) -> Answer:
        """Return the summary of samples."""
        prepared, truth = self.voter.prepared(X, y)
        total: Summary | None = None
        for chunk in self.voter.voted(X, prepared, truth, start):
            counted = chunk.votes.summary(chunk.start)
            part = replace(counted, learned=self.learned)
            if self.rival is not None:
                rivals = self.rival.beside(chunk.votes, chunk.X)
                part = replace(part, rivals=rivals)
            total = part if total is None else total + part
        assert total is not None  # no votes at all are refused
        notes = self.voter.noted(prepared) if self.with_notes else None
        return Answer(total, int(truth.size), notes)


@dataclass(frozen=True, slots=True)
class Rival:
    """What the ensemble is compared with."""

    sizes: IntArray
    order: IntArray | None
    weights: FloatArray | None = None
    """For an order: the weights of all members, where it chose new ones."""
    model: Any = None
    """A model that is asked itself; None where the votes of the members tell."""
    learned: str | None = None
    """Digest of the model, whoever is asked; None for an order."""
    marks: tuple[RowMarks, ...] = ()
    """Rows that members of either were chosen on."""
    chosen_on: RowMarks | None = None
    """Votes that a selection was made on, where that is the rival."""

    def beside(self, votes: Votes, X: Any) -> PairedErrors:
        """Count on which samples they err and the ensemble does not, or the reverse."""
        mine, labels = votes.decisions(), votes.classes
        whole = np.asarray(mine != votes.y)
        kinds = None
        if self.model is not None:
            theirs = np.asarray(self.model.predict(X))
            wrong = [np.asarray(theirs != labels[votes.y])]
            same = [int(np.count_nonzero(theirs == labels[mine]))]
            decided = np.minimum(np.searchsorted(labels, theirs), labels.size - 1)
            if (labels[decided] == theirs).all():
                kinds = PairedCounts.count(votes.y, mine, decided)
        elif self.sizes.size == 1:
            assert self.order is not None
            members = np.sort(self.order)
            part = votes if self.weights is None else votes.reweighted(self.weights)
            decided = part.keep(members).decisions()
            wrong = [np.asarray(decided != votes.y)]
            same = [int(np.count_nonzero(decided == mine))]
            kinds = PairedCounts.count(votes.y, mine, decided)
        else:
            assert self.order is not None
            prefixes = prefix_predictions(votes, self.order)
            wrong = [np.asarray(p.errors("lowest") > 0) for p in prefixes][::-1]
            # How often sizes agree with the whole is not asked of a certificate.
            same = [0] * len(wrong)
        return PairedErrors.count(
            wrong,
            whole,
            same,
            self.sizes,
            self.order,
            self.weights,
            y=votes.y,
            n_classes=votes.n_classes,
            kinds=kinds,
            learned=self.learned,
            n_chosen_on=self._shared(votes, X),
        )

    def _shared(self, votes: Votes, X: Any) -> float:
        """Return how many samples the members of either were chosen on."""
        shared = shared_rows(self.marks, X, votes.classes[votes.y])
        if self.chosen_on is None:
            return shared
        return max(shared, shared_votes(self.chosen_on, votes))


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
    check_pair(ensemble, small, "summarise(against)")
    kept = same_members(small, ensemble)
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
    sizes, learned = np.array([small.n_members]), model_digest(small)
    both = (ensemble.model, ensemble), (against, small)
    marks = tuple(each for pair in both for each in marks_of(*pair))
    if alike and kept is not None and kept.size < ensemble.n_members:
        return Rival(sizes, kept, learned=learned, marks=marks)
    order = places_among(against, small, ensemble)
    return Rival(sizes, order, model=against, learned=learned, marks=marks)


def _chosen(selection: Selection) -> Rival:
    order = np.asarray(selection.order, dtype=np.int64)
    pruner = selection.pruner
    nested = pruner.has_order and pruner.tags.nested and not pruner.tags.chooses_weights
    chosen_on = marked_votes(selection.votes)
    if not nested:
        sizes = np.array([order.size])
        return Rival(sizes, order, selection.weights, chosen_on=chosen_on)
    return Rival(np.arange(order.size, 0, -1), order, chosen_on=chosen_on)


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
