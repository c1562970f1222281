"""A sample of the samples, where choosing does not need them all.

Members are told apart by how often they err, and a sample tells that with an error that
shrinks with its size, not with that of the data. Guarantees are another matter: they
want every row, and :func:`quorate.summarise` gives them that.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from quorate._batches import BatchSource, GivenBatches, draw_sample
from quorate._typing import Array, IntArray
from quorate._warn import warn
from quorate.exceptions import SampledWarning
from quorate.votes import as_labels

MAX_SAMPLES = 200_000
"""Samples that members are chosen on if nothing else is said."""


@dataclass(frozen=True, slots=True)
class Drawn:
    """A stratified sample, and what it was drawn from."""

    n_samples: int
    """How many were drawn."""
    n_rows: int
    """How many there were."""
    seed: int

    def __str__(self) -> str:
        return f"{self.n_samples:,} of {self.n_rows:,}, drawn by class"

    def to_dict(self) -> dict[str, int]:
        """Return plain types."""
        return {"samples": self.n_samples, "of": self.n_rows, "seed": self.seed}


def draw_rows(
    y: Any, max_samples: int | None, owner: str, seed: int = 0
) -> tuple[IntArray | None, Drawn | None]:
    """Return the positions of a stratified sample, or nothing if all may stay.

    Parameters
    ----------
    y : array-like
        Labels of all samples.
    max_samples : int, optional
        How many to draw if there are more; :data:`MAX_SAMPLES` by default, with a
        sentence that says so.
    owner : str
        Who asks, for messages.
    seed : int
        Seed of the draw.
    """
    size = _size(max_samples, owner)
    labels = as_labels(y, "y")
    if labels.ndim != 1 or labels.size <= size:
        return None, None  # what has another shape is refused elsewhere
    places = np.arange(labels.size)
    _, _, rows, _ = draw_sample(GivenBatches([(places, labels)]), size, seed)
    return rows, _said(Drawn(rows.size, labels.size, seed), max_samples, owner)


def draw_from(
    source: BatchSource, max_samples: int | None, owner: str, seed: int = 0
) -> tuple[Any, Array, IntArray, Drawn | None]:
    """Return a stratified sample of batches and where it was, in one pass."""
    size = _size(max_samples, owner)
    X, y, rows, n_rows = draw_sample(source, size, seed)
    if rows.size == n_rows:
        return X, y, rows, None
    return X, y, rows, _said(Drawn(rows.size, n_rows, seed), max_samples, owner)


def _size(max_samples: int | None, owner: str) -> int:
    if max_samples is None:
        return MAX_SAMPLES
    whole = isinstance(max_samples, (int, np.integer))
    if not whole or isinstance(max_samples, bool) or max_samples < 1:
        raise ValueError(
            f"{owner}(max_samples={max_samples!r}): a whole number, 1 or more."
        )
    return int(max_samples)


def _said(drawn: Drawn, max_samples: int | None, owner: str) -> Drawn:
    if max_samples is None:
        warn(
            f"{owner}: members are chosen on {drawn}, samples; max_samples= takes "
            "more, or fewer.",
            SampledWarning,
        )
    return drawn
