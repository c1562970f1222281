"""Data of a page, and rendering it to a file or a notebook."""

import base64
import hashlib
import json
import os
import platform
from dataclasses import dataclass, field, fields, is_dataclass
from datetime import UTC, datetime
from functools import cache
from html import escape
from importlib import resources
from typing import Any

import jinja2

from quorate._atomic import atomic_write
from quorate._blending import Blend
from quorate._choosing import Selection
from quorate._output import encodable, plain
from quorate._report import _savings, _sections, _text
from quorate._report._expected import (
    CertificateSection,
    JudgedSection,
    MethodsSection,
    NoCertificate,
)
from quorate._report._reproduce import ReproduceSection, Settings
from quorate._report._svg import Picture
from quorate._report._text import Measure
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


@dataclass(frozen=True, slots=True)
class Step:
    """A recommendation."""

    title: str
    text: str


def _made_by() -> dict[str, str]:
    made_by = versions("scikit-learn", "numpy", "scipy")
    return {**made_by, "platform": platform.platform()}


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """Data of every page."""

    format: str = "quorate-report/1"
    title: str
    made: str = field(default_factory=lambda: datetime.now(UTC).date().isoformat())
    versions: dict[str, str] = field(default_factory=_made_by)


@dataclass(frozen=True, slots=True, kw_only=True)
class VotesPage(Page):
    """Data of every page about votes."""

    ensemble: _sections.EnsembleSection
    words: _sections.Words
    votes: _sections.VotesSection
    classes: list[Any]
    confusion: _sections.ConfusionSection | None
    diversity: list[_sections.MeasureRow] | None
    decomposition: _sections.DecompositionSection | None
    risk: dict[str, Any] | None
    members: list[_sections.MemberRow]
    certificate: CertificateSection | NoCertificate
    reproduce: ReproduceSection
    advice: list[Step] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class EnsemblePage(VotesPage):
    """Data of the page about an ensemble, or about votes without models."""

    kind: str = "ensemble"
    blend: Blend | None
    judged: JudgedSection | None
    pruning: _savings.PruningSection
    methods: MethodsSection
    lazy: _savings.LazySection
    sizes: _savings.SizesSection
    settings: Settings
    choice: str = ""
    contributions: str = ""

    @property
    def measure(self) -> Measure:
        """How to format the score."""
        return self.judged or Measure()


def render(
    template: str,
    page: Any,
    pictures: dict[str, Picture],
    *,
    selection: Selection | None = None,
    **parts: Any,
) -> Report:
    """Render numbers and figures to a page.

    Parameters
    ----------
    template : str
        Name of the template.
    page : dataclass
        Data to embed as JSON; available to the template as ``data``, in plain types.
    pictures : dict
        Figures by their names in the template.
    selection : Selection, optional
        The selection shown on the page.
    **parts
        Additional variables of the template.
    """
    data = as_data(page)
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
        **parts,
    )  # fmt: skip
    return Report(encodable(html), data, selection)


def as_data(section: Any) -> Any:
    """Return a section or its parts in plain types for JSON."""
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
    """Return JSON that is safe inside a script element and in JavaScript."""
    text = json.dumps(value, ensure_ascii=True, separators=(",", ":"))
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
