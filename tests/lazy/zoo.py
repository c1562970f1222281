"""Small random ensembles of every kind, on data made to produce ties."""

import numpy as np
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


def _forest(rng, size, seed):
    return RandomForestClassifier(
        size, max_depth=rng.choice([1, 3, None]), random_state=seed
    )


def _weighted_forest(rng, size, seed):
    return RandomForestClassifier(
        size, class_weight="balanced_subsample", min_samples_leaf=3, random_state=seed
    )


def _extra(rng, size, seed):
    return ExtraTreesClassifier(
        size, max_depth=rng.choice([1, 3, None]), random_state=seed
    )


def _bagging(rng, size, seed):
    n_rows = int(rng.choice([9, 40, 90]))  # few rows: some classes are not seen
    return BaggingClassifier(tree(rng), size, max_samples=n_rows, random_state=seed)


def _subspaces(rng, size, seed):
    return BaggingClassifier(
        ExtraTreeClassifier(random_state=0),
        size,
        max_features=0.5,
        bootstrap_features=True,
        random_state=seed,
    )


def _bagged_bayes(rng, size, seed):
    return BaggingClassifier(GaussianNB(), min(size, 6), random_state=seed)


def _bagged_neighbours(rng, size, seed):
    return BaggingClassifier(
        KNeighborsClassifier(4), min(size, 6), max_features=0.7, random_state=seed
    )


def _bagged_heads(rng, size, seed):
    return BaggingClassifier(RidgeClassifier(), min(size, 6), random_state=seed)


def _boosting(rng, size, seed):
    return AdaBoostClassifier(
        DecisionTreeClassifier(max_depth=int(rng.integers(1, 4))),
        n_estimators=size,
        random_state=seed,
    )


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


UNFITTED = {
    "forest": _forest,
    "weighted forest": _weighted_forest,
    "extra trees": _extra,
    "bagging": _bagging,
    "subspaces": _subspaces,
    "bagged bayes": _bagged_bayes,
    "bagged neighbours": _bagged_neighbours,
    "bagged heads": _bagged_heads,
    "boosting": _boosting,
    "boosted bayes": _boosted_bayes,
    "hard voting": lambda rng, size, seed: _voting(rng, "hard"),
    "soft voting": lambda rng, size, seed: _voting(rng, "soft"),
    "pipeline": _pipeline,
    "pruned": _forest,
    "frozen": _boosting,
    "list": _pool,
    "dict": _pool,
}


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
        return quorate.prune(fitted, X, y, method="mdm", keep=0.6)
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
