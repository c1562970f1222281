"""What lazy voting can be told, and what it says to what it cannot."""

import math
from numbers import Integral, Real
from typing import Any

import numpy as np

from quorate._data import count_rows
from quorate._typing import IntArray
from quorate.lazy._ready import ENGINES
from quorate.lazy._rules import changes_allowed, least_epsilon, rows_needed

MODES = ("exact", "bayes", "calibrated", "all")
ORDERS = ("auto", "given", "random")
# A smaller share takes more samples than anybody has.
_LEAST_EPSILON = 1e-9


def check_parameters(lazy: Any) -> None:
    """Refuse parameters that fit nothing."""
    if lazy.mode not in MODES:
        raise ValueError(
            f"LazyClassifier(mode={lazy.mode!r}): 'exact', 'bayes', 'calibrated' or "
            "'all'."
        )
    if lazy.engine not in ENGINES:
        raise ValueError(
            f"LazyClassifier(engine={lazy.engine!r}): 'auto', 'compiled' or 'numpy'."
        )
    check_confidence(lazy.confidence)
    _check_epsilon(lazy.epsilon, lazy.mode)
    guarantee = lazy.guarantee
    if isinstance(guarantee, str):
        fits = guarantee == "mean"
    else:
        fits = _is_number(guarantee) and 0.5 <= guarantee < 1
    if not fits:
        raise ValueError(
            f"LazyClassifier(guarantee={guarantee!r}): 'mean', or the probability in "
            "[0.5, 1) with which a single fit keeps to epsilon."
        )
    if isinstance(lazy.order, str) and lazy.order not in ORDERS:
        raise ValueError(
            f"LazyClassifier(order={lazy.order!r}): 'auto', 'given', 'random', or "
            "an array of members."
        )
    size = lazy.block_size
    counted = isinstance(size, Integral) and not isinstance(size, bool)
    if size != "auto" and not (counted and int(size) >= 1):
        raise ValueError(
            f"LazyClassifier(block_size={size!r}): 'auto', or 1 member or more."
        )


def check_confidence(confidence: Any) -> None:
    """Refuse what is no confidence."""
    if not _is_number(confidence) or not 0.5 <= confidence < 1:
        raise ValueError(
            f"LazyClassifier(confidence={confidence!r}): a probability in [0.5, "
            "1); for certainty use mode='exact'."
        )


def _check_epsilon(epsilon: Any, mode: str) -> None:
    if not _is_number(epsilon) or not 0 < epsilon < 1:
        raise ValueError(
            f"LazyClassifier(epsilon={epsilon!r}): a share in (0, 1); for "
            "none at all use mode='exact'."
        )
    if mode == "calibrated" and epsilon < _LEAST_EPSILON:
        raise ValueError(
            f"LazyClassifier(epsilon={epsilon!r}): no number of samples certifies a "
            f"share below {_LEAST_EPSILON:g}; for none at all use mode='exact'."
        )


def checked_order(order: Any, n_members: int) -> IntArray:
    """Return an order given as an array, if it has every member once."""
    found, every = np.asarray(order), np.arange(n_members)
    whole = found.dtype.kind in "iu" and found.shape == every.shape
    if not (whole and np.array_equal(np.sort(found), every)):
        raise ValueError(
            f"LazyClassifier(order=...): 'auto', 'given', 'random', or each of the "
            f"members 0 to {n_members - 1} once."
        )
    checked: IntArray = found.astype(np.intp)
    return checked


def check_rows(prepared: Any, epsilon: float, guarantee: Any) -> None:
    """Refuse to calibrate on too few samples, and say how many it takes."""
    needed = rows_needed(epsilon, guarantee)
    sure = "" if guarantee == "mean" else f", guarantee={guarantee}"
    owner = f"LazyClassifier(mode='calibrated', epsilon={epsilon}{sure})"
    if prepared is None:
        raise ValueError(
            f"{owner}: fit(X) needs at least {needed} samples; labels are not needed."
        )
    n_rows = count_rows(prepared)
    if changes_allowed(n_rows, epsilon, guarantee) < 0:
        least = _rounded_up(least_epsilon(n_rows, guarantee))
        raise ValueError(
            f"{owner}: {n_rows} samples cannot certify that; give at least {needed}, "
            f"or an epsilon of {least:g} or more."
        )


def _rounded_up(share: float) -> float:
    """Return a share with two digits that is not below it."""
    step = 10.0 ** (math.floor(math.log10(share)) - 1)
    return math.ceil(share / step - 1e-9) * step


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)
