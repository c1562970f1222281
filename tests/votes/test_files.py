"""Votes in files and tables."""

import contextlib
import io
import os
import tracemalloc
import zipfile

import numpy as np
import pytest
from tests.votes.same import assert_same

from quorate import Votes
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


@pytest.fixture
def path(votes, tmp_path):
    """Return a file of votes."""
    votes.save(tmp_path / "votes.npz")
    return tmp_path / "votes.npz"


def forge(path, **forged):
    np.savez(path, **dict(np.load(path)) | forged)


def test_round_trip(votes, path, tmp_path):
    again = Votes.load(path)
    assert_same(votes, again)
    assert not again.codes.flags.writeable
    votes.save(tmp_path / "votes.dat")  # a name is kept as given
    assert {p.name for p in tmp_path.iterdir()} == {"votes.npz", "votes.dat"}


@pytest.mark.parametrize(
    "labels", [[0, 1], [-1, 1], [False, True], [0.5, 1.5], [b"a", b"b"]]
)
def test_round_trip_of_labels(labels, tmp_path):
    votes = Votes(np.array([labels, labels]), np.array(labels))
    votes.save(tmp_path / "votes.npz")
    assert_same(votes, Votes.load(tmp_path / "votes.npz"))


def test_what_could_not_be_read_is_not_written(tmp_path):
    long = "x" * (2**16 + 1)
    masked = Votes([[0, 1], [1, 1]], [0, 1], valid=[[True, False], [True, True]])
    for votes, message in (
        (Votes([["a", "b"]], ["a", "b"], names=[long]), "at most 65536 characters"),
        (Votes([["a", long]], ["a", "a"]), "have at most 65536 characters"),
        (masked.at([1]), "member 0 has no usable vote"),
    ):
        with pytest.raises((TypeError, ValueError), match=message):
            votes.save(tmp_path / "votes.npz")
        assert list(tmp_path.iterdir()) == []


def test_foreign_and_truncated_files(path, tmp_path):
    with pytest.raises(FileNotFoundError):
        Votes.load(tmp_path / "nowhere.npz")
    whole, arrays = path.read_bytes(), dict(np.load(path))
    for size in (0, 1, 10, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:size])
        with pytest.raises(FileFormatError, match=r"votes\.npz"):
            Votes.load(path)
    nameless = {name: array for name, array in arrays.items() if name != "names"}
    for write, words in (
        (lambda: path.write_text("hello"), "not a file of votes"),
        (lambda: np.zeros(3).tofile(path), "not a file of votes"),
        (lambda: np.savez(path, codes=np.zeros((2, 2))), "written by Votes"),
        (lambda: np.savez(path, **arrays | {"format": "quorate-votes/99"}), "votes/99"),
        (lambda: np.savez(path, **nameless), "it lacks names"),
        (lambda: np.savez(path, **arrays, wieghts=np.ones(2)), "contains 'wieghts'"),
    ):
        write()
        with pytest.raises(FileFormatError, match=words):
            Votes.load(path)


def test_pickles_are_never_opened(tmp_path):
    class Bomb:
        def __reduce__(self):
            return os.mkdir, (str(tmp_path / "exploded"),)

    path = tmp_path / "votes.npz"
    np.savez(path, codes=np.array([Bomb()], dtype=object), allow_pickle=True)
    with pytest.raises(FileFormatError):
        Votes.load(path)
    assert not (tmp_path / "exploded").exists()


class TestForgedFiles:
    """Arrays that no votes have."""

    @pytest.mark.parametrize(
        ("forged", "message"),
        [
            ({"codes": np.array([[0, 9, 1], [0, 0, 1]], np.int8)}, "does not exist"),
            ({"codes": np.array([[0, -2, 1], [0, 0, 1]], np.int8)}, "does not exist"),
            ({"codes": np.zeros((2, 3))}, "codes of type float64"),
            ({"y": np.array([0, 1], np.int8)}, "y of shape"),
            ({"y": np.array([0, 1, 7], np.int8)}, "does not exist"),
            ({"names": np.array(["a"])}, "of shape"),
            ({"classes": np.array(["b", "a"])}, "not sorted"),
            ({"codes": np.array([[-1, -1, -1], [0, 0, 1]], np.int8)},
             "member 0 has no usable vote"),
            ({"masked": np.array(False)}, "a class that does not"),
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
            ({"against": np.array(np.inf)}, "no rule"),
            ({"source": np.array("elsewhere")}, "elsewhere"),
            ({"family": np.array("circus")}, "family 'circus'"),
            ({"y": np.zeros(3)}, "y of type float64"),
            ({"masked": np.array([True])}, "masked of shape"),
            ({"probabilities": np.full((2, 3, 2), np.nan)}, "between 0 and 1"),
            ({"probabilities": np.full((2, 3, 2), 2.5)}, "between 0 and 1"),
            ({"probabilities": np.full((2, 3, 3), 0.5)}, "probabilities of shape"),
            ({"probabilities": np.full((2, 3, 2), "0.5")}, "probabilities of type"),
            ({"places": np.zeros((2, 3), np.int8)}, "it lacks table_sizes"),
        ],
    )  # fmt: skip
    def test_refused(self, path, forged, message):
        forge(path, **forged)
        expected = rf"votes\.npz: not a file of votes, or damaged \(.*{message}"
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
            ([[0, 0, 0], [0, 0, 0]], [[0.5, 0.5]] * 5 + [[0, 0]]),
            ([[0, 0], [0, 0]], [[0.5, 0.5], [0, 0], [0.5, 0.5], [0, 0]]),
        ],
    )
    def test_tables_of_probabilities(self, path, places, tables):
        forge(
            path,
            places=np.array(places, np.int8),
            tables=np.array(tables, float),
            table_sizes=np.array([2, 2] if len(tables) < 6 else [0, 6]),
        )
        with pytest.raises(FileFormatError, match=r"votes\.npz: not a file of"):
            Votes.load(path)

    def test_places_of_missing_votes_where_no_vote_is_missing(self, tmp_path):
        path = tmp_path / "whole.npz"
        Votes([["a", "b"], ["b", "b"]], ["a", "b"]).save(path)
        tables = {"tables": np.array([[0.5, 0.5], [0, 0]] * 2, float)}
        tables["table_sizes"] = np.array([2, 2])
        forge(path, places=np.array([[0, 0], [0, 0]], np.int8), **tables)
        assert Votes.load(path).probabilities[0].tolist() == [[0.5, 0.5], [0.5, 0.5]]
        forge(path, places=np.array([[0, -1], [0, 0]], np.int8), **tables)
        with pytest.raises(FileFormatError, match="places and tables"):
            Votes.load(path)

    def test_two_gigabytes_are_not_unpacked_to_be_refused(self, path):
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

    def test_sizes_of_petabytes(self, path):
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

    def test_flipped_bits(self, votes, path):
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
