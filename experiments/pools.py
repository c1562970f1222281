"""What the weights of a pool are worth: smoothing, sizes and plain alternatives.

``python -m experiments pools DATA_FOLDER`` fits the 30 models of the study's pool to
half of each data set, weighs the first 5, 12 and 30 of them on a quarter, and prints
the mean logarithmic loss and error of the average on the other quarter, in differences
from the best single model (the one that looks best where the weights are found).
``wins`` counts the cells in which the loss is below the best single one's by more than
a standard error, ``losses`` those in which it is above.
"""

import sys
import warnings
from collections import defaultdict
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.model_selection import train_test_split

import quorate
from quorate.study import load_data
from quorate.study._learners import make_pool

ROWS = 1600
SMOOTHINGS = (0.0, 0.003, 0.01, 0.03, 0.1, 0.3)
FLOOR = 1e-6


def losses(shares, y):
    """Return the logarithmic loss of each sample."""
    return -np.log(np.maximum(shares[np.arange(y.size), y], FLOOR))


def mixed(votes, weights):
    """Return the weighted mean of the members' probabilities."""
    given = votes.class_probabilities
    total = sum(
        weight * given.of(member) for member, weight in enumerate(weights) if weight
    )
    return total / np.sum(weights)


def candidates(chosen_on):
    """Yield names and weights, chosen on these votes."""
    n = chosen_on.n_members
    yield "mean", np.ones(n)
    for smoothing in SMOOTHINGS:
        pruner = quorate.pruning.SimplexWeights(None, smoothing=smoothing)
        yield f"simplex {smoothing:g}", pruner.fit(chosen_on).weights_
    yield (
        "ges",
        quorate.pruning.GreedySelection(1.0, random_state=0).fit(chosen_on).new_weights,
    )
    usual = quorate.select(chosen_on)
    weights = np.zeros(n)
    for name, weight in usual.weights_by_name.items():
        weights[chosen_on.names.index(name)] = weight
    yield "default", weights


def main(folder):
    found = defaultdict(list)
    for path in sorted(Path(folder).glob("*.csv.gz")):
        data = load_data(path, n_rows=ROWS)
        for seed in range(2):
            for size, chosen_on, judged in pools(data, seed):
                _row(found, size, chosen_on, judged)
        print(path.name, flush=True)
    show(found)


def pools(data, seed):
    X, y = numbers(data.X), np.asarray(data.y)
    labels, counts = np.unique(y, return_counts=True)
    some = np.flatnonzero(np.isin(y, labels[counts >= 20]))
    fit, rest = train_test_split(
        some, test_size=0.5, random_state=seed, stratify=y[some]
    )
    choose, test = train_test_split(
        rest, test_size=0.5, random_state=seed, stratify=y[rest]
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = make_pool(30, seed).fit(X[fit], y[fit])
        votes = [
            quorate.collect_votes(model, X[rows], y[rows]) for rows in (choose, test)
        ]
    for size in (5, 12, 30):
        yield size, *(v.keep(np.arange(size)) for v in votes)


def numbers(X):
    """Return columns of numbers: categories by their codes, what is missing as zero."""
    columns = [
        column.to_numpy(dtype=float)
        if pd.api.types.is_numeric_dtype(column)
        else pd.factorize(column)[0].astype(float)
        for _, column in pd.DataFrame(X).items()
    ]
    return np.nan_to_num(np.stack(columns, axis=1))


def _row(found, size, chosen_on, judged):
    single = [
        losses(chosen_on.class_probabilities.of(m), chosen_on.y).mean()
        for m in range(chosen_on.n_members)
    ]
    best = losses(judged.class_probabilities.of(int(np.argmin(single))), judged.y)
    wrong = judged.codes[int(np.argmin(single))] != judged.y
    for name, weights in candidates(chosen_on):
        shares = mixed(judged, weights)
        each = losses(shares, judged.y)
        gap = each - best
        error = np.mean(shares.argmax(axis=1) != judged.y) - np.mean(wrong)
        found[size, name].append(
            (
                gap.mean(),
                gap.std() / np.sqrt(gap.size),
                error,
                np.count_nonzero(weights),
            )
        )


def show(found):
    head = ("members", "weights by", "loss", "error, pp", "wins", "losses", "kept")
    print("".join(f"{word:>14}" for word in head))
    for (size, name), rows in sorted(found.items(), key=lambda item: item[0][0]):
        gap, noise, error, kept = np.array(rows).T
        print(
            f"{size:>14}{name:>14}{gap.mean():>+14.4f}{100 * error.mean():>+14.2f}"
            f"{np.count_nonzero(gap < -noise):>14}{np.count_nonzero(gap > noise):>14}"
            f"{kept.mean():>14.1f}"
        )
    print(f"{len(rows)} cells: data sets and splits")


if __name__ == "__main__":
    main(*sys.argv[1:])
