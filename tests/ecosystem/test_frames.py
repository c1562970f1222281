"""Frames and arrays of other libraries as X."""

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import BaggingClassifier, RandomForestClassifier, VotingClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import quorate
from quorate.votes import VoteSource

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
    np.testing.assert_array_equal(found.codes, plain.codes)
    np.testing.assert_array_equal(found.predict(), plain.predict())
    if name != "list":
        np.testing.assert_array_equal(found.predict(), model.predict(X))


@pytest.mark.parametrize("form", FORMS)
def test_every_door(form, models, frame):
    X, y = frame
    seen, new = FORMS[form](X.iloc[:120]), FORMS[form](X.iloc[120:])
    forest, y_new = models["forest"], y[120:]
    votes = quorate.collect_votes(forest, seen, y[:120], out_of_bag="auto")
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


def test_members_are_asked_by_dask_workers(models, frame):
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
    np.testing.assert_array_equal(found.codes, plain.codes)
