"""What a cell is made of: rows, seeds, votes, weights, and the key that names it."""

import numpy as np
import pytest
import sklearn
from sklearn.datasets import load_wine
from sklearn.metrics import log_loss
from tests.study.plans import plain, results_of, small_plan

from quorate._choosing import FixedSize, choose
from quorate.pruning import METHODS as METHODS_BY_NAME
from quorate.pruning import Pruner, PrunerTags
from quorate.results import VoteSource
from quorate.study import EnsembleSpec, MethodSpec, Results, load_data, run_plan
from quorate.study import _cell as cell_module
from quorate.study._cell import _FittedUnit, fold_rows, unit_keys
from quorate.study._learners import LEARNERS, make_ensemble, make_pool


@pytest.fixture
def watched(monkeypatch):
    """Note every ensemble: its seed, and the rows it is trained on."""
    seen = []

    def make(kind, learner, n_members, seed, scaled):
        model = make_ensemble(kind, learner, n_members, seed, scaled)
        fit = model.fit

        def note(X, y):
            seen.append({"seed": seed, "X": np.asarray(X), "model": model})
            return fit(X, y)

        model.fit = note
        return model

    monkeypatch.setattr(cell_module, "make_ensemble", make)
    return seen


def fitted(plan):
    unit = next(plan.units())
    return _FittedUnit(unit, load_data(unit.data.label, n_rows=unit.data.rows))


def as_set(X):
    rows = {tuple(row) for row in np.asarray(X).tolist()}
    assert len(rows) == len(X)  # no two are alike, so a row is who it is
    return rows


class TestRows:
    def test_folds_of_a_repeat_share_out_the_rows(self):
        y = load_data("wine", n_rows=90).y
        for repeat in range(3):
            parts = [fold_rows(small_plan(), y, repeat, fold) for fold in range(3)]
            tested = np.concatenate([test for _, test in parts])
            assert sorted(tested) == list(range(90))
            assert all(not set(train) & set(test) for train, test in parts)

    @pytest.mark.parametrize(
        "y", [load_data("wine", n_rows=90).y, np.array([0] * 28 + [1] * 2)],
        ids=["wine", "too rare to share out"],
    )  # fmt: skip
    def test_every_repeat_shuffles_anew(self, y):
        plan = small_plan(repeats=3)
        tested = {tuple(fold_rows(plan, y, repeat, 0)[1]) for repeat in range(3)}
        assert len(tested) == 3
        again = fold_rows(plan, y, 2, 0)[1]
        assert tuple(again) in tested  # and the same way whenever it is asked


class TestSeeds:
    def test_every_fold_of_every_repeat_has_its_own(self, watched, tmp_path):
        plan = small_plan(data=("wine",), repeats=2, seed=7)
        run_plan(plan, tmp_path / "s.sqlite", n_jobs=1)
        assert [one["seed"] for one in watched] == [7, 8, 9, 1007, 1008, 1009]

    @pytest.mark.parametrize("learner", ["tree", "stump", "linear_svm", "svm", "mlp"])
    def test_learners_get_it(self, learner):
        parameters = LEARNERS[learner](7).get_params()
        found = [parameters[name] for name in parameters if "random_state" in name]
        assert found == [7]

    def test_random_methods_go_by_it_too(self, monkeypatch, tmp_path):
        seeds = []
        original = cell_module.choose

        def noted(*arguments, seed, **more):
            seeds.append(seed)
            return original(*arguments, seed=seed, **more)

        monkeypatch.setattr(cell_module, "choose", noted)
        plan = small_plan(data=("wine",), repeats=2, methods=(MethodSpec("random"),))
        run_plan(plan, tmp_path / "s.sqlite", n_jobs=1)
        assert seeds == [0, 1, 2, 1000, 1001, 1002]


class TestVotes:
    def test_what_is_held_out_was_not_trained_on(self, watched):
        unit = fitted(small_plan(data=("wine",), prune_on="holdout"))
        (trained,) = watched
        chosen_on = as_set(unit.evidence.X)
        assert not as_set(trained["X"]) & chosen_on
        assert (len(trained["X"]), len(chosen_on)) == (45, 15)  # a quarter of 60
        assert unit.evidence.votes.n_samples == 15
        assert unit.evidence.votes.source is VoteSource.NEW
        # and neither is tested on
        data = load_data("wine", n_rows=90)
        _, test = fold_rows(unit.unit.plan, data.y, 0, 0)
        tested = as_set(data.X.iloc[test].to_numpy(float))
        assert not tested & (chosen_on | as_set(trained["X"]))
        assert len(tested) == unit.test.n_samples == 30

    def test_out_of_bag_votes_are_of_members_that_have_not_seen_the_row(self, watched):
        ensembles = (EnsembleSpec("bagging", "tree", 40),)
        unit = fitted(small_plan(data=("wine",), prune_on="oob", ensembles=ensembles))
        votes, (trained,) = unit.evidence.votes, watched
        unseen = np.ones((40, 60), dtype=bool)
        for member, drawn in enumerate(trained["model"].estimators_samples_):
            unseen[member, drawn] = False
        assert 0.3 < unseen.mean() < 0.45
        np.testing.assert_array_equal(votes.valid, unseen)
        assert votes.source is VoteSource.OUT_OF_BAG

    def test_all_votes_count_where_nothing_is_held_back(self, watched):
        unit = fitted(small_plan(data=("wine",), prune_on="train"))
        assert as_set(unit.evidence.X) == as_set(watched[0]["X"])
        assert unit.evidence.votes.valid is None
        assert unit.evidence.votes.source is VoteSource.TRAINING


class TestWeights:
    @pytest.mark.parametrize("method", ["simplex", "l1"])
    def test_new_weights_decide_on_the_test_part(self, watched, method):
        spec = MethodSpec(method, 0.5)
        forest = (EnsembleSpec("random_forest", members=20),)
        how = {"prune_on": "oob", "ensembles": forest}
        plan = small_plan(data=("wine",), methods=(spec,), **how)
        unit = fitted(plan)
        found = unit.run(spec)
        selection = choose(unit.evidence, method, FixedSize(0.5), seed=unit.seed)
        weights, kept = selection.weights, selection.members
        assert np.ptp(weights[kept]) > 0.01
        # by hand: the members' probabilities, averaged with the weights
        data = load_data("wine", n_rows=90)
        _, test = fold_rows(plan, data.y, 0, 0)
        X = data.X.iloc[test].to_numpy(float)
        trees = watched[0]["model"].estimators_
        each = np.array([trees[member].predict_proba(X) for member in kept])
        mean = np.average(each, axis=0, weights=weights[kept])
        loss = log_loss(data.y[test], np.clip(mean, 1e-15, 1))
        assert found["log_loss"] == pytest.approx(loss, rel=1e-6)
        plain_loss = log_loss(data.y[test], np.clip(each.mean(axis=0), 1e-15, 1))
        assert abs(found["log_loss"] - plain_loss) > 1e-4


class TestKeys:
    def keys(self):
        unit = next(small_plan().units())
        return set(unit_keys(unit, "data").values())

    @pytest.mark.parametrize("change", [
        {"folds": 4}, {"seed": 1}, {"rows": 80}, {"binary": True}, {"prune_on": "oob"},
        {"rule": "heads"}, {"scoring": "f1_macro"},
        {"ensembles": (EnsembleSpec("bagging", "tree", 9),)},
    ], ids=str)  # fmt: skip
    def test_other_plans_make_other_cells(self, change):
        unit = next(small_plan(**change).units())
        assert not set(unit_keys(unit, "data").values()) & self.keys()

    @pytest.mark.parametrize("package", [cell_module, sklearn], ids=["own", "sklearn"])
    def test_another_version_computes_all_again_and_leaves_no_twins(
        self, monkeypatch, tmp_path, package
    ):
        path, plan = tmp_path / "s.sqlite", small_plan(data=("wine",))
        run_plan(plan, path)
        before = plain(path)
        keys = self.keys()
        assert self.keys() == keys
        monkeypatch.setattr(package, "__version__", "99.1")
        assert not self.keys() & keys
        assert run_plan(plan, path, n_jobs=1).n_run == 9
        assert plain(path) == before
        assert len(Results.read(path).rows) == 9
        assert run_plan(plan, path, n_jobs=1).n_run == 0


# Studies that judge the vote as deployed: probabilities, weights, the pool, auto.

METHODS = (
    MethodSpec("auto", 0.5, "auto"),
    MethodSpec("epbd", 0.5, "epbd, train", prune_on="train"),
    MethodSpec("epbd", 0.5),
    MethodSpec("ges", 0.5),
    MethodSpec("es", 1.0, "all"),
)
ENSEMBLES = (
    EnsembleSpec("random_forest", members=10),
    EnsembleSpec("adaboost", "stump", 10, "train"),
    EnsembleSpec("pool", members=4, prune_on="holdout"),
)


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    path = tmp_path_factory.mktemp("study") / "small.sqlite"
    how = {"data": ("wine",), "ensembles": ENSEMBLES, "methods": METHODS, "rows": None}
    return results_of(path, prune_on="oob", **how)


def rows(results, ensemble, method):
    found = [row for row in results.rows if row["ensemble"].startswith(ensemble)]
    return [row for row in found if row["method"] == method]


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
            # there is a loss where probabilities count
            assert ("log_loss" in row) == (ensemble != "adaboost")
            assert row.get("log_loss") == pytest.approx(row.get("full_log_loss"))


def test_training_votes_for_one_method(results):
    own, train = (rows(results, "random_forest", m) for m in ("epbd", "epbd, train"))
    assert [row["bytes"] for row in own] != [row["bytes"] for row in train]


def test_pool_is_mixed():
    X, y = load_wine(return_X_y=True)
    pool = make_pool(30, 7)
    assert len(pool.estimators) == 30
    kinds = {type(getattr(m, "steps", [(0, m)])[-1][1]) for _, m in pool.estimators}
    assert len(kinds) >= 10
    told = {
        "linear": "C", "tree": "max_depth", "knn": "n_neighbors", "kernel": "gamma",
        "boosted": "max_iter", "net": "hidden_layer_sizes", "forest": "max_depth",
        "extra": "min_samples_leaf", "adaboost": "n_estimators",
    }  # fmt: skip
    for name, model in pool.estimators:
        kind, *numbers = name.split()
        for key, value in model.get_params().items():
            if key.endswith("random_state") and "logistic" not in key:  # draws nothing
                assert value == 7, name
            if numbers and key.rpartition("__")[2] == told.get(kind):
                assert np.ravel(value).tolist() == [float(n) for n in numbers]
    few = make_pool(8, 0)
    few.set_params(**{"net 5": "drop"}).fit(X, y)
    assert few.predict_proba(X).shape == (178, 3)
    assert np.mean(few.predict(X) == y) > 0.9


class Dictator(Pruner):
    """Keep everybody, and let the first member decide."""

    tags = PrunerTags(chooses_weights=True)

    def _select(self, inputs, size):
        self.weights_ = np.full(inputs.votes.n_members, 1e-9)
        self.weights_[0] = 1.0
        return range(inputs.votes.n_members)


def test_new_weights_are_judged(tmp_path, monkeypatch):
    monkeypatch.setitem(METHODS_BY_NAME, "dictator", Dictator)
    methods = (
        MethodSpec("dictator", 1.0), MethodSpec("es", 1, "one"), MethodSpec("es", 1.0)
    )  # fmt: skip
    stumps = (EnsembleSpec("bagging", "stump", 6),)
    how = {"data": ("wine",), "ensembles": stumps, "methods": methods, "rows": None}
    rows = results_of(tmp_path / "s.sqlite", **how).rows
    one, first, everybody = (
        [row["accuracy"] for row in rows if row["method"] == spec.name]
        for spec in methods
    )
    assert one == first != everybody
