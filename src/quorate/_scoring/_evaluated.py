"""Scores that only scikit-learn's scorer knows, asked about answers that are stored."""

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

from quorate._scoring._hidden import HiddenSamples, LooksInside, places_of
from quorate._scoring._judged import Judged
from quorate._scoring._known import name_of
from quorate._scoring._score import Score
from quorate._typing import Array, IntArray
from quorate._votes import Outcome

# Groups of samples that the jackknife leaves out in turn.
_GROUPS = 10
_SEED = 0


@dataclass(frozen=True, slots=True, eq=False, kw_only=True, repr=False)
class EvaluatedScore(Score):
    """A score that is evaluated anew for every answer.

    Samples on which nobody votes are left out where only classes are looked at.
    """

    scorer: Any

    @property
    def is_own(self) -> bool:
        """Whether nothing is known of the score but what its scorer says."""
        return self.name != name_of(self.given) and self.name != self.given

    def take(self, outcome: Outcome, y: IntArray) -> Array:
        """See :class:`Score`."""
        if outcome.shares is None:
            return outcome.codes
        return np.column_stack([outcome.codes, outcome.shares])

    def value(self, taken: Array, y: IntArray) -> float:
        """See :class:`Score`."""
        codes, shares = taken, None
        if taken.ndim == 2:
            codes, shares = taken[:, 0].astype(np.intp), taken[:, 1:]
        else:
            voted = codes >= 0
            codes, y = codes[voted], y[voted]
        return evaluate(self.scorer, self.classes, codes, shares, y)

    def judge(self, taken: Array, y: IntArray) -> Judged:
        """See :class:`Score`."""
        return in_groups(self, taken, y, group_places(y))


def evaluate(
    scorer: Any, classes: Array, codes: IntArray, shares: Array | None, y: IntArray
) -> float:
    """Return what a scorer says about answers that are at hand."""
    if not y.size:
        return np.nan
    if shares is None:
        model = _Labels(classes, codes)
    elif shares.min() < 0:  # no shares but what a decision function says
        model = _Shares(classes, codes, shares)
    else:  # means of ones can be off by rounding, which scikit-learn refuses
        model = _Shares(classes, codes, np.minimum(shares, 1.0))
    X = HiddenSamples(np.arange(y.size))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # small sizes predict few classes
        found = float(scorer(model, X, classes[y]))
    if X.looks:
        raise LooksInside
    return found


class _Labels(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier that repeats what was predicted; X is which samples."""

    def __init__(self, classes: Array, codes: IntArray) -> None:
        self.classes_ = classes
        self.codes = codes

    def predict(self, X: Any) -> Array:
        return np.asarray(self.classes_[self.codes[places_of(X)]])


class _Shares(_Labels):
    """The same, with what each class got."""

    def __init__(self, classes: Array, codes: IntArray, shares: Array) -> None:
        super().__init__(classes, codes)
        self.shares = shares

    def predict_proba(self, X: Any) -> Array:
        return np.asarray(self.shares[places_of(X)])


def group_places(y: IntArray) -> IntArray:
    """Return which group of the jackknife each sample is in.

    Every class is spread over the groups, so that none is gone without one of them.
    """
    mixed = np.random.default_rng(_SEED).permutation(y.size)
    by_class = mixed[np.argsort(y[mixed], kind="stable")]
    groups = np.empty(y.size, dtype=np.intp)
    groups[by_class] = np.arange(y.size) % min(_GROUPS, y.size)
    return groups


def in_groups(score: Score, taken: Array, y: IntArray, groups: IntArray) -> Judged:
    """Judge by leaving out one group of samples after the other."""
    whole = score.value(taken, y)
    n_groups = int(groups.max()) + 1
    without = np.empty(n_groups)
    for group in range(n_groups):
        rest = groups != group
        without[group] = score.value(taken[rest], y[rest]) if rest.any() else whole
    return Judged(whole, n_groups * whole - (n_groups - 1) * without)
