"""From tables to numbers, and from several classes to two."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.study.test_data import ENTRIES, SHARED, needs_shared

from quorate.study import load_data
from quorate.study._data_set import log_preparation, make_preparation, to_binary
from quorate.study._generators import GENERATORS


@pytest.fixture
def table():
    return pd.DataFrame(
        {
            "age": [10.0, np.nan, 30.0, 20.0],
            "sex": ["f", "m", None, "m"],
            "smokes": [True, False, True, True],
            "visits": [1, 2, 3, 4],
        }
    )


def described(table):
    return log_preparation(make_preparation(table).fit(table), table)["what"]


def test_what_comes_out(table):
    out = make_preparation(table).fit_transform(table)
    assert type(out) is np.ndarray
    assert out.dtype == np.float64
    names = make_preparation(table).fit(table).get_feature_names_out().tolist()
    assert [name.split("__")[1] for name in names] == [
        "age", "visits", "sex_f", "sex_m", "smokes_False", "smokes_True"]  # fmt: skip
    assert out.tolist() == [
        [10, 1, 1, 0, 0, 1],
        [20, 2, 0, 1, 1, 0],
        [30, 3, 0, 1, 0, 1],
        [20, 4, 0, 1, 0, 1],
    ]


def test_nothing_is_learned_from_the_test_part(table):
    fitted = make_preparation(table).fit(table.iloc[:3])
    test = pd.DataFrame(
        {"age": [np.nan], "sex": ["x"], "smokes": [True], "visits": [9]}
    )
    # the median of 10 and 30, and no category for a sex not seen
    assert fitted.transform(test).tolist() == [[20, 9, 0, 0, 0, 1]]
    # "f" and "m" once each: the first in sorted order fills the gap
    assert fitted.transform(table)[2].tolist() == [30, 3, 1, 0, 0, 1]


def test_a_missing_column_is_noticed_and_the_order_of_columns_is_not(table):
    fitted = make_preparation(table).fit(table)
    with pytest.raises(ValueError, match="age"):
        fitted.transform(table.drop(columns="age"))
    np.testing.assert_array_equal(
        fitted.transform(table[["visits", "sex", "smokes", "age"]]),
        fitted.transform(table),
    )


@pytest.mark.parametrize(
    "types",
    [
        {"age": "Float64", "sex": "category", "smokes": "boolean", "visits": "Int64"},
        {"sex": object, "smokes": object, "visits": np.uint8},
        {"sex": "string", "visits": np.float32},
    ],
)
def test_the_type_of_storage_does_not_matter(types, table):
    same = table.astype(types)
    np.testing.assert_array_equal(
        make_preparation(same).fit_transform(same),
        make_preparation(table).fit_transform(table),
    )
    assert described(same) == described(table)


def test_numbers_marked_as_categories_are_categories():
    X = pd.DataFrame({"code": pd.Categorical([3, 1, 3])})
    assert make_preparation(X).fit_transform(X).tolist() == [[0, 1], [1, 0], [0, 1]]


def test_columns_without_any_value_stay():
    X = pd.DataFrame({"a": [np.nan, np.nan], "b": [None, None], "c": [1.0, 2.0]})
    X["b"] = X["b"].astype(object)
    made = make_preparation(X).fit(X)
    out = made.transform(X)
    assert out.tolist() == [[0, 1, 1], [0, 2, 1]]
    # empty in the training part, filled in the test part: the shape is the same
    later = made.transform(pd.DataFrame({"a": [5.0], "b": ["x"], "c": [3.0]}))
    assert later.tolist() == [[5, 3, 0]]


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        (["visits"], "1 numeric column"),
        (["visits", "age"], "2 numeric columns, 1 with missing values filled by the "
         "median"),
        (["smokes"], "1 categorical column one-hot"),
        (["sex", "smokes"], "2 categorical columns one-hot, 1 with missing values "
         "filled by the most frequent"),
        (["smokes", "visits"], "1 numeric column; 1 categorical column one-hot"),
    ],
)  # fmt: skip
def test_the_line_for_the_log(columns, said, table):
    assert described(table[columns]) == said


@needs_shared
@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry["name"])
def test_shared_sets_can_be_prepared(entry):
    taken = entry["name"] in GENERATORS
    X = load_data(entry["file"] if taken else entry["name"], data_dir=SHARED).X
    out = make_preparation(X).fit_transform(X)
    one_hot = sum(X[name].nunique() - 1 for name in entry["categorical_features"])
    assert out.shape == (entry["rows"], entry["features"] + one_hot)
    assert np.isfinite(out).all()
    numeric = [name for name in X if name not in entry["categorical_features"]]
    for place, name in enumerate(numeric):
        known = X[name].notna().to_numpy()
        np.testing.assert_array_equal(out[known, place], X[name].to_numpy()[known])
        assert (out[~known, place] == X[name].median()).all()


# --- two classes


def test_numbers_are_sorted_as_numbers():
    assert to_binary([10, 9, 9, 2, 2]).tolist() == [1, 1, 1, 0, 0]
    assert to_binary(["10", "9", "9", "2", "2"]).tolist() == [0, 1, 1, 1, 1]


@given(st.lists(st.integers(0, 6), min_size=1, max_size=60))
def test_to_binary_against_its_definition(labels):
    out = to_binary(labels)
    total, start = 0, None
    for label in sorted(set(labels)):
        total += labels.count(label)
        if start is None and total > len(labels) / 2:
            start = label
    if start == min(labels):
        assert out.tolist() == [int(label != start) for label in labels]
    else:
        assert out.tolist() == [int(label >= start) for label in labels]
    assert len(set(out.tolist())) == min(len(set(labels)), 2)
