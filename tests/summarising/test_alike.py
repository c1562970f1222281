"""Batches that are not alike, or cannot be had, are refused by name."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from tests.summarising.conftest import in_batches

import quorate
from quorate.exceptions import BatchError

NAMES = [f"x{at}" for at in range(8)]


def unlike(X, y):
    frame = pd.DataFrame(X, columns=NAMES)
    missing = np.where(np.arange(50) == 7, np.nan, y[:50])
    nobody = np.array([*y[:49], None], dtype=object)
    good, rows, labels = (X[:100], y[:100]), X[:50], y[:50]
    framed = frame[:100], y[:100]
    return {
        "a column less": (framed, (frame[:50].drop(columns="x3"), labels),
                          "it has no column 'x3', but the first batch has one"),
        "a column more": (framed, (frame[:50].assign(z=1.0), labels),
                          "it has a column 'z', but the first batch has none"),
        "a column twice": (framed, (frame[:50][[*NAMES, "x3"]], labels),
                           "it has 9 columns, but the first batch has 8"),
        "another order": (framed, (frame[:50][NAMES[::-1]], labels),
                          "order: column 0 is 'x7', but 'x0' in the first batch"),
        "no names": (framed, (rows, labels),
                     "it is an array, but the first batch is a frame of pandas"),
        "a series": (good, (frame["x0"][:50], labels),
                     "it is one column of a frame, but the first batch is an array"),
        "sparse": (good, (sparse.csr_array(rows), labels),
                   "it is sparse, but the first batch is an array"),
        "fewer columns": (good, (rows[:, :5], labels),
                          "it has 5 features, but the first batch has 8 features"),
        "no rows": (good, (X[:0], y[:0]), "it has no rows"),
        "NaN labels": (good, (rows, missing), "y: missing label at sample 7"),
        "None labels": (good, (rows, nobody), "y: .*49"),
        "text labels": (good, (rows, np.array(["ant", "bee"] * 25)),
                        "labels of mixed types, numbers and text"),
        "no pair": (good, X[:5], r"a batch must be a pair \(X, y\), got ndarray"),
    }  # fmt: skip


@pytest.mark.filterwarnings("ignore:X has feature names")
@pytest.mark.parametrize("what", unlike(np.zeros((100, 8)), np.zeros(100)))
def test_a_batch_unlike_the_first_is_named(forest, data, what):
    first, second, words = unlike(*data)[what]
    with pytest.raises(BatchError, match=f"^summarise: batch 1: .*{words}"):
        quorate.summarise(forest, (pair for pair in [first, second]))


@pytest.mark.parametrize("ending", ["parquet", "csv"])
def test_a_file_whose_columns_come_in_another_order_is_named(
    forest, data, ending, tmp_path
):
    frame = pd.DataFrame(data[0][:300], columns=NAMES).assign(label=data[1][:300])
    turned = frame[["label", *NAMES[::-1]]]
    for at, table in enumerate((frame, turned)):
        path = tmp_path / f"part-{at}.{ending}"
        if ending == "csv":
            table.to_csv(path, index=False)
        else:
            table.to_parquet(path)
    words = r"part-1\.\w+: its columns are in a different order: column 0 is 'label'"
    with pytest.raises(BatchError, match=words):
        quorate.summarise(forest, tmp_path, target="label")


def test_an_index_that_a_file_keeps_is_no_column(forest, data, tmp_path):
    frame = pd.DataFrame(data[0][:300], columns=NAMES).assign(label=data[1][:300])
    for at, rows in enumerate((frame[:200], frame[200:])):
        rows.set_index(rows.index + 5).to_parquet(tmp_path / f"part-{at}.parquet")
    found = quorate.summarise(forest, tmp_path, target="label")
    assert found.accuracy() == forest.score(data[0][:300], data[1][:300])


# A source that ends badly


def ends_badly(pairs):
    yield from pairs
    raise ConnectionError("the store is gone")


def test_a_source_that_raises_is_told_with_the_number_of_the_batch(forest, data):
    pairs = list(in_batches(data[0][:300], data[1][:300], 100))
    words = r"batch 3: it could not be loaded \(ConnectionError: the store is gone\)"
    with pytest.raises(BatchError, match=words) as caught:
        quorate.summarise(forest, ends_badly(pairs))
    assert isinstance(caught.value.__cause__.__cause__, ConnectionError)


def test_labels_of_two_types_are_refused_for_pools_too(forest, data):
    X, y = data
    pool = {"one": forest.estimators_[0], "two": quorate.keep_members(forest, [1, 2])}
    pairs = [(X[:50], y[:50]), (X[50:100], np.array(["ant", "bee"] * 25))]
    with pytest.raises(BatchError, match="batch 1: member 'one'"):
        quorate.summarise(pool, pairs)
