"""Run one of the paper's tables again, with its learners, and set it beside the paper.

``python -m experiments paper_tables 2 DATA_FOLDER [STORE_FOLDER [ROWS]]`` runs the
preset ``paper-table-2`` for several numbers of members and shares kept, on at most ROWS
rows of each data set, and writes ``docs/results/paper/paper-table-2-*``; so for 3 to 6.
What is in the stores already is not computed again. Ranks are among the paper's
methods, once with EPBD (or FTAD) as printed and once with the contested search, and the
paper's are those of its printed means on the same rows and methods.
"""

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from experiments._tables import RESULTS, read, write
from experiments.presets import directive, short_names
from quorate.display import RankDisplay
from quorate.stats import average_ranks
from quorate.study import Plan, Results, make_preset, run_plan

# Members and share kept. Tables and pictures show the first, and FTAD runs on it alone.
GRID = ((11, 0.3), (11, 0.5), (21, 0.3))
WHOLE = ("2", "3")  # shown with a picture, and data set by data set
NUMERALS = {"2": "II", "3": "III", "4": "IV", "5": "V", "6": "VI"}
PRINTED = "EPBD"
CONTESTED = ", contested"


def main(table: str, data_dir: str, stores: str = ".", rows: str = "") -> None:
    """Run what is missing and write the tables."""
    preset = make_preset(f"paper-table-{table}", data_dir=data_dir)
    if rows:
        preset = replace(preset, rows=int(rows))
    grid = []
    for members, keep in GRID if table in WHOLE else GRID[:1]:
        path = Path(stores) / f"paper/{preset.name}-{members}-{keep}.sqlite"
        plan = resized(preset, members, keep)
        outcome = run_plan(plan, path, data_dir=data_dir, n_jobs=1)
        print(f"{path.name}: {outcome.n_run} cells now, {outcome.n_failed} failed")
        results = short_names(Results.read(path))
        paper = printed_means(NUMERALS[table], results)
        grid += grid_lines(f"{members}, {keep:.0%}", results)
        if (members, keep) == GRID[0]:
            write_methods(preset.name, results, paper)
            scores = results.table(PRINTED)
            rows_of_sets = [*scores.body, *scores.footer]
            write(f"paper/{preset.name}-data.csv", scores.header, rows_of_sets)
            if table in WHOLE:
                (RESULTS / f"paper/{preset.name}-data.inc").write_text(
                    directive(scores)
                )
                draw(preset.name, results, paper)
    ranks = average_ranks(paper).average[list(paper).index("EPBD")]
    change = np.mean(paper["EPBD"]) - np.mean(paper["Ensem"])
    grid.append(["paper", "", f"{change:+.2f}", "", f"{ranks:.2f} of {len(paper)}"])
    header = ["members, kept", "search", "against all members", "against random",
              "EPBD's rank"]  # fmt: skip
    if table in WHOLE:
        write(f"paper/{preset.name}-grid.csv", header, grid)
    for line in grid:
        print("  ".join(line))


def resized(plan: Plan, members: int, keep: float) -> Plan:
    """Return the plan with so many members, of which every method keeps a share."""
    return replace(
        plan,
        ensembles=tuple(replace(one, members=members) for one in plan.ensembles),
        methods=tuple(
            one if one.keep == 1.0 else replace(one, keep=keep) for one in plan.methods
        ),
    )


def printed_means(table: str, results: Results) -> dict[str, list[float]]:
    """Return what the paper prints for the rows and methods that were run."""
    sets = {row["data"] for row in results.rows}
    file = "rows" if table in ("II", "III") else "measures"
    rows = [
        row
        for row in read(f"paper/paper-{file}.csv")
        if row["table"] == table and row["data set"].removesuffix(".csv.gz") in sets
    ]
    methods = of_search(results, "").methods
    return {method: [float(row[method]) for row in rows] for method in methods}


def of_search(results: Results, suffix: str) -> Results:
    """Return the paper's methods under one search, by the names of the paper."""
    double = {
        name.removesuffix(CONTESTED) for name in results.methods if CONTESTED in name
    }
    names = {f"{name}{suffix}" if name in double else name: name
             for name in results.methods
             if name != "random" and CONTESTED not in name}  # fmt: skip
    rows = [
        {**row, "method": names[row["method"]]}
        for row in results.rows
        if row["method"] in names
    ]
    return replace(results, methods=tuple(names.values()), rows=tuple(rows))


def accuracies(results: Results) -> dict[str, float]:
    """Return the mean accuracy of each method, in percent."""
    scores = results.scores().complete_blocks()
    means = 100 * np.asarray(scores.values).mean(axis=(0, 2))
    return dict(zip(scores.methods, means.tolist(), strict=True))


def grid_lines(setting: str, results: Results) -> list[list[str]]:
    """Return how EPBD did under each search."""
    mean = accuracies(results)
    lines = []
    for search, suffix in (("printed", ""), ("contested", CONTESTED)):
        standings = of_search(results, suffix).standings(PRINTED)
        rank = next(one.rank for one in standings if one.method == PRINTED)
        own = mean[PRINTED + suffix]
        lines.append(
            [
                setting, search, f"{own - mean['Ensem']:+.2f}",
                f"{own - mean['random']:+.2f}", f"{rank:.2f} of {len(standings)}",
            ]
        )  # fmt: skip
    return lines


def write_methods(name: str, results: Results, paper: dict[str, list[float]]) -> None:
    """Write accuracy, ranks and wins of each method beside the paper's."""
    mean = accuracies(results)
    theirs = dict(zip(paper, average_ranks(paper).average, strict=True))
    columns: list[dict[str, str]] = []
    for suffix in ("", CONTESTED):
        ranks = of_search(results, suffix).standings(PRINTED)
        columns.append({one.method: f"{one.rank:.2f}" for one in ranks})
        counts = results.standings(PRINTED + suffix)
        columns.append({
            one.method: f"{one.wins}/{one.ties}/{one.losses}"
            for one in counts
            if one.wins is not None
        })  # fmt: skip
    rows = []
    for method in results.methods:
        plain = method.removesuffix(CONTESTED)
        is_contested = method != plain
        printed_rank, printed_wins, contested_rank, contested_wins = columns
        double = f"{plain}{CONTESTED}" in results.methods
        row = [method, f"{mean[method]:.2f}", f"{mean[method] - mean['Ensem']:+.2f}"]
        row += ["" if is_contested else printed_rank.get(method, "")]
        row += [printed_wins.get(method, "")]
        row += ["" if double and not is_contested else contested_rank.get(plain, "")]
        row += [contested_wins.get(method, "")]
        if method in paper:
            printed = np.mean(paper[method])
            change = printed - np.mean(paper["Ensem"])
            row += [f"{printed:.2f}", f"{change:+.2f}", f"{theirs[method]:.2f}"]
        else:
            row += ["", "", ""]
        rows.append(row)
    header = ["method", "accuracy", "change", "rank, printed", "W/T/L, printed",
              "rank, contested", "W/T/L, contested", "paper: accuracy",
              "paper: change", "paper: rank"]  # fmt: skip
    write(f"paper/{name}-methods.csv", header, rows)


def draw(name: str, results: Results, paper: dict[str, list[float]]) -> None:
    """Draw the ranks of the paper's means and of both searches side by side."""
    panels: dict[str, Any] = {
        "the paper's means, same rows": paper,
        "EPBD as printed": of_search(results, "").scores().complete_blocks(),
        "EPBD, contested": of_search(results, CONTESTED).scores().complete_blocks(),
    }
    figure = Figure(figsize=(15, 5.2), layout="constrained")
    axes = figure.subplots(1, 3)
    for ax, (title, scores) in zip(axes, panels.items(), strict=True):
        RankDisplay.from_scores(scores).plot(ax)
        ax.set_title(f"{title}\n{ax.get_title()}", fontsize=9)
        for label in ax.get_yticklabels():
            label.set_fontweight("bold" if label.get_text() == PRINTED else "normal")
    ends = np.array([ax.get_xlim() for ax in axes])
    for ax in axes:
        ax.set_xlim(ends[:, 0].min(), ends[:, 1].max())
        ax.set_xticks(range(1, len(paper) + 1, 3))
    figure.savefig(RESULTS / f"paper/{name}-ranks.png", dpi=100)


if __name__ == "__main__":
    main(*sys.argv[1:])
