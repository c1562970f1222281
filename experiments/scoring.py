"""Members chosen by balanced accuracy and by accuracy, judged on rows held out.

``python -m experiments scoring [DATA]`` prints a table as CSV: data sets in which a
class is rare, from the folder DATA where it has them and generated ones. It takes
minutes, so it does not run with the other benchmarks.
"""

import csv
import sys
import warnings
from pathlib import Path

import numpy as np
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import train_test_split

import quorate

SCORING = "balanced_accuracy"
SEEDS = range(5)
KEEP = (0.05, 0.1, 0.2)
FILES = ("wilt", "page_blocks")  # rare classes of 5 % and of 0.5 to 6 %
WAYS = {
    "by accuracy": {},
    "by balanced accuracy": {"scoring": SCORING},
    "by balanced accuracy, forward": {"scoring": SCORING, "method": "forward"},
}
GENERATED = {
    "generated, 5 %": {"weights": [0.95], "flip_y": 0.02, "class_sep": 0.7},
    "generated, 8 %": {"weights": [0.92], "flip_y": 0.05},
    "generated, 60, 33 and 7 %": {
        "weights": [0.6, 0.33, 0.07], "n_classes": 3, "flip_y": 0.02,
    },
    "generated, 3 %, 20 of noise": {
        "weights": [0.97], "flip_y": 0.01, "n_features": 26, "class_sep": 1.2,
    },
}  # fmt: skip


def data_sets(folder):
    """Yield names, features and classes."""
    for name in FILES if folder else ():
        import pandas as pd

        frame = pd.read_csv(Path(folder) / f"{name}.csv.gz")
        yield name, frame.iloc[:, :-1].to_numpy(float), frame.iloc[:, -1].to_numpy(str)
    for place, (name, options) in enumerate(GENERATED.items()):
        made = {"n_features": 15, "n_informative": 6, **options}
        yield name, *make_classification(4000, random_state=place, **made)


def measure(X, y, seed):
    """Return balanced accuracy on rows held out, of the whole forest and each way."""
    X, X_test, y, y_test = train_test_split(
        X, y, test_size=0.5, stratify=y, random_state=seed
    )
    forest = RandomForestClassifier(100, random_state=seed).fit(X, y)

    def judge(model):
        return balanced_accuracy_score(y_test, model.predict(X_test))

    whole = judge(forest)
    return {
        keep: [
            whole,
            *(judge(quorate.prune(forest, X, y, keep=keep, **how))
              for how in WAYS.values()),
        ]
        for keep in KEEP
    }  # fmt: skip


def run(folder=None):
    """Print the table; return 0."""
    table = csv.writer(sys.stdout, lineterminator="\n")
    names = [f"{way}, %" for way in ("all members", *WAYS)]
    better = "gain, pp", "standard error, pp", f"better in, of {len(SEEDS)}"
    table.writerow(["data set", "members kept", *names, *better])
    gains = {keep: [] for keep in KEEP}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, X, y in data_sets(folder):
            found = [measure(X, y, seed) for seed in SEEDS]
            for keep in KEEP:
                scores = 100 * np.array([each[keep] for each in found])
                gain = scores[:, 2] - scores[:, 1]
                gains[keep].append(gain.mean())
                doubt = gain.std(ddof=1) / np.sqrt(gain.size)
                means = [f"{mean:.2f}" for mean in scores.mean(axis=0)]
                table.writerow(
                    [name, round(100 * keep), *means, f"{gain.mean():+.2f}",
                     f"{doubt:.2f}", int((gain > 0).sum())]
                )  # fmt: skip
            sys.stdout.flush()
    for keep, each in gains.items():
        print(
            f"{100 * keep:.0f} members: {np.mean(each):+.2f} pp on average, "
            f"{np.sum(np.array(each) > 0)} of {len(each)} data sets better",
            file=sys.stderr,
        )
    return 0


if __name__ == "__main__":
    sys.exit(run(*sys.argv[1:]))
