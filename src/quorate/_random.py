"""What a caller gives as ``random_state``: checked and understood in one place."""

from typing import Any

import numpy as np


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
    if not whole or isinstance(random_state, bool) or not 0 <= random_state < 2**32:
        raise ValueError(
            f"{owner}(random_state={random_state!r}): must be a whole number from 0 "
            f"to {2**32 - 1}, a Generator, or a RandomState."
        )
    return int(random_state)


def as_generator(random_state: Any, owner: str) -> np.random.Generator:
    """Return a generator for None, a seed, a RandomState or a Generator.

    Examples
    --------
    >>> int(as_generator(0, "prune").integers(100))
    85
    """
    if isinstance(random_state, np.random.Generator):
        return random_state
    return np.random.default_rng(as_seed(random_state, owner))


def draw_seed(random_state: Any, owner: str) -> int:
    """Return a seed that is drawn from what the caller gave."""
    return int(as_generator(random_state, owner).integers(2**31 - 1))
