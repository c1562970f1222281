"""What goes in and what comes out, with the figures of the demo in the readme.

The readme has the output of ``quorate demo``, which a test holds to what the command
prints; the first page of the site shows the same figures, as picture and table.
"""

import re
from html import escape
from pathlib import Path

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

README = Path(__file__).resolve().parent.parent.parent / "README.md"
# As typed on a terminal, and as written on a page with room.
_SIGNS = {" us": " µs"}
_COLUMNS, _STEP = 20, 10


def demo_rows(readme: str) -> list[list[str]]:
    """Return the table of models in the demo: titles first, then four rows."""
    shown = re.search(r"\n( +\d+ trees .*?)\nA forest", readme, re.S)
    assert shown, "README.md does not show the demo's table any more"
    rows = [
        re.split(r" {2,}", line.strip())
        for line in shown[1].splitlines()
        if "─" not in line
    ]
    assert [len(row) for row in rows] == [3, 4, 4, 4, 4], rows
    return [[_written(cell) for cell in row] for row in rows]


def _written(cell: str) -> str:
    for typed, meant in _SIGNS.items():
        cell = cell.replace(typed, meant)
    return cell


def _dots(kept: list[bool], label: str) -> str:
    """Draw a dot for each tree, in rows."""
    circles = "".join(
        f'<circle class="{"stays" if stays else "goes"}" r="3.4" '
        f'cx="{_STEP * (k % _COLUMNS) + 5}" cy="{_STEP * (k // _COLUMNS) + 5}"/>'
        for k, stays in enumerate(kept)
    )
    height = _STEP * -(-len(kept) // _COLUMNS)
    return (
        f'<svg viewBox="0 0 {_STEP * _COLUMNS} {height}" role="img" '
        f'aria-label="{label}">{circles}</svg>'
    )


def hero(rows: list[list[str]]) -> str:
    """Return picture and table as HTML."""
    titles, *figures = rows
    many, few = (int(title.split()[0].rstrip(",")) for title in titles[:2])
    # Some of them, here and there; which ones is up to the picture.
    places = {(k * many // few + (k * 7) % (many // few)) for k in range(few)}
    everybody = _dots([k in places for k in range(many)], f"{many} dots")
    those = _dots([True] * few, f"{few} dots")
    head = "".join(f'<th scope="col">{escape(title)}</th>' for title in ("", *titles))
    body = "".join(
        f'<tr><th scope="row">{escape(row[0])}</th>'
        + "".join(f"<td>{escape(cell)}</td>" for cell in row[1:])
        + "</tr>"
        for row in figures
    )
    return (
        '<div class="in-and-out">'
        f"<figure>{everybody}<figcaption><strong>{many} trees</strong> go in"
        "</figcaption></figure>"
        '<span class="becomes" aria-hidden="true">→</span>'
        f"<figure>{those}<figcaption><strong>{few} of them</strong> come out, taught "
        "by the others</figcaption></figure></div>"
        f'<table class="gains"><thead><tr>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table>"
    )


class Gains(SphinxDirective):
    """``.. gains::``, without arguments."""

    def run(self):
        """Return it as raw HTML."""
        self.env.note_dependency(str(README))
        text = hero(demo_rows(README.read_text(encoding="utf-8")))
        return [nodes.raw("", text, format="html")]


def setup(app):
    """Make the directive known."""
    app.add_directive("gains", Gains)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
