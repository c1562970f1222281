"""Votes: construction, refusals, immutability, subsets."""

import copy
import pickle
from datetime import date

import numpy as np
import pandas as pd
import pytest

import quorate
from quorate import Votes
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


def test_ties_go_to_the_lowest_label_and_err_by_chance(votes):
    np.testing.assert_array_equal(votes.predict(), ["a", "b", "b", "a"])
    np.testing.assert_array_equal(votes.sample_errors(), [0.5, 0, 0, 0.5])
    np.testing.assert_array_equal(votes.sample_errors("lowest"), [0, 0, 0, 1])
    assert votes.accuracy() == 0.75
    assert votes.accuracy(ties="lowest") == 0.75
    with pytest.raises(ValueError, match=r"ties='coin'.*'expected' or 'lowest'"):
        votes.sample_errors("coin")


def test_nothing_can_be_changed(votes):
    masked = Votes([[0, 1]], [0, 1], valid=[[True, True]])
    for array in (
        votes.codes, votes.y, votes.classes, votes.weights, votes.correct,
        votes.accuracies, votes.samples, masked.valid, *votes.sample_counts(),
        *votes.verdict(), votes.pairs().both,
    ):  # fmt: skip
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0
    for name in ("codes", "y", "weights", "names"):
        with pytest.raises(AttributeError):
            setattr(votes, name, None)


def test_input_arrays_are_neither_written_nor_shared():
    predictions = np.array([[0, 1], [1, 1]])
    y = np.array([0, 1])
    weights = np.array([1.0, 2.0])
    for array in (predictions, y, weights):
        array.flags.writeable = False
    votes = Votes(predictions, y, weights=weights)
    assert not np.shares_memory(votes.codes, predictions)
    weights.flags.writeable = True
    weights[0] = 9
    assert votes.weights[0] == 1


def test_small_integer_input_is_copied():
    predictions = np.array([[0, 1], [1, 1]], dtype=np.uint8)
    y = np.array([0, 1], dtype=np.uint8)
    votes = Votes(predictions, y)
    predictions[:] = 0
    y[:] = 0
    np.testing.assert_array_equal(votes.codes, [[0, 1], [1, 1]])
    np.testing.assert_array_equal(votes.y, [0, 1])


@pytest.mark.parametrize(
    "through", [copy.copy, copy.deepcopy, lambda v: pickle.loads(pickle.dumps(v))]
)
def test_copies_are_as_immutable(votes, through):
    again = through(votes)
    assert not again.codes.flags.writeable
    assert again.names == votes.names
    np.testing.assert_array_equal(again.predict(), votes.predict())


@pytest.mark.parametrize(
    "labels",
    [
        [0, 1, 2],
        [-1, 0, 1],
        [1, 2, 30],
        [0, 1, 255],
        [-5, 1000, 10**12],
        [False, True],
        [0.5, 1.5, 2.0],
        ["no", "yes", "zéro"],
        [b"no", b"yes"],
        [date(2020, 1, 1), date(2021, 1, 1)],
        np.array(["2020-01-01", "2021-01-01"], dtype="datetime64[D]"),
        [(0, "a"), (1, "b")],
    ],
    ids=str,
)
def test_labels_of_any_sortable_type(labels):
    if isinstance(labels, np.ndarray):
        kinds = labels
    else:
        kinds = np.empty(len(labels), dtype=object)
        kinds[:] = labels
        if not isinstance(labels[0], (tuple, date)):
            kinds = np.array(labels)
    rng = np.random.default_rng(0)
    codes = rng.integers(0, len(kinds), (5, 40))
    y = rng.integers(0, len(kinds), 40)
    votes = Votes(kinds[codes], kinds[y])
    np.testing.assert_array_equal(votes.codes, codes)
    np.testing.assert_array_equal(votes.y, y)
    assert list(votes.classes) == list(kinds)


def test_many_classes():
    rng = np.random.default_rng(1)
    for n_classes, dtype in ((100, np.int8), (200, np.int16), (40_000, np.int32)):
        codes = rng.permutation(n_classes)[None].repeat(2, axis=0)
        votes = Votes(codes, np.arange(n_classes))
        assert votes.codes.dtype == dtype
        np.testing.assert_array_equal(votes.codes, codes)


def test_a_class_that_never_occurs_in_y_is_fine():
    votes = Votes([["dog", "cat"], ["cat", "ant"]], ["cat", "cat"])
    np.testing.assert_array_equal(votes.classes, ["ant", "cat", "dog"])
    np.testing.assert_array_equal(votes.codes, [[2, 1], [1, 0]])
    numbers = Votes([[5, 3], [3, 9]], [3, 3])
    np.testing.assert_array_equal(numbers.classes, [3, 5, 9])


def test_floats_that_are_whole_take_the_type_of_y():
    votes = Votes(np.array([[0.0, 1.0]]), np.array([0, 1]))
    assert votes.classes.dtype.kind == "i"
    assert Votes(np.array([[0.5, 1.0]]), np.array([0, 1])).classes.dtype.kind == "f"


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


@pytest.mark.parametrize(
    ("predictions", "y"),
    [
        ([[1]], [1]),  # one class, one member, one sample
        ([[1, 1]], [1, 1]),
        ([[0, 1], [0, 1]], [0, 1]),  # identical and perfect
        ([[1, 0], [1, 0]], [0, 1]),  # all wrong
    ],
)
def test_degenerate_votes_work(predictions, y):
    votes = Votes(predictions, y)
    values = quorate.diversity(votes)
    assert len(values) == 13
    assert np.isfinite(list(values.values())).all()
    assert 0 <= votes.accuracy() <= 1
    assert "Votes(" in repr(votes)
    quorate.assess_risk(votes)


@pytest.mark.parametrize(
    ("predictions", "y", "message"),
    [
        ([[0, 1, 1]], [0, 1], r"\(1, 3\).*\(2,\)"),
        ([0, 1], [0, 1], "2-d"),
        (np.zeros((2, 2, 2), int), [0, 1], r"\(2, 2, 2\)"),
        ([[0, 1]], [[0, 1]], r"1-d.*\(1, 2\)"),
        ([], [], "2-d"),
        (np.empty((0, 3), int), [0, 1, 1], r"no votes.*\(0, 3\)"),
        (np.empty((2, 0), int), np.empty(0, int), r"no votes.*\(2, 0\)"),
        ([[0, 1], [0, 1, 1]], [0, 1], "different numbers of samples, 2 and 3"),
        ([[0.0, np.nan]], [0.0, 1.0], r"predictions.*missing label at sample 1"),
        (np.array([[0, 1], [0, np.nan]]), [0, 1], "at member 1, sample 1"),
        ([[0, 1]], [0.0, np.nan], "y: missing label at sample 1"),
        ([["a", None]], ["a", "b"], "missing label at sample 1"),
        ([["a", "b"]], ["a", None], "y: missing label at sample 1"),
        ([["a", float("nan")]], ["a", "b"], "missing label at sample 1"),
        (np.array([["a", None]], dtype=object), ["a", "b"], "member 0, sample 1"),
        ([["a", "b"]], [0, 1], "mixed types, text and numbers"),
        ([["a", 1]], ["a", "b"], "mixed types, int and str"),
        ([[0, 1], ["a", "b"]], [0, 1], "mixed types, numbers and text"),
        ([np.array([0, 1]), np.array(["a", "b"])], [0, 1], "mixed types"),
        ([[b"a", b"b"]], ["a", "b"], "mixed types, bytes and text"),
        ([[1j, 2j]], [1j, 2j], "cannot be sorted"),
        (np.array([["NaT", "2020"]], "M8[D]"), np.array(["2020"] * 2, "M8[D]"),
         "missing label"),
    ],
)  # fmt: skip
def test_refused(predictions, y, message):
    with pytest.raises(ValueError, match=message):
        Votes(predictions, y)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1, -1], "member 1 has -1.0"),
        ([1, np.nan], "member 1 has nan"),
        ([np.inf, 1], "member 0 has inf"),
        ([0, 0], "all weights are zero"),
        ([1, 1, 1], r"shape \(2,\); got shape \(3,\)"),
        (1.0, r"got shape \(\)"),
    ],
)
def test_weights_refused(weights, message):
    with pytest.raises(ValueError, match=message):
        Votes([[0, 1], [1, 1]], [0, 1], weights=weights)


def test_names_refused():
    with pytest.raises(ValueError, match="one name per member, 2; got 1"):
        Votes([[0, 1], [1, 1]], [0, 1], names=["a"])
    with pytest.raises(ValueError, match="the text 'ab'"):
        Votes([[0, 1], [1, 1]], [0, 1], names="ab")


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
        np.testing.assert_array_equal(votes.sample_counts()[1], [2, 3, 2])

    def test_what_is_hidden_is_not_looked_at(self):
        hidden = [[True, False], [True, True]]
        for rubbish in (np.nan, 7.0):
            votes = Votes(np.array([[0, rubbish], [1, 1]]), [0, 1], valid=hidden)
            np.testing.assert_array_equal(votes.classes, [0, 1])
        votes = Votes([["a", None], ["b", "b"]], ["a", "b"], valid=hidden)
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

    @pytest.mark.parametrize(
        ("valid", "message"),
        [
            ([[False, False], [True, True]], "member 0 has no valid sample"),
            ([[True, True]], r"shape \(1, 2\).*\(2, 2\)"),
            ([[1, 0], [1, 1]], "boolean"),
        ],
    )
    def test_refused(self, valid, message):
        with pytest.raises(ValueError, match=message):
            Votes([[0, 1], [1, 1]], [0, 1], valid=valid)

    def test_mixed_types_are_still_refused(self):
        with pytest.raises(ValueError, match="mixed types"):
            Votes(np.array([["a", "b"]]), [0, 1], valid=[[True, True]])


class TestKeep:
    def test_mask_and_positions(self, votes):
        mask = votes.keep([True, False, True])
        places = votes.keep(np.array([0, 2]))
        assert mask.names == places.names == ("x", "z")
        np.testing.assert_array_equal(mask.weights, [1, 3])
        np.testing.assert_array_equal(mask.codes, places.codes)
        assert votes.keep([2, 0]).names == ("z", "x")

    def test_classes_stay(self, votes):
        np.testing.assert_array_equal(votes.keep([1]).classes, ["a", "b", "c"])

    @pytest.mark.parametrize(
        ("members", "message"),
        [
            ([True, False], r"shape \(3,\)"),
            ([], "at least one member"),
            ([False, False, False], "at least one member"),
            ([0, 3], "from 0 to 2"),
            ([-1], "from 0 to 2"),
            ([0, 0], "named twice"),
            ([0.5], "whole numbers"),
            ([[0, 1]], "at least one"),
        ],
    )
    def test_refused(self, votes, members, message):
        with pytest.raises(ValueError, match=message):
            votes.keep(members)


def test_unweighted(votes):
    plain = votes.unweighted()
    assert plain.weights is None
    assert plain.names == votes.names
    assert votes.weights is not None


def test_members_left_without_weight_vote_as_equals():
    votes = Votes([[0, 1], [1, 1], [0, 0]], [0, 1], weights=[0, 1, 0])
    assert votes.keep([0, 2]).weights is None
    np.testing.assert_array_equal(votes.keep([0, 1]).weights, [0, 1])


def test_pairs_of_labels_need_two_classes(votes):
    with pytest.raises(ValueError, match="these votes have 3"):
        votes.pairs("label")
    with pytest.raises(ValueError, match="outputs='both'"):
        votes.pairs("both")


class TestForPeople:
    def test_repr(self, votes):
        assert repr(votes) == (
            "Votes(3 members, 4 samples, 3 classes, weighted; "
            "members 75.0 % correct, their vote 75.0 %)"
        )
        assert repr(Votes([[1]], [1])).startswith("Votes(1 member, 1 sample, 1 class;")

    def test_html_escapes_labels_and_names(self):
        hostile = "<script>alert(1)</script>"
        votes = Votes([[hostile, "b"]], [hostile, "b"], names=['"><img>'])
        html = votes._repr_html_()
        assert "<script>" not in html
        assert "<img>" not in html
        assert "&lt;script&gt;" in html

    def test_html_mentions_mask_and_weights(self):
        votes = Votes([[0, 1], [1, 1]], [0, 1], weights=[1, 2],
                      valid=[[True, False], [True, True]])  # fmt: skip
        html = votes._repr_html_()
        assert "usable votes" in html
        assert "75.0%" in html
        assert "1 to 2" in html

    def test_html_of_many_classes_is_short(self):
        votes = Votes([range(50)], range(50))
        assert "42 more" in votes._repr_html_()
