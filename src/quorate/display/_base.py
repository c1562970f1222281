"""What all displays share: classes, colours, labels, legends and points.

Hues follow Okabe and Ito, which are distinguishable with any colour vision, shifted
where needed for a contrast of at least 3 to 1 on white and on black. No plot relies on
hue alone: markers, dashes and hatches differ too. Other text and lines use the text
colour of the axes, so that plots are readable on light and dark backgrounds.
"""

from collections.abc import Sequence
from dataclasses import fields
from typing import Any, cast

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter

from quorate._typing import Array, BoolArray
from quorate._votes import VoteCounts, member_positions


class Display:
    """A picture that holds arrays only; ``plot`` draws them.

    Attributes
    ----------
    ax_, figure_
        The axes and the figure of the last picture, once plotted.
    """

    ax_: Axes
    figure_: Figure

    def __repr__(self) -> str:
        parts = ", ".join(
            f"{field.name}={_short(getattr(self, field.name))}"
            for field in fields(cast("Any", self))
        )
        return f"{type(self).__name__}({parts})"

    def _axes(self, ax: Axes | None, width: float, height: float) -> tuple[Axes, str]:
        """Return the axes to draw on, given or new, and their text colour."""
        if ax is None:
            ax = new_figure(width, height).subplots()
        for side in {"top", "right"} & set(ax.spines):
            ax.spines[side].set_visible(False)
        self.ax_, self.figure_ = ax, figure_of(ax)
        return ax, text_colour(ax)


class PanelsDisplay(Display):
    """A plot with several panels, available as ``axes_``."""

    axes_: list[Axes]

    def _panels(
        self,
        axes: Any,
        figure: Figure | None,
        shape: tuple[int, int],
        size: tuple[float, float],
        **options: Any,
    ) -> list[Axes]:
        """Return the axes of all panels, row by row.

        These are the given axes, or new ones on the given or a new figure.
        """
        n_panels = shape[0] * shape[1]
        if axes is None:
            figure = figure or new_figure(*size)
            axes = figure.subplots(*shape, squeeze=False, **options)
        panels = list(np.ravel(np.asarray(axes, dtype=object)))
        if len(panels) < n_panels:
            raise ValueError(
                f"{type(self).__name__}.plot(axes): {n_panels} axes are needed, got "
                f"{len(panels)}."
            )
        self.axes_ = panels[:n_panels]
        for ax in reversed(self.axes_):
            self._axes(ax, *size)
        return self.axes_


def new_figure(width: float, height: float) -> Figure:
    """Return an empty figure of pyplot, so that it is shown in a notebook."""
    import matplotlib.pyplot as plt

    return plt.figure(figsize=(width, height), layout="constrained")


def as_support(owner: str, votes: VoteCounts, support: Any) -> BoolArray | None:
    """Return the mask of kept members from a mask or positions; None stays None."""
    if support is None:
        return None
    n_members = votes.n_members
    chosen = member_positions(support, n_members, owner)
    return np.isin(np.arange(n_members), chosen)


def _short(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"array[{', '.join(map(str, value.shape))}]"
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


ALL = "#808080"  # all members, before pruning
KEPT = "#D55E00"  # members kept, after pruning
GOOD = "#2C87C8"  # what helps
BAD = "#E69F00"  # what hurts
# For groups without a meaning of their own; the n-th also has the n-th marker.
HUES = (GOOD, KEPT, "#009E73", "#C46C9C", "#C08400", ALL)
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
# More points than this are rasterised, to limit the size of vector files.
CROWD = 1000
_LONGEST_NAME = 28


def figure_of(ax: Axes) -> Figure:
    """Return the figure of the axes, also for subfigures."""
    figure: Any = ax.figure
    while getattr(figure, "figure", figure) is not figure:
        figure = figure.figure
    return figure


def text_colour(ax: Axes) -> Any:
    """Return the text colour of the axes: dark on light, or light on dark."""
    return ax.xaxis.label.get_color()


def group_style(place: int) -> tuple[str, str]:
    """Return the colour and marker of the n-th group."""
    return HUES[place % len(HUES)], MARKERS[place % len(MARKERS)]


def plain(name: object, longest: int = _LONGEST_NAME) -> str:
    r"""Return a name as one line of plain text that fits a label.

    Dollar signs do not start a formula, line breaks and characters that do not print
    become spaces, and a long name loses its middle.

    Examples
    --------
    >>> plain("two\nlines")
    'two lines'
    >>> plain("abcdefghij", longest=6)
    'abc…ij'
    """
    text = "".join(c if c.isprintable() else " " for c in str(name))
    text = " ".join(text.split()) or "(no name)"
    if len(text) > longest:
        head = longest // 2
        text = text[:head] + "…" + text[len(text) - (longest - head - 1) :]
    return text.replace("$", r"\$")


def percent(value: float, digits: int = 1) -> str:
    """Format a share as a percentage."""
    return f"{100 * value:.{digits}f} %"


def percent_axis(*axes: Any) -> None:
    """Format axis ticks as percentages."""
    for axis in axes:
        axis.set_major_formatter(FuncFormatter(lambda share, _: f"{100 * share:.6g}"))


def plain_ticks(axis: Any) -> None:
    """Label a logarithmic axis with a few plain numbers that do not overlap."""
    low, high = sorted(axis.get_view_interval())
    if axis.get_scale() == "log":
        steps = (1.0,) if high > 300 * low else (1.0, 2.0, 5.0)
        axis.set_major_locator(LogLocator(subs=steps, numticks=9))
        axis.set_minor_formatter(NullFormatter())
    else:
        ticks = [tick for tick in axis.get_majorticklocs() if low <= tick <= high]
        if len(ticks) > 1:
            return
        axis.set_major_locator(MaxNLocator(4))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))


def name_rows(ax: Axes, names: Sequence[object]) -> None:
    """Label the rows of a chart, the first on top."""
    ax.set_yticks(range(len(names)), [plain(name) for name in names])
    ax.set_ylim(len(names) - 0.5, -0.5)


def legend(ax: Axes, *, above: bool = False, **options: Any) -> Any:
    """Add a legend without a frame, above the axes if requested."""
    place = {"loc": "lower left", "bbox_to_anchor": (0, 1)} if above else {}
    usual = {"frameon": False, "labelcolor": text_colour(ax), "fontsize": "small"}
    return ax.legend(**{**usual, **place, **options})


def heading(ax: Axes, text: str, **options: Any) -> None:
    """Write small text above the axes, left-aligned."""
    usual = {"fontsize": "small", "loc": "left", "color": text_colour(ax)}
    ax.set_title(text, **{**usual, **options})


def note(
    ax: Axes, text: str, at: tuple[Any, Any], offset: tuple[Any, Any], **options: Any
) -> Any:
    """Write small text next to a position, at an offset in points."""
    usual = {"fontsize": "small", "color": text_colour(ax)}
    return ax.annotate(
        text, at, xytext=offset, textcoords="offset points", **{**usual, **options}
    )


def points(ax: Axes, x: Array, y: Array, *, panels: int = 1, **style: Any) -> Any:
    """Draw points, rasterised if all panels together have many."""
    return ax.scatter(x, y, rasterized=panels * len(x) > CROWD, **style)
