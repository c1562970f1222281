"""Votes without labels choose members, and say nothing about errors."""

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from tests.cli.shell import run, told

import quorate
from quorate import Votes
from quorate.display import SizeCurveDisplay
from quorate.results import VoteSource

NOTHING_KNOWN = "these votes have no labels, so errors are unknown"


@pytest.fixture(scope="module")
def data():
    return make_classification(1200, flip_y=0.2, random_state=0)


@pytest.fixture(scope="module")
def forest(data):
    X, y = data
    return RandomForestClassifier(20, max_depth=4, random_state=0).fit(X[:400], y[:400])


@pytest.fixture(scope="module")
def unlabelled(forest, data):
    return quorate.collect_votes(forest, data[0][400:])


@pytest.fixture(scope="module")
def chosen(forest, data):
    X, y = data
    votes = quorate.collect_votes(forest, X[:400], y[:400], out_of_bag=True)
    return quorate.select(votes, "mdm", keep=1.0)


def test_they_know_what_they_are(forest, data, unlabelled, tmp_path):
    X, _ = data
    assert unlabelled.source is VoteSource.UNLABELLED
    assert unlabelled.source.why_unreliable
    assert not unlabelled.source.is_unseen
    np.testing.assert_array_equal(
        unlabelled.classes[unlabelled.y], forest.predict(X[400:])
    )
    unlabelled.save(tmp_path / "votes.npz")
    assert Votes.load(tmp_path / "votes.npz").source is VoteSource.UNLABELLED
    assert unlabelled.keep([1, 2]).source is VoteSource.UNLABELLED
    # Whatever is said of the samples, nobody has labelled them.
    said = quorate.collect_votes(forest, X[400:], source="new")
    assert said.source is VoteSource.UNLABELLED


def test_they_call_nobody_right(unlabelled):
    agree = f"{100 * unlabelled.accuracies.mean():.1f} %"
    for shown in (repr(unlabelled), repr(unlabelled.summary())):
        assert shown.endswith(
            f"no labels; members predict as the ensemble does on {agree})"
        )
    for page in (unlabelled._repr_html_(), unlabelled.summary()._repr_html_()):
        assert "labels" in page
        assert "correct" not in page
        assert "accuracy of" not in page


def test_a_sum_with_labelled_samples_is_no_better(forest, data, unlabelled):
    X, y = data
    labelled = quorate.collect_votes(forest, X[400:], y[400:]).summary()
    assert labelled.source is VoteSource.ASSUMED_NEW
    assert (labelled + unlabelled.summary()).source is VoteSource.UNLABELLED


def test_nothing_is_promised_on_them(forest, unlabelled, chosen):
    """A forest that errs on every fifth sample was certified to err on 2 %."""
    for ask in (
        lambda: quorate.certify(unlabelled, chosen),
        lambda: chosen.explain(test=unlabelled),
        lambda: quorate.report(unlabelled),
        lambda: quorate.report(unlabelled.summary()),
        lambda: quorate.select(unlabelled, keep="auto"),
        lambda: quorate.select(unlabelled, tolerance=0.05),
    ):
        with pytest.raises(ValueError, match=NOTHING_KNOWN):
            ask()


def test_a_number_of_members_can_be_chosen_on_them(unlabelled):
    found = quorate.select(unlabelled, "herding", keep=5)
    alone = quorate.pruning.Herding(keep=5).fit(unlabelled)
    assert found.order.tolist() == alone.order_.tolist()
    assert found.kept_score is None
    assert found.curve is None
    assert "without labels (no error estimate)" in repr(found)
    assert found._repr_html_().count("error") == 1  # "no error estimate"
    assert found.explain().comparison == []
    with pytest.raises(ValueError, match=f"SizeCurveDisplay: {NOTHING_KNOWN}"):
        SizeCurveDisplay.from_selection(found)


def test_a_votes_file_without_labels_is_not_diagnosed(unlabelled, tmp_path):
    unlabelled.save(tmp_path / "votes.npz")
    assert NOTHING_KNOWN in told(run("diagnose", tmp_path / "votes.npz", code=1))
