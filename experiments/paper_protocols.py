"""EPBD's average rank in Tables II and III under other protocols.

``python -m experiments paper_protocols DATA_FOLDER STORE_FOLDER`` runs the presets
``paper-table-2`` and ``paper-table-3`` with five seeds; what is in the stores already
is not computed again. From the votes it chooses members by EPBD for both searches, both
signs, several sizes, on the votes of the training part as in the paper's text and on
those of the test part, which the text excludes. All other methods stay as they are in
the tables. *best learner* takes, of the learners of a row that is not decided, the one
with which EPBD has the better rank: a choice by the result. Ranks are means over the
seeds, *lowest* that of the best seed. It writes ``docs/results/paper/protocols.csv``.
"""

import io
import sys
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from experiments._tables import write
from experiments.paper_archive import place
from quorate import Votes
from quorate.pruning import EPBD
from quorate.stats import average_ranks
from quorate.study import Results, Store, make_preset, run_plan

TABLES = ("paper-table-2", "paper-table-3")
SEEDS = range(5)
SIZES = (1, 2, 3, 4, 5, 7, 9)
PROTOCOLS = list(product(("training part", "test part"), ("printed", "contested"),
                         ("measure", "ensemble"), SIZES))  # fmt: skip


def main(data_dir: str, stores: str) -> None:
    """Run what is missing, and write the ranks of each protocol in both tables."""
    found = {
        name: [ranks(stored(name, seed, data_dir, Path(stores))) for seed in SEEDS]
        for name in TABLES
    }
    rows = []
    for protocol in PROTOCOLS:
        row = [*map(str, protocol)]
        for name in TABLES:
            each = np.array([one[protocol] for one in found[name]])
            row += [f"{value:.2f}" for value in (each[:, 0].mean(), each[:, 0].min(),
                                                 each[:, 1].mean())]  # fmt: skip
        rows.append(row)
    header = ["chosen on", "search", "lambda", "kept of 11"]
    for table in ("II", "III"):
        header += [f"rank in {table}", f"lowest, {table}", f"best learner, {table}"]
    write("paper/protocols.csv", header, rows)
    for row in rows:
        print("  ".join(row))


def stored(name: str, seed: int, data_dir: str, folder: Path) -> Path:
    """Return the store of a preset with a seed, after running what is missing."""
    path = folder / f"paper/{name}{f'-seed-{seed}' if seed else ''}.sqlite"
    plan = replace(make_preset(name, data_dir=data_dir), seed=seed)
    outcome = run_plan(plan, path, data_dir=data_dir, n_jobs=1, verbose=0)
    print(f"{path.name}: {outcome.n_run} cells now, {outcome.n_failed} failed")
    return path


def ranks(store: Path) -> dict[Any, tuple[float, float]]:
    """Return EPBD's rank by protocol: on all pairs, and with the better learners."""
    results = Results.read(store).searches["as printed"]
    table = results.scores().complete_blocks()
    at = table.methods.index("EPBD")
    with Store(store) as opened:
        fits = {place(fit): np.load(io.BytesIO(fit["votes"])) for fit in opened.fits()}
    accuracy = {key: accuracies(arrays) for key, arrays in fits.items()}
    found = {}
    for number, protocol in enumerate(PROTOCOLS):
        means = np.array(table.means)
        sets: dict[str, list[int]] = {}
        for b, block in enumerate(table.blocks):
            keys = [key for key in fits if f"{key[0]}, {key[3]}" == block]
            means[b, at] = np.mean([accuracy[key][number] for key in keys])
            sets.setdefault(block.split(", ")[0], []).append(b)
        mine = average_ranks(means).ranks[:, at]
        best = [min(mine[places]) for places in sets.values()]
        found[protocol] = (float(mine.mean()), float(np.mean(best)))
    return found


def accuracies(arrays: Any) -> list[float]:
    """Return EPBD's accuracy on the test part under each protocol."""
    votes = {
        "training part": Votes(arrays["chosen_on"], arrays["chosen_on_y"]),
        "test part": Votes(arrays["test"], arrays["test_y"]),
    }
    test = Votes(arrays["test"], arrays["test_y"], arrays.get("weights"))
    orders: dict[Any, Any] = {}
    found = []
    for part, search, sign, size in PROTOCOLS:
        key = (part, search, sign)
        if key not in orders:
            pruner = EPBD(keep=max(SIZES), search=search, lambda_=sign)
            orders[key] = pruner.fit(votes[part]).order_
        found.append(test.keep(orders[key][:size]).accuracy())
    return found


if __name__ == "__main__":
    main(*sys.argv[1:])
