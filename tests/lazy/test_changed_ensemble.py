"""An ensemble that is another one than fit has seen is noticed, whatever changed it."""

import copy
import pickle
import re

import numpy as np
import pytest
from quorate.ensembles._fingerprint import TURNS
from sklearn.datasets import load_wine
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    ExtraTreesClassifier,
    RandomForestClassifier,
    VotingClassifier,
)
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.tree import DecisionTreeClassifier

import quorate
from quorate import LazyClassifier
from quorate.ensembles import fingerprint, read_ensemble
from quorate.lazy._classifier import _FEW_ROWS

# Whatever the rows are that calibrate: answers are compared here, not promises.
pytestmark = pytest.mark.filterwarnings(
    "ignore::quorate.exceptions.TrainingVotesWarning"
)

X, Y = load_wine(return_X_y=True)
OTHER = (Y + 1) % 3  # what it learns when it is fitted again


def voting(**options):
    members = [
        ("tree", DecisionTreeClassifier(max_depth=2)),
        ("nb", GaussianNB()),
        ("stump", DecisionTreeClassifier(max_depth=1)),
    ]
    return VotingClassifier(members, **options)


def pool():
    return [DecisionTreeClassifier(max_depth=depth) for depth in (1, 2, 3)]


MODELS = {
    "forest": lambda: RandomForestClassifier(9, random_state=0),
    "extra trees": lambda: ExtraTreesClassifier(9, random_state=0),
    "bagging": lambda: BaggingClassifier(n_estimators=9, random_state=0),
    "bagged bayes": lambda: BaggingClassifier(GaussianNB(), 5, random_state=0),
    "boosting": lambda: AdaBoostClassifier(n_estimators=9, random_state=0),
    "voting": voting,
    "pipeline": lambda: make_pipeline(MinMaxScaler(), RandomForestClassifier(9)),
    "pruned": lambda: quorate.PrunedClassifier(RandomForestClassifier(9), keep=5),
}


def expect_a_sentence(lazy):
    for method in (lazy.predict, lazy.members_asked, lazy.predict_proba, lazy.curve):
        with pytest.raises(
            NotFittedError, match=r"fitted again or changed .* fit this"
        ):
            method(X)


def expect_its_answer(lazy, model):
    lazy.fit()
    np.testing.assert_array_equal(lazy.predict(X), model.predict(X))


@pytest.mark.parametrize("kind", MODELS)
def test_fitted_again_in_place(kind):
    model = MODELS[kind]().fit(X, Y)
    lazy = LazyClassifier(model).fit()
    np.testing.assert_array_equal(lazy.predict(X), model.predict(X))
    model.fit(X, OTHER)
    expect_a_sentence(lazy)
    expect_its_answer(lazy, model)


@pytest.mark.parametrize("kind", ["forest", "extra trees", "bagging"])
def test_grown_by_warm_start(kind):
    model = MODELS[kind]().set_params(warm_start=True).fit(X, Y)
    lazy = LazyClassifier(model, random_state=0).fit()
    model.set_params(n_estimators=19)
    np.testing.assert_array_equal(lazy.predict(X), model.predict(X))  # not yet grown
    model.fit(X, OTHER)
    expect_a_sentence(lazy)
    expect_its_answer(lazy, model)


def _weights(model):
    model.estimator_weights_[:] = 1.0


@pytest.mark.parametrize(
    ("model", "change"),
    [
        (voting(), lambda model: model.set_params(voting="soft")),
        (voting(), lambda model: model.set_params(weights=[1, 5, 1])),
        (voting(weights=[1, 1, 1]), lambda model: model.weights.__setitem__(1, 5)),
        (voting(weights=[1, 5, 1]), lambda model: model.set_params(nb="drop")),
        (MODELS["boosting"](), _weights),
        (
            MODELS["pipeline"](),
            lambda model: model.set_params(minmaxscaler=StandardScaler().fit(X)),
        ),
    ],
    ids=["voting", "weights", "a weight", "drop", "boosting weights", "step"],
)
def test_given_other_parameters(model, change):
    model.fit(X, Y)
    lazy = LazyClassifier(model).fit()
    lazy.predict(X)
    change(model)
    expect_a_sentence(lazy)


def test_frozen_and_wrapped_twice():
    inner = MODELS["forest"]().fit(X, Y)
    for outer in (FrozenEstimator(inner), LazyClassifier(inner)):
        lazy = LazyClassifier(outer).fit()
        lazy.predict(X)
        inner.fit(X, Y)
        expect_a_sentence(lazy)


@pytest.mark.parametrize("is_dict", [False, True])
def test_members_of_a_pool(is_dict):
    members = [member.fit(X, Y) for member in pool()]
    given = {str(place): member for place, member in enumerate(members)}
    given = given if is_dict else members
    lazy = LazyClassifier(given).fit()
    lazy.predict(X)
    members[1].fit(X, OTHER)  # the same object, another tree
    expect_a_sentence(lazy)
    lazy.fit().predict(X)
    piped = [make_pipeline(MinMaxScaler(), GaussianNB()).fit(X, Y) for _ in range(3)]
    lazy = LazyClassifier(piped).fit()
    lazy.predict(X)
    piped[0].fit(X, OTHER)
    expect_a_sentence(lazy)


def test_another_ensemble_by_set_params():
    forest, other = (MODELS["forest"]().fit(X, y) for y in (Y, OTHER))
    lazy = LazyClassifier(forest).fit()
    lazy.set_params(ensemble=other)
    expect_a_sentence(lazy)
    lazy.set_params(ensemble=GaussianNB().fit(X, Y))
    expect_a_sentence(lazy)
    lazy.set_params(ensemble=forest)
    np.testing.assert_array_equal(lazy.predict(X), forest.predict(X))


@pytest.mark.parametrize("store", ["pickle", "copy", "skops"])
def test_noticed_after_a_file_as_well(store, tmp_path):
    from skops.io import get_untrusted_types

    def again(lazy):
        if store == "pickle":
            return pickle.loads(pickle.dumps(lazy))
        if store == "copy":
            return copy.deepcopy(lazy)
        path = tmp_path / "lazy.skops"
        quorate.save(lazy, path)
        return quorate.load(path, trusted=get_untrusted_types(file=path))

    forest = MODELS["forest"]().fit(X, Y)
    lazy = LazyClassifier(forest, "calibrated", epsilon=0.1, random_state=0).fit(X)
    read = again(lazy)
    np.testing.assert_array_equal(read.predict(X), lazy.predict(X))
    read.ensemble.fit(X, OTHER)
    expect_a_sentence(read)
    read = again(lazy)
    read.ensemble.fit(X, OTHER)  # before it was ever used
    expect_a_sentence(read)
    forest.fit(X, OTHER)  # before it was stored
    read = again(lazy)
    expect_a_sentence(read)
    expect_a_sentence(again(read))
    np.testing.assert_array_equal(read.fit(X).predict(X), lazy.fit(X).predict(X))


def test_a_fit_that_fails_leaves_no_trace():
    forest = MODELS["forest"]().fit(X, Y)
    lazy = LazyClassifier(forest, "calibrated", epsilon=0.1, random_state=0).fit(X)
    forest.fit(X, OTHER)
    with pytest.raises(ValueError, match="cannot certify"):
        lazy.fit(X[:3])
    expect_a_sentence(lazy)


def test_parameters_count_from_the_next_fit_on():
    forest = MODELS["forest"]().fit(X, Y)
    lazy = LazyClassifier(forest, random_state=0).fit()
    asked = lazy.members_asked(X)
    lazy.set_params(mode="calibrated", confidence=0.6)
    for one in (lazy, pickle.loads(pickle.dumps(lazy))):
        np.testing.assert_array_equal(one.members_asked(X), asked)
        assert one.curve(X).mode == "exact"


def test_what_does_not_change_the_answer_is_not_complained_about():
    for kind, make in MODELS.items():
        model = make().fit(X, Y)
        before = fingerprint(model)
        model.predict(X)
        assert before.matches(fingerprint(model)), kind
    bagging = MODELS["bagging"]().fit(X, Y)
    lazy = LazyClassifier(bagging).fit()
    bagging.set_params(n_jobs=2)
    np.testing.assert_array_equal(lazy.predict(X), bagging.predict(X))


def test_with_a_turn_one_tree_in_so_many_is_looked_into():
    forest = MODELS["forest"]().fit(X, Y)
    before = fingerprint(forest)
    forest.estimators_[1].fit(X, OTHER)
    assert before.holds(forest, turn=0)
    assert not before.holds(forest, turn=1)
    assert not before.holds(forest)


def test_the_turns_are_those_that_are_told_of():
    told = re.search(
        r"batches of up to (\d+) samples after at most (\d+) predictions",
        re.sub(r"\s+", " ", LazyClassifier.__doc__),
    )
    assert told.groups() == (str(_FEW_ROWS), str(TURNS))


@pytest.mark.parametrize("n_rows", [1, 65])
@pytest.mark.parametrize("is_wrapped", [False, True])
def test_columns_of_a_member_edited_in_place(is_wrapped, n_rows):
    bagging = BaggingClassifier(n_estimators=70, max_features=0.5, random_state=0)
    bagging.fit(X, Y)
    model = FrozenEstimator(bagging) if is_wrapped else bagging
    for place in (0, 69):
        lazy = LazyClassifier(model).fit()
        lazy.predict(X[:n_rows])
        columns = bagging.estimators_features_[place]
        columns[:] = columns[::-1].copy()
        n_calls = (place - 1) % TURNS if n_rows == 1 and not is_wrapped else 0
        for _ in range(n_calls):  # the first turn was before
            lazy.predict(X[:n_rows])
        with pytest.raises(NotFittedError, match="fitted again or changed"):
            lazy.predict(X[:n_rows])
        expect_its_answer(lazy, bagging)


def test_columns_of_some_members_only():
    bagging = BaggingClassifier(n_estimators=6, max_features=0.5, random_state=0)
    kept = read_ensemble(bagging.fit(X, Y))
    voting = quorate.WeightedVoting.of(kept, [0, 1, 2], [1.0, 2.0, 3.0])
    voting.features_[0] = None
    before = fingerprint(voting)
    assert before.holds(voting)
    assert before.matches(fingerprint(voting))
    voting.features_[2][0] += 1
    assert not before.holds(voting)
    assert before.holds(voting, turn=1)
    assert not before.holds(voting, turn=2)
    assert not before.matches(fingerprint(voting))
    voting.features_[2][0] -= 1
    assert before.holds(voting)
    for other in ([*voting.features_[:2], voting.features_[2].copy()], None, []):
        voting.features_ = other
        assert not before.holds(voting)
        assert not before.matches(fingerprint(voting))


class Slotted:
    """A member without attributes that anybody could list."""

    __slots__ = ()

    def predict(self, X):
        return np.zeros(len(X), dtype=int)


def test_members_after_one_that_shows_nothing_are_looked_into():
    members = [Slotted(), DecisionTreeClassifier(max_depth=2).fit(X, Y)]
    before = fingerprint(members)
    assert before.matches(fingerprint(members))
    members[1].fit(X, OTHER)
    assert not before.matches(fingerprint(members))
