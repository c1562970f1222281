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

    def of(self, things: str) -> str:
        """Say the same of things that have a name.

        Examples
        --------
        >>> Drawn(300, 12_000, 0).of("rows")
        '300 of 12,000 rows, drawn by class'
        """
        return f"{self.n_samples:,} of {self.n_rows:,} {things}, drawn by class"

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


def as_seed(random_state: Any, owner: str) -> int | None:
    """Return a seed that a record can keep; None if nobody gave one.

    Examples
    --------
    >>> as_seed(7, "prune"), as_seed(None, "prune")
    (7, None)
    """
    if random_state is None:
        return None
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**31 - 1))
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31 - 1))
    whole = isinstance(random_state, (int, np.integer))
    if not whole or isinstance(random_state, bool) or random_state < 0:
        raise ValueError(
            f"{owner}(random_state={random_state!r}): a whole number, 0 or more, a "
            "Generator, or a RandomState."
        )
    return int(random_state)
