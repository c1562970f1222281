"""Inline SVG figures: small, coloured by the page's style, with tooltips.

Matplotlib writes SVG for separate files. On a page, figures share ids, fonts and
colours, so ids get a prefix, and fonts and the colour of text and axes are left to the
page.
"""

import io
import re
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

from quorate._typing import Array

_INK = "#010203"
_GRID = "#040506"
_PAPER = "#070809"
_ON_THE_PAGE = {_INK: "currentColor", _GRID: "var(--rule)", _PAPER: "var(--paper)"}

_TEXT = ("axes.label", "axes.title", "xtick.label", "ytick.label", "legend.label")
_STYLE = {
    "svg.fonttype": "none",
    "svg.hashsalt": "quorate",
    "hatch.linewidth": 0.6,
    **dict.fromkeys(("font.size", "axes.titlesize", "axes.labelsize"), 10),
    **dict.fromkeys((f"{part}color" for part in _TEXT), _INK),
    **dict.fromkeys(("text.color", "axes.edgecolor"), _INK),
    **dict.fromkeys(("xtick.color", "ytick.color"), _INK),
    **dict.fromkeys(("legend.edgecolor", "grid.color"), _GRID),
    **{f"{part}.facecolor": "none" for part in ("figure", "axes", "legend", "savefig")},
}
_BITMAP_DPI = 160
_WIDE = 8.0  # inches


@dataclass(frozen=True, slots=True)
class Picture:
    """A figure on the page.

    Attributes
    ----------
    display : Display
        The display that was drawn, for texts in the template.
    wide : bool
        Whether it needs the full width of the page.
    marks : list of (float, float, str)
        Tooltips: x and y in the figure, and the text.
    """

    id: str
    display: Any
    svg: str
    wide: bool
    marks: list[tuple[float, float, str]]


def draw(
    name: str,
    display: Any,
    x: Sequence[float] | Array = (),
    y: Sequence[float] | Array | None = None,
    texts: Sequence[str] = (),
    *,
    width: float = 5.4,
    height: float = 3.6,
    panels: bool = False,
) -> Picture:
    """Draw a display for the page.

    Parameters
    ----------
    name : str
        Identifier of the figure on the page.
    display : Display
        The display to draw.
    x, y : sequence of float
        Positions of tooltips in data coordinates; along the rows of a chart if ``y`` is
        None.
    texts : sequence of str
        Texts of the tooltips.
    width, height : float
        Size in inches, for the proportions and the text size.
    panels : bool
        Whether the display creates its own axes.
    """
    file = io.StringIO()
    with mpl.rc_context(_STYLE), warnings.catch_warnings():
        # Fonts are those of the browser, which Matplotlib does not know.
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        figure = Figure(figsize=(width, height), dpi=72, layout="constrained")
        if panels:
            display.plot(figure=figure)
        else:
            display.plot(ax=figure.subplots())
        # Like savefig, which would lay out and draw everything twice.
        layout: Any = figure.get_layout_engine()
        layout.execute(figure)
        figure.set_layout_engine("none")
        figure.set_dpi(_BITMAP_DPI)
        FigureCanvasSVG(figure).print_svg(file, metadata={"Date": None})
        figure.set_dpi(72)
    rows = np.arange(len(texts)) if y is None else y
    places = display.ax_.transData.transform(np.column_stack([x, rows]))
    marks = [
        (round(float(at), 1), round(72 * height - float(up), 1), text)
        for (at, up), text in zip(places, texts, strict=True)
    ]
    return Picture(name, display, tidy(file.getvalue(), name), width > _WIDE, marks)


def tidy(svg: str, name: str) -> str:
    """Return an SVG element for inclusion in a page."""
    body = re.sub(
        r"<metadata>.*?</metadata>\s*|<!--.*?-->\s*", "", svg, flags=re.DOTALL
    )
    ((box, inner),) = re.findall(
        r'<svg[^>]*viewBox="([^"]*)"[^>]*>(.*)</svg>', body, re.DOTALL
    )
    inner = _shorten_tags(_rename(inner, name))
    return (
        f'<svg viewBox="{box}" xmlns:xlink="http://www.w3.org/1999/xlink" '
        f'aria-hidden="true" focusable="false">{inner.strip()}</svg>'
    )


def _rename(svg: str, name: str) -> str:
    """Keep only referenced ids, prefixed with the name of the figure."""
    used = r'(url\(|href=")#([^")]+)'
    wanted = {old for _, old in re.findall(used, svg)}
    short = {old: f"{name}-{at}" for at, old in enumerate(sorted(wanted))}
    svg = re.sub(
        r' id="([^"]*)"', lambda m: f' id="{short[m[1]]}"' if m[1] in short else "", svg
    )
    return re.sub(used, lambda m: f"{m[1]}#{short[m[2]]}", svg)


def _shorten_tags(svg: str) -> str:
    """Shorten the contents of tags; text between them is unchanged."""
    short = []
    for part in re.split(r"(<[^>]*>)", svg):
        if part.startswith("<"):
            for ours, page in _ON_THE_PAGE.items():
                part = part.replace(ours, page)
            if not part.startswith("<image"):
                if part.startswith(("<text", "<tspan")):
                    # Colours that work for areas have too little contrast for text.
                    part = re.sub(
                        r"fill:\s*#[0-9a-fA-F]{6}", "fill: currentColor", part
                    )
                part = re.sub(r"font-family:[^;\"]*;?", "", part)
                part = re.sub(r"font:\s*([\d.]+px)[^;\"]*", r"font-size:\1", part)
                part = re.sub(r"(\d+\.\d\d)\d+", r"\1", part)
                part = re.sub(r"\s+", " ", part)
        elif not part.strip():
            part = ""
        short.append(part)
    return "".join(short)
