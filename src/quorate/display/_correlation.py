"""What the vote gains, against each measure of diversity."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from quorate._theory import measures
from quorate._typing import FloatArray
from quorate.display._axes import figure_of, many_axes
from quorate.display._base import PanelsDisplay
from quorate.display._colours import GOOD, text_colour
from quorate.display._points import points
from quorate.display._study_columns import cells_of_methods, column, pearson
from quorate.display._text import percent_axis

if TYPE_CHECKING:
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
        some = cells_of_methods("CorrelationDisplay", results, methods)
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
