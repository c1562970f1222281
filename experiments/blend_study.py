"""Compare ``quorate.blend`` with other ways, on pools of 30 models.

``python -m experiments blend_study DATA_FOLDER CACHE_FOLDER`` takes the data sets that
come with the package and those of the folder (not those of which the package makes more
itself: ``ringnorm.csv.gz`` is ``ringnorm`` again), at most 1200 samples of each, makes
out-of-fold probabilities of the models of the ``selectors`` study (kept in the cache),
and compares nested logarithmic losses: of the default, of greedy selection with
replacement (50 rounds), of the best single model and of the plain mean. Data that are
for the paper's tables only are left out. It writes
``docs/results/blending/blend.csv``.
"""

import csv
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.pipeline import make_pipeline

import quorate
from quorate._kernels.losses import sample_losses
from quorate.pruning import GreedySelection
from quorate.study import load_data
from quorate.study._data_set import make_preparation
from quorate.study._learners import make_pool
from quorate.study._load_data import list_data_sets, list_folder

MOST = 1200
FEWEST = 5  # of a class
TARGET = Path(__file__).parent.parent / "docs" / "results" / "blending" / "blend.csv"
COLUMNS = ("default", "greedy", "single", "mean")


def main(data_dir: str, cache: str) -> None:
    """Compute what is missing, compare, and write the table."""
    rows = []
    kept = {name for name, entry in list_folder(data_dir).items() if "use" in entry}
    known = set(list_data_sets(data_dir)) - kept
    for name in sorted(known):
        if name.partition(".")[0] in known - {name}:
            continue
        arrays, y = stored(name, data_dir, Path(cache))
        found = quorate.blend(arrays, y)
        judged = (found.nested, found.best_nested, found.mean_nested)
        own, single, mean = (-each.score for each in judged)
        losses = [own, greedy_loss(np.stack(list(arrays.values())), y), single, mean]
        rows.append((name, y.size, *losses, found.best_nested.standard_error))
        print(f"{name:28}" + "".join(f"{loss:9.4f}" for loss in losses), flush=True)
    with TARGET.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("data set", "samples", *COLUMNS, "standard error"))
        for name, samples, *numbers in rows:
            writer.writerow((name, samples, *(f"{number:.4f}" for number in numbers)))
    table = np.array([row[2:] for row in rows], dtype=float)
    better = int((table[:, 0] < table[:, 1]).sum())
    print("better than greedy on", better, "of", len(rows))
    worse = table[:, 0] - table[:, 2] > table[:, 4]
    print("worse than the best single by a standard error on", int(worse.sum()))
    print("means", dict(zip(COLUMNS, table[:, :4].mean(axis=0).round(4), strict=True)))


def greedy_loss(probabilities: Any, y: Any) -> float:
    """Return the nested loss of greedy selection, as weights of other folds have it."""
    labels, codes = np.unique(y, return_inverse=True)
    losses = np.empty(y.size)
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    for rows, left in folds.split(y, y):
        given = probabilities[:, rows]
        votes = quorate.Votes(
            labels[given.argmax(axis=2)], y[rows], probabilities=given, classes=labels
        )
        greedy = GreedySelection(len(given), loss="log_loss", n_rounds=50)
        mean = np.tensordot(greedy.fit(votes).weights_, probabilities[:, left], 1)
        losses[left] = sample_losses("log_loss", mean, codes[left])
    return float(losses.mean())


def stored(name: str, data_dir: str, cache: Path) -> tuple[dict[str, Any], Any]:
    """Return out-of-fold probabilities by model, and labels."""
    file = cache / f"{name}.npz"
    if not file.exists():
        cache.mkdir(parents=True, exist_ok=True)
        arrays, y = out_of_fold(name, data_dir)
        np.savez(file, y=y, names=list(arrays), P=np.stack(list(arrays.values())))
    with np.load(file) as found:
        shares = found["P"] / found["P"].sum(axis=2, keepdims=True)
        return dict(zip(found["names"].tolist(), shares, strict=True)), found["y"]


def out_of_fold(name: str, data_dir: str) -> tuple[dict[str, Any], Any]:
    """Fit every model five times and return what it says on the fold left out."""
    data = load_data(name, data_dir=data_dir)
    y = np.asarray(data.y)
    rows = np.flatnonzero(_common(y, 2 * FEWEST))
    if rows.size > MOST:
        drawn = np.random.default_rng(0).choice(rows, MOST, replace=False)
        rows = np.sort(drawn)
    rows = rows[_common(y[rows], FEWEST)]
    X = data.X.iloc[rows] if hasattr(data.X, "iloc") else data.X[rows]
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    found = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # nets that would like more rounds
        for label, model in make_pool(30, 0).estimators:
            whole = make_pipeline(make_preparation(data.X), model)
            found[label] = cross_val_predict(
                whole, X, y[rows], cv=folds, method="predict_proba"
            ).astype(np.float32)
    return found, y[rows]


def _common(y: Any, fewest: int) -> Any:
    labels, counts = np.unique(y, return_counts=True)
    return np.isin(y, labels[counts >= fewest])


if __name__ == "__main__":
    main(*sys.argv[1:])
