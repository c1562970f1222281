"""Tables in files: what is read, what is missing, which label a text means."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from sklearn.ensemble import RandomForestClassifier

import quorate
from quorate._data import SampleForm, cut_rows, read_batches, read_samples, read_table
from quorate.exceptions import BatchError

RNG = np.random.default_rng(0)
TABLE = pd.DataFrame(RNG.normal(size=(40, 3)), columns=list("abc"))
Y = np.arange(40) % 2


def test_labels_of_pools_are_not_those_that_members_count():
    names = np.array(["red", "white"])[Y]
    named, counted = (
        [RandomForestClassifier(2).fit(TABLE, y) for _ in range(2)] for y in (names, Y)
    )
    assert SampleForm.for_models(named).labels.tolist() == ["red", "white"]
    assert SampleForm.for_models(counted).labels is None
    assert SampleForm.for_models(counted[0]).labels.tolist() == [0, 1]


def test_rows_of_arrow_tables_are_cut():
    rows = pa.table({"a": range(9)})
    assert cut_rows(rows, slice(2, 5)).to_pydict() == {"a": [2, 3, 4]}


def test_formats_agree(tmp_path):
    y = np.array(["red", "white"])[Y]
    frame = TABLE.assign(kind=y)
    frame.to_parquet(tmp_path / "wine.parquet")
    for ending in ("csv", "csv.gz"):
        frame.to_csv(tmp_path / f"wine.{ending}", index=False)
    for path in tmp_path.iterdir():
        X, again = read_samples(path, "kind")
        assert list(X.columns) == list(TABLE.columns)
        np.testing.assert_allclose(X.to_numpy(), TABLE.to_numpy())
        np.testing.assert_array_equal(again, y)


def test_missing_values_are_missing_in_every_format(tmp_path):
    (tmp_path / "a.csv").write_text("a,b\n1,x\n?, NA\n,null\n")
    pd.DataFrame({"a": [1, None, None], "b": ["x", None, None]}).to_parquet(
        tmp_path / "a.parquet"
    )
    for path in tmp_path.iterdir():
        assert read_table(path).isna().to_numpy()[:, 0].tolist() == [False, True, True]
        assert read_table(path).isna().to_numpy()[:, 1].tolist() == [False, True, True]


def test_missing_values_in_the_last_column_are_no_short_lines(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("kind,a,b\nx,1,2\n\ny,1,\n   \nx,1,NA\n")
    X, y = read_samples(path, "kind")
    np.testing.assert_array_equal(X.to_numpy(), [[1, 2], [1, np.nan], [1, np.nan]])
    assert y.tolist() == ["x", "y", "x"]


def fitted(labels):
    y = np.array(labels)[Y]
    return RandomForestClassifier(3, random_state=0).fit(TABLE, y), y


def read_both_ways(form, path):
    """Return the labels of a file, read whole and in batches."""
    batches = read_batches(path, "test", "kind", form=form, rows=7)
    parts = [y for _, _, y in batches]
    return read_samples(path, "kind", form)[1], np.concatenate(parts)


@pytest.mark.parametrize(
    "labels",
    [["01", "02"], ["1.0", "2.0"], ["1e3", "1000"], ["NA", "None"], ["", "x"],
     [" a", "b "], ["nan", "?"], ["true", "True"], [True, False], [3, 7], [1.0, 2.0]],
)  # fmt: skip
def test_labels_come_back_as_the_model_knows_them(labels, tmp_path):
    forest, y = fitted(labels)
    TABLE.assign(kind=y).to_csv(tmp_path / "new.csv", index=False)
    for found in read_both_ways(SampleForm.for_models(forest), tmp_path / "new.csv"):
        assert found.tolist() == y.tolist()


@pytest.mark.parametrize(
    ("texts", "labels"),
    [
        (["0", "1"], [0, 1]),
        (["007", "7"], ["007", "7"]),
        (["1_000", "1000"], ["1_000", "1000"]),
        (["0x10", "16"], ["0x10", "16"]),
        (["1e400", "2"], ["1e400", "2"]),
        (["inf", "1"], ["inf", "1"]),
        (["1e-400", "0"], ["1e-400", "0"]),
        (["9007199254740993", "9007199254740992"],
         [9007199254740993, 9007199254740992]),
        (["18446744073709551615", "1"], ["18446744073709551615", "1"]),
        (["0.1", "0.1000000000000000055"], ["0.1", "0.1000000000000000055"]),
        (["1", "1.0"], [1.0, 1.0]),
        (["+1", "-1"], [1, -1]),
        (["-0", "0"], [0, 0]),
        (["2.5", "1e2"], [2.5, 100.0]),
        (["\u0663", "3"], ["\u0663", "3"]),
        (["True", "False"], ["True", "False"]),
        ([" z ", "z"], ["z", "z"]),
    ],
)  # fmt: skip
def test_text_becomes_a_number_only_where_nothing_is_lost_by_it(
    texts, labels, tmp_path
):
    path = tmp_path / "a.csv"
    path.write_text("a,y\n" + "".join(f"0,{text}\n" for text in texts))
    assert read_samples(path, "y")[1].tolist() == labels


@pytest.mark.parametrize(
    ("labels", "texts", "expected"),
    [
        ([5, 7], ["5", "5.0", " 7", "05", "9"], [5, 5, 7, 5, 9]),
        (["1", "01"], ["01", "1", "1.0"], ["01", "1", "1.0"]),
        ([2**53, 2**53 + 1], [str(2**53 + 1)], [2**53 + 1]),
        ([False, True], ["true", "FALSE", "1"], [True, False, True]),
        ([" a", "b "], ["a", "b", "NA_"], [" a", "b ", "NA_"]),
        (None, ["1", "2.5"], [1, 2.5]),
        (None, ["1", "02"], ["1", "02"]),
    ],
)
def test_which_label_a_text_means(labels, texts, expected):
    form = SampleForm(labels=None if labels is None else np.array(labels))
    found = form.read_labels(np.array(texts, dtype=object), "kind", written=True)
    assert found.tolist() == expected


def test_parts_with_numbers_among_texts(tmp_path):
    forest, y = fitted(["ant", "bee"])
    TABLE.assign(kind=y).to_parquet(tmp_path / "a.parquet")
    TABLE.assign(kind=np.arange(len(y)) % 2).to_parquet(tmp_path / "b.parquet")
    why = r"b\.parquet: column 'kind': 0 at row 0 is no"
    with pytest.raises(BatchError, match=why):
        quorate.summarise(forest, tmp_path, target="kind")


def test_folders_of_a_model_with_text_labels(tmp_path):
    forest, y = fitted(["01", "02"])
    for at in range(2):
        part = TABLE.assign(kind=y)[at::2]
        part.to_csv(tmp_path / f"{at}.csv", index=False)
    rows = np.r_[0:40:2, 1:40:2]
    form = SampleForm.for_models(forest)
    parts = [labels for _, _, labels in read_batches(tmp_path, "", "kind", form=form)]
    assert np.concatenate(parts).tolist() == y[rows].tolist()
    (tmp_path / "1.csv").write_text("a,b,c,kind\n1,2,3,\n")
    with pytest.raises(BatchError, match=r"1\.csv: column 'kind': missing label"):
        quorate.summarise(forest, tmp_path, target="kind")


# What is taken for batches, and what is made of them

GRID, KINDS = np.arange(12.0).reshape(6, 2), np.array([0, 1, 0, 1, 0, 1])
PAIR = (GRID, KINDS)


def parts(given, target=None):
    batches = read_batches(given, "test", target)
    return [(np.asarray(a).tolist(), np.asarray(b).tolist()) for _, a, b in batches]


def test_pairs_come_as_they_are():
    expected = [
        (GRID.tolist(), KINDS.tolist()),
        (GRID[:2].tolist(), KINDS[:2].tolist()),
    ]
    assert parts([PAIR, (GRID[:2], KINDS[:2])]) == expected
    assert parts(iter([PAIR, (GRID[:2], KINDS[:2])])) == expected


def test_one_file_or_several(tmp_path):
    files = []
    for at in range(3):
        rows = slice(2 * at, 2 * at + 2)
        frame = pd.DataFrame(GRID[rows], columns=["a", "b"]).assign(kind=KINDS[rows])
        files.append(tmp_path / f"{at}.csv")
        frame.to_csv(files[-1], index=False)
    whole = [
        (GRID[s].tolist(), KINDS[s].tolist()) for s in map(slice, (0, 2, 4), (2, 4, 6))
    ]
    assert parts(tmp_path, "kind") == whole
    assert parts(str(files[1]), "kind") == whole[1:2]
    assert parts([files[2], files[0]], "kind") == [whole[2], whole[0]]
    assert parts((files[2],), "kind") == whole[2:]
