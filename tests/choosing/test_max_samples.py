"""Choosing on a stratified sample: who is drawn, and what is said about it."""

import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier

import quorate
from quorate._data import MAX_SAMPLES, draw_sample
from quorate._data._rows import stratum_sizes
from quorate.exceptions import SampledWarning
from quorate.results import VoteSource


def cut(X, y, edges):
    edges = sorted({0, len(y), *(edge % len(y) for edge in edges)})
    return [(X[start:end], y[start:end]) for start, end in itertools.pairwise(edges)]


def test_what_rare_classes_get_comes_from_the_class_that_loses_least():
    # Exact shares of 6: 0.09, 0.09, 2.69 and 3.13, so "d" has the most to spare.
    drawn = stratum_sizes({"a": 1, "b": 1, "c": 30, "d": 35}, 6)
    assert drawn == {"a": 1, "b": 1, "c": 2, "d": 2}


@settings(max_examples=50)
@given(
    st.integers(1, 60),
    st.integers(1, 80),
    st.lists(st.integers(0, 1000), max_size=5),
    st.integers(0, 5),
)
def test_a_sample_does_not_depend_on_the_batches(n, size, edges, seed):
    rng = np.random.default_rng(n)
    X, y = rng.random((n, 2)), rng.choice(["a", "b", "c"], n, p=[0.7, 0.2, 0.1])
    n_classes = np.unique(y).size
    if n > size and size < n_classes:
        words = rf"\(max_samples={size}\): .* there are {n_classes} classes; "
        for given in ([(X, y)], cut(X, y, edges)):
            with pytest.raises(ValueError, match=words):
                draw_sample(given, size, seed)
        return
    whole = draw_sample([(X, y)], size, seed)
    parts = draw_sample(cut(X, y, edges), size, seed)
    for one, two in zip(whole, parts, strict=True):
        np.testing.assert_array_equal(one, two)
    drawn_X, drawn_y, places, n_rows = whole
    assert n_rows == n
    np.testing.assert_array_equal(X[places], drawn_X)
    np.testing.assert_array_equal(y[places], drawn_y)
    assert (np.diff(places) > 0).all()
    labels, counts = np.unique(y, return_counts=True)
    drawn = np.array([np.sum(drawn_y == label) for label in labels])
    if n <= size:
        np.testing.assert_array_equal(drawn, counts)
        return
    exact = counts * size / n
    assert (drawn >= 1).all()
    assert drawn.sum() == size
    # Each class that gets its one without a claim to it takes one from the others.
    assert (np.abs(drawn - exact) <= 1 + np.sum(exact < 1)).all()


@pytest.mark.parametrize(
    ("counts", "size", "wanted"),
    [
        ([46, 10, 2], 25, [20, 4, 1]),  # once, and no more than its share
        ([500, 400, 1, 1], 5, [2, 1, 1, 1]),  # the sample is not made larger
    ],
)
def test_rare_classes_are_drawn_once(counts, size, wanted):
    y = np.repeat(list("abcd")[: len(counts)], counts)
    drawn = draw_sample([(np.zeros((y.size, 1)), y)], size)[1]
    assert np.unique(drawn, return_counts=True)[1].tolist() == wanted


def test_every_sample_is_as_likely_as_the_others():
    X, y = np.arange(40)[:, None], np.repeat([0, 1], [30, 10])
    batches = cut(X, y, [7, 22])
    times = np.zeros(40)
    for seed in range(2000):
        times[draw_sample(batches, 8, seed)[2]] += 1
    # each stays with probability 1/5; 4 standard errors are 0.036
    np.testing.assert_allclose(times / 2000, 0.2, atol=0.04)


def test_frames_are_drawn():
    X, y = np.random.default_rng(0).random((30, 3)), np.arange(30) % 2
    places = draw_sample([(X, y)], 10)[2]
    frame = pd.DataFrame(X, columns=list("abc"))
    found = draw_sample([(frame[:9], y[:9]), (frame[9:], y[9:])], 10)
    assert list(found[0].columns) == ["a", "b", "c"]
    np.testing.assert_array_equal(found[0].to_numpy(), X[places])
    with pytest.raises(ValueError, match="some labels are text and others are numbers"):
        draw_sample([(X, y), (X, y.astype(str))], 10)


@pytest.fixture(scope="module")
def data():
    return make_classification(3000, 8, n_informative=5, random_state=0)


@pytest.fixture(scope="module")
def forest(data):
    X, y = data
    return RandomForestClassifier(40, max_depth=6, random_state=0).fit(X, y)


def test_out_of_bag_votes_of_a_sample(forest, data):
    X, y = data
    small, chosen = quorate.prune(
        forest, X, y, "re", keep=4, max_samples=400, return_selection=True
    )
    assert chosen.votes.n_samples <= 400
    assert chosen.source is VoteSource.OUT_OF_BAG
    whole = quorate.collect_votes(forest, X, y, out_of_bag=True)
    rows = chosen.votes.samples
    np.testing.assert_array_equal(
        chosen.votes.codes, whole.codes[:, np.searchsorted(whole.samples, rows)]
    )
    assert small.pruning_["drawn"] == {"samples": 400, "of": 3000, "seed": 0}
    again = quorate.prune(forest, X, y, "re", keep=4, max_samples=400)
    assert again.pruning_ == small.pruning_
    assert "400 of 3,000, drawn by class" in chosen._repr_html_()


def test_everything_up_to_the_number_is_looked_at(forest, data):
    X, y = data
    small = quorate.prune(forest, X, y, "re", keep=4, max_samples=3000)
    plain = quorate.prune(forest, X, y, "re", keep=4)
    assert small.pruning_ == plain.pruning_
    assert small.pruning_["drawn"] is None


def test_above_the_default_it_is_said(forest, data, monkeypatch):
    X, y = data
    assert MAX_SAMPLES == 200_000
    monkeypatch.setattr("quorate._data._rows.MAX_SAMPLES", 500)
    words = "prune: members are chosen on 500 of 3,000 samples, drawn by class; use"
    with pytest.warns(SampledWarning, match=words):
        small = quorate.prune(forest, X, y, "re", keep=4)
    assert small.pruning_["drawn"]["samples"] == 500
    votes = quorate.collect_votes(forest, X, y, out_of_bag=True)
    with pytest.warns(SampledWarning, match="select: members are chosen on 500 of"):
        chosen = quorate.select(votes, "re", keep=4)
    assert chosen.votes.n_samples == chosen.drawn.n_samples == 500
    assert quorate.select(votes, "re", keep=4, max_samples=100).drawn.n_samples == 100


def test_methods_that_look_at_features_get_those_of_the_sample(forest, data):
    X, y = data
    small = quorate.prune(forest, X, y, "tsp_dp", keep=4, max_samples=300)
    assert small.n_estimators == 4
    votes = quorate.collect_votes(forest, X, y, out_of_bag=True)
    with pytest.raises(ValueError, match="X cannot be used with a sample of the votes"):
        quorate.select(votes, "tsp_dp", keep=4, X=X, max_samples=100)


def test_prune_and_report_of_a_sample(data):
    X, y = data
    forest = RandomForestClassifier(15, random_state=0).fit(X[:500], y[:500])
    options = {"method": "re", "keep": 4, "max_samples": 600}
    small = quorate.prune(forest, X[500:], y[500:], **options)
    assert small.pruning_["drawn"] == {"samples": 600, "of": 2500, "seed": 0}
    assert small.pruning_["chosen_on"] == "votes on samples assumed to be new"
    page = quorate.report(forest, X[500:], y[500:], **options)
    assert page.data["votes"]["n_samples"] == 600
    assert page.data["votes"]["n_given"] == 2500
    assert "600 of 2,500, drawn by class" in page.html
    assert page.selection.members.tolist() == small.pruning_["kept"]


def test_fewer_than_there_are_classes_are_refused(forest, data):
    X, y = data
    words = (
        r"\(max_samples=1\): at least one sample of each class is drawn, and "
        r"there are 2 classes; "
    )
    with pytest.raises(ValueError, match=f"^prune{words}give 2 or more"):
        quorate.prune(forest, X, y, max_samples=1)
    small = quorate.keep_members(forest, range(3))
    with pytest.raises(ValueError, match=f"^distil{words}"):
        quorate.distil(small, forest, X, max_samples=1)
    votes = quorate.collect_votes(forest, X, y, out_of_bag=True)
    with pytest.raises(ValueError, match=f"^select{words}"):
        quorate.select(votes, "re", 4, max_samples=1)


def test_members_that_were_trained_on_all_samples_drawn(forest, data):
    with pytest.raises(ValueError, match="none of the 2 samples drawn is out of bag"):
        quorate.prune(forest, *data, max_samples=2)


# Seeds


def test_the_seed_reaches_the_draw_the_method_and_the_leaves(forest, data):
    X, y = data
    options = {"max_samples": 300, "distil": True, "return_selection": True}
    one, two, same = (
        quorate.prune(forest, X, y, "random", 4, random_state=seed, **options)
        for seed in (5, 6, 5)
    )
    assert one[0].pruning_["drawn"] == {"samples": 300, "of": 3000, "seed": 5}
    assert one[0].pruning_ == same[0].pruning_
    assert not np.array_equal(one[1].votes.samples, two[1].votes.samples)
    assert not np.array_equal(one[1].members, two[1].members)
    plain = quorate.keep_members(forest, one[1].members)
    taught = quorate.distil(plain, forest, X, max_samples=300, random_state=5)
    np.testing.assert_array_equal(one[0].predict_proba(X), taught.predict_proba(X))
    # The rows that leaves learned on are known again, not those they were drawn from.
    assert taught.distillation_["rows"][0] in one[0].distillation_["rows"]


def test_methods_that_draw_nothing_take_a_seed_for_the_samples(forest, data):
    X, y = data
    votes = quorate.collect_votes(forest, X, y, out_of_bag=True)
    rows = [
        quorate.select(votes, "re", 4, max_samples=300, random_state=seed).votes.samples
        for seed in (0, 1, None)
    ]
    np.testing.assert_array_equal(rows[0], rows[2])
    assert not np.array_equal(rows[0], rows[1])
    given = np.random.default_rng(3), np.random.RandomState(3)
    for state in given:
        small = quorate.prune(forest, X, y, keep=4, max_samples=300, random_state=state)
        assert small.pruning_["drawn"]["seed"] > 0


def test_reports_draw_by_their_seed_and_say_it(forest, data):
    X, y = data
    page = quorate.report(forest, X, y, keep=4, max_samples=300, random_state=4)
    small = quorate.prune(
        forest, X, y, keep=4, source="training", max_samples=300, random_state=4
    )
    members = page.data["members"]
    kept = [at for at, member in enumerate(members) if member["kept"] == "kept"]
    assert kept == small.pruning_["kept"]
    code = page.data["commands"][-1]["code"].partition(" = ")[2]
    again = eval(code, {"quorate": quorate, "ensemble": forest, "X": X, "y": y})
    assert again.pruning_ == small.pruning_


def test_who_takes_no_number_says_so_too(forest, data, monkeypatch):
    X, y = data
    monkeypatch.setattr("quorate._data._rows.MAX_SAMPLES", 500)
    words = ": members are chosen on 500 of 3,000 samples, drawn by class; use max"
    fresh = RandomForestClassifier(10, max_depth=3, random_state=0)
    with pytest.warns(SampledWarning, match=f"^PrunedClassifier{words}"):
        quorate.PrunedClassifier(fresh, keep=3).fit(X, y)
    small = quorate.keep_members(forest, range(3))
    words = "distil: leaves are fitted on 500 of 3,000 rows, drawn by class; use max_"
    with pytest.warns(SampledWarning, match=words):
        quorate.distil(small, forest, X, n_rows=300)
