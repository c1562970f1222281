"""Collect votes batch by batch; only the votes are kept, not the samples."""

import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np

from quorate._data import (
    SampleForm,
    as_dask_task,
    as_source,
    compute_named,
    count_rows,
    cut_rows,
    is_dask,
    named_batch,
    partitions,
)
from quorate._ensembles._evaluate import evaluate_members
from quorate._ensembles._kind import Ensemble
from quorate._ensembles._rows import RowSource, check_row_numbers, out_of_bag_rows
from quorate._typing import Array, IntArray
from quorate._votes import (
    Votes,
    VoteSource,
    as_labels,
    check_same_family,
    joined_votes,
    renumber,
    warn_left_out,
)
from quorate.exceptions import BatchError, LeftOutWarning

# Samples per chunk: small enough for memory, large enough for speed.
_MOST_ROWS, _FEWEST_ROWS, _VOTES = 1 << 16, 1 << 10, 1 << 26


@dataclass(frozen=True, slots=True, eq=False)
class VotedChunk:
    """The votes on some consecutive samples of a batch.

    Attributes
    ----------
    X : object
        The samples.
    start : int
        Position of the first one among the given samples.
    """

    votes: Votes
    X: Any
    start: int


@dataclass(frozen=True, slots=True)
class BatchVoter:
    """An ensemble that votes on batches.

    Attributes
    ----------
    source : VoteSource
        The source of the samples.
    drawn : list of array, optional
        The rows that each member was trained on, sorted, for out-of-bag votes.
    """

    ensemble: Ensemble
    source: VoteSource = VoteSource.ASSUMED_NEW
    drawn: list[IntArray] | None = None
    probabilities: bool | None = None
    n_jobs: int | None = None

    @property
    def chunk_rows(self) -> int:
        """Samples to vote on at a time."""
        return max(_FEWEST_ROWS, min(_MOST_ROWS, _VOTES // self.ensemble.n_members))

    def prepared(self, X: Any, y: Any) -> tuple[Any, Array]:
        """Validate samples and labels, and convert the samples for the ensemble."""
        truth = as_labels(y, "y")
        n_rows = count_rows(X)
        if truth.ndim != 1 or truth.size != n_rows:
            raise ValueError(
                f"X has {n_rows} samples, y has shape {truth.shape}; y must have one "
                "label per row"
            )
        if n_rows == 0:
            raise ValueError("it has no rows")
        known = self.ensemble.classes
        if known is not None:
            owner = "the ensemble's classes"
            check_same_family(as_labels(known, owner), truth, owner, "y")
        return self.ensemble.prepare(X), truth

    def voted(
        self, X: Any, prepared: Any, truth: Array, start: int = 0
    ) -> Iterator[VotedChunk]:
        """Yield the votes on samples, one chunk at a time.

        ``start`` is the training row number of the first sample, for out-of-bag votes.
        """
        some = False
        for rows in _chunks(truth.size, self.chunk_rows):
            votes = self._votes(
                cut_rows(prepared, rows), truth[rows], start + rows.start
            )
            if not votes.n_samples:
                continue  # a few rows at the end that everybody was trained on
            some = True
            yield VotedChunk(votes, cut_rows(X, rows), rows.start)
        if not some:
            raise ValueError(
                "every member was trained on all of its rows; use larger batches"
            )

    def _votes(self, prepared: Any, y: Array, start: int) -> Votes:
        """Evaluate the members on samples, out of bag if row numbers are known."""
        unseen = None
        if self.drawn is not None:
            unseen = [_others(drawn, start, y.size) for drawn in self.drawn]
        with warnings.catch_warnings():
            # Rows that every member was trained on have no out-of-bag votes.
            warnings.simplefilter("ignore", LeftOutWarning)
            return evaluate_members(
                self.ensemble,
                prepared,
                y,
                unseen=unseen,
                source=self.source,
                n_jobs=self.n_jobs,
                probabilities=self.probabilities,
            )


def batch_check(ensemble: Ensemble) -> Callable[[Any, Any], Array]:
    """Return a function that rejects batches without usable votes.

    For the other batches it returns the labels.
    """
    voter, before = BatchVoter(ensemble), list[Array]()

    def check(X: Any, y: Any) -> Array:
        _, truth = voter.prepared(X, y)
        # A pool may not define classes.
        before[:] = before or [truth[:1]]
        check_same_family(before[0], truth, "the first batch", "y")
        return truth

    return check


def batch_source(
    ensemble: Ensemble, source: RowSource, out_of_bag: bool | str, owner: str
) -> tuple[VoteSource, list[IntArray] | None]:
    """Return the source of batches, and each member's training rows if out of bag.

    The rows are not examined: by default they are assumed to be new.

    Parameters
    ----------
    ensemble : Ensemble
    source : {"auto", "new", "training"}
        The source declared by the caller.
    out_of_bag : {True, False, "auto"}
        Whether the batches are all training rows in their order; "auto" if the caller
        declares training rows.
    owner : str
        Name of the caller, for error messages.
    """
    drawn = None
    if out_of_bag is True or (out_of_bag and source == "training"):
        drawn = out_of_bag_rows(ensemble)
    if drawn is not None:
        return VoteSource.OUT_OF_BAG, [np.sort(rows) for rows in drawn]
    if out_of_bag is True:
        raise ValueError(
            f"{owner}(out_of_bag=True): needs an ensemble that was trained on "
            "bootstrap samples and records which rows its members left out; otherwise, "
            "give rows that no member was trained on."
        )
    return {
        "auto": VoteSource.ASSUMED_NEW,
        "new": VoteSource.NEW,
        "training": VoteSource.TRAINING,
    }[source], None


def _others(drawn: IntArray, start: int, n_rows: int) -> IntArray:
    """Return which of the consecutive rows were not drawn."""
    first, last = np.searchsorted(drawn, [start, start + n_rows])
    left = np.ones(n_rows, dtype=bool)
    left[drawn[first:last] - start] = False
    return np.flatnonzero(left)


def _chunks(n_rows: int, size: int) -> Iterator[slice]:
    for start in range(0, n_rows, size):
        yield slice(start, min(start + size, n_rows))


_OWNER = "collect_votes"
# Votes, and the number of rows they cover.
Part = tuple[Votes, int]


def collect_from_batches(
    ensemble: Ensemble,
    batches: Any,
    *,
    target: str | None,
    out_of_bag: bool | str,
    source: RowSource,
    n_jobs: int | None,
    probabilities: bool | None,
) -> Votes:
    """Return the votes on all samples of some batches; see :func:`collect_votes`."""
    in_order = not is_dask(batches)
    if out_of_bag is True and not in_order:
        raise ValueError(
            f"{_OWNER}(out_of_bag=True): it is not known which training rows the "
            "partitions contain; pass batches in order, or rows that no member was "
            "trained on."
        )
    kind, drawn = batch_source(
        ensemble, source, out_of_bag if in_order else False, _OWNER
    )
    voter = BatchVoter(
        ensemble, kind, drawn, probabilities=probabilities, n_jobs=n_jobs
    )
    form = SampleForm.for_models(ensemble.model)
    parts: Iterator[Part]
    if in_order:
        given = as_source(batches, _OWNER, target, form=form)
        parts = _here(voter, given.batches)
    else:
        pieces = partitions(batches, _OWNER, target, as_frame=form.as_frame)
        parts = _on_dask(voter, pieces)
    found, rows = _all_of(parts)
    if drawn is not None:
        check_row_numbers(ensemble, drawn, rows, f"{_OWNER}(out_of_bag=True)")
    if found.n_samples < rows:
        warn_left_out(found.n_samples, rows)
    return found


def _all_of(parts: Iterator[Part]) -> Part:
    """Join the votes of all parts."""
    stack: list[Votes] = []
    rows = 0
    try:
        for votes, n_rows in parts:
            stack.append(renumber(votes, np.arange(rows, rows + n_rows)))
            _join_last(stack)
            rows += n_rows
    except BatchError as error:
        raise BatchError(f"{_OWNER}: {error} (nothing is kept)") from error
    if not stack:
        raise ValueError(f"{_OWNER}: there are no batches.")
    return joined_votes(stack), rows


def _here(voter: BatchVoter, batches: Iterable[Any]) -> Iterator[Part]:
    rows = 0
    for batch in batches:
        with named_batch(batch.name):
            for X, y in batch.parts(voter.chunk_rows):
                votes, n_rows = _votes_on(voter, X, y, rows)
                rows += n_rows
                yield votes, n_rows


def _votes_on(voter: BatchVoter, X: Any, y: Any, start: int = 0) -> Part:
    prepared, truth = voter.prepared(X, y)
    votes = joined_votes(
        [
            renumber(chunk.votes, np.arange(chunk.start, truth.size))
            for chunk in voter.voted(X, prepared, truth, start)
        ]
    )
    return votes, int(truth.size)


def _join_last(stack: list[Votes]) -> None:
    """Join parts of similar size, so that none is copied often."""
    while len(stack) > 1 and stack[-2].n_samples <= 2 * stack[-1].n_samples:
        last = stack.pop()
        stack[-1] = joined_votes([stack[-1], last])


def _on_dask(voter: BatchVoter, pieces: list[tuple[Any, Any]]) -> Iterator[Part]:
    """Evaluate partitions on the Dask workers and gather the votes."""
    dask: Any = import_module("dask")  # has no types
    models = as_dask_task(voter)
    ask = dask.delayed(_of_partition, pure=False)
    tasks = [ask(models, at, X, y) for at, (X, y) in enumerate(pieces)]
    found = [part for part in compute_named(tasks, pieces) if part is not None]
    if not found:
        raise ValueError(f"{_OWNER}: the partitions have no rows.")
    yield from found


def _of_partition(voter: BatchVoter, at: int, X: Any, y: Any) -> Part | None:
    if len(y) == 0:
        return None  # what a filter left nothing of
    with named_batch(f"partition {at}"):
        return _votes_on(voter, X, y)
