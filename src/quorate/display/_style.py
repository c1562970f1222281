"""Colours, labels, legends and points shared by all plots.

Hues follow Okabe and Ito, which are distinguishable with any colour vision, shifted
where needed for a contrast of at least 3 to 1 on white and on black. No plot relies on
hue alone: markers, dashes and hatches differ too. Other text and lines use the text
colour of the axes, so that plots are readable on light and dark backgrounds.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter

from quorate._typing import Array

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


def label_points(
    ax: Axes,
    x: Sequence[float] | Array,
    y: Sequence[float] | Array,
    names: Sequence[str],
    *,
    radius: float = 4.0,
) -> list[Any]:
    """Write a name beside each point, where it covers neither point nor other name.

    Every name goes to the first of a few places around its point that is free, and to
    the one with the least cover if none is.

    Parameters
    ----------
    ax : matplotlib axes
    x, y : sequence of float
    names : sequence of str
        Plain text.
    radius : float
        Of the markers, in points.
    """
    figure = figure_of(ax)
    figure.draw_without_rendering()
    places = ax.transData.transform(np.column_stack([x, y]))
    size = figure.dpi / 72
    taken = [np.array([*p - radius * size, *p + radius * size]) for p in places]
    inside = ax.get_window_extent().extents
    texts = []
    for at, name, place in zip(zip(x, y, strict=True), names, places, strict=True):
        text = note(ax, name, at, (0, 0), annotation_clip=False)
        box = text.get_window_extent()
        width, height = box.width / size, box.height / size
        best, least = (0.0, 0.0), np.inf
        for more in (2.0, 8.0, 15.0, 23.0):
            gap = radius + more
            around = [  # the upper right first, beside a line that falls
                (gap, 0.5 * gap), (gap, -height / 2), (-width / 2, gap),
                (-width / 2, -gap - height), (-gap - width, -height / 2), (gap, gap),
                (gap, -gap - height), (-gap - width, gap),
                (-gap - width, -gap - height),
            ]  # fmt: skip
            for dx, dy in around:
                corner = place + size * np.array([dx, dy])
                here = np.array([*corner, *corner + size * np.array([width, height])])
                cover = sum(_overlap(here, other) for other in taken)
                cover += 4 * (_overlap(here, here) - _overlap(here, inside))
                if cover < least:
                    best, least, kept = (dx, dy), cover, here
            if least == 0:
                break
        text.set_position(best)
        taken.append(kept)
        texts.append(text)
    return texts


def _overlap(one: Array, other: Array) -> float:
    sides = np.minimum(one[2:], other[2:]) - np.maximum(one[:2], other[:2])
    return float(np.prod(np.maximum(sides, 0.0)))
