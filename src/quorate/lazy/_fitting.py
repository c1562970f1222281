"""What fitting a lazy vote decides: whom to ask first, when to look, what to doubt."""

from typing import Any, Protocol

import numpy as np
from scipy.stats import binom
from sklearn.utils import check_random_state

from quorate._messages import warn
from quorate._typing import IntArray
from quorate.exceptions import ConfidenceWarning, TrainingVotesWarning
from quorate.lazy._additive import AdditiveEnsemble
from quorate.lazy._engine import agreements
from quorate.lazy._parameters import checked_order
from quorate.lazy._rules import first_decision, growing_blocks

# Changes on the rows given to fit that chance does not explain.
_UNLIKELY = 0.01


class Settings(Protocol):
    """Parameters of a :class:`quorate.LazyClassifier`."""

    mode: str
    confidence: float
    order: Any
    block_size: int | str
    random_state: Any


def make_order(
    settings: Settings, ensemble: AdditiveEnsemble, reference: IntArray | None, X: Any
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


def make_ends(
    settings: Settings, ensemble: AdditiveEnsemble, order: IntArray
) -> IntArray:
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
    settings: Settings, ensemble: AdditiveEnsemble, n_changed: int, n_rows: int
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
