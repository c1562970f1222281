"""A batch of samples, and where batches come from."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from quorate._rows import count_rows


class Batch(ABC):
    """Some samples with their labels, under a name; may travel to another process."""

    name: str
    """What to call it in messages."""
    n_rows: int | None
    """How many samples, if that is known before they are read."""

    @abstractmethod
    def read(self, rows: int) -> Iterator[tuple[Any, Any]]:
        """Yield X and y, in parts of about so many rows where that saves memory."""


class BatchSource(ABC):
    """Batches in a fixed order; of an iterator they can be gone through once."""

    n_rows: int | None = None
    """How many samples there are in all, if that is known."""

    @abstractmethod
    def batches(self) -> Iterator[Batch]:
        """Yield the batches; nothing of them is read yet."""


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


@dataclass(frozen=True, slots=True)
class GivenBatches(BatchSource):
    """Batches from an iterable of pairs."""

    pairs: Iterable[tuple[Any, Any]]
    n_rows: int | None = None

    def batches(self) -> Iterator[Batch]:
        """Yield the pairs."""
        for number, pair in enumerate(self.pairs):
            name = f"batch {number}"
            try:
                X, y = pair
            except (TypeError, ValueError):
                raise TypeError(
                    f"{name}: a batch is a pair (X, y), got {type(pair).__name__}."
                ) from None
            yield GivenBatch(name, X, y, count_rows(X))
