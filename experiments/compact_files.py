"""How small compact files are, and what rounding of distilled leaves costs.

``python -m experiments compact_files [DATA_FOLDER]``: forests of 200 trees on at most
2000 rows of each data set, and on rows made with 26 classes; files of the whole forest
and of its first 20 trees, pruned and distilled. Distilled leaves are also left
unrounded, once, to see what the grid changes. Writes
``docs/results/serving/serving-files.csv``.
"""

import pickle
import sys
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import train_test_split

import quorate
from experiments._tables import write
from experiments.distil_study import scores
from quorate._pruned import _backfit, _distil
from quorate.study import load_data
from quorate.study._data_set import make_preparation

SETS = (
    "australian", "breast_cancer_wisconsin", "credit_default", "ecoli", "eeg_eye_state",
    "heart_statlog", "mammographic_masses", "page_blocks", "ringnorm", "segmentation",
    "sensor_readings_24", "sonar", "twonorm", "waveform", "wilt",
)  # fmt: skip
N_TREES, KEEP, ROWS = 200, 20, 2000
UNROUNDED = 2**40  # levels so many that rounding to them changes nothing
HEADER = [
    "data", "classes", "pickle, kB", "whole, kB", "times smaller",
    "20 distilled, kB", "times smaller", "bytes per node",
    "accuracy", "rounded", "log-loss", "rounded",
]  # fmt: skip

Split = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]


def run(data_dir: str = "../shared/data") -> int:
    """Measure all sets and write the table."""
    rows = [measure(name, split) for name, split in splits(data_dir)]
    write("serving/serving-files.csv", HEADER, [*rows, summary(rows)])
    return 0


def splits(data_dir: str, names: tuple[str, ...] = (*SETS, "26 classes")) -> Iterator:
    """Yield the name of each set, and its rows and labels to train and to test on."""
    for name in names:
        yield name, made() if name == "26 classes" else read(name, data_dir)


def made() -> Split:
    X, y = make_classification(
        2 * ROWS, 16, n_informative=14, n_redundant=0, n_classes=26, flip_y=0.02,
        n_clusters_per_class=1, class_sep=2.5, random_state=0,
    )  # fmt: skip
    X = X.astype(np.float32)
    return X[:ROWS], y[:ROWS], X[ROWS:], y[ROWS:]


def read(name: str, data_dir: str) -> Split:
    data = load_data(f"{name}.csv.gz", data_dir=data_dir, n_rows=2 * ROWS)
    train, test = train_test_split(
        np.arange(data.n_rows), train_size=min(ROWS, data.n_rows // 2),
        random_state=0, stratify=data.y,
    )  # fmt: skip
    preparation = make_preparation(data.X).fit(data.X.iloc[train])
    X, X_test = (preparation.transform(data.X.iloc[rows]) for rows in (train, test))
    return X, data.y[train], X_test, data.y[test]


def measure(name: str, split: Split) -> list[str]:
    """Return a row of the table."""
    X, y, X_test, y_test = split
    forest = RandomForestClassifier(N_TREES, random_state=0).fit(X, y)
    truth = np.searchsorted(forest.classes_, y_test)
    small = quorate.keep_members(forest, range(KEEP))
    unrounded, distilled = both(small, forest, X)
    pickled = len(pickle.dumps(forest))
    whole, few = quorate.compact(forest), quorate.compact(distilled)
    for model, compact in ((forest, whole), (distilled, few)):
        if not np.array_equal(model.predict(X_test), compact.predict(X_test)):
            raise ValueError(f"{name}: a compact model does not answer as its own")
    sizes = [len(model.to_bytes()) for model in (whole, few)]
    before, after = (
        scores(model.predict_proba(X_test), truth) for model in (unrounded, distilled)
    )
    return [
        name, str(forest.classes_.size), f"{pickled / 1e3:.0f}",
        f"{sizes[0] / 1e3:.1f}", f"{pickled / sizes[0]:.0f}",
        f"{sizes[1] / 1e3:.1f}", f"{pickled / sizes[1]:.0f}",
        f"{sizes[1] / count_nodes(distilled):.2f}",
        f"{before['accuracy']:.2f}", f"{after['accuracy']:.2f}",
        f"{before['log-loss']:.4f}", f"{after['log-loss']:.4f}",
    ]  # fmt: skip


def count_nodes(forest: RandomForestClassifier) -> int:
    return sum(tree.tree_.node_count for tree in forest.estimators_)


def both(small: RandomForestClassifier, teacher: RandomForestClassifier, X: np.ndarray):
    """Return few trees distilled without and with rounding, on the same rows."""
    asked = _distil.make_distillation_set
    levels, kept = _backfit._LEVELS, []

    def once(*words, **options):
        if not kept:
            kept.append(asked(*words, **options))
        return replace(kept[0], leaves=kept[0].leaves.copy())

    try:
        _distil.make_distillation_set = once
        models = []
        for _backfit._LEVELS in (UNROUNDED, levels):
            models.append(quorate.distil(small, teacher, X, random_state=0))
        return models
    finally:
        _distil.make_distillation_set, _backfit._LEVELS = asked, levels


def summary(rows: list[list[str]]) -> list[str]:
    """Return geometric means, and the mean accuracy."""

    def column(place: int) -> np.ndarray:
        return np.array([float(row[place]) for row in rows])

    means = [float(np.exp(np.log(column(place)).mean())) for place in range(2, 12)]
    accuracies = [column(place).mean() for place in (8, 9)]
    digits = (0, 1, 0, 1, 0, 2)
    return [
        "mean", "",
        *(f"{mean:.{n}f}" for mean, n in zip(means, digits, strict=False)),
        *(f"{mean:.2f}" for mean in accuracies),
        *(f"{mean:.4f}" for mean in means[8:]),
    ]  # fmt: skip


if __name__ == "__main__":
    sys.exit(run(*sys.argv[1:]))
