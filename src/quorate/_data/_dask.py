"""Partitions of Dask collections, as pairs of tasks."""

from importlib import import_module
from typing import Any

import numpy as np


def is_dask(given: Any) -> bool:
    """Return whether an object is a Dask collection, or a pair with one."""
    several = given if isinstance(given, tuple) and len(given) == 2 else (given,)
    return any(hasattr(each, "__dask_graph__") for each in several)


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
    X, y = given
    if hasattr(X, "chunks"):
        sizes = X.chunks[0]
        # Samples are not split: only rows may be chunked, not columns.
        X = X.rechunk({1: -1})
        if isinstance(y, np.ndarray):
            y = import_module("dask.array").from_array(y)
        if hasattr(y, "chunks") and not np.isnan(sizes).any():
            y = y.rechunk((sizes,)) if y.shape == (len(X),) else y
    elif not as_frame and hasattr(X, "columns"):
        X = X.map_partitions(lambda part: part.to_numpy())
    if not (is_dask(X) and is_dask(y)):
        raise TypeError(
            f"{owner}: X is {type(X).__name__} and y is {type(y).__name__}; both must "
            "be Dask collections with the same rows in each partition."
        )
    rows, labels = _pieces(X), _pieces(y)
    if len(rows) != len(labels):
        raise ValueError(
            f"{owner}: X has {len(rows)} partitions, y has {len(labels)}; partition "
            "both in the same way."
        )
    return list(zip(rows, labels, strict=True))


def _pieces(collection: Any) -> list[Any]:
    # Optimising collections separately would compute shared tasks twice.
    pieces = collection.to_delayed(optimize_graph=False)
    return list(np.ravel(pieces)) if hasattr(pieces, "ravel") else list(pieces)
