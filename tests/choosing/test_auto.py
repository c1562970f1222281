"""The automatic method: what it takes, what it records, what comes out."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    ExtraTreesClassifier,
    RandomForestClassifier,
    VotingClassifier,
)
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import quorate
from quorate.exceptions import TrainingVotesWarning


@pytest.fixture(scope="module")
def data():
    X, y = load_breast_cancer(return_X_y=True)
    y = np.array(["malign", "benign"])[y]
    return X[:300], y[:300], X[300:], y[300:]


def pool():
    return VotingClassifier(
        [
            ("nb", GaussianNB()),
            ("tree", DecisionTreeClassifier(max_depth=2, random_state=0)),
            ("linear", make_pipeline(StandardScaler(), LogisticRegression())),
            ("deep", DecisionTreeClassifier(random_state=0)),
        ],
        voting="soft",
    )


KINDS = {
    "forest": (RandomForestClassifier(40, random_state=0), "BrierSelection"),
    "bagging": (BaggingClassifier(n_estimators=40, random_state=0), "BrierSelection"),
    "no bootstrap": (ExtraTreesClassifier(40, random_state=0), "Herding"),
    "boosting": (AdaBoostClassifier(n_estimators=40, random_state=0), "SparseWeights"),
}


@pytest.mark.parametrize("name", KINDS)
def test_on_training_data(name, data):
    X, y, X_test, y_test = data
    ensemble, method = KINDS[name]
    ensemble.fit(X, y)
    small, selection = quorate.prune(ensemble, X, y, keep=0.2, return_selection=True)
    assert type(small) is type(ensemble)
    assert small.pruning_["method"] == type(selection.pruner).__name__ == method
    assert small.pruning_["auto"]
    assert selection.auto
    assert f"{method} (auto)" in repr(selection)
    assert 1 <= len(small.estimators_) <= 8
    assert small.score(X_test, y_test) > 0.85


def test_on_held_out_samples(data):
    X, y, X_test, y_test = data
    voting = pool().fit(X, y)
    small = quorate.prune(voting, X_test, y_test, keep=2)
    assert small.pruning_["method"] == "SimplexWeights"
    assert small.weights == pytest.approx(small.pruning_["weights"])
    assert sum(small.weights) == pytest.approx(1)
    votes = quorate.collect_votes(voting, X_test, probabilities=True)
    kept = small.pruning_["kept"]
    mean = np.tensordot(small.weights, votes.probabilities[kept], axes=1)
    np.testing.assert_allclose(small.predict_proba(X_test), mean, atol=1e-6)


def test_pool_without_a_vote_of_its_own(data):
    X, y, X_test, y_test = data
    members = dict(pool().fit(X, y).named_estimators_)
    members = {name: m for name, m in members.items() if name != "linear"}
    labels = np.searchsorted(["benign", "malign"], y_test)
    small, selection = quorate.prune(
        members, X_test, labels, keep=2, return_selection=True
    )
    assert selection.auto
    assert selection.weights.shape == (3,)
    assert set(small.estimators) == set(selection.names)
    assert small.weights == pytest.approx(selection.weights_by_name)


@pytest.mark.slow
@pytest.mark.parametrize("size", [{"keep": "auto"}, {"tolerance": 0.05}])
@pytest.mark.parametrize("name", KINDS)
def test_other_sizes(name, size, data):
    X, y, X_test, y_test = data
    ensemble = KINDS[name][0].fit(X, y)
    if quorate.collect_votes(ensemble, X, y, "auto").source == "training votes":
        with pytest.raises(ValueError, match="the size cannot be found"):
            quorate.prune(ensemble, X, y, **size)
        X, y = X_test, y_test
    small, selection = quorate.prune(ensemble, X, y, **size, return_selection=True)
    assert selection.curve is not None
    assert 1 <= len(small.estimators_) == selection.n_kept <= 40
    assert selection.kept.error() <= selection.votes.error() + 0.1


def test_explanation_knows_weights(data):
    X, y, X_test, y_test = data
    boosting = AdaBoostClassifier(n_estimators=40, random_state=0).fit(X, y)
    small, selection = quorate.prune(boosting, X, y, keep=6, return_selection=True)
    test = quorate.collect_votes(boosting, X_test, y_test)
    told = {row["what"]: row for row in selection.explain(test).comparison}
    assert told["kept"]["accuracy"] == pytest.approx(small.score(X_test, y_test))
    assert selection.weights.sum() == pytest.approx(1)
    few = quorate.prune(boosting, X, y, budget={"nodes": 21})
    assert sum(tree.tree_.node_count for tree in few.estimators_) <= 21
    assert quorate.compare(boosting, small, X_test, y_test).members[0] == 40


def test_weights_turn_a_forest_into_a_weighted_vote(data):
    X, y, X_test, y_test = data
    forest = RandomForestClassifier(30, random_state=0).fit(X, y)
    small = quorate.prune(forest, X, y, "ges", keep=5, random_state=0)
    assert isinstance(small, quorate.ensembles.WeightedVoting)
    assert small.pruning_["auto"] is False  # the method has a name
    assert small.pruning_["weights"] == pytest.approx(small.weights_)
    assert quorate.compare(forest, small, X_test, y_test).agreement > 0.8


def test_pools_still_warn_of_training_votes(data):
    X, y, *_ = data
    with pytest.warns(TrainingVotesWarning, match="ReducedError"):
        quorate.prune(pool().fit(X, y), X, y, "re", keep=2)


def test_select_goes_by_what_votes_carry():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 100)
    codes = np.where(rng.random((10, 100)) < 0.7, y, 1 - y)
    selection = quorate.select(quorate.Votes(codes, y), keep=3)
    assert selection.auto
    assert type(selection.pruner).__name__ == "BrierSelection"
    weighted = quorate.Votes(codes, y, weights=np.arange(1.0, 11))
    selection = quorate.select(weighted, keep=3)
    assert type(selection.pruner).__name__ == "SparseWeights"
    assert selection.kept.n_members <= 3
    assert not hasattr(quorate.select(weighted, "best", keep=3).pruner, "weights_")


def test_probabilities_of_trees_take_no_room(data):
    X, y, *_ = data
    pure = RandomForestClassifier(20, random_state=0).fit(X, y)
    _, selection = quorate.prune(pure, X, y, return_selection=True)
    votes = selection.votes
    assert votes.class_probabilities.are_certain
    assert np.shares_memory(votes.class_probabilities.places, votes.codes)
    shallow = RandomForestClassifier(20, max_depth=2, random_state=0).fit(X, y)
    _, selection = quorate.prune(shallow, X, y, return_selection=True)
    places = selection.votes.class_probabilities.places
    assert places.nbytes == selection.votes.codes.nbytes


class TestPrunedClassifier:
    @pytest.mark.parametrize(
        ("inner", "keep", "chosen_on", "method"),
        [
            (AdaBoostClassifier(n_estimators=40, random_state=0), 0.2,
             "training votes", "SparseWeights"),
            (pool(), 2, "votes on new samples", "SimplexWeights"),
        ],
    )  # fmt: skip
    def test_what_boosting_and_pools_choose_on(
        self, inner, keep, chosen_on, method, data
    ):
        X, y, X_test, y_test = data
        model = quorate.PrunedClassifier(inner, keep=keep, random_state=0).fit(X, y)
        record = model.estimator_.pruning_
        assert (record["chosen_on"], record["method"]) == (chosen_on, method)
        assert record["n_samples"] == (300 if chosen_on == "training votes" else 75)
        assert model.score(X_test, y_test) > 0.85

    def test_curve_and_size(self, data):
        X, y, *_ = data
        forest = RandomForestClassifier(30, random_state=0)
        model = quorate.PrunedClassifier(forest, keep="auto").fit(X, y)
        assert model.curve_.sizes[-1] == 30
        assert model.support_.sum() == len(model.estimator_.estimators_)
