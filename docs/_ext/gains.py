"""What is gained and what it costs, with the figures of the demo in the readme.

The readme has the output of ``quorate demo``, which a test holds to what the command
prints; the first page of the site shows the same figures, as cards and as a table.
"""

import re
from html import escape
from pathlib import Path

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

README = Path(__file__).resolve().parent.parent.parent / "README.md"
# As typed on a terminal, and as written on a page with room.
MINUS = "\N{MINUS SIGN}"
_SIGNS = {" us": " µs", " (-": f" ({MINUS}"}
_NOTHING = re.compile(
    r"Nothing lost: ([\d,]+) times smaller and ([\d,]+) times faster for one row,\n"
    r" +the same answers on ([\d,]+) of ([\d,]+) new rows"
)
_LITTLE = re.compile(
    r"A little lost: ([\d,]+) times smaller with (\d+) of (\d+) trees, distilled;\n"
    r" +(\S+) pp of accuracy \(standard error (\S+)\)"
)
_WHY = re.compile(
    r"Why it works\nOne tree is wrong on (\S+) % of the rows\..*?\((\S+) pp of "
    r"diversity\), so their vote is wrong on\s+only (\S+) %",
    re.S,
)


def demo_rows(readme: str) -> list[list[str]]:
    """Return the table of models in the demo: titles first, then six rows."""
    shown = re.search(r"\n( +\d+ trees .*?)\nTrained on", readme, re.S)
    assert shown, "README.md does not show the demo's table any more"
    rows = [
        re.split(r" {2,}", line.strip())
        for line in shown[1].splitlines()
        if "─" not in line
    ]
    assert [len(row) for row in rows] == [3, *[4] * 6], rows
    return [
        [rows[0][0], *rows[0][1:]],
        *([row[0], *map(_written, row[1:])] for row in rows[1:]),
    ]


def _written(cell: str) -> str:
    for typed, meant in _SIGNS.items():
        cell = cell.replace(typed, meant)
    return cell


def _found(pattern: re.Pattern[str], readme: str) -> tuple[str, ...]:
    match = pattern.search(readme)
    assert match, f"README.md does not show {pattern.pattern!r} any more"
    return match.groups()


def cards(readme: str) -> str:
    """Return three cards: nothing lost, a little lost, and why it works."""
    smaller, faster, same, of = _found(_NOTHING, readme)
    less, few, many, lost, doubt = _found(_LITTLE, readme)
    tree, diversity, vote = _found(_WHY, readme)
    lost = lost.replace("-", MINUS)
    assert same == of, "the compact form does not give the same answers"
    width = 100 * float(vote) / float(tree)
    return (
        '<div class="cards">'
        "<section><h2>Nothing lost</h2>"
        f'<p class="figure">{smaller} times smaller<br>{faster} times faster</p>'
        f"<p>All {many} trees in compact form (<code>quorate.compact</code>). The same "
        f"answers on all {of} new rows; the time is that of one row.</p></section>"
        "<section><h2>A little lost</h2>"
        f'<p class="figure">{less} times smaller<br><span class="loss">{lost} '
        f"± {doubt} pp accuracy</span></p>"
        f"<p>A tenth of the trees ({few}), distilled from all of them "
        "(<code>quorate.prune</code>).</p></section>"
        "<section><h2>Why it works</h2>"
        f'<p class="bar" role="img" aria-label="error of a tree, {tree} %">'
        f'<span style="width: {width:.0f}%">vote {vote} %</span>'
        f"<span>diversity {diversity}</span></p>"
        f"<p>One tree is wrong on {tree} % of the rows. The trees are wrong on "
        f"different rows ({diversity} pp of diversity), so their vote is wrong on "
        f"only {vote} %.</p></section></div>"
    )


def table(rows: list[list[str]]) -> str:
    """Return the models side by side; a change stands below its figure."""
    titles, *figures = rows
    head = "".join(f'<th scope="col">{escape(title)}</th>' for title in ("", *titles))
    body = "".join(
        f'<tr><th scope="row">{escape(row[0])}</th>'
        + "".join(map(_cell, row[1:]))
        + "</tr>"
        for row in figures
    )
    return (
        f'<table class="gains"><thead><tr>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table>"
    )


def _cell(text: str) -> str:
    figure, _, change = text.partition(" (")
    below = (
        f'<span class="change">{escape(change.rstrip(")"))}</span>' if change else ""
    )
    return f"<td>{escape(figure)}{below}</td>"


class Gains(SphinxDirective):
    """``.. gains::``, without arguments."""

    def run(self):
        """Return it as raw HTML."""
        self.env.note_dependency(str(README))
        readme = README.read_text(encoding="utf-8")
        text = cards(readme) + table(demo_rows(readme))
        return [nodes.raw("", text, format="html")]


def setup(app):
    """Make the directive known."""
    app.add_directive("gains", Gains)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
