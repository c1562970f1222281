"""New weights in smaller ensembles: what they predict is the weighted vote."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_wine
from sklearn.ensemble import BaggingClassifier, RandomForestClassifier, VotingClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

import quorate
from quorate.ensembles import read_ensemble

X, Y = load_wine(return_X_y=True)
X, Y = DATA = X, np.array(["rosé", "white", "red"])[Y]
MEMBERS, WEIGHTS = [1, 2, 5], [0.5, 0.2, 0.3]


@pytest.mark.parametrize(
    "ensemble",
    [
        RandomForestClassifier(8, max_depth=2, random_state=0),
        BaggingClassifier(n_estimators=8, max_features=0.4, random_state=0),
        BaggingClassifier(n_estimators=8, max_samples=4, random_state=0),  # few classes
        VotingClassifier(
            [(str(d), DecisionTreeClassifier(max_depth=d)) for d in range(1, 9)],
            voting="soft",
        ),
    ],
)
def test_weighted_mean_of_probabilities(ensemble):
    ensemble.fit(X, Y)
    small = quorate.keep_members(ensemble, MEMBERS, WEIGHTS)
    votes = quorate.collect_votes(ensemble, X, Y, probabilities=True).keep(MEMBERS)
    mean = np.tensordot(WEIGHTS, votes.probabilities, axes=1)
    np.testing.assert_allclose(small.predict_proba(X), mean, atol=1e-6)
    assert len(small.estimators_) == 3
    assert len(ensemble.estimators_) == 8
    again = pickle.loads(pickle.dumps(small))
    np.testing.assert_array_equal(again.predict_proba(X), small.predict_proba(X))
    one = quorate.keep_members(small, [2])
    expected = quorate.collect_votes(one, X, Y).predict()
    np.testing.assert_array_equal(one.predict(X), expected)


def test_frames_give_no_warnings():
    frame = pd.DataFrame(X).add_prefix("f")
    forest = RandomForestClassifier(8, random_state=0).fit(frame, Y)
    small = quorate.keep_members(forest, MEMBERS, WEIGHTS)
    small.predict(frame)
    assert small.feature_names_in_.tolist() == list(frame)
    with pytest.raises(ValueError, match="feature names"):
        small.predict(frame.rename(columns={"f0": "other"}))
    with pytest.raises(ValueError, match="feature names"):
        small.predict(frame.iloc[:, :5])


def test_lists_and_dicts_with_weights_become_a_model():
    pool = {"a": GaussianNB().fit(X, Y), "b": DecisionTreeClassifier().fit(X, Y)}
    assert quorate.keep_members(pool, [1]) == {"b": pool["b"]}
    weighted = quorate.keep_members(pool, [1, 0], [0.8, 0.2])
    assert weighted.weights == {"b": 0.8, "a": 0.2}
    expected = 0.8 * pool["b"].predict_proba(X) + 0.2 * pool["a"].predict_proba(X)
    np.testing.assert_allclose(weighted.predict_proba(X), expected, atol=1e-12)


class TestWeightedVoting:
    def test_fits_anew(self):
        forest = RandomForestClassifier(8, random_state=0).fit(X, Y)
        small = quorate.keep_members(forest, MEMBERS, WEIGHTS)
        again = clone(small).fit(X[:, :6], Y)
        assert again.n_features_in_ == 6
        assert again.score(X[:, :6], Y) > 0.9

    def test_not_fitted(self):
        voting = quorate.ensembles.WeightedVoting({"nb": GaussianNB()})
        assert not hasattr(voting, "n_features_in_")

    def test_heads_have_no_probabilities(self):
        bagging = BaggingClassifier(LinearSVC(), 8, random_state=0).fit(X, Y)
        hard = quorate.keep_members(bagging, MEMBERS, WEIGHTS)
        assert hard.weights == dict(zip("125", WEIGHTS, strict=True))
        assert not hasattr(hard, "predict_proba")


@pytest.mark.parametrize("pool", [False, True], ids=["forest", "list"])
def test_no_probability_is_above_one(pool):
    X, y = np.repeat([[0.0], [1.0]], 20, axis=0), np.repeat([0, 1], 20)
    forest = RandomForestClassifier(12, bootstrap=False, random_state=0).fit(X, y)
    trees = read_ensemble([DecisionTreeClassifier().fit(X, y) for _ in range(12)])
    rng = np.random.default_rng(0)
    over = 0
    for _ in range(40):
        weights, everyone = rng.random(12), np.arange(12)
        if pool:
            model = quorate.ensembles.WeightedVoting.of(trees, everyone, weights)
        else:
            model = quorate.keep_members(forest, everyone, weights)
        shares = model.predict_proba(X)
        assert shares.max() <= 1
        np.testing.assert_allclose(shares.sum(axis=1), 1, rtol=1e-15)
        # All are certain: what they add up to may round to more than all weights.
        over += sum(weights.tolist()) > weights.sum()
    assert over
