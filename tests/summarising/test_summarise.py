"""One pass over batches gives what all samples at once give."""

import warnings
from types import SimpleNamespace

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier
from tests.ensembles.kinds import BOOTSTRAPPED, KINDS
from tests.summarising.conftest import DATA, X, Y, all_values, in_batches
from tests.votes.same import are_same

import quorate
from quorate._data import SampleForm, read_samples
from quorate._summarising import _summarise
from quorate.exceptions import BatchError, LeftOutWarning
from quorate.results import VoteSource


@pytest.fixture(scope="module")
def trained():
    return RandomForestClassifier(25, random_state=0).fit(*DATA)


MODELS = {**KINDS, "class weights": BOOTSTRAPPED["forest, balanced"]}


@pytest.mark.filterwarnings("ignore::quorate.exceptions.QuorateWarning")
@pytest.mark.parametrize("kind", MODELS)
def test_every_kind_of_ensemble(kind, monkeypatch):
    X, labels = DATA[0][:800], np.array(["ant", "bee", "cow"], dtype="<U4")[DATA[1]]
    model = MODELS[kind].fit(X[:400], labels[:400])
    y = labels[400:795]
    monkeypatch.setattr("quorate._summarising._summarise._MOST_ROWS", 70)
    monkeypatch.setattr("quorate._summarising._summarise._FEWEST_ROWS", 10)
    for last in ("cow", "aard"):  # a class that comes late, and sorts first
        y[-3:] = last
        found = quorate.summarise(model, in_batches(X[400:795], y, 90), n_jobs=2)
        whole = quorate.collect_votes(model, X[400:795], y).summary()
        assert found.classes.tolist() == whole.classes.tolist()
        assert found.accuracy() == whole.accuracy()
        wanted = pytest.approx(all_values(whole), rel=1e-12, nan_ok=True)
        assert all_values(found) == wanted


@pytest.mark.parametrize("size", [17, 700, 4999, 100_000])
def test_batches_of_any_size_give_the_votes_on_all(forest, boosted, size):
    X, y = DATA[0][:1500], DATA[1][:1500]
    votes = quorate.collect_votes(forest, X, y)
    summary = quorate.summarise(forest, in_batches(X, y, size))
    assert are_same(summary, votes.summary())
    assert summary.source is VoteSource.ASSUMED_NEW
    assert all_values(summary) == all_values(votes)
    assert summary.accuracy() == forest.score(X, y)
    weighted = quorate.summarise(boosted, in_batches(X, y, size))
    assert weighted.accuracy() == boosted.score(X, y)
    whole = quorate.decompose(quorate.collect_votes(boosted, X, y)).diversity
    assert quorate.decompose(weighted).diversity == pytest.approx(whole, abs=1e-12)


def test_chunks_do_not_show(forest, folder, monkeypatch):
    whole = quorate.summarise(forest, [(X, Y)], against=[3, 1, 4])
    for n_members, size in ((25, 65536), (1 << 12, 16384), (1 << 20, 1024)):
        members, steps = SimpleNamespace(n_members=n_members), []
        assert _summarise.BatchCounter(members, VoteSource.NEW).chunk_rows == size
    monkeypatch.setattr(_summarise, "advance", lambda *step: steps.append(step))
    monkeypatch.setattr(_summarise, "_MOST_ROWS", 333)
    monkeypatch.setattr(_summarise, "_FEWEST_ROWS", 10)
    assert are_same(quorate.summarise(forest, [(X, Y)], against=[3, 1, 4]), whole)
    found = quorate.summarise(forest, folder, target="label", against=[3, 1, 4])
    assert are_same(found, whole)
    assert [*steps[1:3], steps[-1]] == [(333, 0), (666, 0), (len(Y), 0)]


def test_files_folders_and_patterns(forest, folder, tmp_path):
    whole = quorate.collect_votes(forest, X, Y).summary()
    assert are_same(quorate.summarise(forest, folder, target="label"), whole)
    pattern = str(folder / "part-*.parquet")
    assert are_same(quorate.summarise(forest, pattern, target="label"), whole)
    frames = [pd.read_parquet(path) for path in sorted(folder.glob("*.parquet"))]
    for ending in (".csv", ".csv.gz"):
        path = tmp_path / f"all{ending}"
        pd.concat(frames).to_csv(path, index=False)
        assert are_same(quorate.summarise(forest, path, target="label"), whole)
    first = quorate.summarise(forest, folder / "part-0.parquet", target="label")
    assert first.n_samples == len(frames[0])


@pytest.mark.parametrize("index", [["x1"], ["label"], ["x5", "label"], ["number"]])
def test_columns_that_pandas_made_the_index(tmp_path, index):
    frame = pd.DataFrame(X).rename(columns=lambda at: f"x{at}")
    forest = RandomForestClassifier(5, random_state=0).fit(frame[:500], Y[:500])
    plain = RandomForestClassifier(5, random_state=0).fit(X[:500], Y[:500])
    wide = frame.assign(label=Y, number=np.arange(Y.size)[::-1])[500:1500]
    path = tmp_path / "rows.parquet"
    used = wide if index == ["number"] else wide.drop(columns="number")
    used.set_index(index).to_parquet(path, row_group_size=300)
    whole = quorate.collect_votes(forest, frame[500:1500], Y[500:1500]).summary()
    with warnings.catch_warnings(action="ignore", category=LeftOutWarning):  # "number"
        assert are_same(quorate.summarise(forest, path, target="label"), whole)
        # Read whole, too.
        form = SampleForm.for_models(forest)
        rows, labels = read_samples(path, "label", form)
    pd.testing.assert_frame_equal(rows, frame[500:1500].reset_index(drop=True))
    np.testing.assert_array_equal(labels, Y[500:1500])
    if index in (["label"], ["number"]):
        # An index that no model was trained on is none of the columns.
        assert are_same(quorate.summarise(plain, path, target="label"), whole)


def test_pools_and_text_labels():
    words = np.array(["ant", "bee", "cow"])[Y]
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


def test_training_rows_are_taken_at_the_word(trained):
    found = quorate.summarise(trained, in_batches(X, Y, 900), source="training")
    assert found.source is VoteSource.TRAINING
    assert "trained on these samples" in found.why_unreliable


# Bad batches


NAMES = [f"x{at}" for at in range(8)]


def unlike(X, y):
    frame = pd.DataFrame(X, columns=NAMES)
    missing = np.where(np.arange(50) == 7, np.nan, y[:50])
    nobody = np.array([*y[:49], None], dtype=object)
    good, rows, labels = (X[:100], y[:100]), X[:50], y[:50]
    framed = frame[:100], y[:100]
    return {
        "a column less": (framed, (frame[:50].drop(columns="x3"), labels),
                          "it has no column 'x3', but the first batch has one"),
        "a column more": (framed, (frame[:50].assign(z=1.0), labels),
                          "it has a column 'z', but the first batch has none"),
        "a column twice": (framed, (frame[:50][[*NAMES, "x3"]], labels),
                           "it has 9 columns, but the first batch has 8"),
        "another order": (framed, (frame[:50][NAMES[::-1]], labels),
                          "order: column 0 is 'x7', but 'x0' in the first batch"),
        "no names": (framed, (rows, labels),
                     "it is an array, but the first batch is a frame of pandas"),
        "a series": (good, (frame["x0"][:50], labels),
                     "it is one column of a frame, but the first batch is an array"),
        "sparse": (good, (sp.csr_array(rows), labels),
                   "it is sparse, but the first batch is an array"),
        "fewer columns": (good, (rows[:, :5], labels),
                          "it has 5 features, but the first batch has 8 features"),
        "no rows": (good, (X[:0], y[:0]), "it has no rows"),
        "NaN labels": (good, (rows, missing), "y: missing label at sample 7"),
        "fewer labels": (good, (rows, y[:40]), r"X has 50 samples, y has shape \(40,"),
        "None labels": (good, (rows, nobody), "y: .*49"),
        "text labels": (good, (rows, np.array(["ant", "bee"] * 25)),
                        "labels of mixed types, numbers and text"),
        "no pair": (good, X[:5], r"a batch must be a pair \(X, y\), got ndarray"),
    }  # fmt: skip


@pytest.mark.filterwarnings("ignore:X has feature names")
@pytest.mark.parametrize("what", unlike(np.zeros((100, 8)), np.zeros(100)))
def test_a_batch_unlike_the_first_is_named(forest, what):
    first, second, words = unlike(*DATA)[what]
    with pytest.raises(BatchError, match=f"^summarise: batch 1: .*{words}"):
        quorate.summarise(forest, (pair for pair in [first, second]))


@pytest.mark.parametrize("ending", ["parquet", "csv"])
def test_a_file_whose_columns_come_in_another_order_is_named(forest, ending, tmp_path):
    frame = pd.DataFrame(DATA[0][:300], columns=NAMES).assign(label=DATA[1][:300])
    turned = frame[["label", *NAMES[::-1]]]
    for at, table in enumerate((frame, turned)):
        path = tmp_path / f"part-{at}.{ending}"
        if ending == "csv":
            table.to_csv(path, index=False)
        else:
            table.to_parquet(path)
    words = r"part-1\.\w+: its columns are in a different order: column 0 is 'label'"
    with pytest.raises(BatchError, match=words):
        quorate.summarise(forest, tmp_path, target="label")


def test_an_index_that_a_file_keeps_is_no_column(forest, tmp_path):
    frame = pd.DataFrame(DATA[0][:300], columns=NAMES).assign(label=DATA[1][:300])
    for at, rows in enumerate((frame[:200], frame[200:])):
        rows.set_index(rows.index + 5).to_parquet(tmp_path / f"part-{at}.parquet")
    found = quorate.summarise(forest, tmp_path, target="label")
    assert found.accuracy() == forest.score(DATA[0][:300], DATA[1][:300])


def ends_badly(pairs):
    yield from pairs
    raise ConnectionError("the store is gone")


def test_a_source_that_raises_is_told_with_the_number_of_the_batch(forest):
    pairs = list(in_batches(DATA[0][:300], DATA[1][:300], 100))
    words = r"batch 3: it could not be loaded \(ConnectionError: the store is gone\)"
    with pytest.raises(BatchError, match=words) as caught:
        quorate.summarise(forest, ends_badly(pairs))
    assert isinstance(caught.value.__cause__.__cause__, ConnectionError)


def test_labels_of_two_types_are_refused_for_pools_too(forest):
    pool = {"one": forest.estimators_[0], "two": quorate.keep_members(forest, [1, 2])}
    pairs = [(X[:50], Y[:50]), (X[50:100], np.array(["ant", "bee"] * 25))]
    with pytest.raises(BatchError, match="batch 1: member 'one'"):
        quorate.summarise(pool, pairs)


X5 = np.zeros((5, 8))


@pytest.mark.parametrize(
    ("batches", "options", "error", "words"),
    [
        ([], {}, ValueError, "there are no batches"),
        (pd.DataFrame(X5), {"target": "label"}, ValueError, r"pass \[\(X, y\)\]"),
        *((path, {"target": "label"}, error, words) for path, error, words in (
            ("nowhere/*.parquet", FileNotFoundError, "no files ending in .csv"),
            ("nowhere.parquet", FileNotFoundError, "no such file"),
            (__file__, ValueError, "a table must be a file ending in .csv"))),
    ],
)  # fmt: skip
def test_refused(forest, batches, options, error, words):
    with pytest.raises(error, match=words):
        quorate.summarise(forest, batches, **options)


@pytest.mark.parametrize("form", [sp.coo_matrix, sp.lil_array, sp.bsr_matrix])
def test_batches_of_any_sparse_form(forest, form):
    expected = quorate.summarise(forest, [(X[:99], Y[:99])])
    assert are_same(quorate.summarise(forest, [(form(X[:99]), Y[:99])]), expected)


def test_batches_that_are_not_computed_yet():
    frame = pl.DataFrame(X[:99], schema=[f"c{k}" for k in range(X.shape[1])])
    forest = RandomForestClassifier(5, random_state=0).fit(frame, Y[:99])
    expected = quorate.summarise(forest, [(frame, Y[:99])])
    assert are_same(quorate.summarise(forest, [(frame.lazy(), Y[:99])]), expected)


def test_a_corrupt_file_in_the_middle_is_named(forest, folder, tmp_path):
    for path in folder.glob("*.parquet"):
        (tmp_path / path.name).write_bytes(path.read_bytes())
    raw = bytearray((folder / "part-1.parquet").read_bytes())
    raw[4:4000] = b"\0" * 3996
    (tmp_path / "part-1.parquet").write_bytes(raw)
    with pytest.raises(BatchError, match=r"^summarise: .*part-1\.parquet"):
        quorate.summarise(forest, tmp_path, target="label")
    (tmp_path / "part-1.parquet").write_bytes(b"nothing")
    with pytest.raises(ValueError, match=r"part-1\.parquet: not a readable table"):
        quorate.summarise(forest, tmp_path, target="label")
    with pytest.raises(BatchError, match=r"part-0.*'colour'"):
        quorate.summarise(forest, folder, target="colour")
    (tmp_path / "part-1.parquet").unlink()
    frame = pd.read_parquet(tmp_path / "part-0.parquet")
    frame[:0].to_csv(tmp_path / "part-1.csv", index=False)
    with pytest.raises(BatchError, match=r"part-1\.csv: it has no rows"):
        quorate.summarise(forest, tmp_path, target="label")


def test_rows_are_joined_by_position_and_so_by_an_equal_index(forest):
    frame, labels = pd.DataFrame(X), pd.Series(Y)
    mixed = frame.iloc[::-1]
    said = rf"batch 1: y and X have different rows, .* row 0 is 0 here and {len(Y) - 1}"
    with pytest.raises(BatchError, match=said):
        quorate.summarise(forest, [(frame, labels), (mixed, labels)])
    same = [(frame, labels), (mixed, labels.loc[mixed.index])]
    alike, whole = (quorate.summarise(forest, each) for each in (same, [(X, Y)]))
    np.testing.assert_array_equal(alike.accuracies, whole.accuracies)
    # Without an index nobody can tell.
    quorate.summarise(forest, [(mixed, Y)])
    quorate.summarise(forest, [(mixed.to_numpy(), labels)])
