"""Small random ensembles of every kind, on data made to produce ties.

And of every kind of trees, with rows that are hard on them.
"""

import warnings

import numpy as np
import pytest
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    ExtraTreesClassifier,
    RandomForestClassifier,
    VotingClassifier,
)
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import RidgeClassifier
from sklearn.naive_bayes import BernoulliNB, GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler
from sklearn.tree import DecisionTreeClassifier, ExtraTreeClassifier

import quorate
from quorate._native import kernels, why_not
from quorate.exceptions import QuorateWarning

MODES = ["exact", "bayes", "calibrated", "all"]
# For tests that compare answers, not promises.
ANSWERS_ONLY = pytest.mark.filterwarnings(
    "ignore::quorate.exceptions.QuorateWarning",
    "ignore::quorate.exceptions.TrainingVotesWarning",
    "ignore::quorate.exceptions.CoverageWarning",
    "ignore:.*SAMME",
)
needs_kernels = pytest.mark.skipif(kernels() is None, reason=f"no kernels: {why_not()}")
LABELS = {
    "codes": np.arange(10),
    "numbers": np.arange(10) * 3 - 7,
    "words": np.array(
        ["zoo", "ant", "bee", "cow", "dog", "elk", "fox", "gnu", "hen", "ibis"]
    ),
    "objects": np.array(list("kjihgfedcb"), dtype=object),
    "floats": np.arange(10) - 3.0,
    "truths": np.array([True, False]),
}


class Sayer:
    """A classifier of another world: it predicts, and that is all."""

    def __init__(self, inner):
        self.inner = inner

    def predict(self, X):
        return self.inner.predict(X).tolist()


def draw_data(rng, n_rows=90):
    """Return X and y: few values per column and noisy labels, so that votes tie."""
    kind = rng.choice(sorted(LABELS))
    n_classes = int(rng.integers(2, 1 + min(10, LABELS[kind].size)))
    X = rng.integers(0, rng.integers(2, 6), (n_rows, int(rng.integers(2, 5))))
    codes = (X.sum(axis=1) + rng.integers(0, n_classes, n_rows)) % n_classes
    codes[:n_classes] = np.arange(n_classes)
    return X.astype(float), LABELS[kind][codes]


def tree(rng, **options):
    depth = rng.choice([1, 2, 4, None])
    return DecisionTreeClassifier(max_depth=depth, random_state=0, **options)


def _forest(rng, size, seed, **options):
    depth = rng.choice([1, 3, None])
    return RandomForestClassifier(size, max_depth=depth, random_state=seed, **options)


def _impure(rng, size, seed):
    options = {"class_weight": "balanced_subsample", "min_samples_leaf": 4}
    return _forest(rng, size, seed, **options)


def _extra(rng, size, seed):
    bootstrap = bool(rng.integers(2))
    return ExtraTreesClassifier(size, bootstrap=bootstrap, random_state=seed)


def _bagging(rng, size, seed):
    n_rows = int(rng.choice([9, 40, 90]))  # few rows: some classes are not seen
    return BaggingClassifier(
        tree(rng),
        size,
        max_samples=n_rows,
        n_jobs=rng.choice([None, 1]),
        random_state=seed,
    )


def _subspaces(rng, size, seed):
    return BaggingClassifier(
        ExtraTreeClassifier(random_state=0),
        size,
        max_features=0.6,
        bootstrap_features=True,
        random_state=seed,
    )


def _bagged(member, **options):
    def make(rng, size, seed):
        return BaggingClassifier(member, min(size, 6), random_state=seed, **options)

    return make


def _boosting(rng, size, seed):
    base = DecisionTreeClassifier(max_depth=int(rng.integers(1, 4)))
    return AdaBoostClassifier(base, n_estimators=size, random_state=seed)


def _boosted_bayes(rng, size, seed):
    return AdaBoostClassifier(BernoulliNB(), n_estimators=size, random_state=seed)


def _voting(rng, voting):
    members = [
        ("nb", GaussianNB()),
        ("stump", DecisionTreeClassifier(max_depth=1)),
        ("bernoulli", BernoulliNB()),
        ("knn", KNeighborsClassifier(3)),
        ("tree", tree(rng)),
        ("extra", ExtraTreeClassifier(random_state=1)),
    ][: int(rng.integers(2, 7))]
    kinds = {
        "none": None,
        "whole": rng.integers(0, 4, len(members)) + 0.0,
        "halves": rng.integers(1, 4, len(members)) / 2,
        "tenths": rng.integers(1, 4, len(members)) / 10,
        "any": rng.random(len(members)),
    }
    weights = kinds[rng.choice(sorted(kinds))]
    if weights is not None and weights.sum() == 0:
        weights[0] = 1
    return VotingClassifier(members, voting=voting, weights=weights)


def _pipeline(rng, size, seed):
    return make_pipeline(MinMaxScaler(), _forest(rng, size, seed))


def _pool(rng, size, seed):
    return [tree(rng), GaussianNB(), BernoulliNB(), tree(rng), KNeighborsClassifier(2)]


TREES = {
    "forest": _forest,
    "impure forest": _impure,
    "extra trees": _extra,
    "bagging": _bagging,
    "subspaces": _subspaces,
    "boosting": _boosting,
}
UNFITTED = {
    **TREES,
    "bagged bayes": _bagged(GaussianNB()),
    "bagged neighbours": _bagged(KNeighborsClassifier(4), max_features=0.7),
    "bagged heads": _bagged(RidgeClassifier()),
    "boosted bayes": _boosted_bayes,
    "hard voting": lambda rng, size, seed: _voting(rng, "hard"),
    "soft voting": lambda rng, size, seed: _voting(rng, "soft"),
    "pipeline": _pipeline,
    "pruned": _forest,
    "frozen": _boosting,
    "list": _pool,
    "dict": _pool,
}


def _prune(ensemble, X, y):
    # Some labels are drawn at random.
    with warnings.catch_warnings(action="ignore", category=QuorateWarning):
        return quorate.prune(ensemble, X, y, method="mdm", keep=0.6)


def draw_ensemble(kind, rng, X, y):
    """Return a fitted ensemble of this kind."""
    size, seed = int(rng.integers(2, 14)), int(rng.integers(1000))
    made = UNFITTED[kind](rng, size, seed)
    if isinstance(made, list):
        half = len(y) // 2  # members may know other classes than their neighbours
        made = [member.fit(X[:half], y[:half]) for member in made[:size]]
        if kind == "dict":
            return {f"member {place}": member for place, member in enumerate(made)}
        return made
    fitted = made.fit(X, y)
    if kind == "pruned":
        return _prune(fitted, X, y)
    return FrozenEstimator(fitted) if kind == "frozen" else fitted


def own_answer(ensemble, X):
    """Return what the ensemble says by itself.

    Lists and dicts by the mean of probabilities if all have some, else by heads.
    """
    if hasattr(ensemble, "predict"):
        return ensemble.predict(X)
    members = list(ensemble.values()) if isinstance(ensemble, dict) else ensemble
    if all(hasattr(member, "predict_proba") for member in members):
        classes = np.unique(np.concatenate([member.classes_ for member in members]))
        total = np.zeros((len(X), classes.size))
        for member in members:
            columns = np.searchsorted(classes, member.classes_)
            total[:, columns] += member.predict_proba(X)
        found = classes[(total / len(members)).argmax(axis=1)]
        return found.astype(str) if found.dtype == object else found
    answers = [member.predict(X) for member in members]
    return quorate.Votes(answers, answers[0]).predict()


def _weighted(voting):
    def make(rng, X, y, size):
        forest = _forest(rng, size, 0, min_samples_leaf=2).fit(X, y)
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
    boosting = _boosting(rng, size, 0).fit(X, y)
    boosting.estimator_weights_[:] = rng.choice([1.0, 0.3])
    return boosting


def _other_leaves(rng, X, y, size):
    """Every leaf has a distribution of its own, as after distillation."""
    forest = _forest(rng, size, 0).fit(X, y)
    for tree in forest.estimators_:
        value = tree.tree_.value
        value[:] = rng.dirichlet(np.ones(value.shape[2]), value.shape[:2])
    return forest


def _pruned(rng, X, y, size):
    forest = _forest(rng, size, 0).fit(X, y)
    return _prune(forest, X, y)


FITTED = {
    "weighted average": _weighted("soft"),
    "weighted heads": _weighted("hard"),
    "flat forest": _flat,
    "equal weights": _equal_weights,
    "other leaves": _other_leaves,
    "pruned": _pruned,
    "frozen": lambda rng, X, y, size: FrozenEstimator(_forest(rng, size, 0).fit(X, y)),
    "pipeline": lambda rng, X, y, size: make_pipeline(
        MinMaxScaler(), _forest(rng, size, 0)
    ).fit(X, y),
}
KINDS = [*TREES, *FITTED]
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
    return TREES[kind](rng, size, 0).fit(X, y)


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


def drawn(kind, seed, missing=False):
    """Return an ensemble, lazy in a mode of its own, and rows to ask about."""
    rng = np.random.default_rng([seed, len(kind)])
    X, y = draw_rows(rng)
    if missing:
        X[rng.random(X.shape) < 0.2] = np.nan
    ensemble = draw_trees(kind, rng, X, y)
    lazy = quorate.LazyClassifier(
        ensemble, MODES[seed % 4], 0.9, 0.1, random_state=0, block_size=2
    ).fit(X)
    rows = on_thresholds(ensemble, rng, X)
    if missing:
        rows[rng.random(rows.shape) < 0.2] = np.nan
    return ensemble, lazy, rows


def assert_same(
    one, other, rows, answers=("predict", "members_asked", "predict_proba")
):
    """Raise unless two lazy classifiers answer the same, to the bit."""
    for answer in answers:
        found, expected = getattr(one, answer)(rows), getattr(other, answer)(rows)
        assert found.dtype == expected.dtype
        np.testing.assert_array_equal(found, expected, err_msg=answer)
