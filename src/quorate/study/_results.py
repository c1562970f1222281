"""Results of a study: score tables, the paper's table, and other summaries."""

import re
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np
import pandas as pd

from quorate._atomic import atomic_write
from quorate._messages import in_short, unknown_name
from quorate._output import Result, escape, plain
from quorate._theory import measures
from quorate._typing import FloatArray
from quorate.exceptions import FileFormatError
from quorate.stats import Scores, average_ranks, win_tie_loss
from quorate.study._generators import GENERATORS
from quorate.study._paper import (
    cell_text,
    committed_cells,
    paper_rows,
    printed_cells,
    verdict,
)
from quorate.study._plan import Plan
from quorate.study._presets import CONTESTED, make_preset
from quorate.study._store import Store

_MEANS = ("accuracy", "kept", "seconds", "bytes")
_TOO_LARGE = 1e100
_MARKS = {1: "+", 0: "", -1: "-"}
_TIE = 1e-12


@dataclass(frozen=True, eq=False, repr=False)
class ScoreTable(Result):
    """Mean and deviation per data set and method, marks, wins and ranks.

    A ``+`` marks cells that are significantly worse than the reference, a ``-`` cells
    that are significantly better (two-sided paired t-test over folds).

    Parameters
    ----------
    header : list of str
    body : list of list of str
    best : list of list of bool
        Whether a cell has the best mean of its row.
    footer : list of list of str
        Wins, ties and losses of the reference; average ranks.
    reference : str
    scoring : str
    title : str
        Printed above the table in Markdown and LaTeX, if there is one.
    """

    header: list[str]
    body: list[list[str]]
    best: list[list[bool]]
    footer: list[list[str]]
    reference: str
    scoring: str = "accuracy"
    title: str = ""

    def to_markdown(self) -> str:
        """Return the table as Markdown, the best of each row in bold."""
        header, body, footer = self._escaped(_markdown, "**{}**".format)
        lines = [header, ["---"] * len(header), *body, *footer]
        title = f"**{_markdown(self.title)}**\n\n" if self.title else ""
        return title + "".join(f"| {' | '.join(line)} |\n" for line in lines)

    def to_latex(self) -> str:
        """Return the table as a LaTeX tabular, the best of each row in bold."""
        header, body, footer = self._escaped(_latex, r"\textbf{{{}}}".format)
        lines = [rf"\textbf{{{_latex(self.title)}}}", ""] if self.title else []
        lines += [r"\begin{tabular}{l" + "r" * (len(header) - 1) + "}"]
        for part in filter(None, ([header], body, footer)):
            lines += [r"\hline", *(" & ".join(row) + r" \\" for row in part)]
        return "\n".join([*lines, r"\hline", r"\end{tabular}"]) + "\n"

    @property
    def _header(self) -> list[str]:  # type: ignore[override]
        return self.header

    @property
    def note(self) -> str:  # type: ignore[override]
        """What the numbers and marks mean."""
        return (
            f"{self.scoring.replace('_', ' ')} in percent, mean±deviation over folds; "
            f"* the best of a row, + where {self.reference} is significantly better, - "
            "where it is worse"
        )

    def rows(self) -> list[tuple[str, ...]]:
        """Return body and footer, the best of each row with an asterisk."""
        _, body, footer = self._escaped(str, "*{}".format)
        return [tuple(row) for row in (*body, *footer)]

    def _escaped(
        self, escape: Callable[[str], str], bold: Callable[[str], str]
    ) -> tuple[list[str], list[list[str]], list[list[str]]]:
        """Return header, body and footer with escaped text, the best in bold."""
        body = [
            [
                bold(escape(cell)) if is_best else escape(cell)
                for cell, is_best in zip(row, [False, *best], strict=True)
            ]
            for row, best in zip(self.body, self.best, strict=True)
        ]
        footer = [list(map(escape, row)) for row in self.footer]
        return list(map(escape, self.header)), body, footer


@dataclass(frozen=True, slots=True)
class Standing:
    """Averages of a method over the data sets for which it has all results.

    Parameters
    ----------
    method : str
        Name in the plan.
    accuracy : float
        Mean accuracy on the test parts.
    kept : float
        Mean number of members kept.
    seconds : float
        Mean time to choose members.
    bytes : float
        Mean size of the kept members.
    rank : float
        Average rank by accuracy, or by the score of the plan; 1 is best.
    wins, ties, losses : int or None
        Number of data sets on which the reference is significantly better, neither is,
        or the method is; None for the reference itself.
    score : float or None
        Mean of the plan's score; None if the plan has none.
    paper_accuracy, paper_rank : float or None
        Mean accuracy and average rank that the paper prints for the same rows, if the
        plan repeats a table of the paper.
    """

    method: str
    accuracy: float
    kept: float
    seconds: float
    bytes: float
    rank: float
    wins: int | None
    ties: int | None
    losses: int | None
    score: float | None = None
    paper_accuracy: float | None = None
    paper_rank: float | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Results:
    """The successful cells of a study.

    Parameters
    ----------
    name : str
        Name of the plan.
    methods : tuple of str
        The methods, in the order of the plan.
    rows : tuple of dict
        Measurements, one row per cell.
    failures : tuple of dict
        The failed cells, with their tracebacks.
    preparation : tuple of dict
        Preprocessing of each data set in each fold, with the data's fingerprint.
    plan : Plan, optional
        The plan of the study.
    """

    name: str
    methods: tuple[str, ...]
    rows: tuple[dict[str, Any], ...]
    failures: tuple[dict[str, Any], ...]
    preparation: tuple[dict[str, Any], ...] = ()
    plan: Plan | None = None

    @classmethod
    def read(cls, path: str | Path) -> "Results":
        """Read the results from a store."""
        with Store(path, read_only=True) as store:
            plan = store.plan
            try:
                return cls._from_store(store, plan)
            except FileFormatError:
                raise
            except (KeyError, TypeError, ValueError) as error:
                raise FileFormatError(
                    f"{path}: damaged study file, with results of another plan "
                    f"({in_short(error)})."
                ) from error

    @classmethod
    def _from_store(cls, store: Store, plan: Plan) -> "Results":
        data = plan.data_names
        names = tuple(method.name for method in plan.methods)
        kinds = [ensemble.name for ensemble in plan.ensembles]

        def place(row: Mapping[str, Any]) -> tuple[int, int, int]:
            return (
                data.index(row["data"]),
                names.index(row["method"]),
                kinds.index(row["ensemble"]),
            )

        rows = sorted(store.rows(), key=place)
        for row in rows:
            _check_numbers(row)
        # one record per data set and fold, shared by ensembles
        preparation = {
            (data.index(fit["data"]), fit["repeat"], fit["fold"]): {
                **{name: fit[name] for name in ("data", "repeat", "fold")},
                **fit["preparation"],
            }
            for fit in store.fits()
            if fit["preparation"]
        }
        return cls(
            plan.name,
            names,
            tuple(rows),
            tuple(sorted(store.failures(), key=place)),
            tuple(preparation[place] for place in sorted(preparation)),
            plan,
        )

    @property
    def scoring(self) -> str:
        """Name of the score used for ranks: accuracy, or the score of the plan."""
        return str(self.rows[0].get("scoring", "accuracy")) if self.rows else "accuracy"

    def scores(self, quantity: str | None = None) -> Scores:
        """Return a table of a quantity, (data sets and ensembles) x methods.

        Parameters
        ----------
        quantity : str
            A column of the rows, such as "accuracy", "kept", "seconds" or "bytes"; by
            default "score" if the plan has one, else "accuracy".
        """
        if not self.rows:
            raise ValueError(f"{self.name}: no results yet.")
        if quantity is None:
            quantity = "score" if "score" in self.rows[0] else "accuracy"
        if quantity not in self.rows[0]:
            raise ValueError(unknown_name("quantity", quantity, self.rows[0]))
        return Scores.from_rows(
            (
                self._block(row),
                row["method"],
                f"{row['repeat']}.{row['fold']}",
                float(row[quantity]),
            )
            for row in self.rows
        )

    def _block(self, row: Mapping[str, Any]) -> str:
        """Return the name of a row's data set, with the ensemble if there are many."""
        several = len({row["ensemble"] for row in self.rows}) > 1
        return f"{row['data']}, {row['ensemble']}" if several else str(row["data"])

    @property
    def searches(self) -> dict[str, "Results"]:
        """The results to rank, by name: as they are, or those of each search.

        If the plan repeats a table of the paper, each search has the columns of that
        table: random subsets have none, and EPBD and FTAD have one each.
        """
        if self.plan is None or not self.plan.table:
            return {"": self}
        double = {m.removesuffix(CONTESTED) for m in self.methods if CONTESTED in m}
        columns = [m for m in self.methods if CONTESTED not in m and m != "random"]
        found = {}
        suffixes = (("as printed", ""), ("contested", CONTESTED))
        for search, suffix in suffixes[: 1 + bool(double)]:
            name_of = {f"{m}{suffix}" if m in double else m: m for m in columns}
            rows = tuple(
                {**row, "method": name_of[row["method"]]}
                for row in self.rows
                if row["method"] in name_of
            )
            named = f"{self.name}, {search}"
            found[search] = replace(
                self, name=named, methods=tuple(name_of.values()), rows=rows
            )
        return found

    def printed(self) -> dict[str, dict[str, tuple[float, float]]]:
        """Return what the paper prints for the rows of its table, by block and method.

        Means and deviations are in percent. Empty if the plan repeats no table.
        """
        if self.plan is None or not self.plan.table:
            return {}
        learner = {one.name: one.learner for one in self.plan.ensembles}
        pairs = dict.fromkeys((row["data"], row["ensemble"]) for row in self.rows)
        return {
            self._block({"data": data, "ensemble": ensemble}): printed_cells(
                self.plan.table, data, learner[ensemble]
            )
            for data, ensemble in pairs
        }

    def standings(self, reference: str | None = None) -> tuple[Standing, ...]:
        """Return the averages of each method, the best average rank first.

        Parameters
        ----------
        reference : str, optional
            The method the others are compared with; the last one by default.
        """
        scores = self.scores().complete_blocks()
        against = reference or self.methods[-1]
        if against not in scores.methods:
            raise ValueError(unknown_name("method", against, scores.methods))
        ranks: FloatArray = np.ones(1)
        counts = {}
        if scores.n_methods > 1:
            ranks = average_ranks(scores).average
            compared = win_tie_loss(scores, against)
            columns = np.column_stack((compared.wins, compared.ties, compared.losses))
            counts = dict(zip(compared.methods, columns.tolist(), strict=True))
        names = _MEANS if self.scoring == "accuracy" else (*_MEANS, "score")
        means = {}
        for name in names:
            table = self.scores(name)
            kept = [block in scores.blocks for block in table.blocks]
            means[name] = table.values[kept].mean(axis=(0, 2))
        paper = self._paper_standings(scores)
        standings = []
        for at, method in enumerate(scores.methods):
            wins, ties, losses = counts.get(method, (None, None, None))
            values = {name: float(mean[at]) for name, mean in means.items()}
            values["rank"] = float(ranks[at])
            values |= paper.get(method, {})
            standings.append(
                Standing(method, **values, wins=wins, ties=ties, losses=losses)
            )
        return tuple(sorted(standings, key=lambda one: (one.rank, one.method)))

    def _paper_standings(self, scores: Scores) -> dict[str, dict[str, float]]:
        """Return accuracy and rank by the means that the paper prints."""
        printed = self.printed()
        known = all(
            set(scores.methods) <= set(printed.get(b, ())) for b in scores.blocks
        )
        if not known or scores.n_methods < 2:
            return {}
        means = [[printed[b][m][0] for m in scores.methods] for b in scores.blocks]
        columns = zip(*means, strict=True)
        ranks = average_ranks(np.array(means)).average.tolist()
        return {
            method: {"paper_accuracy": fmean(column) / 100, "paper_rank": rank}
            for method, column, rank in zip(scores.methods, columns, ranks, strict=True)
        }

    def table(self, reference: str | None = None) -> ScoreTable:
        """Return scores by data set and method, with marks against a reference.

        Scores are accuracies unless the plan has another score. If it repeats a table
        of the paper, deviations divide by the number of folds as they do there, and the
        line that the paper prints follows each line.

        Parameters
        ----------
        reference : str, optional
            The method the others are compared with; the last one by default.
        """
        scores = self.scores().complete_blocks()
        reference = reference or self.methods[-1]
        printed, methods = self.printed(), list(scores.methods)
        if reference not in methods:
            raise ValueError(unknown_name("method", reference, methods))
        at = methods.index(reference)
        compared = win_tie_loss(scores, reference)
        marks = np.insert(compared.marks, at, 0, axis=1)  # the reference has none
        counts = [
            f"{wins}/{ties}/{losses}"
            for wins, ties, losses in zip(
                compared.wins, compared.ties, compared.losses, strict=True
            )
        ]
        counts.insert(at, "")
        values = np.asarray(scores.values)
        mean, spread = values.mean(axis=2), values.std(axis=2, ddof=0 if printed else 1)
        top = (mean >= mean.max(axis=1, keepdims=True) - _TIE).tolist()
        body, best = [], []
        for b, block in enumerate(scores.blocks):
            line = [
                cell_text(100 * mean[b, m], 100 * spread[b, m]) + _MARKS[marks[b, m]]
                for m in range(len(methods))
            ]
            body.append([block, *line])
            best.append(top[b])
            if there := printed.get(block):
                cells = [there.get(method) for method in methods]
                texts = (cell_text(*one) if one else "" for one in cells)
                body.append(["  paper", *texts])
                most = max(one[0] for one in cells if one)
                best.append([one is not None and one[0] == most for one in cells])
        ranks = average_ranks(scores).average
        return ScoreTable(
            header=["data set", *methods],
            body=body,
            best=best,
            footer=[["W/T/L", *counts], ["average rank", *(f"{r:.2f}" for r in ranks)]],
            reference=reference,
            scoring=self.scoring,
            title=self.name if printed else "",
        )

    def to_dict(self, reference: str | None = None) -> dict[str, Any]:
        """Return everything in plain types for JSON; non-finite numbers become None.

        Parameters
        ----------
        reference : str, optional
            As in :meth:`standings`, which is empty if nothing can be compared yet.
        """
        own = {field.name: plain(getattr(self, field.name)) for field in fields(self)}
        for search, part in self.searches.items():
            try:
                standings = part.standings(reference)
            except ValueError:
                if reference is not None and self.rows:
                    raise
                standings = ()
            own[f"standings, {search}" if search else "standings"] = plain(standings)
        return own

    def to_frame(self) -> pd.DataFrame:
        """Return the rows as a pandas data frame."""
        return pd.DataFrame(list(self.rows))

    def check(self) -> pd.DataFrame:
        """Compare every cell with the table of this preset that quorate comes with.

        Returns
        -------
        pandas.DataFrame
            For each committed cell, the text of both and the verdict: "same", "within
            tolerance" (of one standard error over the folds), "differs", "incomplete"
            (folds that failed, or have not run yet) or "not computed" (not planned).

        Raises
        ------
        ValueError
            If the plan is not that of a preset, whatever its data sets.
        """
        if self.plan is None:
            raise ValueError(f"{self.name}: has no plan to compare with a preset.")
        preset = make_preset(self.name)
        preset.joined(self.plan)
        printed = paper_rows(self.plan.table)

        def place(data: str, ensemble: str) -> tuple[str | tuple[str, ...], str]:
            """Return all names of a file; what a generator makes is other data."""
            files = (row.files for row in printed if row.find([data]))
            return data if data in GENERATORS else next(files, data), ensemble

        planned = {place(u.data.label, u.ensemble.name) for u in self.plan.units()}
        folds = defaultdict(list)
        for row in self.rows:
            at = *place(row["data"], row["ensemble"]), row["method"]
            folds[at].append(100 * row["accuracy"])
        rows = []
        for (block, method), committed in committed_cells(self.name).items():
            data, _, ensemble = block.partition(", ")
            pair = place(data, ensemble or preset.ensembles[0].name)
            now, values = "", folds[*pair, method]
            how = "incomplete" if pair in planned else "not computed"
            if len(values) == preset.folds * preset.repeats:
                now = cell_text(float(np.mean(values)), float(np.std(values)))
                how = verdict(committed, now, len(values))
            rows.append((block, method, committed, now, how))
        columns = ["data set", "method", "committed", "now", "verdict"]
        return pd.DataFrame(rows, columns=columns)

    def correlations(self) -> pd.DataFrame:
        """Return how diversity and risk go with gain and error, by ensemble.

        Figures 3 to 8 of the paper show these. The gain of voting is the members' mean
        error minus that of the ensemble on the test part; measures are of the samples
        that members are chosen on.

        Returns
        -------
        pandas.DataFrame
            A row for each pair of quantities; for each ensemble "pearson" and
            "spearman", over its data sets and folds.
        """
        frame = self.to_frame()
        frame["gain"] = frame.member_error - frame.error
        frame = frame.replace([np.inf, -np.inf], np.nan)
        pairs = [("gain", f"after_{name}") for name in measures()]
        pairs += [("error", "risk"), ("error", "worst_diversity"),
                  ("risk", "worst_diversity")]  # fmt: skip
        columns = {
            (name, kind): [cells[[x, y]].corr(kind).iloc[0, 1] for x, y in pairs]
            for name, cells in frame.groupby("ensemble", sort=False)
            for kind in ("pearson", "spearman")
        }
        names = [f"{x}, {y.removeprefix('after_').replace('_', ' ')}" for x, y in pairs]
        return pd.DataFrame(columns, index=names)

    def correlation_table(self) -> ScoreTable:
        """Return :meth:`correlations` as text, those of ranks in brackets."""
        found = self.correlations()
        body = [
            [pair, *(f"{r:+.2f} ({ranks:+.2f})".replace("+nan", "-")
                     for r, ranks in zip(line[::2], line[1::2], strict=True))]
            for pair, *line in found.itertuples(name=None)
        ]  # fmt: skip
        header = ["quantities", *dict.fromkeys(found.columns.get_level_values(0))]
        best = [[False] * (len(header) - 1)] * len(body)
        return ScoreTable(header, body, best, [], "")

    def to_csv(self, path: str | Path | None = None) -> str:
        """Return the rows as CSV, and write them to a file if a path is given."""
        text: str = self.to_frame().to_csv(index=False, lineterminator="\n")
        if path is not None:
            with atomic_write(path) as file:
                file.write(text.encode())
        return text

    def __repr__(self) -> str:
        sets = len({row["data"] for row in self.rows})
        size = f"{len(self.rows)} cells, {len(self.methods)} methods, {sets} data sets"
        return f"Results({self.name}: {size}; {len(self.failures)} failed)"

    def _repr_html_(self) -> str:
        """Return the table of accuracies for notebooks."""
        summary = f"<p>{escape(repr(self))}</p>"
        try:
            return summary + self.table()._repr_html_()
        except ValueError as error:  # nothing to compare yet
            return f"{summary}<p>{escape(str(error))}</p>"


def _check_numbers(row: Mapping[str, Any]) -> None:
    """Refuse a row with missing or invalid numbers."""
    for name in ("repeat", "fold"):
        if type(row[name]) is not int or row[name] < 0:
            raise ValueError(f"{name} is {row[name]!r}")
    for name in _MEANS:
        value = row.get(name)
        # In JSON, numbers can overflow to infinity, or be NaN.
        if not isinstance(value, (int, float)) or not abs(value) < _TOO_LARGE:
            raise ValueError(f"{name} is {value!r}")


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
    # at the start of a row, LaTeX would read these as an argument of the row before
    "[": "{[}",
    "*": "{*}",
}
_MARKUP = re.compile(r"[\\`*\[\]|~]|(?<![^\W_])_|_(?![^\W_])")


def _latex(text: str) -> str:
    """Escape text for LaTeX."""
    return "".join(_LATEX.get(character, character) for character in text)


def _markdown(text: str) -> str:
    """Escape text for a cell of a Markdown table."""
    shown = escape(text, quote=False)
    return _MARKUP.sub(lambda match: "\\" + match.group(), shown)
