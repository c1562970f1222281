"""Areas under curves: how well samples of a class are ranked before the others."""

from dataclasses import dataclass

import numpy as np
from scipy.stats import rankdata

from quorate._scoring._evaluated import group_places, in_groups
from quorate._scoring._judged import Judged
from quorate._scoring._score import Score
from quorate._typing import Array, BoolArray, FloatArray, IntArray
from quorate._votes import Outcome


@dataclass(frozen=True, slots=True, eq=False, kw_only=True, repr=False)
class _Ranking(Score):
    """An area for one of two classes, or a mean over classes against the others."""

    weighted: bool = False
    """Whether classes count by their samples."""
    place: int = 1
    """Which of two classes is the positive one."""

    def take(self, outcome: Outcome, y: IntArray) -> Array:
        """See :class:`Score`."""
        assert outcome.shares is not None
        if self.classes.size > 2:
            return outcome.shares
        return outcome.shares[:, [self.place]]

    def _columns(
        self, taken: Array, y: IntArray
    ) -> list[tuple[int, FloatArray, BoolArray]]:
        """Return the classes judged: code, what ranks the samples, and who is of it."""
        codes = [self.place] if taken.shape[1] == 1 else range(taken.shape[1])
        found = [
            (code, column, y == code)
            for code, column in zip(codes, taken.T, strict=True)
        ]
        return [each for each in found if each[2].any() and not each[2].all()]


class AreaUnderRoc(_Ranking):
    """The area under the ROC curve: how often a sample is ranked before another."""

    __slots__ = ()

    def value(self, taken: Array, y: IntArray) -> float:
        """See :class:`Score`."""
        columns = self._columns(taken, y)
        areas = np.array([_area(ranks, there) for _, ranks, there in columns])
        return float(areas @ self._weights(columns)) if columns else np.nan

    def judge(self, taken: Array, y: IntArray) -> Judged:
        """See :class:`Score`.

        The parts are DeLong's placements of each sample among those of the other side.
        """
        columns = self._columns(taken, y)
        if not columns:
            return Judged(np.nan, np.full(y.size, np.nan))
        areas, parts = np.empty(len(columns)), np.empty((len(columns), y.size))
        for place, (_, ranks, there) in enumerate(columns):
            areas[place], parts[place] = _placements(ranks, there)
        weights = self._weights(columns)
        score, together = float(areas @ weights), weights @ parts
        if self.weighted and taken.shape[1] > 1:
            # Another sample of a class also changes what the class counts.
            own = np.zeros(self.classes.size)
            own[[code for code, _, _ in columns]] = areas
            together = together + own[y] - score
        return Judged(score, together)

    def _weights(self, columns: list[tuple[int, FloatArray, BoolArray]]) -> FloatArray:
        if not self.weighted:
            return np.full(len(columns), 1.0 / max(len(columns), 1))
        sizes = np.array([there.sum() for _, _, there in columns], dtype=float)
        return np.asarray(sizes / sizes.sum())


class AveragePrecision(_Ranking):
    """The precision, averaged over the ranks at which samples of the class come."""

    __slots__ = ()

    def value(self, taken: Array, y: IntArray) -> float:
        """See :class:`Score`."""
        columns = self._columns(taken, y)
        if not columns:
            return np.nan
        return float(np.mean([_precision(ranks, there) for _, ranks, there in columns]))

    def judge(self, taken: Array, y: IntArray) -> Judged:
        """See :class:`Score`."""
        return in_groups(self, taken, y, group_places(y))


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
