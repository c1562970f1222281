"""Frames and arrays of other libraries as X."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.ensemble import BaggingClassifier, RandomForestClassifier, VotingClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tests.ensembles.kinds import KINDS

import quorate
from quorate.results import VoteSource

from .conftest import library

polars = library("polars")
pyarrow = library("pyarrow")
dask_array = library("dask.array")
dask_frame = library("dask.dataframe")

FORMS = {
    "polars": polars.from_pandas,
    "arrow": pyarrow.Table.from_pandas,
    "dask frame": lambda frame: dask_frame.from_pandas(frame, npartitions=3),
    "dask array": lambda frame: dask_array.from_array(frame.to_numpy(), (40, 13)),
}


@pytest.fixture(scope="module")
def frame(wine):
    X = np.concatenate([part[0] for part in wine]).astype(float)
    y = np.concatenate([part[1] for part in wine])
    return pd.DataFrame(X, columns=[f"f{place}" for place in range(13)]), y


@pytest.fixture(scope="module")
def models(frame):
    X, y = frame
    X, y = X.iloc[:120], y[:120]
    forest = RandomForestClassifier(20, random_state=0)
    both = [("bayes", GaussianNB()), ("forest", forest)]
    return {
        "forest": forest.fit(X, y),
        "pipeline": make_pipeline(StandardScaler(), GaussianNB()).fit(X, y),
        "bagging": BaggingClassifier(random_state=0).fit(X, y),
        "voting": VotingClassifier(both, voting="soft").fit(X, y),
    }


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", ["forest", "bagging", "voting", "list"])
def test_votes_do_not_depend_on_the_form(name, form, models, frame):
    X, y = frame
    model = models.get(name) or [models["forest"], models["pipeline"]]
    plain = quorate.collect_votes(model, X, y)
    found = quorate.collect_votes(model, FORMS[form](X), y)
    assert_array_equal(found.codes, plain.codes)
    assert_array_equal(found.predict(), plain.predict())
    if name != "list":
        assert_array_equal(found.predict(), model.predict(X))


@pytest.mark.parametrize("form", FORMS)
def test_every_door(form, models, frame):
    X, y = frame
    seen, new = FORMS[form](X.iloc[:120]), FORMS[form](X.iloc[120:])
    forest, y_new = models["forest"], y[120:]
    votes = quorate.collect_votes(forest, seen, y[:120], out_of_bag=True)
    assert votes.source is VoteSource.OUT_OF_BAG
    small = quorate.prune(forest, seen, y[:120], keep=4)
    plain = quorate.prune(forest, X.iloc[:120], y[:120], keep=4)
    assert small.pruning_["kept"] == plain.pruning_["kept"]
    compared = quorate.compare(forest, small, new, y_new, repeats=1)
    assert compared.accuracy[0] == forest.score(X.iloc[120:], y_new)
    page = quorate.report([models["pipeline"], forest], new, y_new, keep=1)
    assert page.data["pruning"]["n_kept"] == 1


def test_dask_computes_once(models, frame):
    X, y = frame
    times = []

    def counted(block):
        times.append(len(block))
        return block

    lazy = dask_frame.from_pandas(X, npartitions=3).map_partitions(counted, meta=X)
    pool = [models["pipeline"], models["forest"], models["bagging"]]
    quorate.collect_votes(pool, lazy, y, probabilities=True)
    assert sum(times) == len(y)


def test_dask_labels_come_with_their_rows(models, frame):
    X, y = frame
    lazy = dask_frame.from_pandas(X.assign(kind=y), npartitions=4)
    found = quorate.collect_votes(models["forest"], lazy[list(X)], lazy["kind"])
    plain = quorate.collect_votes(models["forest"], X, y)
    assert_array_equal(found.codes, plain.codes)
    assert_array_equal(found.y, plain.y)
    assert_array_equal(found.mean_probabilities(), plain.mean_probabilities())
    # Cut otherwise than the rows, they are still the labels of these rows.
    other = dask_array.from_array(y, 100)
    again = quorate.collect_votes(models["forest"], lazy[list(X)], other)
    assert_array_equal(again.y, plain.y)
    unlabelled = quorate.collect_votes(models["forest"], lazy[list(X)])
    assert_array_equal(unlabelled.y, quorate.collect_votes(models["forest"], X).y)


@pytest.mark.parametrize(
    "name", ["forest", "extra trees", "bagged knn", "adaboost", "subspace"]
)
def test_dask_rows_are_judged_as_rows_in_memory(name, frame):
    X, y = frame[0].to_numpy(), frame[1]
    model = clone(KINDS[name]).fit(X, y)
    lazy = dask_array.from_array(X, (50, 5))
    for source in ("auto", "new", "training"):
        options = {"out_of_bag": "auto", "source": source}
        plain = quorate.collect_votes(model, X, y, **options)
        found = quorate.collect_votes(model, lazy, y, **options)
        assert found.source is plain.source
        assert_array_equal(found.codes, plain.codes)
        assert_array_equal(found.samples, plain.samples)
        assert_array_equal(found.predict(), plain.predict())


def test_dask_probabilities_of_pools_and_empty_partitions(models, frame):
    X, y = frame
    pool = {name: models[name] for name in ("pipeline", "forest", "bagging")}
    lazy = dask_array.from_array(X.to_numpy(), (40, 13))
    lazy = dask_array.concatenate([lazy[:0], lazy])
    found = quorate.collect_votes(pool, lazy, y, probabilities=True)
    plain = quorate.collect_votes(pool, X.to_numpy(), y, probabilities=True)
    for place in range(3):
        assert_allclose(
            found.class_probabilities.of(place),
            plain.class_probabilities.of(place),
            rtol=1e-9,
        )
    assert_array_equal(found.codes, plain.codes)


@pytest.mark.parametrize(
    ("labels", "options", "why"),
    [
        (lambda y: y[:-1], {}, "X has 178 samples, y has 177; y must have one label"),
        (lambda y: None, {"out_of_bag": True}, "needs the y the ensemble was trained"),
        (lambda y: y, {"out_of_bag": True}, "is not the data the ensemble was"),
        (lambda y: y, {"out_of_bag": 1.5}, "True, False or 'auto'"),
    ],
)
def test_dask_refusals(labels, options, why, models, frame):
    X, y = frame
    lazy = FORMS["dask frame"](X)
    with pytest.raises(ValueError, match=why):
        quorate.collect_votes(models["forest"], lazy, labels(y), **options)


def test_members_are_asked_by_threads_under_dask(models, frame):
    library("distributed")
    import joblib
    from distributed import Client, LocalCluster

    X, y = frame
    with (
        LocalCluster(1, processes=False, dashboard_address=None) as cluster,
        Client(cluster),
        joblib.parallel_config(backend="dask"),
    ):
        found = quorate.collect_votes(models["forest"], X, y, n_jobs=2)
    plain = quorate.collect_votes(models["forest"], X, y)
    assert_array_equal(found.codes, plain.codes)
