"""imbalanced-learn: balanced forests, bagging, boosting, pipelines with samplers."""

import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import quorate
from quorate.exceptions import CoverageWarning
from quorate.results import VoteSource
from quorate.testing import check_ensemble

from .conftest import library

imblearn = library("imblearn")

from imblearn.combine import SMOTEENN, SMOTETomek  # noqa: E402
from imblearn.ensemble import (  # noqa: E402
    BalancedBaggingClassifier,
    BalancedRandomForestClassifier,
    EasyEnsembleClassifier,
    RUSBoostClassifier,
)
from imblearn.over_sampling import SMOTE, RandomOverSampler  # noqa: E402
from imblearn.pipeline import make_pipeline  # noqa: E402
from imblearn.under_sampling import (  # noqa: E402
    EditedNearestNeighbours,
    RandomUnderSampler,
)

FOREST = RandomForestClassifier(12, random_state=0)
STUMP = DecisionTreeClassifier(max_depth=1)
SEEDED = {"random_state": 0}
OUT_OF_BAG = {
    "balanced forest": BalancedRandomForestClassifier(12, **SEEDED),
    "balanced forest, trees draw again": BalancedRandomForestClassifier(
        12, bootstrap=True, **SEEDED
    ),
    "balanced bagging": BalancedBaggingClassifier(n_estimators=12, **SEEDED),
    "under-sampling": make_pipeline(RandomUnderSampler(**SEEDED), FOREST),
    "scaled, under-sampling twice": make_pipeline(
        StandardScaler(),
        EditedNearestNeighbours(),
        RandomUnderSampler(**SEEDED),
        FOREST,
    ),
    "over-sampling": make_pipeline(RandomOverSampler(**SEEDED), FOREST),
}
TRAINING = {
    "balanced forest, the smallest class whole": BalancedRandomForestClassifier(
        12, sampling_strategy="auto", **SEEDED
    ),
    "balanced forest, no replacement": BalancedRandomForestClassifier(
        12, sampling_strategy="auto", replacement=False, **SEEDED
    ),
    "easy ensemble": EasyEnsembleClassifier(4, **SEEDED),
    "boosting": RUSBoostClassifier(STUMP, n_estimators=12, learning_rate=0.3, **SEEDED),
}
# Rows that were invented hide those they were made of.
TAKEN_AS_NEW = {
    "balanced bagging of all rows": BalancedBaggingClassifier(
        n_estimators=12, bootstrap=False, **SEEDED
    ),
    "smote": make_pipeline(SMOTE(**SEEDED), FOREST),
    "smote, tomek links": make_pipeline(SMOTETomek(**SEEDED), FOREST),
    "smote, edited": make_pipeline(
        StandardScaler(), SMOTEENN(**SEEDED), clone(FOREST).set_params(bootstrap=False)
    ),
    "edited, smote, under-sampling": make_pipeline(
        EditedNearestNeighbours(),
        SMOTE(**SEEDED),
        RandomUnderSampler(sampling_strategy={"common": 60, "rare": 40}, **SEEDED),
        FOREST,
    ),
}
EVERY = {**OUT_OF_BAG, **TRAINING, **TAKEN_AS_NEW}
# Members keep no counts of the rows that were given.
FORGETTING = ("balanced forest, trees draw again", "balanced bagging")


@pytest.fixture(scope="module")
def fitted(rare):
    (X, y), _ = rare
    with warnings.catch_warnings(action="ignore"):
        return {name: clone(model).fit(X, y) for name, model in EVERY.items()}


@pytest.mark.parametrize("name", EVERY)
def test_votes_decide_as_the_library_does(name, fitted, rare):
    _, (X, y) = rare
    votes = quorate.collect_votes(fitted[name], X, y, source="new")
    np.testing.assert_array_equal(votes.predict(), fitted[name].predict(X))
    assert votes.source is VoteSource.NEW


@pytest.mark.parametrize("name", OUT_OF_BAG)
def test_out_of_bag_votes(name, fitted, rare):
    (X, y), _ = rare
    votes = quorate.collect_votes(fitted[name], X, y, out_of_bag="auto")
    assert votes.source is VoteSource.OUT_OF_BAG
    # Trees are perfect on the samples they have seen; these they have not.
    assert votes.accuracies.max() < 0.98
    assert set(votes.classes[votes.y]) == {"common", "rare"}
    if name in FORGETTING:
        assert quorate.collect_votes(fitted[name], X, y).source is VoteSource.UNKNOWN
        return
    other = quorate.collect_votes(fitted[name], X[::-1], y[::-1], out_of_bag="auto")
    assert other.source is VoteSource.ASSUMED_NEW
    with pytest.raises(ValueError, match="not the data"):
        quorate.collect_votes(fitted[name], X[::-1], y[::-1], out_of_bag=True)


def test_other_samples_of_the_same_classes_are_known_by_the_leaves(fitted, rare):
    (X, y), _ = rare
    places = np.arange(len(y))
    for label in np.unique(y):
        places[y == label] = places[y == label][::-1]
    forest = fitted["balanced forest"]
    other = quorate.collect_votes(forest, X[places], y, out_of_bag="auto")
    assert other.source is VoteSource.ASSUMED_NEW


@pytest.mark.parametrize("name", TRAINING)
def test_training_votes_are_known_as_such(name, fitted, rare):
    (X, y), (X_new, y_new) = rare
    votes = quorate.collect_votes(fitted[name], X, y, out_of_bag="auto")
    assert votes.source is VoteSource.TRAINING
    other = quorate.collect_votes(fitted[name], X_new[: len(y)], y_new[: len(y)])
    assert other.source is VoteSource.ASSUMED_NEW


@pytest.mark.parametrize("name", [name for name in TRAINING if "forest" in name])
def test_balanced_forests_say_that_nothing_judges_them(name, fitted, rare):
    with pytest.warns(CoverageWarning, match="there are no out-of-bag votes, since"):
        _, selection = quorate.prune(
            fitted[name], *rare[0], keep=4, return_selection=True
        )
    assert selection.expected is None


@pytest.mark.parametrize("name", TAKEN_AS_NEW)
def test_without_evidence_samples_are_taken_as_new(name, fitted, rare):
    (X, y), _ = rare
    votes = quorate.collect_votes(fitted[name], X, y, out_of_bag="auto")
    assert votes.source is VoteSource.ASSUMED_NEW


def test_rows_out_of_bag_are_those_the_sampler_left_out(fitted, rare):
    (X, y), _ = rare
    forest = fitted["balanced forest"]
    votes = quorate.collect_votes(forest, X, y, out_of_bag=True)
    for valid, sampler in zip(votes.valid, forest.samplers_, strict=True):
        assert not np.isin(votes.samples[valid], sampler.sample_indices_).any()


@pytest.mark.parametrize("name", ["under-sampling", "over-sampling"])
def test_rows_out_of_bag_are_followed_through_a_sampler(name, fitted, rare):
    (X, y), _ = rare
    sampler, forest = (step for _, step in fitted[name].steps)
    votes = quorate.collect_votes(fitted[name], X, y, out_of_bag=True)
    for valid, rows in zip(votes.valid, forest.estimators_samples_, strict=True):
        seen = np.unique(sampler.sample_indices_[rows])
        expected = np.setdiff1d(np.arange(len(y)), seen)
        np.testing.assert_array_equal(votes.samples[valid], expected)


@pytest.mark.parametrize("name", EVERY)
def test_smaller_ones_are_whole(name, fitted, rare):
    _, (X, y) = rare
    model = fitted[name]
    small = quorate.keep_members(model, [0, 2])
    votes = quorate.collect_votes(model, X, y).keep([0, 2])
    np.testing.assert_array_equal(small.predict(X), votes.predict())
    core = small[-1] if hasattr(small, "steps") else small
    assert len(core.estimators_) == 2
    for extra in ("samplers_", "pipelines_"):
        if hasattr(core, extra):
            assert len(getattr(core, extra)) == 2
            whole = getattr(model[-1] if hasattr(model, "steps") else model, extra)
            assert getattr(core, extra)[1] is whole[2]
    assert type(small) is type(model)


@pytest.mark.parametrize("name", ["balanced forest", "easy ensemble", "smote"])
def test_lazy_and_pruned(name, fitted, rare):
    _, (X, y) = rare
    model = fitted[name]
    lazy = quorate.LazyClassifier(model).fit()
    np.testing.assert_array_equal(lazy.predict(X), model.predict(X))
    small = quorate.prune(model, X[::2], y[::2], "mdm", keep=3)
    assert small.score(X[1::2], y[1::2]) > 0.6


@pytest.mark.slow
@pytest.mark.parametrize(
    "make",
    [
        BalancedRandomForestClassifier(7, **SEEDED).fit,
        BalancedRandomForestClassifier(7, bootstrap=True, max_depth=3, **SEEDED).fit,
        BalancedBaggingClassifier(n_estimators=7, **SEEDED).fit,
        EasyEnsembleClassifier(3, **SEEDED).fit,
        RUSBoostClassifier(STUMP, n_estimators=7, **SEEDED).fit,
    ],
    ids=["forest", "forest, twice", "bagging", "easy", "boosting"],
)
def test_keep_the_promises_of_a_kind(make):
    check_ensemble(make)
