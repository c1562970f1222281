"""Plots of accuracy against time and memory, and of early exit."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from quorate._typing import BoolArray, FloatArray
from quorate.display import _style as style
from quorate.display._base import Display, PanelsDisplay
from quorate.display._style import ALL, GOOD

_READABLE = 16


class TradeOffPoint(NamedTuple):
    """A model, what it needs and what it achieves.

    Attributes
    ----------
    name : str
        What to call it.
    bytes : float
        Memory it takes.
    milliseconds : float
        Time it takes to predict.
    accuracy : float
        Share of samples it predicts right.
    kind : str
        How it was made: "full", "static", "lazy", "both", or any other word.
    """

    name: str
    bytes: float
    milliseconds: float
    accuracy: float
    kind: str = "static"


@dataclass(eq=False, repr=False, init=False)
class TradeOffDisplay(PanelsDisplay):
    """Models by memory, time and accuracy, and the front of those worth having.

    A model is on the front if no other is at least as good in all three and better in
    one. Those on it are filled, the others hollow.

    Parameters
    ----------
    points : iterable of TradeOffPoint
        Or of tuples that hold the same.

    Attributes
    ----------
    names, kinds : tuple of str
    bytes, milliseconds, accuracy : ndarray of shape (n_points,)
    axes_, figure_
        Where it was drawn; ``ax_`` is the left panel.

    Examples
    --------
    >>> from quorate.display import TradeOffDisplay
    >>> display = TradeOffDisplay([
    ...     ("all 100", 4e6, 20.0, 0.95, "full"),
    ...     ("20 kept", 8e5, 5.0, 0.94, "static"),
    ...     ("poor", 9e5, 6.0, 0.93, "static"),
    ... ])
    >>> display.front
    array([ True,  True, False])
    """

    points: tuple[TradeOffPoint, ...]

    def __init__(self, points: Iterable[Any]) -> None:
        self.points = tuple(TradeOffPoint(*point) for point in points)
        if not self.points:
            raise ValueError("TradeOffDisplay: needs at least one point.")
        self.names, *costs, self.kinds = zip(*self.points, strict=True)
        numbers = np.array(costs, dtype=float)
        self.bytes, self.milliseconds, self.accuracy = numbers
        wrong = ~(np.isfinite(numbers).all(axis=0) & (numbers[:2] > 0).all(axis=0))
        if wrong.any():
            raise ValueError(
                f"TradeOffDisplay: {self.points[int(wrong.argmax())]!r}: bytes and "
                "milliseconds must be above 0, and all three values finite."
            )

    @property
    def front(self) -> BoolArray:
        """Mask of the points that no other point dominates."""
        costs = [self.bytes, self.milliseconds, -self.accuracy]
        return _undominated(np.column_stack(costs))

    def plot(self, axes: Any = None, *, figure: Figure | None = None) -> Self:
        """Draw accuracy over time and over memory.

        Parameters
        ----------
        axes : two matplotlib axes, optional
        figure : matplotlib figure, optional
            Draw on this figure; a new one by default.
        """
        size = (9.6, 4.4)
        left, right = self._panels(axes, figure, (1, 2), size, sharey=True)
        costs = (
            (left, self.milliseconds, "time to predict, ms"),
            (right, self.bytes / 1e6, "memory, MB"),
        )
        front, kinds = self.front, list(dict.fromkeys(self.kinds))
        for ax, cost, label in costs:
            ax.set_xscale("log")
            self._stairs(ax, cost)
            for number, kind in enumerate(kinds):
                hue, marker = style.group_style(number)
                mine = np.array([k == kind for k in self.kinds])
                for which, fill in ((mine & front, hue), (mine & ~front, "none")):
                    ax.plot(
                        cost[which], self.accuracy[which], marker, color=hue, mfc=fill,
                        ms=7, ls="none",
                    )  # fmt: skip
            ax.set_xlabel(label)
            ax.margins(x=0.12, y=0.12)
            ax.autoscale_view()
            style.plain_ticks(ax.xaxis)
            ax.set_title(" ")
        look: dict[str, Any] = {"ls": "none", "ms": 7}
        for number, kind in enumerate(kinds):
            hue, marker = style.group_style(number)
            left.plot([], [], marker, color=hue, label=style.plain(kind), **look)
        left.plot(
            [], [], "o", mfc="none", ls="none", color=style.text_colour(left),
            label="hollow: another is better in all three",
        )  # fmt: skip
        left.set_ylabel("accuracy, %")
        style.percent_axis(left.yaxis)
        # It spans both panels.
        style.legend(left, above=True, ncols=len(kinds) + 1).set_in_layout(False)
        if len(self.points) <= _READABLE:
            labels = [style.plain(name) for name in self.names]
            for ax, cost, _ in costs:
                style.label_points(ax, cost, self.accuracy, labels)
        return self

    def _stairs(self, ax: Axes, cost: FloatArray) -> None:
        on = _undominated(np.column_stack([cost, -self.accuracy]))
        order = np.flatnonzero(on)[np.argsort(cost[on], kind="stable")]
        ax.plot(
            cost[order], self.accuracy[order], drawstyle="steps-post",
            color=style.text_colour(ax), lw=1, alpha=0.5, zorder=1,
        )  # fmt: skip


def _undominated(costs: FloatArray) -> BoolArray:
    """Return which rows are not dominated by another row; smaller is better."""
    nowhere_larger = (costs[:, None, :] <= costs[None, :, :]).all(axis=2)
    somewhere_smaller = (costs[:, None, :] < costs[None, :, :]).any(axis=2)
    return np.asarray(~(nowhere_larger & somewhere_smaller).any(axis=0))


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
