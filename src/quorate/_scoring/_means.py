"""Scores that are means over samples: logarithmic loss and Brier score, negated."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from quorate._scoring._judged import Judged
from quorate._scoring._score import Score, own_shares
from quorate._typing import Array, FloatArray, IntArray
from quorate._votes import Outcome


@dataclass(frozen=True, slots=True, eq=False, kw_only=True, repr=False)
class MeanScore(Score):
    """The mean of a function of what the classes get on a sample."""

    function: Callable[[FloatArray, IntArray], FloatArray]

    def take(self, outcome: Outcome, y: IntArray) -> Array:
        """See :class:`Score`."""
        assert outcome.shares is not None
        return self.function(outcome.shares, y)

    def value(self, taken: Array, y: IntArray) -> float:
        """See :class:`Score`."""
        return float(taken.mean())

    def judge(self, taken: Array, y: IntArray) -> Judged:
        """See :class:`Score`."""
        return Judged(float(taken.mean()), np.asarray(taken))


def log_likelihood(shares: FloatArray, y: IntArray) -> FloatArray:
    """Return the logarithm of what the true class gets, cut off as scikit-learn has."""
    least = np.finfo(shares.dtype).eps
    return np.asarray(np.log(np.clip(own_shares(shares, y), least, 1 - least)))


def negated_brier(shares: FloatArray, y: IntArray) -> FloatArray:
    """Return minus the squared distance to the truth; half of it for two classes."""
    if shares.shape[1] == 2:
        return np.asarray(-((shares[:, 1] - y) ** 2))
    squares = (shares**2).sum(axis=1) - 2 * own_shares(shares, y) + 1
    return np.asarray(-squares)


MEANS = {"neg_log_loss": log_likelihood, "neg_brier_score": negated_brier}
