"""The table of the literature: means, deviations, marks, wins and ranks."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from quorate._messages import unknown_name
from quorate._output import escape
from quorate._typing import FloatArray
from quorate.stats import Scores, average_ranks, win_tie_loss

_MARKS = {1: "+", 0: "", -1: "-"}


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """Mean and deviation per data set and method, marks, wins and ranks.

    A ``+`` marks a cell the reference beats significantly, a ``-`` one that beats it
    (two-sided paired t-test over folds).
    """

    header: list[str]
    body: list[list[str]]
    best: list[list[bool]]
    """Which cells hold the best mean of their row."""
    footer: list[list[str]]
    """Wins, ties and losses of the reference; average ranks."""
    reference: str
    scoring: str = "accuracy"

    def to_markdown(self) -> str:
        """Return the table as Markdown, the best of each row in bold."""
        head = self._line(map(_markdown, self.header))
        lines = [head, self._line(["---"] * len(self.header))]
        for row, best in zip(self.body, self.best, strict=True):
            name, *cells = map(_markdown, row)
            cells = [f"**{c}**" if b else c for c, b in zip(cells, best, strict=True)]
            lines.append(self._line([name, *cells]))
        lines += [self._line(map(_markdown, row)) for row in self.footer]
        return "\n".join(lines) + "\n"

    def wins(self) -> tuple[list[str], list[str]]:
        """Return the methods and the reference's wins, ties and losses against them."""
        return self.header[1:], self.footer[0][1:]

    def to_latex(self) -> str:
        """Return the table as a LaTeX tabular, the best of each row in bold."""
        lines = [
            r"\begin{tabular}{l" + "r" * (len(self.header) - 1) + "}",
            r"\hline",
            " & ".join(map(_latex, self.header)) + r" \\",
            r"\hline",
        ]
        for row, best in zip(self.body, self.best, strict=True):
            cells = [
                rf"\textbf{{{_latex(c)}}}" if b else _latex(c)
                for c, b in zip(row[1:], best, strict=True)
            ]
            lines.append(" & ".join([_latex(row[0]), *cells]) + r" \\")
        lines.append(r"\hline")
        lines += [" & ".join(map(_latex, row)) + r" \\" for row in self.footer]
        return "\n".join([*lines, r"\hline", r"\end{tabular}"]) + "\n"

    def _repr_html_(self) -> str:
        """Return the table for notebooks, the best of each row in bold."""
        head = "".join(f"<th>{escape(name)}</th>" for name in self.header)
        lines = []
        for row, best in zip(self.body, self.best, strict=True):
            cells = [
                f"<td><b>{escape(c)}</b></td>" if b else f"<td>{escape(c)}</td>"
                for c, b in zip(row[1:], best, strict=True)
            ]
            lines.append(f"<tr><th>{escape(row[0])}</th>{''.join(cells)}</tr>")
        foot = "".join(
            f"<tr><th>{escape(row[0])}</th>"
            + "".join(f"<td>{escape(cell)}</td>" for cell in row[1:])
            + "</tr>"
            for row in self.footer
        )
        note = (
            f"{escape(self.scoring.replace('_', ' '))} in percent, mean±deviation over "
            f"folds; + where {escape(self.reference)} is significantly better, - where "
            "it is worse"
        )
        return (
            f"<table><caption>{note}</caption><thead><tr>{head}</tr></thead>"
            f"<tbody>{''.join(lines)}</tbody><tfoot>{foot}</tfoot></table>"
        )

    @staticmethod
    def _line(cells: Iterable[str]) -> str:
        return "| " + " | ".join(cells) + " |"


def make_table(scores: Scores, reference: str, scoring: str = "accuracy") -> Table:
    """Lay out a score table with marks, wins and ranks."""
    methods, blocks = list(scores.methods), list(scores.blocks)
    if reference not in methods:
        raise ValueError(unknown_name("method", reference, methods))
    values = np.asarray(scores.values)
    mean, spread = values.mean(axis=2), values.std(axis=2, ddof=1)
    compared = win_tie_loss(scores, reference)
    marks = _marks(compared, methods, len(blocks))
    body = [
        [
            block,
            *(
                f"{100 * mean[b, m]:.2f}±{100 * spread[b, m]:.2f}{marks[b][m]}"
                for m in range(len(methods))
            ),
        ]
        for b, block in enumerate(blocks)
    ]
    top = mean.max(axis=1, keepdims=True)
    ranks = average_ranks(scores)
    counts = _counts(compared, methods, reference)
    return Table(
        header=["data set", *methods],
        body=body,
        best=(mean >= top - 1e-12).tolist(),
        footer=[
            ["W/T/L", *counts],
            ["average rank", *(f"{rank:.2f}" for rank in _in_order(ranks, methods))],
        ],
        reference=reference,
        scoring=scoring,
    )


def _marks(compared: Any, methods: list[str], n_blocks: int) -> list[list[str]]:
    """Return the mark of each cell; the reference's own column has none."""
    others = list(compared.methods)
    return [
        [
            _MARKS[int(compared.marks[block, others.index(method)])]
            if method in others
            else ""
            for method in methods
        ]
        for block in range(n_blocks)
    ]


def _counts(compared: Any, methods: list[str], reference: str) -> list[str]:
    others = list(compared.methods)
    cells = []
    for method in methods:
        if method == reference:
            cells.append("")
            continue
        at = others.index(method)
        counts = compared.wins[at], compared.ties[at], compared.losses[at]
        cells.append("/".join(str(int(count)) for count in counts))
    return cells


def _in_order(ranks: Any, methods: list[str]) -> FloatArray:
    known = dict(zip(ranks.methods, ranks.average, strict=True))
    return np.array([known[method] for method in methods])


_LATEX = {
    **{character: "\\" + character for character in "&%$#_{}"},
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    "±": r"$\pm$",
    # at the start of a row these would be an argument of the end of the row before
    "[": "{[}",
    "*": "{*}",
}


def _latex(text: str) -> str:
    """Return text that LaTeX sets as it is, whatever commands are in it."""
    return "".join(_LATEX.get(character, character) for character in _shown(text))


_MARKUP = re.compile(r"[\\`*\[\]|~]|(?<![^\W_])_|_(?![^\W_])")


def _markdown(text: str) -> str:
    """Return text that Markdown shows as it is, in a cell of a table."""
    shown = escape(_shown(text), quote=False)
    return _MARKUP.sub(lambda found: "\\" + found.group(), shown)


def _shown(text: str) -> str:
    """Return text on one line, without what is not to be seen."""
    return "".join(c if c.isprintable() else " " for c in text)
