"""The summary of one batch: voted on in chunks, so that memory stays small."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from quorate._choosing import Selection
from quorate._data import Batch, RowDigest, named_batch
from quorate._typing import FloatArray, IntArray
from quorate._votes import (
    PairedCounts,
    PairedErrors,
    Summary,
    Votes,
    prefix_predictions,
)
from quorate.ensembles import (
    BatchVoter,
    Ensemble,
    RowSource,
    batch_source,
    check_pair,
    places_among,
    read_ensemble,
    recorded_rows,
    same_members,
)


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked about every batch; it may travel to another process."""

    model: Any
    """The ensemble that votes."""
    against: Any = None
    """The model, or the order of members, that it is compared with."""
    source: RowSource = "auto"
    """What the caller says the samples are to the members."""
    in_order: bool = True
    """Whether batches come in their order, so that training rows have numbers."""

    def opened(self) -> "Asked":
        """Return the question with its models read, once for many batches."""
        ensemble = read_ensemble(self.model)
        out_of_bag = "auto" if self.in_order else False
        kind, drawn = batch_source(ensemble, self.source, out_of_bag, "summarise")
        rival = rivals_of(ensemble, self.against, self.source)
        return Asked(BatchVoter(ensemble, kind, drawn), rival)


@dataclass(frozen=True, slots=True)
class Answer:
    """What is known of a batch once it has been voted on."""

    summary: Summary
    """Positions in it count from the first row of the batch."""
    n_rows: int


@dataclass(frozen=True, slots=True)
class Asked:
    """A question whose models have been read."""

    voter: BatchVoter
    rival: "Rival | None"

    @property
    def ensemble(self) -> Ensemble:
        """The ensemble that votes."""
        return self.voter.ensemble

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
            rows = 0
            for X, y in batch.parts(self.chunk_rows):
                part = self.about_samples(X, y, start + rows)
                moved = part.summary.shifted(rows)
                total = moved if total is None else total + moved
                rows += part.n_rows
        assert total is not None  # a batch without rows is refused
        return Answer(total, rows)

    def about_samples(self, X: Any, y: Any, start: int = 0) -> Answer:
        """Return the summary of samples."""
        prepared, truth = self.voter.prepared(X, y)
        total: Summary | None = None
        for chunk in self.voter.voted(X, prepared, truth, start):
            part = chunk.votes.summary(chunk.start)
            if self.rival is not None:
                rivals = self.rival.beside(chunk.votes, chunk.X)
                part = replace(part, rivals=rivals)
            total = part if total is None else total + part
        assert total is not None  # no votes at all are refused
        return Answer(total, int(truth.size))


@dataclass(frozen=True, slots=True)
class Rival:
    """What the ensemble is compared with."""

    sizes: IntArray
    order: IntArray | None
    weights: FloatArray | None = None
    """For an order: the weights of all members, where it chose new ones."""
    model: Any = None
    """A model that is asked itself; None where the votes of the members tell."""
    chosen_on_rows: tuple[str, ...] = ()
    """Digests of the rows that members of either were chosen, or distilled, on."""

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
            rows=RowDigest.of(X) if self.chosen_on_rows else None,
            chosen_on_rows=self.chosen_on_rows,
        )


def is_summary_of(summary: Summary, ensemble: Ensemble) -> bool:
    """Tell whether members and classes are those of an ensemble, by their names."""
    classes = [] if ensemble.classes is None else ensemble.classes.tolist()
    known = set(classes) <= set(summary.classes.tolist())
    return known and list(summary.names) == ensemble.names


def rivals_of(
    ensemble: Ensemble, against: Any, source: RowSource = "auto"
) -> Rival | None:
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
    sizes = np.array([small.n_members])
    rows = () if source == "new" else recorded_rows([ensemble, small])
    if alike and kept is not None and kept.size < ensemble.n_members:
        return Rival(sizes, kept, chosen_on_rows=rows)
    order = places_among(against, small, ensemble)
    return Rival(sizes, order, model=against, chosen_on_rows=rows)


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
