"""Any average of trees as a forest of scikit-learn."""

import numpy as np
import pytest
from sklearn.datasets import load_wine
from sklearn.ensemble import (
    BaggingClassifier,
    ExtraTreesClassifier,
    RandomForestClassifier,
    VotingClassifier,
)
from sklearn.tree import DecisionTreeClassifier, ExtraTreeClassifier

import quorate

X, Y = load_wine(return_X_y=True, as_frame=True)
NAMES = np.array(["red", "rose", "white"])[Y]
TREES = [
    (name, DecisionTreeClassifier(max_depth=depth, random_state=0))
    for name, depth in (("short", 2), ("tall", 4), ("full", None))
]
# Some trees draw so few samples that they know two of the classes only.
PARTS = BaggingClassifier(
    ExtraTreeClassifier(), 20, max_features=0.4, max_samples=6, random_state=0
)


def pruned(model):
    return quorate.PrunedClassifier(model, keep=3, random_state=0).fit(X, NAMES)


MODELS = {
    "bagging": lambda: quorate.prune(
        BaggingClassifier(n_estimators=9, random_state=0).fit(X, NAMES), X, NAMES
    ),
    "bagging of columns": lambda: PARTS.fit(X, NAMES),
    "voting": lambda: VotingClassifier(TREES, voting="soft").fit(X, NAMES),
    "pool": lambda: quorate.keep_members(
        RandomForestClassifier(9, random_state=0).fit(X, NAMES), [1, 5], [0.5, 0.5]
    ),
    "pruned bagging": lambda: pruned(PARTS),
    "pruned extra trees": lambda: pruned(ExtraTreesClassifier(9, random_state=0)),
}


@pytest.mark.parametrize("name", MODELS)
def test_the_same_probabilities(name):
    model = MODELS[name]()
    forest = quorate.ensembles.to_forest(model)
    assert type(forest) in (RandomForestClassifier, ExtraTreesClassifier)
    found, expected = forest.predict_proba(X), model.predict_proba(X)
    np.testing.assert_allclose(found, expected, atol=1e-12)
    np.testing.assert_array_equal(forest.predict(X), model.predict(X))
    assert forest.feature_importances_.shape == (X.shape[1],)
    np.testing.assert_array_equal(forest.feature_names_in_, X.columns)
    for tree in forest.estimators_:
        assert tree.tree_.n_features == tree.n_features_in_ == X.shape[1]
        assert tree.tree_.value.shape[1:] == (1, 3)


def test_what_was_done_is_not_forgotten():
    small = MODELS["bagging"]()
    assert quorate.ensembles.to_forest(small).pruning_ == small.pruning_
    forest = RandomForestClassifier(3).fit(X, NAMES)
    assert quorate.ensembles.to_forest(forest) is forest


def test_a_list_of_trees_is_not_one_model():
    values = X.to_numpy()
    trees = [tree.fit(values, NAMES) for _, tree in TREES]
    one = quorate.keep_members(trees, [0, 1, 2], np.ones(3))
    forest = quorate.ensembles.to_forest(one)
    assert not forest.bootstrap  # so nothing is out of bag
    np.testing.assert_allclose(forest.predict_proba(values), one.predict_proba(values))


def test_importances_of_a_pruned_classifier():
    model = pruned(RandomForestClassifier(9, random_state=0))
    each = [tree.feature_importances_ for tree in model.estimator_.estimators_]
    np.testing.assert_allclose(model.feature_importances_, np.mean(each, axis=0))
    assert not hasattr(pruned(PARTS), "feature_importances_")
    assert not hasattr(quorate.PrunedClassifier(), "feature_importances_")
