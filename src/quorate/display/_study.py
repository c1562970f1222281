"""Plots of the methods of a study: results, costs and diversity."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from quorate._checks import check_type, one_of
from quorate._theory import measures
from quorate._typing import Array, FloatArray
from quorate.display import _base
from quorate.display._base import ALL, GOOD, KEPT, Display, PanelsDisplay
from quorate.study import Results

_LABELS = {
    "accuracy": "accuracy, %",
    "seconds": "time to choose members, s",
    "bytes": "memory of the members kept, bytes",
    "kept": "members kept",
}
_RELATIVE = {
    "accuracy": "accuracy − that of the whole ensemble, percentage points",
    "bytes": "memory, % of the whole ensemble's",
    "kept": "members kept, %",
}
_WHOLE = {"accuracy": "full_accuracy", "bytes": "full_bytes", "kept": "members"}


@dataclass(eq=False, repr=False)
class QuantityDisplay(Display):
    """A measured quantity of each method: data sets, quartiles, median.

    Each dot is a data set, the mean over its folds. The bar reaches from the first to
    the third quartile, the diamond is the median.

    Parameters
    ----------
    values : ndarray of shape (n_blocks, n_methods)
        Means over folds.
    methods, blocks : tuple of str
        Their names.
    quantity : {"accuracy", "seconds", "bytes", "kept"}
        What the values are.
    relative : bool
        Whether they are compared with the whole ensemble: a difference of accuracies,
        a share of bytes or members.

    Attributes
    ----------
    ax_, figure_
        Where it was drawn.

    Examples
    --------
    >>> import numpy as np
    >>> from quorate.display import QuantityDisplay
    >>> values = np.array([[0.1, 0.5], [0.2, 0.7]])
    >>> display = QuantityDisplay(values, ("epbd", "pep"), ("iris", "wine"), "seconds")
    >>> np.round(display.medians, 3)
    array([0.15, 0.6 ])
    """

    values: FloatArray
    methods: tuple[str, ...]
    blocks: tuple[str, ...]
    quantity: str = "accuracy"
    relative: bool = False

    def __post_init__(self) -> None:
        one_of("QuantityDisplay", "quantity", self.quantity, tuple(_LABELS))
        if self.relative and self.quantity not in _RELATIVE:
            raise ValueError(
                f"QuantityDisplay(relative=True): {self.quantity} is not known for the "
                "whole ensemble."
            )

    @classmethod
    def from_results(
        cls, results: Results, quantity: str = "accuracy", *, relative: bool = False
    ) -> Self:
        """Average a quantity over the folds of each complete data set.

        Parameters
        ----------
        results : Results
        quantity : {"accuracy", "seconds", "bytes", "kept"}
        relative : bool
            Compare with the whole ensemble; not for seconds.
        """
        cls(np.zeros((0, 0)), (), (), quantity, relative)  # refuse before computing
        cells_of(results)
        scores = results.scores(quantity).complete_blocks()
        values = scores.means
        if relative:
            whole = results.scores(_WHOLE[quantity])
            base = whole.means[[whole.blocks.index(block) for block in scores.blocks]]
            values = values - base if quantity == "accuracy" else values / base
        return cls(values, scores.methods, scores.blocks, quantity, relative)

    @property
    def medians(self) -> FloatArray:
        """The median over data sets, by method."""
        return np.asarray(np.median(self.values, axis=0))

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw a row for each method, the best median on top.

        Parameters
        ----------
        ax : matplotlib axes, optional
            A new figure by default.
        """
        n = len(self.methods)
        ax, ink = self._axes(ax, 6.8, 1.0 + 0.3 * n)
        best_first = -self.medians if self.quantity == "accuracy" else self.medians
        order = np.argsort(best_first, kind="stable")
        rows = np.arange(n)
        if self.quantity in ("seconds", "bytes") and not self.relative:
            ax.set_xscale("log")
            if self.values.size and 0 < self.values.min() == self.values.max():
                # Limits found by matplotlib may differ by rounding.
                ax.set_xlim(self.values.min() / 10, self.values.max() * 10)
        if self.relative and self.quantity == "accuracy":
            ax.axvline(0, color=ink, lw=0.8, alpha=0.6)
        low, middle, high = np.quantile(self.values[:, order], [0.25, 0.5, 0.75], 0)
        ax.hlines(rows, low, high, color=GOOD, lw=7, alpha=0.35)
        for row, method in zip(rows, order, strict=True):
            # A fixed pattern, not random jitter, separates the dots of a method.
            at = row + 0.16 * (np.arange(len(self.values)) % 5 - 2) / 2
            ax.plot(self.values[:, method], at, "o", color=ALL, ms=3, alpha=0.7, mew=0)
        ax.plot(middle, rows, "D", color=KEPT, ms=6, mec=ink, mew=0.6, zorder=4)
        _base.name_rows(ax, [self.methods[at] for at in order])
        labels = _RELATIVE if self.relative else _LABELS
        ax.set_xlabel(labels[self.quantity])
        if self.quantity == "accuracy" or self.relative:
            _base.percent_axis(ax.xaxis)
        elif self.quantity == "kept":
            ax.xaxis.get_major_locator().set_params(integer=True)
        if ax.get_xscale() == "log":
            _base.plain_ticks(ax.xaxis)
        key = f"● a data set ({len(self.blocks)})   ▬ middle half   ◆ median"
        _base.heading(ax, key)
        return self


@dataclass(eq=False, repr=False)
class CorrelationDisplay(PanelsDisplay):
    """What the vote gains over its members, against each measure of diversity.

    A measure that predicts the gain has its points on a line. The number is Pearson's
    correlation. Measures are of the samples that were chosen on, the gain is of the
    test samples.

    Parameters
    ----------
    measures : tuple of str
        Their names.
    values : ndarray of shape (n_measures, n_cells)
        The measures of each cell's ensemble.
    gain : ndarray of shape (n_cells,)
        Members' mean error minus the ensemble's error.

    Attributes
    ----------
    axes_, figure_
        Where it was drawn; ``ax_`` is the first panel.

    Examples
    --------
    >>> import numpy as np
    >>> from quorate.display import CorrelationDisplay
    >>> values = np.array([[0.1, 0.2, 0.3], [0.5, 0.5, 0.5]])
    >>> display = CorrelationDisplay(("kappa", "difficulty"), values,
    ...                              np.array([0.3, 0.2, 0.1]))
    >>> np.round(display.correlations, 6)
    array([-1., nan])
    """

    measures: tuple[str, ...]
    values: FloatArray
    gain: FloatArray

    @classmethod
    def from_results(cls, results: Results) -> Self:
        """Take the cells of a study."""
        cells = cells_of(results)
        names = tuple(measures())
        values = cells[[f"after_{name}" for name in names]].to_numpy(float).T
        return cls(names, values, (cells.member_error - cells.error).to_numpy(float))

    @property
    def correlations(self) -> FloatArray:
        """Pearson correlation by measure; NaN for constant columns."""
        return np.array([correlation(row, self.gain) for row in self.values])

    def plot(self, axes: Any = None, *, figure: Figure | None = None) -> Self:
        """Draw a panel for each measure.

        Parameters
        ----------
        axes : matplotlib axes, optional
            As many as there are measures.
        figure : matplotlib figure, optional
            Draw on this figure; a new one by default.
        """
        n = len(self.measures)
        wide = min(5, n)
        high = -(-n // wide)
        # Given axes need no spare panel in the last row.
        shape = (high, wide) if axes is None else (1, n)
        size = (2.15 * wide, 2.05 * high + 0.4)
        panels = self._panels(axes, figure, shape, size, sharey=True)
        for ax, name, value, r in zip(
            panels, self.measures, self.values, self.correlations, strict=False
        ):
            ink = _base.text_colour(ax)
            ax.axhline(0, color=ink, lw=0.6, alpha=0.5)
            look = {"s": 5, "color": GOOD, "alpha": 0.5, "lw": 0}
            _base.points(ax, value, self.gain, panels=n, **look)
            text = f"r {'' if np.isnan(r) else '= '}{correlation_text(r)}"
            ax.set_title(f"{name}\n{text}", fontsize="small", color=ink)
            ax.tick_params(labelsize="x-small")
            ax.xaxis.get_major_locator().set_params(nbins=4)
            _base.percent_axis(ax.yaxis)
        for spare in panels[n:]:
            spare.set_axis_off()
        look = {"fontsize": "medium", "color": _base.text_colour(self.ax_)}
        self.figure_.supylabel("members' error − ensemble error, %", **look)
        return self


@dataclass(eq=False, repr=False)
class SizeAccuracyDisplay(Display):
    """Size kept against accuracy, for methods that choose their own size.

    Small marks are data sets, large ones the means of methods. Accuracy is compared
    with the whole ensemble's, as data sets differ more than methods do.

    Parameters
    ----------
    methods : tuple of str
        Names of the methods.
    method : ndarray of int of shape (n_points,)
        The method of each point.
    share : ndarray of shape (n_points,)
        Share of kept members.
    gain : ndarray of shape (n_points,)
        Accuracy minus the whole ensemble's.
    others : dict from name to pair of float, optional
        Mean share and gain of methods that keep the requested number.
    limit : float, optional
        The share that those keep. Methods whose mean share is larger exceed it.

    Attributes
    ----------
    ax_, figure_
        Where it was drawn.

    Examples
    --------
    >>> import numpy as np
    >>> from quorate.display import SizeAccuracyDisplay
    >>> display = SizeAccuracyDisplay(("pep",), np.array([0, 0]), np.array([0.2, 0.3]),
    ...                               np.array([0.0, -0.01]))
    >>> display.means
    {'pep': (0.25, -0.005)}
    """

    methods: tuple[str, ...]
    method: Array
    share: FloatArray
    gain: FloatArray
    others: dict[str, tuple[float, float]] | None = None
    limit: float | None = None

    @classmethod
    def from_results(cls, results: Results) -> Self:
        """Average each data set over its folds, and find the methods to show.

        These are the methods that anywhere keep another number than most methods do
        with as many members; a method that keeps all is not shown.
        """
        chosen = methods_of_own_size(results)
        if not chosen:
            raise ValueError(
                f"{results.name}: every method keeps the same number of members."
            )
        cells = cells_of(results)
        cells["share"] = cells.kept / cells.members
        cells["gain"] = cells.accuracy - cells.full_accuracy
        means = cells.groupby(["method", "data", "ensemble"])[["share", "gain"]].mean()
        tables = means.groupby("method")
        by_method = {str(name): table.to_numpy() for name, table in tables}
        numbers = [np.full(len(by_method[name]), at) for at, name in enumerate(chosen)]
        share, gain = np.concatenate([by_method[name] for name in chosen]).T
        others = {
            name: tuple(pairs.mean(axis=0).tolist())
            for name, pairs in by_method.items()
            if name not in chosen and pairs[:, 0].mean() < 1
        }
        limit = max((kept for kept, _ in others.values()), default=None)
        return cls(chosen, np.concatenate(numbers), share, gain, others, limit)

    @property
    def exceeding(self) -> tuple[str, ...]:
        """Methods whose mean share is above the limit."""
        if self.limit is None:
            return ()
        limit = self.limit + 1e-9
        return tuple(name for name, (share, _) in self.means.items() if share > limit)

    @property
    def means(self) -> dict[str, tuple[float, float]]:
        """Mean share kept and mean gain of each method."""
        means = {}
        for at, name in enumerate(self.methods):
            mine = self.method == at
            means[name] = float(self.share[mine].mean()), float(self.gain[mine].mean())
        return means

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw the data sets and the means.

        Parameters
        ----------
        ax : matplotlib axes, optional
            A new figure by default.
        """
        ax, ink = self._axes(ax, 6.6, 4.6)
        ax.axhline(0, color=ink, lw=0.8, alpha=0.6)
        for at, (name, mean) in enumerate(self.means.items()):
            hue, marker = _base.group_style(at)
            dots = self.share[self.method == at], self.gain[self.method == at]
            ax.plot(*dots, marker, color=hue, ms=4, alpha=0.5, mew=0)
            label = _base.plain(name)
            big = {"ms": 11, "mec": ink, "mew": 0.8, "zorder": 4, "label": label}
            ax.plot(*mean, marker, color=hue, **big)
        if self.others:
            x, y = zip(*self.others.values(), strict=True)
            ax.plot(x, y, "+", color=ALL, ms=7, mew=1.4, zorder=3, label="given size")
        ax.set_xlabel("members kept, %")
        ax.set_ylabel("accuracy − that of the whole ensemble,\npercentage points")
        _base.percent_axis(ax.xaxis, ax.yaxis)
        ax.set_xlim(0, None)
        key = "small: data sets, large and +: means of methods"
        if self.limit is not None:
            ax.axvline(self.limit, color=ink, lw=0.8, ls="--", alpha=0.6)
            key += (
                f"\ndashed: limit of {_base.percent(self.limit)}, exceeded by "
                f"{', '.join(map(_base.plain, self.exceeding)) or 'none'}"
            )
        _base.heading(ax, key)
        _base.legend(ax, loc="best")
        return self


def methods_of_own_size(results: Results) -> tuple[str, ...]:
    """Return the methods that choose their own size.

    These are the ones that the plan leaves it to. If there are none, those that differ
    in some cell from the usual size, which is the most common one below all members,
    among cells with the same number of members.
    """
    cells = cells_of(results)
    if results.plan is not None:
        own = {method.name for method in results.plan.methods if method.keep is None}
        if own:
            return tuple(name for name in results.methods if name in own)
    cells = cells[cells.kept < cells.members]
    usual = cells.groupby("members").kept.transform(lambda kept: kept.mode()[0])
    odd = set(cells.method[cells.kept != usual])
    return tuple(name for name in results.methods if name in odd)


def cells_of(results: Results) -> pd.DataFrame:
    """Return the cells of a study as a table; refuse what has none."""
    how = "read them with quorate.study.Results.read(path)"
    check_type("from_results", results, Results, how)
    if not results.rows:
        raise ValueError(f"{results.name}: no results yet.")
    return pd.DataFrame(results.rows)


def correlation(x: FloatArray, y: FloatArray) -> float:
    """Return the Pearson correlation of two columns; NaN if one is constant."""
    with np.errstate(invalid="ignore"):  # of which pandas before 3 warns
        return float(pd.Series(x).corr(pd.Series(y)))


def correlation_text(r: float) -> str:
    """Format a correlation for a title."""
    return "undefined" if np.isnan(r) else f"{r:+.2f}".replace("-", "−")
