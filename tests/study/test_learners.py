"""Ensembles by name: scaled or raw features, and boosting by draws."""

import numpy as np
import pytest
from sklearn.datasets import load_wine
from sklearn.pipeline import Pipeline
from tests.study.plans import small_plan

import quorate
from quorate.study import EnsembleSpec, Plan
from quorate.study._learners import LEARNERS, ResampledAdaBoost, make_ensemble

INDIFFERENT = ("tree", "stump", "naive_bayes")


@pytest.fixture
def wine():
    X, y = load_wine(return_X_y=True)
    return X[y > 0], y[y > 0] - 1


@pytest.mark.parametrize("learner", LEARNERS)
def test_only_learners_that_need_it_are_scaled(learner):
    scaled = make_ensemble("bagging", learner, 3, 0)
    raw = make_ensemble("bagging", learner, 3, 0, scaled=False)
    assert isinstance(scaled.estimator, Pipeline) == (learner not in INDIFFERENT)
    assert not isinstance(raw.estimator, Pipeline)
    if isinstance(scaled.estimator, Pipeline):
        assert repr(scaled.estimator[-1]) == repr(raw.estimator)


def test_raw_features_are_another_problem(wine):
    X, y = wine
    raw, scaled = (
        make_ensemble("bagging", "svm", 5, 0, scaled=scaled).fit(X[::2], y[::2])
        for scaled in (False, True)
    )
    # By heart: on new rows all kernels are near 0, and the majority wins.
    assert raw.score(X[::2], y[::2]) > 0.85
    assert raw.score(X[1::2], y[1::2]) < 0.75 < 0.95 < scaled.score(X[1::2], y[1::2])


def test_boosting_by_draws_takes_learners_without_weights(wine):
    X, y = wine
    with pytest.raises(ValueError, match=r"knn does not take .*'resampled_adaboost'"):
        make_ensemble("adaboost", "knn", 5, 0)
    boosted = make_ensemble("resampled_adaboost", "knn", 9, 0, scaled=False).fit(X, y)
    again = make_ensemble("resampled_adaboost", "knn", 9, 0, scaled=False).fit(X, y)
    votes = quorate.collect_votes(boosted, X, y, source="training")
    np.testing.assert_array_equal(boosted.predict(X), again.predict(X))
    np.testing.assert_array_equal(boosted.predict(X), votes.predict())
    np.testing.assert_array_equal(votes.weights, boosted.estimator_weights_)
    assert boosted.score(X, y) > max(votes.accuracies)


class Recorder:
    """A stump by hand that keeps what it saw: class 1 where the feature is above."""

    def __init__(self, seen=None):
        self.seen = seen

    def get_params(self, deep=True):
        return {"seen": self.seen}

    def __sklearn_clone__(self):
        return Recorder(self.seen)

    def fit(self, X, y):
        self.seen.append((X[:, 0].copy(), y.copy()))
        return self

    def predict(self, X):
        return (X[:, 0] > 5.5).astype(int)


def test_weights_of_draws_by_hand():
    """Ten rows, two of which the member gets wrong: they come to weigh more."""
    X = np.arange(10.0)[:, None]
    y = (X[:, 0] > 3.5).astype(int)  # rows 4 and 5 are wrong
    seen = []
    boosted = ResampledAdaBoost(Recorder(seen), n_estimators=3, random_state=0)
    boosted.fit(X, y)
    strength = 0.5 * np.log2(0.8 / 0.2)
    left, right = 0.8 * np.exp(-strength), 0.2 * np.exp(strength)
    second = right / (left + right)
    assert second > 0.5  # so the second member is drawn 21 times, and then kept
    np.testing.assert_allclose(boosted.estimator_errors_, [0.2, 0.4999, 0.4999])
    assert len(seen) == 1 + 21 + 21
    for drawn, labels in seen:  # each class as often as it occurs, never another label
        assert np.bincount(labels).tolist() == [4, 6]
        np.testing.assert_array_equal(labels, drawn > 3.5)
    later = np.concatenate([drawn for drawn, _ in seen[1:]])
    share = np.isin(later, (4, 5)).sum() / (later > 3.5).sum()
    within = right / (right + 0.4 * np.exp(-strength))
    assert share == pytest.approx(within, abs=0.1)


def test_an_ensemble_for_some_data_sets():
    ensembles = EnsembleSpec("bagging", only=("iris",)), EnsembleSpec("random_forest")
    both = small_plan(data=("wine", "iris", "digits"), ensembles=ensembles, folds=2)
    trained = [(unit.data.label, unit.ensemble.kind) for unit in both.units()]
    assert trained.count(("iris", "bagging")) == 2
    assert ("wine", "bagging") not in trained
    assert len(trained) == both.n_fits == 2 * (1 + 3)
    assert Plan.from_dict(both.to_dict()) == both


def test_a_quick_plan_keeps_ensembles_that_have_data():
    names = ("wine", "iris", "digits", "breast_cancer", "twonorm")
    ensembles = (
        EnsembleSpec("bagging", "svm", only=("twonorm",)),
        EnsembleSpec("bagging", "sgd", only=("iris", "twonorm"), scaled=False),
    )
    quick = small_plan(data=names, ensembles=ensembles).quick()
    assert [one.only for one in quick.ensembles] == [("iris",)]
    assert quick.ensembles[0].name == "bagging of sgd, raw features, 20"
