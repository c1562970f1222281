"""A batch of samples, and where batches come from."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from typing import Any

from quorate._data._columns import Columns
from quorate._data._mark import mark_of
from quorate._data._rows import count_rows
from quorate.exceptions import BatchError


class Batch(ABC):
    """Some samples with their labels, under a name; may travel to another process."""

    name: str
    """What to call it in messages."""
    n_rows: int | None
    """How many samples, if that is known before they are read."""
    may_be_empty: bool = False
    """Whether it is nobody's mistake if it has no rows."""

    @abstractmethod
    def read(self, rows: int) -> Iterator[tuple[Any, Any]]:
        """Yield X and y, in parts of about so many rows where that saves memory."""

    @abstractmethod
    def mark(self) -> str:
        """Return by what it is known again, without going through a file for it."""

    def parts(self, rows: int) -> Iterator[tuple[Any, Any]]:
        """Yield what :meth:`read` yields; refuse a batch without rows."""
        empty = True
        for X, y in self.read(rows):
            empty = False
            yield X, y
        if empty and not self.may_be_empty:
            raise ValueError("it has no rows")


class BatchSource(ABC):
    """Batches in a fixed order; of an iterator they can be gone through once."""

    n_rows: int | None = None
    """How many samples there are in all, if that is known."""

    @abstractmethod
    def batches(self) -> Iterator[Batch]:
        """Yield the batches; nothing of them is read yet."""


@contextmanager
def named_batch(name: str) -> Iterator[None]:
    """Whatever goes wrong with a batch, its name is what helps to find it."""
    try:
        yield
    except BatchError:
        raise
    except Exception as error:
        raise BatchError(f"{name}: {reason(error)}.") from error


def reason(error: Exception) -> str:
    """Return what an error says, on one line and without its full stop."""
    return " ".join(str(error).split()).rstrip(". ") or type(error).__name__


@dataclass(frozen=True, slots=True)
class GivenBatch(Batch):
    """A batch that somebody has at hand."""

    name: str
    X: Any
    y: Any
    n_rows: int | None = None

    def read(self, rows: int) -> Iterator[tuple[Any, Any]]:
        """Yield all of it."""
        yield self.X, self.y

    def mark(self) -> str:
        """Return a digest of samples and labels."""
        try:
            return mark_of(self.X, self.y)
        except Exception:
            return ""  # what is wrong with it is said when it is voted on


@dataclass(frozen=True, slots=True)
class BadBatch(Batch):
    """A batch that cannot be had; it says so when its turn to be read comes.

    Those before it are voted on and kept, wherever batches are read.
    """

    name: str
    why: str
    cause: Exception | None = None
    n_rows: int | None = 0

    def read(self, rows: int) -> Iterator[tuple[Any, Any]]:
        """Say what is wrong."""
        raise BatchError(f"{self.name}: {self.why}.") from self.cause

    def mark(self) -> str:
        """Return nothing: it is refused anyway."""
        return ""

    def __reduce__(self) -> Any:
        # The cause may be something that does not travel.
        return BadBatch, (self.name, self.why)


@dataclass(frozen=True, slots=True)
class GivenBatches(BatchSource):
    """Batches from an iterable of pairs."""

    pairs: Iterable[tuple[Any, Any]]
    n_rows: int | None = None

    def batches(self) -> Iterator[Batch]:
        """Yield the pairs; one that is no pair, or unlike the first, as a bad batch."""
        pairs = iter(self.pairs)
        first: Columns | None = None
        for number in count():
            name = f"batch {number}"
            try:
                pair = next(pairs)
            except StopIteration:
                return
            except Exception as error:
                yield BadBatch(name, _told(error), error)
                return
            try:
                X, y = _unpacked(pair)
                columns = Columns.of(X)
                first = first or columns
                first.check(columns)
                batch: Batch = GivenBatch(name, X, y, count_rows(X))
            except (TypeError, ValueError) as error:
                batch = BadBatch(name, reason(error), error)
            yield batch


def _unpacked(pair: Any) -> tuple[Any, Any]:
    try:
        X, y = pair
    except (TypeError, ValueError):
        kind = type(pair).__name__
        raise TypeError(f"a batch is a pair (X, y), got {kind}") from None
    return X, y


def _told(error: Exception) -> str:
    return f"it could not be had ({type(error).__name__}: {reason(error)})"
