"""One pass over batches gives what all samples at once give."""

import io
import os
import pickle
import signal
import subprocess
import sys
import textwrap
import time
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier
from tests.summarising.conftest import all_values, in_batches

import quorate
from quorate._data import SampleForm, read_samples
from quorate._summarising._progress import ProgressLine, progress_text
from quorate._votes import Summary, VoteSource
from quorate.exceptions import (
    BatchError,
    LeftOutWarning,
    QuorateWarning,
)


@pytest.fixture(scope="module")
def trained(data):
    return RandomForestClassifier(25, random_state=0).fit(*data)


@pytest.mark.parametrize("size", [17, 700, 4999, 100_000])
def test_batches_of_any_size_give_the_votes_on_all(forest, boosted, data, size):
    X, y = data[0][:1500], data[1][:1500]
    votes = quorate.collect_votes(forest, X, y)
    summary = quorate.summarise(forest, in_batches(X, y, size))
    assert summary.equals(votes.summary())
    assert summary.source is VoteSource.ASSUMED_NEW
    assert all_values(summary) == all_values(votes)
    assert summary.accuracy() == forest.score(X, y)
    weighted = quorate.summarise(boosted, in_batches(X, y, size))
    assert weighted.accuracy() == boosted.score(X, y)
    whole = quorate.decompose(quorate.collect_votes(boosted, X, y)).diversity
    assert quorate.decompose(weighted).diversity == pytest.approx(whole, abs=1e-12)


def test_chunks_do_not_show(forest, trained, data, folder, monkeypatch):
    X, y = data
    whole = quorate.summarise(forest, [(X, y)], against=[3, 1, 4])
    training = quorate.summarise(trained, [(X, y)], source="training")
    monkeypatch.setattr("quorate._ensembles._batches._MOST_ROWS", 333)
    monkeypatch.setattr("quorate._ensembles._batches._FEWEST_ROWS", 10)
    assert quorate.summarise(forest, [(X, y)], against=[3, 1, 4]).equals(whole)
    found = quorate.summarise(forest, folder, target="label", against=[3, 1, 4])
    assert found.equals(whole)
    pairs = [(X[:3000], y[:3000]), (X[3000:], y[3000:])]
    assert quorate.summarise(trained, pairs, source="training").equals(training)


def test_two_processes_give_the_same(forest, data, folder):
    X, y = data
    alone = quorate.summarise(forest, in_batches(X, y, 800))
    assert quorate.summarise(forest, in_batches(X, y, 800), n_jobs=2).equals(alone)
    small = quorate.keep_members(forest, [0, 3, 5])
    mine, theirs = (
        quorate.summarise(forest, folder, target="label", n_jobs=jobs, against=small)
        for jobs in (None, 2)
    )
    assert mine.equals(theirs)
    assert mine.rivals.sizes.tolist() == [3]


def test_files_folders_and_patterns(forest, data, folder, tmp_path):
    X, y = data
    whole = quorate.collect_votes(forest, X, y).summary()
    assert quorate.summarise(forest, folder, target="label").equals(whole)
    pattern = str(folder / "part-*.parquet")
    assert quorate.summarise(forest, pattern, target="label").equals(whole)
    frames = [pd.read_parquet(path) for path in sorted(folder.glob("*.parquet"))]
    for ending in (".csv", ".csv.gz"):
        path = tmp_path / f"all{ending}"
        pd.concat(frames).to_csv(path, index=False)
        assert quorate.summarise(forest, path, target="label").equals(whole)
    first = quorate.summarise(forest, folder / "part-0.parquet", target="label")
    assert first.n_samples == len(frames[0])


def test_models_that_know_their_columns(data, folder):
    frame = pd.read_parquet(folder / "part-0.parquet")
    X, y = frame.drop(columns="label"), frame["label"]
    forest = RandomForestClassifier(5, random_state=0).fit(X[:500], y[:500])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        summary = quorate.summarise(forest, folder / "part-1.parquet", target="label")
    assert summary.n_members == 5


@pytest.mark.parametrize("index", [["x1"], ["label"], ["x5", "label"], ["number"]])
def test_columns_that_pandas_made_the_index(data, tmp_path, index):
    X, y = data
    frame = pd.DataFrame(X).rename(columns=lambda at: f"x{at}")
    forest = RandomForestClassifier(5, random_state=0).fit(frame[:500], y[:500])
    plain = RandomForestClassifier(5, random_state=0).fit(X[:500], y[:500])
    wide = frame.assign(label=y, number=np.arange(y.size)[::-1])[500:1500]
    path = tmp_path / "rows.parquet"
    used = wide if index == ["number"] else wide.drop(columns="number")
    used.set_index(index).to_parquet(path, row_group_size=300)
    whole = quorate.collect_votes(forest, frame[500:1500], y[500:1500]).summary()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LeftOutWarning)  # "number"
        assert quorate.summarise(forest, path, target="label").equals(whole)
        # Read whole, too.
        form = SampleForm.for_models(forest)
        rows, labels = read_samples(path, "label", form)
    pd.testing.assert_frame_equal(rows, frame[500:1500].reset_index(drop=True))
    np.testing.assert_array_equal(labels, y[500:1500])
    if index in (["label"], ["number"]):
        # An index that no model was trained on is none of the columns.
        assert quorate.summarise(plain, path, target="label").equals(whole)


def test_pools_and_text_labels(data):
    X, y = data
    words = np.array(["ant", "bee", "cow"])[y]
    pool = {
        "tree": DecisionTreeClassifier(max_depth=3).fit(X[:500], words[:500]),
        "line": LogisticRegression(max_iter=500).fit(X[:500], words[:500]),
    }
    # the first batch has one class only, and votes for some
    order = np.argsort(words, kind="stable")
    summary = quorate.summarise(pool, in_batches(X[order], words[order], 300))
    whole = quorate.collect_votes(pool, X[order], words[order])
    assert all_values(summary) == all_values(whole)
    assert summary.names == ("tree", "line")


def test_out_of_bag_votes_of_training_rows_in_order(trained, data, folder, tmp_path):
    X, y = data
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LeftOutWarning)
        votes = quorate.collect_votes(trained, X, y, out_of_bag=True)
    summary = quorate.summarise(trained, in_batches(X, y, 900), source="training")
    assert summary.equals(votes.summary())
    assert summary.source is VoteSource.OUT_OF_BAG
    assert all_values(summary) == all_values(votes)
    worst = quorate.assess_risk(votes).worst_sample
    assert quorate.assess_risk(summary).worst_sample == votes.samples[worst]
    two = quorate.summarise(
        trained, folder, target="label", source="training", n_jobs=2
    )
    assert two.equals(summary)
    file = tmp_path / "so-far.npz"
    some = Interrupted(in_batches(X, y, 900), 3)
    with pytest.raises(KeyboardInterrupt):
        quorate.summarise(trained, some, source="training", resume=file)
    pairs = list(in_batches(X, y, 900))
    again = quorate.summarise(trained, pairs, source="training", resume=file)
    assert again.equals(summary)


def test_out_of_bag_of_other_rows_is_refused(trained, data, folder, tmp_path):
    X, y = data
    with pytest.raises(ValueError, match=r"drew 5000 rows each.*X has 900 rows"):
        quorate.summarise(trained, [(X[:900], y[:900])], source="training")
    few = RandomForestClassifier(2, random_state=0).fit(X, y)
    row = int(np.intersect1d(*few.estimators_samples_)[0])  # both were trained on it
    cuts = [slice(0, row), slice(row, row + 1)] if row else [slice(0, 1)]
    pairs = [(X[cut], y[cut]) for cut in cuts]
    with pytest.raises(BatchError, match="every member was trained on all of its rows"):
        quorate.summarise(few, pairs, source="training")
    frames = [pd.read_parquet(path) for path in sorted(folder.glob("*.parquet"))]
    pd.concat(frames).to_csv(tmp_path / "all.csv", index=False)
    with pytest.raises(ValueError, match=r"all\.csv does not say how many rows it has"):
        quorate.summarise(
            trained, tmp_path, target="label", source="training", n_jobs=2
        )


# Bad batches


def broken(data, n_labels=50):
    """Return three batches; in the second a label is missing, or some are."""
    X, y = data
    bad = np.where(np.arange(50) == 7, np.nan, y[:50])
    if n_labels < 50:
        bad = y[:n_labels]
    return [(X[:100], y[:100]), (X[:50], bad), (X[100:200], y[100:200])]


@pytest.mark.parametrize(
    ("n_labels", "words"),
    [(50, "batch 1: y: missing label at .*7"),
     (40, r"batch 1: X has 50 samples, y has shape \(40,\)")],
)  # fmt: skip
def test_a_bad_batch_is_named(forest, data, n_labels, words, tmp_path):
    with pytest.raises(BatchError, match=words) as caught:
        quorate.summarise(forest, broken(data, n_labels))
    assert str(caught.value).endswith("(nothing is kept; use resume= to keep "
        "partial results in a file)")  # fmt: skip
    file = tmp_path / "so-far.npz"
    with pytest.raises(BatchError, match=words) as caught:
        quorate.summarise(forest, broken(data, n_labels), resume=file)
    assert f"100 rows are kept in {file}" in str(caught.value)
    assert Summary.load(file).n_samples == 100
    mended = [*in_batches(data[0][:200], data[1][:200], 100)]
    again = quorate.summarise(forest, mended, resume=file)
    assert again.equals(quorate.summarise(forest, mended))


@pytest.mark.slow
def test_a_bad_batch_is_named_by_its_worker(forest, data, tmp_path):
    file = tmp_path / "so-far.npz"
    with pytest.raises(BatchError, match=r"batch 1: y: missing label.*100 rows are"):
        quorate.summarise(forest, broken(data), n_jobs=2, resume=file)
    assert Summary.load(file).n_samples == 100


X5 = np.zeros((5, 8))


@pytest.mark.parametrize(
    ("batches", "options", "error", "words"),
    [
        (X5, {}, TypeError, "iterable of pairs"),
        (3, {}, TypeError, "got int"),
        ([], {}, ValueError, "there are no batches"),
        ([X5], {}, BatchError, "batch 0: a batch must be a pair"),
        ([(X5, [0] * 5)], {"target": "label"}, ValueError, "only applies to files"),
        (pd.DataFrame(X5), {"target": "label"}, ValueError, "X and y separately"),
        ("data.parquet", {}, ValueError, "use target= to name the column of labels"),
        *((path, {"target": "label"}, error, words) for path, error, words in (
            ("nowhere/*.parquet", FileNotFoundError, "no files ending in .csv"),
            ("nowhere.parquet", FileNotFoundError, "no such file"),
            (__file__, ValueError, "a table must be a file ending in .csv"))),
        *(([(X5, [0] * 5)], options, error, words) for options, error, words in (
            ({"every": -1}, ValueError, r"summarise\(every=-1\): must be a number of "
                r"seconds, 0 or more"),
            ({"every": "a"}, ValueError, r"every='a'\): must be a number of seconds"),
            ({"n_jobs": 0}, ValueError,
             r"summarise\(n_jobs=0\): must be a number of proc"),
            ({"n_jobs": "a"}, ValueError,
             r"n_jobs='a'\): must be a number of processes"),
            ({"n_jobs": 1.5}, ValueError,
             r"n_jobs=1.5\): must be a number of processes"),
            ({"progress": "yes"}, TypeError, r"progress='yes'\): must be True, "
                r"False, or a"),
            ({"client": "tcp://a:1"}, TypeError, r"'tcp://a:1'\): must be a "
                r"distributed"),
            ({"resume": 3}, TypeError, r"resume=3\): must be the path of a file"),
            ({"resume": "."}, IsADirectoryError, "is a folder; pass the path"))),
    ],
)  # fmt: skip
def test_refused(forest, batches, options, error, words):
    with pytest.raises(error, match=words):
        quorate.summarise(forest, batches, **options)


@pytest.mark.parametrize("form", [sp.coo_matrix, sp.lil_array, sp.bsr_matrix])
def test_batches_of_any_sparse_form(forest, data, form):
    X, y = data
    expected = quorate.summarise(forest, [(X[:99], y[:99])])
    assert quorate.summarise(forest, [(form(X[:99]), y[:99])]).equals(expected)


def test_batches_that_are_not_computed_yet(data):
    X, y = data
    frame = pl.DataFrame(X[:99], schema=[f"c{k}" for k in range(X.shape[1])])
    forest = RandomForestClassifier(5, random_state=0).fit(frame, y[:99])
    expected = quorate.summarise(forest, [(frame, y[:99])])
    assert quorate.summarise(forest, [(frame.lazy(), y[:99])]).equals(expected)


def test_a_corrupt_file_in_the_middle_is_named(forest, folder, tmp_path):
    for path in folder.glob("*.parquet"):
        (tmp_path / path.name).write_bytes(path.read_bytes())
    raw = bytearray((folder / "part-1.parquet").read_bytes())
    raw[4:4000] = b"\0" * 3996
    (tmp_path / "part-1.parquet").write_bytes(raw)
    file = tmp_path / "so-far.npz"
    with pytest.raises(BatchError, match=r"part-1\.parquet") as caught:
        quorate.summarise(forest, tmp_path, target="label", resume=file)
    assert "rows are kept in" in str(caught.value)
    before = pd.read_parquet(folder / "part-0.parquet")
    assert Summary.load(file).n_samples == len(before)
    (tmp_path / "part-1.parquet").write_bytes(b"nothing")
    with pytest.raises(ValueError, match=r"part-1\.parquet: not a readable table"):
        quorate.summarise(forest, tmp_path, target="label")
    with pytest.raises(BatchError, match=r"part-0.*'colour'"):
        quorate.summarise(forest, folder, target="colour")


# Checkpoints


class Interrupted:
    """Batches that end with an interrupt after a few."""

    def __init__(self, pairs, after):
        self.pairs, self.after = list(pairs), after

    def __iter__(self):
        for at, pair in enumerate(self.pairs):
            if at == self.after:
                raise KeyboardInterrupt
            yield pair


@pytest.mark.parametrize(("after", "kind"), [(1, list), (3, iter), (6, list)])
def test_an_interrupted_pass_goes_on_with_the_same_numbers(
    forest, data, tmp_path, after, kind
):
    pairs = list(in_batches(*data, 750))
    file = tmp_path / "so-far.npz"
    some = Interrupted(pairs, after)
    with pytest.raises(KeyboardInterrupt):
        quorate.summarise(forest, iter(some) if kind is iter else some, resume=file)
    assert Summary.load(file).n_samples == 750 * after
    seen = []
    again = quorate.summarise(
        forest, kind(pairs), resume=file, progress=lambda done, total: seen.append(done)
    )
    assert seen[0] == 750 * after
    assert again.equals(quorate.summarise(forest, pairs))
    # and once more, with nothing left to do
    assert quorate.summarise(forest, pairs, resume=file).equals(again)


def test_a_full_disk_does_not_end_the_pass(forest, data, tmp_path, monkeypatch):
    X, y = data

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("quorate._summarising._progress.save_counts", full)
    with pytest.warns(QuorateWarning, match=r"No space left.*covers 0 rows") as said:
        summary = quorate.summarise(
            forest, in_batches(X, y, 900), resume=tmp_path / "f.npz", every=0
        )
    assert len(said) == 1
    assert summary.equals(quorate.collect_votes(forest, X, y).summary())


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_a_killed_pass_goes_on_with_the_same_numbers(forest, folder, tmp_path, seed):
    model, file = tmp_path / "model.pickle", tmp_path / "so-far.npz"
    model.write_bytes(pickle.dumps(forest))
    script = textwrap.dedent(f"""
        import pickle, time, quorate
        forest = pickle.load(open({str(model)!r}, "rb"))
        slow = lambda done, total: (print(done, flush=True), time.sleep(0.05))
        quorate.summarise(forest, {str(folder)!r}, target="label",
                          resume={str(file)!r}, every=0, progress=slow)
    """)
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    process = subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, env=env
    )
    process.stdout.readline()
    time.sleep(np.random.default_rng(seed).uniform(0.05, 0.4))
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    if file.exists():
        assert Summary.load(file).n_samples > 0  # whole, whenever it was
    again = quorate.summarise(forest, folder, target="label", resume=file)
    assert again.equals(quorate.summarise(forest, folder, target="label"))


# Progress


def test_progress_says_rows_rate_and_time_left():
    assert progress_text(100, None, 50, 2.0) == "100 rows, 25 rows/s"
    assert progress_text(200, 7400, 50, 25.0) == "200 of 7,400 rows, 2 rows/s, 1 h 0 min left"  # fmt: skip  # noqa: E501
    assert progress_text(0, 10, 0, 1.0) == "0 of 10 rows, 0 rows/s"
    stream = io.StringIO()
    line = ProgressLine(stream)
    line(0, 100)
    line(100, 100)
    assert stream.getvalue().endswith("\n")
    assert "100 of 100 rows" in stream.getvalue()


def test_progress_goes_to_standard_error(forest, data, capsys):
    quorate.summarise(forest, [data], progress=True)
    said = capsys.readouterr()
    assert said.out == ""
    assert "5,000 rows" in said.err
    quorate.summarise(forest, [data])  # no terminal here
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("ask", [quorate.summarise, quorate.collect_votes])
def test_rows_are_joined_by_position_and_so_by_an_equal_index(ask, forest, data):
    X, y = data
    frame, labels = pd.DataFrame(X), pd.Series(y)
    mixed = frame.iloc[::-1]
    said = (
        rf"batch 1: y and X have different rows, .* row 0 is 0 here and {len(y) - 1} th"
    )
    with pytest.raises(BatchError, match=said):
        ask(forest, [(frame, labels), (mixed, labels)])
    alike = ask(forest, [(frame, labels), (mixed, labels.loc[mixed.index])])
    np.testing.assert_array_equal(alike.accuracies, ask(forest, [(X, y)]).accuracies)
    # Without an index nobody can tell.
    ask(forest, [(mixed, y)])
    ask(forest, [(mixed.to_numpy(), labels)])
