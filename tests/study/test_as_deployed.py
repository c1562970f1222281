"""Studies that judge the vote as deployed: probabilities, weights, the pool, auto."""

import numpy as np
import pytest
from sklearn.datasets import load_wine

from quorate.pruning import METHODS as METHODS_BY_NAME
from quorate.pruning import Pruner, PrunerTags
from quorate.study import EnsembleSpec, MethodSpec, Plan, Results, make_preset, run_plan
from quorate.study._cell import _identity, unit_keys
from quorate.study._pool import make_pool

METHODS = (
    MethodSpec("auto", 0.5, "auto"),
    MethodSpec("epbd", 0.5, "epbd, train", prune_on="train"),
    MethodSpec("epbd", 0.5),
    MethodSpec("ges", 0.5),
    MethodSpec("es", 1.0, "all"),
)


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    plan = Plan(
        "small",
        ("wine",),
        (
            EnsembleSpec("random_forest", members=10),
            EnsembleSpec("adaboost", "stump", 10, "train"),
            EnsembleSpec("pool", members=4, prune_on="holdout"),
        ),
        METHODS,
        folds=3,
        prune_on="oob",
        as_deployed=True,
    )
    path = tmp_path_factory.mktemp("study") / "small.sqlite"
    outcome = run_plan(plan, path)
    assert outcome.n_failed == 0
    return Results.read(path)


def rows(results, ensemble, method):
    return [
        row
        for row in results.rows
        if row["ensemble"].startswith(ensemble) and row["method"] == method
    ]


def test_auto_goes_by_the_ensemble(results):
    for ensemble, took in (
        ("random_forest", "BrierSelection"),
        ("adaboost", "SparseWeights"),
        ("pool", "SimplexWeights"),
    ):
        found = rows(results, ensemble, "auto")
        assert {row["took"] for row in found} == {took}
        assert all(row["kept"] <= row["members"] / 2 for row in found)


def test_everybody_is_the_whole_ensemble(results):
    for ensemble in ("random_forest", "adaboost", "pool"):
        for row in rows(results, ensemble, "all"):
            assert row["accuracy"] == pytest.approx(row["full_accuracy"])
            if ensemble != "adaboost":
                assert row["log_loss"] == pytest.approx(row["full_log_loss"])


def test_log_loss_where_probabilities_count(results):
    assert all("log_loss" in row for row in rows(results, "pool", "ges"))
    assert all("log_loss" not in row for row in rows(results, "adaboost", "ges"))


def test_training_votes_for_one_method(results):
    own, train = (
        [row["bytes"] for row in rows(results, "random_forest", method)]
        for method in ("epbd", "epbd, train")
    )
    assert own != train


def test_what_is_not_set_leaves_no_trace_in_the_keys():
    plan = make_preset("pruning-bagging", quick=True)
    unit = next(iter(plan.units()))
    identity = _identity(unit, plan.methods[0], "data")
    assert "as_deployed" not in identity
    assert "prune_on" not in identity["ensemble"]
    assert "prune_on" not in identity["method"]
    assert len(set(unit_keys(unit, "data").values())) == len(plan.methods)


def test_selectors_preset():
    plan = make_preset("selectors")
    assert plan.as_deployed
    names = {method.name for method in plan.methods}
    assert {"auto 5%", "epbd, train 30%", "random 4 10%"} <= names
    assert len({ensemble.name for ensemble in plan.ensembles}) == len(plan.ensembles)


def test_bad_prune_on():
    with pytest.raises(ValueError, match="unknown prune_on 'later'"):
        EnsembleSpec("bagging", prune_on="later")
    with pytest.raises(ValueError, match="unknown prune_on 'oob'"):
        MethodSpec("epbd", prune_on="oob")


def test_pool_is_mixed():
    X, y = load_wine(return_X_y=True)
    pool = make_pool(30, 0)
    assert len(pool.estimators) == 30
    kinds = {type(getattr(m, "steps", [(0, m)])[-1][1]) for _, m in pool.estimators}
    assert len(kinds) >= 10
    few = make_pool(8, 0)
    few.set_params(**{"net 5": "drop"}).fit(X, y)
    assert few.predict_proba(X).shape == (178, 3)
    assert np.mean(few.predict(X) == y) > 0.9


class Dictator(Pruner):
    """Keep everybody, and let the first member decide."""

    tags = PrunerTags(chooses_weights=True)

    def _select(self, votes, size):
        self.weights_ = np.full(votes.n_members, 1e-9)
        self.weights_[0] = 1.0
        return range(votes.n_members)


def test_new_weights_are_judged(tmp_path, monkeypatch):
    monkeypatch.setitem(METHODS_BY_NAME, "dictator", Dictator)
    plan = Plan(
        "weights",
        ("wine",),
        (EnsembleSpec("bagging", "stump", 6),),
        (
            MethodSpec("dictator", 1.0),
            MethodSpec("es", 1, "one"),
            MethodSpec("es", 1.0),
        ),
        folds=3,
    )
    run_plan(plan, tmp_path / "s.sqlite", n_jobs=1)
    rows = Results.read(tmp_path / "s.sqlite").rows
    one, first, everybody = (
        [row["accuracy"] for row in rows if row["method"] == spec.name]
        for spec in plan.methods
    )
    assert one == first != everybody
