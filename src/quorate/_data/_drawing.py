"""Draw a stratified sample from batches in one pass.

Each class has a reservoir as large as the whole sample could be; at the end each class
is cut to its share. The result depends on the seed and the order of the samples, not on
the batches: each sample gets a random number by its position, and those with the
smallest numbers are kept.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from quorate._data._batches import Batch, named_batch
from quorate._data._rows import joined_rows
from quorate._rows import take_rows
from quorate._typing import Array, IntArray
from quorate.exceptions import BatchError

# Default sample size.
MAX_SAMPLES = 200_000


@dataclass(frozen=True, slots=True)
class Drawn:
    """A stratified sample, and what it was drawn from.

    Attributes
    ----------
    n_samples : int
        How many were drawn.
    n_rows : int
        How many there were.
    """

    n_samples: int
    n_rows: int
    seed: int

    def __str__(self) -> str:
        return self.describe()

    def describe(self, things: str = "") -> str:
        """Return how many of how many things were drawn.

        Examples
        --------
        >>> Drawn(300, 12_000, 0).describe("rows")
        '300 of 12,000 rows, drawn by class'
        """
        total = f"{self.n_rows:,} {things}".strip()
        return f"{self.n_samples:,} of {total}, drawn by class"

    def to_dict(self) -> dict[str, int]:
        """Return plain types for JSON."""
        return {"samples": self.n_samples, "of": self.n_rows, "seed": self.seed}


def sample_size(max_samples: Any, owner: str) -> int:
    """Return the maximum number of samples to draw, or raise an error."""
    if max_samples is None:
        return MAX_SAMPLES
    whole = isinstance(max_samples, (int, np.integer))
    if not whole or isinstance(max_samples, bool) or max_samples < 1:
        raise ValueError(
            f"{owner}(max_samples={max_samples!r}): must be a whole number, 1 or more."
        )
    return int(max_samples)


# Returns the labels; raises an error if samples and labels do not match.
Check = Callable[[Any, Any], Array]


def draw_sample(
    batches: Iterable[Batch],
    size: int,
    seed: int = 0,
    *,
    check: Check = lambda X, y: np.asarray(y),
    owner: str = "draw_sample",
    rows: int = 1 << 16,
) -> tuple[Any, Array, IntArray, int]:
    """Draw a stratified sample of at most ``size`` samples.

    Parameters
    ----------
    batches : iterable of Batch
    size : int
        How many.
    seed : int
        Seed of the draw.
    check : callable
        Returns the labels of a batch, or refuses it: a sample is drawn from what would
        be voted on, and from nothing else.
    owner : str
        Name of the caller, for error messages.
    rows : int
        Rows to read at a time.

    Returns
    -------
    X, y
        The samples drawn, in the order in which they came.
    positions : array of int
        Where they were among all.
    n_rows : int
        How many there are in all.
    """
    numbers = np.random.default_rng(seed)
    kept: list[tuple[Any, Array, Array, IntArray]] = []
    counts: dict[Any, int] = {}
    done = 0
    for X, labels in _checked(batches, rows, check, owner):
        for label, count in zip(*np.unique(labels, return_counts=True), strict=True):
            counts[label] = counts.get(label, 0) + int(count)
        drawn = numbers.random(labels.size)
        kept.append((X, labels, drawn, done + np.arange(labels.size)))
        done += labels.size
        if sum(part[1].size for part in kept) > 2 * size + rows:
            kept = [_cut(_joined(kept), dict.fromkeys(counts, size))]
    if not kept:
        raise ValueError(f"{owner}: there are no samples to choose from.")
    if done > size < len(counts):
        raise ValueError(
            f"{owner}(max_samples={size}): at least one sample of each class is drawn, "
            f"and there are {len(counts)} classes; give {len(counts)} or more."
        )
    X, y, _, places = _cut(_joined(kept), shares(counts, size))
    return X, y, places, done


def shares(counts: dict[Any, int], size: int) -> dict[Any, int]:
    """Return the number of samples per class of a stratified sample, at least one.

    Shares are rounded down, and the rest goes to the largest remainders, ties by label.
    What rare classes get beyond their share is taken from the classes with the smallest
    loss.
    """
    total = sum(counts.values())
    if total <= size:
        return dict(counts)
    labels = sorted(counts)
    # Integers, multiplied by the total, so that equal remainders tie exactly.
    exact = np.array([counts[label] * size for label in labels])
    given = np.maximum(exact // total, 1)
    # A class raised to one sample has no remainder left.
    order = np.argsort(given * total - exact, kind="stable")
    given[order[: max(0, size - int(given.sum()))]] += 1
    for _ in range(int(given.sum()) - max(size, given.size)):
        given[np.where(given > 1, given * total - exact, -size * total).argmax()] -= 1
    return dict(zip(labels, given.tolist(), strict=True))


def _checked(
    batches: Iterable[Batch], rows: int, check: Check, owner: str
) -> Iterator[tuple[Any, Array]]:
    try:
        for batch in batches:
            with named_batch(batch.name):
                for X, y in batch.parts(rows):
                    yield X, check(X, y)
    except BatchError as error:
        raise BatchError(f"{owner}: {error}") from error


def _joined(parts: list[Any]) -> Any:
    if len(parts) == 1:
        return parts[0]
    X = joined_rows([part[0] for part in parts])
    return X, *(np.concatenate([part[k] for part in parts]) for k in (1, 2, 3))


def _cut(part: Any, sizes: dict[Any, int]) -> Any:
    """Keep the samples of each class with the smallest numbers, in order."""
    X, labels, drawn, places = part
    order = np.lexsort((places, drawn))
    keep = np.zeros(labels.size, dtype=bool)
    for label, size in sizes.items():
        own = order[labels[order] == label]
        keep[own[:size]] = True
    rows = np.flatnonzero(keep)
    return take_rows(X, rows), labels[rows], drawn[rows], places[rows]
