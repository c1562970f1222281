"""Draw a stratified sample from one or more parts in one pass.

Each class has a reservoir as large as the whole sample could be; at the end each class
is cut to its share. The result depends on the seed and the order of the samples, not on
the parts: each sample gets a random number by its position, and those with the
smallest numbers are kept.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np

from quorate._checks import check_number
from quorate._rows import take_rows
from quorate._typing import Array, IntArray

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
    check_number(owner, "max_samples", max_samples, least=1, whole=True)
    return int(max_samples)


def draw_sample(
    parts: Iterable[tuple[Any, Any]],
    size: int,
    seed: int = 0,
    *,
    owner: str = "draw_sample",
) -> tuple[Any, Array, IntArray, int]:
    """Draw a stratified sample of at most ``size`` samples.

    Parameters
    ----------
    parts : iterable of (X, y)
        Samples and labels, arrays or frames of pandas if there are several; no more
        than a few are kept in memory.
    size : int
        How many.
    seed : int
        Seed of the draw.
    owner : str
        Name of the caller, for error messages.

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
    for X, y in parts:
        labels = np.asarray(y)
        kinds = {part.dtype.kind in "OSU" for part in (labels, *(k[1] for k in kept))}
        if len(kinds) > 1:
            raise ValueError(
                f"{owner}: some labels are text and others are numbers; write all of "
                "them in the same way."
            )
        for label, count in zip(*np.unique(labels, return_counts=True), strict=True):
            counts[label] = counts.get(label, 0) + int(count)
        drawn = numbers.random(labels.size)
        kept.append((X, labels, drawn, done + np.arange(labels.size)))
        done += labels.size
        if sum(part[1].size for part in kept) > 2 * size:
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


def _joined(parts: list[Any]) -> Any:
    if len(parts) == 1:
        return parts[0]
    tables = [part[0] for part in parts]
    if hasattr(tables[0], "iloc"):
        X = import_module("pandas").concat(tables, ignore_index=True)
    else:
        X = np.concatenate(tables)
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
