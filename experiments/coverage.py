"""How close errors out of bag come to the truth, in forests that draw by class weight.

``python -m experiments coverage [WORLDS]`` prints a table as CSV: of worlds where
out-of-bag votes cover every class and of those where they do not, the share in which
the error of the rarer class lies within two standard errors of the truth. Classes of 1
to 20 %, weights of 1 to 100, 50 to 500 trees. 100 worlds take some four minutes.
"""

import csv
import sys
import warnings

import numpy as np
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier

import quorate

N_TRAIN, N_TEST = 2000, 20_000


def simulate(seed):
    """Return whether votes cover every class, and how far off they are."""
    rng = np.random.default_rng(seed)
    share = rng.choice([0.01, 0.02, 0.05, 0.1, 0.2])
    X, y = make_classification(
        N_TRAIN + N_TEST,
        n_features=12,
        n_informative=5,
        weights=[1 - share],
        class_sep=rng.choice([0.5, 1.0, 1.5]),
        flip_y=0.01,
        random_state=seed,
    )
    forest = RandomForestClassifier(
        int(rng.choice([50, 100, 200, 500])),
        class_weight={0: 1, 1: int(rng.choice([1, 2, 5, 10, 20, 50, 100]))},
        random_state=seed,
    ).fit(X[:N_TRAIN], y[:N_TRAIN])
    votes = quorate.collect_votes(forest, X[:N_TRAIN], y[:N_TRAIN], out_of_bag=True)
    rare, test = votes.y == 1, y[N_TRAIN:] == 1
    truth = np.mean(forest.predict(X[N_TRAIN:][test]) != 1)
    n = np.count_nonzero(rare)
    if not n:
        return bool(votes.why_unreliable), n, np.nan, np.nan
    error = np.mean(votes.sample_errors()[rare])
    # Of few samples all may be right or wrong; and the truth is measured too.
    variance = [
        (wrong + 1) / (size + 2) * (1 - (wrong + 1) / (size + 2)) / size
        for wrong, size in ((error * n, n), (truth * test.sum(), test.sum()))
    ]
    return (
        bool(votes.why_unreliable),
        n,
        error - truth,
        (error - truth) / np.sqrt(sum(variance)),
    )


def run(worlds="100"):
    """Print the table; return 0."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = np.array([simulate(seed) for seed in range(int(worlds))])
    table = csv.writer(sys.stdout, lineterminator="\n")
    table.writerow(
        ["votes", "worlds", "rows of the class with votes, median",
         "mean of estimate - truth", "within two standard errors"]
    )  # fmt: skip
    for name, flaw in (("cover every class", 0), ("do not", 1)):
        some = found[found[:, 0] == flaw]
        known = some[np.isfinite(some[:, 3])]
        table.writerow(
            [name, len(some), f"{np.median(some[:, 1]):.0f}",
             f"{known[:, 2].mean():+.3f}", f"{np.mean(np.abs(known[:, 3]) <= 2):.2f}"]
        )  # fmt: skip
    return 0


if __name__ == "__main__":
    sys.exit(run(*sys.argv[1:]))
