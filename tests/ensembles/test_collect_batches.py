"""Votes on batches are the votes on all their samples at once."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_classification
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    ExtraTreesClassifier,
    RandomForestClassifier,
    VotingClassifier,
)
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import quorate
from quorate._votes import VoteSource, joined_votes, renumber, with_changes
from quorate.exceptions import BatchError, LeftOutWarning

N = 400
NAMES = np.array(["ant", "bee", "cow"])
MEMBERS = [("bayes", GaussianNB()), ("tree", DecisionTreeClassifier(max_depth=3))]
KINDS = {
    "forest": RandomForestClassifier(9, random_state=0),
    "soft forest": RandomForestClassifier(9, min_samples_leaf=4, random_state=0),
    "class weights": RandomForestClassifier(
        5, max_depth=3, class_weight="balanced", random_state=0
    ),
    "extra trees": ExtraTreesClassifier(6, max_depth=4, random_state=0),
    "bagging": BaggingClassifier(
        DecisionTreeClassifier(), 6, max_features=0.5, random_state=0
    ),
    "bagged bayes": BaggingClassifier(GaussianNB(), 4, random_state=0),
    "adaboost": AdaBoostClassifier(
        DecisionTreeClassifier(max_depth=2), n_estimators=6, random_state=0
    ),
    "soft voting": VotingClassifier(MEMBERS, voting="soft", weights=[1, 2]),
    "hard voting": VotingClassifier(MEMBERS),
    "pipeline": make_pipeline(StandardScaler(), RandomForestClassifier(4)),
}


def drawn():
    X, y = make_classification(
        2 * N, 8, n_informative=5, n_classes=3, flip_y=0.1, random_state=0
    )
    return X, NAMES[y]


@pytest.fixture(scope="module", params=[*KINDS, "pool"])
def model(request):
    X, y = drawn()
    if request.param == "pool":
        return {
            "logistic": LogisticRegression().fit(X[:N], y[:N]),
            "tree": DecisionTreeClassifier(max_depth=4).fit(X[:N], y[:N]),
        }
    return KINDS[request.param].fit(X[:N], y[:N])


def in_batches(X, y, size):
    for start in range(0, len(y), size):
        yield X[start : start + size], y[start : start + size]


def assert_same(one, two):
    for name in ("codes", "y", "classes", "samples", "names", "weights"):
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name), name)
    for name in ("decision_rule", "source", "family", "is_masked"):
        assert getattr(one, name) == getattr(two, name), name
    mine, theirs = one.class_probabilities, two.class_probabilities
    assert (mine is None) == (theirs is None)
    if mine is not None:
        assert mine.are_certain == theirs.are_certain
        for member in range(one.n_members):
            # Where it is no tree, BLAS adds up a row alone otherwise than among many.
            np.testing.assert_allclose(mine.of(member), theirs.of(member), rtol=1e-12)
    assert one.summary().equals(two.summary())


@pytest.mark.parametrize("size", [1, 63, 150, 1000])
def test_new_samples(model, size):
    X, y = (part[N:-5] for part in drawn())  # not as many as in training
    if size == 1:
        X, y = X[:25], y[:25]
    found = quorate.collect_votes(model, in_batches(X, y, size))
    assert_same(found, quorate.collect_votes(model, X, y))
    assert found.source is VoteSource.ASSUMED_NEW


@pytest.mark.filterwarnings("ignore::quorate.exceptions.LeftOutWarning")
@pytest.mark.parametrize("out_of_bag", [False, "auto"])
def test_training_samples(model, out_of_bag):
    X, y = (part[:N] for part in drawn())
    options = {"out_of_bag": out_of_bag, "source": "training"}
    found = quorate.collect_votes(model, in_batches(X, y, 90), **options)
    assert_same(found, quorate.collect_votes(model, X, y, **options))


@pytest.mark.filterwarnings("ignore::quorate.exceptions.LeftOutWarning")
@pytest.mark.parametrize("kind", ["forest", "soft forest", "bagging"])
def test_out_of_bag(kind):
    X, y = (part[:N] for part in drawn())
    model = KINDS[kind].fit(X, y)
    found = quorate.collect_votes(model, in_batches(X, y, 90), out_of_bag=True)
    whole = quorate.collect_votes(model, X, y, out_of_bag=True)
    assert_same(found, whole)
    assert found.source is VoteSource.OUT_OF_BAG


def test_samples_that_everybody_was_trained_on_are_named_once():
    X, y = (part[:N] for part in drawn())
    forest = RandomForestClassifier(3, random_state=0).fit(X, y)
    said = []
    for given in ((X, y), (list(in_batches(X, y, 90)),)):
        with pytest.warns(LeftOutWarning) as caught:
            votes = quorate.collect_votes(forest, *given, out_of_bag=True)
        said.append((votes.n_samples, [str(each.message) for each in caught]))
    assert said[0] == said[1]
    assert len(said[0][1]) == 1


@pytest.mark.filterwarnings("ignore::quorate.exceptions.QuorateWarning")
def test_a_class_that_comes_late_is_there_from_the_start(model):
    X, y = (part[N:-5] for part in drawn())
    labels = y.astype("<U4")
    labels[-3:] = "aardvark"[:4]
    found = quorate.collect_votes(model, in_batches(X, labels, 90))
    whole = quorate.collect_votes(model, X, labels)
    assert found.classes.tolist() == ["aard", "ant", "bee", "cow"]
    assert_same(found, whole)


def test_small_batches_come_in_chunks_and_large_ones_too(model, monkeypatch):
    X, y = (part[N:-5] for part in drawn())
    monkeypatch.setattr("quorate._ensembles._batches._MOST_ROWS", 70)
    monkeypatch.setattr("quorate._ensembles._batches._FEWEST_ROWS", 10)
    found = quorate.collect_votes(model, [(X[:300], y[:300]), (X[300:], y[300:])])
    assert_same(found, quorate.collect_votes(model, X, y))


def test_without_probabilities_and_with_what_is_known():
    X, y = (part[N:] for part in drawn())
    forest = KINDS["soft forest"].fit(*(part[:N] for part in drawn()))
    batches = list(in_batches(X, y, 90))
    found = quorate.collect_votes(forest, batches, probabilities=False, n_jobs=2)
    assert_same(found, quorate.collect_votes(forest, X, y, probabilities=False))
    assert found.class_probabilities is None
    found = quorate.collect_votes(forest, batches, source="new")
    assert found.source is VoteSource.NEW


def test_files(tmp_path):
    X, y = drawn()
    frame = pd.DataFrame(X).add_prefix("x").assign(label=y)
    forest = KINDS["forest"].fit(frame[:N].drop(columns="label"), y[:N])
    rest = frame[N:]
    whole = quorate.collect_votes(forest, rest.drop(columns="label"), y[N:])
    rest.to_parquet(tmp_path / "all.parquet", row_group_size=70, index=False)
    for given in (tmp_path, tmp_path / "all.parquet", str(tmp_path / "*.parquet")):
        found = quorate.collect_votes(forest, given, target="label")
        assert_same(found, whole)
    (tmp_path / "all.parquet").rename(tmp_path / "train.parquet")
    with pytest.raises(ValueError, match="use target= to name the column of labels"):
        quorate.collect_votes(forest, str(tmp_path / "train.parquet"))
    with pytest.raises(BatchError, match=r"collect_votes: .*train.*'colour'"):
        quorate.collect_votes(forest, tmp_path, target="colour")
    with pytest.raises(ValueError, match=r"target='label'\): only applies to batches"):
        quorate.collect_votes(forest, X, y, target="label")


@pytest.mark.filterwarnings("ignore::quorate.exceptions.LeftOutWarning")
def test_partitions(model):
    da = pytest.importorskip("dask.array")
    dd = pytest.importorskip("dask.dataframe")
    import dask

    with dask.config.set(scheduler="threads", num_workers=2):
        X, y = (part[N:-5] for part in drawn())
        given = da.from_array(X, chunks=(90, -1)), da.from_array(y, chunks=90)
        for source in ("auto", "new", "training"):
            found = quorate.collect_votes(model, given, source=source)
            assert_same(found, quorate.collect_votes(model, X, y, source=source))
        frame = dd.from_pandas(pd.DataFrame(X).add_prefix("x").assign(y=y), 3)
        assert_same(quorate.collect_votes(model, frame, target="y"),
                    quorate.collect_votes(model, X, y))  # fmt: skip
        with pytest.raises(
            ValueError, match=("it is not known which training rows the partitions")
        ):
            quorate.collect_votes(model, given, out_of_bag=True)
        none = frame[frame["x0"] > 1e9]
        with pytest.raises(ValueError, match="collect_votes: the partitions have no"):
            quorate.collect_votes(model, none, target="y")
        labels = y.astype(object)
        labels[100] = None
        bad = da.from_array(X, chunks=(90, -1)), da.from_array(labels, chunks=90)
        with pytest.raises(BatchError, match="collect_votes: partition 1: y: missing"):
            quorate.collect_votes(model, bad)


BAD = {
    "other columns": (lambda X, y: (X[:, :5], y), "batch 1: .*5 features"),
    "no rows": (lambda X, y: (X[:0], y[:0]), "batch 1: it has no rows"),
    "missing label": (
        lambda X, y: (X, np.where(np.arange(y.size) == 7, None, y)),
        "batch 1: y: missing label at .*7",
    ),
    "other labels": (lambda X, y: (X, np.arange(y.size)), "batch 1: .*labels"),
    "other length": (
        lambda X, y: (X, y[:40]), r"batch 1: X has 90 samples, y has shape \(40,\)"
    ),
    "labels as a table": (
        lambda X, y: (X, y[:, None]), r"batch 1: X has 90 samples, y has shape \(90, 1"
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", BAD)
def test_a_bad_batch_is_named(what):
    X, y = drawn()
    forest = KINDS["forest"].fit(X[:N], y[:N])
    batches = list(in_batches(X[N:], y[N:], 90))
    spoil, words = BAD[what]
    batches[1] = spoil(*batches[1])
    with pytest.raises(BatchError, match=f"^collect_votes: {words}") as caught:
        quorate.collect_votes(forest, batches)
    assert str(caught.value).endswith("(nothing is kept)")
    with pytest.raises(BatchError, match=words):
        quorate.summarise(forest, batches)


def test_what_cannot_be_is_refused():
    X, y = (part[:N] for part in drawn())
    forest = KINDS["forest"].fit(X, y)
    boosted = KINDS["adaboost"].fit(X, y)
    batches = list(in_batches(X, y, 90))
    for given, options, words in (
        (iter([]), {}, "collect_votes: there are no batches"),
        (batches, {"rows": np.arange(3)}, "cannot be combined with batches"),
        (batches, {"out_of_bag": "perhaps"}, "True, False or 'auto'"),
        (batches[:2], {"out_of_bag": True}, "drew 400 rows each.*; X has 180 rows"),
    ):
        with pytest.raises(ValueError, match=words):
            quorate.collect_votes(forest, given, **options)
    with pytest.raises(ValueError, match="that was trained on bootstrap samp"):
        quorate.collect_votes(boosted, batches, out_of_bag=True)


def test_samples_without_labels_are_no_batches():
    X, y = (part[:N, :2] if part.ndim == 2 else part[:N] for part in drawn())
    forest = KINDS["forest"].fit(X, y)
    whole = quorate.collect_votes(forest, X).codes
    pairs = [tuple(row) for row in X.tolist()]
    numbers = [tuple(row) for row in X]  # of NumPy's own numbers
    for given in (pairs, numbers, X.tolist(), tuple(pairs)):
        found = quorate.collect_votes(forest, given)
        np.testing.assert_array_equal(found.codes, whole)
    texts = ["ant", "bee", "ant ant", "bee bee bee"] * 5
    model = make_pipeline(CountVectorizer(), RandomForestClassifier(4, random_state=0))
    model.fit(texts, [0, 1] * 10)
    found = quorate.collect_votes(model, texts)
    assert found.n_samples == 20
    np.testing.assert_array_equal(found.predict(), model.predict(texts))


def test_sources_of_joined_votes_are_the_weakest():
    one = with_changes(quorate.Votes([[0, 1]], [0, 1]), source=VoteSource.ASSUMED_NEW)
    two = with_changes(quorate.Votes([[1, 1]], [0, 1]), source=VoteSource.TRAINING)
    assert joined_votes([one, two]).source is VoteSource.TRAINING
    assert joined_votes([one]) is one
    valid = [[True, False], [True, True]]
    masked = quorate.Votes([[5, 7], [7, 7]], [5, 7], valid=valid)
    plain = quorate.Votes([[9, 3], [7, 9]], [9, 7])
    both = joined_votes([masked, renumber(plain, np.array([2, 3]))])
    assert both.classes.tolist() == [3, 5, 7, 9]
    assert both.codes.tolist() == [[1, -1, 3, 0], [2, 2, 2, 3]]
    assert both.y.tolist() == [1, 2, 3, 2]
    assert both.samples.tolist() == [0, 1, 2, 3]
    assert both.is_masked
