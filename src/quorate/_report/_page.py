"""Pages: inline figures, and rendering both numbers and figures to HTML.

Matplotlib writes SVG for separate files. On a page, figures share ids, fonts and
colours, so ids get a prefix, and fonts and the colour of text and axes are left to the
page.
"""

import base64
import hashlib
import io
import json
import os
import platform
import re
import warnings
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from html import escape
from importlib import resources
from typing import Any

import jinja2
import matplotlib as mpl
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

from quorate._atomic import atomic_write
from quorate._choosing import Selection
from quorate._output import encodable
from quorate._report import _text
from quorate._version import versions

_WRITERS = (
    *("change", "count", "milliseconds", "number", "percent", "plural", "points"),
    *("seconds", "size", "unsigned"),
)

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
    """

    id: str
    display: Any
    svg: str
    wide: bool


def draw(
    name: str,
    display: Any,
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
    return Picture(name, display, tidy(file.getvalue(), name), width > _WIDE)


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


@dataclass(frozen=True, slots=True, eq=False)
class Report:
    """One self-contained HTML page; see :func:`quorate.report`.

    Attributes
    ----------
    html : str
        The page.
    data : dict
        The numbers of the page in plain types, as embedded in it as JSON.
    selection : Selection or None
        The kept members, as chosen by :func:`quorate.prune`; None for a study or a
        summary.
    """

    html: str
    data: dict[str, Any]
    selection: Selection | None = None

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the page to a file atomically."""
        with atomic_write(path) as file:
            file.write(self.html.encode("utf-8"))

    def __repr__(self) -> str:
        return f"Report({self.data['title']!r}, {len(self.html) / 1e3:,.0f} kB of HTML)"

    def _repr_html_(self) -> str:
        # In a frame, to isolate its styles from the notebook.
        page = escape(self.html, quote=True)
        return (
            f'<iframe title="quorate report" sandbox="allow-scripts" '
            f'style="width:100%;height:720px;border:1px solid #8888" '
            f'srcdoc="{page}"></iframe>'
        )


def page_head(kind: str, title: str) -> dict[str, Any]:
    """Return what the data of every page start with."""
    made_by = versions("scikit-learn", "numpy", "scipy")
    return {
        "format": "quorate-report/1",
        "kind": kind,
        "title": title,
        "made": datetime.now(UTC).date().isoformat(),
        "versions": {**made_by, "platform": platform.platform()},
    }


def render(
    template: str,
    data: dict[str, Any],
    pictures: dict[str, Picture],
    *,
    selection: Selection | None = None,
    **variables: Any,
) -> Report:
    """Render numbers and figures to a page.

    Parameters
    ----------
    template : str
        Name of the template.
    data : dict
        Plain types, as the template gets them and the page embeds them.
    pictures : dict
        Figures by their names in the template.
    selection : Selection, optional
        The selection shown on the page.
    **variables
        Additional variables of the template.
    """
    script = _asset("report.js")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    drawing = base64.b64encode(_asset("mark.svg").encode()).decode()
    html = _environment().get_template(template).render(
        data=data,
        json=embeddable(data),
        pictures=pictures,
        style=_asset("report.css"),
        script=script,
        script_hash=f"sha256-{digest}",
        # A data URL, so that nothing is loaded.
        mark=f"data:image/svg+xml;base64,{drawing}",
        **variables,
    )  # fmt: skip
    return Report(encodable(html), data, selection)


def embeddable(value: Any) -> str:
    """Return JSON that is safe inside a script element and in JavaScript."""
    text = json.dumps(value, allow_nan=False, separators=(",", ":"))
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text  # U+2028 and U+2029 are already escaped, as non-ASCII characters


@cache
def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(_asset),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    writers = {name: getattr(_text, name) for name in _WRITERS}
    environment.filters |= writers
    environment.globals |= writers
    environment.globals["digits"] = lambda write, n: lambda value: write(value, n)
    return environment


@cache
def _asset(name: str) -> str:
    """Return the text of a file in the template folder."""
    folder = resources.files("quorate._report") / "templates"
    return (folder / name).read_text(encoding="utf-8")
