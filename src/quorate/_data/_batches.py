"""Batches of samples, given as pairs or as files."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

import joblib
import numpy as np

from quorate._data._rows import in_memory, index_of, other_rows
from quorate._data._samples import SampleForm
from quorate._data._tables import (
    column_names,
    is_csv,
    is_parquet,
    open_parquet,
    read_parts,
)
from quorate._messages import unknown_name
from quorate._rows import count_rows
from quorate.exceptions import BatchError


class Batch(ABC):
    """Some samples with their labels and a name; picklable.

    Attributes
    ----------
    name : str
        Its name in messages.
    n_rows : int, optional
        Number of samples, if known before reading.
    may_be_empty : bool
        Whether it may have no rows without an error.
    """

    name: str
    n_rows: int | None
    may_be_empty: bool = False

    @abstractmethod
    def read(self, rows: int) -> Iterator[tuple[Any, Any]]:
        """Yield X and y, in parts of about this many rows if that saves memory."""

    @abstractmethod
    def mark(self) -> str:
        """Return an identifier of the batch, without reading the whole file."""

    def parts(self, rows: int) -> Iterator[tuple[Any, Any]]:
        """Yield the parts from :meth:`read`; raise an error for an empty batch."""
        empty = True
        for X, y in self.read(rows):
            empty = False
            yield X, y
        if empty and not self.may_be_empty:
            raise ValueError("it has no rows")


@dataclass(frozen=True, slots=True)
class BatchSource:
    """Batches in a fixed order; an iterator can be consumed only once.

    Attributes
    ----------
    batches : iterable of Batch
        Nothing of them is read yet.
    n_rows : int, optional
        Total number of samples, if known.
    """

    batches: Iterable[Batch]
    n_rows: int | None = None


@contextmanager
def named_batch(name: str) -> Iterator[None]:
    """Add the name of the batch to any error raised while processing it."""
    try:
        yield
    except BatchError:
        raise
    except Exception as error:
        raise BatchError(f"{name}: {reason(error)}.") from error


def reason(error: Exception) -> str:
    """Return an error's message on one line, without the full stop."""
    return " ".join(str(error).split()).rstrip(". ") or type(error).__name__


# Pairs


@dataclass(frozen=True, slots=True)
class GivenBatch(Batch):
    """A batch that is already in memory."""

    name: str
    X: Any
    y: Any
    n_rows: int | None = None

    def read(self, rows: int) -> Iterator[tuple[Any, Any]]:
        """Yield the whole batch."""
        yield self.X, self.y

    def mark(self) -> str:
        """Return a digest of samples and labels, independent of memory layout."""
        try:
            arrays = [
                np.ascontiguousarray(part) if isinstance(part, np.ndarray) else part
                for part in (self.X, self.y)
            ]
            return str(joblib.hash(arrays))
        except Exception:
            return ""  # what is wrong with it is said when it is voted on


@dataclass(frozen=True, slots=True)
class BadBatch(Batch):
    """An invalid batch, which raises its error when it is read.

    The batches before it are still processed.
    """

    name: str
    why: str
    cause: Exception | None = None
    n_rows: int | None = 0

    def read(self, rows: int) -> Iterator[tuple[Any, Any]]:
        """Raise the error."""
        raise BatchError(f"{self.name}: {self.why}.") from self.cause

    def mark(self) -> str:
        """Return an empty mark, because the batch is rejected anyway."""
        return ""

    def __reduce__(self) -> Any:
        # The cause may not be picklable.
        return BadBatch, (self.name, self.why)


def given_batches(given: Iterable[tuple[Any, Any]]) -> Iterator[Batch]:
    """Yield pairs as batches; invalid or inconsistent ones as :class:`BadBatch`."""
    pairs = iter(given)
    first: _Columns | None = None
    for number in count():
        name = f"batch {number}"
        try:
            pair = next(pairs)
        except StopIteration:
            return
        except Exception as error:
            why = f"{type(error).__name__}: {reason(error)}"
            yield BadBatch(name, f"it could not be loaded ({why})", error)
            return
        try:
            X, y = _unpacked(pair)
            columns = _columns_of(X)
            first = first or columns
            _check_alike(first, columns)
            batch: Batch = GivenBatch(name, X, y, count_rows(X))
        except (TypeError, ValueError) as error:
            batch = BadBatch(name, reason(error), error)
        yield batch


def _unpacked(pair: Any) -> tuple[Any, Any]:
    try:
        X, y = pair
    except (TypeError, ValueError):
        kind = type(pair).__name__
        raise TypeError(f"a batch must be a pair (X, y), got {kind}") from None
    X, y = in_memory(X), in_memory(y)
    others = other_rows(index_of(y), index_of(X))
    if others:
        raise ValueError(
            "y and X have different rows, or the same rows in a different order, "
            f"{others}"
        )
    return X, y


# Columns of a batch: the container type, and their names or number.
_Columns = tuple[str, tuple[str, ...] | int | None]


def _columns_of(X: Any) -> _Columns:
    names = getattr(X, "column_names", getattr(X, "columns", None))
    if isinstance(names, Iterable):
        home = type(X).__module__.partition(".")[0]
        return f"a frame of {home}", tuple(map(str, names))
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
    for column in first:
        if column not in names:
            raise ValueError(
                f"it has no column {column!r}, but the first batch has one"
            )
    for column in names:
        if column not in first:
            raise ValueError(
                f"it has a column {column!r}, but the first batch has none"
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


@dataclass(frozen=True, slots=True)
class FileBatch(Batch):
    """A CSV or ARFF file, or a row group of a Parquet file."""

    name: str
    path: Path
    target: str
    form: SampleForm
    row_group: int | None = None
    n_rows: int | None = None

    def mark(self) -> str:
        """Return a digest of the file's name, size and time, and of the group."""
        try:
            found = self.path.stat()
        except OSError:
            return ""  # gone, which is said when it is read
        about = self.path.name, self.row_group, found.st_size, found.st_mtime_ns
        return str(joblib.hash(about))

    def read(self, rows: int) -> Iterator[tuple[Any, Any]]:
        """Yield the samples in chunks."""
        wanted = (*(self.form.columns or ()), self.target)
        for frame in read_parts(self.path, rows, self.target, wanted, self.row_group):
            yield self.form.split(frame, self.target, written=is_csv(self.path))


def file_batches(paths: list[Path], target: str, form: SampleForm) -> BatchSource:
    """List the batches in the files; samples are read later."""
    _check_files(paths, target, form)
    parts: list[Batch] = []
    n_rows: int | None = 0
    for path in paths:
        if not is_parquet(path):
            parts.append(FileBatch(str(path), path, target, form))
            n_rows = None  # nobody knows before it is read
            continue
        about = open_parquet(path).metadata
        for group in range(about.num_row_groups):
            several = about.num_row_groups > 1
            name = f"{path}, row group {group}" if several else str(path)
            number = about.row_group(group).num_rows
            parts.append(FileBatch(name, path, target, form, group, number))
        n_rows = None if n_rows is None else n_rows + about.num_rows
    return BatchSource(parts, n_rows)


def _check_files(paths: list[Path], target: str, form: SampleForm) -> None:
    """Raise an error for files without labels or with unexpected columns.

    If the model does not store its columns, those of the first file are expected.
    """
    first: tuple[str, ...] | None = None
    told: set[str] = set()
    for path in paths:
        with named_batch(str(path)):
            names = column_names(path)
            if target not in names:
                raise ValueError(unknown_name("column", target, names))
            if form.columns is None:
                first = first or tuple(names)
                _check_names(first, tuple(names))
        # Warn about extra columns only once.
        new = [name for name in names if name not in told]
        form.check_columns(new, target, str(path))
        told.update({*names} - {*(form.columns or ())})
