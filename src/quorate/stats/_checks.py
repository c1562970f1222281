"""Judge what a test is given; every refusal says who, what came, and what fits."""

import math
from typing import Any

import numpy as np

from quorate._typing import FloatArray

LARGEST = 1e100  # squares of scores must stay finite


def as_floats(owner: str, what: str, values: Any) -> FloatArray:
    """Return a new float array in which NaN marks what is missing."""
    refusal = f"{owner}: {what} must be numbers in rows of one length"
    try:
        given = np.asarray(values)
        if given.dtype.kind == "O":
            given = given.astype(float)  # None becomes NaN
    except (TypeError, ValueError):
        raise ValueError(f"{refusal}, got {values!r:.80}.") from None
    if given.dtype.kind not in "biuf":
        raise ValueError(f"{refusal}, got {given.dtype}.")
    floats: FloatArray = given.astype(float)
    floats[np.ma.getmaskarray(values)] = math.nan
    return floats


def as_pair(owner: str, a: Any, b: Any) -> tuple[FloatArray, FloatArray]:
    """Return two rows of scores of the same length, at least two long."""
    first, second = as_floats(owner, "a", a), as_floats(owner, "b", b)
    if first.ndim != 1 or first.shape != second.shape:
        raise ValueError(
            f"{owner}: a and b must be 1-d and of one length, "
            f"got shapes {first.shape} and {second.shape}."
        )
    for name, row in (("a", first), ("b", second)):
        bad = ~(np.abs(row) <= LARGEST)
        if bad.any():
            at = int(np.argmax(bad))
            raise ValueError(
                f"{owner}: {name}[{at}] is {row[at]}; scores must be finite, "
                f"at most {LARGEST:g} in size."
            )
    if first.size < 2:
        raise ValueError(f"{owner}: at least 2 pairs of scores, got {first.size}.")
    return first, second


def as_number(
    owner: str, name: str, value: Any, *, zero: bool = False, limit: float = 1.0
) -> float:
    """Return a number above zero (or zero, if so allowed) and below ``limit``."""
    fits = (
        isinstance(value, (int, float, np.integer, np.floating))
        and not isinstance(value, bool)
        and (value > 0 or (zero and value == 0))
        and value < limit
    )
    if not fits:
        low = "0 or more" if zero else "above 0"
        high = "" if math.isinf(limit) else f" and below {limit:g}"
        raise ValueError(f"{owner}({name}={value!r}): a number {low}{high}.")
    return float(value)
