"""Partitions of Dask collections, as pairs of tasks."""

import pickle
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np

from quorate._data._batches import Batch, named_batch
from quorate.exceptions import BatchError


def is_dask(given: Any) -> bool:
    """Return whether an object is a Dask collection, or a pair with one."""
    if isinstance(given, tuple):
        return len(given) == 2 and any(map(_is_collection, given))
    return _is_collection(given)


def _is_collection(given: Any) -> bool:
    return hasattr(given, "__dask_graph__")


@dataclass(frozen=True, slots=True)
class Partition(Batch):
    """A partition of Dask collections, computed when it is read."""

    name: str
    X: Any
    y: Any
    n_rows: int | None = None
    may_be_empty = True  # what a filter left nothing of

    def read(self, rows: int) -> Iterator[tuple[Any, Any]]:
        """Yield the whole partition, if it has rows."""
        X, y = import_module("dask").compute(self.X, self.y)
        if len(y):
            yield X, y

    def mark(self) -> str:
        """Return an empty mark: computed partitions cannot be recognised."""
        return ""


def as_dask_task(thing: Any) -> Any:
    """Return an object as a task, whose result is sent once to each worker.

    Unlike scattered data, a task is run again if its result is lost.
    """
    packed = import_module("cloudpickle").dumps(thing)  # Dask brings it along
    return import_module("dask").delayed(_unpacked, pure=False)(packed)


def _unpacked(packed: bytes) -> Any:
    return pickle.loads(packed)


def compute_named(tasks: Sequence[Any], pairs: Sequence[tuple[Any, Any]]) -> Any:
    """Return the results of tasks on partitions, naming a partition that fails.

    Dask computes a partition before the task that uses it and does not report which one
    failed, so they are computed again in order up to the first that fails.
    """
    dask: Any = import_module("dask")  # has no types
    try:
        return dask.compute(*tasks)
    except BatchError:
        raise
    except Exception:
        for at, pair in enumerate(pairs):
            with named_batch(f"partition {at}"):
                dask.compute(*pair)
        raise


def partitions(
    given: Any, owner: str, target: str | None = None, *, as_frame: bool = True
) -> list[tuple[Any, Any]]:
    """Return a pair of tasks for each partition: one gives X, the other y.

    Parameters
    ----------
    given : pair of Dask collections, or Dask frame
        X and y in partitions of the same rows; or one frame with the labels in a
        column.
    owner : str
        Name of the caller, for error messages.
    target : str, optional
        That column.
    as_frame : bool
        Whether samples from frames stay frames, or become arrays.
    """
    if not isinstance(given, tuple):
        if target is None or not hasattr(given, "columns"):
            raise ValueError(
                f"{owner}: Dask collections must be a pair (X, y), or one frame with "
                "target= naming the column of labels."
            )
        if target not in given.columns:
            raise ValueError(f"{owner}(target={target!r}): no such column.")
        given = given.drop(columns=target), given[target]
    X, y = align_partitions(*given) or given
    if not (_is_collection(X) and _is_collection(y)):
        kinds = type(given[0]).__name__, type(given[1]).__name__
        raise TypeError(
            f"{owner}: X is {kinds[0]} and y is {kinds[1]}; both must be Dask "
            "collections with the same rows in each partition."
        )
    if hasattr(X, "chunks"):
        # Samples are not split: only rows may be chunked, not columns.
        X = X.rechunk({1: -1})
    if not as_frame and hasattr(X, "map_partitions") and hasattr(X, "columns"):
        X = X.map_partitions(lambda part: part.to_numpy())
    rows, labels = _pieces(X), _pieces(y)
    if len(rows) != len(labels):
        raise ValueError(
            f"{owner}: X has {len(rows)} partitions, y has {len(labels)}; partition "
            "both in the same way."
        )
    return list(zip(rows, labels, strict=True))


def align_partitions(X: Any, y: Any) -> tuple[Any, Any] | None:
    """Return samples and labels with partitions of the same rows.

    None if they are not Dask collections, or the row counts are unknown before
    computing.
    """
    if not _is_collection(X):
        return None
    if not hasattr(X, "chunks"):
        alike = _is_collection(y) and getattr(y, "npartitions", 0) == X.npartitions
        return (X, y) if alike else None
    sizes = X.chunks[0]
    if _is_collection(y) and not hasattr(y, "chunks"):
        # A series does not know the lengths of its partitions before they are read.
        alike = X.ndim == 2 and y.npartitions == len(sizes)
        return (X, y) if alike else None
    if X.ndim != 2 or np.isnan(sizes).any() or getattr(y, "shape", None) != (len(X),):
        return None
    if isinstance(y, np.ndarray):
        return X, import_module("dask.array").from_array(y, chunks=(sizes,))
    return (X, y.rechunk((sizes,))) if hasattr(y, "rechunk") else None


def _pieces(collection: Any) -> list[Any]:
    # Optimising collections separately would compute shared tasks twice.
    found = collection.to_delayed(optimize_graph=False)
    return list(found.ravel()) if hasattr(found, "ravel") else list(found)
