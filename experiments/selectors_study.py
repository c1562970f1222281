"""Compare selectors, weights and the automatic choice; write the tables of their page.

``python -m experiments selectors_study DATA_FOLDER [STORE_FOLDER]`` runs it on the
folder, without the data sets looked at while methods were tuned, and writes
``docs/results/selectors/selectors-*.csv``. What is in the store is not computed again.
"""

import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np

from experiments._tables import write
from quorate.stats import average_ranks, friedman, nemenyi, wilcoxon_holm
from quorate.study import EnsembleSpec, MethodSpec, Plan, Results, make_preset, run_plan

# Cheap enough to run on every ensemble at four sizes.
SELECTORS: dict[str, tuple[str, dict[str, Any]]] = {
    "auto": ("auto", {}),
    "brier": ("brier", {}),
    "brier, labels only": ("brier", {"mix": 0.0}),
    "brier, soft": ("brier", {"mix": 0.0, "target": "soft"}),
    "herding": ("herding", {}),
    "margin_loss": ("margin_loss", {"sweeps": 0}),
    "l1": ("l1", {}),
    "ges": ("ges", {}),
    "ges, log-loss": ("ges", {"loss": "log_loss"}),
    "simplex": ("simplex", {}),
    "epbd": ("epbd", {}),
    "re": ("re", {}),
    "mdm": ("mdm", {}),
    "oo": ("oo", {}),
    "best": ("best", {}),
    "es": ("es", {}),
}
RANDOM_DRAWS = 5
SHARES = (0.05, 0.1, 0.2, 0.3)
# In the folder; all that comes with the package was tuned on as well.
TUNED_ON = (
    "australian",
    "crx",
    "ringnorm",
    "sonar",
    "twonorm",
    "waveform",
    "waveform_noise",
)
SIZES = ("5%", "10%", "20%", "30%")
# Ensembles to show, with the method that others are measured against and the sizes
# that count.
SHOWN = {
    "forest": (("random_forest, 200",), "random", SIZES),
    "bagging": (("bagging of tree, 100",), "random", SIZES),
    "trees": (("random_forest, 200", "bagging of tree, 100"), "random", SIZES),
    "stumps": (("adaboost of stump, 100, train",), "es", ("10%", "20%")),
    "boosted": (("adaboost of tree, 100, train",), "es", ("10%", "20%")),
    "stumps-holdout": (("adaboost of stump, 100, holdout",), "es", ("10%", "20%")),
    "boosted-holdout": (("adaboost of tree, 100, holdout",), "es", ("10%", "20%")),
    "forest-holdout": (("random_forest, 200, holdout",), "random", SIZES),
    "pool": (("pool, 30, holdout",), "ges", SIZES),
}

Table = dict[str, dict[str, dict[str, float]]]


def main(data_dir: str, stores: str = ".") -> None:
    """Run what is missing and write the tables."""
    path = Path(stores) / "selectors/selectors-verdict.sqlite"
    path.parent.mkdir(parents=True, exist_ok=True)
    outcome = run_plan(plan_of(data_dir), path, data_dir=data_dir, n_jobs=2)
    print(f"{outcome.n_run} cells now, {outcome.n_failed} failed")
    write_tables(Results.read(path))


def plan_of(data_dir: str) -> Plan:
    """Return the study on the data sets that nobody looked at."""
    every = make_preset("pruning-bagging", data_dir=data_dir).data
    return selectors(
        tuple(data for data in every if data.removesuffix(".csv.gz") not in TUNED_ON)
    )


def selectors(data: tuple[str, ...]) -> Plan:
    """Return the study on these data sets."""
    methods = []
    for keep in SHARES:
        size = f" {keep:.0%}"
        methods += [
            MethodSpec(method, keep, label + size, parameters)
            for label, (method, parameters) in SELECTORS.items()
        ]
        methods += [
            MethodSpec(method, keep, f"{method}, train{size}", prune_on="train")
            for method in ("epbd", "oo")
        ]
        methods += [
            MethodSpec("random", keep, f"random {draw}{size}", {"random_state": draw})
            for draw in range(RANDOM_DRAWS)
        ]
    ensembles = (
        EnsembleSpec("random_forest", members=200),
        EnsembleSpec("adaboost", "stump", 100, "train"),
        EnsembleSpec("pool", members=30, prune_on="holdout"),
        EnsembleSpec("bagging", "tree", 100),
        EnsembleSpec("adaboost", "tree", 100, "train"),
        EnsembleSpec("adaboost", "stump", 100, "holdout"),
        EnsembleSpec("adaboost", "tree", 100, "holdout"),
        EnsembleSpec("random_forest", members=200, prune_on="holdout"),
    )
    how: dict[str, Any] = {"folds": 3, "repeats": 3, "prune_on": "oob", "rows": 1000}
    return Plan("selectors", data, ensembles, tuple(methods), **how)


def write_tables(results: Results) -> None:
    """Write the tables of the page."""
    rows = list(results.rows)
    names = sorted({row["data"] for row in rows})
    print(f"{len(names)} data sets: {', '.join(names)}")
    fought = []
    for shown, (ensembles, reference, sizes) in SHOWN.items():
        table = means(rows, ensembles, "accuracy", 100.0)
        if reference in table:
            fought += report(f"{shown}-verdict", table, reference, sizes)
    head = ["ensemble", "auto against", "pp", "wins", "worst", "p"]
    write("selectors/selectors-duels-verdict.csv", head, fought)
    pool = SHOWN["pool"][0]
    losses = means(rows, pool, "log_loss", 1.0)
    if losses:
        write_losses("pool-log-loss-verdict", losses)
        write_kept("pool-kept-verdict", means(rows, pool, "kept", 1.0))


def means(rows: list, ensembles: tuple, quantity: str, scale: float) -> Table:
    """Return the mean over folds (and ensembles): method, size, data set."""
    cells: dict = defaultdict(lambda: defaultdict(lambda: defaultdict(list)))
    for row in rows:
        if row["ensemble"] not in ensembles or quantity not in row:
            continue
        method, size = row["method"].rsplit(" ", 1)
        if method.startswith("random "):
            method = "random"  # the mean of all draws
        cells[method][size][row["data"]].append(scale * row[quantity])
        whole = row.get(f"full_{quantity}")
        if whole is not None:
            cells["all members"][size][row["data"]].append(scale * whole)
    return {
        method: {
            size: {data: float(np.mean(values)) for data, values in by_data.items()}
            for size, by_data in sizes.items()
        }
        for method, sizes in cells.items()
    }


def over_sizes(table: Table, method: str, sizes: tuple, blocks: list) -> np.ndarray:
    """Return one number per data set: the mean over sizes."""
    return np.mean([[table[method][size][b] for b in blocks] for size in sizes], axis=0)


def mean_gap(table: Table, a: str, b: str, size: str, blocks: list) -> float:
    """Return how much higher one method is than another at a size, on average."""
    return float(np.mean([table[a][size][x] - table[b][size][x] for x in blocks]))


def mean_excess(table: Table, method: str, size: str, blocks: list) -> float:
    """Return how much more a method loses than ges at a size, in percent."""
    own, other = (
        np.mean([table[m][size][block] for block in blocks]) for m in (method, "ges")
    )
    return float(100 * (own / other - 1))


def report(name: str, table: Table, reference: str, sizes: tuple) -> list[list[str]]:
    """Write a row per method, return duels with auto. Data sets are the blocks."""
    blocks = sorted(table[reference][sizes[0]])
    if len(blocks) < 2:
        return []
    level = {method: over_sizes(table, method, sizes, blocks) for method in table}
    methods = [method for method in level if method != "all members"]
    scores = {method: level[method] for method in methods}
    ranks = dict(zip(methods, average_ranks(scores).average, strict=True))
    tests = wilcoxon_holm(scores, "auto")
    adjusted = {
        (second if first == "auto" else first): p
        for (first, second), p in zip(tests.pairs, tests.adjusted, strict=True)
    }
    lines = []
    for method in sorted(level, key=lambda m: -level[m].mean()):
        gain = level[method] - level[reference]
        lines.append(
            [
                method,
                f"{level[method].mean():.2f}",
                f"{gain.mean():+.2f}",
                *(
                    f"{mean_gap(table, method, reference, s, blocks):+.2f}"
                    for s in SIZES
                ),
                f"{100 * np.mean(gain > 1e-9):.0f} %",
                f"{gain.min():+.2f}",
                f"{ranks[method]:.2f}" if method in ranks else "",
                f"{adjusted[method]:.3g}" if method in adjusted else "",
            ]
        )
    head = ["method", "accuracy", f"over {reference}", *SIZES, "wins", "worst",
            "rank", "p (auto)"]  # fmt: skip
    write(f"selectors/selectors-{name}.csv", head, lines)
    print(
        f"{name}: {len(blocks)} data sets; Friedman p = "
        f"{friedman(scores).chi_square_p_value:.2g}; Nemenyi critical difference "
        f"{nemenyi(scores).critical_difference:.2f}"
    )
    return [[name.rpartition("-")[0], *row] for row in duels(level)]


def duels(level: dict[str, np.ndarray]) -> list[list[str]]:
    """Return how auto does against each method of interest."""
    rows = []
    for other in ("random", "epbd", "epbd, train", "re", "es", "ges"):
        gain = level["auto"] - level[other]
        alone = wilcoxon_holm({"auto": level["auto"], "other": level[other]}, "auto")
        rows.append(
            [
                other,
                f"{gain.mean():+.2f}",
                f"{100 * np.mean(gain > 1e-9):.0f} %",
                f"{gain.min():+.2f}",
                f"{alone.p_values[0]:.2g}",
            ]
        )
    return rows


def write_losses(name: str, table: Table) -> None:
    """Write the logarithmic loss of each method, and how it compares with ges."""
    blocks = sorted(table["ges"][SIZES[0]])
    lines = []
    level = {method: over_sizes(table, method, SIZES, blocks) for method in table}
    for method in sorted(level, key=lambda m: level[m].mean()):
        ratio = level[method] / level["ges"]
        lines.append(
            [
                method,
                f"{level[method].mean():.4f}",
                f"{100 * (level[method].mean() / level['ges'].mean() - 1):+.1f} %",
                *(
                    f"{mean_excess(table, method, size, blocks):+.1f} %"
                    for size in SIZES
                ),
                f"{100 * (np.median(ratio) - 1):+.1f} %",
                f"{100 * np.mean(ratio < 1):.0f} %",
            ]
        )
    head = ["method", "log-loss", "against ges", *SIZES, "median data set", "wins"]
    write(f"selectors/selectors-{name}.csv", head, lines)


def write_kept(name: str, table: Table) -> None:
    """Write how many members were kept on average."""
    blocks = sorted(table["ges"][SIZES[0]])
    lines = [
        [m, *(f"{np.mean([table[m][s][b] for b in blocks]):.1f}" for s in SIZES)]
        for m in sorted(table)
        if m != "all members"
    ]
    write(f"selectors/selectors-{name}.csv", ["method", *SIZES], lines)


if __name__ == "__main__":
    main(*sys.argv[1:])
