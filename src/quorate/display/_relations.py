"""What goes with what over the cells of a study."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from quorate._diversity import measures
from quorate._suggest import unknown_name
from quorate._typing import Array, BoolArray, FloatArray
from quorate.display._axes import figure_of, many_axes, one_axes
from quorate.display._base import Display, PanelsDisplay
from quorate.display._colours import ALL, GOOD, HUES, MARKERS, text_colour
from quorate.display._points import label_points, points
from quorate.display._study_columns import column, words
from quorate.display._text import percent_axis, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from quorate.study import Results


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
    def from_results(cls, results: "Results", *, methods: Any = None) -> Self:
        """Take the cells of a study.

        Parameters
        ----------
        results : Results
        methods : list of str, optional
            Only the cells of these methods.
        """
        some = _of_methods("CorrelationDisplay", results, methods)
        names = tuple(measures())
        values = np.array([column(results, f"after_{name}")[some] for name in names])
        gain = column(results, "member_error") - column(results, "error")
        return cls(names, values, gain[some])

    @property
    def correlations(self) -> FloatArray:
        """Pearson's correlation by measure; NaN where one of the two is constant."""
        return np.array([pearson(row, self.gain) for row in self.values])

    def plot(self, axes: Any = None, *, figure: "Figure | None" = None) -> Self:
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
        # Axes given need no spare panel at the end of the last row.
        shape = (high, wide) if axes is None else (1, n)
        found = many_axes(
            "CorrelationDisplay", axes, figure, shape, (2.15 * wide, 2.05 * high + 0.4),
            sharey=True,
        )  # fmt: skip
        for ax, name, value, r in zip(
            found, self.measures, self.values, self.correlations, strict=False
        ):
            ink = text_colour(ax)
            ax.axhline(0, color=ink, lw=0.6, alpha=0.5)
            points(ax, value, self.gain, panels=n, s=5, color=GOOD, alpha=0.5, lw=0)
            told = "r undefined" if np.isnan(r) else f"r = {r:+.2f}".replace("-", "−")
            ax.set_title(f"{name}\n{told}", fontsize="small", color=ink)
            ax.tick_params(labelsize="x-small")
            ax.xaxis.get_major_locator().set_params(nbins=4)
            percent_axis(ax.yaxis)
        for spare in found[n:]:
            spare.set_axis_off()
        first = found[0]
        figure_of(first).supylabel(
            "members' error − ensemble error, %",
            fontsize="medium",
            color=text_colour(first),
        )
        self.axes_, self.ax_, self.figure_ = found, first, figure_of(first)
        return self


@dataclass(eq=False, repr=False)
class RiskErrorDisplay(PanelsDisplay):
    """Risk estimate, diversity and error over the cells of a study.

    Three panels: the estimate against the error it should foretell, and the diversity
    against both.

    Parameters
    ----------
    error, diversity, risk : ndarray of shape (n_cells,)
        Of each cell's ensemble, on the test samples. The estimate is infinite where
        the members tie on the worst sample; such cells are left out and counted.

    Attributes
    ----------
    axes_, figure_
        Where it was drawn; ``ax_`` is the first panel.

    Examples
    --------
    >>> import numpy as np
    >>> from quorate.display import RiskErrorDisplay
    >>> display = RiskErrorDisplay(np.array([0.1, 0.2]), np.array([0.05, 0.1]),
    ...                            np.array([300.0, np.inf]))
    >>> display.usable
    array([ True, False])
    """

    error: FloatArray
    diversity: FloatArray
    risk: FloatArray

    @classmethod
    def from_results(cls, results: "Results", *, methods: Any = None) -> Self:
        """Take the cells of a study.

        Parameters
        ----------
        results : Results
        methods : list of str, optional
            Only the cells of these methods.
        """
        some = _of_methods("RiskErrorDisplay", results, methods)
        return cls(
            *(column(results, name)[some] for name in ("error", "diversity", "risk"))
        )

    @property
    def usable(self) -> BoolArray:
        """Which cells have all three numbers."""
        return np.asarray(
            np.isfinite(self.error)
            & np.isfinite(self.diversity)
            & np.isfinite(self.risk)
        )

    def plot(self, axes: Any = None, *, figure: "Figure | None" = None) -> Self:
        """Draw the three panels.

        Parameters
        ----------
        axes : three matplotlib axes, optional
        figure : matplotlib figure, optional
            Draw on this figure; a new one by default.
        """
        found = many_axes("RiskErrorDisplay", axes, figure, (1, 3), (10.5, 3.6))[:3]
        fine = self.usable
        error, diversity, risk = self.error[fine], self.diversity[fine], self.risk[fine]
        panels = (
            (error, risk, "error, %", "risk estimate"),
            (diversity, error, "diversity, %", "error, %"),
            (diversity, risk, "diversity, %", "risk estimate"),
        )
        for ax, (x, y, x_label, y_label) in zip(found, panels, strict=True):
            points(ax, x, y, panels=3, s=8, color=GOOD, alpha=0.5, lw=0)
            r = rank_correlation(x, y)
            told = "undefined" if np.isnan(r) else f"{r:+.2f}".replace("-", "−")
            ax.set_title(
                f"rank correlation {told}", fontsize="small", color=text_colour(ax)
            )
            ax.set(xlabel=x_label, ylabel=y_label)
            percent_axis(ax.xaxis)
            if y_label.startswith("risk"):
                if y.size and float(np.ptp(y)) > 0:
                    ax.set_yscale("symlog", linthresh=100.0)
            else:
                percent_axis(ax.yaxis)
        left_out = int((~fine).sum())
        if left_out:
            found[0].annotate(
                f"{left_out} without a finite estimate", (1, 0), xytext=(0, 4),
                xycoords="axes fraction", textcoords="offset points", ha="right",
                fontsize="x-small", color=text_colour(found[0]),
            )  # fmt: skip
        self.axes_, self.ax_, self.figure_ = found, found[0], figure_of(found[0])
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
        Share of members kept.
    gain : ndarray of shape (n_points,)
        Accuracy minus the whole ensemble's.
    others : dict from name to pair of float, optional
        Mean share and gain of methods that keep what they are told.

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

    @classmethod
    def from_results(cls, results: "Results", *, methods: Any = None) -> Self:
        """Average each data set over its folds, and find the methods to show.

        Parameters
        ----------
        results : Results
        methods : list of str, optional
            The methods to show in full. By default those that anywhere keep another
            number than most methods do with as many members; a method that keeps all
            is not shown.
        """
        chosen = methods_of_own_size(results) if methods is None else tuple(methods)
        for name in chosen:
            if name not in results.methods:
                raise ValueError(unknown_name("method", name, results.methods))
        if not chosen:
            raise ValueError(
                f"{results.name}: every method keeps as many members as the others; "
                "name the methods to show."
            )
        method = words(results, "method")
        block = np.char.add(words(results, "data"), words(results, "ensemble"))
        share = column(results, "kept") / column(results, "members")
        gain = column(results, "accuracy") - column(results, "full_accuracy")
        means: dict[str, list[tuple[float, float]]] = {}
        for name in results.methods:
            mine = method == name
            means[name] = [
                (float(share[cells].mean()), float(gain[cells].mean()))
                for cells in (mine & (block == one) for one in np.unique(block[mine]))
            ]
        flat = [(chosen.index(name), *pair) for name in chosen for pair in means[name]]
        number, shares, gains = (np.array(part) for part in zip(*flat, strict=True))
        others = {
            name: tuple(np.mean(pairs, axis=0).tolist())
            for name, pairs in means.items()
            if name not in chosen and np.mean([pair[0] for pair in pairs]) < 1
        }
        return cls(chosen, number, shares, gains, others)

    @property
    def means(self) -> dict[str, tuple[float, float]]:
        """Mean share kept and mean gain of each method."""
        return {
            name: (
                float(self.share[self.method == at].mean()),
                float(self.gain[self.method == at].mean()),
            )
            for at, name in enumerate(self.methods)
        }

    def plot(self, ax: "Axes | None" = None) -> Self:
        """Draw the data sets and the means.

        Parameters
        ----------
        ax : matplotlib axes, optional
            A new figure by default.
        """
        ax = one_axes("SizeAccuracyDisplay", ax, 6.6, 4.6)
        ink = text_colour(ax)
        ax.axhline(0, color=ink, lw=0.8, alpha=0.6)
        for at in range(len(self.methods)):
            hue, marker = HUES[at % len(HUES)], MARKERS[at % len(MARKERS)]
            mine = self.method == at
            ax.plot(
                self.share[mine], self.gain[mine], marker, color=hue, ms=4, alpha=0.5,
                mew=0,
            )  # fmt: skip
            x, y = self.means[self.methods[at]]
            ax.plot(x, y, marker, color=hue, ms=11, mec=ink, mew=0.8, zorder=4)
        named = dict(self.means)
        if self.others:
            x_all, y_all = zip(*self.others.values(), strict=True)
            ax.plot(x_all, y_all, "+", color=ALL, ms=7, mew=1.4, zorder=3)
            at_mean = np.mean(list(self.others.values()), axis=0)
            named["the others"] = (float(at_mean[0]), float(at_mean[1]))
        ax.set_xlabel("members kept, %")
        ax.set_ylabel("accuracy − that of the whole ensemble,\npercentage points")
        percent_axis(ax.xaxis)
        percent_axis(ax.yaxis)
        ax.set_xlim(0, None)
        ax.set_title(
            "small: data sets, large: means, +: means of methods told their size",
            fontsize="small", loc="left", color=ink,
        )  # fmt: skip
        x_mean, y_mean = zip(*named.values(), strict=True)
        label_points(ax, x_mean, y_mean, [plain(name) for name in named], radius=6)
        self.ax_, self.figure_ = ax, figure_of(ax)
        return self


def methods_of_own_size(results: "Results") -> tuple[str, ...]:
    """Return the methods that keep another number than most, somewhere.

    What most keep is the commonest number, of the cells with as many members, below
    all of them.
    """
    method = words(results, "method")
    kept, members = column(results, "kept"), column(results, "members")
    odd = np.zeros(kept.size, dtype=bool)
    for size in np.unique(members):
        same = (members == size) & (kept < members)
        if same.any():
            numbers, counts = np.unique(kept[same], return_counts=True)
            odd |= same & (kept != numbers[counts.argmax()])
    return tuple(name for name in results.methods if odd[method == name].any())


def pearson(x: FloatArray, y: FloatArray) -> float:
    """Return the correlation of two columns, over the rows in which both are finite."""
    fine = np.isfinite(x) & np.isfinite(y)
    x, y = x[fine], y[fine]
    if x.size < 2 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return float("nan")
    return float(np.corrcoef(x, y)[0, 1])


def rank_correlation(x: FloatArray, y: FloatArray) -> float:
    """Return Spearman's correlation; few huge estimates must not decide it."""
    from scipy.stats import rankdata

    return pearson(rankdata(x), rankdata(y))


def _of_methods(owner: str, results: "Results", methods: Any) -> BoolArray:
    method = words(results, "method")
    if methods is None:
        return np.ones(method.size, dtype=bool)
    wanted = [methods] if isinstance(methods, str) else list(methods)
    for name in wanted:
        if name not in results.methods:
            raise ValueError(
                f"{owner}: {unknown_name('method', name, results.methods)}"
            )
    return np.isin(method, wanted)
