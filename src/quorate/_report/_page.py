"""A finished page: what it says, and how it gets to a file or a notebook."""

import base64
import hashlib
import json
import os
from dataclasses import dataclass
from functools import cache
from html import escape
from importlib import resources
from importlib.util import find_spec
from typing import Any

from quorate._atomic import atomic_write
from quorate._choosing import Selection
from quorate._output import encodable, plain

_HEIGHT = 720


@dataclass(frozen=True, slots=True, eq=False)
class Report:
    """One self-contained HTML page; see :func:`quorate.report`."""

    html: str
    """The page."""
    data: dict[str, Any]
    """The numbers on it, in plain types; the page embeds them as JSON."""
    selection: Selection | None = None
    """The members it shows as kept, as :func:`quorate.prune` chooses them; None where
    the page is about a study."""

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the page to a file, replacing an old one in one step."""
        with atomic_write(path) as file:
            file.write(self.html.encode("utf-8"))

    def __repr__(self) -> str:
        title = str(self.data.get("title", ""))
        return f"Report({title!r}, {len(self.html) / 1e3:,.0f} kB of HTML)"

    def _repr_html_(self) -> str:
        # In a frame of its own, so that styles neither leak out nor in.
        page = escape(self.html, quote=True)
        return (
            f'<iframe title="quorate report" sandbox="allow-scripts" '
            f'style="width:100%;height:{_HEIGHT}px;border:1px solid #8888" '
            f'srcdoc="{page}"></iframe>'
        )


def render(
    template: str,
    data: dict[str, Any],
    *,
    selection: Selection | None = None,
    **parts: Any,
) -> Report:
    """Put numbers and pictures on a page.

    Parameters
    ----------
    template : str
        Name of the template.
    data : dict
        What is embedded as JSON; the template sees it as ``data``.
    selection : Selection, optional
        The choice of members that the page is about.
    **parts
        What else the template shows: tables, figures.
    """
    numbers = plain(data)
    script = _asset("report.js")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    html = (
        _environment()
        .get_template(template)
        .render(
            data=numbers,
            json=embeddable(numbers),
            style=_asset("report.css"),
            script=script,
            script_hash=f"sha256-{digest}",
            mark=_as_address("mark.svg"),
            **parts,
        )
    )
    return Report(encodable(html), numbers, selection)


def embeddable(value: Any) -> str:
    """Return JSON that can stand inside a script element and inside JavaScript."""
    text = json.dumps(value, ensure_ascii=True, separators=(",", ":"))
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text  # U+2028 and U+2029 are escaped already, being no ASCII


def require_extra() -> None:
    """Raise one helpful sentence where what draws and writes pages is missing."""
    missing = [name for name in ("jinja2", "matplotlib") if find_spec(name) is None]
    if missing:
        raise ImportError(
            f"quorate.report needs {' and '.join(missing)}, not installed; "
            f"pip install {' '.join(missing)}"
        )


@cache
def _environment() -> Any:
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(_asset),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    from quorate._report import _format

    for name in ("percent", "points", "number", "count", "times", "size"):
        environment.filters[name] = getattr(_format, name)
    environment.filters["milliseconds"] = _format.milliseconds
    return environment


def _as_address(name: str) -> str:
    """Return a drawing as an address that carries it, so that nothing is loaded."""
    drawing = base64.b64encode(_asset(name).encode()).decode()
    return f"data:image/svg+xml;base64,{drawing}"


@cache
def _asset(name: str) -> str:
    """Return the text of a file in the folder of templates."""
    folder = resources.files("quorate._report") / "templates"
    return (folder / name).read_text(encoding="utf-8")
