"""XGBoost, LightGBM and CatBoost: classifiers and bare boosters as members of pools."""

import pickle

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB

import quorate

from .conftest import library

xgboost = library("xgboost")
lightgbm = library("lightgbm")
catboost = library("catboost")

QUIET = {"verbose": -1, "num_threads": 1}


def coded(y):
    return np.unique(y, return_inverse=True)[1]


@pytest.fixture(scope="module")
def boosters(tumours, wine):
    """Boosters of two and of three classes, what they answer with, and their labels."""
    (X, y), _, _ = tumours
    X3, y3 = wine[0]
    two, three = np.unique(y), np.unique(y3)
    data = lightgbm.Dataset(X, coded(y))
    matrix = xgboost.DMatrix(X, coded(y))
    matrix3 = xgboost.DMatrix(X3, coded(y3))
    soft = {"num_class": 3}
    return {
        "lightgbm": (lightgbm.train({"objective": "binary", **QUIET}, data, 10), two),
        "lightgbm, three": (
            lightgbm.train(
                {"objective": "multiclass", **soft, **QUIET},
                lightgbm.Dataset(X3, coded(y3)),
                10,
            ),
            three,
        ),
        "xgboost": (xgboost.train({"objective": "binary:logistic"}, matrix, 10), two),
        "xgboost, three": (
            xgboost.train({"objective": "multi:softprob", **soft}, matrix3, 10),
            three,
        ),
    }


def own_answers(model, X, classes):
    """Return labels by what the library itself predicts, put together by hand."""
    if isinstance(model, xgboost.Booster):
        given = model.predict(xgboost.DMatrix(X))
    else:
        given = model.predict(X)
    if given.ndim == 2:
        return classes[given.argmax(axis=1)]
    return classes[(given > 0.5).astype(int)]


NAMES = ["lightgbm", "lightgbm, three", "xgboost", "xgboost, three"]


@pytest.mark.parametrize("name", NAMES)
def test_boosters_vote_with_their_labels_and_not_without(name, boosters, tumours, wine):
    model, classes = boosters[name]
    X, y = (tumours if classes.size == 2 else wine)[2]
    member = quorate.as_member(model, classes)
    np.testing.assert_array_equal(member.predict(X), own_answers(model, X, classes))
    votes = quorate.collect_votes({"booster": member}, X, y)
    assert votes.classes[votes.codes[0]].tolist() == member.predict(X).tolist()
    assert votes.accuracy() > 0.85
    again = pickle.loads(pickle.dumps(member))
    np.testing.assert_array_equal(again.predict(X), member.predict(X))
    with pytest.raises(TypeError, match=r"member 'b': .*as_member\(booster, classes="):
        quorate.collect_votes({"b": model}, X, y)


def test_regression_does_not_vote(tumours):
    (X, y), _, _ = tumours
    model = lightgbm.train(
        {"objective": "regression", **QUIET}, lightgbm.Dataset(X, coded(y)), 3
    )
    with pytest.raises(TypeError, match="trained for regression does not vote"):
        quorate.as_member(model, ["bad", "good"])
    assert quorate.as_member(model, ["bad", "good"], "probabilities") is not None


@pytest.fixture(scope="module")
def pool(tumours, boosters):
    (X, y), _, _ = tumours
    return {
        "lightgbm": lightgbm.LGBMClassifier(n_estimators=10, n_jobs=1, verbose=-1).fit(
            X, y
        ),
        "catboost": catboost.CatBoostClassifier(
            20, verbose=0, allow_writing_files=False, thread_count=1
        ).fit(X, y),
        "xgboost": quorate.as_member(*boosters["xgboost"]),
        "xgboost, codes": quorate.as_member(
            xgboost.XGBClassifier(n_estimators=10, n_jobs=1).fit(X, coded(y)),
            ["bad", "good"],
        ),
        "bayes": GaussianNB().fit(X, y),
    }


def test_a_pool_of_all_of_them(pool, tumours):
    _, (X, y), (X_new, y_new) = tumours
    votes = quorate.collect_votes(pool, X, y)
    for row, model in zip(votes.codes, pool.values(), strict=True):
        own = np.asarray(model.predict(X)).ravel()
        np.testing.assert_array_equal(votes.classes[row], own)
    small = quorate.prune(pool, X, y, "simplex", keep=3)
    expected = sum(
        weight * pool[name].predict_proba(X_new)
        for name, weight in small.weights.items()
    )
    np.testing.assert_allclose(small.predict_proba(X_new), expected, atol=1e-6)
    assert small.score(X_new, y_new) > 0.9
    lazy = quorate.LazyClassifier(small).fit()
    np.testing.assert_array_equal(lazy.predict(X_new), small.predict(X_new))


def test_catboost_of_three_classes_answers_in_a_column(wine):
    (X, y), _, (X_new, y_new) = wine
    model = catboost.CatBoostClassifier(
        10, verbose=0, allow_writing_files=False, thread_count=1
    ).fit(X, y)
    assert model.predict(X_new).shape == (len(y_new), 1)
    votes = quorate.collect_votes([model], X_new, y_new)
    np.testing.assert_array_equal(votes.predict(), model.predict(X_new)[:, 0])


def test_catboost_without_classes_gives_scores(tumours):
    (X, y), _, (X_new, y_new) = tumours
    model = catboost.CatBoost(
        {"loss_function": "Logloss", "iterations": 10, "verbose": 0,
         "allow_writing_files": False, "thread_count": 1}
    ).fit(X, coded(y))  # fmt: skip
    with pytest.raises(ValueError, match="is not among the 2 known classes"):
        quorate.collect_votes([model], X_new, coded(y_new))
    member = quorate.as_member(model, ["bad", "good"], "logits")
    expected = np.where(model.predict(X_new) > 0, "good", "bad")
    np.testing.assert_array_equal(member.predict(X_new), expected)


@pytest.mark.parametrize(
    "model",
    [
        xgboost.XGBRFClassifier(n_estimators=5, n_jobs=1),
        xgboost.XGBClassifier(n_estimators=5, n_jobs=1),
        lightgbm.LGBMClassifier(
            boosting_type="rf", bagging_freq=1, bagging_fraction=0.6, n_estimators=5,
            n_jobs=1, verbose=-1,
        ),
        catboost.CatBoostClassifier(5, verbose=0, allow_writing_files=False),
    ],
    ids=lambda model: type(model).__name__,
)  # fmt: skip
def test_trees_that_add_up_are_one_member(model, tumours):
    (X, y), _, _ = tumours
    model.fit(X, coded(y))
    with pytest.raises(TypeError, match="as a whole it can be a member") as refusal:
        quorate.collect_votes(model, X, coded(y))
    is_served = "CatBoost" not in type(model).__name__
    assert ("quorate.compact" in str(refusal.value)) == is_served
    votes = quorate.collect_votes([model], X, coded(y))
    np.testing.assert_array_equal(votes.predict(), np.asarray(model.predict(X)).ravel())


def test_trees_of_a_lightgbm_forest_can_be_measured(tumours):
    """The detour of the guide: votes, diversity and a choice, but no smaller model."""
    (X, y), _, (X_new, y_new) = tumours
    forest = lightgbm.LGBMClassifier(
        boosting_type="rf", bagging_freq=1, bagging_fraction=0.6, n_estimators=9,
        n_jobs=1, verbose=-1,
    ).fit(X, y)  # fmt: skip
    booster = forest.booster_
    trees = [
        quorate.as_member(
            lambda X, t=t: booster.predict(X, start_iteration=t, num_iteration=1),
            forest.classes_,
            "probabilities",
        )
        for t in range(booster.num_trees())
    ]
    votes = quorate.collect_votes(trees, X_new, y_new)
    raw = [
        booster.predict(X_new, start_iteration=t, num_iteration=1, raw_score=True)
        for t in range(9)
    ]
    mean = np.mean(raw, axis=0)
    np.testing.assert_array_equal(mean > 0, forest.predict(X_new) == "good")
    np.testing.assert_array_equal(votes.codes, np.array(raw) > 0)
    assert quorate.select(votes, "mdm", keep=3).n_kept == 3
    assert 0 <= quorate.diversity(votes)["disagreement"] < 0.5
