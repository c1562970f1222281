"""scikit-learn-intelex: forests with an accelerated model of all their trees."""

import subprocess
import sys

import numpy as np
import pytest

import quorate
from quorate.results import VoteSource
from quorate.testing import check_ensemble

from .conftest import library

library("sklearnex")

from sklearnex.ensemble import (  # noqa: E402
    ExtraTreesClassifier,
    RandomForestClassifier,
)


@pytest.fixture(scope="module")
def forest(wine):
    (X, y), _, _ = wine
    return RandomForestClassifier(50, random_state=0).fit(X, y)


def test_a_smaller_forest_predicts_by_the_trees_it_has(forest, wine):
    _, (X, y), (X_new, _) = wine
    small = quorate.prune(forest, X, y, "mdm", keep=3)
    assert type(small) is RandomForestClassifier
    assert len(small.estimators_) == small.n_estimators == 3
    expected = np.mean([t.predict_proba(X_new) for t in small.estimators_], axis=0)
    np.testing.assert_allclose(small.predict_proba(X_new), expected, atol=1e-6)
    np.testing.assert_array_equal(
        small.predict(X_new), small.classes_[expected.argmax(axis=1)]
    )
    assert len(forest.estimators_) == 50


def test_votes_and_lazy_voting_are_the_forests_own(forest, wine):
    _, _, (X, y) = wine
    votes = quorate.collect_votes(forest, X, y)
    np.testing.assert_array_equal(votes.predict(), forest.predict(X))
    lazy = quorate.LazyClassifier(forest).fit()
    np.testing.assert_array_equal(lazy.predict(X), forest.predict(X))


@pytest.mark.parametrize("bootstrap", [True, False])
def test_training_samples_are_the_callers_word(bootstrap):
    from sklearn.datasets import make_classification

    X, y = make_classification(1200, n_informative=5, flip_y=0.1, random_state=0)
    make = RandomForestClassifier if bootstrap else ExtraTreesClassifier
    model = make(30, random_state=0).fit(X[:600], y[:600])
    # Which rows a tree drew is not known outside, and its leaves count otherwise.
    known = VoteSource.UNKNOWN if bootstrap else VoteSource.ASSUMED_NEW
    assert quorate.collect_votes(model, X[:600], y[:600]).source is known
    assert (
        quorate.collect_votes(model, X[700:], y[700:]).source is VoteSource.ASSUMED_NEW
    )
    small = quorate.keep_members(model, np.arange(10))
    assert quorate.collect_votes(small, X[:600], y[:600]).source is known
    said = quorate.collect_votes(model, X[:600], y[:600], source="training")
    assert said.source is VoteSource.TRAINING


def test_trees_without_the_shares_of_their_leaves_are_refused(wine):
    (X, y), _, _ = wine
    shallow = RandomForestClassifier(20, max_depth=2, random_state=0).fit(X, y)
    own = [tree.predict_proba(X) for tree in shallow.estimators_]
    assert np.abs(np.mean(own, axis=0) - shallow.predict_proba(X)).max() > 0.05
    with pytest.raises(TypeError, match="without the class shares of their leaves"):
        quorate.collect_votes(shallow, X, y)


@pytest.mark.slow
@pytest.mark.parametrize("make", [RandomForestClassifier, ExtraTreesClassifier])
def test_keep_the_promises_of_a_kind(make):
    check_ensemble(make(7, random_state=0).fit)


PATCHED = """
from sklearnex import patch_sklearn
patch_sklearn(verbose=False)
import numpy as np
import quorate
from sklearn.datasets import load_wine
from sklearn.ensemble import RandomForestClassifier
X, y = load_wine(return_X_y=True)
forest = RandomForestClassifier(30, random_state=0).fit(X[::2], y[::2])
assert "sklearnex" in type(forest).__module__
small = quorate.prune(forest, X[1::2], y[1::2], "mdm", keep=3)
mean = np.mean([tree.predict_proba(X) for tree in small.estimators_], axis=0)
assert (small.predict(X) == mean.argmax(axis=1)).all()
"""


def test_under_scikit_learns_own_names():
    subprocess.run([sys.executable, "-c", PATCHED], check=True, timeout=120)
