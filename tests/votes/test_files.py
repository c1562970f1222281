"""Votes in files and tables."""

import contextlib
import io
import os
import signal
import subprocess
import sys
import tracemalloc
import zipfile

import numpy as np
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


@pytest.mark.parametrize("where", ["classes", "names"])
def test_texts_that_are_too_long_to_be_read_are_not_written(where, tmp_path):
    long = "x" * (2**16 + 1)
    votes = Votes([["a", "b"], ["b", "b"]], ["a", "b"], names=["m", long])
    if where == "classes":
        votes = Votes([["a", long], ["a", "a"]], ["a", "a"])
    with pytest.raises(ValueError, match="have up to 65536 characters"):
        votes.save(tmp_path / "v.npz")
    assert not list(tmp_path.iterdir())
