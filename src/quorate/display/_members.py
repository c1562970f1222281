"""Every member: how often it is right, and how much it agrees."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np

from quorate._typing import BoolArray, FloatArray
from quorate.display._axes import figure_of, one_axes
from quorate.display._base import Display
from quorate.display._colours import ALL, KEPT, text_colour
from quorate.display._points import CROWD
from quorate.display._text import percent, percent_axis

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(eq=False, repr=False)
class MembersDisplay(Display):
    """Accuracy of each member over its agreement with the others."""

    agreement: FloatArray
    accuracy: FloatArray
    kept: BoolArray | None
    vote_accuracy: float

    def plot(self, ax: "Axes | None" = None) -> Self:
        """Draw a point for each member and a line for all of them together."""
        ax = one_axes("MembersDisplay", ax, 6.4, 3.8)
        crowd = self.agreement.size > CROWD
        every = np.ones(self.agreement.size, dtype=bool)
        groups = [(every, ALL, "o", "members")]
        if self.kept is not None:
            groups = [(~self.kept, ALL, "o", "dropped"), (self.kept, KEPT, "D", "kept")]
        for which, hue, marker, name in groups:
            ax.scatter(
                self.agreement[which], self.accuracy[which], s=14 if crowd else 22,
                color=hue, marker=marker, alpha=0.75, lw=0, rasterized=crowd,
                label=f"{which.sum():,} {name}",
            )  # fmt: skip
        vote = f"all together: {percent(self.vote_accuracy)}"
        spread = max(float(np.ptp(self.accuracy)), 0.01)
        if self.vote_accuracy < self.accuracy.max() + spread:
            ax.axhline(
                self.vote_accuracy, color=text_colour(ax), lw=1, ls="--", label=vote
            )
        else:  # a line so far away would press the members together
            ax.plot([], [], marker="^", ls="none", color=text_colour(ax), label=vote)
        ax.set_xlabel("others that vote as it does, mean, %")
        ax.set_ylabel("accuracy, %")
        percent_axis(ax.xaxis)
        percent_axis(ax.yaxis)
        ax.legend(
            frameon=False, labelcolor=text_colour(ax), fontsize="small", ncols=3,
            loc="lower left", bbox_to_anchor=(0, 1),
        )  # fmt: skip
        self.ax_, self.figure_ = ax, figure_of(ax)
        return self
