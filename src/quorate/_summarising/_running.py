"""Evaluate batches in this process, on several cores, or on a cluster.

The models are sent to each worker once and read there once.
"""

import tempfile
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from importlib import import_module
from numbers import Integral
from pathlib import Path
from typing import Any

import joblib

from quorate._data import Batch, as_dask_task, compute_named, named_batch
from quorate._summarising._tasks import BatchResult, BatchTask, OpenTask, sum_of
from quorate._votes import Summary
from quorate._workers import deaf_to_interrupts, without_forks
from quorate.exceptions import BatchError

# Number of summaries added in one task of a cluster.
_FAN_IN = 8
_PATIENCE = "10s"

# A sum of partitions (None without rows), and their number of rows.
Part = tuple[Summary | None, int]


# Processes


def check_jobs(n_jobs: Any) -> None:
    """Raise an error for an invalid number of processes."""
    whole = isinstance(n_jobs, Integral) and not isinstance(n_jobs, bool)
    if n_jobs is not None and (not whole or n_jobs == 0):
        raise ValueError(
            f"summarise(n_jobs={n_jobs!r}): must be a number of processes, -1 for one "
            "per core, or None for the current process only."
        )


@contextmanager
def batch_results(
    task: BatchTask, batches: Iterator[Batch], n_jobs: int | None, start: int = 0
) -> Iterator[Iterator[BatchResult]]:
    """Yield an iterator over the summaries of batches, in order.

    ``start`` is the number of rows before the first batch.
    """
    opened = task.opened()  # refuses here what workers would refuse
    if joblib.effective_n_jobs(n_jobs or 1) == 1:
        yield _one_by_one(opened, batches, start)
        return
    with tempfile.TemporaryDirectory(prefix="quorate-") as folder:
        path = Path(folder) / "task.joblib"
        joblib.dump(task, path)
        with without_forks():
            work: Any = joblib.Parallel(
                n_jobs=n_jobs, return_as="generator", pre_dispatch="2*n_jobs"
            )
        in_order = opened.voter.drawn is not None
        with deaf_to_interrupts():  # the call starts the workers
            results = work(
                joblib.delayed(_in_worker)(str(path), batch, place)
                for batch, place in _placed(batches, start, in_order)
            )
        try:
            yield map(_raised, results)
        finally:
            with warnings.catch_warnings():
                # Batches after one that failed are not needed.
                warnings.filterwarnings("ignore", ".* tasks? which were still")
                results.close()


def _one_by_one(
    task: OpenTask, batches: Iterator[Batch], start: int
) -> Iterator[BatchResult]:
    for batch in batches:
        result = task.on_batch(batch, start)
        start += result[1]
        yield result


def _placed(
    batches: Iterator[Batch], start: int, needed: bool
) -> Iterator[tuple[Batch, int]]:
    """Yield batches with the number of rows before each, if needed."""
    for batch in batches:
        if needed and batch.n_rows is None:
            raise ValueError(
                f"summarise(source='training'): {batch.name} does not say how many "
                "rows it has, which is needed for several processes; do not pass "
                "n_jobs."
            )
        yield batch, start
        start += batch.n_rows or 0


def _raised(result: BatchResult | BatchError) -> BatchResult:
    """Raise the error of a batch in its turn, so that earlier ones count."""
    if isinstance(result, BatchError):
        raise result
    return result


def _in_worker(path: str, batch: Batch, start: int) -> BatchResult | BatchError:
    try:
        return _open_file(path).on_batch(batch, start)
    except BatchError as error:
        return error


@lru_cache(maxsize=1)
def _open_file(path: str) -> OpenTask:
    task: BatchTask = joblib.load(path)
    return task.opened()


# Dask: each partition is a task, and summaries are added in a tree


def summarise_partitions(task: BatchTask, pairs: list[tuple[Any, Any]]) -> Summary:
    """Return the summary of all partitions."""
    models, ask = as_dask_task(task), _delayed(_on_partition)
    tasks = [ask(models, at, X, y) for at, (X, y) in enumerate(pairs)]
    return _added_up(tasks, pairs)


def summarise_batches(task: BatchTask, batches: Iterable[Batch]) -> Summary:
    """Return the summary of batches that workers read themselves."""
    models, ask = as_dask_task(task), _delayed(_on_batch)
    return _added_up([ask(models, batch) for batch in batches])


def _delayed(function: Any) -> Any:
    return import_module("dask").delayed(function, pure=False)


@lru_cache(maxsize=1)
def _open_once(task: BatchTask) -> OpenTask:
    return task.opened()


def _on_partition(task: BatchTask, at: int, X: Any, y: Any) -> Part:
    if len(y) == 0:
        return None, 0  # what a filter left nothing of
    with named_batch(f"partition {at}"):
        return _open_once(task).on_samples(X, y)


def _on_batch(task: BatchTask, batch: Batch) -> Part:
    return _open_once(task).on_batch(batch)


def _added_up(parts: list[Any], pairs: Sequence[tuple[Any, Any]] = ()) -> Summary:
    add = _delayed(_add)
    while len(parts) > 1:
        starts = range(0, len(parts), _FAN_IN)
        parts = [add(parts[start : start + _FAN_IN]) for start in starts]
    with warnings.catch_warnings():
        # It is as large as the models, but nothing else survives the loss of a worker.
        warnings.filterwarnings("ignore", "Sending large graph")
        try:
            found = compute_named(parts, pairs) if parts else [(None, 0)]
        except BatchError as error:
            raise BatchError(f"summarise: {error}") from error
        finally:
            _open_once.cache_clear()
    ((total, _),) = found
    if total is None:
        raise ValueError("summarise: the partitions have no rows.")
    summary: Summary = total
    return summary


def _add(parts: list[Part]) -> Part:
    """Add consecutive parts; each starts where the previous one ends."""
    total, rows = None, 0
    for summary, n_rows in parts:
        if summary is not None:
            try:
                total = sum_of(total, summary.shifted(rows))
            except ValueError as error:
                # No single part is at fault.
                raise BatchError(str(error)) from error
        rows += n_rows
    return total, rows


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
            f"{address}: no Dask scheduler responds; addresses look like "
            "tcp://host:8786."
        ) from error
