"""How many samples are looked at where there are very many, and which."""

from dataclasses import dataclass
from typing import Any

import numpy as np

MAX_SAMPLES = 200_000
"""Samples that are looked at if nothing else is said."""


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


def sample_size(max_samples: Any, owner: str) -> int:
    """Return how many samples to draw at most, or say what would fit."""
    if max_samples is None:
        return MAX_SAMPLES
    whole = isinstance(max_samples, (int, np.integer))
    if not whole or isinstance(max_samples, bool) or max_samples < 1:
        raise ValueError(
            f"{owner}(max_samples={max_samples!r}): a whole number, 1 or more."
        )
    return int(max_samples)
