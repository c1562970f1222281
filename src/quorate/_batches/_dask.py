"""Partitions of Dask collections, as pairs of tasks."""

from collections.abc import Iterator
from importlib import import_module
from typing import Any


def is_dask(given: Any) -> bool:
    """Tell whether something is a Dask collection, or a pair of them."""
    if isinstance(given, tuple):
        return bool(given) and all(is_dask(one) for one in given)
    return hasattr(given, "__dask_graph__")


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
    X = _whole_rows(X)
    if not as_frame and hasattr(X, "map_partitions") and hasattr(X, "columns"):
        X = X.map_partitions(lambda part: part.to_numpy())
    rows, labels = _pieces(X), _pieces(y)
    if len(rows) != len(labels):
        raise ValueError(
            f"{owner}: X has {len(rows)} partitions, y has {len(labels)}; cut both "
            "alike."
        )
    return list(zip(rows, labels, strict=True))


def are_partitions(X: Any) -> bool:
    """Tell whether samples are a Dask array or frame, which has partitions."""
    return is_dask(X) and (hasattr(X, "chunks") or hasattr(X, "partitions"))


def computed_partitions(X: Any, y: Any = None) -> Iterator[tuple[Any, Any]]:
    """Yield the rows and labels of each partition, computed when it is its turn.

    What X and y have in common is computed once. Labels are None where y is no Dask
    collection of partitions like those of X.
    """
    compute: Any = import_module("dask").compute
    rows = _pieces(_whole_rows(X), optimise=False)
    labels: list[Any] = [None] * len(rows)
    if is_dask(y):
        found = _pieces(y, optimise=False)
        labels = found if len(found) == len(rows) else labels
    for pair in zip(rows, labels, strict=True):
        yield compute(*pair)


def _whole_rows(X: Any) -> Any:
    """Return it cut between rows only: a sample stays in one piece."""
    return X.rechunk({1: -1}) if hasattr(X, "chunks") and X.ndim > 1 else X


def _pieces(collection: Any, optimise: bool = True) -> list[Any]:
    # Tasks that were optimised for one collection are no longer those of another.
    found = collection.to_delayed(optimize_graph=optimise)
    return list(found.ravel()) if hasattr(found, "ravel") else list(found)
