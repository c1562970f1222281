"""Colours, text and axes that every picture shares.

Hues follow Okabe and Ito, which people with any colour vision tell apart, shifted where
needed so that lines show on white as well as on black (at least 3 to 1). No picture
relies on hue alone: markers, dashes and hatches say the same in grey print.
Text and lines that belong to no group take the colour of the axes they are drawn on,
so that a picture is readable on light and on dark.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

import numpy as np

from quorate._typing import Array

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap
    from matplotlib.figure import Figure

ALL = "#808080"
"""All members, before pruning."""
KEPT = "#D55E00"
"""Members kept, after pruning."""
GOOD = "#2C87C8"
"""What helps."""
BAD = "#E69F00"
"""What hurts."""
HUES = (GOOD, KEPT, "#009E73", "#C46C9C", "#C08400", ALL)
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
DASHES = ("-", "--", "-.", ":")

LONGEST_NAME = 28
CROWD = 1000
"""More points than this are drawn as a bitmap, or vector files grow without bound."""


def require_matplotlib(owner: str) -> None:
    """Raise one helpful sentence where matplotlib is missing."""
    try:
        import matplotlib  # noqa: F401
    except ImportError as error:
        raise ImportError(
            f"{owner}.plot draws with matplotlib, which is not installed; "
            'pip install "quorate[report]" adds it.'
        ) from error


_OFFSCREEN = ContextVar("_OFFSCREEN", default=False)


@contextmanager
def offscreen() -> Iterator[None]:
    """Let new figures be known to nobody: no window, no list of open figures.

    For files and reports, from any thread.
    """
    token = _OFFSCREEN.set(True)
    try:
        yield
    finally:
        _OFFSCREEN.reset(token)


def new_figure(width: float, height: float) -> "Figure":
    """Return an empty figure; the current one of pyplot unless offscreen."""
    if _OFFSCREEN.get():
        from matplotlib.figure import Figure

        return Figure(figsize=(width, height), layout="constrained")
    import matplotlib.pyplot as plt

    return plt.figure(figsize=(width, height), layout="constrained")


def one_axes(owner: str, ax: "Axes | None", width: float, height: float) -> "Axes":
    """Return the axes to draw on: the ones given, or those of a new figure."""
    require_matplotlib(owner)
    if ax is None:
        ax = new_figure(width, height).subplots()
    for side in ("top", "right"):
        if side in ax.spines:
            ax.spines[side].set_visible(False)
    return ax


def many_axes(
    owner: str,
    axes: Any,
    figure: "Figure | None",
    shape: tuple[int, int],
    size: tuple[float, float],
    **options: Any,
) -> list["Axes"]:
    """Return the axes of a picture of several panels, row by row.

    They are those given, or new ones on the figure given, or on a new figure.
    """
    require_matplotlib(owner)
    n_panels = shape[0] * shape[1]
    if axes is not None:
        found = list(np.ravel(np.asarray(axes, dtype=object)))
        if len(found) < n_panels:
            raise ValueError(
                f"{owner}.plot(axes): {n_panels} axes are needed, got {len(found)}."
            )
    else:
        figure = new_figure(*size) if figure is None else figure
        found = list(np.ravel(figure.subplots(*shape, squeeze=False, **options)))
    for ax in found:
        for side in ("top", "right"):
            ax.spines[side].set_visible(False)
    return found


def figure_of(ax: "Axes") -> "Figure":
    """Return the figure of the axes, also where it is a part of another figure."""
    figure: Any = ax.figure
    while getattr(figure, "figure", figure) is not figure:
        figure = figure.figure
    return figure


def ink_of(ax: "Axes") -> Any:
    """Return the colour in which the axes write: dark on light, or light on dark."""
    return ax.xaxis.label.get_color()


def plain(name: object, longest: int = LONGEST_NAME) -> str:
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
    """Return a share as per cent."""
    return f"{100 * value:.{digits}f} %"


def percent_axis(axis: Any) -> None:
    """Write the ticks of an axis of shares as per cent, without needless digits."""
    from matplotlib.ticker import FuncFormatter

    axis.set_major_formatter(FuncFormatter(lambda share, _: f"{100 * share:.6g}"))


def few_log_ticks(axis: Any) -> None:
    """Write 1, 2, 5 and their tens on a logarithmic axis, as plain numbers.

    To be called when the limits are final; over many decades only the tens.
    """
    from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

    low, high = np.log10(axis.get_view_interval())
    tens = 10.0 ** np.arange(np.floor(low), np.ceil(high) + 1)
    ticks = tens if high - low > 3 else np.outer(tens, [1.0, 2.0, 5.0]).ravel()
    axis.set_major_locator(FixedLocator(ticks))
    axis.set_minor_locator(NullLocator())
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))


def fading(hue: str) -> "Colormap":
    """Return colours from almost clear to a full hue, for densities on any ground."""
    from matplotlib.colors import LinearSegmentedColormap, to_rgb

    clear, full = (*to_rgb(hue), 0.15), (*to_rgb(hue), 1.0)
    return LinearSegmentedColormap.from_list("fading", [clear, full], N=32)


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
            color=ink_of(ax), annotation_clip=False,
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
