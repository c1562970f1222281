"""Scores of what classes get: mean losses, and areas under curves."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.stats import rankdata

from quorate._scoring._score import Score, ScoreEstimate, estimate_in_groups
from quorate._typing import Array, BoolArray, FloatArray, IntArray
from quorate._votes import Prediction


@dataclass(frozen=True, slots=True, eq=False, kw_only=True, repr=False)
class MeanScore(Score):
    """The mean of a function of what the classes get on a sample."""

    function: Callable[[FloatArray, IntArray], FloatArray]

    def inputs(self, prediction: Prediction) -> Array:
        """See :class:`Score`."""
        return self.function(prediction.shares(), prediction.y)

    def value(self, inputs: Array, y: IntArray) -> float:
        """See :class:`Score`."""
        return float(inputs.mean())

    def estimate(self, inputs: Array, y: IntArray) -> ScoreEstimate:
        """See :class:`Score`."""
        score = float(inputs.mean())
        return ScoreEstimate(score, self.top - score, -inputs)


def log_likelihood(shares: FloatArray, y: IntArray) -> FloatArray:
    """Return the logarithm of what the true class gets, cut off as scikit-learn has."""
    least = np.finfo(shares.dtype).eps
    return np.asarray(np.log(np.clip(shares[np.arange(y.size), y], least, 1 - least)))


def negated_brier(shares: FloatArray, y: IntArray) -> FloatArray:
    """Return minus the squared distance to the truth; half of it for two classes."""
    if shares.shape[1] == 2:
        return np.asarray(-((shares[:, 1] - y) ** 2))
    squares = (shares**2).sum(axis=1) - 2 * shares[np.arange(y.size), y] + 1
    return np.asarray(-squares)


MEANS = {"neg_log_loss": log_likelihood, "neg_brier_score": negated_brier}


@dataclass(frozen=True, slots=True, eq=False, kw_only=True, repr=False)
class _Ranking(Score):
    """An area for one of two classes, or a mean over classes against the others."""

    weighted: bool = False
    """Whether classes count by their samples."""
    place: int = 1
    """Which of two classes is the positive one."""

    def inputs(self, prediction: Prediction) -> Array:
        """See :class:`Score`."""
        shares = prediction.shares()
        return shares if self.classes.size > 2 else shares[:, [self.place]]

    def _columns(
        self, inputs: Array, y: IntArray
    ) -> list[tuple[int, FloatArray, BoolArray]]:
        """Return the classes judged: code, what ranks the samples, and who is of it."""
        codes = [self.place] if inputs.shape[1] == 1 else range(inputs.shape[1])
        found = [
            (code, column, y == code)
            for code, column in zip(codes, inputs.T, strict=True)
        ]
        return [each for each in found if each[2].any() and not each[2].all()]


class AreaUnderRoc(_Ranking):
    """The area under the ROC curve: how often a sample is ranked before another."""

    __slots__ = ()

    def value(self, inputs: Array, y: IntArray) -> float:
        """See :class:`Score`."""
        columns = self._columns(inputs, y)
        areas = np.array([_area(ranks, there) for _, ranks, there in columns])
        return float(areas @ self._weights(columns)) if columns else np.nan

    def estimate(self, inputs: Array, y: IntArray) -> ScoreEstimate:
        """See :class:`Score`.

        The parts are DeLong's placements of each sample among those of the other side.
        """
        columns = self._columns(inputs, y)
        if not columns:
            return ScoreEstimate(np.nan, np.nan, np.full(y.size, np.nan))
        areas, parts = np.empty(len(columns)), np.empty((len(columns), y.size))
        for place, (_, ranks, there) in enumerate(columns):
            areas[place], parts[place] = _placements(ranks, there)
        weights = self._weights(columns)
        score, together = float(areas @ weights), weights @ parts
        if self.weighted and inputs.shape[1] > 1:
            # Another sample of a class also changes what the class counts.
            own = np.zeros(self.classes.size)
            own[[code for code, _, _ in columns]] = areas
            together = together + own[y] - score
        return ScoreEstimate(score, self.top - score, -together)

    def _weights(self, columns: list[tuple[int, FloatArray, BoolArray]]) -> FloatArray:
        if not self.weighted:
            return np.full(len(columns), 1.0 / max(len(columns), 1))
        sizes = np.array([there.sum() for _, _, there in columns], dtype=float)
        return np.asarray(sizes / sizes.sum())


class AveragePrecision(_Ranking):
    """The precision, averaged over the ranks at which samples of the class come."""

    __slots__ = ()

    def value(self, inputs: Array, y: IntArray) -> float:
        """See :class:`Score`."""
        columns = self._columns(inputs, y)
        if not columns:
            return np.nan
        return float(np.mean([_precision(ranks, there) for _, ranks, there in columns]))

    def estimate(self, inputs: Array, y: IntArray) -> ScoreEstimate:
        """See :class:`Score`."""
        return estimate_in_groups(self, inputs, y)


def _area(ranking: FloatArray, there: BoolArray) -> float:
    n_in = int(there.sum())
    ranks = rankdata(ranking)
    before = float(ranks[there].sum()) - n_in * (n_in + 1) / 2
    return before / (n_in * (there.size - n_in))


def _placements(ranking: FloatArray, there: BoolArray) -> tuple[float, FloatArray]:
    """Return the area, and its parts of the samples."""
    n, n_in = there.size, int(there.sum())
    n_out = n - n_in
    ranks = rankdata(ranking)
    passed = (ranks[there] - rankdata(ranking[there])) / n_out
    missed = 1.0 - (ranks[~there] - rankdata(ranking[~there])) / n_in
    area = float(passed.mean())
    parts = np.empty(n)
    parts[there] = area + n / n_in * (passed - area)
    parts[~there] = area + n / n_out * (missed - area)
    return area, parts


def _precision(ranking: FloatArray, there: BoolArray) -> float:
    order = np.argsort(-ranking, kind="stable")
    falling, hits = ranking[order], np.cumsum(there[order])
    # Equal samples come in together.
    last = np.append(np.flatnonzero(np.diff(falling)), falling.size - 1)
    found = hits[last]
    return float(np.sum(np.diff(found, prepend=0) * found / (last + 1)) / found[-1])
