"""Votes in files and tables."""

import contextlib
import gzip
import io
import os
import re
import signal
import subprocess
import sys
import tracemalloc
import zipfile

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
        with pytest.raises(FileFormatError, match="not a file of votes"):
            Votes.load(path)
        np.savez(path, codes=np.zeros((2, 2)))
        with pytest.raises(FileFormatError, match="written by Votes"):
            Votes.load(path)
        np.save(tmp_path / "one.npy", np.zeros(3))
        with pytest.raises(FileFormatError, match="not a file of votes"):
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
        path.write_text(
            '\ufeffa, "b",y\n"x, y", z ,z\nz, z ,"x, y"\n', encoding="utf-8"
        )
        votes = Votes.from_table(path)
        np.testing.assert_array_equal(votes.classes, ["x, y", "z"])
        path.write_text("a, b, y\nx, x, z\nz, z, z\n")
        votes = Votes.from_table(path)
        np.testing.assert_array_equal(votes.classes, ["x", "z"])
        np.testing.assert_array_equal(votes.codes, [[0, 1], [0, 1]])

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("", r"votes\.csv"),
            ("a,y\n", "no rows"),
            ("a,y\n1,1\n1\n", "not a readable table .line 3 has 1 fields"),
            ("a,y\n1,\n", "column 'y': missing label at row 0"),
            ("a,a,y\n1,1,1\n", "column 'a' appears twice"),
            ("y\n1\n", "no member column"),
            ("a,Y\n1,1\n", "unknown column 'y'; did you mean 'Y'"),
            ("a,y\nnan,1\n", "column 'a': missing label at row 0"),
        ],
    )
    def test_bad_csv(self, text, message, tmp_path):
        path = tmp_path / "votes.csv"
        path.write_text(text)
        with pytest.raises(ValueError, match=message):
            Votes.from_table(path)

    def test_bad_tables(self, tmp_path):
        with pytest.raises(TypeError, match="a path or a data frame, got list"):
            Votes.from_table([[1]])
        (tmp_path / "votes.xls").touch()
        with pytest.raises(ValueError, match=r"tables come as \.csv, \.csv\.gz"):
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


class TestForgedFiles:
    """Arrays that no votes have."""

    @pytest.mark.parametrize(
        ("forged", "message"),
        [
            ({"codes": np.array([[-1, -1, -1], [0, 0, 1]], np.int8)},
             "member 0 has no usable vote"),
            ({"masked": np.array(False)}, "a class that is not there"),
            ({"samples": np.array([-1, 0, 1])}, "negative position"),
            ({"samples": np.array(["a", "b", "c"])}, "samples of type <U1"),
            ({"samples": np.array([0, 1])}, "samples of shape"),
            ({"classes": np.array([1j, 2j])}, "classes of type complex128"),
            ({"classes": np.array([["a", "b"]])}, "classes of shape"),
            ({"classes": np.array([0.0, np.nan])}, "not sorted"),
            ({"classes": np.arange(200)}, "200 classes"),
            ({"weights": np.array([1.0, np.nan])}, "member 1 has nan"),
            ({"weights": np.array([1j, 1])}, "weights of type complex128"),
            ({"names": np.array(["a", "a"])}, "two members are called 'a'"),
            ({"names": np.array([1, 2])}, "names of type int64"),
            ({"rule": np.array(["a", "b"])}, "rule 'a', 'b'"),
            ({"rule": np.array(["average", "lowest"])}, "without its probabilities"),
            ({"against": np.array(np.inf)}, "the rule"),
            ({"source": np.array("elsewhere")}, "elsewhere"),
            ({"family": np.array("circus")}, "family 'circus'"),
            ({"y": np.zeros(3)}, "y of type float64"),
            ({"masked": np.array([True])}, "masked of shape"),
            ({"probabilities": np.full((2, 3, 2), np.nan)}, "between 0 and 1"),
            ({"probabilities": np.full((2, 3, 2), 2.5)}, "between 0 and 1"),
            ({"probabilities": np.full((2, 3, 3), 0.5)}, "probabilities of shape"),
            ({"probabilities": np.full((2, 3, 2), "0.5")}, "probabilities of type"),
            ({"places": np.zeros((2, 3), np.int8)}, "places without tables"),
        ],
    )  # fmt: skip
    def test_refused(self, votes, forged, message, tmp_path):
        path = tmp_path / "votes.npz"
        votes.save(path)
        np.savez(path, **dict(np.load(path)) | forged)
        expected = rf"votes\.npz: the arrays .* do not fit together \(.*{message}"
        with pytest.raises(FileFormatError, match=expected):
            Votes.load(path)

    @pytest.mark.parametrize(
        ("places", "tables"),
        [
            ([[0, 1, 2], [0, 0, 1]], [[0.5, 0.5], [0, 0], [np.nan, 1], [0, 0]]),
            ([[0, 1, 0], [0, 0, 5]], [[0.5, 0.5], [0, 0], [0.5, 0.5], [0, 0]]),
            ([[0, -2, 0], [0, 0, 0]], [[0.5, 0.5], [0, 0], [0.5, 0.5], [0, 0]]),
            ([[0, 0, 0], [0, 0, 0]], [[0.5, 0.5], [0, 1], [0.5, 0.5], [0, 0]]),
            ([[0, 0, 0], [0, 0, 0]], [[0.5, 0.5], [0, 0], [0.5, 0.5]]),
        ],
    )
    def test_tables_of_probabilities(self, votes, places, tables, tmp_path):
        path = tmp_path / "votes.npz"
        votes.save(path)
        forged = {
            "places": np.array(places, np.int8),
            "tables": np.array(tables, float),
            "table_sizes": np.array([2, 2]),
        }
        np.savez(path, **dict(np.load(path)) | forged)
        with pytest.raises(FileFormatError, match=r"votes\.npz: .* do not fit"):
            Votes.load(path)

    def test_what_could_not_be_read_is_not_written(self, tmp_path):
        votes = Votes([[0, 1], [1, 1]], [0, 1], valid=[[True, False], [True, True]])
        with pytest.raises(ValueError, match="member 0 has no usable vote"):
            votes.at([1]).save(tmp_path / "votes.npz")
        assert list(tmp_path.iterdir()) == []

    def test_an_array_that_votes_do_not_have(self, votes, tmp_path):
        path = tmp_path / "votes.npz"
        votes.save(path)
        np.savez(path, **dict(np.load(path)), wieghts=np.ones(2))
        with pytest.raises(FileFormatError, match="holds 'wieghts'"):
            Votes.load(path)

    def test_two_gigabytes_are_not_unpacked_to_be_refused(self, votes, tmp_path):
        path = tmp_path / "votes.npz"
        votes.save(path)
        arrays = dict(np.load(path))
        size = 2**24  # packs to a thousandth
        for forged in (
            {"y": np.zeros(size, np.int8)},
            {"classes": np.zeros(size, np.int8)},
            {"names": np.zeros(2, f"U{size // 8}")},
            {"extra": np.zeros(size, np.int8)},
            {"format": np.zeros((), f"U{size // 4}")},
        ):
            np.savez_compressed(path, **arrays | forged)
            assert path.stat().st_size < size // 200
            tracemalloc.start()
            with pytest.raises(FileFormatError, match=r"votes\.npz"):
                Votes.load(path)
            _, peak = tracemalloc.get_traced_memory()
            tracemalloc.stop()
            assert peak < size // 16

    def test_sizes_of_petabytes(self, votes, tmp_path):
        path = tmp_path / "votes.npz"
        votes.save(path)
        with zipfile.ZipFile(path) as archive:
            parts = {name: archive.read(name) for name in archive.namelist()}
        codes = np.zeros((2, 3), np.int8)
        head = io.BytesIO()
        np.lib.format.write_array_header_1_0(
            head, {"descr": "|i1", "fortran_order": False, "shape": (2**25, 2**30)}
        )
        parts["codes.npy"] = head.getvalue() + codes.tobytes()
        with zipfile.ZipFile(path, "w") as archive:
            for name, content in parts.items():
                archive.writestr(name, content)
        with pytest.raises(FileFormatError, match=r"votes\.npz: .*codes of shape"):
            Votes.load(path)

    def test_flipped_bits(self, votes, tmp_path):
        path = tmp_path / "votes.npz"
        votes.save(path)
        whole = path.read_bytes()
        rng = np.random.default_rng(0)
        # The end has the list of arrays: zip itself would lose some of them unseen.
        places = [*rng.integers(0, 8 * len(whole), 200)]
        places += [*range(8 * (len(whole) - 120), 8 * len(whole), 3)]
        for place in places:
            flipped = bytearray(whole)
            flipped[place // 8] ^= 1 << (place % 8)
            path.write_bytes(flipped)
            again = None
            with contextlib.suppress(FileFormatError):
                again = Votes.load(path)
            if again is not None:
                assert_same(votes, again)


class TestCsvLabels:
    """Text in a CSV file becomes a number only where nothing is lost by it."""

    def read(self, tmp_path, *labels):
        path = tmp_path / "votes.csv"
        path.write_text("a,y\n" + "".join(f"{x},{labels[0]}\n" for x in labels))
        return Votes.from_table(path).classes.tolist()

    @pytest.mark.parametrize(
        ("texts", "labels"),
        [
            (["007", "7"], ["007", "7"]),
            (["1_000", "1000"], ["1000", "1_000"]),
            (["0x10", "16"], ["0x10", "16"]),
            (["1e400", "2"], ["1e400", "2"]),
            (["inf", "1"], ["1", "inf"]),
            (["1e-400", "0"], ["0", "1e-400"]),
            (["9007199254740993", "9007199254740992"],
             [9007199254740992, 9007199254740993]),
            (["18446744073709551615", "1"], ["1", "18446744073709551615"]),
            (["0.1000000000000000055", "0.1"], ["0.1", "0.1000000000000000055"]),
            (["1", "1.0"], [1.0]),
            (["+1", "-1"], [-1, 1]),
            (["-0", "0"], [0]),
            (["1e2", "2.5"], [2.5, 100.0]),
            (["\u0663", "3"], ["3", "\u0663"]),
            (["True", "False"], ["False", "True"]),
        ],
    )  # fmt: skip
    def test_labels(self, texts, labels, tmp_path):
        assert self.read(tmp_path, *texts) == labels

    @pytest.mark.parametrize("text", ["NA", "NaN", "nan", "<NA>", "NULL", "None", "?"])
    def test_missing_ones(self, text, tmp_path):
        for other in ("a", "1"):
            with pytest.raises(
                ValueError, match=rf"column 'a': missing .* row 1; '{re.escape(text)}"
            ):
                self.read(tmp_path, other, text)

    def test_many_labels(self, tmp_path):
        path = tmp_path / "votes.csv"
        for count in (129, 40_000):
            path.write_text("a,y\n" + "".join(f"{x},{x}\n" for x in range(count)))
            votes = Votes.from_table(path)
            np.testing.assert_array_equal(votes.codes[0], np.arange(count))
            np.testing.assert_array_equal(votes.y, np.arange(count))


class TestCsvTables:
    def test_an_index_is_no_member(self, tmp_path):
        frame = pd.DataFrame({"a": [0, 1], "y": [0, 1]})
        frame.to_csv(tmp_path / "v.csv")
        with pytest.raises(FileFormatError, match=r"v\.csv: .*column 1 has no name"):
            Votes.from_table(tmp_path / "v.csv")
        read = pd.read_csv(tmp_path / "v.csv")
        with pytest.raises(ValueError, match="'Unnamed: 0' looks like an index"):
            Votes.from_table(read)
        assert Votes.from_table(read, members=["a"]).names == ("a",)

    def test_other_columns_are_not_looked_at(self, tmp_path):
        path = tmp_path / "votes.csv"
        path.write_text("id,a,y\nx,1,1\n,2,2\n")
        votes = Votes.from_table(path, members=["a"])
        np.testing.assert_array_equal(votes.classes, [1, 2])

    @pytest.mark.parametrize(
        ("members", "message"),
        [
            (["a", "a"], "column 'a' appears twice"),
            (["y"], "column 'y' has the labels, it is no member"),
            ("ab", "members is a list of columns, got 'ab'"),
        ],
    )
    def test_members_refused(self, members, message):
        frame = pd.DataFrame({"a": [0, 1], "b": [0, 1], "y": [0, 1]})
        with pytest.raises(ValueError, match=message):
            Votes.from_table(frame, members=members)

    def test_columns_of_one_name(self):
        frame = pd.DataFrame([[0, 1, 0], [1, 1, 1]], columns=[1, "1", "y"])
        with pytest.raises(ValueError, match="column '1' appears twice"):
            Votes.from_table(frame)

    def test_a_quote_that_is_never_closed(self, tmp_path):
        path = tmp_path / "votes.csv"
        path.write_text('a,y\n1,"2\n3,4\n')
        with pytest.raises(FileFormatError, match="line 3: unexpected end of data"):
            Votes.from_table(path)

    @pytest.mark.parametrize(("rows", "columns"), [(10, 20_000), (40_000, 5)])
    def test_memory_stays_near_the_size_of_the_file(self, rows, columns, tmp_path):
        path = tmp_path / "votes.csv"
        line = ",".join("01"[place % 2] for place in range(columns)) + ",1\n"
        header = ",".join(f"m{place}" for place in range(columns)) + ",y\n"
        path.write_text(header + line * rows)
        tracemalloc.start()
        votes = Votes.from_table(path)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert (votes.n_members, votes.n_samples) == (columns, rows)
        # names as Python objects, and no more than five bytes per cell
        assert peak < 500 * columns + 5 * rows * (columns + 1) + 10**6

    @pytest.mark.parametrize("truth", [[0, 1], ["no", "yes"]])
    def test_probabilities_are_no_votes(self, truth, tmp_path):
        rng = np.random.default_rng(0)
        frame = pd.DataFrame({"a": rng.random(20), "b": rng.random(20)})
        frame["y"] = rng.choice(truth, 20)
        if truth[0] == "no":
            frame.loc[:1, "a"] = [0.0, 1.0]  # both ends are probabilities too
        frame.to_csv(tmp_path / "v.csv", index=False)
        with pytest.raises(ValueError, match=r"v\.csv: the votes look like probabil"):
            Votes.from_table(tmp_path / "v.csv")
        if truth == [0, 1]:
            with pytest.raises(ValueError, match="40 numbers between 0 and 1 that are"):
                Votes.from_table(frame)

    def test_fractions_that_are_labels(self):
        labels = [0.0, 0.25, 0.5, 0.75, 1.0]
        frame = pd.DataFrame({"a": labels, "b": labels[::-1], "y": labels})
        assert Votes.from_table(frame).n_classes == 5


class TestParquet:
    def test_damaged_and_foreign(self, tmp_path):
        path = tmp_path / "votes.parquet"
        frame = pd.DataFrame({"a": ["x", "y"], "y": ["x", "y"]})
        frame.to_parquet(path)
        whole = path.read_bytes()
        for content in (b"", b"hello", whole[:40], whole[:-1], b"PAR1" + whole):
            path.write_bytes(content)
            with pytest.raises(
                FileFormatError, match=r"votes\.parquet: .*\.$"
            ) as caught:
                Votes.from_table(path)
            assert "\n" not in str(caught.value)

    def test_columns_of_lists(self, tmp_path):
        path = tmp_path / "votes.parquet"
        pd.DataFrame({"a": [[1], [2]], "y": [1, 2]}).to_parquet(path)
        with pytest.raises(ValueError, match=r"votes\.parquet: .*cannot be sorted"):
            Votes.from_table(path)

    def test_labels_of_two_types(self, tmp_path):
        path = tmp_path / "votes.parquet"
        pd.DataFrame({"a": [1, 2], "y": ["1", "2"]}).to_parquet(path)
        with pytest.raises(ValueError, match=r"votes\.parquet: .*mixed types"):
            Votes.from_table(path)


@pytest.mark.parametrize("where", ["classes", "names"])
def test_texts_that_are_too_long_to_be_read_are_not_written(where, tmp_path):
    long = "x" * (2**16 + 1)
    votes = Votes([["a", "b"], ["b", "b"]], ["a", "b"], names=["m", long])
    if where == "classes":
        votes = Votes([["a", long], ["a", "a"]], ["a", "a"])
    with pytest.raises(ValueError, match="have up to 65536 characters"):
        votes.save(tmp_path / "v.npz")
    assert not list(tmp_path.iterdir())
