"""An ensemble with other members than fit has seen is noticed."""

import copy
import pickle

import numpy as np
import pytest
from joblib import parallel_config
from sklearn.base import clone
from sklearn.datasets import load_wine
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier
from tests.ensembles.kinds import KINDS

import quorate
from quorate import LazyClassifier

# Whatever the rows are that calibrate: answers are compared here, not promises.
pytestmark = pytest.mark.filterwarnings(
    "ignore::quorate.exceptions.TrainingVotesWarning"
)

X, Y = load_wine(return_X_y=True)
OTHER = (Y + 1) % 3  # what it learns when it is fitted again


CHANGING = (
    *("forest", "extra trees", "bagging", "bagged knn", "adaboost", "hard voting"),
    *("pipeline", "pruned"),
)


def pool():
    return [DecisionTreeClassifier(max_depth=depth) for depth in (1, 2, 3)]


def make(kind):
    if kind == "pruned":
        return quorate.PrunedClassifier(RandomForestClassifier(9), keep=5)
    return clone(KINDS[kind])


def expect_a_sentence(lazy):
    for method in (lazy.predict, lazy.members_asked, lazy.predict_proba):
        for rows in (X, X[:1]):
            with pytest.raises(NotFittedError, match=r"or changed .* fit this"):
                method(rows)


def expect_its_answer(lazy, model):
    lazy.fit()
    np.testing.assert_array_equal(lazy.predict(X), model.predict(X))


@pytest.mark.parametrize("kind", CHANGING)
def test_fitted_again_in_place(kind):
    model = make(kind).fit(X, Y)
    lazy = LazyClassifier(model).fit()
    np.testing.assert_array_equal(lazy.predict(X), model.predict(X))
    model.fit(X, OTHER)
    expect_a_sentence(lazy)
    expect_its_answer(lazy, model)


@pytest.mark.parametrize("kind", ["forest", "extra trees", "bagging"])
def test_grown_by_warm_start(kind):
    model = make(kind).set_params(warm_start=True).fit(X, Y)
    lazy = LazyClassifier(model, random_state=0).fit()
    model.set_params(n_estimators=19)
    np.testing.assert_array_equal(lazy.predict(X), model.predict(X))  # not yet grown
    model.fit(X, OTHER)
    expect_a_sentence(lazy)
    expect_its_answer(lazy, model)


@pytest.mark.parametrize(
    "change",
    [
        lambda forest: forest.estimators_.reverse(),
        lambda forest: forest.estimators_.pop(),
        lambda forest: forest.estimators_.append(forest.estimators_[0]),
        lambda forest: setattr(forest, "classes_", forest.classes_ + 1),
    ],
)
def test_members_in_other_places_and_other_classes(change):
    forest = make("forest").fit(X, Y)
    lazy = LazyClassifier(forest).fit()
    lazy.predict(X)
    change(forest)
    expect_a_sentence(lazy)


def test_frozen_and_wrapped_twice():
    inner = make("forest").fit(X, Y)
    for outer in (FrozenEstimator(inner), LazyClassifier(inner)):
        lazy = LazyClassifier(outer).fit()
        lazy.predict(X)
        inner.fit(X, Y)
        expect_a_sentence(lazy)


@pytest.mark.parametrize("is_dict", [False, True])
def test_members_of_a_pool(is_dict):
    members = [member.fit(X, Y) for member in pool()]
    given = {str(place): member for place, member in enumerate(members)}
    given = given if is_dict else members
    lazy = LazyClassifier(given).fit()
    lazy.predict(X)
    given["1" if is_dict else 1] = DecisionTreeClassifier(max_depth=2).fit(X, OTHER)
    expect_a_sentence(lazy)
    lazy.fit().predict(X)


@pytest.mark.parametrize("n_rows", [1, 65, 178])
@pytest.mark.parametrize("engine", ["auto", "numpy"])
def test_a_member_that_is_fitted_again_is_not_noticed(engine, n_rows):
    """One behaviour, of both engines, on one row and on many; the docs say so."""
    forest = make("forest").set_params(max_depth=1).fit(X, Y)
    lazy = LazyClassifier(forest, engine=engine).fit()
    before = lazy.predict(X[:n_rows])
    for tree in forest.estimators_[:7]:
        tree.set_params(max_depth=None).fit(X, OTHER)
    np.testing.assert_array_equal(lazy.predict(X[:n_rows]), before)
    expect_its_answer(lazy, forest)


def test_another_ensemble_by_set_params():
    forest, other = (make("forest").fit(X, y) for y in (Y, OTHER))
    lazy = LazyClassifier(forest).fit()
    lazy.set_params(ensemble=other)
    expect_a_sentence(lazy)
    lazy.set_params(ensemble=GaussianNB().fit(X, Y))
    expect_a_sentence(lazy)
    lazy.set_params(ensemble=forest)
    np.testing.assert_array_equal(lazy.predict(X), forest.predict(X))


@pytest.mark.parametrize("store", ["pickle", "copy", "skops"])
def test_noticed_after_a_file_as_well(store, tmp_path):
    from skops.io import get_untrusted_types

    def again(lazy):
        if store == "pickle":
            return pickle.loads(pickle.dumps(lazy))
        if store == "copy":
            return copy.deepcopy(lazy)
        path = tmp_path / "lazy.skops"
        quorate.save(lazy, path)
        return quorate.load(path, trusted=get_untrusted_types(file=path))

    forest = make("forest").fit(X, Y)
    lazy = LazyClassifier(forest, "calibrated", epsilon=0.1, random_state=0).fit(X)
    read = again(lazy)
    np.testing.assert_array_equal(read.predict(X), lazy.predict(X))
    read.ensemble.fit(X, OTHER)
    expect_a_sentence(read)
    read = again(lazy)
    read.ensemble.fit(X, OTHER)  # before it was ever used
    expect_a_sentence(read)
    forest.fit(X, OTHER)  # before it was stored
    read = again(lazy)
    expect_a_sentence(read)
    expect_a_sentence(again(read))
    np.testing.assert_array_equal(read.fit(X).predict(X), lazy.fit(X).predict(X))


def test_a_fit_that_fails_leaves_no_trace():
    forest = make("forest").fit(X, Y)
    lazy = LazyClassifier(forest, "calibrated", epsilon=0.1, random_state=0).fit(X)
    forest.fit(X, OTHER)
    with pytest.raises(ValueError, match="too few for this guarantee"):
        lazy.fit(X[:3])
    expect_a_sentence(lazy)


def test_parameters_count_from_the_next_fit_on():
    forest = make("forest").fit(X, Y)
    lazy = LazyClassifier(forest, random_state=0).fit()
    asked = lazy.members_asked(X)
    lazy.set_params(mode="calibrated", confidence=0.6)
    for one in (lazy, pickle.loads(pickle.dumps(lazy))):
        np.testing.assert_array_equal(one.members_asked(X), asked)


def test_what_does_not_change_the_answer_is_not_complained_about():
    bagging = make("bagging").fit(X, Y)
    lazy = LazyClassifier(bagging).fit()
    bagging.set_params(n_jobs=2)
    with parallel_config("threading"):
        np.testing.assert_array_equal(lazy.predict(X), bagging.predict(X))
