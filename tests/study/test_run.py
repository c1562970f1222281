"""Running: each ensemble once, nothing twice, nothing lost."""

import functools
import os

import numpy as np
import pandas as pd
import pytest
from sklearn.tree import DecisionTreeClassifier
from tests.study.plans import plain, results_of, small_plan

from quorate.study import (
    DataSpec,
    EnsembleSpec,
    MethodSpec,
    Results,
    Store,
    load_data,
    run_plan,
)
from quorate.study import _cell as cell_module

DATA = os.environ.get("QUORATE_DATA")
needs_data = pytest.mark.skipif(not DATA, reason="needs the shared data sets")


def test_results(tmp_path):
    plan = small_plan(rule="heads")  # the vote that the decomposition is about
    path, seen = tmp_path / "s.sqlite", []
    outcome = run_plan(plan, path, progress=lambda *it: seen.append(it))
    assert (outcome.n_cells, outcome.n_run, outcome.n_failed) == (18, 18, 0)
    assert (seen[0], seen[-1]) == ((0, 18), (18, 18))
    assert seen == sorted(seen)
    results = Results.read(path)
    assert results.methods == ("Ensem", "random", "epbd")
    for row in results.rows:
        assert row["error"] == pytest.approx(1 - row["accuracy"])
        assert row["error"] == pytest.approx(row["member_error"] - row["diversity"])
        assert row["members"] == 8
        assert row["seconds"] >= 0
        if row["method"] == "Ensem":
            assert row["kept"] == 8
            assert row["agreement"] == 1
            assert row["accuracy"] == row["full_accuracy"]
            assert row["bytes"] == row["full_bytes"]
            assert row["before_kappa"] == pytest.approx(row["after_kappa"])
        else:
            assert row["kept"] == 4
            assert row["bytes"] < row["full_bytes"]
    before = plain(path)
    assert run_plan(plan, path).n_run == 0
    assert plain(path) == before


@pytest.mark.parametrize("prune_on", ["train", "oob", "holdout"])
def test_each_ensemble_is_fitted_and_asked_once(tmp_path, monkeypatch, prune_on):
    """Count what members really do, however many methods there are."""
    calls = {"fit": [], "predict": [], "predict_proba": [], "apply": []}
    for name in calls:
        original = getattr(DecisionTreeClassifier, name)

        @functools.wraps(original)
        def count(self, X, *arguments, name=name, original=original, **options):
            calls[name].append(len(X))
            return original(self, X, *arguments, **options)

        monkeypatch.setattr(DecisionTreeClassifier, name, count)
    methods = ["es", "epbd", "re", "kl", "random"]
    if prune_on != "holdout":
        methods += ["tsp_ap", "tsp_dp"]  # these need out-of-bag votes
    plan = small_plan(
        data=("wine",),
        methods=tuple(MethodSpec(name, 0.5) for name in methods),
        prune_on=prune_on,
    )
    assert run_plan(plan, tmp_path / "s.sqlite", n_jobs=1).n_failed == 0
    members = 8 * plan.folds
    asked = calls["predict"] + calls["predict_proba"] + calls["apply"]
    assert len(calls["fit"]) == members
    assert len(asked) == 2 * members  # the pruning part and the test part
    if prune_on == "train":
        # every row is in the training part of all folds but one, and tested in that
        assert sum(asked) == 8 * 90 * plan.folds


def test_two_stage_pruning_has_its_votes_however_it_is_spelt(tmp_path):
    methods = (MethodSpec("tsp_ap", 0.5), MethodSpec("TSP-AP", 0.5))
    rows = results_of(tmp_path / "s.sqlite", methods=methods, prune_on="train").rows
    one, other = (
        [row["accuracy"] for row in rows if row["method"] == name]
        for name in ("tsp_ap", "TSP-AP")
    )
    assert one == other != []


def test_what_a_fit_took_and_how_data_was_prepared_is_stored(small_store):
    with Store(small_store, read_only=True) as store:
        fits = store.fits()
    assert len(fits) == 2 * 3
    assert {fit["cells"] for fit in fits} == {3}
    seconds = {(fit["data"], fit["fold"]): fit["seconds"] for fit in fits}
    for row in Results.read(small_store).rows:
        took = row["fit_seconds"] + row["vote_seconds"]
        assert 0 < took < seconds[row["data"], row["fold"]]
    first = Results.read(small_store).preparation[0]
    assert (first["data"], first["repeat"], first["fold"]) == ("wine", 0, 0)
    assert first["what"] == "13 numeric columns"
    assert (first["rows"], first["columns"], first["features"]) == (60, 13, 13)


@needs_data
def test_crx_is_prepared_inside_the_fold_and_says_how(tmp_path):
    plan = small_plan(data=("crx",), rows=None, folds=2)
    run_plan(plan, tmp_path / "s.sqlite", data_dir=DATA)
    first, second = Results.read(tmp_path / "s.sqlite").preparation
    assert first["features"] != second["features"]  # each of its own rows
    assert "2 with missing values filled by the median" in first["what"]


@needs_data
def test_rare_classes_and_many_rows(tmp_path):
    """Ecoli has classes of two rows, fewer than folds; shuttle has 58 000 rows."""
    plan = small_plan(
        data=("ecoli", "shuttle"),
        methods=(MethodSpec("epbd", 0.5),),
        ensembles=(EnsembleSpec("bagging", "tree", 3),),
        rows=None,
        folds=5,
    )
    assert run_plan(plan, tmp_path / "s.sqlite", data_dir=DATA, n_jobs=2).n_failed == 0


@pytest.mark.slow
def test_processes_do_not_matter(tmp_path, small_store):
    run_plan(small_plan(), tmp_path / "2.sqlite", n_jobs=2)
    paths = small_store, tmp_path / "2.sqlite"
    assert plain(paths[0]) == plain(paths[1])
    one, two = ([row["bytes"] for row in Results.read(path).rows] for path in paths)
    assert one == pytest.approx(two, rel=0.02)


KINDS = ("bagging", "adaboost", "random_forest", "extra_trees")
BAGGED = ("naive_bayes", "knn", "knn_distance", "linear", "linear_svm", "svm", "mlp")


@pytest.mark.parametrize(("changes", "why"), [
    *(({"ensembles": (EnsembleSpec(kind, "tree", 10),), "prune_on": prune_on},
       "not trained on bootstrap" if (kind, prune_on) == ("adaboost", "oob") else "")
      for kind in KINDS for prune_on in ("train", "oob", "holdout")),
    *(({"ensembles": (EnsembleSpec("bagging", learner, 4),), "rows": 60}, "")
      for learner in BAGGED),
    *(({"ensembles": (EnsembleSpec("adaboost", learner, 5),), "rows": None},
       "does not take sample weights" if learner in ("knn", "mlp") else "")
      for learner in ("naive_bayes", "linear", "linear_svm", "svm", "knn", "mlp")),
    ({"rows": 8, "folds": 8, "methods": (MethodSpec("epbd"),)}, ""),
], ids=str)  # fmt: skip
def test_ensembles_and_learners_learn_or_every_cell_says_why(changes, why, tmp_path):
    n_cells = small_plan(data=("wine",), **changes).n_cells
    failed = n_cells if why else 0
    results = results_of(tmp_path / "s.sqlite", failed, data=("wine",), **changes)
    assert all(why in failure["error"] for failure in results.failures)
    if results.rows and changes.get("rows", 90) is None:
        assert np.mean([row["full_accuracy"] for row in results.rows]) > 0.9


def test_failures_are_rows_and_can_be_tried_again(tmp_path, monkeypatch):
    path = tmp_path / "s.sqlite"
    original = cell_module._FittedUnit.run

    def broken(self, method):
        if method.name == "random":
            raise RuntimeError("out of luck")
        return original(self, method)

    monkeypatch.setattr(cell_module._FittedUnit, "run", broken)
    outcome = run_plan(small_plan(), path, n_jobs=1)
    assert (outcome.n_run, outcome.n_failed) == (18, 6)
    assert "out of luck" in Results.read(path).failures[0]["error"]
    assert run_plan(small_plan(), path, n_jobs=1).n_run == 0
    monkeypatch.setattr(cell_module._FittedUnit, "run", original)
    again = run_plan(small_plan(), path, n_jobs=1, retry=True)
    assert (again.n_run, again.n_failed) == (6, 0)


def test_another_plan_is_refused(small_store):
    before = small_store.read_bytes()
    with pytest.raises(ValueError, match=r"another plan.*quorate study merge"):
        run_plan(small_plan(folds=2), small_store)
    assert small_store.read_bytes() == before


def test_a_plan_without_results_may_be_replaced(tmp_path):
    with Store(tmp_path / "s.sqlite") as store:
        store.remember_plan(small_plan(folds=2))
    assert run_plan(small_plan(), tmp_path / "s.sqlite").n_run == 18


@pytest.mark.parametrize("folds", [91, 10_000_000_000])
def test_more_folds_than_rows(tmp_path, folds):
    with pytest.raises(ValueError, match=f"wine: got {folds} folds for 90 rows; use"):
        run_plan(small_plan(folds=folds), tmp_path / "s.sqlite")
    assert not (tmp_path / "s.sqlite").exists()


def test_binary_labels(tmp_path):
    results = results_of(tmp_path / "s.sqlite", data=("iris",), binary=True)
    assert results.rows[0]["full_accuracy"] > 0.7


class TestDataOptions:
    def run(self, tmp_path, *data):
        return results_of(tmp_path / "s.sqlite", data=data, folds=2)

    def test_a_table_with_a_target(self, tmp_path):
        frame = pd.DataFrame({"kind": ["a", "b"] * 20, "x": range(40), "y": range(40)})
        frame.to_csv(tmp_path / "mine.csv", index=False)
        spec = DataSpec(path=str(tmp_path / "mine.csv"), target="kind")
        results = self.run(tmp_path, spec)
        assert {row["data"] for row in results.rows} == {"mine"}
        assert results.preparation[0]["columns"] == 2
        frame.replace(7, 8).to_csv(tmp_path / "mine.csv", index=False)
        run_plan(small_plan(data=(spec,), folds=2), tmp_path / "t.sqlite")
        same = Store(tmp_path / "s.sqlite")
        with same as store, pytest.raises(ValueError, match="mine has other rows"):
            store.take(tmp_path / "t.sqlite")

    def test_options_make_other_cells(self, tmp_path):
        one = self.run(tmp_path, DataSpec("iris"), DataSpec("wine", rows=60))
        assert {fit["rows"] for fit in one.preparation} == {45, 30}
        two = small_plan(data=(DataSpec("iris", binary=True), "wine"), folds=2)
        run_plan(two, tmp_path / "t.sqlite")
        with Store(tmp_path / "s.sqlite") as a, Store(tmp_path / "t.sqlite") as b:
            assert not a.done() & b.done()

    def test_two_names_for_the_same_data(self, tmp_path):
        load_data("iris").X.assign(target=load_data("iris").y).to_csv(
            tmp_path / "flowers.csv", index=False
        )
        flowers = DataSpec(path=str(tmp_path / "flowers.csv"))
        with pytest.raises(ValueError, match="iris and flowers are the same data"):
            self.run(tmp_path, "iris", flowers)
