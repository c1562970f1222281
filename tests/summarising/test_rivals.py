"""Comparisons and certificates from a pass over batches: those of all samples."""

import copy
from dataclasses import replace

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from tests.summarising.conftest import in_batches

import quorate
from quorate.votes import Summary


@pytest.fixture(scope="module")
def small(forest, data):
    return quorate.prune(forest, data[0][:800], data[1][:800], "re", keep=5)


def same_certificate(one, two):
    for name in one.__dataclass_fields__:
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name), name)


@pytest.mark.parametrize("tolerance", [0.001, 0.05, 0.3])
def test_certify_two_models(forest, small, data, tolerance):
    X, y = data[0][800:], data[1][800:]
    whole = quorate.certify(forest, small, X, y, tolerance=tolerance)
    batches = list(in_batches(X, y, 900))
    same_certificate(
        quorate.certify(forest, small, batches, tolerance=tolerance), whole
    )
    summary = quorate.summarise(forest, batches, against=small)
    same_certificate(quorate.certify(summary, tolerance=tolerance), whole)


@pytest.mark.parametrize("method", ["mdm", "simplex", "lcs", "brier"])
@pytest.mark.parametrize("keep", [1.0, 6])
def test_certify_an_order(forest, data, method, keep):
    X, y = data
    chosen = quorate.select(
        quorate.collect_votes(forest, X[:800], y[:800]), method, keep=keep
    )
    votes = quorate.collect_votes(forest, X[800:], y[800:])
    whole = quorate.certify(votes, chosen, tolerance=0.03)
    batches = in_batches(X[800:], y[800:], 900)
    summary = quorate.summarise(forest, batches, against=chosen)
    found = quorate.certify(summary, tolerance=0.03)
    for name in found.__dataclass_fields__:
        np.testing.assert_array_equal(getattr(found, name), getattr(whole, name), name)
    if method == "mdm":
        plain = quorate.summarise(
            forest, in_batches(X[800:], y[800:], 700), against=chosen.order
        )
        same_certificate(quorate.certify(plain, tolerance=0.03), whole)


def test_compare(forest, small, data):
    X, y = data[0][800:], data[1][800:]
    whole = quorate.compare(forest, small, X, y, repeats=1)
    batches = list(in_batches(X, y, 900))
    for found in (
        quorate.compare(forest, small, batches),
        quorate.compare(
            forest, small, quorate.summarise(forest, batches, against=small)
        ),
    ):
        for name in found.__dataclass_fields__:
            if name != "predict_milliseconds":
                assert getattr(found, name) == getattr(whole, name), name
        assert found.predict_milliseconds is None
        assert list(found.recalls) == ["0", "1", "2"]
        assert np.isnan(found.speedup)
        assert "predicting" not in repr(found)
        assert "accuracy" in repr(found)
        assert found.to_dict()["predict_milliseconds"] is None


@pytest.mark.filterwarnings("ignore::quorate.exceptions.UnknownLabelWarning")
def test_recalls_where_a_class_comes_late(forest, small, data, tmp_path):
    X, y = data[0][800:], data[1][800:]
    labels = np.array(["b", "c", "d"])[y]
    labels[-5:] = "a"  # which no member has learned, and sorts first
    forest, small = (with_names(model) for model in (forest, small))
    batches = list(in_batches(X, labels, 900))
    summary = quorate.summarise(forest, batches, against=small)
    assert summary.classes.tolist() == ["a", "b", "c", "d"]
    found = quorate.compare(forest, small, summary)
    assert found.recalls == quorate.compare(forest, small, X, labels).recalls
    assert found.recalls["a"] == (0.0, 0.0)
    assert summary.rivals.found.tolist() == [
        [int(np.sum((small.predict(X) == labels) & (labels == one))) for one in "abcd"]
    ]
    # A summary from before these were counted compares as it did.
    old = replace(summary, rivals=replace(summary.rivals, found=None))
    old.save(tmp_path / "old.npz")
    again = quorate.compare(forest, small, Summary.load(tmp_path / "old.npz"))
    assert again.recalls is None
    assert again.accuracy == found.accuracy
    assert (old + summary).rivals.found is None


def with_names(model):
    """Return a forest whose classes are b, c and d."""
    named = copy.copy(model)
    named.classes_ = np.array(["b", "c", "d"])
    return named


def test_a_model_that_is_no_subset_is_asked_itself(forest, small, data):
    X, y = data[0][800:], data[1][800:]
    for other in (
        copy.deepcopy(small),  # the same trees, but that cannot be seen
        RandomForestClassifier(7, random_state=3).fit(data[0][:300], data[1][:300]),
        quorate.LazyClassifier(small).fit(data[0][:300], data[1][:300]),
    ):
        found = quorate.summarise(forest, in_batches(X, y, 900), against=other).rivals
        mine, theirs = forest.predict(X), other.predict(X)
        assert found.wrong[0] == np.sum(theirs != y)
        assert found.wrong_whole == np.sum(mine != y)
        assert found.only_rival[0] == np.sum((theirs != y) & (mine == y))
        assert found.only_whole[0] == np.sum((mine != y) & (theirs == y))
        assert found.same[0] == np.sum(mine == theirs)


def test_weighted_rivals(boosted, data):
    X, y = data[0][800:], data[1][800:]
    small = quorate.keep_members(boosted, [0, 2, 5])
    found = quorate.summarise(boosted, in_batches(X, y, 900), against=small).rivals
    assert found.wrong[0] == np.sum(small.predict(X) != y)
    assert found.same[0] == np.sum(small.predict(X) == boosted.predict(X))


def test_rivals_are_kept_in_files(forest, small, data, tmp_path):
    X, y = data[0][800:], data[1][800:]
    for against in (small, [4, 2, 0], None):
        summary = quorate.summarise(forest, [(X, y)], against=against)
        summary.save(tmp_path / "s.npz")
        assert Summary.load(tmp_path / "s.npz").equals(summary)
    summary = quorate.summarise(forest, [(X, y)], against=[4, 2, 0])
    assert "3 sizes of an order of 3 members" in summary._repr_html_()


def test_what_makes_no_sense_is_refused(forest, small, data):
    X, y = data
    plain = quorate.summarise(forest, [(X, y)])
    beside = quorate.summarise(forest, [(X, y)], against=small)
    with pytest.raises(ValueError, match="this summary is of one ensemble only"):
        quorate.certify(plain)
    with pytest.raises(ValueError, match="give nothing else"):
        quorate.certify(beside, [0, 1])
    with pytest.raises(ValueError, match="not one of the first model against the sec"):
        quorate.compare(forest, small, plain)
    with pytest.raises(ValueError, match="not one of the first model against the sec"):
        quorate.compare(small, forest, beside)
    with pytest.raises(ValueError, match="two different rivals"):
        beside + quorate.summarise(forest, [(X, y)], against=[0, 1])
    with pytest.raises(ValueError, match=r"each once, 0 to 11\."):
        quorate.summarise(forest, [(X, y)], against=[0, 0])
    with pytest.raises(ValueError, match=r"each once, 0 to 11\."):
        quorate.summarise(forest, [(X, y)], against=np.array([12]))
    with pytest.raises(TypeError, match="a list cannot predict by itself"):
        quorate.summarise(forest, [(X, y)], against=list(forest.estimators_[:2]))
    seen = RandomForestClassifier(9, random_state=0).fit(X, y)
    trained = quorate.summarise(seen, [(X, y)], against=[0, 1])
    with pytest.raises(ValueError, match="members were trained on these samples"):
        quorate.certify(trained)
    some = quorate.keep_members(seen, [0, 1])
    compared = quorate.compare(seen, some, [(X, y)])
    assert compared.accuracy is None
    assert compared.error_limits is None
    with pytest.raises(ValueError, match="samples cannot certify any subset"):
        quorate.certify(forest, small, [(X[800:850], y[800:850])])


def test_masked_summaries_certify_nothing(forest, data):
    X, y = data
    votes = quorate.collect_votes(forest, X, y)
    masked = votes.only(np.random.default_rng(0).random(votes.codes.shape) < 0.9)
    beside = quorate.summarise(forest, [(X, y)], against=[0, 1])
    added = masked.summary()
    object.__setattr__(added, "rivals", beside.rivals)
    with pytest.raises(ValueError, match="masked votes come from different members"):
        quorate.certify(added)
