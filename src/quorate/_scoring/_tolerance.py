"""Check for tolerances so large that a model could ignore a class."""

import math
from typing import Any

import numpy as np

from quorate._typing import Array, FloatArray, IntArray

_USUAL = 0.02


def usual_tolerance(samples: IntArray, *, balanced: bool = False) -> float:
    """Return the default tolerance: at most a fifth of the rarest class.

    It depends on the labels alone, so guarantees remain valid.

    Examples
    --------
    >>> import numpy as np
    >>> usual_tolerance(np.array([500, 500])), usual_tolerance(np.array([970, 13]))
    (0.02, 0.0026)
    """
    there = samples[samples > 0]
    rarest = 1 / there.size if balanced else there.min() / there.sum()
    digits = 1 - math.floor(math.log10(rarest / 5))
    return float(min(_USUAL, math.floor(rarest / 5 * 10**digits) / 10**digits))


def costs_of_ignoring(
    samples: IntArray, found: IntArray, *, balanced: bool = False
) -> FloatArray:
    """Return how much the error grows if a class is never predicted.

    Infinite for a class that is never found: it cannot be lost.

    Parameters
    ----------
    samples, found : array of int
        Samples of each class, and how many of them the whole model finds.
    balanced : bool
        Whether every class counts the same.
    """
    costs: FloatArray = found / samples.sum()
    if balanced:
        costs = found / np.maximum(samples, 1) / np.count_nonzero(samples)
    return np.where(found > 0, costs, np.inf)


def why_empty(
    tolerance: float,
    classes: Array,
    samples: IntArray,
    found: IntArray,
    *,
    balanced: bool = False,
) -> str:
    """Return which class a model could ignore within a tolerance; empty if none.

    Parameters
    ----------
    tolerance : float
        By how much the error may grow.
    classes : array
        The labels.
    samples, found, balanced
        As for :func:`costs_of_ignoring`.

    Examples
    --------
    >>> import numpy as np
    >>> counts = np.array(["fine", "fraud"]), np.array([980, 20]), np.array([975, 12])
    >>> why_empty(0.02, *counts)[:62]
    "a model that never predicts class 'fraud' would satisfy it as "
    >>> why_empty(0.01, *counts), why_empty(0.02, *counts, balanced=True)
    ('', '')
    """
    costs = costs_of_ignoring(samples, found, balanced=balanced)
    rarest = int(costs.argmin())
    if tolerance < costs[rarest]:
        return ""
    label: Any = classes[rarest].item()
    other = "" if balanced else ", or give every class the same weight"
    return (
        f"a model that never predicts class {label!r} would satisfy it as well, "
        f"because {samples[rarest]:,} of {samples.sum():,} samples are of that class "
        f"and {100 * found[rarest] / samples[rarest]:.0f} % of those are found; use a "
        f"tolerance below {costs[rarest]:.2g}{other}"
    )
