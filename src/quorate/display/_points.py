"""Many points, and names beside a few."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from quorate._typing import Array
from quorate.display._axes import figure_of
from quorate.display._colours import text_colour

if TYPE_CHECKING:
    from matplotlib.axes import Axes

CROWD = 1000
"""More points than this are drawn as a bitmap, or vector files grow without bound."""


def points(ax: "Axes", x: Array, y: Array, *, panels: int = 1, **style: Any) -> Any:
    """Draw points; as a bitmap if all panels of the picture together hold a crowd."""
    return ax.scatter(x, y, rasterized=panels * len(x) > CROWD, **style)


def label_points(
    ax: "Axes",
    x: Sequence[float] | Array,
    y: Sequence[float] | Array,
    names: Sequence[str],
    *,
    radius: float = 4.0,
    slanted: bool = False,
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
    slanted : bool
        Try the upper right first, beside a line that falls.
    """
    figure = figure_of(ax)
    figure.draw_without_rendering()
    places = ax.transData.transform(np.column_stack([x, y]))
    size = figure.dpi / 72
    taken = [np.array([*p - radius * size, *p + radius * size]) for p in places]
    inside = ax.get_window_extent().extents
    texts = []
    for at, name, place in zip(zip(x, y, strict=True), names, places, strict=True):
        text = ax.annotate(
            name, at, xytext=(0, 0), textcoords="offset points", fontsize="small",
            color=text_colour(ax), annotation_clip=False,
        )  # fmt: skip
        box = text.get_window_extent()
        width, height = box.width / size, box.height / size
        best, least = (0.0, 0.0), np.inf
        for more in (2.0, 8.0, 15.0, 23.0):
            gap = radius + more
            around = [
                (gap, -height / 2), (-width / 2, gap), (-width / 2, -gap - height),
                (-gap - width, -height / 2), (gap, gap), (gap, -gap - height),
                (-gap - width, gap), (-gap - width, -gap - height),
            ]  # fmt: skip
            if slanted:
                around.insert(0, (gap, 0.5 * gap))
            for dx, dy in around:
                corner = place + size * np.array([dx, dy])
                here = np.array([*corner, *corner + size * np.array([width, height])])
                cover = sum(_overlap(here, other) for other in taken)
                cover += 4 * _outside(here, inside)
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


def _outside(box: Array, frame: Array) -> float:
    whole = float(np.prod(box[2:] - box[:2]))
    return whole - _overlap(box, frame)
