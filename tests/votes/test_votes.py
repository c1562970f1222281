"""Votes: construction, refusals, immutability, subsets."""

import tracemalloc

import numpy as np
import pandas as pd
import pytest

import quorate
from quorate import Votes
from quorate._votes import totals
from quorate.exceptions import LeftOutWarning


@pytest.fixture
def votes():
    return Votes(
        [["a", "b", "b", "c"], ["a", "a", "b", "c"], ["c", "b", "b", "a"]],
        ["a", "b", "b", "c"],
        weights=[1, 2, 3],
        names=["x", "y", "z"],
    )


def test_what_it_tells(votes):
    assert (votes.n_members, votes.n_samples, votes.n_classes) == (3, 4, 3)
    np.testing.assert_array_equal(votes.classes, ["a", "b", "c"])
    np.testing.assert_array_equal(votes.codes[2], [2, 1, 1, 0])
    np.testing.assert_array_equal(votes.y, [0, 1, 1, 2])
    np.testing.assert_array_equal(votes.weights, [1, 2, 3])
    assert votes.valid is None
    assert votes.names == ("x", "y", "z")
    np.testing.assert_allclose(votes.accuracies, [1, 0.75, 0.5])
    np.testing.assert_array_equal(votes.correct[1], [True, False, True, True])
    assert votes.codes.dtype == np.int8
    plain = votes.unweighted()
    assert plain.weights is None
    assert plain.names == votes.names


def test_nothing_can_be_changed(votes):
    masked = Votes([[0, 1]], [0, 1], valid=[[True, True]])
    for array in (
        votes.codes, votes.y, votes.classes, votes.weights, votes.correct,
        votes.accuracies, votes.samples, masked.valid, *totals.sample_counts(votes),
        votes.pairs().both,
    ):  # fmt: skip
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0
    for name in ("codes", "y", "weights", "names"):
        with pytest.raises(AttributeError):
            setattr(votes, name, None)


def test_input_arrays_are_neither_written_nor_shared():
    weights = np.array([1.0, 2.0])
    for dtype in (np.int64, np.uint8):
        predictions = np.array([[0, 1], [1, 1]], dtype=dtype)
        y = np.array([0, 1], dtype=dtype)
        for array in (predictions, y, weights):
            array.flags.writeable = False
        votes = Votes(predictions, y, weights=weights)
        for array in (predictions, y, weights):
            array.flags.writeable = True
            array[...] = 0
        np.testing.assert_array_equal(votes.codes, [[0, 1], [1, 1]])
        np.testing.assert_array_equal(votes.y, [0, 1])
        np.testing.assert_array_equal(votes.weights, [1, 2])
        weights[:] = [1, 2]


def test_many_classes():
    rng = np.random.default_rng(1)
    for n_classes, dtype in ((100, np.int8), (200, np.int16), (40_000, np.int32)):
        codes = rng.permutation(n_classes)[None].repeat(2, axis=0)
        votes = Votes(codes, np.arange(n_classes))
        assert votes.codes.dtype == dtype
        np.testing.assert_array_equal(votes.codes, codes)


def test_series_and_lists_and_arrays_are_alike():
    y = ["a", "b", "b"]
    rows = [["a", "b", "a"], ["b", "b", "b"]]
    expected = Votes(rows, y).codes
    for predictions, truth in (
        (np.array(rows), np.array(y)),
        (np.array(rows, dtype=object), np.array(y, dtype=object)),
        ([np.array(row) for row in rows], tuple(y)),
        ([pd.Series(row) for row in rows], pd.Series(y)),
        (
            [pd.Series(row, dtype="category") for row in rows],
            pd.Series(y, dtype="string"),
        ),
    ):
        np.testing.assert_array_equal(Votes(predictions, truth).codes, expected)


TWO = ([[0, 1], [1, 1]], [0, 1])
HIDDEN = np.ma.array([0, 1], mask=[0, 1])


class TestMask:
    def test_only_valid_votes_count(self):
        votes = Votes(
            [[0, 1, 1], [1, 1, 0], [1, 0, 0]],
            [0, 1, 0],
            valid=[[True, True, True], [True, True, False], [False, True, True]],
        )
        np.testing.assert_array_equal(votes.valid[2], [False, True, True])
        np.testing.assert_array_equal(votes.codes[2], [-1, 0, 0])
        np.testing.assert_allclose(votes.accuracies, [2 / 3, 0.5, 0.5])
        np.testing.assert_array_equal(votes.sample_errors(), [0.5, 0, 0.5])
        np.testing.assert_array_equal(totals.sample_counts(votes)[1], [2, 3, 2])

    @pytest.mark.parametrize("hidden", [np.nan, 7.0, None, 1000, "x"])
    def test_what_is_hidden_is_not_looked_at(self, hidden):
        labels = ["a", "b"] if hidden in (None, "x") else [0, 1]
        rows = [[labels[0], hidden], [labels[1]] * 2]
        for given in (rows, np.array(rows)):
            votes = Votes(given, labels, valid=[[True, False], [True, True]])
            np.testing.assert_array_equal(votes.classes, labels)
            np.testing.assert_array_equal(votes.codes, [[0, -1], [1, 1]])

    def test_a_sample_nobody_votes_on_is_left_out(self):
        with pytest.warns(LeftOutWarning, match="1 of 3 samples") as caught:
            votes = Votes([[0, 1, 1]], [0, 1, 1], valid=[[True, False, True]])
        assert caught[0].filename == __file__
        np.testing.assert_array_equal(votes.samples, [0, 2])
        assert votes.n_samples == 2

    def test_a_subset_without_votes_on_a_sample_ties_all_classes(self):
        votes = Votes(
            [[0, 1], [2, 1]], [0, 1], valid=[[True, True], [True, False]]
        ).keep([1])
        assert votes.n_samples == 2
        np.testing.assert_allclose(votes.sample_errors(), [1, 2 / 3])
        parts = quorate.decompose(votes)
        np.testing.assert_allclose(parts.sample_member_error, [1, 2 / 3])
        np.testing.assert_allclose(parts.sample_diversity, [0, 0])

    @pytest.mark.parametrize("dtype", [np.int8, np.int64, np.float64])
    def test_it_takes_no_more_than_two_copies(self, dtype):
        rng = np.random.default_rng(0)
        rows = rng.integers(0, 3, (50, 40_000)).astype(dtype)
        valid = rng.random(rows.shape) < 0.6
        y = rows[0].copy()
        tracemalloc.start()
        votes = Votes(rows, y, valid=valid)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert votes.is_masked
        assert peak < 2.1 * rows.nbytes
        np.testing.assert_array_equal(votes.codes, np.where(valid, rows, -1))


def test_members_as_a_mask_and_as_positions(votes):
    mask = votes.keep([True, False, True])
    places = votes.keep(np.array([0, 2]))
    assert mask.names == places.names == ("x", "z")
    np.testing.assert_array_equal(mask.weights, [1, 3])
    np.testing.assert_array_equal(mask.codes, places.codes)
    assert votes.keep([2, 0]).names == ("z", "x")
    np.testing.assert_array_equal(votes.keep([1]).classes, ["a", "b", "c"])


def test_weights_of_nobody_and_large_ones():
    votes = Votes([[0, 1], [1, 1], [0, 0]], [0, 1], weights=[0, 1, 0])
    assert votes.keep([0, 2]).weights is None
    np.testing.assert_array_equal(votes.keep([0, 1]).weights, [0, 1])
    votes = Votes(*TWO, weights=[1e300, 1e290])
    assert votes.accuracy() == 1
    assert np.isfinite(quorate.assess_risk(votes).risk)


def test_members_that_are_refused():
    class Unsure:
        def predict(self, X):
            return HIDDEN

    X, y = np.zeros((2, 1)), [0, 1]
    with pytest.raises(ValueError, match="member 'odd': masked at sample 1"):
        quorate.collect_votes({"odd": Unsure()}, X, y)
    with pytest.raises(ValueError, match="the ensemble: two are called '1'"):
        quorate.collect_votes({1: None, "1": None}, X, y)


class TestForPeople:
    def test_repr(self, votes):
        assert repr(votes) == (
            "Votes(3 members, 4 samples, 3 classes, weighted; "
            "members 75.0 % correct, their vote 75.0 %)"
        )
        assert repr(Votes([[1]], [1])).startswith("Votes(1 member, 1 sample, 1 class;")

    def test_html(self):
        hostile = "<script>alert(1)</script>"
        html = Votes([[hostile, "b"]] * 2, [hostile, "b"])._repr_html_()
        assert "<script>" not in html
        assert "&lt;script&gt;" in html
        assert "42 more" in Votes([range(50)], range(50))._repr_html_()
