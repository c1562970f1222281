"""Comparisons and certificates from a pass over batches: those of all samples."""

import copy

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from tests.summarising.conftest import DATA, X, Y, in_batches
from tests.votes.same import are_same

import quorate
from quorate._votes import Summary


@pytest.fixture(scope="module")
def small(forest):
    return quorate.prune(forest, DATA[0][:800], DATA[1][:800], "re", keep=5)


def same_certificate(one, two):
    assert one.to_dict() == two.to_dict()


@pytest.mark.parametrize("tolerance", [0.001, 0.05, 0.2])
def test_certify_two_models(forest, small, tolerance):
    X, y = DATA[0][800:], DATA[1][800:]
    whole = quorate.certify(forest, small, X, y, tolerance=tolerance)
    summary = quorate.summarise(forest, in_batches(X, y, 900), against=small)
    same_certificate(quorate.certify(summary, tolerance=tolerance), whole)


@pytest.mark.parametrize("method", ["mdm", "simplex", "lcs", "brier"])
@pytest.mark.parametrize("keep", [1.0, 6])
def test_certify_an_order(forest, method, keep):
    chosen = quorate.select(
        quorate.collect_votes(forest, X[:800], Y[:800]), method, keep=keep
    )
    votes = quorate.collect_votes(forest, X[800:], Y[800:])
    whole = quorate.certify(votes, chosen, tolerance=0.03)
    batches = in_batches(X[800:], Y[800:], 900)
    summary = quorate.summarise(forest, batches, against=chosen)
    same_certificate(quorate.certify(summary, tolerance=0.03), whole)
    if method == "mdm":
        plain = quorate.summarise(
            forest, in_batches(X[800:], Y[800:], 700), against=chosen.order
        )
        same_certificate(quorate.certify(plain, tolerance=0.03), whole)


@pytest.mark.filterwarnings("ignore::quorate.exceptions.QuorateWarning")
def test_recalls_where_a_class_comes_late(forest, small, tmp_path):
    X, y = DATA[0][800:], DATA[1][800:]
    labels = np.array(["b", "c", "d"])[y]
    labels[-5:] = "a"  # which no member has learned, and sorts first
    forest, small = (with_names(model) for model in (forest, small))
    batches = list(in_batches(X, labels, 900))
    summary = quorate.summarise(forest, batches, against=small)
    assert summary.classes.tolist() == ["a", "b", "c", "d"]
    assert summary.against.found.tolist() == [
        [int(np.sum((small.predict(X) == labels) & (labels == one))) for one in "abcd"]
    ]
    summary.save(tmp_path / "summary.npz")
    again = Summary.load(tmp_path / "summary.npz")
    assert again.against.found.tolist() == summary.against.found.tolist()


@pytest.mark.parametrize("tolerance", [0.02, 0.1, 0.2])
def test_balanced_certificates(forest, small, tolerance):
    X, y = DATA[0][800:], DATA[1][800:]
    asked = {"tolerance": tolerance, "class_weight": "balanced"}
    batches = list(in_batches(X, y, 900))
    whole = quorate.certify(forest, small, X, y, **asked)
    assert whole.balanced
    summary = quorate.summarise(forest, batches, against=small)
    same_certificate(quorate.certify(summary, **asked), whole)
    chosen_on = quorate.collect_votes(forest, DATA[0][:800], DATA[1][:800])
    chosen = quorate.select(chosen_on, "mdm", keep=1.0)
    whole = quorate.certify(quorate.collect_votes(forest, X, y), chosen, **asked)
    summary = quorate.summarise(forest, batches, against=chosen)
    same_certificate(quorate.certify(summary, **asked), whole)
    few = list(in_batches(X[y != 1], y[y != 1], 900))
    with pytest.raises(ValueError, match="class 1 has no samples, so nothing limits"):
        quorate.certify(quorate.summarise(forest, few, against=small), **asked)


def with_names(model):
    """Return a forest whose classes are b, c and d."""
    named = copy.copy(model)
    named.classes_ = np.array(["b", "c", "d"])
    return named


def test_errors_of_both_are_counted(forest, small, boosted):
    X, y = DATA[0][800:], DATA[1][800:]
    for whole, other in (
        (boosted, quorate.keep_members(boosted, [0, 2, 5])),
        (forest, copy.deepcopy(small)),  # the same trees, but that cannot be seen
        (forest, RandomForestClassifier(7, random_state=3).fit(X[:300], y[:300])),
        (forest, quorate.LazyClassifier(small).fit(DATA[0][:300], DATA[1][:300])),
    ):
        found = quorate.summarise(whole, in_batches(X, y, 900), against=other).against
        mine, theirs = whole.predict(X), other.predict(X)
        assert found.wrong[0] == np.sum(theirs != y)
        assert found.wrong_whole == np.sum(mine != y)
        assert found.only_other[0] == np.sum((theirs != y) & (mine == y))
        assert found.only_whole[0] == np.sum((mine != y) & (theirs == y))
        assert found.same[0] == np.sum(mine == theirs)


def test_text_in_objects():
    X, words = DATA[0], np.array(["ant", "bee", "cow"], dtype=object)[DATA[1]]
    big, other = (
        RandomForestClassifier(7, random_state=at).fit(X[:300], words[:300])
        for at in (0, 1)
    )
    assert big.classes_.dtype == object
    X, y = X[300:], words[300:]
    expected = big.score(X, y), other.score(X, y)
    assert quorate.compare(big, other, X, y, repeats=1).accuracy == expected
    counts = quorate.summarise(big, [(X, y)], against=other)
    assert counts.against.wrong[0] == np.sum(other.predict(X) != y)
    assert quorate.certify(big, other, X, y, tolerance=0.2).n_kept == 7


def test_the_other_model_is_kept_in_files(forest, small, tmp_path):
    X, y = DATA[0][800:], DATA[1][800:]
    for against in (small, [4, 2, 0], None):
        summary = quorate.summarise(forest, [(X, y)], against=against)
        summary.save(tmp_path / "s.npz")
        assert are_same(Summary.load(tmp_path / "s.npz"), summary)


def test_refused(forest, small):
    plain, beside, other = (
        quorate.summarise(forest, [DATA], against=one) for one in (None, small, [0, 1])
    )
    members = list(forest.estimators_[:2])
    for words, ask in (
        ("this summary contains only one ensemble", lambda: quorate.certify(plain)),
        ("do not pass anything else", lambda: quorate.certify(beside, [0, 1])),
        ("two different models cannot be added", lambda: beside + other),
        (r"distinct positions of members, 0 to 11\.",
         lambda: quorate.summarise(forest, [DATA], against=[0, 0])),
        (r"distinct positions of members, 0 to 11\.",
         lambda: quorate.summarise(forest, [DATA], against=np.array([12]))),
        ("a list cannot predict by itself",
         lambda: quorate.summarise(forest, [DATA], against=members)),
        ("samples cannot certify any subset",
         lambda: quorate.certify(forest, small, X[800:850], Y[800:850])),
    ):  # fmt: skip
        with pytest.raises((TypeError, ValueError), match=words):
            ask()


def test_training_rows_judge_nothing():
    seen = RandomForestClassifier(9, random_state=0).fit(*DATA)
    trained = quorate.summarise(seen, [DATA], against=[0, 1], source="training")
    with pytest.raises(ValueError, match="members were trained on these samples"):
        quorate.certify(trained)


def test_masked_summaries_certify_nothing(forest):
    votes = quorate.collect_votes(forest, X, Y)
    masked = votes.only(np.random.default_rng(0).random(votes.codes.shape) < 0.9)
    beside = quorate.summarise(forest, [(X, Y)], against=[0, 1])
    added = masked.summary()
    object.__setattr__(added, "against", beside.against)
    with pytest.raises(ValueError, match="masked votes come from different members"):
        quorate.certify(added)
