"""A pass goes on from where it was only if everything before is what it was."""

import os

import numpy as np
import pandas as pd
import pytest
from tests.summarising.conftest import in_batches

import quorate
from quorate._data import given_batches
from quorate._summarising import _progress
from quorate._votes import Summary


@pytest.fixture
def pairs(data):
    return list(in_batches(data[0][:600], data[1][:600], 100))


@pytest.fixture
def file(forest, pairs, tmp_path):
    """A pass that has come to the fourth of six batches."""
    path = tmp_path / "so-far.npz"
    quorate.summarise(forest, pairs[:4], resume=path)
    return path


def test_what_is_the_same_goes_on(forest, pairs, file):
    copied = [(np.asfortranarray(X), y.copy()) for X, y in pairs]
    again = quorate.summarise(forest, copied, resume=file)
    assert again.equals(quorate.summarise(forest, pairs))


def test_another_pass_is_refused(forest, boosted, pairs, file, tmp_path):
    quorate.summarise(forest, pairs[:1]).save(tmp_path / "alone.npz")
    for model, batches, path, words in (
        (forest, pairs[:2], file, "the file covers 4 batches, but only 2 were given"),
        (forest, pairs[::-1], file, "batch 0 has changed"),
        (boosted, pairs, file, "a pass with another model"),
        (forest, pairs, tmp_path / "alone.npz", "not of a pass that can be resumed"),
    ):
        with pytest.raises(ValueError, match=words):
            quorate.summarise(model, batches, resume=path)
    assert Summary.load(file).n_samples == 400


@pytest.mark.parametrize("at", [1, 3])
@pytest.mark.parametrize("what", ["X", "y"])
def test_a_batch_that_has_changed_is_refused(forest, pairs, file, at, what):
    X, y = pairs[at][0].copy(), pairs[at][1].copy()
    if what == "X":
        X[7, 3] += 1e-9
    else:
        y[7] = (y[7] + 1) % 3
    pairs[at] = X, y
    with pytest.raises(ValueError, match=f"batch {at} has changed"):
        quorate.summarise(forest, pairs, resume=file)


def test_a_later_batch_may_change(forest, pairs, file):
    pairs[4] = pairs[0]
    again = quorate.summarise(forest, pairs, resume=file)
    assert again.equals(quorate.summarise(forest, pairs))


@pytest.mark.parametrize("ending", ["parquet", "csv"])
def test_a_file_that_has_changed_is_refused(forest, data, tmp_path, ending):
    folder, file = tmp_path / "data", tmp_path / "so-far.npz"
    folder.mkdir()
    frame = pd.DataFrame(data[0][:300]).rename(columns=str).assign(label=data[1][:300])
    for at in range(3):
        rows, path = frame[100 * at : 100 * at + 100], folder / f"{at}.{ending}"
        if ending == "csv":
            rows.to_csv(path, index=False)
        else:
            rows.to_parquet(path)
    whole = quorate.summarise(forest, folder, target="label", resume=file)
    again = quorate.summarise(forest, folder, target="label", resume=file)
    assert again.equals(whole)
    path = folder / f"1.{ending}"
    os.utime(path, ns=(0, path.stat().st_mtime_ns + 1_000_000_000))
    with pytest.raises(ValueError, match=rf"1\.{ending} has changed"):
        quorate.summarise(forest, folder, target="label", resume=file)


def test_marks_tell_samples_apart(data):
    from scipy import sparse

    X, y = data[0][:20], data[1][:20]
    frame = pd.DataFrame(X, columns=list("abcdefgh")).assign(word="ant", day=y)
    frame["day"] = pd.Timestamp("2024-05-01") + pd.to_timedelta(frame["day"], "D")
    kinds = [X, frame, sparse.csr_array(X), X.tolist(), X[:0], frame.assign(word="bee"),
             frame.rename(columns={"a": "z"}), X.astype("f4"), X.T]  # fmt: skip
    polars, pyarrow = pytest.importorskip("polars"), pytest.importorskip("pyarrow")
    kinds += [polars.DataFrame({"a": X[:, 0]}), pyarrow.table({"a": X[:, 1]})]
    marks = [mark(kind, y) for kind in kinds]
    assert len(set(marks)) == len(marks)
    assert marks == [mark(kind, y) for kind in kinds]
    assert mark(X, y) == mark(X[::-1][::-1], y)


def mark(X, y):
    return next(given_batches([(X, y)])).mark()


def test_the_file_is_written_when_the_last_time_is_long_ago(
    forest, pairs, tmp_path, monkeypatch
):
    now, covered = 100.0, []
    monkeypatch.setattr(_progress.time, "monotonic", lambda: now)
    parts = [quorate.summarise(forest, [pair]) for pair in pairs]
    checkpoint = _progress.Checkpoint.at(tmp_path / "so-far.npz", every=10.0)
    checkpoint.marks, checkpoint._last = list("abcdef"), now
    for seconds, part in zip((4, 4, 2, 9, 1, 10), parts, strict=True):
        now += seconds
        checkpoint.add(part, 100)
        covered.append(checkpoint.covered)
    assert covered == [0, 0, 300, 300, 500, 600]
    assert Summary.load(tmp_path / "so-far.npz").n_samples == 600
