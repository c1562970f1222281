"""The table itself: three ways in, gaps, names, refusals."""

import copy
import pickle

import numpy as np
import pandas as pd
import pytest

from quorate.stats import (
    Scores,
    average_ranks,
    friedman,
    nemenyi,
    wilcoxon_holm,
    win_tie_loss,
)

VALUES = np.arange(12, dtype=float).reshape(2, 3, 2)
NAMES = {"methods": ["a", "b", "c"], "blocks": ["iris", "wine"], "repeats": ["x", "y"]}


def rows():
    return [
        (block, method, repeat, VALUES[i, j, k])
        for i, block in enumerate(NAMES["blocks"])
        for j, method in enumerate(NAMES["methods"])
        for k, repeat in enumerate(NAMES["repeats"])
    ]


def same(one, other):
    np.testing.assert_array_equal(one.values, other.values)
    assert one.methods == other.methods
    assert one.blocks == other.blocks
    assert one.repeats == other.repeats


def test_three_ways_in_make_the_same_table():
    table = Scores(VALUES, **NAMES)
    columns = {name: VALUES[:, j] for j, name in enumerate(NAMES["methods"])}
    same(table, Scores(columns, blocks=NAMES["blocks"], repeats=NAMES["repeats"]))
    same(table, Scores.from_rows(rows()))
    assert (table.n_blocks, table.n_methods, table.n_repeats) == (2, 3, 2)
    np.testing.assert_array_equal(table.means, [[0.5, 2.5, 4.5], [6.5, 8.5, 10.5]])
    same(Scores(VALUES[:, :, 0]), Scores(VALUES[:, :, :1]))
    same(Scores({"0": [1, 2], "1": [3, 4]}), Scores([[1, 3], [2, 4]]))
    assert Scores([[1, 3], [2, 4]]).methods == ("0", "1")


def test_data_frames_keep_their_names():
    columns = {"a": [1.0, 2.0], "b": [3.0, None]}
    frame = pd.DataFrame(columns, index=["iris", "wine"])
    table = Scores(frame)
    assert (table.methods, table.blocks) == (("a", "b"), ("iris", "wine"))
    assert table.n_missing == 1
    long = frame.stack(future_stack=True).reset_index()
    long.insert(2, "repeat", 0)
    same(Scores.from_rows(long.itertuples(index=False)), Scores(frame, repeats=["0"]))


def test_order_of_rows_only_orders_the_names():
    mixed = [rows()[k] for k in (11, 3, 7, 0, 5, 2, 9, 1, 10, 4, 8, 6)]
    table = Scores.from_rows(mixed)
    assert (table.blocks, table.methods) == (("wine", "iris"), ("c", "b", "a"))
    assert table.repeats == ("y", "x")
    np.testing.assert_array_equal(table.values, VALUES[::-1, ::-1, ::-1])


def test_the_table_is_frozen_and_its_own():
    given = VALUES.copy()
    table = Scores(given)
    given[:] = 0
    np.testing.assert_array_equal(table.values, VALUES)
    with pytest.raises(ValueError, match="read-only"):
        table.values[0, 0, 0] = 1
    with pytest.raises(AttributeError):
        table.methods = ("x", "y", "z")


@pytest.mark.parametrize("again", [lambda t: pickle.loads(pickle.dumps(t)), copy.copy])
def test_survives_pickle_and_copy(again):
    table = Scores(VALUES, **NAMES)
    same(table, again(table))


@pytest.mark.parametrize(
    "test",
    [average_ranks, friedman, nemenyi, wilcoxon_holm, lambda s: win_tie_loss(s, 0)],
)
def test_gaps_are_refused_by_name_and_can_be_dropped(test):
    table = Scores.from_rows([r for r in rows() if r[:3] != ("iris", "b", "y")])
    assert table.n_missing == 1
    gap = r": no score for method 'b' on block 'iris', repeat 'y'; add it"
    with pytest.raises(ValueError, match=gap):
        test(table)
    whole = table.complete_blocks()
    assert whole.blocks == ("wine",)
    np.testing.assert_array_equal(whole.values, VALUES[1:])


def test_none_and_masked_entries_are_gaps():
    table = Scores.from_rows([("iris", "a", 0, None), ("iris", "b", 0, 1)])
    assert table.n_missing == 1
    assert table.methods == ("a", "b")
    masked = np.ma.masked_array([[1.0, 2.0], [3.0, 4.0]], [[0, 0], [1, 0]])
    assert Scores(masked).complete_blocks().values.ravel().tolist() == [1.0, 2.0]
    assert Scores({"a": masked[:, 0], "b": [1, 2]}).n_missing == 1
    gappy = repr(Scores([[1, None, None]]))
    assert gappy == "Scores(n_blocks=1, n_methods=3, n_repeats=1, n_missing=2)"
