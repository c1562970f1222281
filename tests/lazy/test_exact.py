"""Exact mode answers as the ensemble does, whatever the ensemble and the data."""

import gzip
import os
from pathlib import Path
from unittest import mock

import numpy as np
import pandas as pd
import pytest
from joblib import parallel_config
from sklearn.datasets import make_classification
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    RandomForestClassifier,
)
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier
from tests.lazy.zoo import UNFITTED, draw_data, draw_ensemble, own_answer

from quorate import LazyClassifier

BESIDE = Path(__file__).parents[3] / "shared" / "data"
FOLDER = Path(os.environ.get("QUORATE_DATA", BESIDE))
FILES = sorted(FOLDER.glob("*.csv.gz"))
# Times 17 kinds of ensembles.
ROUNDS = [range(10), pytest.param(range(20), marks=pytest.mark.slow)]


@pytest.mark.filterwarnings("ignore:.*SAMME")
@pytest.mark.parametrize("rounds", ROUNDS, ids=["some", "all"])
@pytest.mark.parametrize("kind", UNFITTED)
def test_exact_is_the_ensemble(kind, rounds):
    saved = 0
    for seed in rounds:
        rng = np.random.default_rng([seed, len(kind)])
        X, y = draw_data(rng)
        ensemble = draw_ensemble(kind, rng, X, y)
        rows = rng.integers(0, 6, (120, X.shape[1])).astype(float)
        lazy = LazyClassifier(
            ensemble,
            order=rng.choice(["auto", "given", "random"]),
            block_size=int(rng.integers(1, 4)),
            random_state=0,
        ).fit()
        found, expected = lazy.predict(rows), own_answer(ensemble, rows)
        np.testing.assert_array_equal(found, expected)
        assert found.dtype == expected.dtype
        saved += (lazy.members_asked(rows) < lazy.n_members_).sum()
    assert saved > 0  # and it does not simply ask everyone


def read(path, n_rows=600):
    with gzip.open(path) as file:
        frame = pd.read_csv(file)
    frame = frame.sample(min(n_rows, len(frame)), random_state=0)
    y = frame.pop(frame.columns[-1]).astype(str).to_numpy()
    for name in frame.columns:
        if not pd.api.types.is_numeric_dtype(frame[name]):
            frame[name] = frame[name].astype("category").cat.codes
    return frame.fillna(-1).to_numpy(dtype=float), y


@pytest.mark.slow
@pytest.mark.skipif(not FILES, reason=f"no data sets in {FOLDER}")
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name.split(".")[0])
def test_exact_is_the_ensemble_on_real_data(path):
    X, y = read(path)
    half = len(y) // 2
    for ensemble in (
        RandomForestClassifier(24, random_state=0),
        BaggingClassifier(DecisionTreeClassifier(), 16, random_state=0),
        AdaBoostClassifier(
            DecisionTreeClassifier(max_depth=2), n_estimators=15, random_state=0
        ),
    ):
        ensemble.fit(X[:half], y[:half])
        lazy = LazyClassifier(ensemble).fit()
        np.testing.assert_array_equal(lazy.predict(X), ensemble.predict(X))


@pytest.mark.parametrize("is_parallel", [False, True])
def test_almost_equal_sums_are_settled_as_the_ensemble_does(is_parallel):
    """Flat leaves of thirds and sixths: sums that differ by rounding only.

    Workers of bagging add up their own parts first; where rounding decides, it is
    asked.
    """
    rng = np.random.default_rng(3)
    X = rng.integers(0, 2, (300, 3)).astype(float)
    y = rng.integers(0, 3, 300)
    turned = np.r_[X, X, X], np.r_[y, (y + 1) % 3, (y + 2) % 3]
    flat = {"max_depth": 2, "class_weight": "balanced"}
    ties = 0
    for seed in range(10):
        options = {"bootstrap": False, "random_state": seed}
        ensemble = RandomForestClassifier(30, **flat, **options)
        if is_parallel:
            tree = DecisionTreeClassifier(**flat)
            ensemble = BaggingClassifier(tree, 30, n_jobs=2, **options)
        with parallel_config("threading"):
            ensemble.fit(*turned)
            lazy = LazyClassifier(ensemble, random_state=seed).fit()
            np.testing.assert_array_equal(lazy.predict(X), ensemble.predict(X))
            top = np.sort(ensemble.predict_proba(X), axis=1)[:, -2:]
        ties += int((np.diff(top) < 1e-12).sum())
    assert ties > 1000


@pytest.mark.parametrize(("room", "times"), [(2**20, 1), (0, 2)])
def test_ties_ask_no_member_twice(room, times, monkeypatch):
    """Unless what members answered takes too much room to keep."""
    X, y = make_classification(300, flip_y=0.4, random_state=0)
    ensemble = BaggingClassifier(KNeighborsClassifier(3), 20, random_state=0)
    ensemble.fit(X[:50], y[:50])
    own = ensemble.predict(X)
    assert (np.ptp(ensemble.predict_proba(X), axis=1) < 1e-9).any()
    lazy = LazyClassifier(ensemble, random_state=0).fit()
    monkeypatch.setattr("quorate._engine._voter._KEPT_NUMBERS", room)
    plain = KNeighborsClassifier.predict_proba
    counted = mock.create_autospec(plain, side_effect=plain)
    with mock.patch.object(KNeighborsClassifier, "predict_proba", counted):
        np.testing.assert_array_equal(lazy.predict(X), own)
    assert counted.call_count == 20 * times


def test_half_a_vote_is_enough_when_the_tie_favours_the_leader():
    X = np.array([[0.0], [1.0]])
    low = DecisionTreeClassifier().fit(X, [0, 0])
    split = DecisionTreeClassifier().fit(X, [0, 1])
    pool = [low, low, split, split]
    lazy = LazyClassifier(pool, order="given", block_size=1).fit()
    assert lazy.predict([[1.0]]) == [0]
    assert lazy.members_asked([[1.0]]) == [2]  # 2 : 2 would go to the lowest class
    high = LazyClassifier(pool, order=[2, 3, 0, 1], block_size=1).fit()
    assert high.predict([[1.0]]) == [0]
    assert high.members_asked([[1.0]]) == [4]
