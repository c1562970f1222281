"""Partitions summarised by Dask, and added up there as a tree."""

import os
import pickle
import warnings
from collections.abc import Iterable, Iterator
from importlib import import_module
from typing import Any

from quorate._batches import Batch
from quorate.exceptions import BatchError
from quorate.summarising._chunk import Question, reason
from quorate.votes import Moves, Summary

# Summaries added in one task.
_FAN_IN = 8
_PATIENCE = "10s"

Part = tuple[Summary | None, dict[int, int]]
"""A sum of partitions, and how many rows each of these has."""


def summarise_partitions(question: Question, pairs: list[tuple[Any, Any]]) -> Summary:
    """Return the summary of all partitions; each is one task, and so is each sum."""
    delayed = _dask().delayed
    models = _sent(question)
    ask = delayed(_of_partition, pure=False)
    return _added_up([ask(models, at, X, y) for at, (X, y) in enumerate(pairs)])


def summarise_batches(question: Question, batches: Iterable[Batch]) -> Summary:
    """Return the summary of batches that workers can read for themselves."""
    delayed = _dask().delayed
    models = _sent(question)
    ask = delayed(_of_batch, pure=False)
    return _added_up([ask(models, at, batch) for at, batch in enumerate(batches)])


def _sent(question: Question) -> Any:
    """Return the models as a task: its result travels once to each worker.

    Unlike data that are scattered, a task is run again where its result is lost.
    """
    packed = import_module("cloudpickle").dumps(question)  # Dask brings it along
    return _dask().delayed(_unpacked, pure=False)(packed)


def _unpacked(packed: bytes) -> Question:
    question: Question = pickle.loads(packed)
    return question


def _of_partition(question: Question, at: int, X: Any, y: Any) -> Part:
    if len(y) == 0:
        return None, {at: 0}  # what a filter left nothing of
    try:
        summary, rows = _opened(question).about_samples(X, y)
    except Exception as error:
        raise BatchError(f"partition {at}: {reason(error)}.") from error
    return summary.shifted(Moves.start_of(at)), {at: rows}


def _of_batch(question: Question, at: int, batch: Batch) -> Part:
    summary, rows = _opened(question).about(batch)
    return summary.shifted(Moves.start_of(at)), {at: rows}


_last: list[tuple[tuple[int, Question], Any]] = []


def _opened(question: Question) -> Any:
    """Return the question with its models read, once for many tasks of a worker."""
    if not _last or _last[0][0][1] is not question or _last[0][0][0] != os.getpid():
        _last[:] = [((os.getpid(), question), question.opened())]
    return _last[0][1]


def _added_up(parts: list[Any]) -> Summary:
    dask = _dask()
    add = dask.delayed(_add, pure=False)
    while len(parts) > 1:
        parts = [add(some) for some in _in_groups(parts, _FAN_IN)]
    with warnings.catch_warnings():
        # It is as large as the models, and there is no other way that survives a loss.
        warnings.filterwarnings("ignore", "Sending large graph")
        try:
            ((total, lengths),) = dask.compute(parts[0]) if parts else ((None, {}),)
        finally:
            _last.clear()
    if total is None:
        raise ValueError("summarise: the partitions have no rows.")
    summary: Summary = total
    return summary.moved(Moves(lengths))


def _dask() -> Any:
    return import_module("dask")  # has no types


def _add(parts: list[Part]) -> Part:
    lengths: dict[int, int] = {}
    total: Summary | None = None
    for summary, rows in parts:
        lengths |= rows
        if summary is not None:
            total = summary if total is None else total + summary
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
        raise ImportError(
            f'{address}: needs Dask; pip install "quorate[dask]".'
        ) from error
    try:
        client: Any = Client
        return client(address, timeout=_PATIENCE)
    except (OSError, TimeoutError, ValueError) as error:
        raise OSError(
            f"{address}: no Dask scheduler answers; addresses look like "
            "tcp://host:8786."
        ) from error
