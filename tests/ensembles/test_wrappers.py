"""Models of scikit-learn with an ensemble inside, pruned there or named."""

import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_wine
from sklearn.ensemble import RandomForestClassifier, StackingClassifier
from sklearn.exceptions import NotFittedError
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.model_selection import (
    FixedThresholdClassifier,
    GridSearchCV,
    HalvingGridSearchCV,
    RandomizedSearchCV,
    TunedThresholdClassifierCV,
)
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier
from sklearn.multioutput import MultiOutputClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.semi_supervised import SelfTrainingClassifier
from tests.cli.shell import run

import quorate
from quorate.results import VoteSource

X, Y = DATA = load_wine(return_X_y=True)
FOREST = RandomForestClassifier(10, random_state=0)


DEPTHS = {"max_depth": [3, None]}


@pytest.mark.parametrize(
    "search",
    [
        GridSearchCV(FOREST, DEPTHS, cv=2),
        RandomizedSearchCV(FOREST, DEPTHS, n_iter=1, cv=2, random_state=0),
        HalvingGridSearchCV(FOREST, DEPTHS, cv=2, random_state=0),
        make_pipeline(StandardScaler(), GridSearchCV(FOREST, DEPTHS, cv=2)),
    ],
    ids=lambda search: type(search).__name__,
)
def test_a_search_is_read_as_its_best_estimator(search):
    search.fit(X, Y)
    votes = quorate.collect_votes(search, X, Y)
    np.testing.assert_array_equal(votes.predict(), search.predict(X))
    assert votes.source is VoteSource.TRAINING
    small = quorate.prune(search, X, Y, "mdm", keep=3)
    forest = small[-1] if isinstance(small, Pipeline) else small
    assert type(forest) is RandomForestClassifier
    assert len(forest.estimators_) == 3
    assert small.pruning_["chosen_on"] == "out-of-bag votes"
    lazy = quorate.LazyClassifier(search).fit()
    np.testing.assert_array_equal(lazy.predict(X), search.predict(X))
    assert quorate.compare(search, small, X[:9], Y[:9], source="new").n_samples == 9


def test_a_search_is_fitted_and_pruned_by_a_pruned_classifier():
    search = GridSearchCV(FOREST, DEPTHS, cv=2)
    model = quorate.PrunedClassifier(search, keep=3, random_state=0).fit(X, Y)
    assert type(model.estimator_) is RandomForestClassifier
    assert len(model.estimator_.estimators_) == 3


def test_a_saved_search_is_pruned_at_the_shell(tmp_path):
    X, y = load_wine(return_X_y=True, as_frame=True)
    quorate.save(GridSearchCV(FOREST, DEPTHS, cv=2).fit(X, y), tmp_path / "big.skops")
    X.assign(kind=y).to_csv(tmp_path / "wine.csv", index=False)
    big, data, out = (tmp_path / n for n in ("big.skops", "wine.csv", "small.skops"))
    run("prune", big, data, "--target", "kind", "--keep", 3, "-o", out)
    small = quorate.load(out)
    assert type(small) is RandomForestClassifier
    assert len(small.estimators_) == 3


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (CalibratedClassifierCV(FOREST, cv=2), "the estimator of one of its calib"),
        (FixedThresholdClassifier(FOREST), "its estimator_"),
        (TunedThresholdClassifierCV(FOREST, cv=2), "its estimator_"),
        (OneVsRestClassifier(FOREST), "its estimators_ one by one, with y == their"),
        (SelfTrainingClassifier(FOREST), "its estimator_"),
        (OneVsOneClassifier(FOREST), "its estimators_ one by one, with rows of"),
        (
            StackingClassifier([("nb", GaussianNB())], cv=2),
            "its estimators_ one by one, or a dict .* named_estimat",
        ),
    ],
    ids=lambda given: type(given).__name__ if hasattr(given, "fit") else "",
)
@pytest.mark.filterwarnings("ignore:y contains no unlabeled")
def test_the_attribute_to_pass_is_named(model, message):
    rows = Y < 2
    given = model.fit(X[rows], Y[rows]), X[rows], Y[rows]
    for call in (quorate.collect_votes, quorate.report, quorate.prune):
        said = f"^{type(model).__name__} decides by more than a vote .*; pass {message}"
        with pytest.raises(TypeError, match=said) as why:
            call(*given)
        assert "prune" not in str(why.value)  # which only one of them does


def test_a_search_that_is_not_fitted():
    with pytest.raises(NotFittedError, match="no best_estimator_; fit it first"):
        quorate.prune(GridSearchCV(FOREST, {"max_depth": [2]}), X, Y)


def test_several_outputs():
    model = MultiOutputClassifier(FOREST).fit(X, np.stack([Y, Y == 1], axis=1))
    with pytest.raises(TypeError, match="pass its estimators_ one by one"):
        quorate.collect_votes(model, X, Y)


def test_one_class_of_many_is_pruned_as_the_sentence_says():
    model = OneVsRestClassifier(FOREST).fit(X[::2], Y[::2])
    small = quorate.prune(model.estimators_[1], X[1::2], Y[1::2] == 1, "mdm", keep=3)
    assert len(small.estimators_) == 3
    assert np.mean(small.predict(X[1::2]) == (Y[1::2] == 1)) > 0.9
