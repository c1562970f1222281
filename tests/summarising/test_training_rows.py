"""Training rows are known again when they come in batches, and other rows are not."""

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    ExtraTreesClassifier,
    RandomForestClassifier,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier
from tests.summarising.conftest import in_batches, make_data

import quorate
from quorate._votes import VoteSource
from quorate.ensembles import _leaf_notes
from quorate.exceptions import UnknownLabelWarning

MODELS = {
    "forest": RandomForestClassifier(8, random_state=0),
    "shallow forest": RandomForestClassifier(8, max_depth=2, random_state=0),
    "forest of few rows": RandomForestClassifier(8, max_samples=0.3, random_state=0),
    "extra trees": ExtraTreesClassifier(5, random_state=0),
    "bagging": BaggingClassifier(DecisionTreeClassifier(), 5, random_state=0),
    "bagged bayes": BaggingClassifier(GaussianNB(), 5, random_state=0),
    "boosted stumps": AdaBoostClassifier(n_estimators=20, random_state=0),
}
N = 900


@pytest.fixture(scope="module", params=MODELS)
def model(request):
    X, y = make_data()
    return MODELS[request.param].fit(X[:N], y[:N])


def samples(what):
    X, y = make_data()
    rng = np.random.default_rng(0)
    order = rng.permutation(N)
    other = y[:N].copy()
    other[::2] = 2 - other[::2]
    return {
        "training rows": (X[:N], y[:N]),
        "in another order": (X[order], y[order]),
        "as many others": (X[N : 2 * N], y[N : 2 * N]),
        "one more": (X[: N + 1], y[: N + 1]),
        "one less": (X[: N - 1], y[: N - 1]),
        "other labels": (X[:N], other),
        "a label nobody knows": (X[:N], np.where(np.arange(N) == 5, 7, y[:N])),
    }[what]


ROWS = (
    "training rows", "in another order", "as many others", "one more", "one less",
    "other labels", "a label nobody knows",
)  # fmt: skip


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::quorate.exceptions.UnknownLabelWarning")
@pytest.mark.parametrize("what", ROWS)
@pytest.mark.parametrize("size", [100, 451])
def test_batches_are_what_all_their_rows_at_once_are(model, what, size):
    X, y = samples(what)
    whole = quorate.collect_votes(model, X, y)
    found = quorate.summarise(model, in_batches(X, y, size))
    assert found.source is whole.source
    if what == "training rows":
        assert found.source is VoteSource.TRAINING
    if what == "as many others" and type(model.estimators_[0]) is not GaussianNB:
        assert found.source is VoteSource.OTHER  # only trees can tell rows apart
    assert found.equals(whole.summary())


def test_labels_that_nobody_can_give_are_told_of():
    X, y = samples("as many others")
    model = RandomForestClassifier(5, random_state=0).fit(*samples("training rows"))
    y = np.where(np.arange(N) % 100 == 5, 7, np.where(np.arange(N) == 6, 8, y))
    count = np.count_nonzero(np.isin(y, [7, 8]))
    message = f"{count} samples have a label .* not trained on \\(7 and 1 more\\)"
    with pytest.warns(UnknownLabelWarning, match=message):
        quorate.summarise(model, in_batches(X, y, 100))
    with pytest.warns(UnknownLabelWarning, match=message):
        quorate.collect_votes(model, in_batches(X, y, 100))


def forest_of_all():
    X, y = make_data()
    return RandomForestClassifier(9, random_state=0).fit(X[:N], y[:N]), X[:N], y[:N]


def test_nothing_is_compared_or_promised_on_them():
    forest, X, y = forest_of_all()
    small = quorate.keep_members(forest, [0, 1, 2])
    batches = list(in_batches(X, y, 200))
    compared = quorate.compare(forest, small, batches)
    assert compared.accuracy is compared.error_limits is compared.recalls is None
    assert compared.source is VoteSource.TRAINING
    with pytest.raises(ValueError, match="members were trained on these samples"):
        quorate.certify(forest, small, batches)


def test_several_processes_and_files_know_them_too(tmp_path):
    forest, X, y = forest_of_all()
    batches = list(in_batches(X, y, 200))
    found = quorate.summarise(forest, batches, n_jobs=2)
    assert found.source is VoteSource.TRAINING
    frame = pd.DataFrame(X).rename(columns=str).assign(y=y)
    for at, start in enumerate(range(0, N, 300)):
        part = frame[start : start + 300]
        part.to_csv(tmp_path / f"{at}.csv", index=False, float_format="%.17g")
    found = quorate.summarise(forest, tmp_path, target="y")
    assert found.source is VoteSource.TRAINING


def test_what_was_said_counts():
    forest, X, y = forest_of_all()
    said = quorate.summarise(forest, in_batches(X, y, 200), source=VoteSource.OTHER)
    assert said.source is VoteSource.OTHER


def test_a_checkpoint_of_them_says_so(tmp_path):
    forest, X, y = forest_of_all()
    file = tmp_path / "so-far.npz"
    for _ in range(2):
        found = quorate.summarise(
            forest, list(in_batches(X, y, 200)), resume=file, every=0
        )
        assert found.source is VoteSource.TRAINING
        assert quorate.Summary.load(file).source is VoteSource.TRAINING


def test_a_pass_that_goes_on_knows_them_too(tmp_path):
    forest, X, y = forest_of_all()
    file = tmp_path / "so-far.npz"
    batches = list(in_batches(X, y, 200))
    for done in (1, 3):
        quorate.summarise(forest, batches[:done], resume=file)
        found = quorate.summarise(forest, iter(batches), resume=file)
        assert found.source is VoteSource.TRAINING
        assert found.equals(quorate.collect_votes(forest, X, y).summary())
        for old in tmp_path.iterdir():
            old.unlink()


def test_beyond_some_rows_nothing_is_kept(monkeypatch):
    forest, X, y = forest_of_all()
    monkeypatch.setattr(_leaf_notes, "MOST_NOTED", N - 1)
    found = quorate.summarise(forest, in_batches(X, y, 200))
    assert found.source is VoteSource.OTHER


def test_partitions(model):
    da = pytest.importorskip("dask.array")
    import dask

    with dask.config.set(scheduler="threads", num_workers=2):
        for what in ("training rows", "as many others", "one more"):
            X, y = samples(what)
            given = da.from_array(X, chunks=(200, -1)), da.from_array(y, chunks=200)
            whole = quorate.collect_votes(model, X, y)
            found = quorate.summarise(model, given)
            assert found.equals(whole.summary()), what
