"""Partitions of Dask collections give what all samples at once give."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from tests.summarising.conftest import DATA, X, Y, in_batches
from tests.votes.same import are_same

import quorate
from quorate.exceptions import BatchError

da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")
dask = pytest.importorskip("dask")


@pytest.fixture(autouse=True)
def in_this_process():
    with dask.config.set(scheduler="threads", num_workers=2):
        yield


def in_chunks(X, y, rows, columns=-1):
    return da.from_array(X, chunks=(rows, columns)), da.from_array(y, chunks=rows)


def frame_of(X, y):
    frame = pd.DataFrame(X, columns=[f"x{at}" for at in range(X.shape[1])])
    return frame.assign(label=y)


def test_arrays_and_frames(forest):
    whole = quorate.summarise(forest, in_batches(X, Y, 900))
    few = quorate.collect_votes(forest, X[:600], Y[:600]).summary()
    frame = dd.from_pandas(frame_of(X, Y), npartitions=6)
    for given, target, expected in (
        *((in_chunks(X, Y, rows, columns), None, whole)
          for rows, columns in ((900, -1), (5000, -1), (900, 3))),
        (in_chunks(X[:600], Y[:600], 37), None, few),
        (frame, "label", whole),
        ((frame.drop(columns="label"), frame["label"]), None, whole),
    ):  # fmt: skip
        found = quorate.summarise(forest, given, target=target)
        assert are_same(found, expected)
        worst = quorate.assess_risk(found).worst_sample
        assert worst == quorate.assess_risk(expected).worst_sample


def test_the_other_model_travels_too(forest):
    small = quorate.keep_members(forest, [1, 5, 7])
    given = in_chunks(X, Y, 800)
    mine = quorate.summarise(forest, given, against=small)
    assert are_same(mine, quorate.summarise(forest, [(X, Y)], against=small))


def test_partitions_that_are_empty_are_left_out(forest):
    frame = frame_of(X, Y).assign(when=np.arange(len(Y)))
    parts = dd.from_pandas(frame, npartitions=7)
    some = parts[parts["when"] >= 2500].drop(columns="when")
    found = quorate.summarise(forest, some, target="label")
    assert are_same(found, quorate.collect_votes(forest, X[2500:], Y[2500:]).summary())
    with pytest.raises(ValueError, match="the partitions have no rows"):
        quorate.summarise(
            forest, parts[parts["when"] < 0].drop(columns="when"), target="label"
        )


def test_refused(forest):
    labels = Y.astype(float)
    labels[2000] = np.nan
    given = in_chunks(X, labels, 800)
    uneven = [
        dd.from_pandas(part, npartitions=n)
        for part, n in ((pd.DataFrame(X), 7), (pd.Series(Y), 6))
    ]
    frame = dd.from_pandas(frame_of(X, Y), npartitions=2)
    for batches, target, words in (
        (given, None, r"partition 2: y: missing label at .*400"),
        (
            tuple(uneven),
            None,
            "X has 7 partitions, y has 6; partition both in the same way",
        ),
        (given[0], None, "must be a pair"),
        (frame, "colour", "no such column"),
        ((frame.drop(columns="label"), Y), None, "X is .*both must be Dask"),
        ((X, given[1]), None, "X is .*both must be Dask"),
    ):
        with pytest.raises((BatchError, TypeError, ValueError), match=words):
            quorate.summarise(forest, batches, target=target)


def test_an_array_and_a_series(forest):
    whole = quorate.collect_votes(forest, X, Y)
    labels = dd.from_pandas(pd.Series(Y), npartitions=4)
    sizes = tuple(len(part) for part in labels.partitions)
    given = da.from_array(X, chunks=(sizes, -1))
    assert are_same(quorate.summarise(forest, (given, labels)), whole.summary())
    votes = quorate.collect_votes(forest, given.rechunk((100, -1)), labels)
    np.testing.assert_array_equal(votes.codes, whole.codes)
    np.testing.assert_array_equal(votes.y, whole.y)
    why = r"X has \d+ partitions, y has 4; partition both"
    with pytest.raises(ValueError, match=why):
        quorate.summarise(forest, (given.rechunk((100, -1)), labels))
    uneven = X.shape[0] - 3, 1, 1, 1
    with pytest.raises(BatchError, match=r"partition \d: X has \d+ samples, y has sh"):
        quorate.summarise(forest, (given.rechunk((uneven, -1)), labels))


def test_labels_that_are_cut_otherwise_or_not_at_all(forest):
    X, y = DATA[0][:2000], DATA[1][:2000]
    rows = da.from_array(X, chunks=(600, -1))
    whole = quorate.collect_votes(forest, X, y).summary()
    for labels in (y, da.from_array(y, chunks=700)):
        assert are_same(quorate.summarise(forest, (rows, labels)), whole)


@pytest.fixture(scope="module")
def address():
    """Return the address of a cluster of two processes."""
    with subprocess.Popen(
        [sys.executable, str(Path(__file__).parents[1] / "study" / "cluster.py")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    ) as process:
        yield process.stdout.readline().strip()
        process.stdin.close()


@pytest.mark.slow
def test_a_cluster_that_loses_a_worker_gives_the_same(forest, tmp_path, address):
    from distributed import Client

    alone = quorate.summarise(forest, in_batches(X, Y, 800))
    mark = tmp_path / "killed"

    def dies_once(part):
        # Whoever gets the third part first dies of it.
        if part[0, 0] == X[1600, 0]:
            try:
                mark.touch(exist_ok=False)
            except FileExistsError:
                return part
            os._exit(1)
        return part

    with Client(address) as client, dask.config.set(scheduler=client):
        given = da.from_array(X, chunks=(800, -1)).map_blocks(
            dies_once, dtype=X.dtype, meta=np.empty((0, 0))
        )
        labels = da.from_array(Y, chunks=800)
        assert are_same(quorate.summarise(forest, (given, labels)), alone)
        assert mark.exists()
