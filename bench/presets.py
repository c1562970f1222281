"""Run the paper's presets on a folder of data sets and write the tables of the docs.

``python -m bench.presets DATA_FOLDER [STORE_FOLDER]`` writes ``docs/results/*.csv``;
what is in the stores already is not computed again.
"""

import csv
import sys
from pathlib import Path

from quorate.stats import average_ranks, friedman
from quorate.study import Results, make_preset, run_plan

RESULTS = Path("docs/results")
PRESETS = (
    "pruning-bagging",
    "pruning-adaboost",
    "ftad-bagging-nb",
    "ftad-bagging-knn",
    "ftad-adaboost-svm",
    "decomposition",
    "relationship",
    "space",
)


def main(data_dir: str, stores: str = ".") -> None:
    """Run what is missing and write the tables."""
    RESULTS.mkdir(exist_ok=True)
    for name in PRESETS:
        path = Path(stores) / f"{name}-real.sqlite"
        plan = make_preset(name, data_dir=data_dir)
        outcome = run_plan(plan, path, data_dir=data_dir, n_jobs=2)
        print(f"{name}: {outcome.n_run} cells now, {outcome.n_failed} failed")
        write_tables(name, Results.read(path))


def write_tables(name: str, results: Results) -> None:
    """Write a row per method, and a row per data set."""
    paper = read_paper().get(name, {})
    scores = results.scores().complete_blocks()
    ranks = average_ranks(scores)
    table = results.table("EPBD")
    wins = dict(zip(*table.wins(), strict=True))
    columns = {
        quantity: dict(zip(scores.methods, results.mean_of(quantity), strict=True))
        for quantity in ("accuracy", "kept", "seconds")
    }
    rows = []
    for method, rank in sorted(
        zip(scores.methods, ranks.average, strict=True), key=lambda pair: pair[1]
    ):
        there = paper.get(method, {})
        rows.append(
            [
                method,
                f"{100 * columns['accuracy'][method]:.2f}",
                f"{rank:.2f}",
                wins[method],
                f"{columns['kept'][method]:.1f}",
                f"{1e3 * columns['seconds'][method]:.1f}",
                there.get("accuracy", ""),
                there.get("rank", ""),
            ]
        )
    header = ["method", "accuracy", "rank", "W/T/L", "kept", "ms",
              "paper: accuracy", "paper: rank"]  # fmt: skip
    write(RESULTS / f"{name}-methods.csv", header, rows)
    write(RESULTS / f"{name}-data.csv", table.header, table.body)
    test = friedman(scores)
    print(f"  {scores.n_blocks} data sets, Friedman p = {test.chi_square_p_value:.3g}")


def read_paper() -> dict[str, dict[str, dict[str, str]]]:
    """Return what the paper's tables give: mean accuracy and rank by method."""
    found: dict[str, dict[str, dict[str, str]]] = {}
    with (RESULTS / "paper.csv").open() as file:
        for row in csv.DictReader(file):
            found.setdefault(row["study"], {})[row["method"]] = row
    return found


def write(path: Path, header: list[str], rows: list[list[str]]) -> None:
    """Write a CSV file."""
    with path.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)


if __name__ == "__main__":
    main(*sys.argv[1:])
