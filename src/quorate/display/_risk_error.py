"""Risk estimate, diversity and error over the cells of a study."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from quorate._typing import BoolArray, FloatArray
from quorate.display._axes import figure_of, many_axes
from quorate.display._base import PanelsDisplay
from quorate.display._colours import GOOD, text_colour
from quorate.display._points import points
from quorate.display._study_columns import cells_of_methods, column, rank_correlation
from quorate.display._text import percent_axis

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from quorate.study import Results


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
        some = cells_of_methods("RiskErrorDisplay", results, methods)
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
