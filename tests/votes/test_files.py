"""Votes in files and tables."""

import io
import os
import tracemalloc
import zipfile

import numpy as np
import pytest
from tests.votes.same import assert_same, forge

from quorate import Votes
from quorate.exceptions import FileFormatError, LeftOutWarning


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


def test_round_trip(votes, path, tmp_path):
    again = Votes.load(path)
    assert_same(votes, again)
    assert not again.codes.flags.writeable
    votes.save(tmp_path / "votes.dat")  # a name is kept as given
    assert {p.name for p in tmp_path.iterdir()} == {"votes.npz", "votes.dat"}


@pytest.mark.parametrize("labels", [[0, 1], [-1, 1], [False, True], [0.5, 1.5]])
def test_round_trip_of_labels(labels, tmp_path):
    votes = Votes(np.array([labels, labels]), np.array(labels))
    votes.save(tmp_path / "votes.npz")
    assert_same(votes, Votes.load(tmp_path / "votes.npz"))


def test_samples_left_out_are_counted(tmp_path):
    with pytest.warns(LeftOutWarning):
        votes = Votes([[0, 1]] * 2, [0, 1], valid=[[True, False]] * 2)
    assert votes.left_out.tolist() == [0, 1]
    votes.save(tmp_path / "votes.npz")
    assert_same(votes, Votes.load(tmp_path / "votes.npz"))


def test_what_could_not_be_read_is_not_written(tmp_path):
    masked = Votes([[0, 1], [1, 1]], [0, 1], valid=[[True, False], [True, True]])
    with pytest.raises(ValueError, match=r"Votes\.save: member 0 has no usable vote\."):
        masked.at([1]).save(tmp_path / "votes.npz")
    assert list(tmp_path.iterdir()) == []


def test_long_labels_and_names(tmp_path):
    long = "x" * 70_000
    votes = Votes([["a", long]], ["a", "a"], names=[long + "\0"])
    votes.save(tmp_path / "votes.npz")
    assert_same(votes, Votes.load(tmp_path / "votes.npz"))


def test_what_compresses_like_a_bomb_is_stored_as_it_is(tmp_path, monkeypatch):
    votes, path = Votes(np.zeros((50, 1000), int), np.zeros(1000)), tmp_path / "v.npz"
    votes.save(path)
    assert path.stat().st_size < 10_000
    monkeypatch.setattr("quorate._votes._files._NEVER_TOO_MUCH", 0)
    monkeypatch.setattr("quorate._votes._files._MOST_GROWTH", 4)
    with pytest.raises(FileFormatError, match="it expands to"):
        Votes.load(path)
    votes.save(path)
    assert path.stat().st_size > 50_000
    assert_same(votes, Votes.load(path))


def test_foreign_and_truncated_files(path, tmp_path):
    with pytest.raises(FileNotFoundError):
        Votes.load(tmp_path / "nowhere.npz")
    whole, arrays = path.read_bytes(), dict(np.load(path))
    for size in (0, 1, 10, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:size])
        with pytest.raises(FileFormatError, match=r"votes\.npz"):
            Votes.load(path)
    aimless = {name: array for name, array in arrays.items() if name != "about"}
    for write, words in (
        (lambda: path.write_text("hello"), "not a file of votes"),
        (lambda: np.zeros(3).tofile(path), "not a file of votes"),
        (lambda: np.save(path.with_suffix(""), np.zeros(3)), "not a file of votes"),
        (lambda: np.savez(path, codes=np.zeros((2, 2))), "found 'none'; write"),
        (lambda: np.savez(path, **arrays | {"format": "quorate-votes/99"}),
         "expected format 'quorate-votes/4', found 'quorate-votes/99'"),
        (lambda: np.savez(path, **aimless), "do not match the stored digest"),
        (lambda: np.savez(path, **arrays, y2=np.ones(2)), "do not match the stored"),
        (lambda: np.savez(path, **arrays | {"y": arrays["y"] * 0}), "do not match"),
        (lambda: np.savez(path, format=arrays["format"]), "it lacks digest"),
    ):  # fmt: skip
        path.write_bytes(b"")
        write()
        if path.stat().st_size == 0:
            path.with_suffix(".npy").rename(path)
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

    def test_codes_get_the_type_of_their_number_of_classes(self, path):
        forge(path, classes=np.arange(200), left_out=np.zeros(200, int))
        assert Votes.load(path).codes.dtype == np.int16

    def test_gigabytes_are_not_unpacked_to_be_refused(self, path):
        size = 2**29  # packs to a thousandth
        np.savez_compressed(
            path, **dict(np.load(path)) | {"y": np.broadcast_to(np.int8(0), size)}
        )
        assert path.stat().st_size < size // 200
        tracemalloc.start()
        with pytest.raises(FileFormatError, match=r"votes\.npz: .*it expands to 536,8"):
            Votes.load(path)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert peak < 2**22

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
        with pytest.raises(FileFormatError, match=r"votes\.npz: .*Unable to allocate"):
            Votes.load(path)
