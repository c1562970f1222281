"""Ensembles of trees of every kind, and rows that are hard on them."""

import numpy as np
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    ExtraTreesClassifier,
    RandomForestClassifier,
)
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler
from sklearn.tree import DecisionTreeClassifier, ExtraTreeClassifier

import quorate


def _forest(rng, size, **options):
    depth = rng.choice([1, 3, None])
    return RandomForestClassifier(size, max_depth=depth, random_state=0, **options)


def _impure(rng, size):
    return _forest(rng, size, class_weight="balanced_subsample", min_samples_leaf=4)


def _extra(rng, size):
    bootstrap = bool(rng.integers(2))
    return ExtraTreesClassifier(size, bootstrap=bootstrap, random_state=0)


def _bagging(rng, size):
    # Few rows: some classes are unknown to some members.
    n_rows = int(rng.choice([9, 40]))
    return BaggingClassifier(
        DecisionTreeClassifier(max_depth=rng.choice([2, None])),
        size,
        max_samples=n_rows,
        n_jobs=rng.choice([None, 1]),
        random_state=0,
    )


def _subspaces(rng, size):
    return BaggingClassifier(
        ExtraTreeClassifier(),
        size,
        max_features=0.6,
        bootstrap_features=True,
        random_state=0,
    )


def _boosting(rng, size):
    tree = DecisionTreeClassifier(max_depth=int(rng.integers(1, 4)))
    return AdaBoostClassifier(tree, n_estimators=size, random_state=0)


def _weighted(voting):
    def make(rng, X, y, size):
        forest = _forest(rng, size, min_samples_leaf=2).fit(X, y)
        kept = rng.permutation(size)[: rng.integers(2, size + 1)]
        grain = rng.choice([1.0, 0.1, 0.25])
        weights = grain * rng.integers(1, 4, kept.size)
        vote = quorate.keep_members(forest, kept, weights)
        return vote.set_params(voting=voting)

    return make


def _flat(rng, X, y, size):
    """Leaves of thirds and sixths: sums that differ by rounding only."""
    n_classes = max(2, min(3, np.unique(y).size))
    turns = [(np.arange(len(y)) + turn) % n_classes for turn in range(n_classes)]
    return RandomForestClassifier(
        size, max_depth=2, bootstrap=False, class_weight="balanced", random_state=0
    ).fit(np.tile(X, (n_classes, 1)), np.concatenate(turns))


def _equal_weights(rng, X, y, size):
    boosting = _boosting(rng, size).fit(X, y)
    boosting.estimator_weights_[:] = rng.choice([1.0, 0.3])
    return boosting


def _other_leaves(rng, X, y, size):
    """Every leaf has a distribution of its own, as after distillation."""
    forest = _forest(rng, size).fit(X, y)
    for tree in forest.estimators_:
        value = tree.tree_.value
        value[:] = rng.dirichlet(np.ones(value.shape[2]), value.shape[:2])
    return forest


def _pruned(rng, X, y, size):
    forest = _forest(rng, size).fit(X, y)
    return quorate.prune(forest, X, y, method="mdm", keep=0.6)


UNFITTED = {
    "forest": _forest,
    "impure forest": _impure,
    "extra trees": _extra,
    "bagging": _bagging,
    "subspaces": _subspaces,
    "boosting": _boosting,
}
FITTED = {
    "weighted average": _weighted("soft"),
    "weighted heads": _weighted("hard"),
    "flat forest": _flat,
    "equal weights": _equal_weights,
    "other leaves": _other_leaves,
    "pruned": _pruned,
    "frozen": lambda rng, X, y, size: FrozenEstimator(_forest(rng, size).fit(X, y)),
    "pipeline": lambda rng, X, y, size: make_pipeline(
        MinMaxScaler(), _forest(rng, size)
    ).fit(X, y),
}
KINDS = [*UNFITTED, *FITTED]
MISSING = ["forest", "impure forest", "extra trees", "bagging", "weighted average"]


def draw_rows(rng, n_rows=110, n_classes=None):
    """Return X and y: few values in some columns, any in others, and noisy labels."""
    n_classes = int(rng.choice([2, 3, 12, 50])) if n_classes is None else n_classes
    n_columns = int(rng.integers(2, 6))
    X = rng.integers(0, rng.integers(2, 6), (n_rows, n_columns)).astype(float)
    codes = (X.sum(axis=1).astype(int) + rng.integers(0, 2, n_rows)) % n_classes
    X[:, 0] = rng.normal(size=n_rows)
    X[:, 1] *= rng.choice([1.0, 1e-30, 1e30])
    codes[:n_classes] = np.arange(n_classes)
    return X, np.array([f"class {code:02d}" for code in range(n_classes)])[codes]


def draw_trees(kind, rng, X, y):
    """Return a fitted ensemble of this kind."""
    size = int(rng.integers(2, 24))
    if kind in FITTED:
        return FITTED[kind](rng, X, y, size)
    return UNFITTED[kind](rng, size).fit(X, y)


def on_thresholds(ensemble, rng, X, n_rows=150):
    """Return rows whose values are thresholds, or the next number above or below."""
    found = quorate.ensembles.read_ensemble(ensemble)
    rows = X[rng.integers(0, len(X), n_rows)].copy()
    for member in found.members:
        tree = member.tree
        inner = np.flatnonzero(tree.children_left >= 0)
        for node in inner[: 3 * X.shape[1]]:
            column = tree.feature[node]
            column = column if member.features is None else member.features[column]
            value = np.float32(tree.threshold[node])
            away = rng.choice([-np.inf, np.inf, 0.0])
            if np.isinf(value):  # the split is by what is missing
                continue
            if away:
                value = np.nextafter(value, np.float32(away))
            rows[rng.integers(n_rows), column] = value
    return rows
