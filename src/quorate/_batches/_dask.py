"""Partitions of Dask collections, as pairs of tasks."""

import pickle
from importlib import import_module
from typing import Any


def is_dask(given: Any) -> bool:
    """Tell whether something is a Dask collection, or a pair of them."""
    if isinstance(given, tuple):
        return bool(given) and all(is_dask(one) for one in given)
    return hasattr(given, "__dask_graph__")


def sent(thing: Any) -> Any:
    """Return something as a task: its result travels once to each worker.

    Unlike data that are scattered, a task is run again where its result is lost.
    """
    packed = import_module("cloudpickle").dumps(thing)  # Dask brings it along
    return import_module("dask").delayed(_unpacked, pure=False)(packed)


def _unpacked(packed: bytes) -> Any:
    return pickle.loads(packed)


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
        Who asks, for messages.
    target : str, optional
        That column.
    as_frame : bool
        Whether samples from frames stay frames, or become arrays.
    """
    if not isinstance(given, tuple):
        if target is None or not hasattr(given, "columns"):
            raise ValueError(
                f"{owner}: Dask collections come as a pair (X, y), or as one frame "
                "with target= naming its column of labels."
            )
        if target not in given.columns:
            raise ValueError(f"{owner}(target={target!r}): no such column.")
        given = given.drop(columns=target), given[target]
    X, y = given
    if hasattr(X, "chunks"):
        # A sample stays in one piece: rows may be cut, columns not.
        X = X.rechunk({1: -1})
    if not as_frame and hasattr(X, "map_partitions") and hasattr(X, "columns"):
        X = X.map_partitions(lambda part: part.to_numpy())
    rows, labels = _pieces(X), _pieces(y)
    if len(rows) != len(labels):
        raise ValueError(
            f"{owner}: X has {len(rows)} partitions, y has {len(labels)}; cut both "
            "alike."
        )
    return list(zip(rows, labels, strict=True))


def _pieces(collection: Any) -> list[Any]:
    found = collection.to_delayed()
    return list(found.ravel()) if hasattr(found, "ravel") else list(found)
