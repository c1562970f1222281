"""Plot of early exit: members evaluated against predictions changed."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from matplotlib.axes import Axes

from quorate._typing import FloatArray
from quorate.display import _style as style
from quorate.display._base import Display
from quorate.display._style import ALL, GOOD

_READABLE_SETTINGS = 14


@dataclass(eq=False, repr=False)
class LazyCurveDisplay(Display):
    """Members evaluated against predictions changed, over the settings of a mode.

    Down is faster, left is more faithful to the whole ensemble.

    Parameters
    ----------
    settings : sequence of float or str
        The setting of each point, such as a confidence.
    members_asked : array-like of shape (n_settings,)
        Mean number of members evaluated per sample.
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
    >>> LazyCurveDisplay([0.99, 0.999], [17.0, 24.0], [0.005, 0.0003]).settings
    (0.99, 0.999)
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
        sizes = len(self.settings), self.members_asked.size, self.disagreement.size
        if len(set(sizes)) > 1 or 0 in sizes:
            raise ValueError(
                "LazyCurveDisplay: settings, members_asked and disagreement must have "
                "the same length, at least 1; got {}, {} and {}.".format(*sizes)
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

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw the curve, each point with its setting.

        Parameters
        ----------
        ax : matplotlib axes, optional
            A new figure by default.
        """
        ax, _ = self._axes(ax, 5.8, 4.0)
        order = np.lexsort((self.members_asked, self.disagreement))
        x, y = self.disagreement[order], self.members_asked[order]
        some = x[x > 0]
        if some.size and some.max() > 20 * some.min():
            ax.set_xscale("symlog", linthresh=float(some.min()))
        ax.plot(x, y, "-o", color=GOOD, lw=1.6, ms=5)
        if self.n_members is not None:
            ax.axhline(self.n_members, color=ALL, ls="--", lw=1.4)
            style.note(
                ax, f"all {self.n_members} members", (1, self.n_members), (0, -4),
                xycoords=("axes fraction", "data"), ha="right", va="top",
            )  # fmt: skip
        ax.set_ylim(0, None)
        ax.margins(x=0.08, y=0.12)
        if x.max() > 0:
            ax.set_xlim(-0.05 * float(some.min() if some.size else 1), None)
        ax.set(xlabel="predictions that change, %", ylabel="members evaluated, mean")
        style.plain_ticks(ax.xaxis)
        style.percent_axis(ax.xaxis)
        if self.mode:
            style.heading(ax, f"mode: {style.plain(self.mode)}", fontsize="medium")
        if x.size <= _READABLE_SETTINGS:
            settings = (self.settings[at] for at in order)
            names = [
                f"{value:.6g}" if isinstance(value, float) else style.plain(value)
                for value in settings
            ]
            style.label_points(ax, x, y, names)
        return self
