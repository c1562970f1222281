"""What a pruned forest saves and costs, on real data sets and in one timing run.

Data sets: gzipped CSV files whose last column is the target, from the folder in the
environment variable QUORATE_DATA (``../shared/data`` by default); those of scikit-learn
where there is none.
"""

import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
from experiments.distil_study import OF_THE_PAPER
from rich.console import Console
from rich.table import Table
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import train_test_split

import quorate
from bench._timing import Report, best_of
from quorate._ensembles import pickled_bytes

METHODS = ("epbd", "mdm", "re", "random")
N_TREES = 500
KEEP = 0.2


def data_sets() -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """Yield (name, X, y): all columns as numbers, missing values as NaN.

    Data sets for the tables of the paper only are left out.
    """
    folder = Path(os.environ.get("QUORATE_DATA", "../shared/data"))
    files = sorted(folder.glob("*.csv.gz"))
    for path in files:
        name = path.name.removesuffix(".csv.gz")
        if name in OF_THE_PAPER:
            continue
        frame = pd.read_csv(path)
        y = frame.pop(frame.columns[-1]).astype(str).to_numpy()
        for column in frame.columns:
            if not pd.api.types.is_numeric_dtype(frame[column]):
                codes = frame[column].astype("category").cat.codes
                frame[column] = codes.replace(-1, np.nan)
        yield name, frame.to_numpy(dtype=np.float32), y
    if not files:
        for load in (load_breast_cancer, load_digits, load_wine):
            X, y = load(return_X_y=True)
            yield load.__name__.removeprefix("load_"), X.astype(np.float32), y


def run() -> int:
    """Print accuracies on all data sets and the ratios; return the limits missed."""
    within = _accuracies()
    report = Report("forests")
    count = len(next(iter(within.values())))
    for method in METHODS:
        report.add(
            f"{method}: data sets within 1 pp of all {N_TREES} trees", f"of {count}",
            sum(gap >= -0.01 for gap in within[method]), round(15 / 21 * count),
            at_least=True,
        )  # fmt: skip
    _speed(report)
    return report.show()


def _accuracies() -> dict[str, list[float]]:
    table = Table(title=f"accuracy, {N_TREES} trees and {KEEP:.0%} of them, out of bag")
    for column in ("data set", "rows", "classes", "all", *METHODS):
        table.add_column(column, justify="left" if column == "data set" else "right")
    gaps: dict[str, list[float]] = {method: [] for method in METHODS}
    for name, X, y in data_sets():
        counts = pd.Series(y).value_counts()
        X_train, X_test, y_train, y_test = train_test_split(
            X, y, test_size=0.3, random_state=0,
            stratify=y if counts.min() >= 2 else None,
        )  # fmt: skip
        forest = RandomForestClassifier(N_TREES, random_state=0, n_jobs=2)
        forest.fit(X_train, y_train)
        whole = forest.score(X_test, y_test)
        cells = []
        for method in METHODS:
            seed = {"random_state": 0} if method == "random" else {}
            small = quorate.prune(forest, X_train, y_train, method, KEEP, **seed)
            gaps[method].append(small.score(X_test, y_test) - whole)
            cells.append(f"{100 * gaps[method][-1]:+.2f}")
        table.add_row(name, str(len(y)), str(counts.size), f"{100 * whole:.2f}", *cells)
    table.add_row(
        "mean", "", "", "", *(f"{100 * np.mean(gaps[m]):+.2f}" for m in METHODS)
    )
    Console(width=110).print(table)
    return gaps


def _speed(report: Report) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(22_000, 20)).astype(np.float32)
    y = (X[:, :5].sum(axis=1) + rng.normal(size=len(X)) > 0).astype(int)
    train, rows = slice(0, 2_000), X[2_000:]
    forest = RandomForestClassifier(N_TREES, random_state=0).fit(X[train], y[train])
    small = quorate.prune(forest, X[train], y[train], "epbd", KEEP)
    native = RandomForestClassifier(small.n_estimators, random_state=0)
    native.fit(X[train], y[train])
    report.add(
        "pickled, 20 % of 500 trees", "all of them",
        pickled_bytes(small) / pickled_bytes(forest), 0.22,
    )  # fmt: skip
    slow, fast = best_of(3, lambda: forest.predict(rows), lambda: small.predict(rows))
    report.add(
        "predict 20000 rows, 500 trees", "20 % of them", slow / fast, 4, slow,
        at_least=True,
    )  # fmt: skip
    for batch in (1, 20):
        few = rows[:batch]
        ours, theirs = best_of(
            7,
            lambda few=few: [small.predict(few) for _ in range(10)],
            lambda few=few: [native.predict(few) for _ in range(10)],
        )
        report.add(
            f"predict {batch} rows, pruned to 100 trees", "a native forest of 100",
            ours / theirs, 1.1, ours / 10,
        )  # fmt: skip
