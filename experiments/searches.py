"""Compare the two searches of EPBD on data sets that the paper's tables do not have.

``python -m experiments searches DATA_FOLDER [STORE_FOLDER]`` runs a study and writes
``docs/results/paper/searches.csv``; what is in the store already is not computed again.

Three readings of the search: *printed*, *contested* (largest diversity), and *nearest*
(smallest margin in size, the other reading of contested). Kohavi-Wolpert variance is
largest where the margin is smallest in size, so FTAD with that measure is *nearest*.
"""

import sys
from pathlib import Path

import numpy as np
import pandas as pd

from experiments._tables import write
from quorate.stats import wilcoxon_holm
from quorate.study import EnsembleSpec, MethodSpec, Plan, Results, run_plan

DATA = ("breast_cancer", "wine", "iris", "digits", "threenorm", "gmm2", "gmm3", "gmm10",
        "australian", "crx", "madelon", "mammographic_masses", "twonorm.csv.gz",
        "waveform_noise")  # fmt: skip
BAGGED = ("tree", "naive_bayes", "sgd", "svm")
BOOSTED = ("tree", "naive_bayes", "linear_svm", "svm")
MEMBERS = 21
KEEP = 0.3
READINGS = {
    "printed": ("epbd", {}),
    "contested": ("epbd", {"search": "contested"}),
    "nearest": ("ftad", {"measure": "kw_variance", "search": "contested"}),
    "random": ("random", {}),
    "es": ("es", {}),
}
OTHERS = ("printed", "nearest")


def main(data_dir: str, stores: str = ".") -> None:
    """Run what is missing and write the table."""
    path = Path(stores) / "searches.sqlite"
    path.parent.mkdir(parents=True, exist_ok=True)
    outcome = run_plan(plan(), path, data_dir=data_dir, n_jobs=1)
    print(f"{outcome.n_run} cells now, {outcome.n_failed} failed")
    write_table(Results.read(path))


def plan() -> Plan:
    """Return the study: bagging on both kinds of votes, boosting on training votes."""
    ensembles = [
        EnsembleSpec("bagging", learner, MEMBERS, prune_on)
        for prune_on in ("train", "oob")
        for learner in BAGGED
    ]
    ensembles += [EnsembleSpec("adaboost", learner, MEMBERS) for learner in BOOSTED]
    methods = [
        MethodSpec(method, KEEP, label, parameters)
        for label, (method, parameters) in READINGS.items()
    ]
    return Plan(
        "searches", DATA, tuple(ensembles), tuple(methods), folds=3, rows=500,
        rule="heads",
    )  # fmt: skip


def write_table(results: Results) -> None:
    """Write a row per ensemble, and one for all that are of a kind."""
    frame = results.to_frame()
    frame["group"] = [name.split(" of ")[0] for name in frame["ensemble"]]
    frame.loc[frame["ensemble"].str.endswith(", oob"), "group"] = "bagging, out of bag"
    lines = []
    for group, rows in frame.groupby("group", sort=False):
        for ensemble, some in rows.groupby("ensemble", sort=False):
            lines.append([ensemble, *compared(some)])
        lines.append([f"all of {group}", *compared(rows)])
    lines.append(["all", *compared(frame)])
    header = ["ensemble", "pairs", "all members", *READINGS]
    for other in OTHERS:
        header += [f"contested - {other}", f"wins over {other}", f"p ({other})"]
    write("paper/searches.csv", header, lines)
    for line in lines:
        print("  ".join(line))


def compared(rows: pd.DataFrame) -> list[str]:
    """Return accuracies, and contested against the other two.

    Tests are over data sets, each the mean of its ensembles and folds; wins are shares
    of the pairs of data set and ensemble that are no tie, with ties in brackets.
    """
    by_pair = rows.pivot_table("accuracy", ["data", "ensemble"], "method") * 100
    by_data = by_pair.groupby("data").mean()
    whole = 100 * rows["full_accuracy"].mean()
    cells = [str(len(by_pair)), f"{whole:.2f}"]
    cells += [f"{by_pair[name].mean():.2f}" for name in READINGS]
    for other in OTHERS:
        gain = (by_pair["contested"] - by_pair[other]).to_numpy()
        level = np.abs(gain) < 1e-9
        won = 100 * np.mean(gain[~level] > 0) if (~level).any() else 0.0
        pair = {name: by_data[name].to_numpy() for name in ("contested", other)}
        p = wilcoxon_holm(pair, "contested").p_values[0]
        cells += [f"{gain.mean():+.2f}", f"{won:.0f} % ({level.sum()})", f"{p:.2g}"]
    return cells


if __name__ == "__main__":
    main(*sys.argv[1:])
