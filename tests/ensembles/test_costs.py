"""Sizes are those of models."""

import pickle

import pytest
from sklearn.datasets import load_iris
from sklearn.ensemble import BaggingClassifier, RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier

import quorate
from quorate._ensembles import pickled_bytes

MODELS = {
    "tree": DecisionTreeClassifier(random_state=0),
    "forest": RandomForestClassifier(5, random_state=0),
    "bagging": BaggingClassifier(
        DecisionTreeClassifier(), n_estimators=5, random_state=0
    ),
}


@pytest.fixture(scope="module")
def a_tree():
    return DecisionTreeClassifier(random_state=0).fit(*load_iris(return_X_y=True))


@pytest.mark.parametrize("name", MODELS)
def test_the_size_is_that_of_the_pickle(name):
    model = MODELS[name].fit(*load_iris(return_X_y=True))
    assert pickled_bytes(model) == len(pickle.dumps(model, 5))


def test_a_part_that_occurs_twice_counts_once(a_tree):
    assert pickled_bytes([a_tree, a_tree]) < 1.1 * pickled_bytes(a_tree)


class Slow(DecisionTreeClassifier):
    """Takes a while by a clock of its own."""

    now, seconds, n_calls = 0.0, 0.0, 0

    def predict(self, X):
        Slow.now += Slow.seconds
        Slow.n_calls += 1
        return super().predict(X)


@pytest.mark.parametrize(("seconds", "n_calls"), [(0.01, 5), (0.7, 1)])
def test_long_times_are_measured_once(seconds, n_calls, monkeypatch):
    X, y = load_iris(return_X_y=True)
    model, other = (Slow(max_depth=depth).fit(X[::2], y[::2]) for depth in (1, 2))
    monkeypatch.setattr("time.perf_counter", lambda: Slow.now)
    monkeypatch.setattr(Slow, "seconds", seconds)
    monkeypatch.setattr(Slow, "n_calls", 0)
    compared = quorate.compare(model, other, X[1::2], y[1::2])
    assert compared.predict_milliseconds[:2] == pytest.approx((1e3 * seconds,) * 2)
    assert Slow.n_calls == 2 * (n_calls + 1)  # and once for the accuracy
