"""Rows to learn on: which, how many, with which targets and weights."""

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier

from quorate import keep_members
from quorate._pruned import _distillation_set
from quorate._pruned._distillation_set import Crossing, make_distillation_set
from quorate._pruned._teacher import read_teacher
from quorate.ensembles import read_ensemble


@pytest.fixture(scope="module")
def world():
    X, y = make_classification(260, 6, n_informative=4, random_state=0)
    forest = RandomForestClassifier(30, oob_score=True, random_state=0).fit(
        X[:200], y[:200]
    )
    return X, forest


def learned(
    X, forest, *, small=None, n_crossed=100, unlabelled=None, seed=0, learned_on=None
):
    small = keep_members(forest, range(3)) if small is None else small
    return make_distillation_set(
        read_ensemble(small),
        read_teacher(forest, forest.classes_),
        X,
        Crossing(X) if n_crossed else None,
        learned_on=learned_on,
        n_crossed=n_crossed,
        unlabelled=unlabelled,
        seed=seed,
        n_jobs=None,
    )


@pytest.mark.parametrize("block", [2**14, 70])
def test_training_rows_then_unlabelled_then_crossed(world, block, monkeypatch):
    monkeypatch.setattr(_distillation_set, "_BLOCK_ROWS", block)
    X, forest = world
    found = learned(X[:200], forest, unlabelled=X[200:])
    assert (found.n_real, found.n_crossed, found.out_of_bag) == (260, 100, True)
    np.testing.assert_array_equal(found.weights, [3.0] * 260 + [1.0] * 100)
    np.testing.assert_allclose(found.targets.T[:200], forest.oob_decision_function_)
    np.testing.assert_allclose(found.targets.T[200:260], forest.predict_proba(X[200:]))
    for tree, leaves in zip(forest.estimators_[:3], found.leaves, strict=True):
        np.testing.assert_array_equal(leaves[:260], tree.apply(X))


def test_blocks_of_crossed_rows_differ(world, monkeypatch):
    monkeypatch.setattr(_distillation_set, "_BLOCK_ROWS", 50)
    X, forest = world
    found = learned(X[200:], forest)
    crossed = found.leaves[:, 60:]
    assert crossed.shape == (3, 100)
    assert (crossed[:, :50] != crossed[:, 50:]).any()


def test_rows_that_every_tree_has_seen_teach_nothing(world):
    X, _ = world
    y = (X[:200].sum(axis=1) > 0).astype(int)
    forest = RandomForestClassifier(3, random_state=0).fit(X[:200], y)
    found = learned(X[:200], forest, n_crossed=0)
    drawn = np.array([np.bincount(rows, minlength=200) for rows in
                      forest.estimators_samples_])  # fmt: skip
    asked = (drawn == 0).any(axis=0)
    assert 0 < found.n_real == np.count_nonzero(asked) < 200
    tree = forest.estimators_[0]
    np.testing.assert_array_equal(found.leaves[0], tree.apply(X[:200][asked]))
    assert np.isfinite(found.targets).all()


def test_of_many_rows_some(world, monkeypatch):
    monkeypatch.setattr(_distillation_set, "_MOST_REAL", 50)
    X, forest = world
    found, again = (learned(X[:200], forest, n_crossed=0) for _ in range(2))
    assert found.n_real == 50
    np.testing.assert_array_equal(found.leaves, again.leaves)
    everybody = forest.oob_decision_function_
    rows = [
        int(np.abs(everybody - target).sum(axis=1).argmin())
        for target in found.targets.T
    ]
    np.testing.assert_allclose(found.targets.T, everybody[rows])
    assert max(rows) > 150
    other = learned(X[200:], forest, n_crossed=0)  # rows it was not trained on
    assert (other.n_real, other.out_of_bag) == (50, False)


@pytest.mark.parametrize("most", [60, 20])
def test_only_rows_that_were_drawn(world, most, monkeypatch):
    monkeypatch.setattr(_distillation_set, "_MOST_REAL", most)
    X, forest = world
    drawn = np.arange(120, 200, 2)
    found = learned(X[:200], forest, n_crossed=0, learned_on=drawn)
    assert found.n_real == min(most, 40)
    assert found.out_of_bag
    whole = [tuple(row) for row in forest.oob_decision_function_[drawn]]
    assert {tuple(target) for target in found.targets.T} <= set(whole)
