"""Why not train fewer trees? Seven ways to a forest of 10, 20 or 40 trees.

``python -m experiments fewer_trees [DATA]`` trains forests of 200 trees on real data
sets (those in the folder DATA, ``QUORATE_DATA`` by default, and scikit-learn's own),
makes each smaller in every way, scores all of them on held-out rows, and writes
``docs/results/fewer_trees/fewer-trees*.csv``. It takes about ten minutes on one core.
"""

import os
import sys

import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold, cross_val_predict, train_test_split

import quorate
from experiments._tables import write
from quorate.study import load_data
from quorate.study._data_set import make_preparation

N_TREES = 200
SIZES = (10, 20, 40)
SEEDS = (0, 1, 2)
MOST_ROWS = 2000  # to train on, and as many to test on
LEAF_SIZES = (1, 2, 3, 5, 10)
FLOOR = 1e-6  # the smallest probability that the log-loss sees
BUNDLED = ("breast_cancer", "digits")
# None of them was used to tune quorate, but for the power in the step of distilling.
FILES = (
    "breast_cancer_wisconsin", "credit_default", "eeg_eye_state", "heart_statlog",
    "madelon", "mammographic_masses", "page_blocks", "segmentation",
    "sensor_readings_24", "wilt",
)  # fmt: skip
WAYS = {
    "first": "the first k trees",
    "retrained, accuracy": "retrained with k trees, leaf size tuned for accuracy",
    "retrained, log-loss": "retrained with k trees, leaf size tuned for log-loss",
    "chosen": "k trees chosen by quorate",
    "first distilled": "the first k trees, distilled",
    "chosen distilled": "k trees chosen by quorate, distilled",
    "tuned distilled": "the same, from 200 trees with a leaf size tuned for log-loss",
}
# Who is compared on the same data sets: nothing tuned, and the leaf size tuned.
DUELS = (
    ("chosen distilled", "first"),
    ("chosen distilled", "retrained, log-loss"),
    ("tuned distilled", "retrained, log-loss"),
)
SCORES = ("accuracy", "log-loss", "AUC")

Scores = dict[str, float]
Table = dict[tuple[str, int, str, int], Scores]  # data set, seed, way, k


def main(folder: str | None) -> None:
    """Score every way on every data set and write the tables."""
    found: Table = {}
    names = [*BUNDLED, *(FILES if folder else ())]
    for name in names:
        for seed in SEEDS:
            for (way, k), scores in run_cell(name, folder, seed).items():
                found[name, seed, way, k] = scores
            print(f"{name}, seed {seed}: done", flush=True)
    write_summary(found, names)
    write_data_sets(found, names)


def run_cell(name: str, folder: str | None, seed: int) -> dict[tuple[str, int], Scores]:
    """Return the scores of the whole forest and of every way to a smaller one."""
    X, X_test, y, y_test = split(name, folder, seed)
    forest = RandomForestClassifier(N_TREES, random_state=seed).fit(X, y)
    tuned = tune_forest(X, y, seed)
    cell = {
        ("all", N_TREES): score(forest, X_test, y_test),
        ("all tuned", N_TREES): score(tuned, X_test, y_test),
    }
    for k in SIZES:
        first = quorate.keep_members(forest, range(k))
        chosen = quorate.prune(forest, X, y, keep=k, distil=False)
        models = {"first": first, "chosen": chosen, **retrain(X, y, k, seed)}
        for way, small in (("first", first), ("chosen", chosen)):
            models[f"{way} distilled"] = quorate.distil(
                small, forest, X, random_state=seed
            )
        small = quorate.prune(tuned, X, y, keep=k, distil=False)
        models["tuned distilled"] = quorate.distil(small, tuned, X, random_state=seed)
        for way, model in models.items():
            cell[way, k] = score(model, X_test, y_test)
    return cell


def split(name: str, folder: str | None, seed: int) -> list[np.ndarray]:
    """Return training and test rows, prepared on the training rows, with labels."""
    file = name if name in BUNDLED else f"{name}.csv.gz"
    data = load_data(file, data_dir=None if name in BUNDLED else folder)
    n_train = min(MOST_ROWS, data.n_rows // 2)
    train, test = train_test_split(
        np.arange(data.n_rows),
        train_size=n_train,
        test_size=n_train,
        random_state=seed,
        stratify=data.y,
    )
    preparation = make_preparation(data.X).fit(data.X.iloc[train])
    X, X_test = (preparation.transform(data.X.iloc[rows]) for rows in (train, test))
    return [X, X_test, data.y[train], data.y[test]]


def retrain(
    X: np.ndarray, y: np.ndarray, k: int, seed: int
) -> dict[str, RandomForestClassifier]:
    """Train k trees anew, with the leaf size that is best by cross-validation."""
    folds = StratifiedKFold(3, shuffle=True, random_state=seed)
    truth = np.unique(y, return_inverse=True)[1]
    right, loss = [], []
    forests = [
        RandomForestClassifier(k, min_samples_leaf=leaf, random_state=seed)
        for leaf in LEAF_SIZES
    ]
    for forest in forests:
        given = cross_val_predict(forest, X, y, cv=folds, method="predict_proba")
        right.append(np.mean(given.argmax(axis=1) == truth))
        loss.append(log_loss(given, truth))
    return {
        "retrained, accuracy": forests[int(np.argmax(right))].fit(X, y),
        "retrained, log-loss": forests[int(np.argmin(loss))].fit(X, y),
    }


def tune_forest(X: np.ndarray, y: np.ndarray, seed: int) -> RandomForestClassifier:
    """Train all trees, with the leaf size that has the best out-of-bag log-loss."""
    truth = np.unique(y, return_inverse=True)[1]
    forests = [
        RandomForestClassifier(
            N_TREES, min_samples_leaf=leaf, oob_score=True, random_state=seed
        ).fit(X, y)
        for leaf in LEAF_SIZES
    ]
    losses = [log_loss(forest.oob_decision_function_, truth) for forest in forests]
    return forests[int(np.argmin(losses))]


def score(model: RandomForestClassifier, X: np.ndarray, y: np.ndarray) -> Scores:
    """Return accuracy in per cent, log-loss, and AUC in per cent (one against rest)."""
    given = model.predict_proba(X)
    truth = np.searchsorted(model.classes_, y)
    two = given.shape[1] == 2
    area = roc_auc_score(truth, given[:, 1] if two else given, multi_class="ovr")
    return {
        "accuracy": float(100 * np.mean(given.argmax(axis=1) == truth)),
        "log-loss": log_loss(given, truth),
        "AUC": float(100 * area),
    }


def log_loss(given: np.ndarray, truth: np.ndarray) -> float:
    """Return the mean negative logarithm of the probability of the right class."""
    own = given[np.arange(truth.size), truth]
    return float(-np.log(np.maximum(own, FLOOR)).mean())


def differences(found: Table, names: list[str], way: str, k: int) -> np.ndarray:
    """Return what a way costs on each data set, a column for each score.

    Accuracy and AUC in percentage points below the whole forest, log-loss as the
    logarithm of its ratio to the whole forest's; means over the seeds.
    """
    costs = []
    for name in names:
        for seed in SEEDS:
            small, whole = found[name, seed, way, k], found[name, seed, "all", N_TREES]
            costs.append(
                (
                    small["accuracy"] - whole["accuracy"],
                    np.log(small["log-loss"] / whole["log-loss"]),
                    small["AUC"] - whole["AUC"],
                )
            )
    return np.reshape(costs, (len(names), len(SEEDS), 3)).mean(axis=1)


def cost_texts(costs: np.ndarray) -> list[str]:
    """Return means over data sets with their standard errors."""
    mean = costs.mean(axis=0)
    doubt = costs.std(axis=0, ddof=1) / len(costs) ** 0.5
    ratio = np.exp(mean[1])
    return [
        f"{mean[0]:+.2f} ± {doubt[0]:.2f}",
        f"{ratio:.2f} ± {ratio * doubt[1]:.2f}",
        f"{mean[2]:+.2f} ± {doubt[2]:.2f}",
    ]


def write_summary(found: Table, names: list[str]) -> None:
    """Write a row per size and way, and a row per duel."""
    scores = ["accuracy, pp", "log-loss, times", "AUC, pp"]
    ways = [(k, way, title) for k in SIZES for way, title in WAYS.items()]
    ways.append((N_TREES, "all tuned", "all trees, leaf size tuned for log-loss"))
    rows = [
        [str(k), title, *cost_texts(differences(found, names, way, k))]
        for k, way, title in ways
    ]
    write("fewer_trees/fewer-trees.csv", ["k", "way", *scores], rows)
    duels = []
    for k in SIZES:
        for one, other in DUELS:
            apart = differences(found, names, one, k) - differences(
                found, names, other, k
            )
            better = (
                (apart[:, 0] > 0).sum(),
                (apart[:, 1] < 0).sum(),
                (apart[:, 2] > 0).sum(),
            )
            cells = [
                f"{text} ({wins} of {len(names)})"
                for text, wins in zip(cost_texts(apart), better, strict=True)
            ]
            duels.append([str(k), WAYS[one], WAYS[other], *cells])
    write("fewer_trees/fewer-trees-duels.csv", ["k", "way", "against", *scores], duels)
    for row in (*rows, *duels):
        print(*row, sep="  ")


def write_data_sets(found: Table, names: list[str]) -> None:
    """Write the scores of every way on every data set, means over the splits."""
    rows = []
    for name in names:
        for way, k in dict.fromkeys((way, k) for _, _, way, k in found):
            cells = [found[name, seed, way, k] for seed in SEEDS]
            means = [np.mean([cell[score] for cell in cells]) for score in SCORES]
            rows.append(
                [
                    name,
                    str(k),
                    way,
                    f"{means[0]:.2f}",
                    f"{means[1]:.4f}",
                    f"{means[2]:.2f}",
                ]
            )
    write("fewer_trees/fewer-trees-data.csv", ["data", "k", "way", *SCORES], rows)


if __name__ == "__main__":
    main(sys.argv[1] if sys.argv[1:] else os.environ.get("QUORATE_DATA"))
