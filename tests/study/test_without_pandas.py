"""Studies of data sets that come with the package need nothing but the package."""

import sys

import numpy as np
import pytest

from quorate.study import (
    EnsembleSpec,
    MethodSpec,
    Plan,
    Results,
    _sources,
    load_data,
    run_plan,
)
from quorate.study._numbers import NumberTable

UNTIMED = ("seconds", "fit_seconds", "vote_seconds")


@pytest.fixture
def no_pandas(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)


def plan():
    return Plan(
        "small",
        ("iris", "twonorm"),
        (EnsembleSpec("bagging", "tree", 5),),
        (MethodSpec("epbd", 0.4), MethodSpec("random", 0.4)),
        folds=2,
        rows=100,
    )


def rows(path):
    return [
        {name: value for name, value in row.items() if name not in UNTIMED}
        for row in Results.read(path).rows
    ]


@pytest.mark.parametrize("name", ["iris", "wine", "digits", "gmm3"])
def test_the_same_data(name, monkeypatch):
    framed = load_data(name, n_rows=60)
    fingerprint = framed.fingerprint
    monkeypatch.setitem(sys.modules, "pandas", None)
    plain = load_data(name, n_rows=60)
    assert plain.fingerprint == fingerprint
    np.testing.assert_array_equal(plain.X.to_numpy(), framed.X.to_numpy())
    np.testing.assert_array_equal(plain.y, framed.y)
    assert plain.n_features == framed.n_features
    assert repr(plain) == repr(framed)


def test_the_same_results(tmp_path, monkeypatch):
    run_plan(plan(), tmp_path / "framed.sqlite")
    # scikit-learn stumbles over a pandas that is hidden after it was seen.
    monkeypatch.setattr(
        _sources,
        "make_table",
        lambda values, columns: NumberTable(values.astype(float), tuple(columns)),
    )
    outcome = run_plan(plan(), tmp_path / "plain.sqlite")
    assert outcome.n_failed == 0
    assert rows(tmp_path / "plain.sqlite") == rows(tmp_path / "framed.sqlite")
    logs = Results.read(tmp_path / "plain.sqlite").preparation
    assert logs == Results.read(tmp_path / "framed.sqlite").preparation


@pytest.mark.usefixtures("no_pandas")
def test_tables_say_what_they_need(tmp_path):
    (tmp_path / "some.csv").write_text("a,target\n1,x\n2,y\n")
    with pytest.raises(ImportError, match="needs pandas; pip install pandas"):
        load_data(tmp_path / "some.csv")
