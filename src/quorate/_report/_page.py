"""A page as numbers in plain types, and rendering it to a file or a notebook."""

import base64
import hashlib
import json
import os
import platform
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from html import escape
from importlib import resources
from typing import Any

import jinja2

from quorate._atomic import atomic_write
from quorate._choosing import Selection
from quorate._output import encodable
from quorate._report import _text
from quorate._report._svg import Picture
from quorate._version import versions

_WRITERS = (
    *("change", "count", "milliseconds", "number", "percent", "plural", "points"),
    *("seconds", "size", "times", "unsigned"),
)


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
    marks = {name: drawn.marks for name, drawn in pictures.items() if drawn.marks}
    drawing = base64.b64encode(_asset("mark.svg").encode()).decode()
    html = _environment().get_template(template).render(
        data=data,
        json=embeddable(data),
        pictures=pictures,
        marks=embeddable(marks),
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
