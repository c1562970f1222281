"""What distilled leaves are worth, on data sets that nothing was tuned on.

``python -m experiments distil_study DATA_FOLDER [STORE_FILE]`` prunes forests of 200
trees with and without distillation, scores both on rows that nobody has seen, and
writes ``docs/results/selectors/distil-*.csv``. Cells that are in the store are not
computed again.
"""

import json
import sys
from pathlib import Path

import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import train_test_split

import quorate
from experiments._tables import write
from experiments.selectors_study import TUNED_ON
from quorate.stats import wilcoxon_holm
from quorate.stats._ranks import holm
from quorate.study import load_data
from quorate.study._data_set import make_preparation

N_TREES = 200
SIZES = (0.025, 0.05, 0.1, 0.2)
SEEDS = (0, 1, 2)
METHODS = {"auto": "auto", "first": "es", "random": "random"}
# For tables of the paper only.
OF_THE_PAPER = ("ionosphere", "landsat", "liver_disorders", "spambase", "yeast")
ROWS = 2000  # half to train on, half to test on
FLOOR = 1e-6  # the least probability that the logarithmic loss sees
BINS = 10
SCORES = ("accuracy", "log-loss", "brier", "calibration")

Cell = dict[str, dict[str, float]]


def main(data_dir: str, store: str = "distil-study.jsonl") -> None:
    """Run what is missing and write the tables."""
    path = Path(store)
    done: dict[tuple[str, int], Cell] = {}
    if path.exists():
        for line in path.read_text().splitlines():
            record = json.loads(line)
            done[record["data"], record["seed"]] = record["cell"]
    names = sorted(
        file.name.removesuffix(".csv.gz") for file in Path(data_dir).glob("*.csv.gz")
    )
    for seed in SEEDS:
        for name in names:
            if name in (*TUNED_ON, *OF_THE_PAPER) or (name, seed) in done:
                continue
            cell = run_cell(name, data_dir, seed)
            done[name, seed] = cell
            with path.open("a") as file:
                record = {"data": name, "seed": seed, "cell": cell}
                file.write(json.dumps(record) + "\n")
            print(f"{name}, seed {seed}: done", flush=True)
    write_tables(done)


def run_cell(name: str, data_dir: str, seed: int) -> Cell:
    """Return the scores of every way to a smaller forest, on one split."""
    data = load_data(f"{name}.csv.gz", data_dir=data_dir, n_rows=ROWS)
    smallest = np.unique(data.y, return_counts=True)[1].min()
    train, test = train_test_split(
        np.arange(data.n_rows),
        test_size=0.5,
        random_state=seed,
        stratify=data.y if smallest > 1 else None,
    )
    preparation = make_preparation(data.X).fit(data.X.iloc[train])
    X, X_test = (preparation.transform(data.X.iloc[rows]) for rows in (train, test))
    known = np.isin(data.y[test], data.y[train])
    X_test, y_test = X_test[known], data.y[test][known]
    forest = RandomForestClassifier(N_TREES, random_state=seed).fit(X, data.y[train])
    truth = np.searchsorted(forest.classes_, y_test)
    cell = {"all": scores(forest.predict_proba(X_test), truth)}
    for label, method in METHODS.items():
        seeded = {"random_state": seed} if method == "random" else {}
        for keep in SIZES:
            small = quorate.prune(
                forest, X, data.y[train], method, keep, distil=False, **seeded
            )
            taught = quorate.distil(small, forest, X, random_state=seed)
            at = f"{label} {keep:.1%}"
            cell[at] = scores(small.predict_proba(X_test), truth)
            cell[f"{at} distilled"] = scores(taught.predict_proba(X_test), truth)
    # What training rows alone would teach, out of bag as they are.
    small = quorate.keep_members(forest, range(N_TREES // 10))
    taught = quorate.distil(small, forest, X, n_rows=1, random_state=seed)
    cell["first 10.0% training rows"] = scores(taught.predict_proba(X_test), truth)
    return cell


def scores(given: np.ndarray, truth: np.ndarray) -> dict[str, float]:
    """Return accuracy, logarithmic loss, Brier score and calibration error."""
    own = given[np.arange(truth.size), truth]
    sure, right = given.max(axis=1), given.argmax(axis=1) == truth
    place = np.minimum((sure * BINS).astype(int), BINS - 1)
    apart = np.bincount(place, sure - right, BINS)
    return {
        "accuracy": float(100 * right.mean()),
        "log-loss": float(-np.log(np.maximum(own, FLOOR)).mean()),
        "brier": float(((given**2).sum(axis=1) - 2 * own + 1).mean()),
        "calibration": float(100 * np.abs(apart).sum() / truth.size),
    }


def write_tables(done: dict[tuple[str, int], Cell]) -> None:
    """Write a row per method and size, and a row per data set."""
    names = sorted({name for name, _ in done})
    ways = list(next(iter(done.values())))

    def over_seeds(way: str, score: str) -> np.ndarray:
        return np.array(
            [
                np.mean([done[name, s][way][score] for s in SEEDS if (name, s) in done])
                for name in names
            ]
        )

    mean = {(way, score): over_seeds(way, score) for way in ways for score in SCORES}
    write_methods(mean, len(names))
    write_data_sets(mean, names)


def write_methods(mean: dict[tuple[str, str], np.ndarray], n_sets: int) -> None:
    """Write how pruned and distilled forests compare with the whole one."""
    pairs = [f"{label} {keep:.1%}" for label in METHODS for keep in SIZES]
    adjusted: dict[tuple[str, str], float] = {}
    for score in SCORES[:3]:
        single = [
            wilcoxon_holm(
                {"pruned": mean[at, score], "distilled": mean[f"{at} distilled", score]}
            ).p_values[0]
            for at in pairs
        ]
        for at, p in zip(pairs, holm(np.array(single)), strict=True):
            adjusted[at, score] = float(p)
    rows = []
    for at in pairs:
        taught = f"{at} distilled"
        row = [*at.rsplit(" ", 1)]
        whole = mean["all", "accuracy"]
        loss, left = whole - mean[at, "accuracy"], whole - mean[taught, "accuracy"]
        gain = mean[taught, "accuracy"] - mean[at, "accuracy"]
        row += [f"{-loss.mean():+.2f}", f"{-left.mean():+.2f}"]
        row += [f"{100 * np.mean(gain >= -1e-9):.0f} %", f"{gain.min():+.2f}"]
        row += [f"{adjusted[at, 'accuracy']:.2g}"]
        for score, digits in (("log-loss", 3), ("brier", 3), ("calibration", 1)):
            row += [f"{mean[way, score].mean():.{digits}f}" for way in (at, taught)]
            if (at, score) in adjusted:
                row += [f"{adjusted[at, score]:.2g}"]
        rows.append(row)
    head = ["method", "kept", "pruned", "distilled", "not worse", "worst", "p",
            "log-loss, pruned", "distilled", "p", "Brier, pruned", "distilled", "p",
            "calibration, pruned", "distilled"]  # fmt: skip
    write("selectors/distil-methods.csv", head, rows)
    for score in SCORES:
        print(f"all members, {score}: {mean['all', score].mean():.4f}, {n_sets} sets")
    only = "first 10.0% training rows"
    for score in SCORES:
        print(
            f"training rows only, first 10 %, {score}: {mean[only, score].mean():.4f}"
        )
    for at in pairs:
        worse = (
            mean[f"{at} distilled", "log-loss"].mean() / mean["all", "log-loss"].mean()
        )
        print(f"{at}: log-loss of distilled over that of all {worse:.3f}")


def write_data_sets(mean: dict[tuple[str, str], np.ndarray], names: list[str]) -> None:
    """Write accuracy and logarithmic loss by data set, at a twentieth and a tenth."""
    ways = {
        "all": "all",
        "auto 5 %": "auto 5.0%",
        "distilled": "auto 5.0% distilled",
        "auto 10 %": "auto 10.0%",
        "distilled ": "auto 10.0% distilled",
    }
    for score, digits in (("accuracy", 2), ("log-loss", 3)):
        rows = [
            [name, *(f"{mean[way, score][place]:.{digits}f}" for way in ways.values())]
            for place, name in enumerate(names)
        ]
        write(
            f"selectors/distil-data-{score}.csv",
            ["data", *(w.strip() for w in ways)],
            rows,
        )


if __name__ == "__main__":
    main(*sys.argv[1:])
