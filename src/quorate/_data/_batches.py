"""Batches of samples: pairs with labels, files read in parts, partitions of Dask."""

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from importlib import import_module
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np

from quorate._data._rows import in_memory, index_of, other_rows
from quorate._data._samples import PLAIN_FORM, SampleForm
from quorate._data._tables import column_names, find_files, is_csv, read_parts
from quorate._messages import unknown_name
from quorate._rows import module_of
from quorate.exceptions import BatchError

_FITS = (
    "batches must be an iterable of pairs (X, y), a table, a folder or a pattern of "
    "tables with target=, or Dask collections"
)

# The name of a batch in messages, its samples and their labels.
Batch = tuple[str, Any, Any]


def read_batches(
    given: Any,
    owner: str,
    target: str | None = None,
    *,
    form: SampleForm = PLAIN_FORM,
    rows: int = 1 << 16,
) -> Iterator[Batch]:
    """Return an iterator over batches; nothing but headers of files is read yet.

    Parameters
    ----------
    given : iterable of (X, y), path, or list of paths
        A path is a table, a folder or a pattern.
    owner : str
        Name of the caller, for error messages.
    target : str, optional
        Column of labels, for files.
    form : SampleForm
        The form in which samples from files are given.
    rows : int
        Rows of a file to read at a time.
    """
    paths = given if isinstance(given, (list, tuple)) else [given]
    if paths and all(isinstance(path, (str, os.PathLike)) for path in paths):
        if target is None:
            raise ValueError(
                f"{owner}: use target= to name the column of labels in "
                f"{os.fspath(paths[0])}."
            )
        files = [file for path in paths for file in find_files(path, owner)]
        _check_files(files, target, form, owner)
        return _read_files(files, target, form, rows, owner)
    if target is not None:
        fits = _FITS
        if hasattr(given, "columns"):
            fits = "for a frame in memory, pass [(X, y)]"
        raise ValueError(f"{owner}(target={target!r}): only applies to files; {fits}.")
    if hasattr(given, "shape") or not isinstance(given, Iterable):
        raise TypeError(f"{owner}: {_FITS}; got {type(given).__name__}.")
    return _read_pairs(iter(given), owner)


@contextmanager
def naming_batch(name: str, owner: str) -> Iterator[None]:
    """Add the caller and the batch to any error raised while processing it."""
    try:
        yield
    except BatchError:
        raise
    except Exception as error:
        why = " ".join(str(error).split()).rstrip(". ") or type(error).__name__
        raise BatchError(f"{owner}: {name}: {why}.") from error


# Pairs


def _read_pairs(pairs: Iterator[Any], owner: str) -> Iterator[Batch]:
    """Yield pairs of samples and labels that look like the first."""
    first: _Columns | None = None
    for number in count():
        name = f"batch {number}"
        with naming_batch(name, owner):
            try:
                pair = next(pairs)
            except StopIteration:
                return
            except Exception as error:
                why = f"{type(error).__name__}: {error}"
                raise ValueError(f"it could not be loaded ({why})") from error
            try:
                X, y = map(in_memory, pair)
            except (TypeError, ValueError):
                kind = type(pair).__name__
                raise TypeError(f"a batch must be a pair (X, y), got {kind}") from None
            if others := other_rows(index_of(y), index_of(X)):
                raise ValueError(
                    "y and X have different rows, or the same rows in a different "
                    f"order, {others}"
                )
            columns = _columns_of(X)
            first = first or columns
            _check_alike(first, columns)
        yield name, X, y


# Columns of a batch: the container type, and their names or number.
_Columns = tuple[str, tuple[str, ...] | int | None]


def _columns_of(X: Any) -> _Columns:
    names = getattr(X, "column_names", getattr(X, "columns", None))
    if isinstance(names, Iterable):
        return f"a frame of {module_of(X)}", tuple(map(str, names))
    if hasattr(X, "iloc"):
        return "one column of a frame", None
    shape: Any = getattr(X, "shape", ())
    number = int(shape[1]) if len(shape) == 2 else None
    return "sparse" if hasattr(X, "tocsr") else "an array", number


def _check_alike(first: _Columns, other: _Columns) -> None:
    """Raise an error if the columns of a batch differ from those of the first.

    A model fitted on plain arrays goes by position and would confuse columns.
    """
    (kind, columns), (other_kind, others) = first, other
    if kind != other_kind:
        raise ValueError(f"it is {other_kind}, but the first batch is {kind}")
    if isinstance(columns, tuple) and isinstance(others, tuple):
        _check_names(columns, others)
    elif None not in (columns, others) and columns != others:
        raise ValueError(
            f"it has {others} features, but the first batch has {columns} features"
        )


def _check_names(first: tuple[str, ...], names: tuple[str, ...]) -> None:
    if names == first:
        return
    odd = [name for name in (*first, *names) if (name in first) != (name in names)]
    if odd:
        one, other = ("no", "one") if odd[0] in first else ("a", "none")
        raise ValueError(
            f"it has {one} column {odd[0]!r}, but the first batch has {other}"
        )
    if len(first) != len(names):
        raise ValueError(
            f"it has {len(names)} columns, but the first batch has {len(first)}"
        )
    at = next(at for at, name in enumerate(names) if name != first[at])
    raise ValueError(
        f"its columns are in a different order: column {at} is {names[at]!r}, but "
        f"{first[at]!r} in the first batch"
    )


# Files


def _read_files(
    paths: list[Path], target: str, form: SampleForm, rows: int, owner: str
) -> Iterator[Batch]:
    wanted = (*(form.columns or ()), target)
    for path in paths:
        is_empty = True
        with naming_batch(str(path), owner):
            for frame in read_parts(path, rows, (target,), wanted):
                is_empty = False
                yield str(path), *form.split(frame, target, written=is_csv(path))
            if is_empty:
                raise ValueError("it has no rows")


def _check_files(paths: list[Path], target: str, form: SampleForm, owner: str) -> None:
    """Raise an error for files without labels or with unexpected columns.

    If the model does not store its columns, those of the first file are expected.
    """
    first: tuple[str, ...] | None = None
    reported: set[str] = set()
    for path in paths:
        with naming_batch(str(path), owner):
            names = column_names(path)
            if target not in names:
                raise ValueError(unknown_name("column", target, names))
            if form.columns is None and first is not None:
                _check_names(first, tuple(names))
            first = first or tuple(names)
        # Warn about extra columns only once.
        new = [name for name in names if name not in reported]
        form.check_columns(new, target, str(path))
        reported.update({*names} - {*(form.columns or ())})


# Dask


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
