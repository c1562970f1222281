"""What distilling is worth at 2,000 to 100,000 training rows, against its limits.

``python -m experiments distil_sizes STORE [DATA [SEEDS [ROWS ...]]]`` trains forests,
keeps a tenth of their trees, and scores these as they are, distilled with the rule of
before (60,000 crossed rows, the whole step) and distilled, on new rows. Cells in the
file STORE are not computed again. It writes
``docs/results/fewer_trees/distil-sizes*.csv`` and exits with the number of limits
missed. DATA is ``QUORATE_DATA`` by default; sets take part at the sizes they have rows
for. All of it, with three seeds, takes some hours on a core.
"""

import json
import os
import sys
from pathlib import Path

import numpy as np
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split

import quorate
from experiments._tables import write
from quorate._pruned import _backfit
from quorate.study import load_data
from quorate.study._data_set import make_preparation

N_TREES = 100
ROWS = (2_000, 10_000, 40_000, 100_000)
MADE = {"made_2": 2, "made_4": 4, "made_10": 10}  # generated, by number of classes
FILES = (
    "credit_default", "eeg_eye_state", "landsat", "page_blocks", "ringnorm",
    "sensor_readings_24", "spambase", "twonorm", "waveform_noise", "wilt",
)  # fmt: skip
N_TEST = 20_000
FLOOR = 1e-3  # the smallest probability that the log-loss sees
WAYS = ("not distilled", "distilled before", "distilled")
SCORES = ("accuracy", "log-loss", "AUC")

Cell = dict[str, list[float]]
Key = tuple[str, int, int]  # data set, rows, seed


def main(store: str, folder: str | None, seeds: int, sizes: list[int]) -> int:
    """Compute what is missing, write the tables, and return the limits missed."""
    path, done = Path(store), {}
    for line in path.read_text().splitlines() if path.exists() else []:
        key, cell = json.loads(line)
        done[tuple(key)] = cell
    for n_rows in sizes:
        for seed in range(seeds):
            for name in (*MADE, "digits", *(FILES if folder else ())):
                key = (name, n_rows, seed)
                if key in done:
                    continue
                data = split(name, folder, n_rows, seed)
                if data is not None:
                    done[key] = run_cell(*data, seed)
                    with path.open("a") as file:
                        file.write(json.dumps([key, done[key]]) + "\n")
                    print(*key, "done", flush=True)
    return write_tables(done)


def split(name: str, folder: str | None, n_rows: int, seed: int):
    """Return training and test rows with their labels; None of too small a set."""
    if name in MADE:
        X, codes = make_classification(
            n_rows + N_TEST,
            20,
            n_informative=10,
            n_redundant=3,
            n_classes=MADE[name],
            n_clusters_per_class=2,
            flip_y=0.05,
            class_sep=1.5 if name == "made_10" else 1.0,
            random_state=seed,
        )
        return X[:n_rows], X[n_rows:], codes[:n_rows], codes[n_rows:]
    is_digits = name == "digits"
    data = load_data(
        name if is_digits else f"{name}.csv.gz", data_dir=None if is_digits else folder
    )
    most = int(0.6 * data.n_rows)
    # At least a third of the rows, or it would be the size before once more.
    if n_rows > ROWS[0] and most < n_rows / 3:
        return None
    n_train = min(n_rows, most)
    train, test = train_test_split(
        np.arange(data.n_rows),
        train_size=n_train,
        test_size=min(N_TEST, data.n_rows - n_train),
        random_state=seed,
        stratify=data.y,
    )
    preparation = make_preparation(data.X).fit(data.X.iloc[train])
    X, X_test = (preparation.transform(data.X.iloc[rows]) for rows in (train, test))
    return X, X_test, data.y[train], data.y[test]


def run_cell(X, X_test, y, y_test, seed: int) -> Cell:
    """Return the scores of a forest and of a tenth of it, in every way."""
    forest = RandomForestClassifier(N_TREES, random_state=seed).fit(X, y)
    small = quorate.prune(forest, X, y, keep=0.1, distil=False, verbose=0)
    models = {"all": quorate.compact(forest), "not distilled": small}
    models["distilled"] = quorate.distil(small, forest, X, random_state=seed)
    step, _backfit._step = _backfit._step, lambda *_: 1.0
    before = quorate.distil(small, forest, X, n_rows=60_000, random_state=seed)
    _backfit._step, models["distilled before"] = step, before
    return {way: score(model, X_test, y_test) for way, model in models.items()}


def score(model, X, y) -> list[float]:
    """Return accuracy in per cent, log-loss, and AUC in per cent (one against rest)."""
    given = model.predict_proba(np.asarray(X))
    truth = np.searchsorted(model.classes_, y)
    own = given[np.arange(truth.size), truth].clip(FLOOR)
    two = given.shape[1] == 2
    area = roc_auc_score(truth, given[:, 1] if two else given, multi_class="ovr")
    right = np.mean(given.argmax(axis=1) == truth)
    return [float(100 * right), float(-np.log(own).mean()), float(100 * area)]


def write_tables(done: dict[Key, Cell]) -> int:
    """Write a row per size and way, and one per data set; return the limits missed."""
    summary, by_set, missed = [], [], 0
    for n_rows in sorted({key[1] for key in done}):
        cells = {key: cell for key, cell in done.items() if key[1] == n_rows}
        names = sorted({key[0] for key in cells})
        costs = {}
        for way in WAYS:
            costs[way] = np.array([
                np.mean([cost(cell, way) for key, cell in cells.items()
                         if key[0] == name], axis=0)
                for name in names
            ])  # fmt: skip
            root = len(names) ** 0.5
            spread = costs[way].std(axis=0, ddof=1) / root if root > 1 else [np.nan] * 3
            gain = costs[way][:, 0] - costs["not distilled"][:, 0]
            worst = f"{gain.min():+.2f} ({names[int(gain.argmin())]})"
            texts = [f"{m:{f}} ± {s:.{d}f}" for m, s, f, d in zip(
                costs[way].mean(axis=0), spread, ("+.2f", ".3f", "+.2f"), (2, 3, 2),
                strict=True)]  # fmt: skip
            sets = f"{len(names)} ({len(cells)})"
            summary.append([f"{n_rows:,}", sets, way, *texts, worst])
        by_set += [
            [name, str(n_rows), way, *(f"{value:.3f}" for value in costs[way][place])]
            for place, name in enumerate(names)
            for way in WAYS
        ]
        missed += check(n_rows, costs)
    scores = ["accuracy, pp", "log-loss, times", "AUC, pp"]
    head = [
        "training rows",
        "sets (cells)",
        "way",
        *scores,
        "worst against them, pp",
    ]
    write("fewer_trees/distil-sizes.csv", head, summary)
    write("fewer_trees/distil-sizes-data.csv", ["data", "rows", "way", *SCORES], by_set)
    for row in summary:
        print(*row, sep="  ")
    return missed


def cost(cell: Cell, way: str) -> list[float]:
    """Return what a way costs against all trees: of log-loss as a ratio."""
    (right, loss, area), whole = cell[way], cell["all"]
    return [right - whole[0], loss / whole[1], area - whole[2]]


def check(n_rows: int, costs: dict[str, np.ndarray]) -> int:
    """Print the limits that a size misses and return their number."""
    mean = {way: found.mean(axis=0) for way, found in costs.items()}
    gain = costs["distilled"][:, 0] - costs["not distilled"][:, 0]
    limits = {
        "mean accuracy at least 0.2 pp above trees not distilled": gain.mean() >= 0.2,
        "no set more than 0.2 pp below them": gain.min() >= -0.2,
        "log-loss at most 1.06 of all trees'": mean["distilled"][1] <= 1.06,
        "AUC at most 0.6 pp below theirs": mean["distilled"][2] >= -0.6,
    }
    if n_rows == ROWS[0]:
        worse = mean["distilled before"] - mean["distilled"]
        limits["accuracy at most 0.1 pp below the rule of before"] = worse[0] <= 0.1
        limits["AUC at most 0.15 pp below it"] = worse[2] <= 0.15
    for limit, holds in limits.items():
        print(f"{n_rows:,} rows: {limit}: {'holds' if holds else 'MISSED'}")
    return sum(not holds for holds in limits.values())


if __name__ == "__main__":
    given = dict(enumerate(sys.argv[1:]))
    sys.exit(
        main(
            given[0],
            given.get(1) or os.environ.get("QUORATE_DATA"),
            int(given.get(2, 3)),
            [int(rows) for rows in sys.argv[4:]] or list(ROWS),
        )
    )
