"""Running: each ensemble once, nothing twice, nothing lost."""

import functools
import os

import numpy as np
import pandas as pd
import pytest
from sklearn.decomposition import PCA
from sklearn.tree import DecisionTreeClassifier
from tests.study.plans import plain, small_plan

from quorate import collect_votes
from quorate.study import (
    DataSpec,
    EnsembleSpec,
    MethodSpec,
    Results,
    Store,
    forecast_plan,
    load_data,
    run_plan,
)
from quorate.study import _cell as cell_module
from quorate.study._cell import fold_rows
from quorate.study._learners import make_ensemble

DATA = os.environ.get("QUORATE_DATA")


def test_results(tmp_path):
    plan = small_plan(rule="heads")  # the vote that the decomposition is about
    outcome = run_plan(plan, tmp_path / "s.sqlite")
    assert (outcome.n_cells, outcome.n_run, outcome.n_failed) == (18, 18, 0)
    results = Results.read(tmp_path / "s.sqlite")
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


def test_second_run_does_nothing(tmp_path):
    path = tmp_path / "s.sqlite"
    run_plan(small_plan(), path)
    before = plain(path)
    assert run_plan(small_plan(), path).n_run == 0
    assert plain(path) == before


@pytest.mark.parametrize("prune_on", ["train", "oob", "holdout"])
def test_each_ensemble_is_fitted_and_asked_once(tmp_path, monkeypatch, prune_on):
    """Count what members really do, however many methods there are."""
    calls = {"fit": [], "predict": [], "predict_proba": [], "apply": []}

    def counted(name):
        original = getattr(DecisionTreeClassifier, name)

        @functools.wraps(original)
        def count(self, X, *arguments, **options):
            calls[name].append(len(X))
            return original(self, X, *arguments, **options)

        monkeypatch.setattr(DecisionTreeClassifier, name, count)

    for name in calls:
        counted(name)
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
    plan = small_plan(methods=methods, prune_on="train")
    assert run_plan(plan, tmp_path / "s.sqlite").n_failed == 0
    rows = Results.read(tmp_path / "s.sqlite").rows
    assert {row["method"] for row in rows} == {"tsp_ap", "TSP-AP"}
    one, other = (
        [row["accuracy"] for row in rows if row["method"] == method.name]
        for method in methods
    )
    assert one == other


def test_what_a_fit_took_and_how_data_was_prepared_is_stored(tmp_path):
    path = tmp_path / "s.sqlite"
    run_plan(small_plan(), path)
    with Store(path) as store:
        fits = store.fits()
    assert len(fits) == 2 * 3
    assert {fit["cells"] for fit in fits} == {3}
    for row in Results.read(path).rows:
        (fit,) = [
            f for f in fits if (f["data"], f["fold"]) == (row["data"], row["fold"])
        ]
        assert 0 < row["fit_seconds"] + row["vote_seconds"] < fit["seconds"]
    first = Results.read(path).preparation[0]
    assert (first["data"], first["repeat"], first["fold"]) == ("wine", 0, 0)
    assert first["what"] == "13 numeric columns"
    assert (first["rows"], first["columns"], first["features"]) == (60, 13, 13)


def test_crx_is_prepared_inside_the_fold_and_says_how(tmp_path):
    if not DATA:
        pytest.skip("needs the shared data sets")
    plan = small_plan(data=("crx",), rows=None, folds=2)
    run_plan(plan, tmp_path / "s.sqlite", data_dir=DATA)
    first, second = Results.read(tmp_path / "s.sqlite").preparation
    assert set(first["filled"]) == {"A1", "A2", "A4", "A5", "A6", "A7", "A14"}
    assert first["categories"]["A6"] == 14
    assert first["filled"]["A2"] != second["filled"]["A2"]  # each of its own rows
    assert "2 with missing values filled by the median" in first["what"]


def test_rare_classes_and_many_rows(tmp_path):
    """Ecoli has classes of two rows, fewer than folds; shuttle has 58 000 rows."""
    if not DATA:
        pytest.skip("needs the shared data sets")
    plan = small_plan(
        data=("ecoli", "shuttle"),
        methods=(MethodSpec("epbd", 0.5),),
        ensembles=(EnsembleSpec("bagging", "tree", 3),),
        rows=None,
        folds=5,
    )
    assert run_plan(plan, tmp_path / "s.sqlite", data_dir=DATA, n_jobs=2).n_failed == 0


def test_progress_starts_at_nothing_and_ends_at_all(tmp_path):
    seen = []
    run_plan(small_plan(), tmp_path / "s.sqlite", progress=lambda *it: seen.append(it))
    assert seen[0] == (0, 18)
    assert seen[-1] == (18, 18)
    assert seen == sorted(seen)


@pytest.mark.slow
def test_processes_do_not_matter(tmp_path):
    for n_jobs in (1, 2):
        run_plan(small_plan(), tmp_path / f"{n_jobs}.sqlite", n_jobs=n_jobs)
    one, two = plain(tmp_path / "1.sqlite"), plain(tmp_path / "2.sqlite")
    for first, second in zip(one, two, strict=True):
        # A pickle is some bytes longer where equal strings are not the same object,
        # which depends on what else its process has loaded.
        for size in ("bytes", "full_bytes"):
            assert first.pop(size) == pytest.approx(second.pop(size), rel=0.02)
        assert first.items() - second.items() == set()
        assert first == second


@pytest.mark.parametrize("prune_on", ["train", "oob", "holdout"])
@pytest.mark.parametrize(
    "kind", ["bagging", "adaboost", "random_forest", "extra_trees"]
)
def test_ensembles_and_pruning_sets(kind, prune_on, tmp_path):
    plan = small_plan(
        data=("wine",), ensembles=(EnsembleSpec(kind, "tree", 10),), prune_on=prune_on
    )
    outcome = run_plan(plan, tmp_path / "s.sqlite")
    if kind == "adaboost" and prune_on == "oob":
        assert outcome.n_failed == outcome.n_cells
        failure = Results.read(tmp_path / "s.sqlite").failures[0]
        assert "not trained on bootstrap" in failure["error"]
    else:
        assert outcome.n_failed == 0


@pytest.mark.parametrize(
    "learner",
    ["naive_bayes", "knn", "knn_distance", "linear", "linear_svm", "svm", "mlp"],
)
def test_learners(learner, tmp_path):
    plan = small_plan(
        data=("iris",),
        ensembles=(EnsembleSpec("bagging", learner, 4),),
        folds=2,
        rows=60,
    )
    assert run_plan(plan, tmp_path / "s.sqlite").n_failed == 0


@pytest.mark.parametrize("learner", ["naive_bayes", "linear", "linear_svm", "svm"])
def test_boosted_learners_learn(learner, tmp_path):
    plan = small_plan(
        data=("wine",), ensembles=(EnsembleSpec("adaboost", learner, 5),), rows=None
    )
    assert run_plan(plan, tmp_path / "s.sqlite").n_failed == 0
    rows = Results.read(tmp_path / "s.sqlite").rows
    assert np.mean([row["full_accuracy"] for row in rows]) > 0.9


@pytest.mark.parametrize("learner", ["knn", "mlp"])
def test_learners_that_cannot_be_boosted(learner, tmp_path):
    plan = small_plan(data=("wine",), ensembles=(EnsembleSpec("adaboost", learner, 5),))
    outcome = run_plan(plan, tmp_path / "s.sqlite")
    assert outcome.n_failed == outcome.n_cells
    failure = Results.read(tmp_path / "s.sqlite").failures[0]
    assert "does not take sample weights" in failure["error"]


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


def test_another_plan_is_refused(tmp_path):
    run_plan(small_plan(), tmp_path / "s.sqlite")
    with pytest.raises(ValueError, match="another plan"):
        run_plan(small_plan(folds=2), tmp_path / "s.sqlite")


def test_a_plan_without_results_may_be_replaced(tmp_path):
    with Store(tmp_path / "s.sqlite") as store:
        store.remember_plan(small_plan(folds=2))
    assert run_plan(small_plan(), tmp_path / "s.sqlite").n_run == 18


@pytest.mark.parametrize("act", [run_plan, forecast_plan])
@pytest.mark.parametrize("folds", [91, 10_000_000_000])
def test_more_folds_than_rows(tmp_path, act, folds):
    with pytest.raises(ValueError, match=f"wine: {folds} folds of 90 rows; 2 to 90"):
        act(small_plan(folds=folds), tmp_path / "s.sqlite")
    assert not (tmp_path / "s.sqlite").exists()


def test_as_many_folds_as_rows(tmp_path):
    plan = small_plan(data=("wine",), rows=8, folds=8, methods=(MethodSpec("epbd"),))
    assert run_plan(plan, tmp_path / "s.sqlite").n_failed == 0


def test_binary_labels(tmp_path):
    plan = small_plan(data=("iris",), binary=True)
    run_plan(plan, tmp_path / "s.sqlite")
    row = plain(tmp_path / "s.sqlite")[0]
    assert row["full_accuracy"] > 0.7


class TestDataOptions:
    def run(self, tmp_path, *data, **changes):
        plan = small_plan(data=data, folds=2, **changes)
        outcome = run_plan(plan, tmp_path / "s.sqlite")
        assert outcome.n_failed == 0
        return Results.read(tmp_path / "s.sqlite")

    def test_a_table_with_a_target(self, tmp_path):
        frame = pd.DataFrame({"kind": ["a", "b"] * 20, "x": range(40), "y": range(40)})
        frame.to_csv(tmp_path / "mine.csv", index=False)
        spec = DataSpec(path=str(tmp_path / "mine.csv"), target="kind")
        results = self.run(tmp_path, spec)
        assert {row["data"] for row in results.rows} == {"mine"}
        assert results.preparation[0]["columns"] == 2

    def test_pictures_in_fewer_dimensions(self, tmp_path):
        from PIL import Image

        rng = np.random.default_rng(0)
        for kind in ("cats", "dogs"):
            (tmp_path / "pets" / kind).mkdir(parents=True)
            for number in range(8):
                pixels = rng.integers(256, size=(6, 6), dtype=np.uint8)
                Image.fromarray(pixels).save(tmp_path / f"pets/{kind}/{number}.png")
        spec = DataSpec(path=str(tmp_path / "pets"), image_size=4, pca=3)
        first = self.run(tmp_path, spec).preparation[0]
        assert (first["columns"], first["features"]) == (16, 3)
        assert first["what"] == "16 numeric columns; 3 principal components"

    def test_components_are_those_of_the_training_part(self, tmp_path):
        """A fold prepared by hand gives the same accuracy."""
        self.run(tmp_path, DataSpec("wine", pca=2))
        (row,) = [
            row
            for row in plain(tmp_path / "s.sqlite")
            if row["fold"] == 0 and row["method"] == "Ensem"
        ]
        data = load_data("wine", n_rows=90)
        train, test = fold_rows(small_plan(folds=2), data.y, 0, 0)
        made = PCA(2).fit(data.X.iloc[train].to_numpy(float))
        bagged = make_ensemble("bagging", "tree", 8, 0)
        X = made.transform(data.X.to_numpy(float))
        bagged.fit(X[train], data.y[train])
        votes = collect_votes(bagged, X[test], data.y[test])
        assert row["accuracy"] == pytest.approx(votes.accuracy())

    def test_shares_of_the_variance(self, tmp_path):
        first = self.run(tmp_path, DataSpec("wine", pca=0.9)).preparation[0]
        assert first["features"] < 13

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

    def test_options_that_do_not_fit(self, tmp_path):
        with pytest.raises(ValueError, match="image_size is for folders of pictures"):
            self.run(tmp_path, DataSpec("wine", image_size=8))
        with pytest.raises(ValueError, match="pca is 80, more than"):
            self.run(tmp_path, DataSpec("wine", pca=80))
        assert not (tmp_path / "s.sqlite").exists()
