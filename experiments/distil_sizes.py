"""What distilling is worth at 2,000 to 100,000 training rows, against its limits.

``python -m experiments distil_sizes STORE [DATA [SEEDS [ROWS ...]]]`` trains forests of
200 trees, keeps a twentieth, a tenth and a fifth of them, and scores these as they are,
distilled with the rule of before (60,000 crossed rows, the whole step) and distilled,
on new rows. Cells in the file STORE are not computed again. It writes
``docs/results/fewer_trees/distil-sizes*.csv`` and exits with the number of limits
missed. DATA is ``QUORATE_DATA`` by default; sets take part at the sizes they have rows
for. Sets are generated or from the folder; none is for the tables of the paper only.
"""

import json
import os
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
from sklearn.datasets import make_classification, make_gaussian_quantiles
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split

import quorate
from experiments._tables import write
from quorate._pruned import _backfit
from quorate.study import load_data
from quorate.study._data_set import make_preparation

N_TREES = 200
TENTH = 0.1
KEPT = {2_000: (0.05, TENTH, 0.2), 10_000: (0.05, TENTH, 0.2)}  # a tenth of more rows
ROWS = (2_000, 10_000, 40_000, 100_000)
FILES = (
    "digits", "credit_default", "eeg_eye_state", "madelon", "page_blocks",
    "segmentation", "sensor_readings_4", "sensor_readings_24", "shuttle",
    "waveform_noise", "wilt",
)  # fmt: skip
N_TEST = 20_000
LEAST_OF_CLASS = 100  # rows; smaller classes are left out
FLOOR = 1e-3  # the smallest probability that the log-loss sees
WAYS = ("not distilled", "distilled before", "distilled")
SCORES = ("accuracy", "log-loss", "AUC")

Cell = dict[str, list[float]]  # way and share kept: scores
Key = tuple[str, int, int]  # data set, rows, seed
Rows = tuple[np.ndarray, np.ndarray]


def clouds(n: int, seed: int, n_classes: int, flip_y=0.05, **more) -> Rows:
    """Return rows of classes of two normal clouds each, in ten of twenty columns."""
    return make_classification(
        n, 20, n_informative=10, n_redundant=3, n_classes=n_classes, flip_y=flip_y,
        random_state=seed, **more,
    )  # fmt: skip


def shells(n: int, seed: int) -> Rows:
    """Return rows of four classes, each a shell around the one before."""
    return make_gaussian_quantiles(
        n_samples=n, n_features=10, n_classes=4, random_state=seed
    )


def two_norm(n: int, seed: int) -> Rows:
    """Return Breiman's twonorm: two normal clouds beside each other."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    return rng.normal(size=(n, 20)) + (2 * y - 1)[:, None] * 2 / 20**0.5, y


def ring_norm(n: int, seed: int) -> Rows:
    """Return Breiman's ringnorm: a normal cloud in a wider one."""
    rng = np.random.default_rng(seed)
    y, X = rng.integers(0, 2, n), rng.normal(size=(n, 20))
    return np.where(y[:, None] == 0, 2 * X, X + 2 / 20**0.5), y


def waveform(n: int, seed: int) -> Rows:
    """Return Breiman's waveforms: mixtures of two of three waves, with noise."""
    rng = np.random.default_rng(seed)
    waves = np.maximum(6 - abs(np.arange(1, 22) - np.array([[7], [15], [11]])), 0)
    y, part = rng.integers(0, 3, n), rng.random((n, 1))
    one, other = waves[np.array([0, 0, 1])[y]], waves[np.array([1, 2, 2])[y]]
    return part * one + (1 - part) * other + rng.normal(size=(n, 21)), y


MADE: dict[str, Callable[[int, int], Rows]] = {
    "made_2": partial(clouds, n_classes=2),
    "made_4": partial(clouds, n_classes=4),
    "made_10": partial(clouds, n_classes=10, class_sep=1.5),
    "made_6_apart": partial(clouds, n_classes=6, class_sep=2.5, flip_y=0.0),
    "made_3_rare": partial(clouds, n_classes=3, weights=[0.9, 0.07, 0.03], flip_y=0.02),
    "waveform": waveform,
    "twonorm": two_norm,
    "ringnorm": ring_norm,
    "shells": shells,
}


def main(store: str, folder: str | None, seeds: int, sizes: list[int]) -> int:
    """Compute what is missing, write the tables, and return the limits missed."""
    path, done = Path(store), {}
    for line in path.read_text().splitlines() if path.exists() else []:
        key, cell = json.loads(line)
        done[tuple(key)] = cell
    for n_rows in sizes:
        for seed in range(seeds):
            for name in (*MADE, *(FILES if folder else FILES[:1])):
                key = (name, n_rows, seed)
                data = None if key in done else split(name, folder, n_rows, seed)
                if data is not None:
                    done[key] = run_cell(*data, KEPT.get(n_rows, (TENTH,)), seed)
                    with path.open("a") as file:
                        file.write(json.dumps([key, done[key]]) + "\n")
                    print(*key, "done", flush=True)
    return write_tables(done)


def split(name: str, folder: str | None, n_rows: int, seed: int):
    """Return training and test rows with their labels; None of too small a set."""
    if name in MADE:
        X, codes = MADE[name](n_rows + N_TEST, seed)
        return X[:n_rows], X[n_rows:], codes[:n_rows], codes[n_rows:]
    is_digits = name == "digits"
    data = load_data(
        name if is_digits else f"{name}.csv.gz", data_dir=None if is_digits else folder
    )
    labels, counts = np.unique(data.y, return_counts=True)
    rows = np.flatnonzero(np.isin(data.y, labels[counts >= LEAST_OF_CLASS]))
    most = int(0.6 * rows.size)
    # At least two fifths of the rows, or it would be the size before once more.
    if n_rows > ROWS[0] and most < 0.4 * n_rows:
        return None
    n_train = min(n_rows, most)
    train, test = train_test_split(
        rows,
        train_size=n_train,
        test_size=min(N_TEST, rows.size - n_train),
        random_state=seed,
        stratify=data.y[rows],
    )
    preparation = make_preparation(data.X).fit(data.X.iloc[train])
    X, X_test = (preparation.transform(data.X.iloc[part]) for part in (train, test))
    return X, X_test, data.y[train], data.y[test]


def run_cell(X, X_test, y, y_test, kept: tuple[float, ...], seed: int) -> Cell:
    """Return the scores of a forest and of parts of it, in every way."""
    forest = RandomForestClassifier(N_TREES, random_state=seed).fit(X, y)
    found = {"all": score(quorate.compact(forest), X_test, y_test)}
    for keep in kept:
        small = quorate.prune(forest, X, y, keep=keep, distil=False, verbose=0)
        models = [small]
        whole_step = {"n_rows": 60_000, "random_state": seed, "verbose": 0}
        step, _backfit._step = _backfit._step, lambda *_: 1.0
        models.append(quorate.distil(small, forest, X, **whole_step))
        _backfit._step = step
        models.append(quorate.distil(small, forest, X, random_state=seed, verbose=0))
        for way, model in zip(WAYS, models, strict=True):
            found[f"{way} {keep}"] = score(quorate.compact(model), X_test, y_test)
    return found


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
    tenth, others, by_set, missed = [], [], [], 0
    for n_rows in sorted({key[1] for key in done}):
        cells = {key: cell for key, cell in done.items() if key[1] == n_rows}
        names = sorted({key[0] for key in cells})
        sets = f"{len(names)} ({len(cells)})"
        for keep in KEPT.get(n_rows, (TENTH,)):
            costs = {
                way: np.array([
                    np.mean([cost(cell, f"{way} {keep}") for key, cell in cells.items()
                             if key[0] == name], axis=0)
                    for name in names
                ])
                for way in WAYS
            }  # fmt: skip
            first = [f"{n_rows:,}", *([] if keep == TENTH else [f"{keep:.0%}"]), sets]
            rows = [[*first, way, *summary(costs, way, names)] for way in WAYS]
            (tenth if keep == TENTH else others).extend(rows)
            by_set += [
                [name, str(n_rows), f"{keep}", way, *(f"{x:.3f}" for x in of[place])]
                for place, name in enumerate(names)
                for way, of in costs.items()
            ]
            missed += check(n_rows, keep, costs, names)
    ends = ["accuracy, pp", "log-loss, times", "AUC, pp", "worst against them, pp"]
    head = ["training rows", "sets (cells)", "way", *ends]
    write("fewer_trees/distil-sizes.csv", head, tenth)
    head.insert(1, "kept")
    write("fewer_trees/distil-sizes-kept.csv", head, others)
    head = ["data", "rows", "kept", "way", *SCORES]
    write("fewer_trees/distil-sizes-data.csv", head, by_set)
    return missed


def summary(costs: dict[str, np.ndarray], way: str, names: list[str]) -> list[str]:
    """Return means over sets with standard errors, and the set that gains least."""
    texts = [
        f"{mean:{sign}.{digits}f} ± {spread / len(names) ** 0.5:.{digits}f}"
        for mean, spread, sign, digits in zip(
            costs[way].mean(axis=0),
            costs[way].std(axis=0, ddof=1),
            "+ +",
            (2, 3, 2),
            strict=True,
        )
    ]
    gain = costs[way][:, 0] - costs["not distilled"][:, 0]
    worst = f"{gain.min():+.2f} ({names[int(gain.argmin())]})"
    print(*texts, worst, way, sep="  ")
    return [text.strip() for text in [*texts, worst]]


def cost(cell: Cell, way: str) -> list[float]:
    """Return what a way costs against all trees: of log-loss as a ratio."""
    (right, loss, area), whole = cell[way], cell["all"]
    return [right - whole[0], loss / whole[1], area - whole[2]]


def check(
    n_rows: int, keep: float, costs: dict[str, np.ndarray], names: list[str]
) -> int:
    """Print the limits of a size, with what was found; return how many it misses."""
    mean = {way: found.mean(axis=0) for way, found in costs.items()}
    old, new = costs["not distilled"], costs["distilled"]
    gain, loss = new[:, 0] - old[:, 0], new[:, 1] / old[:, 1]
    limits = [
        ("no accuracy more than 0.2 pp below the same trees'", -gain.min(), 0.2),
        ("no log-loss more than 8 % above theirs", loss.max(), 1.08),
    ]
    if keep == TENTH:
        limits += [
            ("mean accuracy at least 0.2 pp above theirs", -gain.mean(), -0.2),
            ("log-loss at most 1.06 of all trees'", mean["distilled"][1], 1.06),
            ("AUC at most 0.6 pp below theirs", -mean["distilled"][2], 0.6),
        ]
    if keep == TENTH and n_rows == ROWS[0]:
        worse = mean["distilled before"] - mean["distilled"]
        limits.append(("accuracy at most 0.1 pp below the old rule", worse[0], 0.1))
        limits.append(("AUC at most 0.15 pp below it", worse[2], 0.15))
    where = f"{n_rows:,} rows, {keep:.0%}"
    for limit, found, most in limits:
        print(f"{where}: {limit}: {found:.3f}", "" if found <= most else "MISSED")
    for place in np.flatnonzero((gain < -0.2) | (loss > 1.08)):
        print(f"  {names[place]}: {gain[place]:+.2f} pp, {loss[place]:.3f}")
    return sum(found > most for _, found, most in limits)


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
