"""A sample of the samples, where choosing does not need them all.

Members are told apart by how often they err, and a sample tells that with an error that
shrinks with its size, not with that of the data. Guarantees are another matter: they
want every row, and :func:`quorate.summarise` gives them that.
"""

from typing import Any

import numpy as np

from quorate._data import (
    MAX_SAMPLES,
    BatchSource,
    Drawn,
    GivenBatches,
    draw_sample,
    sample_size,
)
from quorate._messages import warn
from quorate._typing import Array, IntArray
from quorate._votes import as_labels
from quorate.ensembles import Ensemble, batch_check
from quorate.exceptions import SampledWarning

__all__ = ["MAX_SAMPLES", "Drawn", "draw_from", "draw_rows"]


def draw_rows(
    y: Any,
    max_samples: int | None,
    owner: str,
    seed: int = 0,
    *,
    may_ask: bool = True,
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
    may_ask : bool
        Whether who asks takes another number from its own caller, for that sentence.
    """
    size = sample_size(max_samples, owner)
    labels = as_labels(y, "y")
    if labels.ndim != 1 or labels.size <= size:
        return None, None  # what has another shape is refused elsewhere
    places = np.arange(labels.size)
    given = GivenBatches([(places, labels)])
    _, _, rows, _ = draw_sample(given, size, seed, owner=owner)
    drawn = Drawn(rows.size, labels.size, seed)
    return rows, warn_if_sampled(drawn, max_samples, owner, may_ask)


def draw_from(
    source: BatchSource,
    ensemble: Ensemble,
    max_samples: int | None,
    owner: str,
    seed: int = 0,
    *,
    may_ask: bool = True,
) -> tuple[Any, Array, Drawn | None]:
    """Return a stratified sample of batches, in one pass.

    Batches that the ensemble could not vote on are refused, drawn from or not.
    """
    size = sample_size(max_samples, owner)
    X, y, rows, n_rows = draw_sample(
        source, size, seed, check=batch_check(ensemble), owner=owner
    )
    if rows.size == n_rows:
        return X, y, None
    drawn = Drawn(rows.size, n_rows, seed)
    return X, y, warn_if_sampled(drawn, max_samples, owner, may_ask)


def warn_if_sampled(
    drawn: Drawn, max_samples: int | None, owner: str, may_ask: bool
) -> Drawn:
    if max_samples is None:
        how = "max_samples= takes more, or fewer" if may_ask else "others are not used"
        warn(
            f"{owner}: members are chosen on {drawn.describe('samples')}; {how}.",
            SampledWarning,
        )
    return drawn
