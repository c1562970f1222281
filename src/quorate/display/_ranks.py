"""Plots of average ranks, and of significant differences."""

from dataclasses import dataclass, fields
from typing import Any, Self

import numpy as np
from matplotlib.axes import Axes
from matplotlib.font_manager import FontProperties

from quorate._typing import FloatArray
from quorate.display import _base
from quorate.display._base import ALL, GOOD, KEPT, Display
from quorate.display._study import cells_of
from quorate.stats import nemenyi
from quorate.study import Results


@dataclass(eq=False, repr=False)
class _Ranking(Display):
    """Shared code of the two rank plots."""

    methods: tuple[str, ...]
    average_ranks: FloatArray
    critical_difference: float
    cliques: tuple[tuple[str, ...], ...]
    alpha: float
    n_blocks: int

    @classmethod
    def from_scores(cls, scores: Any, *, alpha: float = 0.05) -> Self:
        """Rank the methods of a score table.

        Parameters
        ----------
        scores : Scores, or what makes one
            Higher is better; at least two blocks and two methods.
        alpha : float
            Level of significance for all pairs together.
        """
        found = nemenyi(scores, alpha)
        return cls(**{field.name: getattr(found, field.name) for field in fields(cls)})

    @classmethod
    def from_results(cls, results: Results) -> Self:
        """Rank the methods of a study on its complete data sets."""
        cells_of(results)  # refuse before computing
        return cls.from_scores(results.scores().complete_blocks())

    def _setting(self) -> str:
        return (
            f"Nemenyi, alpha = {self.alpha:g}: critical difference "
            f"{self.critical_difference:.2f} over {self.n_blocks} blocks"
        )


@dataclass(eq=False, repr=False)
class RankDisplay(_Ranking):
    """Average rank of each method, with an interval as wide as the critical difference.

    Two methods whose intervals do not overlap differ significantly. This is the
    Friedman chart of the literature.

    Parameters
    ----------
    methods : tuple of str
    average_ranks : ndarray of shape (n_methods,)
        Rank 1 is best.
    critical_difference : float
        Ranks at least this far apart differ significantly.
    cliques : tuple of tuples of str
        Largest groups in which no two methods differ.
    alpha : float
        Level of significance.
    n_blocks : int
        Number of blocks, such as data sets.

    Attributes
    ----------
    ax_, figure_
        Where it was drawn.

    Examples
    --------
    >>> from quorate.display import RankDisplay
    >>> scores = {"epbd": [0.9, 0.8, 0.9], "kp": [0.8, 0.7, 0.8], "es": [0.7, 0.6, 0.5]}
    >>> RankDisplay.from_scores(scores).average_ranks
    array([1., 2., 3.])
    """

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw a point and an interval for each method, the best on top.

        Parameters
        ----------
        ax : matplotlib axes, optional
            A new figure by default.
        """
        n = len(self.methods)
        ax, _ = self._axes(ax, 6.4, 1.2 + 0.27 * n)
        order = np.argsort(self.average_ranks, kind="stable")
        ranks, rows = self.average_ranks[order], np.arange(n)
        half = self.critical_difference / 2
        ax.axvspan(ranks[0] - half, ranks[0] + half, color=GOOD, alpha=0.12, lw=0)
        near = ranks - ranks[0] < self.critical_difference
        for which, hue, marker in ((near, GOOD, "o"), (~near, ALL, "s")):
            ax.errorbar(
                ranks[which], rows[which], xerr=half, fmt=marker, color=hue, ms=6,
                elinewidth=1.6, capsize=3,
            )  # fmt: skip
        reach = float(ranks[-1] + half)
        for row, rank in zip(rows, ranks, strict=True):
            _base.note(ax, f"{rank:.2f}", (reach, row), (8, 0), va="center")
        _base.name_rows(ax, [self.methods[at] for at in order])
        ax.set_ylim(n - 0.4, -0.6)
        # Intervals may extend further, but ranks are between 1 and n.
        ax.set_xlim(ax.get_xlim())
        ax.set_xticks([tick for tick in ax.get_xticks() if 1 <= tick <= n])
        ax.set_xlabel("average rank, 1 is best")
        _base.heading(ax, self._setting())
        return self


@dataclass(eq=False, repr=False)
class CriticalDifferenceDisplay(_Ranking):
    """Critical-difference diagram: methods along their ranks, bars over those level.

    A bar joins methods none of which differ significantly; a method under no bar
    differs from every other.

    Parameters
    ----------
    methods : tuple of str
    average_ranks : ndarray of shape (n_methods,)
        Rank 1 is best.
    critical_difference : float
        Ranks at least this far apart differ significantly.
    cliques : tuple of tuples of str
        Largest groups in which no two methods differ.
    alpha : float
        Level of significance.
    n_blocks : int
        Number of blocks, such as data sets.

    Attributes
    ----------
    ax_, figure_
        Where it was drawn.

    References
    ----------
    J. Demsar, "Statistical comparisons of classifiers over multiple data sets", Journal
    of Machine Learning Research 7, 2006.

    Examples
    --------
    >>> from quorate.display import CriticalDifferenceDisplay
    >>> scores = {"epbd": [0.9, 0.8, 0.9], "kp": [0.8, 0.7, 0.8], "es": [0.7, 0.6, 0.5]}
    >>> CriticalDifferenceDisplay.from_scores(scores).cliques
    (('epbd', 'kp'), ('kp', 'es'))
    """

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw the diagram.

        Parameters
        ----------
        ax : matplotlib axes, optional
            A new figure by default.
        """
        n, bars = len(self.methods), len(self.cliques)
        per_side = (n + 1) // 2
        deep = 0.5 + 0.28 * bars  # where the first name comes, below the bars
        total = deep + 0.55 * per_side
        ax, ink = self._axes(ax, 7.2, 1.0 + 0.42 * total)
        order = np.argsort(self.average_ranks, kind="stable")
        ranks = self.average_ranks[order]
        low = int(np.floor(ranks[0]))
        high = int(np.ceil(max(ranks[-1], low + 1, low + self.critical_difference)))
        span = high - low
        left, right = low - 0.06 * span, high + 0.06 * span
        size = _font_size(ax, total)

        ax.plot([low, high], [0, 0], color=ink, lw=1.2, clip_on=False)
        step = max(1, round(span / 10))
        for tick in range(low, high + 1):
            major = (tick - low) % step == 0
            ax.plot([tick, tick], [0, -0.14 if major else -0.08], color=ink, lw=1)
            if major:
                ax.text(tick, -0.22, str(tick), ha="center", color=ink, fontsize=size)
        for place, rank in enumerate(ranks):
            on_left = place < per_side
            row = deep + 0.55 * (place if on_left else n - 1 - place)
            edge = left if on_left else right
            name = _base.plain(self.methods[order[place]])
            ax.plot([rank, rank, edge], [0, row, row], color=ALL, lw=1, zorder=1)
            label = f"{name}  {rank:.2f}" if on_left else f"{rank:.2f}  {name}"
            look = {"ha": "right" if on_left else "left", "va": "center"}
            gap = (-4 if on_left else 4, 0)
            _base.note(ax, label, (edge, row), gap, fontsize=size, **look)
        where = dict(zip(self.methods, self.average_ranks, strict=True))
        for number, clique in enumerate(self.cliques):
            held = [where[method] for method in clique]
            y = 0.3 + 0.28 * number
            ends = [min(held) - 0.008 * span, max(held) + 0.008 * span]
            ax.plot(ends, [y, y], color=GOOD, lw=4, solid_capstyle="butt", zorder=3)
        width, words = self.critical_difference, {"color": ink, "fontsize": size}
        ax.plot([low, low + width], [-1, -1], "-|", color=KEPT, lw=1.6, ms=8)
        text, middle = f"critical difference {width:.2f}", low + width / 2
        ax.text(middle, -1.12, text, ha="center", va="bottom", **words)
        ax.set_title(f"average rank, 1 is best; {self._setting()}", **words)
        ax.set(xlim=(left, right), ylim=(total, -1.5))
        ax.set_axis_off()
        return self


def _font_size(ax: Axes, rows: float) -> float:
    """Return a font size at which names in neighbouring rows do not overlap."""
    usual = float(FontProperties(size="small").get_size())
    points = ax.get_window_extent().height * 72 / _base.figure_of(ax).dpi
    return float(np.clip(0.55 * points / (rows + 1.5) * 0.85, 4.0, usual))
