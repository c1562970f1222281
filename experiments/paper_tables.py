"""Run the paper's tables again, and write what quorate comes with and what docs show.

``python -m experiments paper_tables DATA_FOLDER STORE_FOLDER [NUMBER ...]`` runs the
presets ``paper-table-2`` to ``paper-table-6``, or those of the given numbers; what is
in the stores already is not computed again. It writes the cells into the package, for
``quorate study check``, and ``docs/results/paper/paper-table-*``.
"""

import sys
from pathlib import Path

import numpy as np

from experiments._tables import RESULTS, write
from experiments.presets import directive, write_committed
from quorate.study import Results, make_preset, run_plan
from quorate.study._paper import NUMERALS, paper_rows

REFERENCE = "EPBD"


def main(data_dir: str, stores: str = ".", *numbers: str) -> None:
    """Run what is missing and write the tables."""
    for number in numbers or "23456":
        plan = make_preset(f"paper-table-{number}", data_dir=data_dir)
        path = Path(stores) / f"paper/{plan.name}.sqlite"
        path.parent.mkdir(parents=True, exist_ok=True)
        outcome = run_plan(plan, path, data_dir=data_dir, n_jobs=1)
        print(f"{path.name}: {outcome.n_run} cells now, {outcome.n_failed} failed")
        print("\n".join(plan.missing_rows()))
        results = Results.read(path)
        write_committed(results)
        write_methods(results)
        for search, part in results.searches.items():
            name = f"paper/{plan.name}-{search.removeprefix('as ')}.inc"
            (RESULTS / name).write_text(directive(part.table(REFERENCE)))
    write_rows()


def write_methods(results: Results) -> None:
    """Write accuracy, ranks and wins of each method beside the paper's."""
    scores = results.scores().complete_blocks()
    means = 100 * np.asarray(scores.values).mean(axis=(0, 2))
    mean = dict(zip(scores.methods, means.tolist(), strict=True))
    printed, contested = (
        {one.method: one for one in part.standings(REFERENCE)}
        for part in results.searches.values()
    )
    rows = []
    for name in dict.fromkeys(one.removesuffix(", contested") for one in mean):
        twin = f"{name}, contested"
        row = [name, f"{mean[name]:.2f}", f"{mean[name] - mean['Ensem']:+.2f}"]
        row += [f"{mean[twin]:.2f}" if twin in mean else ""]
        row += [f"{mean[twin] - mean['Ensem']:+.2f}" if twin in mean else ""]
        for found in (printed, contested):
            one = found.get(name)
            row += ["" if one is None else f"{one.rank:.2f}"]
            is_counted = one is not None and one.wins is not None
            row += [f"{one.wins}/{one.ties}/{one.losses}" if is_counted else ""]
        one = printed.get(name)
        row += ["", ""] if one is None else [
            f"{100 * one.paper_accuracy:.2f}", f"{one.paper_rank:.2f}"]  # fmt: skip
        rows.append(row)
    header = ["method", "accuracy", "change", "contested", "change, contested",
              "rank, printed", "W/T/L, printed", "rank, contested", "W/T/L, contested",
              "paper: accuracy", "paper: rank"]  # fmt: skip
    write(f"paper/{results.name}-methods.csv", header, rows)


def write_rows() -> None:
    """Write all rows of the five tables, and which of them can be run."""
    rows = []
    for table in NUMERALS:
        for row in paper_rows(table):
            file = f"{row.files[0]}.csv.gz" if row.files else ""
            learners = " or ".join(row.learners) if file else ""
            state = "run" if file else "missing: the paper does not describe it"
            rows.append([table, row.name, file, learners, row.source, state])
    header = ["table", "row", "file", "learner", "source of the file", "state"]
    write("paper/paper-rows.csv", header, rows)


if __name__ == "__main__":
    main(*sys.argv[1:])
