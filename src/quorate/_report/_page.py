"""A finished page: what it says, and how it gets to a file or a notebook."""

import base64
import hashlib
import json
import os
import platform
from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass
from datetime import UTC, datetime
from functools import cache
from html import escape
from importlib import resources
from typing import Any

import jinja2

from quorate._atomic import atomic_write
from quorate._choosing import Selection
from quorate._output import encodable, plain
from quorate._report import _text
from quorate._report._svg import Picture
from quorate._version import versions

_HEIGHT = 720
_WRITERS = (
    *("change", "count", "milliseconds", "number", "percent", "plural", "points"),
    *("seconds", "size", "times", "unsigned"),
)


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


def origin() -> dict[str, Any]:
    """Return when and by which versions a page is made."""
    made_by = versions("scikit-learn", "numpy", "scipy")
    return {
        "made": datetime.now(UTC).date().isoformat(),
        "versions": {**made_by, "platform": platform.platform()},
    }


def render(
    template: str,
    page: Any,
    pictures: dict[str, Picture],
    *,
    selection: Selection | None = None,
    **parts: Any,
) -> Report:
    """Put numbers and pictures on a page.

    Parameters
    ----------
    template : str
        Name of the template.
    page : dataclass
        What is embedded as JSON; the template sees it as ``data``, in plain types.
    pictures : dict
        By the names that the template has for them.
    selection : Selection, optional
        The choice of members that the page is about.
    **parts
        What else the template shows.
    """
    data = as_data(page)
    script = _asset("report.js")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    marks = {name: drawn.marks for name, drawn in pictures.items() if drawn.marks}
    drawing = base64.b64encode(_asset("mark.svg").encode()).decode()
    html = (
        _environment()
        .get_template(template)
        .render(
            data=data,
            json=embeddable(data),
            pictures=pictures,
            marks=embeddable(marks),
            style=_asset("report.css"),
            script=script,
            script_hash=f"sha256-{digest}",
            # An address that carries the drawing, so that nothing is loaded.
            mark=f"data:image/svg+xml;base64,{drawing}",
            **parts,
        )
    )
    return Report(encodable(html), data, selection)


def as_data(section: Any) -> Any:
    """Return a section, or what it is made of, in plain types for JSON."""
    if hasattr(section, "to_dict"):
        return as_data(section.to_dict())
    if is_dataclass(section):
        return {
            field.name.rstrip("_"): as_data(getattr(section, field.name))
            for field in fields(section)
        }
    if isinstance(section, dict):
        return {str(name): as_data(part) for name, part in section.items()}
    if isinstance(section, (list, tuple)):
        return [as_data(part) for part in section]
    return plain(section)


def embeddable(value: Any) -> str:
    """Return JSON that can stand inside a script element and inside JavaScript."""
    text = json.dumps(value, ensure_ascii=True, separators=(",", ":"))
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text  # U+2028 and U+2029 are escaped already, being no ASCII


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
    environment.globals |= {**writers, "digits": _with_digits}
    return environment


def _with_digits(write: Callable[..., str], digits: int) -> Callable[[Any], str]:
    return lambda value: write(value, digits)


@cache
def _asset(name: str) -> str:
    """Return the text of a file in the folder of templates."""
    folder = resources.files("quorate._report") / "templates"
    return (folder / name).read_text(encoding="utf-8")
