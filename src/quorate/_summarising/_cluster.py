"""Partitions summarised by Dask, and added up there as a tree."""

import os
import warnings
from collections.abc import Iterable, Iterator, Sequence
from importlib import import_module
from typing import Any

from quorate._data import Batch, computed, named_batch, sent
from quorate._summarising._chunk import Asked, Question
from quorate._votes import PartOffsets, Summary
from quorate.exceptions import BatchError

# Summaries added in one task.
_FAN_IN = 8
_PATIENCE = "10s"

Part = tuple[Summary | None, dict[int, int]]
"""A sum of partitions, and how many rows each of these has."""


def summarise_partitions(question: Question, pairs: list[tuple[Any, Any]]) -> Summary:
    """Return the summary of all partitions; each is one task, and so is each sum."""
    delayed = _dask().delayed
    models = sent(question)
    ask = delayed(_of_partition, pure=False)
    tasks = [ask(models, at, X, y) for at, (X, y) in enumerate(pairs)]
    return _added_up(tasks, pairs)


def summarise_batches(question: Question, batches: Iterable[Batch]) -> Summary:
    """Return the summary of batches that workers can read for themselves."""
    delayed = _dask().delayed
    models = sent(question)
    ask = delayed(_of_batch, pure=False)
    return _added_up([ask(models, at, batch) for at, batch in enumerate(batches)])


def _of_partition(question: Question, at: int, X: Any, y: Any) -> Part:
    if len(y) == 0:
        return None, {at: 0}  # what a filter left nothing of
    with named_batch(f"partition {at}"):
        found = _opened(question).about_samples(X, y)
    return found.summary.shifted(PartOffsets.start_of(at)), {at: found.n_rows}


def _of_batch(question: Question, at: int, batch: Batch) -> Part:
    found = _opened(question).about(batch)
    return found.summary.shifted(PartOffsets.start_of(at)), {at: found.n_rows}


_last: list[tuple[tuple[int, Question], Asked]] = []


def _opened(question: Question) -> Asked:
    """Return the question with its models read, once for many tasks of a worker."""
    if not _last or _last[0][0][1] is not question or _last[0][0][0] != os.getpid():
        _last[:] = [((os.getpid(), question), question.opened())]
    return _last[0][1]


def _added_up(parts: list[Any], pairs: Sequence[tuple[Any, Any]] = ()) -> Summary:
    dask = _dask()
    add = dask.delayed(_add, pure=False)
    while len(parts) > 1:
        parts = [add(some) for some in _in_groups(parts, _FAN_IN)]
    with warnings.catch_warnings():
        # It is as large as the models, and there is no other way that survives a loss.
        warnings.filterwarnings("ignore", "Sending large graph")
        try:
            ((total, lengths),) = computed(parts, pairs) if parts else ((None, {}),)
        except BatchError as error:
            raise BatchError(f"summarise: {error}") from error
        finally:
            _last.clear()
    if total is None:
        raise ValueError("summarise: the partitions have no rows.")
    summary: Summary = total
    return summary.moved(PartOffsets(lengths))


def _dask() -> Any:
    return import_module("dask")  # has no types


def _add(parts: list[Part]) -> Part:
    lengths: dict[int, int] = {}
    total: Summary | None = None
    for summary, rows in parts:
        lengths |= rows
        if summary is not None:
            try:
                total = summary if total is None else total + summary
            except ValueError as error:
                # Nothing is wrong with any one of them.
                raise BatchError(str(error)) from error
    return total, lengths


def _in_groups(parts: list[Any], size: int) -> Iterator[list[Any]]:
    for start in range(0, len(parts), size):
        yield parts[start : start + size]


def connect(address: str) -> Any:
    """Return a client of the Dask scheduler at an address.

    Raises
    ------
    ImportError
        If Dask is not installed.
    OSError
        If no scheduler answers.
    """
    try:
        from distributed import Client
    except ImportError as error:
        raise ImportError(f"{address}: needs Dask; pip install distributed") from error
    try:
        client: Any = Client
        return client(address, timeout=_PATIENCE)
    except (OSError, TimeoutError, ValueError) as error:
        raise OSError(
            f"{address}: no Dask scheduler answers; addresses look like "
            "tcp://host:8786."
        ) from error
