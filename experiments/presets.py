"""Run the presets on everyday learners and write the tables of the docs.

``python -m experiments presets DATA_FOLDER [STORE_FOLDER [NAME ...]]`` writes
``docs/results/``; what is in the stores already is not computed again.
"""

import csv
import sys
from collections.abc import Callable
from dataclasses import replace
from importlib.resources import files
from pathlib import Path

import numpy as np

from experiments._tables import RESULTS, read, write
from quorate.study import PRESETS, Results, ScoreTable, make_preset, run_plan
from quorate.study._paper import cell_text

# The others have commands of their own: experiments.paper_tables,
# experiments.selectors_study.
SHOWN = [name for name in PRESETS if not name.startswith(("paper-table-", "selectors"))]


def main(data_dir: str, stores: str = ".", *names: str) -> None:
    """Run what is missing and write the tables."""
    for name in names or SHOWN:
        path = Path(stores) / f"paper/{name}.sqlite"
        path.parent.mkdir(parents=True, exist_ok=True)
        plan = make_preset(name, data_dir=data_dir)
        outcome = run_plan(plan, path, data_dir=data_dir, n_jobs=1)
        results = Results.read(path)
        write_committed(results)
        print(f"{name}: {outcome.n_run} cells now, {outcome.n_failed} failed")
        write_tables(name, short_names(results))


def short_names(results: Results) -> Results:
    """Call data sets by their names; those a generator has too are known by file."""
    rows = [
        {**row, "data": row["data"].removesuffix(".csv.gz")} for row in results.rows
    ]
    return replace(results, rows=tuple(rows))


def write_tables(name: str, results: Results) -> None:
    """Write a row per method, a row per data set, and what else a preset is about."""
    if name in EXTRAS:
        EXTRAS[name](results)
        return
    write_methods(name, results)
    table = results.table("EPBD")
    write(f"paper/{name}-data.csv", table.header, [*table.body, *table.footer])
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


def write_relationship(results: Results) -> None:
    """Write how diversity and risk go with gain and error, by ensemble."""
    table = results.correlation_table()
    write(f"paper/{results.name}-correlations.csv", table.header, table.body)


def write_committed(results: Results) -> None:
    """Write the cells that ``quorate study check`` compares with into the package."""
    scores = results.scores("accuracy").complete_blocks()
    values = 100 * np.asarray(scores.values)
    cells = zip(values.mean(axis=2), values.std(axis=2), strict=True)
    rows = [
        [block, *map(cell_text, mean, spread)]
        for block, (mean, spread) in zip(scores.blocks, cells, strict=True)
    ]
    path = files("quorate.study") / f"paper/{results.name}.csv"
    with Path(str(path)).open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerows([["data set", *scores.methods], *rows])


def write_space(results: Results) -> None:
    """Write accuracy, members kept and bytes by method and ensemble."""
    frame = results.to_frame()
    frame["share"] = 100 * frame.bytes / frame.full_bytes
    frame["accuracy"] *= 100
    means = frame.groupby(["ensemble", "method"], sort=False)
    means = means[["accuracy", "kept", "share"]].mean()
    lines = zip(means.index, means.to_numpy().tolist(), strict=True)
    rows = [[*at, *(f"{value:.2f}" for value in line)] for at, line in lines]
    header = ["ensemble", "method", "accuracy", "kept of 11", "% of the bytes"]
    write("paper/space-methods-by-ensemble.csv", header, rows)


EXTRAS: dict[str, Callable[[Results], None]] = {
    "decomposition": write_relationship,
    "relationship": write_relationship,
    "space": write_space,
}


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
