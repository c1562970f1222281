"""Votes in tables: frames, CSV and Parquet files."""

import gzip
import re
import tracemalloc

import numpy as np
import pandas as pd
import polars as pl
import pytest

from quorate import Votes
from quorate.exceptions import FileFormatError

FRAME = pd.DataFrame(
    {"tree": ["a", "b", "b"], "truth": ["a", "b", "a"], "knn": ["a", "a", "b"]}
)


@pytest.fixture
def csv(tmp_path):
    """Return a function that writes a CSV file and reads votes from it."""

    def read(text, **options):
        path = tmp_path / "votes.csv"
        path.write_text(text, encoding="utf-8")
        return Votes.from_table(path, **options)

    return read


def test_forms_agree(tmp_path):
    FRAME.to_csv(tmp_path / "v.csv", index=False)
    with gzip.open(tmp_path / "v.csv.gz", "wt") as file:
        file.write(FRAME.to_csv(index=False))
    FRAME.to_parquet(tmp_path / "v.parquet")
    FRAME.set_index("truth").to_parquet(tmp_path / "w.parquet")
    paths = sorted(tmp_path.iterdir())
    for table in (FRAME, pl.from_pandas(FRAME), *paths, *map(str, paths)):
        votes = Votes.from_table(table, label="truth")
        assert votes.names == ("tree", "knn")
        np.testing.assert_array_equal(votes.codes, [[0, 1, 1], [0, 0, 1]])
        np.testing.assert_array_equal(votes.y, [0, 1, 0])


def test_chosen_members_and_weights(csv):
    votes = Votes.from_table(
        FRAME, label="truth", members=["knn", "tree"], weights=[1, 2]
    )
    assert votes.names == ("knn", "tree")
    np.testing.assert_array_equal(votes.weights, [1, 2])
    # Other columns are not looked at.
    assert csv("id,a,y\nx,1,1\n,2,2\n", members=["a"]).classes.tolist() == [1, 2]


def test_quotes_spaces_and_byte_order_mark(csv):
    votes = csv('\ufeffa, "b",y\n"x, y", z ,z\nz, z ,"x, y"\n')
    np.testing.assert_array_equal(votes.classes, ["x, y", "z"])
    votes = csv("a, b, y\nx, x, z\nz, z, z\n")
    np.testing.assert_array_equal(votes.classes, ["x", "z"])
    np.testing.assert_array_equal(votes.codes, [[0, 1], [0, 1]])


@pytest.mark.parametrize(
    ("texts", "labels"),
    [
        (["0", "1"], [0, 1]),
        (["007", "7"], ["007", "7"]),
        (["1_000", "1000"], ["1000", "1_000"]),
        (["0x10", "16"], ["0x10", "16"]),
        (["1e400", "2"], ["1e400", "2"]),
        (["inf", "1"], ["1", "inf"]),
        (["1e-400", "0"], ["0", "1e-400"]),
        (["9007199254740993", "9007199254740992"],
         [9007199254740992, 9007199254740993]),
        (["18446744073709551615", "1"], ["1", "18446744073709551615"]),
        (["0.1", "0.1000000000000000055"], ["0.1", "0.1000000000000000055"]),
        (["1", "1.0"], [1.0]),
        (["+1", "-1"], [-1, 1]),
        (["-0", "0"], [0]),
        (["2.5", "1e2"], [2.5, 100.0]),
        (["\u0663", "3"], ["3", "\u0663"]),
        (["True", "False"], ["False", "True"]),
    ],
)  # fmt: skip
def test_text_becomes_a_number_only_where_nothing_is_lost_by_it(texts, labels, csv):
    votes = csv("a,y\n" + "".join(f"{text},{texts[0]}\n" for text in texts))
    assert votes.classes.tolist() == labels


def test_labels_of_all_columns_are_of_one_type(csv):
    votes = csv("a,b,y\n7,1,1\n1,007,1\n")
    assert votes.classes.tolist() == ["007", "1", "7"]
    assert votes.codes.tolist() == [[2, 1], [1, 0]]
    votes = csv("a,b,y\n" + "".join(f"{x},{x}.0,{x}\n" for x in range(40_000)))
    np.testing.assert_array_equal(votes.classes, np.arange(40_000.0))
    np.testing.assert_array_equal(votes.codes, [votes.y, votes.y])


@pytest.mark.parametrize("text", ["NA", "NaN", "nan", "<NA>", "NULL", "None", "?"])
@pytest.mark.parametrize("other", ["a", "1"])
def test_missing_labels(text, other, csv):
    why = rf"column 'a': missing label at row 1; '{re.escape(text)}' cannot be a label"
    with pytest.raises(ValueError, match=why):
        csv(f"a,y\n{other},{other}\n{text},{other}\n")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", r"votes\.csv: empty file"),
        ("a,y\n", r"votes\.csv: no rows"),
        ("a,y\n1,1\n1\n", "not a readable table .line 3 has 1 fields"),
        ('a,y\n1,"2\n3,4\n', "line 3: unexpected end of data"),
        ("a,y\n1,\n", "column 'y': missing label at row 0"),
        ("a,a,y\n1,1,1\n", "column 'a' appears twice"),
        (",a,y\n0,1,1\n", "column 1 has no name, as an index; write it with"),
        ("y\n1\n", "no member column"),
        ("a,Y\n1,1\n", "unknown column 'y'; did you mean 'Y'"),
    ],
)
def test_bad_csv(text, why, csv):
    with pytest.raises(ValueError, match=why):
        csv(text)


NUMBERS = pd.DataFrame({"a": [0, 1], "b": [0, 1], "y": [0, 1]})


@pytest.mark.parametrize(
    ("table", "options", "why"),
    [
        (FRAME, {"label": "trut"}, "'truth'"),
        (FRAME.assign(tree=["a", None, "b"]), {"label": "truth"},
         "column 'tree': missing label at row 1"),
        (FRAME.assign(tree=[1, 2, 3]), {"label": "truth"}, "mixed types"),
        (NUMBERS, {"members": ["a", "a"]}, "column 'a' appears twice"),
        (NUMBERS, {"members": ["y"]}, "column 'y' contains the labels and cannot be "
            "a member"),
        (NUMBERS, {"members": "ab"}, "members must be a list of columns, got 'ab'"),
        (NUMBERS.set_axis([1, "1", "y"], axis=1), {}, "column '1' appears twice"),
        (NUMBERS.rename(columns={"a": "Unnamed: 0"}), {}, "'Unnamed: 0' looks like an"),
        (NUMBERS.astype("Int64").replace(1, pd.NA), {}, "missing label at row 1"),
    ],
)  # fmt: skip
def test_bad_frames(table, options, why):
    with pytest.raises(ValueError, match=why):
        Votes.from_table(table, **options)


@pytest.mark.parametrize(
    ("table", "error", "words"),
    [
        ([[1]], TypeError, "a path or a data frame, got list"),
        (__file__, ValueError, r"a table must be a file ending in \.csv, \.csv\.gz"),
        ("nowhere.csv", FileNotFoundError, "no such file"),
    ],
)
def test_no_tables(table, error, words):
    with pytest.raises(error, match=words):
        Votes.from_table(table)


@pytest.mark.parametrize(("rows", "columns"), [(10, 20_000), (40_000, 5)])
def test_memory_is_a_few_pointers_per_cell(rows, columns, tmp_path):
    path = tmp_path / "votes.csv"
    line = ",".join("01"[place % 2] for place in range(columns)) + ",1\n"
    header = ",".join(f"m{place}" for place in range(columns)) + ",y\n"
    path.write_text(header + line * rows)
    tracemalloc.start()
    votes = Votes.from_table(path)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert (votes.n_members, votes.n_samples) == (columns, rows)
    # columns of pandas, two pointers per cell and its code
    assert peak < 3000 * columns + 25 * rows * (columns + 1) + 10**6


@pytest.mark.parametrize("truth", [[0, 1], ["no", "yes"]])
def test_probabilities_are_no_votes(truth, tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.random(20), "b": rng.random(20)})
    frame["y"] = rng.choice(truth, 20)
    if truth[0] == "no":
        frame.loc[:1, "a"] = [0.0, 1.0]  # both ends are probabilities too
    frame.to_csv(tmp_path / "v.csv", index=False)
    with pytest.raises(ValueError, match=r"v\.csv: a vote is a label, but 0\.\d"):
        Votes.from_table(tmp_path / "v.csv")
    if truth == [0, 1]:
        with pytest.raises(ValueError, match="a vote is a label"):
            Votes.from_table(frame)


def test_fractions_that_are_labels_and_nullable_columns():
    labels = [0.0, 0.25, 0.5, 0.75, 1.0]
    frame = pd.DataFrame({"a": labels, "b": labels[::-1], "y": labels})
    assert Votes.from_table(frame).classes.tolist() == labels
    frame = pd.DataFrame({"a": [1, 0], "y": [1, 0]}, dtype="Int64")
    np.testing.assert_array_equal(Votes.from_table(frame).codes, [[1, 0]])


@pytest.mark.parametrize(
    ("columns", "why"),
    [
        ({"a": [[1], [2]], "y": [1, 2]}, r"votes\.parquet: .*labels of type ndarray;"),
        ({"a": [1, 2], "y": ["1", "2"]}, r"votes\.parquet: .*mixed types"),
    ],
)
def test_bad_columns_of_parquet(columns, why, tmp_path):
    path = tmp_path / "votes.parquet"
    pd.DataFrame(columns).to_parquet(path)
    with pytest.raises(ValueError, match=why):
        Votes.from_table(path)


def test_damaged_parquet(tmp_path):
    path = tmp_path / "votes.parquet"
    pd.DataFrame({"a": ["x", "y"], "y": ["x", "y"]}).to_parquet(path)
    whole = path.read_bytes()
    for content in (b"", b"hello", whole[:40], whole[:-1], b"PAR1" + whole):
        path.write_bytes(content)
        with pytest.raises(FileFormatError, match=r"votes\.parquet: .*\.$") as caught:
            Votes.from_table(path)
        assert "\n" not in str(caught.value)
