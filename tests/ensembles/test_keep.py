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
    BaggingClassifier,
    ExtraTreesClassifier,
    RandomForestClassifier,
    VotingClassifier,
)
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

import quorate
from quorate import prune
from quorate._ensembles import find_record, keep_members, places_among, read_ensemble
from quorate.pruning import MarginDistance


def tree(**options):
    return DecisionTreeClassifier(max_depth=4, random_state=0, **options)


def members():
    return [
        ("nb", GaussianNB()),
        ("gone", "drop"),
        ("tree", tree()),
        ("knn", KNeighborsClassifier(algorithm="brute")),  # search trees count calls
        ("lr", LogisticRegression(max_iter=500)),
    ]


KINDS = {
    "forest": RandomForestClassifier(12, random_state=0, oob_score=True),
    "extra trees": ExtraTreesClassifier(12, random_state=0),
    "bagging": BaggingClassifier(tree(), 12, random_state=0, oob_score=True),
    "subspace": BaggingClassifier(tree(), 12, max_features=0.5, random_state=0),
    "bagged svc": BaggingClassifier(LinearSVC(), 8, random_state=0),
    "adaboost": AdaBoostClassifier(tree(), n_estimators=12, random_state=0),
    "hard voting": VotingClassifier(members(), weights=[1, 9, 2, 3, 4]),
    "soft voting": VotingClassifier(members(), voting="soft"),
    "pipeline": make_pipeline(
        StandardScaler(), RandomForestClassifier(12, random_state=0)
    ),
}
PROBLEMS = {
    "two classes": (2, np.array(["no", "yes"])),
    "five classes": (5, np.array(["ant", "bee", "cow", "dog", "eel"])),
    "numbers": (2, np.array([1, 7])),
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
        return {kind: clone(model).fit(X, y) for kind, model in KINDS.items()}


def last(model):
    return model[-1] if hasattr(model, "steps") else model


def count(model):
    return len(last(model).estimators_)


@pytest.mark.filterwarnings("ignore::quorate.exceptions.TrainingVotesWarning")
@pytest.mark.parametrize("kind", KINDS)
class TestEachKind:
    def test_keeping_everybody_predicts_the_same(self, kind, fitted, data):
        X, y, X_test, _ = data
        before = fitted[kind]
        after = prune(before, X, y, "es", keep=count(before))  # keeps weights too
        assert type(after) is type(before)
        assert after is not before
        np.testing.assert_array_equal(after.predict(X_test), before.predict(X_test))
        for name in ("predict_proba", "decision_function"):
            if hasattr(before, name):
                np.testing.assert_array_equal(
                    getattr(after, name)(X_test), getattr(before, name)(X_test)
                )

    def test_a_subset_votes_as_by_hand(self, kind, fitted, data):
        X, y, X_test, y_test = data
        before = fitted[kind]
        after = prune(before, X, y, method="best", keep=3)
        kept = after.pruning_["kept"]
        assert count(after) == 3
        expected = by_hand(before, kept, X_test)
        np.testing.assert_array_equal(after.predict(X_test), expected)
        votes = quorate.collect_votes(after, X_test, y_test)
        whole = quorate.collect_votes(before, X_test, y_test)
        np.testing.assert_array_equal(votes.codes, whole.codes[kept])

    def test_the_original_is_untouched(self, kind, fitted, data):
        X, y, _X_test, _ = data
        before = fitted[kind]
        before.predict(X)  # some members remember their first prediction
        size, text = count(before), pickle.dumps(before)
        prune(before, X, y, "mdm", keep=2)
        assert count(before) == size
        assert pickle.dumps(before) == text

    def test_parameters_agree_with_members(self, kind, fitted, data):
        X, y, _, _ = data
        after = last(prune(fitted[kind], X, y, "mdm", keep=3))
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

    @pytest.mark.filterwarnings("ignore:Some inputs do not have OOB")
    @pytest.mark.filterwarnings("ignore:invalid value encountered")
    def test_clone_and_refit(self, kind, fitted, data):
        X, y, X_test, _ = data
        after = prune(fitted[kind], X, y, "mdm", keep=3)
        again = clone(after).fit(X, y)
        assert count(again) == 3
        assert not hasattr(again, "pruning_")
        again.predict(X_test)
        after.get_params()
        assert "<" in after._repr_html_()

    def test_pickle(self, kind, fitted, data):
        X, y, X_test, _ = data
        after = prune(fitted[kind], X, y, "mdm", keep=3)
        again = pickle.loads(pickle.dumps(after))
        np.testing.assert_array_equal(again.predict(X_test), after.predict(X_test))
        record = len(pickle.dumps(find_record(after)))
        assert len(pickle.dumps(after)) < len(pickle.dumps(fitted[kind])) + record

    def test_a_record_says_which_members_are_left(self, kind, fitted, data):
        X, y, *_ = data
        before = fitted[kind]
        after = prune(before, X, y, method="best", keep=3)
        again = pickle.loads(pickle.dumps(after))
        for model in (after, again, FrozenEstimator(after)):
            pair = read_ensemble(model), read_ensemble(before)
            assert places_among(model, *pair).tolist() == after.pruning_["kept"]

    def test_record(self, kind, fitted, data):
        X, y, _, _ = data
        record = prune(fitted[kind], X, y, MarginDistance(p=0.1), keep=3).pruning_
        assert record["method"] == "MarginDistance"
        assert record["parameters"] == {"p": 0.1}
        assert record["size"] == "keep=3"
        assert record["n_members"] == count(fitted[kind])
        assert sorted(record["order"]) == record["kept"]
        assert record["versions"]["quorate"] == quorate.__version__
        assert all(isinstance(member, int) for member in record["kept"])


def by_hand(model, kept, X):
    """Vote with some members the way the ensemble documents its vote."""
    if hasattr(model, "steps"):
        return by_hand(model[-1], kept, model[:-1].transform(X))
    chosen = [model.estimators_[t] for t in kept]
    n_classes = len(model.classes_)
    if isinstance(model, VotingClassifier):
        names = [place for place, (_, m) in enumerate(model.estimators) if m != "drop"]
        weights = [
            1 if model.weights is None else model.weights[names[t]] for t in kept
        ]
        if model.voting == "soft":
            mean = np.average(
                [m.predict_proba(X) for m in chosen], axis=0, weights=weights
            )
            return model.classes_[mean.argmax(axis=1)]
        score = np.zeros((len(X), n_classes))
        for member, weight in zip(chosen, weights, strict=True):
            score[np.arange(len(X)), member.predict(X)] += weight
        return model.classes_[score.argmax(axis=1)]
    if isinstance(model, AdaBoostClassifier):
        score = np.zeros((len(X), n_classes))
        for t, member in zip(kept, chosen, strict=True):
            hit = member.predict(X)[:, None] == model.classes_
            # SAMME: the weight for the class voted for, shared out against the others
            weight = model.estimator_weights_[t]
            score += np.where(hit, weight, -weight / (n_classes - 1))
        if n_classes == 2:
            return model.classes_[(score[:, 1] - score[:, 0] > 0).astype(int)]
        return model.classes_[score.argmax(axis=1)]
    columns = getattr(model, "estimators_features_", None)
    total = np.zeros((len(X), n_classes))
    for t, member in zip(kept, chosen, strict=True):
        seen = X if columns is None else X[:, columns[t]]
        if hasattr(member, "predict_proba"):
            total += member.predict_proba(seen)
        else:
            total[np.arange(len(X)), member.predict(seen).astype(int)] += 1
    return model.classes_[total.argmax(axis=1)]


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

    def test_steps_of_a_pipeline_are_shared(self, fitted, data):
        X, y, _, _ = data
        after = prune(fitted["pipeline"], X, y, keep=3)
        assert after.steps[0][1] is fitted["pipeline"].steps[0][1]
        assert [name for name, _ in after.steps] == [
            name for name, _ in fitted["pipeline"].steps
        ]

    def test_staged_predictions_of_boosting(self, fitted, data):
        X, y, X_test, _ = data
        after = prune(fitted["adaboost"], X, y, method="oo", keep=4)
        assert len(list(after.staged_predict(X_test))) == 4

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

    @pytest.mark.parametrize("voting", ["hard", "soft"])
    def test_voting(self, voting):
        X, y = load_wine(return_X_y=True)
        members = [
            ("deep", DecisionTreeClassifier(random_state=0)),
            ("bayes", GaussianNB()),
            ("stump", DecisionTreeClassifier(max_depth=1, random_state=0)),
        ]
        model = VotingClassifier(members, voting=voting, weights=[0, 1, 0])
        model.fit(X[::2], y[::2])
        votes = quorate.collect_votes(model, X[1::2], y[1::2])
        small = keep_members(model, [0, 2])
        assert small.weights is None
        np.testing.assert_array_equal(
            small.predict(X[1::2]), votes.keep([0, 2]).predict()
        )
        kept = keep_members(model, [0, 1])
        assert kept.weights == [0, 1]

    def test_boosting(self):
        X, y = load_wine(return_X_y=True)
        model = AdaBoostClassifier(n_estimators=4, random_state=0).fit(X[::2], y[::2])
        model.estimator_weights_[[0, 2]] = 0
        small = keep_members(model, [0, 2])
        votes = quorate.collect_votes(model, X[1::2], y[1::2])
        np.testing.assert_array_equal(
            small.predict(X[1::2]), votes.keep([0, 2]).predict()
        )


GROWING = {
    "forest": RandomForestClassifier(12),
    "extra trees": ExtraTreesClassifier(12),
    "bagging": BaggingClassifier(DecisionTreeClassifier(), 12),
}


class TestGrowingAgain:
    """Members drawn by ``warm_start`` are others than those kept."""

    @pytest.mark.slow
    @pytest.mark.parametrize("seed", [0, np.int64(7), 2**32 - 1, None, "generator"])
    @pytest.mark.parametrize("early", [True, False], ids=["before", "after"])
    @pytest.mark.parametrize("kind", GROWING)
    def test_no_member_twice(self, kind, early, seed):
        X, y = load_wine(return_X_y=True)
        if seed == "generator":
            seed = np.random.RandomState(0)
        whole = clone(GROWING[kind]).set_params(random_state=seed, warm_start=early)
        whole.fit(X, y)
        for members in ([1, 5, 6, 7], [11, 2], [0, 1, 2], [2, 0, 1], range(12)):
            small = keep_members(whole, members)
            fewer = keep_members(small, [1])
            for model in (small, fewer, pickle.loads(pickle.dumps(small))):
                model.set_params(warm_start=True, n_estimators=20).fit(X, y)
                seeds = [tree.random_state for tree in model.estimators_]
                assert len(set(seeds)) == 20
        assert whole.random_state is seed or whole.random_state == seed

    def test_what_seed_a_smaller_one_has(self):
        X, y = load_wine(return_X_y=True)
        for model in GROWING.values():
            whole = clone(model).set_params(random_state=3).fit(X, y)
            # The first ones go on as they would have gone on.
            first = keep_members(whole, range(4))
            assert first.random_state == 3
            first.set_params(warm_start=True, n_estimators=12).fit(X, y)
            seeds = [tree.random_state for tree in whole.estimators_]
            assert [tree.random_state for tree in first.estimators_] == seeds
            some, same = (keep_members(whole, [3, 5]) for _ in range(2))
            assert some.random_state == same.random_state != 3
            assert isinstance(some.random_state, int)
            assert some.random_state != keep_members(whole, [3, 6]).random_state
            others = {"n_estimators", "random_state"}
            for name, value in whole.get_params(deep=False).items():
                assert name in others or getattr(some, name) is value

    def test_what_cannot_grow_keeps_its_seed(self):
        X, y = load_wine(return_X_y=True)
        boosted = AdaBoostClassifier(n_estimators=5, random_state=3).fit(X, y)
        assert keep_members(boosted, [1, 4]).random_state == 3


def test_the_record_of_pruning_begins_with_a_sentence():
    X, y = load_wine(return_X_y=True)
    forest = RandomForestClassifier(20, random_state=0).fit(X, y)
    record = quorate.prune(forest, X, y, "mdm", keep=4).pruning_
    said = (
        "4 of 20 members kept by MarginDistance (keep=4), on out-of-bag votes of "
        f"{record['n_samples']} samples"
    )
    assert next(iter(record.items())) == ("summary", said)
    # A plain dict, so that files of the forest need no type of quorate.
    assert type(record) is dict
    distilled = quorate.prune(forest, X, y, "mdm", keep=4, distil=True)
    assert distilled.pruning_["summary"] == f"{said}, then distilled"
