"""Rows of every form, in parts, and what they cost."""

import threading
import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp
from joblib import parallel_config
from sklearn.base import BaseEstimator
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    RandomForestClassifier,
    VotingClassifier,
)
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import BernoulliNB
from sklearn.tree import DecisionTreeClassifier
from tests.lazy import worlds

from quorate import LazyClassifier

pytestmark = pytest.mark.filterwarnings("ignore:Constructing a DIA matrix")
FORMATS = ["csr", "csc", "coo", "dia", "bsr", "lil", "dok"]
KINDS = {
    "forest": RandomForestClassifier(7, max_depth=2, random_state=0),
    "two jobs": BaggingClassifier(
        DecisionTreeClassifier(max_depth=2), 6, n_jobs=2, random_state=0
    ),
    "subspaces": BaggingClassifier(n_estimators=7, max_features=0.5, random_state=0),
    "bagged bayes": BaggingClassifier(BernoulliNB(), 5, random_state=0),
    "boosting": AdaBoostClassifier(n_estimators=7, random_state=0),
    "hard voting": VotingClassifier(
        [
            (f"{depth}", DecisionTreeClassifier(max_depth=depth))
            for depth in (1, 2, 3, 4)
        ]
    ),
    "soft voting": VotingClassifier(
        [("nb", BernoulliNB()), ("tree", DecisionTreeClassifier(max_depth=2))],
        voting="soft",
    ),
}


def wide(rows):
    """Return the same rows with 64-bit indices."""
    rows = rows.copy()
    for name in ("indices", "indptr", "row", "col", "offsets"):
        if isinstance(getattr(rows, name, None), np.ndarray):
            try:
                setattr(rows, name, getattr(rows, name).astype(np.int64))
            except AttributeError:  # derived from the coordinates
                continue
    if rows.format == "coo" and hasattr(rows, "coords"):
        rows.coords = tuple(axis.astype(np.int64) for axis in rows.coords)
    return rows


@pytest.fixture(scope="module")
def data():
    # Two values per column and labels of noise: votes tie.
    rng = np.random.default_rng(0)
    return rng.integers(0, 2, (1100, 6)).astype(float), rng.integers(0, 3, 1100)


@pytest.fixture(scope="module", params=KINDS)
def ensemble(request, data):
    X, y = data
    with parallel_config("threading"):
        yield KINDS[request.param].fit(sp.csr_matrix(X[:200]), y[:200])


@pytest.mark.parametrize(
    "is_wide",
    [pytest.param(False, marks=pytest.mark.slow), True],
    ids=["32 bits", "64 bits"],
)
@pytest.mark.parametrize("form", FORMATS)
def test_sparse_rows_are_answered_as_the_ensemble_does(ensemble, data, form, is_wide):
    rows = sp.csr_matrix(data[0]).asformat(form)
    rows = wide(rows) if is_wide else rows
    lazies = [LazyClassifier(ensemble, block_size=2, n_jobs=n).fit() for n in (None, 2)]
    try:
        expected = ensemble.predict(rows)
    except ValueError as refusal:
        assert is_wide
        for lazy in lazies:
            with pytest.raises(ValueError, match=str(refusal)[:30]):
                lazy.predict(rows)
        return
    for lazy in lazies:
        np.testing.assert_array_equal(lazy.predict(rows), expected)
    assert lazy.fit(rows).measured_disagreement_ == 0


@pytest.mark.parametrize("mode", ["bayes", "calibrated"])
@pytest.mark.parametrize("form", ["coo", "dia", "bsr", "lil", "dok"])
def test_sparse_rows_in_the_other_modes(data, mode, form):
    X, y = data
    model = KINDS["boosting" if mode == "calibrated" else "forest"].fit(
        X[:200], y[:200]
    )
    dense = LazyClassifier(model, mode, epsilon=0.05, random_state=0).fit(X[200:])
    rows = sp.csr_matrix(X[200:]).asformat(form)
    lazy = LazyClassifier(model, mode, epsilon=0.05, random_state=0).fit(rows)
    assert lazy.threshold_ == dense.threshold_
    np.testing.assert_array_equal(lazy.predict(rows), dense.predict(X[200:]))
    assert lazy.measured_disagreement_ == dense.measured_disagreement_


@pytest.mark.parametrize("form", FORMATS)
def test_sparse_rows_for_a_list_of_classifiers(data, form):
    X, y = data
    pool = [LogisticRegression(C=c).fit(X[:200], y[:200]) for c in (0.01, 0.1, 1.0)]
    expected = LazyClassifier(pool).fit().predict(X)
    rows = sp.csr_matrix(X).asformat(form)
    lazy = LazyClassifier(pool, block_size=1, n_jobs=2).fit()
    np.testing.assert_array_equal(lazy.predict(rows), expected)


# In parts


class Meeting(BaseEstimator):
    """A member that answers only if two ask at the same time."""

    def __init__(self):
        self.classes_ = np.array([0, 1])
        self.barrier = threading.Barrier(2)
        self.parts = []

    def predict(self, X):
        self.parts.append(len(X))
        self.barrier.wait(timeout=20)
        return np.zeros(len(X), dtype=int)


def test_jobs_work_at_the_same_time_on_parts_of_the_rows():
    X = np.zeros((1000, 2))
    member = Meeting()
    lazy = LazyClassifier([member], n_jobs=2).fit()
    for ask in (lazy.predict, lazy.members_asked, lazy.predict_proba):
        ask(X)
        assert member.parts == [500, 500]
        member.parts.clear()
    lazy.set_params(n_jobs=1)
    member.barrier = threading.Barrier(1)
    lazy.predict(X)
    assert member.parts == [1000]
    member.parts.clear()
    lazy.set_params(n_jobs=2).predict(X[:999])  # too few to share out
    assert member.parts == [999]


# What they cost


def peak(call, *arguments):
    """Return the bytes per row of 20,000 that a call takes at most."""
    tracemalloc.start()
    try:
        call(*arguments)
        return tracemalloc.get_traced_memory()[1] / 20_000
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("mode", ["exact", "bayes", "calibrated"])
def test_measuring_takes_no_memory_for_each_vote(mode):
    rng = np.random.default_rng(0)
    tables = worlds.coins(rng, 100, rng.beta(0.2, 0.2, 50)).astype(np.int8)
    voting = worlds.vote_of(tables)
    rows = rng.integers(0, 50, 20_000)[:, None]
    lazy = LazyClassifier(voting, mode, block_size=1, random_state=0)
    # The history of the vote took 2400 bytes per row.
    assert peak(lazy.fit, rows) < 250


def test_members_of_a_list_are_added_up_one_by_one():
    tables = worlds.coins(np.random.default_rng(0), 100, np.full(50, 0.5))
    pool = worlds.vote_of(tables).estimators_
    rows = np.resize(np.arange(50), 20_000)[:, None]
    assert peak(LazyClassifier(pool, random_state=0).fit, rows, tables[0]) < 400


def test_ties_are_settled_by_what_the_members_have_said():
    """And not by asking all of them again, where the ensemble adds up in order."""
    asked = []

    class Counted(worlds.Lookup):
        def predict(self, X):
            asked.append(len(X))
            return super().predict(X)

    # Thirds add up with rounding; halves would be counted.
    voting = worlds.vote_of(np.array([[0, 0], [1, 0], [2, 0]]), weights=[np.pi] * 3)
    voting.estimators_ = [Counted(member.table) for member in voting.estimators_]
    lazy = LazyClassifier(voting).fit()
    asked.clear()
    assert lazy.predict([[0.0]]).tolist() == [0]
    assert asked == [1, 1, 1]
