"""The votes on samples that come in batches: votes are kept, samples are not."""

from collections.abc import Iterable, Iterator
from importlib import import_module
from typing import Any

import numpy as np

from quorate._data import (
    SampleForm,
    as_dask_task,
    as_source,
    compute_named,
    is_dask,
    named_batch,
    partitions,
)
from quorate._ensembles._batched import BatchVoter, batch_source
from quorate._ensembles._kind import Ensemble
from quorate._ensembles._rows import RowSource, check_row_numbers
from quorate._votes import Votes, joined_votes, warn_left_out
from quorate.exceptions import BatchError

_OWNER = "collect_votes"
Part = tuple[Votes, int]
"""Votes, and how many rows they are on."""


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
            f"{_OWNER}(out_of_bag=True): partitions do not say which training rows "
            "they are; give batches in order, or rows that no member was trained on."
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
    """Return the votes of all parts."""
    stack: list[Votes] = []
    rows = 0
    try:
        for votes, n_rows in parts:
            stack.append(votes.numbered(np.arange(rows, rows + n_rows)))
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
            chunk.votes.numbered(np.arange(chunk.start, truth.size))
            for chunk in voter.voted(X, prepared, truth, start)
        ]
    )
    return votes, int(truth.size)


def _join_last(stack: list[Votes]) -> None:
    """Join parts of about the same size, so that none is copied often."""
    while len(stack) > 1 and stack[-2].n_samples <= 2 * stack[-1].n_samples:
        last = stack.pop()
        stack[-1] = joined_votes([stack[-1], last])


def _on_dask(voter: BatchVoter, pieces: list[tuple[Any, Any]]) -> Iterator[Part]:
    """Ask where the partitions are; their votes come here."""
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
