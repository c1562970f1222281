"""What pruning by the defaults costs where a class is rare.

``python -m experiments rare [DATA]`` prints a table as CSV: data sets with 1 to 12 % of
a class, from the folder DATA where it has them (``QUORATE_DATA`` by default) and
generated ones; three class weights; training rows and new rows to choose on. It takes
about twenty minutes, so it does not run with the other benchmarks. The exit code counts
the limits that are missed.
"""

import csv
import os
import sys
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import average_precision_score, roc_auc_score
from sklearn.model_selection import train_test_split

import quorate

N_TREES = 200
MOST_ROWS = 9000
CLASS_WEIGHTS = (None, "balanced", "balanced_subsample")
# Data set, the class taken as positive, and the share it is thinned to.
FILES = {
    "wilt, 5 %": ("wilt", "w", None),
    "page blocks, 2 %": ("page_blocks", "5", None),
    "page blocks, 6 %": ("page_blocks", "2", None),
    "sensors, 6 %": ("sensor_readings_24", "Slight-Left-Turn", None),
    "credit, 5 %": ("credit_default", "1", 0.05),
    "eye state, 3 %": ("eeg_eye_state", "1", 0.03),
    "ringnorm, 2 %": ("ringnorm", "1", 0.02),
}
GENERATED = {  # share of positives, distance of the classes
    "generated, 1 %": (0.01, 1.2),
    "generated, 3 %": (0.03, 0.8),
    "generated, 5 %": (0.05, 1.5),
    "generated, 12 %": (0.12, 0.6),
}
WORTH_KEEPING = 0.5  # average precision of the whole forest
LIMITS = {
    "mean loss of average precision": 0.01,
    'largest loss with keep="auto", where there is something to lose': 0.04,
    "mean loss of AUC": 0.005,
    "mean number of trees kept": 70,
}
COLUMNS = (
    "data set", "class_weight", "rows", "keep", "trees kept", "average precision",
    "loss of average precision", "AUC", "loss of AUC", "expected error, %", "error, %",
    "standard error, %", "refused",
)  # fmt: skip


def data_sets(folder):
    """Yield names, features, and whether a row is of the rare class."""
    for name, (file, label, share) in FILES.items() if folder else ():
        frame = pd.read_csv(Path(folder) / f"{file}.csv.gz")
        y = (frame.iloc[:, -1].astype(str) == label).to_numpy(int)
        X, rng = frame.iloc[:, :-1].to_numpy(float), np.random.default_rng(0)
        if share:
            positive, negative = np.flatnonzero(y), np.flatnonzero(y == 0)
            number = int(share * negative.size / (1 - share))
            drawn = rng.choice(positive, number, replace=False)
            rows = np.sort(np.concatenate([negative, drawn]))
            X, y = X[rows], y[rows]
        if y.size > MOST_ROWS:
            rows = np.sort(rng.choice(y.size, MOST_ROWS, replace=False))
            X, y = X[rows], y[rows]
        yield name, X, y
    for place, (name, (share, apart)) in enumerate(GENERATED.items()):
        yield (
            name,
            *make_classification(
                MOST_ROWS,
                n_features=15,
                n_informative=6,
                weights=[1 - share],
                class_sep=apart,
                flip_y=0.005,
                random_state=place,
            ),
        )


def measure(forest, X, y, X_test, y_test, keep):
    """Return the figures of one cell, in the order of the columns."""

    def judge(model):
        positive = model.predict_proba(X_test)[:, 1]
        return (
            average_precision_score(y_test, positive), roc_auc_score(y_test, positive)
        )  # fmt: skip

    whole = judge(forest)
    try:
        small, selection = quorate.prune(forest, X, y, **keep, return_selection=True)
    except ValueError as refusal:
        return ["", whole[0], "", whole[1], "", "", "", "", str(refusal)]
    found, expected = judge(small), selection.expected
    error = 100 * np.mean(small.predict(X_test) != y_test)
    promised = ["", error, ""]
    if expected is not None:
        # The error on the test rows is not exactly the truth either.
        measured = error * (100 - error) / len(y_test)
        doubt = np.sqrt((100 * expected.standard_error) ** 2 + measured)
        promised = [100 * expected.error, error, float(doubt)]
    losses = whole[0] - found[0], whole[1] - found[1]
    return [
        selection.n_kept, found[0], losses[0], found[1], losses[1], *promised, ""
    ]  # fmt: skip


def run(folder=None):
    """Print the table; return the number of limits missed."""
    rows = []
    table = csv.writer(sys.stdout, lineterminator="\n")
    table.writerow(COLUMNS)
    for name, X, y in data_sets(folder or os.environ.get("QUORATE_DATA")):
        X, X_test, y, y_test = train_test_split(
            X, y, test_size=0.35, stratify=y, random_state=0
        )
        X_old, X_new, y_old, y_new = train_test_split(
            X, y, test_size=0.4, stratify=y, random_state=1
        )
        for weight in CLASS_WEIGHTS:
            forest = RandomForestClassifier(
                N_TREES, class_weight=weight, random_state=0
            ).fit(X_old, y_old)
            for source, given in (
                ("training", (X_old, y_old)),
                ("new", (X_new, y_new)),
            ):
                for keep in ({}, {"keep": "auto"}):
                    with warnings.catch_warnings():
                        warnings.simplefilter("ignore")
                        cell = measure(forest, *given, X_test, y_test, keep)
                    how = keep.get("keep", "default")
                    rows.append([name, weight or "none", source, how, *cell])
                    table.writerow(
                        f"{value:.4f}" if isinstance(value, float) else value
                        for value in rows[-1]
                    )
                    sys.stdout.flush()
    return _judge(pd.DataFrame(rows, columns=COLUMNS))


def _judge(cells):
    """Print what the cells come to; return the number of limits missed."""
    cells = cells[cells["refused"] == ""].replace("", np.nan).infer_objects()
    loss = cells["loss of average precision"].astype(float)
    has_some = cells["average precision"].astype(float) + loss > WORTH_KEEPING
    found = dict(
        zip(
            LIMITS,
            [
                loss.mean(),
                loss[has_some & (cells["keep"] == "auto")].max(),
                cells["loss of AUC"].astype(float).mean(),
                cells["trees kept"].astype(float).mean(),
            ],
            strict=True,
        )
    )
    missed = 0
    for what, limit in LIMITS.items():
        missed += found[what] > limit
        print(f"{what}: {found[what]:.4f}, at most {limit}", file=sys.stderr)
    told = cells.dropna(subset=["expected error, %"])
    apart = told["expected error, %"].astype(float) - told["error, %"].astype(float)
    close = (apart.abs() <= 2 * told["standard error, %"].astype(float)).mean()
    missed += close < 0.9
    print(
        f"expected error within two standard errors of the truth: {close:.2f} of "
        f"{len(told)} cells, at least 0.9",
        file=sys.stderr,
    )
    return missed


if __name__ == "__main__":
    sys.exit(run(*sys.argv[1:]))
