"""The table of the literature: means, deviations, marks, wins and ranks."""

import re
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from quorate._messages import unknown_name
from quorate._output import escape
from quorate.stats import Scores, average_ranks, win_tie_loss

_MARKS = {1: "+", 0: "", -1: "-"}
_TIE = 1e-12


@dataclass(frozen=True, slots=True, eq=False)
class ScoreTable:
    """Mean and deviation per data set and method, marks, wins and ranks.

    A ``+`` marks a cell the reference beats significantly, a ``-`` one that beats it
    (two-sided paired t-test over folds).

    Parameters
    ----------
    header : list of str
    body : list of list of str
    best : list of list of bool
        Which cells hold the best mean of their row.
    footer : list of list of str
        Wins, ties and losses of the reference; average ranks.
    reference : str
    scoring : str
    """

    header: list[str]
    body: list[list[str]]
    best: list[list[bool]]
    footer: list[list[str]]
    reference: str
    scoring: str = "accuracy"

    def to_markdown(self) -> str:
        """Return the table as Markdown, the best of each row in bold."""
        header, body, footer = self._escaped(_markdown, "**{}**".format)
        lines = [header, ["---"] * len(header), *body, *footer]
        return "".join(f"| {' | '.join(line)} |\n" for line in lines)

    def to_latex(self) -> str:
        """Return the table as a LaTeX tabular, the best of each row in bold."""
        header, body, footer = self._escaped(_latex, r"\textbf{{{}}}".format)
        lines = [r"\begin{tabular}{l" + "r" * (len(header) - 1) + "}"]
        for part in ([header], body, footer):
            lines += [r"\hline", *(" & ".join(row) + r" \\" for row in part)]
        return "\n".join([*lines, r"\hline", r"\end{tabular}"]) + "\n"

    def _repr_html_(self) -> str:
        """Return the table for notebooks, the best of each row in bold."""
        header, *parts = self._escaped(escape, "<b>{}</b>".format)
        head = "".join(f"<th>{name}</th>" for name in header)
        body, foot = (
            "".join(
                f"<tr><th>{name}</th><td>{'</td><td>'.join(cells)}</td></tr>"
                for name, *cells in part
            )
            for part in parts
        )
        note = escape(
            f"{self.scoring.replace('_', ' ')} in percent, mean±deviation over "
            f"folds; + where {self.reference} is significantly better, - where it is "
            "worse"
        )
        return (
            f"<table><caption>{note}</caption><thead><tr>{head}</tr></thead>"
            f"<tbody>{body}</tbody><tfoot>{foot}</tfoot></table>"
        )

    def _escaped(
        self, escape: Callable[[str], str], bold: Callable[[str], str]
    ) -> tuple[list[str], list[list[str]], list[list[str]]]:
        """Return header, body and footer in another language, the best in bold."""
        body = [
            [
                bold(escape(cell)) if is_best else escape(cell)
                for cell, is_best in zip(row, [False, *best], strict=True)
            ]
            for row, best in zip(self.body, self.best, strict=True)
        ]
        footer = [list(map(escape, row)) for row in self.footer]
        return list(map(escape, self.header)), body, footer


def make_table(scores: Scores, reference: str, scoring: str) -> ScoreTable:
    """Lay out a score table with marks, wins and ranks."""
    methods = list(scores.methods)
    if reference not in methods:
        raise ValueError(unknown_name("method", reference, methods))
    at = methods.index(reference)
    compared = win_tie_loss(scores, reference)
    marks = np.insert(compared.marks, at, 0, axis=1)  # its own column has none
    counts = [
        f"{wins}/{ties}/{losses}"
        for wins, ties, losses in zip(
            compared.wins, compared.ties, compared.losses, strict=True
        )
    ]
    counts.insert(at, "")
    values = np.asarray(scores.values)
    mean, spread = values.mean(axis=2), values.std(axis=2, ddof=1)
    body = [
        [
            block,
            *(
                f"{100 * mean[b, m]:.2f}±{100 * spread[b, m]:.2f}{_MARKS[marks[b, m]]}"
                for m in range(len(methods))
            ),
        ]
        for b, block in enumerate(scores.blocks)
    ]
    ranks = average_ranks(scores).average
    return ScoreTable(
        header=["data set", *methods],
        body=body,
        best=(mean >= mean.max(axis=1, keepdims=True) - _TIE).tolist(),
        footer=[["W/T/L", *counts], ["average rank", *(f"{r:.2f}" for r in ranks)]],
        reference=reference,
        scoring=scoring,
    )


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
_MARKUP = re.compile(r"[\\`*\[\]|~]|(?<![^\W_])_|_(?![^\W_])")


def _latex(text: str) -> str:
    """Return text that LaTeX sets as it is, whatever commands are in it."""
    return "".join(_LATEX.get(character, character) for character in _one_line(text))


def _markdown(text: str) -> str:
    """Return text that Markdown shows as it is, in a cell of a table."""
    shown = escape(_one_line(text), quote=False)
    return _MARKUP.sub(lambda match: "\\" + match.group(), shown)


def _one_line(text: str) -> str:
    """Return text on one line, without what is not to be seen."""
    return "".join(c if c.isprintable() else " " for c in text)
