"""Methods beside one another: accuracy gained, and how sure that is."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np

from quorate._typing import FloatArray
from quorate.display._axes import figure_of, one_axes
from quorate.display._base import Display
from quorate.display._colours import GOOD, text_colour
from quorate.display._text import plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(eq=False, repr=False)
class GainDisplay(Display):
    """Gains of several methods against all members, with their uncertainty."""

    names: tuple[str, ...]
    gain: FloatArray
    standard_error: FloatArray

    def plot(self, ax: "Axes | None" = None) -> Self:
        """Draw a point and two standard errors on each side for each method."""
        n = len(self.names)
        ax = one_axes("GainDisplay", ax, 6.4, 1.2 + 0.3 * n)
        rows = np.arange(n)
        ax.axvline(0, color=text_colour(ax), lw=0.8, alpha=0.6)
        ax.errorbar(
            100 * self.gain, rows, xerr=200 * self.standard_error, fmt="o",
            color=GOOD, ms=6, lw=1.6, capsize=3,
        )  # fmt: skip
        ax.set_yticks(rows, [plain(name) for name in self.names])
        ax.invert_yaxis()
        ax.set_xlabel("accuracy against all members, percentage points")
        ax.margins(y=0.08)
        self.ax_, self.figure_ = ax, figure_of(ax)
        return self
