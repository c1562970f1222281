"""Smaller ensembles of the same type, from every kind of ensemble."""

import gc
import pickle
import warnings
import weakref

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_wine, make_classification
from sklearn.ensemble import (
    AdaBoostClassifier,
    RandomForestClassifier,
    VotingClassifier,
)
from sklearn.frozen import FrozenEstimator
from sklearn.naive_bayes import GaussianNB
from tests.ensembles.kinds import KINDS, tree

import quorate
from quorate import prune
from quorate._ensembles import find_record, keep_members, places_among
from quorate.ensembles import read_ensemble
from quorate.pruning import MarginDistance

X, Y = DATA = load_wine(return_X_y=True)
PROBLEMS = {
    "two classes": (2, np.array(["no", "yes"])),
    "five classes": (5, np.array(["ant", "bee", "cow", "dog", "eel"])),
}


@pytest.fixture(scope="module", params=PROBLEMS)
def data(request):
    n_classes, labels = PROBLEMS[request.param]
    X, y = make_classification(
        400, 10, n_informative=6, n_classes=n_classes, random_state=0, flip_y=0.1
    )
    return X[:300], labels[y[:300]], X[300:], labels[y[300:]]


@pytest.fixture(scope="module")
def fitted(data):
    X, y, _, _ = data
    with warnings.catch_warnings():
        # 12 members are few for scikit-learn's own out-of-bag scores
        warnings.filterwarnings("ignore", "Some inputs do not have OOB")
        warnings.filterwarnings("ignore", "invalid value encountered")
        found = {kind: clone(model) for kind, model in KINDS.items()}
        for kind in ("forest", "bagging"):
            found[kind].set_params(oob_score=True)
        return {kind: model.fit(X, y) for kind, model in found.items()}


def last(model):
    return model[-1] if hasattr(model, "steps") else model


def count(model):
    return len(last(model).estimators_)


@pytest.mark.filterwarnings("ignore::quorate.exceptions.TrainingVotesWarning")
@pytest.mark.parametrize("kind", KINDS)
class TestEachKind:
    """Beside what ``check_ensemble`` asks of every kind, of predictions above all."""

    def test_keeping_everybody_predicts_the_same(self, kind, fitted, data):
        X, y, X_test, _ = data
        before = fitted[kind]
        after = prune(before, X, y, "es", keep=count(before))  # keeps weights too
        assert after is not before
        for name in ("predict", "predict_proba", "decision_function"):
            if hasattr(before, name):
                np.testing.assert_array_equal(
                    getattr(after, name)(X_test), getattr(before, name)(X_test)
                )

    def test_the_original_is_untouched(self, kind, fitted, data):
        X, y, *_ = data
        before = fitted[kind]
        before.predict(X)  # some members remember their first prediction
        text = pickle.dumps(before)
        prune(before, X, y, "mdm", keep=2)
        assert pickle.dumps(before) == text

    def test_parameters_agree_with_members(self, kind, fitted, data):
        X, y, X_test, _ = data
        small = prune(fitted[kind], X, y, "mdm", keep=3)
        record = len(pickle.dumps(find_record(small)))
        assert len(pickle.dumps(small)) < len(pickle.dumps(fitted[kind])) + record
        after = last(small)
        if isinstance(after, VotingClassifier):
            assert len(after.estimators) == len(after.estimators_) == 3
            assert list(after.named_estimators_) == [
                name for name, _ in after.estimators
            ]
            assert after.weights is None or len(after.weights) == 3
        else:
            assert after.n_estimators == len(after.estimators_) == 3
        assert not hasattr(after, "oob_score_")
        assert not hasattr(after, "oob_decision_function_")
        if isinstance(after, AdaBoostClassifier):
            assert len(after.estimator_weights_) == len(after.estimator_errors_) == 3
        # Of scikit-learn's own out-of-bag scores.
        with warnings.catch_warnings(action="ignore"):
            again = clone(small).fit(X, y)
        assert count(again) == 3
        assert not hasattr(again, "pruning_")
        again.predict(X_test)
        assert "<" in small._repr_html_()

    def test_the_record_says_which_members_are_left(self, kind, fitted, data):
        X, y, *_ = data
        before = fitted[kind]
        after = prune(before, X, y, MarginDistance(p=0.1), keep=3)
        record = after.pruning_
        assert record["method"] == "MarginDistance"
        assert record["parameters"] == {"p": 0.1}
        assert record["size"] == "keep=3"
        assert record["n_members"] == count(before)
        assert sorted(record["order"]) == record["kept"]
        assert record["versions"]["quorate"] == quorate.__version__
        assert all(isinstance(member, int) for member in record["kept"])
        again = pickle.loads(pickle.dumps(after))
        for model in (after, again, FrozenEstimator(after)):
            pair = read_ensemble(model), read_ensemble(before)
            assert places_among(model, *pair).tolist() == record["kept"]


class TestDetails:
    @pytest.mark.parametrize("kind", ["bagging", "subspace", "forest"])
    def test_samples_and_features(self, kind, fitted, data):
        X, y, _, _ = data
        before = fitted[kind]
        after = prune(before, X, y, keep=4, distil=False)
        for name in ("estimators_samples_", "estimators_features_"):
            if hasattr(before, name):
                now, whole = getattr(after, name), getattr(before, name)
                for one, member in zip(now, after.pruning_["kept"], strict=True):
                    np.testing.assert_array_equal(one, whole[member])
        # it can be asked for out-of-bag votes again
        with pytest.warns(quorate.exceptions.LeftOutWarning):
            again = quorate.collect_votes(after, X, y, out_of_bag=True)
        assert again.n_members == 4

    def test_importances(self, fitted, data):
        X, y, _, _ = data
        for kind in ("forest", "extra trees", "adaboost"):
            after = prune(fitted[kind], X, y, method="oo", keep=3)
            importances = after.feature_importances_
            assert importances.shape == (10,)
            assert importances.sum() == pytest.approx(1)
        assert len(list(after.staged_predict(X))) == 3
        after = prune(fitted["pipeline"], X, y, keep=3)
        assert after.steps[0] == fitted["pipeline"].steps[0]

    def test_nothing_of_the_others_is_retained(self, data):
        X, y, _, _ = data
        forest = RandomForestClassifier(20, random_state=0).fit(X, y)
        after = prune(forest, X, y, keep=2)
        trees = [weakref.ref(tree) for tree in forest.estimators_]
        del forest
        gc.collect()
        left = [tree() for tree in trees if tree() is not None]
        assert all(any(tree is one for one in after.estimators_) for tree in left)

    def test_order_of_members_is_kept(self, fitted):
        after = keep_members(fitted["forest"], np.array([5, 2]))
        assert after.estimators_ == [fitted["forest"].estimators_[t] for t in (5, 2)]


class TestMembersWithoutWeight:
    """Members that are left without any weight vote as equals."""

    @pytest.mark.parametrize("kind", ["hard", "soft", "boosting"])
    def test_they_vote(self, kind):
        members = [
            ("deep", tree(max_leaf_nodes=9)),
            ("bayes", GaussianNB()),
            ("stump", tree(max_features=1)),
        ]
        model = AdaBoostClassifier(n_estimators=4, random_state=0)
        if kind != "boosting":
            model = VotingClassifier(members, voting=kind, weights=[0, 1, 0])
        model.fit(X[::2], Y[::2])
        if kind == "boosting":
            model.estimator_weights_[[0, 2]] = 0
        votes = quorate.collect_votes(model, X[1::2], Y[1::2])
        small = keep_members(model, [0, 2])
        expected = votes.keep([0, 2]).predict()
        np.testing.assert_array_equal(small.predict(X[1::2]), expected)
        if kind != "boosting":
            assert small.weights is None
            assert keep_members(model, [0, 1]).weights == [0, 1]


def test_the_record_of_pruning_begins_with_a_sentence():
    forest = RandomForestClassifier(20, random_state=0).fit(X, Y)
    record = quorate.prune(forest, X, Y, "mdm", keep=4).pruning_
    said = (
        "4 of 20 members kept by MarginDistance (keep=4), on out-of-bag votes of "
        f"{record['n_samples']} samples"
    )
    assert next(iter(record.items())) == ("summary", said)
    # A plain dict, so that files of the forest need no type of quorate.
    assert type(record) is dict
    distilled = quorate.prune(forest, X, Y, "mdm", keep=4, distil=True)
    assert distilled.pruning_["summary"] == f"{said}, then distilled"
