"""What fitting a lazy vote decides: whom to ask first, when to look, what to doubt."""

import math
from numbers import Integral, Real
from typing import Any

import numpy as np
from scipy.stats import binom
from sklearn.utils import check_random_state

from quorate._data import count_rows
from quorate._messages import warn
from quorate._typing import IntArray
from quorate.exceptions import ConfidenceWarning, TrainingVotesWarning
from quorate.lazy._additive import AdditiveEnsemble
from quorate.lazy._engine import agreements
from quorate.lazy._rules import (
    changes_allowed,
    first_decision,
    growing_blocks,
    least_epsilon,
    rows_needed,
)

MODES = ("exact", "bayes", "calibrated", "all")
# A smaller share takes more samples than anybody has.
_LEAST_EPSILON = 1e-9
# Changes on the rows given to fit that chance does not explain.
_UNLIKELY = 0.01


def check_parameters(lazy: Any) -> None:
    """Refuse parameters of a :class:`quorate.LazyClassifier` that fit nothing."""
    least = _LEAST_EPSILON if lazy.mode == "calibrated" else 0.0
    size, order, guarantee = lazy.block_size, lazy.order, lazy.guarantee
    is_count = isinstance(size, Integral) and not isinstance(size, bool)
    fits_size = size == "auto" or (is_count and int(size) >= 1)
    for name, fits, what in (
        ("mode", lazy.mode in MODES, "'exact', 'bayes', 'calibrated' or 'all'"),
        (
            "engine",
            lazy.engine in ("auto", "compiled", "numpy"),
            "'auto', 'compiled' or 'numpy'",
        ),
        (
            "epsilon",
            _is_number(lazy.epsilon) and 0 < lazy.epsilon < 1 and lazy.epsilon >= least,
            f"a share in (0, 1), calibrated one of at least {_LEAST_EPSILON:g}; for "
            "none at all use mode='exact'",
        ),
        (
            "guarantee",
            (isinstance(guarantee, str) and guarantee == "mean")
            or (_is_number(guarantee) and 0.5 <= guarantee < 1),
            "'mean', or the probability in [0.5, 1) with which a single fit keeps to "
            "epsilon",
        ),
        (
            "order",
            not isinstance(order, str) or order in ("auto", "given", "random"),
            "'auto', 'given', 'random', or an array of members",
        ),
        ("block_size", fits_size, "'auto', or 1 member or more"),
    ):
        if not fits:
            raise ValueError(f"LazyClassifier({name}={getattr(lazy, name)!r}): {what}.")
    check_confidence(lazy.confidence)


def check_confidence(confidence: Any) -> None:
    """Refuse what is no confidence."""
    if not _is_number(confidence) or not 0.5 <= confidence < 1:
        raise ValueError(
            f"LazyClassifier(confidence={confidence!r}): a probability in [0.5, "
            "1); for certainty use mode='exact'."
        )


def checked_order(order: Any, n_members: int) -> IntArray:
    """Return an order given as an array, if it has every member once."""
    given, every = np.asarray(order), np.arange(n_members)
    fits = given.dtype.kind in "iu" and given.shape == every.shape
    if not (fits and np.array_equal(np.sort(given), every)):
        raise ValueError(
            f"LazyClassifier(order=...): 'auto', 'given', 'random', or each of the "
            f"members 0 to {n_members - 1} once."
        )
    checked: IntArray = given.astype(np.intp)
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


def make_order(
    settings: Any, ensemble: AdditiveEnsemble, reference: IntArray | None, X: Any
) -> IntArray:
    """Return the members in the order in which they are asked.

    ``reference`` is what the ensemble answers on the prepared rows X, if there are any.
    """
    order = settings.order
    if not isinstance(order, str):
        return checked_order(order, ensemble.n_members)
    if order == "given" or (order == "auto" and settings.mode == "all"):
        return np.arange(ensemble.n_members)
    if order == "random" or settings.mode == "bayes" or ensemble.is_equal:
        shuffled: IntArray = check_random_state(settings.random_state).permutation(
            ensemble.n_members
        )
        return shuffled
    worth = np.abs(ensemble.weights)
    # An order that is fitted to the rows that then calibrate makes leads on them look
    # safer than on others.
    if reference is not None and settings.mode != "calibrated":
        worth = worth * agreements(ensemble, reference, X)
    ranked: IntArray = np.argsort(-worth, kind="stable")
    return ranked


def make_ends(settings: Any, ensemble: AdditiveEnsemble, order: IntArray) -> IntArray:
    """Return after how many members the vote is looked at."""
    size = settings.block_size
    if settings.mode == "all":
        return np.array([ensemble.n_members])
    if size != "auto":
        blocks = np.arange(int(size), ensemble.n_members, int(size))
        ends: IntArray = np.r_[blocks, ensemble.n_members]
        return ends
    first = first_decision(ensemble, order) if settings.mode == "exact" else 0
    return growing_blocks(ensemble.n_members, first)


def doubt_bayes(
    settings: Any, ensemble: AdditiveEnsemble, n_changed: int, n_rows: int
) -> bool:
    """Warn where the model of "bayes" is not that of the vote; tell if it is not.

    The promise is kept only if the order says nothing about the members, if all votes
    count alike, and if the rows at hand do not speak against it.
    """
    allowed = 1 - settings.confidence
    seen = f"{n_changed} of {n_rows} predictions change" if n_rows else ""
    problem = None
    if not isinstance(settings.order, str) or settings.order == "given":
        problem = (
            "the promise holds for members asked in random order, and this order "
            f"may put the weak ones first{' (' * bool(seen)}{seen}"
            f"{')' * bool(seen)}; leave order='auto', or use mode='calibrated', "
            "which takes any order."
        )
    elif not ensemble.is_equal and (not n_rows or n_changed > allowed * n_rows):
        problem = (
            "the promise holds for votes of equal weight"
            f"{', and ' * bool(seen)}{seen}; use mode='calibrated', which takes "
            "any weights."
        )
    elif n_rows and binom.sf(n_changed - 1, n_rows, allowed) < _UNLIKELY:
        problem = (
            f"{seen}, more than the confidence allows; the members do not vote as "
            "the model assumes, use mode='calibrated'."
        )
    if problem is not None:
        warn(
            f"LazyClassifier(mode='bayes', confidence={settings.confidence}): "
            f"{problem}",
            ConfidenceWarning,
        )
    return problem is not None or not ensemble.is_equal


def warn_of_training_rows(flaw: str) -> None:
    """Warn that rows which members know, or may know, cannot calibrate."""
    warn(
        "LazyClassifier(mode='calibrated'): nothing is promised, since members agree "
        f"more on samples they were trained on, and {flaw}.",
        TrainingVotesWarning,
    )
