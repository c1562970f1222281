"""Memory, time, accuracy: which models no other one beats in everything."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from quorate._typing import BoolArray, FloatArray
from quorate.display._axes import figure_of, many_axes
from quorate.display._base import PanelsDisplay
from quorate.display._colours import HUES, MARKERS, text_colour
from quorate.display._points import label_points
from quorate.display._text import few_log_ticks, percent_axis, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_READABLE = 16


class TradeOffPoint(NamedTuple):
    """A model, what it needs and what it achieves."""

    name: str
    """What to call it."""
    bytes: float
    """Memory it takes."""
    milliseconds: float
    """Time it takes to predict."""
    accuracy: float
    """Share of samples it predicts right."""
    kind: str = "static"
    """How it was made: "full", "static", "lazy", "both", or any other word."""


@dataclass(eq=False, repr=False, init=False)
class TradeOffDisplay(PanelsDisplay):
    """Models by memory, time and accuracy, and the front of those worth having.

    A model is on the front if no other is at least as good in all three and better in
    one. Those on it are filled, the others hollow.

    Parameters
    ----------
    points : iterable of TradeOffPoint
        Or of tuples or dicts that hold the same.

    Attributes
    ----------
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
        self.points = tuple(
            TradeOffPoint(**point)
            if isinstance(point, Mapping)
            else TradeOffPoint(*point)
            for point in points
        )
        if not self.points:
            raise ValueError("TradeOffDisplay: no points; give one at least.")
        numbers = np.column_stack([self.bytes, self.milliseconds, self.accuracy])
        wrong = ~(np.isfinite(numbers).all(axis=1) & (numbers[:, :2] > 0).all(axis=1))
        if wrong.any():
            raise ValueError(
                f"TradeOffDisplay: {self.points[int(wrong.argmax())]!r}: bytes and "
                "milliseconds are above 0, and all three are finite."
            )

    @property
    def names(self) -> tuple[str, ...]:
        """Their names."""
        return tuple(point.name for point in self.points)

    @property
    def kinds(self) -> tuple[str, ...]:
        """How each was made."""
        return tuple(point.kind for point in self.points)

    @property
    def bytes(self) -> FloatArray:
        """Memory each takes."""
        return np.array([point.bytes for point in self.points], dtype=float)

    @property
    def milliseconds(self) -> FloatArray:
        """Time each takes."""
        return np.array([point.milliseconds for point in self.points], dtype=float)

    @property
    def accuracy(self) -> FloatArray:
        """Accuracy of each."""
        return np.array([point.accuracy for point in self.points], dtype=float)

    @property
    def front(self) -> BoolArray:
        """Which points no other one dominates."""
        return _undominated(
            np.column_stack([self.bytes, self.milliseconds, -self.accuracy])
        )

    def plot(self, axes: Any = None, *, figure: "Figure | None" = None) -> Self:
        """Draw accuracy over time and over memory.

        Parameters
        ----------
        axes : two matplotlib axes, optional
        figure : matplotlib figure, optional
            Draw on this figure; a new one by default.
        """
        found = many_axes(
            "TradeOffDisplay", axes, figure, (1, 2), (9.6, 4.4), sharey=True
        )[:2]
        front = self.front
        costs = (
            (self.milliseconds, "time to predict, ms"),
            (self.bytes / 1e6, "memory, MB"),
        )
        kinds = list(dict.fromkeys(self.kinds))
        for ax, (cost, label) in zip(found, costs, strict=True):
            ax.set_xscale("log")
            self._stairs(ax, cost)
            for number, kind in enumerate(kinds):
                hue, marker = HUES[number % len(HUES)], MARKERS[number % len(MARKERS)]
                mine = np.array([k == kind for k in self.kinds])
                for which, fill in ((mine & front, hue), (mine & ~front, "none")):
                    ax.plot(
                        cost[which], self.accuracy[which], marker, color=hue, mfc=fill,
                        ms=7, ls="none",
                    )  # fmt: skip
            ax.set_xlabel(label)
            ax.margins(x=0.12, y=0.12)
            ax.autoscale_view()
            few_log_ticks(ax.xaxis)
        left, right = found
        for number, kind in enumerate(kinds):
            left.plot(
                [], [], MARKERS[number % len(MARKERS)], ls="none", ms=7,
                color=HUES[number % len(HUES)], label=plain(kind),
            )  # fmt: skip
        left.plot(
            [], [], "o", mfc="none", ls="none", color=text_colour(left),
            label="hollow: another is better in all three",
        )  # fmt: skip
        left.set_ylabel("accuracy, %")
        percent_axis(left.yaxis)
        legend = left.legend(
            frameon=False, labelcolor=text_colour(left), fontsize="small",
            ncols=len(kinds) + 1, loc="lower left", bbox_to_anchor=(0, 1),
        )  # fmt: skip
        legend.set_in_layout(False)  # it reaches over both panels
        for ax in found:
            ax.set_title(" ")
        if len(self.points) <= _READABLE:
            labels = [plain(name) for name in self.names]
            label_points(left, self.milliseconds, self.accuracy, labels, slanted=True)
            label_points(right, self.bytes / 1e6, self.accuracy, labels, slanted=True)
        self.axes_, self.ax_, self.figure_ = found, left, figure_of(left)
        return self

    def _stairs(self, ax: "Axes", cost: FloatArray) -> None:
        on = _undominated(np.column_stack([cost, -self.accuracy]))
        order = np.flatnonzero(on)[np.argsort(cost[on], kind="stable")]
        ax.plot(
            cost[order], self.accuracy[order], drawstyle="steps-post",
            color=text_colour(ax), lw=1, alpha=0.5, zorder=1,
        )  # fmt: skip


def _undominated(costs: FloatArray) -> BoolArray:
    """Return which rows no other row beats: nowhere larger and somewhere smaller."""
    nowhere_larger = (costs[:, None, :] <= costs[None, :, :]).all(axis=2)
    somewhere_smaller = (costs[:, None, :] < costs[None, :, :]).any(axis=2)
    return np.asarray(~(nowhere_larger & somewhere_smaller).any(axis=0))
