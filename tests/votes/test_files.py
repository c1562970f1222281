"""Votes in files and tables."""

import gzip
import os
import signal
import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest

from quorate import Votes
from quorate._atomic import atomic_write
from quorate.exceptions import FileFormatError


@pytest.fixture
def votes():
    return Votes(
        [["a", "b", "b"], ["a", "a", "b"]],
        ["a", "b", "b"],
        weights=[1, 2],
        valid=[[True, True, False], [True, True, True]],
        names=["tree <1>", "élan"],
    )


def assert_same(first, second):
    np.testing.assert_array_equal(first.codes, second.codes)
    np.testing.assert_array_equal(first.y, second.y)
    np.testing.assert_array_equal(first.classes, second.classes)
    np.testing.assert_array_equal(first.samples, second.samples)
    assert first.names == second.names
    assert first.is_masked == second.is_masked
    if first.weights is None:
        assert second.weights is None
    else:
        np.testing.assert_array_equal(first.weights, second.weights)


class TestNpz:
    def test_round_trip(self, votes, tmp_path):
        votes.save(tmp_path / "votes.npz")
        again = Votes.load(tmp_path / "votes.npz")
        assert_same(votes, again)
        assert not again.codes.flags.writeable

    @pytest.mark.parametrize(
        "labels", [[0, 1], [-1, 1], [False, True], [0.5, 1.5], [b"a", b"b"]]
    )
    def test_round_trip_of_labels(self, labels, tmp_path):
        votes = Votes(np.array([labels, labels]), np.array(labels))
        votes.save(tmp_path / "votes.npz")
        again = Votes.load(tmp_path / "votes.npz")
        assert_same(votes, again)
        assert again.classes.dtype == votes.classes.dtype

    def test_file_name_is_kept_as_given(self, votes, tmp_path):
        votes.save(tmp_path / "votes.dat")
        assert [path.name for path in tmp_path.iterdir()] == ["votes.dat"]

    def test_objects_are_not_pickled(self, tmp_path):
        labels = np.empty(2, dtype=object)
        labels[:] = [(0, 1), (1, 1)]
        votes = Votes(labels[None], labels)
        with pytest.raises(TypeError, match="tuple cannot be stored without pickle"):
            votes.save(tmp_path / "votes.npz")
        assert list(tmp_path.iterdir()) == []

    def test_missing_file(self, tmp_path):
        with pytest.raises(FileNotFoundError):
            Votes.load(tmp_path / "nowhere.npz")

    def test_truncated_file(self, votes, tmp_path):
        path = tmp_path / "votes.npz"
        votes.save(path)
        whole = path.read_bytes()
        for size in (0, 1, 10, len(whole) // 2, len(whole) - 1):
            path.write_bytes(whole[:size])
            with pytest.raises(FileFormatError, match=r"votes\.npz"):
                Votes.load(path)

    def test_foreign_files(self, tmp_path):
        path = tmp_path / "votes.npz"
        path.write_text("hello")
        with pytest.raises(FileFormatError, match="not a votes file"):
            Votes.load(path)
        np.savez(path, codes=np.zeros((2, 2)))
        with pytest.raises(FileFormatError, match="written by Votes"):
            Votes.load(path)
        np.save(tmp_path / "one.npy", np.zeros(3))
        with pytest.raises(FileFormatError, match="not a votes file"):
            Votes.load(tmp_path / "one.npy")

    def test_other_version(self, votes, tmp_path):
        path = tmp_path / "votes.npz"
        votes.save(path)
        arrays = dict(np.load(path))
        np.savez(path, **arrays | {"format": np.array("quorate-votes/99")})
        with pytest.raises(FileFormatError, match="quorate-votes/99"):
            Votes.load(path)

    @pytest.mark.parametrize(
        "tampered",
        [
            {"codes": np.array([[0, 9, 1], [0, 0, 1]], np.int8)},
            {"codes": np.array([[0, -2, 1], [0, 0, 1]], np.int8)},
            {"y": np.array([0, 1], np.int8)},
            {"y": np.array([0, 1, 7], np.int8)},
            {"names": np.array(["a"])},
            {"classes": np.array(["b", "a"])},
            {"codes": np.zeros((2, 3))},
        ],
    )
    def test_arrays_that_do_not_fit(self, votes, tampered, tmp_path):
        path = tmp_path / "votes.npz"
        votes.save(path)
        np.savez(path, **dict(np.load(path)) | tampered)
        with pytest.raises(FileFormatError, match="do not fit together"):
            Votes.load(path)

    def test_lacking_arrays(self, votes, tmp_path):
        path = tmp_path / "votes.npz"
        votes.save(path)
        arrays = dict(np.load(path))
        del arrays["names"]
        np.savez(path, **arrays)
        with pytest.raises(FileFormatError, match="lacks names"):
            Votes.load(path)

    def test_pickles_are_never_opened(self, tmp_path):
        class Bomb:
            def __reduce__(self):
                return os.mkdir, (str(tmp_path / "exploded"),)

        path = tmp_path / "votes.npz"
        np.savez(path, codes=np.array([Bomb()], dtype=object), allow_pickle=True)
        with pytest.raises(FileFormatError):
            Votes.load(path)
        assert not (tmp_path / "exploded").exists()


class TestAtomicWrite:
    def test_failure_leaves_the_old_file_and_nothing_else(self, tmp_path):
        path = tmp_path / "file"
        path.write_bytes(b"old")

        def fail():
            with atomic_write(path) as file:
                file.write(b"half of the new")
                raise RuntimeError

        with pytest.raises(RuntimeError):
            fail()
        assert path.read_bytes() == b"old"
        assert [p.name for p in tmp_path.iterdir()] == ["file"]

    def test_permissions_are_those_of_an_ordinary_file(self, tmp_path):
        with atomic_write(tmp_path / "file") as file:
            file.write(b"new")
        (tmp_path / "plain").write_bytes(b"")
        modes = {path.stat().st_mode for path in tmp_path.iterdir()}
        assert len(modes) == 1

    def test_kill_leaves_the_old_file(self, tmp_path):
        path = tmp_path / "file"
        path.write_bytes(b"old")
        code = (
            "import sys, time\n"
            "from quorate._atomic import atomic_write\n"
            f"with atomic_write({str(path)!r}) as file:\n"
            "    file.write(b'new' * 100000); file.flush()\n"
            "    print('halfway', flush=True); time.sleep(60)\n"
        )
        child = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)
        try:
            assert child.stdout.readline() == b"halfway\n"
            child.send_signal(signal.SIGKILL)
        finally:
            child.wait()
            child.stdout.close()
        assert path.read_bytes() == b"old"


class TestTables:
    frame = pd.DataFrame(
        {"tree": ["a", "b", "b"], "truth": ["a", "b", "a"], "knn": ["a", "a", "b"]}
    )

    def check(self, votes):
        assert votes.names == ("tree", "knn")
        np.testing.assert_array_equal(votes.codes, [[0, 1, 1], [0, 0, 1]])
        np.testing.assert_array_equal(votes.y, [0, 1, 0])

    def test_pandas(self):
        self.check(Votes.from_table(self.frame, label="truth"))

    def test_polars(self):
        self.check(Votes.from_table(pl.from_pandas(self.frame), label="truth"))

    def test_csv(self, tmp_path):
        self.frame.to_csv(tmp_path / "votes.csv", index=False)
        self.check(Votes.from_table(tmp_path / "votes.csv", label="truth"))
        self.check(Votes.from_table(str(tmp_path / "votes.csv"), label="truth"))

    def test_gzipped_csv(self, tmp_path):
        with gzip.open(tmp_path / "votes.csv.gz", "wt") as file:
            file.write(self.frame.to_csv(index=False))
        self.check(Votes.from_table(tmp_path / "votes.csv.gz", label="truth"))

    def test_parquet(self, tmp_path):
        self.frame.to_parquet(tmp_path / "votes.parquet")
        self.check(Votes.from_table(tmp_path / "votes.parquet", label="truth"))

    def test_chosen_members_and_weights(self):
        votes = Votes.from_table(
            self.frame, label="truth", members=["knn", "tree"], weights=[1, 2]
        )
        assert votes.names == ("knn", "tree")
        np.testing.assert_array_equal(votes.weights, [1, 2])

    def test_numbers_in_csv_become_numbers(self, tmp_path):
        path = tmp_path / "votes.csv"
        path.write_text("a,b,y\n0,1,0\n1,1,1\n")
        np.testing.assert_array_equal(Votes.from_table(path).classes, [0, 1])
        path.write_text("a,b,y\n0.5,1,0.5\n1,1,1\n")
        np.testing.assert_array_equal(Votes.from_table(path).classes, [0.5, 1])

    def test_quotes_spaces_and_byte_order_mark(self, tmp_path):
        path = tmp_path / "votes.csv"
        path.write_text('\ufeffa, "b" ,y\n"x, y",z,z\nz, z ,"x, y"\n', encoding="utf-8")
        votes = Votes.from_table(path)
        np.testing.assert_array_equal(votes.classes, ["x, y", "z"])

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("", r"votes\.csv"),
            ("a,y\n", "header row"),
            ("a,y\n1,1\n1\n", "not a readable CSV"),
            ("a,y\n1,\n", "column 'y', row 0: missing label"),
            ("a,a,y\n1,1,1\n", "column 'a' appears twice"),
            ("y\n1\n", "no member column"),
            ("a,Y\n1,1\n", "unknown column 'y'; did you mean 'Y'"),
            ("a,y\nnan,1\n", "column 'a': missing label at row 0"),
        ],
    )
    @pytest.mark.filterwarnings("ignore:loadtxt. input contained no data")
    def test_bad_csv(self, text, message, tmp_path):
        path = tmp_path / "votes.csv"
        path.write_text(text)
        with pytest.raises(ValueError, match=message):
            Votes.from_table(path)

    def test_bad_tables(self, tmp_path):
        with pytest.raises(TypeError, match="a path or a data frame, got list"):
            Votes.from_table([[1]])
        with pytest.raises(ValueError, match=r"\.csv, \.csv\.gz or \.parquet"):
            Votes.from_table(tmp_path / "votes.xls")
        with pytest.raises(FileNotFoundError):
            Votes.from_table(tmp_path / "votes.csv")
        with pytest.raises(ValueError, match="'truth'"):
            Votes.from_table(self.frame, label="trut")
        with pytest.raises(ValueError, match="column 'tree': missing label at row 1"):
            Votes.from_table(self.frame.assign(tree=["a", None, "b"]), label="truth")
        with pytest.raises(ValueError, match="mixed types"):
            Votes.from_table(self.frame.assign(tree=[1, 2, 3]), label="truth")

    def test_nullable_columns(self):
        frame = pd.DataFrame({"a": [1, 0], "y": [1, 0]}, dtype="Int64")
        np.testing.assert_array_equal(Votes.from_table(frame).codes, [[1, 0]])
        frame.loc[0, "a"] = pd.NA
        with pytest.raises(ValueError, match="missing label at row 0"):
            Votes.from_table(frame)
