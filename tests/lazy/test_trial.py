"""Trying all modes on the same samples: honest, and the same for every caller."""

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.ensemble import AdaBoostClassifier, RandomForestClassifier

from quorate._lazy import try_modes
from quorate.results import VoteSource

X, y = make_classification(900, 8, flip_y=0.2, random_state=0)
FOREST = RandomForestClassifier(30, random_state=0).fit(X[:400], y[:400])


def test_several_confidences():
    trial = try_modes(
        FOREST, X[400:], y[400:], confidence=(0.9, 0.99), epsilon=0.02, repeats=1
    )
    found = [(tried.mode, tried.setting) for tried in trial.modes]
    assert found == [
        ("everyone", None), ("exact", None), ("bayes", 0.9), ("bayes", 0.99),
        ("calibrated", 0.02),
    ]  # fmt: skip
    alone = try_modes(FOREST, X[400:], y[400:], confidence=0.99, repeats=1)
    assert alone.modes[2].members_asked == trial.modes[3].members_asked
    assert trial.modes[2].members_asked < trial.modes[3].members_asked
    assert "Members agree" not in trial.note
    everyone = trial.modes[0]
    mixed = np.random.default_rng(0).permutation(500)
    rows = 400 + mixed[250:]
    assert everyone.accuracy == pytest.approx(FOREST.score(X[rows], y[rows]))


@pytest.mark.parametrize("model", [FOREST, AdaBoostClassifier().fit(X[:400], y[:400])])
def test_nothing_is_scored_or_promised_on_training_samples(model):
    trial = try_modes(model, X[:400], y[:400], repeats=1)
    assert trial.source is VoteSource.TRAINING
    once = "use samples that no member was trained on. Members agree far more"
    assert trial.note.count(once) == trial.note.count("trained on these") == 1
    assert [tried.mode for tried in trial.modes] == ["everyone", "exact", "bayes"]
    assert {tried.accuracy for tried in trial.modes} == {None}
    assert (trial.n_samples, trial.n_calibration) == (400, 0)
    assert "trained on these samples" in trial.left_out


def test_a_caller_may_know_better():
    few = X[:9], y[:9]
    some = try_modes(FOREST, *few, repeats=1)
    assert some.source is VoteSource.ASSUMED_NEW
    told = try_modes(FOREST, *few, repeats=1, source="training")
    assert told.source is VoteSource.TRAINING
    assert told.modes[0].accuracy is None


def test_a_list_is_compared_with_the_vote_of_all_its_members():
    members = FOREST.estimators_[:7]
    trial = try_modes(members, X[400:], repeats=1, source="new")
    everyone, exact = trial.modes[:2]
    assert (everyone.members_asked, everyone.disagreement) == (7, 0)
    assert exact.disagreement == 0
    assert exact.members_asked < 7
