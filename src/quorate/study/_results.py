"""What a study found: score tables, the paper's table, and other summaries."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from quorate._suggest import unknown_name
from quorate._typing import FloatArray
from quorate.stats import Scores, average_ranks, win_tie_loss
from quorate.study._plan import plan_from_dict
from quorate.study._store import Store

_MARKS = {1: "+", 0: "", -1: "-"}


@dataclass(frozen=True, slots=True, eq=False)
class Results:
    """The cells of a study that went well."""

    name: str
    """The name of the plan."""
    methods: tuple[str, ...]
    """The methods, in the order of the plan."""
    rows: tuple[dict[str, Any], ...]
    """What was measured, a row per cell."""
    failures: tuple[dict[str, Any], ...]
    """The cells that failed, with their tracebacks."""

    @classmethod
    def read(cls, path: str | Path) -> "Results":
        """Read the results in a store."""
        if not Path(path).exists():
            raise FileNotFoundError(f"{path}: no such file.")
        with Store(path) as store:
            if store.plan is None:
                raise ValueError(f"{path}: holds no study.")
            plan = plan_from_dict(store.plan)
            names = tuple(method.name for method in plan.methods)
            rows = sorted(
                store.rows(),
                key=lambda row: (
                    plan.data.index(row["data"]),
                    names.index(row["method"]),
                ),
            )
            return cls(plan.name, names, tuple(rows), tuple(store.failures()))

    def scores(self, quantity: str = "accuracy", sign: float = 1.0) -> Scores:
        """Return a table of a measured quantity, data sets and ensembles by methods.

        Parameters
        ----------
        quantity : str
            A column of the rows, such as "accuracy", "kept", "seconds" or "bytes".
        sign : float
            -1 where less is better, so that higher is better in the table.
        """
        if not self.rows:
            raise ValueError(f"{self.name}: no results yet.")
        if quantity not in self.rows[0]:
            raise ValueError(unknown_name("quantity", quantity, self.rows[0]))
        several = len({row["ensemble"] for row in self.rows}) > 1
        return Scores.from_rows(
            (
                f"{row['data']}, {row['ensemble']}" if several else row["data"],
                row["method"],
                f"{row['repeat']}.{row['fold']}",
                sign * float(row[quantity]),
            )
            for row in self.rows
        )

    def mean_of(self, quantity: str) -> FloatArray:
        """Return the mean of a quantity over complete data sets, by method."""
        scores = self.scores().complete_blocks()
        table = self.scores(quantity)
        kept = [block in scores.blocks for block in table.blocks]
        return np.asarray(table.values[kept].mean(axis=(0, 2)))

    def table(self, reference: str | None = None) -> "Table":
        """Return accuracy by data set and method, with marks against a reference.

        Parameters
        ----------
        reference : str, optional
            The method the others are compared with; the last one by default.
        """
        scores = self.scores().complete_blocks()
        return make_table(scores, reference or self.methods[-1])


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

    def to_markdown(self) -> str:
        """Return the table as Markdown, the best of each row in bold."""
        lines = [self._line(self.header), self._line(["---"] * len(self.header))]
        for row, best in zip(self.body, self.best, strict=True):
            cells = [f"**{c}**" if b else c for c, b in zip(row[1:], best, strict=True)]
            lines.append(self._line([row[0], *cells]))
        lines += [self._line(row) for row in self.footer]
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

    @staticmethod
    def _line(cells: Sequence[str]) -> str:
        return "| " + " | ".join(cells) + " |"


def make_table(scores: Scores, reference: str) -> Table:
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


def _latex(text: str) -> str:
    for character in "&%$#_":
        text = text.replace(character, "\\" + character)
    return text.replace("±", r"$\pm$")
