"""Run the presets on everyday learners and write the tables of the docs.

``python -m experiments presets DATA_FOLDER [STORE_FOLDER]`` writes ``docs/results/``;
what is in the stores already is not computed again.
"""

import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from experiments._tables import RESULTS, read, write
from quorate import measures
from quorate.stats import friedman
from quorate.study import PRESETS, Results, ScoreTable, make_preset, run_plan

# The others have commands of their own: experiments.paper_tables,
# experiments.selectors_study.
SHOWN = [name for name in PRESETS if not name.startswith(("paper-table-", "selectors"))]


def main(data_dir: str, stores: str = ".") -> None:
    """Run what is missing and write the tables."""
    for name in SHOWN:
        path = Path(stores) / f"paper/{name}-real.sqlite"
        plan = make_preset(name, data_dir=data_dir)
        outcome = run_plan(plan, path, data_dir=data_dir, n_jobs=2)
        results = short_names(Results.read(path))
        test = friedman(results.scores().complete_blocks())
        print(
            f"{name}: {outcome.n_run} cells now, {outcome.n_failed} failed, "
            f"Friedman p = {test.chi_square_p_value:.2g}"
        )
        write_tables(name, results)


def short_names(results: Results) -> Results:
    """Call data sets by their names; those a generator has too are known by file."""
    rows = [
        {**row, "data": row["data"].removesuffix(".csv.gz")} for row in results.rows
    ]
    return replace(results, rows=tuple(rows))


def write_tables(name: str, results: Results) -> None:
    """Write a row per method, a row per data set, and what else a preset is about."""
    write_methods(name, results)
    table = results.table("EPBD")
    write(f"paper/{name}-data.csv", table.header, [*table.body, *table.footer])
    if name in EXTRAS:
        EXTRAS[name](results)
    else:
        (RESULTS / f"paper/{name}-data.inc").write_text(directive(table))
    beside_the_paper(name, table)


def write_methods(name: str, results: Results) -> None:
    """Write how each method did, beside what the paper printed."""
    paper = {
        row["method"]: row for row in read("paper/paper.csv") if row["study"] == name
    }
    header = ["method", "accuracy", "rank", "W/T/L", "kept", "ms", "kB"]
    theirs = ["accuracy", "rank", "W/T/L"] if paper else []
    rows = []
    for one in results.standings("EPBD"):
        counts = (one.wins, one.ties, one.losses)
        there = paper.get(one.method, {})
        rows.append(
            [
                one.method,
                f"{100 * one.accuracy:.2f}",
                f"{one.rank:.2f}",
                "" if one.wins is None else "/".join(map(str, counts)),
                f"{one.kept:.1f}",
                f"{1e3 * one.seconds:.1f}",
                f"{one.bytes / 1e3:.0f}",
                *(there.get(column, "") for column in theirs),
            ]
        )
    header += [f"paper: {column}" for column in theirs]
    write(f"paper/{name}-methods.csv", header, rows)


def beside_the_paper(name: str, table: ScoreTable) -> None:
    """Write the data sets that the paper has too, under names of its own."""
    paper = [row for row in read("paper/paper-data.csv") if row["study"] == name]
    ours = {row[0]: dict(zip(table.header, row, strict=True)) for row in table.body}
    best = dict(zip(ours, table.best, strict=True))
    rows = []
    for there in paper:
        data = there["data set"]
        winners = [
            m for m, top in zip(table.header[1:], best[data], strict=True) if top
        ]
        here = ours[data]
        rows.append(
            [
                data,
                here["Ensem"].rstrip("+-"),
                there["Ensem"],
                here["EPBD"],
                there["EPBD"],
                f"{few(winners)}, {here[winners[0]].split('±')[0]}",
                f"{few(there['best method'].split('/'))}, {there['best accuracy']}",
            ]
        )
    if rows:
        header = ["data set", "Ensem", "paper: Ensem", "EPBD", "paper: EPBD", "best",
                  "paper: best"]  # fmt: skip
        write(f"paper/{name}-paper.csv", header, sorted(rows))


def few(names: list[str]) -> str:
    """Return names in words, however many there are."""
    if len(names) > 2:
        return f"{names[0]} and {len(names) - 1} more"
    return " and ".join(names)


def write_decomposition(results: Results) -> None:
    """Write error = members' error - diversity, by data set and ensemble."""
    parts = ("full_error", "full_member_error", "full_diversity")
    pivot("decomposition", results, parts, "{} = {} - {}")


def write_relationship(results: Results) -> None:
    """Write error and diversity by data set, and how measures go with the gain."""
    pivot("relationship", results, ("full_error", "full_diversity"), "{}, {}")
    cells = [row for row in results.rows if row["method"] == "Ensem"]
    groups: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for row in cells:
        groups.setdefault((row["data"], row["ensemble"]), []).append(row)

    def mean(quantity: str) -> Any:
        return np.array([[row[quantity] for row in g] for g in groups.values()]).mean(1)

    gain = mean("full_member_error") - mean("full_error")
    columns = {
        **{name: mean(f"before_{name}") for name in measures()},
        "diversity on the test part": mean("full_diversity"),
        "risk estimate": mean("full_risk"),
    }
    rows = [
        [
            name,
            f"{pearson(values, gain):.2f}",
            f"{pearson(values, mean('full_error')):.2f}",
        ]
        for name, values in columns.items()
    ]
    header = ["what", "with members' error - error", "with error"]
    write("paper/relationship-correlations.csv", header, rows)


def write_space(results: Results) -> None:
    """Write accuracy, time and space by method and ensemble."""
    kinds = list(dict.fromkeys(row["ensemble"] for row in results.rows))
    header = ["method"]
    for kind in kinds:
        header += [f"{kind}: {what}" for what in ("accuracy", "ms", "kB", "% of all")]
    rows = []
    for method in results.methods:
        row = [method]
        for kind in kinds:
            cells = [
                cell
                for cell in results.rows
                if (cell["method"], cell["ensemble"]) == (method, kind)
            ]
            mean = {
                name: float(np.mean([cell[name] for cell in cells]))
                for name in ("accuracy", "seconds", "bytes", "full_bytes")
            }
            row += [
                f"{100 * mean['accuracy']:.2f}",
                f"{1e3 * mean['seconds']:.1f}",
                f"{mean['bytes'] / 1e3:.1f}",
                f"{100 * mean['bytes'] / mean['full_bytes']:.1f}",
            ]
        rows.append(row)
    write("paper/space-methods-by-ensemble.csv", header, rows)
    (RESULTS / "paper/space-data.inc").write_text(directive(results.table("EPBD")))


EXTRAS: dict[str, Callable[[Results], None]] = {
    "decomposition": write_decomposition,
    "relationship": write_relationship,
    "space": write_space,
}


def pivot(name: str, results: Results, parts: tuple[str, ...], form: str) -> None:
    """Write means in percent by data set and ensemble, several in a cell."""
    kinds = list(dict.fromkeys(row["ensemble"] for row in results.rows))
    found: dict[tuple[str, str], list[list[float]]] = {}
    for row in results.rows:
        if row["method"] == "Ensem":
            place = (row["data"], row["ensemble"])
            found.setdefault(place, []).append([100 * row[part] for part in parts])
    rows = []
    for data in dict.fromkeys(row["data"] for row in results.rows):
        means = [np.mean(found[data, kind], axis=0) for kind in kinds]
        rows.append([data, *(form.format(*map(percent, mean)) for mean in means)])
    write(f"paper/{name}-parts.csv", ["data set", *kinds], rows)


def percent(value: float) -> str:
    """Return two decimals, in brackets where a minus may stand before it."""
    return f"{value:.2f}" if value >= -0.005 else f"({value:.2f})"


def pearson(a: Any, b: Any) -> float:
    """Return the correlation of two columns, where both have a value."""
    known = np.isfinite(a) & np.isfinite(b)
    return float(np.corrcoef(a[known], b[known])[0, 1])


def directive(table: ScoreTable) -> str:
    """Return the table for a page of the docs, the best of each row in bold."""
    lines = [".. csv-table::", "   :header-rows: 1", "   :stub-columns: 1",
             "   :class: quorate-results", "", quoted(table.header)]  # fmt: skip
    for row, best in zip(table.body, table.best, strict=True):
        cells = [f"**{c}**" if b else c for c, b in zip(row[1:], best, strict=True)]
        lines.append(quoted([row[0], *cells]))
    return "\n".join([*lines, *map(quoted, table.footer)]) + "\n"


def quoted(cells: list[str]) -> str:
    """Return a line of a csv-table."""
    return "   " + ",".join(f'"{cell}"' for cell in cells)


if __name__ == "__main__":
    main(*sys.argv[1:])
