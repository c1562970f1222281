"""Distilled leaves lie on a grid: all forms of a model are the same one, to the bit."""

import pickle

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier

import quorate
from quorate import serving
from quorate._native import engine as kernel_engine

X, Y = make_classification(
    900, 10, n_informative=7, n_classes=5, flip_y=0.2, random_state=0
)
X = X.astype(np.float32)


@pytest.fixture(scope="module")
def distilled():
    forest = RandomForestClassifier(50, random_state=0).fit(X[:500], Y[:500])
    few = quorate.keep_members(forest, range(12))
    return quorate.distil(few, forest, X[:500], n_rows=4000, random_state=0)


def test_probabilities_are_equal_to_the_bit(distilled, engine):
    own = distilled.predict_proba(X)
    data = quorate.compact(distilled).to_bytes()
    served = serving.CompactModel.from_bytes(data)
    assert served.engine_ == ("numpy" if engine == "numpy" else kernel_engine())
    np.testing.assert_array_equal(served.predict_proba(X), own)
    again = pickle.loads(pickle.dumps(distilled))
    np.testing.assert_array_equal(again.predict_proba(X), own)
    again.n_jobs = 2  # threads add up in another order
    np.testing.assert_array_equal(again.predict_proba(X), own)
    lazy = quorate.LazyClassifier(distilled, "all", order="random", random_state=3)
    np.testing.assert_array_equal(lazy.fit().predict_proba(X), own)


def test_files_are_a_small_part_of_the_forest():
    for target in (Y[:500], Y[:500] % 2):
        forest = RandomForestClassifier(50, random_state=0).fit(X[:500], target)
        small = quorate.compact(forest)
        assert len(pickle.dumps(small)) < 0.06 * len(pickle.dumps(forest))
    forest = RandomForestClassifier(100, random_state=0).fit(X[:500], Y[:500])
    few = quorate.keep_members(forest, range(10))
    distilled = quorate.distil(few, forest, X[:500], n_rows=4000, random_state=0)
    whole = len(pickle.dumps(forest))
    assert 30 * len(quorate.compact(forest).to_bytes()) < whole
    assert 200 * len(quorate.compact(distilled).to_bytes()) < whole
