"""Members that certificates need, by the limit on the extra error.

``python -m experiments certified [DATA]`` trains forests of 200 trees on half of each
data set (2000 rows at most), orders the trees by margin distance on out-of-bag votes,
and walks down on held-out rows (10,000 at most): once with the sum of two binomial
limits at half the level, and once with :func:`quorate.stats.excess_limit`, on the same
votes. It writes ``docs/results/certificates/certified.csv``, in about two minutes on
one core.
"""

import os
import sys
from collections.abc import Callable

import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import train_test_split

import quorate
from experiments._tables import write
from quorate._kernels.limits import lower_limit, upper_limit
from quorate.study import load_data
from quorate.study._data_set import make_preparation

N_TREES = 200
SEEDS = (0, 1, 2)
MOST_TRAINED, MOST_HELD = 2000, 10_000
TOLERANCES = (0.01, 0.02)
DELTA = 0.05
# Of the data sets with rows enough, those without a class rarer than 2 %.
FILES = (
    "credit_default", "eeg_eye_state", "madelon", "ringnorm", "segmentation",
    "sensor_readings_2", "sensor_readings_4", "sensor_readings_24", "twonorm",
    "waveform", "waveform_noise", "wilt",
)  # fmt: skip

Limit = Callable[[np.ndarray, np.ndarray, int], np.ndarray]


def two_limits(worse: np.ndarray, better: np.ndarray, n: int) -> np.ndarray:
    """Return the sum of an upper and a lower binomial limit, at half the level each."""
    high, low = upper_limit(worse, n, DELTA / 2), lower_limit(better, n, DELTA / 2)
    return np.asarray(high - low)


def one_test(worse: np.ndarray, better: np.ndarray, n: int) -> np.ndarray:
    """Return the limit of the exact test of both counts."""
    return quorate.stats.excess_limit(worse, better, n, DELTA)


def main(folder: str) -> None:
    """Certify on every data set and write the table."""
    rows = []
    for name in FILES:
        needed: dict[tuple[float, Limit], list[int]] = {}
        for seed in SEEDS:
            worse, better, n = counts(name, folder, seed)
            for tolerance in TOLERANCES:
                for limit in (two_limits, one_test):
                    size = smallest(limit(worse, better, n), tolerance)
                    needed.setdefault((tolerance, limit), []).append(size)
        medians = [f"{np.median(sizes):.0f}" for sizes in needed.values()]
        rows.append([name, n, *medians])
        print(*rows[-1], flush=True)
    means = np.mean([[float(cell) for cell in row[2:]] for row in rows], axis=0)
    rows.append(["mean", "", *(f"{mean:.0f}" for mean in means)])
    header = ["data set", "samples"]
    for tolerance in TOLERANCES:
        points = f"{100 * tolerance:g} point{'s' * (tolerance > 0.01)}"
        header += [f"{points}, two limits", f"{points}, one test"]
    write("certificates/certified.csv", header, rows)


def counts(name: str, folder: str, seed: int) -> tuple[np.ndarray, np.ndarray, int]:
    """Count who alone is wrong, the first 1, 2, ... trees or all of them."""
    data = load_data(f"{name}.csv.gz", data_dir=folder)
    n_train = min(MOST_TRAINED, data.n_rows // 2)
    n_held = min(MOST_HELD, data.n_rows - n_train)
    train, held = train_test_split(
        np.arange(data.n_rows),
        train_size=n_train,
        test_size=n_held,
        random_state=seed,
        stratify=data.y,
    )
    preparation = make_preparation(data.X).fit(data.X.iloc[train])
    X, X_held = (preparation.transform(data.X.iloc[rows]) for rows in (train, held))
    forest = RandomForestClassifier(N_TREES, random_state=seed).fit(X, data.y[train])
    seen = quorate.collect_votes(forest, X, data.y[train], source="training")
    order = quorate.pruning.MarginDistance(keep=1.0).fit(seen).order_
    votes = quorate.collect_votes(forest, X_held, data.y[held], source="new")
    shares = votes.probabilities[order].cumsum(axis=0, dtype=float)
    wrong = shares.argmax(axis=2) != votes.y
    worse = (wrong & ~wrong[-1]).sum(axis=1)
    return worse, (wrong[-1] & ~wrong).sum(axis=1), n_held


def smallest(limits: np.ndarray, tolerance: float) -> int:
    """Walk down from all trees to the first size that fails."""
    failed = np.flatnonzero(limits[:-1] > tolerance)
    return int(failed[-1]) + 2 if failed.size else 1


if __name__ == "__main__":
    main(*(sys.argv[1:] or [os.environ["QUORATE_DATA"]]))
