"""LazyClassifier among scikit-learn's tools: files, copies, refusals, odd input."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, clone, is_classifier
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import (
    AdaBoostClassifier,
    RandomForestClassifier,
    VotingClassifier,
)
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import parametrize_with_checks
from sklearn.utils.validation import check_is_fitted
from tests.lazy.zoo import Sayer

import quorate
from quorate import LazyClassifier
from quorate.exceptions import QuorateWarning, TrainingVotesWarning


class Trained(ClassifierMixin, BaseEstimator):
    """Trains an ensemble first, so that scikit-learn can check what is around it."""

    def __init__(self, mode="exact"):
        self.mode = mode

    def fit(self, X, y):
        forest = RandomForestClassifier(12, random_state=0).fit(X, y)
        self.lazy_ = LazyClassifier(forest, self.mode, random_state=0).fit(X)
        self.classes_, self.n_features_in_ = self.lazy_.classes_, forest.n_features_in_
        if hasattr(forest, "feature_names_in_"):
            self.feature_names_in_ = self.lazy_.feature_names_in_
        return self

    def predict(self, X):
        check_is_fitted(self)
        return self.lazy_.predict(X)

    def predict_proba(self, X):
        check_is_fitted(self)
        return self.lazy_.predict_proba(X)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags = get_tags(LazyClassifier(RandomForestClassifier())).input_tags
        return tags


@parametrize_with_checks([Trained(), Trained("bayes")])
@pytest.mark.filterwarnings("ignore")
def test_scikit_learn_accepts_it(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def data():
    X, y = load_breast_cancer(return_X_y=True)
    return X[:300], np.array(["benign", "malign"])[y[:300]], X[300:]


@pytest.fixture(scope="module")
def forest(data):
    X, y, _ = data
    return RandomForestClassifier(60, random_state=0).fit(X, y)


def test_it_says_what_it_does(forest, data):
    lazy = LazyClassifier(forest, random_state=0).fit(data[2])
    asked = lazy.members_asked(data[2])
    assert asked.shape == (len(data[2]),)
    assert asked.min() == 30  # half of them: a tie goes to the lowest class
    assert asked.max() <= 60
    assert lazy.measured_members_ == asked.mean()
    assert lazy.expected_disagreement_ == lazy.measured_disagreement_ == 0
    assert lazy.threshold_ is None
    assert sorted(lazy.order_) == list(range(60))
    np.testing.assert_array_equal(lazy.classes_, forest.classes_)
    assert lazy.n_features_in_ == 30
    assert not hasattr(lazy, "feature_names_in_")


def test_bayes_reports_its_promise_and_what_it_measured(forest, data):
    lazy = LazyClassifier(forest, "bayes", 0.95, random_state=0).fit()
    assert lazy.expected_disagreement_ == pytest.approx(0.05)
    assert lazy.measured_disagreement_ is None
    lazy.fit(data[2])
    changed = lazy.predict(data[2]) != forest.predict(data[2])
    assert lazy.measured_disagreement_ == changed.mean() <= 0.05
    assert lazy.measured_members_ == lazy.members_asked(data[2]).mean() < 20


def test_members_that_do_not_vote_as_assumed_are_noticed():
    # In the given order the first half knows only one thing, the second the opposite.
    X = np.array([[0.0], [1.0]])
    yes = DecisionTreeClassifier().fit(X, [1, 1])
    no = DecisionTreeClassifier().fit(X, [0, 0])
    pool = [yes] * 30 + [no] * 31
    with pytest.warns(QuorateWarning, match=r"50 of 50 predictions change\)"):
        LazyClassifier(pool, "bayes", order="given").fit(np.zeros((50, 1)))


def test_scores_are_those_of_the_members_asked(forest, data):
    lazy = LazyClassifier(forest, "bayes", random_state=0).fit()
    shares, asked = lazy.predict_proba(data[2]), lazy.members_asked(data[2])
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    for row in (0, 50, 100):
        trees = [forest.estimators_[m] for m in lazy.order_[: asked[row]]]
        mean = np.mean([t.predict_proba(data[2][[row]])[0] for t in trees], axis=0)
        np.testing.assert_allclose(shares[row], mean)


def test_wide_rows_are_copied_less_often_and_come_out_the_same():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 2000)).astype(np.float32)
    y = (X[:, :400].sum(axis=1) > 0).astype(int)
    forest = RandomForestClassifier(50, random_state=0).fit(X[:100], y[:100])
    lazy = LazyClassifier(
        forest, "bayes", 0.9, block_size=1, random_state=0, engine="numpy"
    ).fit()
    whole, asked = lazy.predict(X), lazy.members_asked(X)
    for row in range(100, 120):
        assert lazy.members_asked(X[[row]]) == asked[row]
        assert lazy.predict(X[[row]]) == whole[row]


# Odd input


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_frames_reach_the_members_as_frames(data, frame):
    X, y, new = data
    names = [f"column {place}" for place in range(30)]
    X, new = (frame(dict(zip(names, part.T, strict=True))) for part in (X, new))
    voting = VotingClassifier(
        [("nb", GaussianNB()), ("tree", DecisionTreeClassifier()), ("b", GaussianNB())]
    ).fit(X, y)
    lazy = LazyClassifier(voting, block_size=1).fit()
    np.testing.assert_array_equal(lazy.predict(new), voting.predict(new))


def test_one_class_and_one_member():
    X = np.arange(10.0)[:, None]
    one = RandomForestClassifier(5).fit(X, ["only"] * 10)
    lazy = LazyClassifier(one, "bayes").fit(X)
    assert lazy.predict(X).tolist() == ["only"] * 10
    assert lazy.members_asked(X).mean() == lazy.measured_members_ < 5
    np.testing.assert_array_equal(lazy.predict_proba(X), np.ones((10, 1)))
    for alone in (RandomForestClassifier(1), AdaBoostClassifier(n_estimators=1)):
        alone.fit(X, X[:, 0] > 4)
        for mode in ("exact", "bayes", "all"):
            lazy = LazyClassifier(alone, mode).fit()
            np.testing.assert_array_equal(lazy.predict(X), alone.predict(X))
            assert lazy.members_asked(X).tolist() == [1] * 10


# Pools


def test_members_that_only_predict(data):
    X, y, new = data
    trees = [
        DecisionTreeClassifier(max_features=3, random_state=seed).fit(X, y)
        for seed in range(7)
    ]
    pool = {f"sayer {place}": Sayer(tree) for place, tree in enumerate(trees)}
    lazy = LazyClassifier(pool).fit(X)
    votes = quorate.collect_votes(pool, new, np.resize(y, len(new)))
    np.testing.assert_array_equal(lazy.predict(new), votes.predict())
    again = pickle.loads(pickle.dumps(lazy))
    np.testing.assert_array_equal(again.predict(new), lazy.predict(new))


# scikit-learn's tools


def test_copies_share_the_fitted_ensemble(forest):
    lazy = LazyClassifier(forest, "bayes", 0.9, random_state=3).fit()
    copy = clone(lazy)
    assert copy.ensemble is forest
    assert copy.get_params() == lazy.get_params()
    assert not [name for name in lazy.get_params() if "__" in name]
    assert not hasattr(copy, "order_")
    with pytest.raises(NotFittedError):
        check_is_fitted(copy)


@pytest.mark.parametrize("n_rows", [1, 64, 65])
def test_before_fit_every_answer_is_refused_in_the_same_words(forest, n_rows):
    lazy = LazyClassifier(forest)
    rows = np.zeros((n_rows, 30))
    for one in (lazy, clone(lazy), pickle.loads(pickle.dumps(lazy))):
        for ask in (one.predict, one.predict_proba, one.members_asked):
            with pytest.raises(NotFittedError, match="LazyClassifier instance is not"):
                ask(rows)


def test_searching_and_scoring(forest, data):
    X, y, _ = data
    search = GridSearchCV(
        LazyClassifier(forest, "bayes", random_state=0),
        {"confidence": [0.6, 0.999]},
        cv=2,
    ).fit(X, y)
    assert search.best_score_ > 0.95
    assert search.best_estimator_.ensemble is forest
    scores = cross_val_score(LazyClassifier(forest), X, y, cv=2)
    assert (scores == 1).all()
    calibrated = CalibratedClassifierCV(FrozenEstimator(LazyClassifier(forest).fit()))
    assert calibrated.fit(X, y).predict_proba(X).shape == (300, 2)


def test_in_a_pipeline_and_around_one(data):
    X, y, new = data
    scaler = StandardScaler().fit(X)
    inner = RandomForestClassifier(30, random_state=0).fit(scaler.transform(X), y)
    outside = make_pipeline(scaler, LazyClassifier(inner)).fit(X, y)
    whole = make_pipeline(scaler, inner)
    np.testing.assert_array_equal(outside.predict(new), whole.predict(new))
    around = LazyClassifier(whole).fit()
    np.testing.assert_array_equal(around.predict(new), whole.predict(new))
    assert around.n_features_in_ == 30


def test_tags(forest):
    lazy = LazyClassifier(forest)
    assert is_classifier(lazy)
    tags = get_tags(lazy)
    assert tags.input_tags.allow_nan == get_tags(forest).input_tags.allow_nan
    assert not tags.target_tags.required
    assert is_classifier(LazyClassifier([GaussianNB()]))


def test_pickles_hold_no_tables(forest, data):
    lazy = LazyClassifier(forest, "bayes", random_state=0).fit()
    stored = pickle.dumps(lazy)
    assert len(stored) < len(pickle.dumps(forest)) + 5000
    again = pickle.loads(stored)
    for found in ("predict", "members_asked"):
        np.testing.assert_array_equal(
            getattr(again, found)(data[2]), getattr(lazy, found)(data[2])
        )


def test_on_top_of_a_pruned_classifier(data):
    X, y, new = data
    pruned = quorate.PrunedClassifier(RandomForestClassifier(30), random_state=0)
    with pytest.raises(NotFittedError):
        LazyClassifier(pruned).fit()
    for model in (pruned.fit(X, y), make_pipeline(StandardScaler(), pruned).fit(X, y)):
        lazy = LazyClassifier(model).fit()
        np.testing.assert_array_equal(lazy.predict(new), model.predict(new))


# Order and blocks


def test_boosting_asks_the_weighty_first(data):
    X, y, new = data
    boosting = AdaBoostClassifier(n_estimators=30, random_state=0).fit(X, y)
    heavy = LazyClassifier(boosting).fit()
    weights = boosting.estimator_weights_[heavy.order_]
    assert (np.diff(weights) <= 0).all()
    agreeing = LazyClassifier(boosting).fit(new)
    whole = boosting.predict(new)
    agreement = [np.mean(m.predict(new) == whole) for m in boosting.estimators_]
    worth = (boosting.estimator_weights_ * agreement)[agreeing.order_]
    assert (np.diff(worth) <= 1e-12).all()
    given = LazyClassifier(boosting, order="given").fit()
    assert agreeing.members_asked(new).mean() < given.members_asked(new).mean()


def test_order_and_blocks_as_told(forest, data):
    backwards = np.arange(60)[::-1]
    with pytest.warns(QuorateWarning, match="this order may put the weak ones"):
        lazy = LazyClassifier(forest, "bayes", order=backwards, block_size=7).fit()
    np.testing.assert_array_equal(lazy.order_, backwards)
    assert set(lazy.members_asked(data[2])) <= {7, 14, 21, 28, 35, 42, 49, 56, 60}
    random = [LazyClassifier(forest, random_state=s).fit().order_ for s in (0, 0, 1)]
    np.testing.assert_array_equal(random[0], random[1])
    assert (random[0] != random[2]).any()


# Refusals


def test_too_few_samples_to_certify(forest, data):
    lazy = LazyClassifier(forest, "calibrated")
    with pytest.raises(ValueError, match=r"198 samples are too few.* 199.*0\.0051 "):
        lazy.fit(data[2][:198])
    assert lazy.fit(data[2][:199]).expected_disagreement_ == 1 / 200


def test_calibrating_on_the_training_samples_is_noticed(forest, data):
    X, y, new = data
    lazy = LazyClassifier(forest, "calibrated")
    for rows in ((X, y), (X,)):
        with pytest.warns(TrainingVotesWarning, match="there is no guarantee, because"):
            lazy.fit(*rows)
        assert lazy.expected_disagreement_ is None
    lazy.fit(new, np.resize(y, len(new)))
    assert lazy.expected_disagreement_ is not None


def test_weights_below_zero(data):
    X, y, new = data
    members = [
        (f"{seed}", DecisionTreeClassifier(max_depth=1 + seed)) for seed in range(5)
    ]
    voting = VotingClassifier(members, weights=[3, -1, 2, 1, -2]).fit(X, y)
    np.testing.assert_array_equal(
        LazyClassifier(voting).fit().predict(new), voting.predict(new)
    )
