"""Lazy voting: how few members are asked, at what price."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from quorate._typing import FloatArray
from quorate.display._axes import figure_of, one_axes
from quorate.display._base import Display
from quorate.display._colours import ALL, GOOD, text_colour
from quorate.display._points import label_points
from quorate.display._text import percent_axis, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_READABLE = 14


@dataclass(eq=False, repr=False)
class LazyCurveDisplay(Display):
    """Members asked against predictions that change, along the settings of a mode.

    Down is faster, left is more faithful to the whole ensemble.

    Parameters
    ----------
    settings : sequence of float or str
        The setting of each point, such as a confidence.
    members_asked : array-like of shape (n_settings,)
        How many members are asked for a sample, on average.
    disagreement : array-like of shape (n_settings,)
        Share of samples predicted otherwise than by the whole ensemble.
    mode : str
        Name of the mode.
    n_members : int, optional
        Number of members of the whole ensemble, to draw a line at.

    Attributes
    ----------
    ax_, figure_
        Where it was drawn.

    Examples
    --------
    >>> from quorate.display import LazyCurveDisplay
    >>> LazyCurveDisplay([0.99, 0.999], [17.0, 24.0], [0.005, 0.0003], "bayes")
    LazyCurveDisplay(2 settings of mode 'bayes')
    """

    settings: Any
    members_asked: FloatArray
    disagreement: FloatArray
    mode: str = ""
    n_members: int | None = None

    def __post_init__(self) -> None:
        self.settings = tuple(self.settings)
        self.members_asked = np.asarray(self.members_asked, dtype=float)
        self.disagreement = np.asarray(self.disagreement, dtype=float)
        sizes = {
            len(self.settings),
            self.members_asked.size,
            self.disagreement.size,
        }
        if len(sizes) > 1 or 0 in sizes:
            raise ValueError(
                "LazyCurveDisplay: as many settings as members_asked and disagreement, "
                f"one at least; got {len(self.settings)}, {self.members_asked.size} "
                f"and {self.disagreement.size}."
            )

    @classmethod
    def from_curve(cls, curve: Any) -> Self:
        """Take an object with these arrays as attributes.

        Parameters
        ----------
        curve : object
            With ``settings``, ``members_asked``, ``disagreement`` and ``mode``.
        """
        return cls(
            curve.settings,
            curve.members_asked,
            curve.disagreement,
            str(curve.mode),
            getattr(curve, "n_members", None),
        )

    def __repr__(self) -> str:
        return (
            f"LazyCurveDisplay({len(self.settings)} settings of mode "
            f"{plain(self.mode)!r})"
        )

    def plot(self, ax: "Axes | None" = None) -> Self:
        """Draw the curve, each point with its setting.

        Parameters
        ----------
        ax : matplotlib axes, optional
            A new figure by default.
        """
        ax = one_axes("LazyCurveDisplay", ax, 5.8, 4.0)
        order = np.lexsort((self.members_asked, self.disagreement))
        x, y = self.disagreement[order], self.members_asked[order]
        some = x[x > 0]
        if some.size and some.max() > 20 * some.min():
            ax.set_xscale("symlog", linthresh=float(some.min()))
        ax.plot(x, y, "-o", color=GOOD, lw=1.6, ms=5)
        if self.n_members is not None:
            ax.axhline(self.n_members, color=ALL, ls="--", lw=1.4)
            ax.annotate(
                f"all {self.n_members} members", (1, self.n_members), xytext=(0, -4),
                xycoords=("axes fraction", "data"), textcoords="offset points",
                ha="right", va="top", fontsize="small", color=text_colour(ax),
            )  # fmt: skip
        ax.set_ylim(0, None)
        ax.margins(x=0.08, y=0.12)
        if x.max() > 0:
            ax.set_xlim(-0.05 * float(some.min() if some.size else 1), None)
        ax.set_xlabel("predictions that change, %")
        ax.set_ylabel("members asked, mean")
        percent_axis(ax.xaxis)
        if self.mode:
            ax.set_title(
                f"mode: {plain(self.mode)}", fontsize="medium", loc="left",
                color=text_colour(ax),
            )  # fmt: skip
        if x.size <= _READABLE:
            named = [_setting(self.settings[at]) for at in order]
            label_points(ax, x, y, named, slanted=True)
        self.ax_, self.figure_ = ax, figure_of(ax)
        return self


def _setting(value: Any) -> str:
    if isinstance(value, (float, np.floating)):
        return f"{value:.6g}"
    return plain(value)
