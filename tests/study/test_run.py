"""Running: each ensemble once, nothing twice, nothing lost."""

import json
import signal
import sqlite3
import subprocess
import sys
import time

import numpy as np
import pytest
from click.testing import CliRunner

from quorate.cli import main
from quorate.exceptions import FileFormatError
from quorate.study import (
    EnsembleSpec,
    MethodSpec,
    Plan,
    Results,
    Store,
    run_plan,
)
from quorate.study import _cell as cell_module

# Times differ from run to run; everything else must not.
TIMED = ("seconds",)


def small_plan(**changes):
    options = {
        "name": "small",
        "data": ("wine", "iris"),
        "ensembles": (EnsembleSpec("bagging", "tree", 8),),
        "methods": (
            MethodSpec("es", 1.0, "Ensem"),
            MethodSpec("random", 0.5),
            MethodSpec("epbd", 0.5),
        ),
        "folds": 3,
        "rows": 90,
    }
    return Plan(**{**options, **changes})


def plain(path):
    with Store(path) as store:
        return [
            {key: value for key, value in row.items() if key not in TIMED}
            for row in store.rows()
        ]


def test_results(tmp_path):
    plan = small_plan()
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


def test_each_ensemble_is_fitted_and_asked_once(tmp_path, monkeypatch):
    fits, asked = [], []
    make, collect = cell_module.make_ensemble, cell_module.collect_votes

    def counted_make(*arguments):
        fits.append(arguments)
        return make(*arguments)

    def counted_collect(*arguments, **options):
        asked.append(options)
        return collect(*arguments, **options)

    monkeypatch.setattr(cell_module, "make_ensemble", counted_make)
    monkeypatch.setattr(cell_module, "collect_votes", counted_collect)
    plan = small_plan(prune_on="holdout")
    run_plan(plan, tmp_path / "s.sqlite", n_jobs=1)
    assert len(fits) == 2 * 3
    assert len(asked) == 2 * len(fits)  # the pruning part and the test part


def test_processes_do_not_matter(tmp_path):
    for n_jobs in (1, 2):
        run_plan(small_plan(), tmp_path / f"{n_jobs}.sqlite", n_jobs=n_jobs)
    assert plain(tmp_path / "1.sqlite") == plain(tmp_path / "2.sqlite")


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
    original = cell_module._Bench.run

    def broken(self, method):
        if method.name == "random":
            raise RuntimeError("out of luck")
        return original(self, method)

    monkeypatch.setattr(cell_module._Bench, "run", broken)
    outcome = run_plan(small_plan(), path, n_jobs=1)
    assert (outcome.n_run, outcome.n_failed) == (18, 6)
    assert "out of luck" in Results.read(path).failures[0]["error"]
    assert run_plan(small_plan(), path, n_jobs=1).n_run == 0
    monkeypatch.setattr(cell_module._Bench, "run", original)
    again = run_plan(small_plan(), path, n_jobs=1, retry=True)
    assert (again.n_run, again.n_failed) == (6, 0)


def test_another_plan_is_refused(tmp_path):
    run_plan(small_plan(), tmp_path / "s.sqlite")
    with pytest.raises(ValueError, match="another plan"):
        run_plan(small_plan(folds=2), tmp_path / "s.sqlite")


def test_binary_labels(tmp_path):
    plan = small_plan(data=("iris",), binary=True)
    run_plan(plan, tmp_path / "s.sqlite")
    row = plain(tmp_path / "s.sqlite")[0]
    assert row["full_accuracy"] > 0.7


class TestStore:
    def test_foreign_files(self, tmp_path):
        (tmp_path / "a.sqlite").write_text("hello, this is not a database at all")
        with pytest.raises(FileFormatError, match="not a study file"):
            Store(tmp_path / "a.sqlite")

    def test_other_format(self, tmp_path):
        with sqlite3.connect(tmp_path / "a.sqlite") as db:
            db.execute("create table about (key text primary key, value)")
            db.execute("insert into about values ('format', 'quorate-study/9')")
        with pytest.raises(FileFormatError, match="quorate-study/9"):
            Store(tmp_path / "a.sqlite")

    def test_export(self, tmp_path):
        path = tmp_path / "s.sqlite"
        run_plan(small_plan(), path)
        with Store(path) as store:
            frame = store.to_frame()
            store.to_csv(tmp_path / "s.csv")
            assert store.is_sound()
        assert len(frame) == 18
        assert len((tmp_path / "s.csv").read_text().splitlines()) == 19

    def test_no_results(self, tmp_path):
        Store(tmp_path / "s.sqlite").close()
        with pytest.raises(ValueError, match="holds no study"):
            Results.read(tmp_path / "s.sqlite")
        with pytest.raises(FileNotFoundError):
            Results.read(tmp_path / "none.sqlite")


class TestTables:
    @pytest.fixture(scope="class")
    @classmethod
    def results(cls, tmp_path_factory):
        path = tmp_path_factory.mktemp("study") / "s.sqlite"
        run_plan(small_plan(), path)
        return Results.read(path)

    def test_marks_and_ranks(self, results):
        table = results.table("epbd")
        assert table.header == ["data set", "Ensem", "random", "epbd"]
        assert [row[0] for row in table.body] == ["wine", "iris"]
        means = results.scores().means
        ranks = [float(cell) for cell in table.footer[1][1:]]
        assert sum(ranks) == pytest.approx(6, abs=0.02)
        for row, best in zip(means, table.best, strict=True):
            np.testing.assert_array_equal(best, row >= row.max() - 1e-12)
        assert table.footer[0][-1] == ""
        assert all(sum(map(int, c.split("/"))) == 2 for c in table.footer[0][1:3])

    def test_formats(self, results):
        markdown = results.table().to_markdown()
        assert markdown.startswith("| data set | Ensem | random | epbd |")
        assert "**" in markdown
        latex = results.table().to_latex()
        assert latex.startswith(r"\begin{tabular}{lrrr}")
        assert r"$\pm$" in latex
        assert r"\textbf{" in latex

    def test_unknown_names(self, results):
        with pytest.raises(ValueError, match="unknown quantity"):
            results.scores("speed")
        with pytest.raises(ValueError, match="did you mean 'epbd'"):
            results.table("epdb")


class TestCommandLine:
    def test_new_and_dry_run(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        runner = CliRunner()
        assert runner.invoke(main, ["study", "new"]).exit_code == 0
        assert runner.invoke(main, ["study", "new"]).exit_code == 2
        done = runner.invoke(main, ["study", "run", "study.toml", "--dry-run"])
        assert "3 data sets, 15 fits, 45 cells" in done.output

    def test_list(self):
        done = CliRunner().invoke(main, ["study", "list"])
        assert "pruning-bagging" in done.output

    def test_run_resume_report(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        (tmp_path / "tiny.toml").write_text(
            '[study]\ndata = ["iris", "wine"]\nfolds = 2\nrows = 60\n'
            '[[ensemble]]\nkind = "bagging"\nmembers = 5\n'
            '[[method]]\nmethod = "epbd"\n[[method]]\nmethod = "random"\n'
        )
        runner = CliRunner()
        done = runner.invoke(main, ["study", "run", "tiny.toml"])
        assert done.exit_code == 0, done.output
        assert "8 of 8 cells computed now" in done.output
        done = runner.invoke(main, ["study", "resume", "tiny.sqlite"])
        assert "0 of 8 cells computed now" in done.output
        for form, sign in (("markdown", "| data set"), ("latex", "tabular"),
                           ("csv", "accuracy"), ("terminal", "rank")):  # fmt: skip
            done = runner.invoke(
                main, ["study", "report", "tiny.sqlite", "--format", form]
            )
            assert sign in done.output

    def test_refusals(self, tmp_path):
        runner = CliRunner()
        assert runner.invoke(main, ["study", "run", "nonsense"]).exit_code == 1
        assert runner.invoke(main, ["study", "resume", "none.sqlite"]).exit_code == 1
        assert runner.invoke(main, ["study", "report", "none.sqlite"]).exit_code == 1


@pytest.mark.slow
def test_killed_at_random_moments(tmp_path):
    """Kill and resume as often as it takes: the rows are those of a quiet run."""
    plan = small_plan(folds=5)
    run_plan(plan, tmp_path / "quiet.sqlite")
    path = tmp_path / "killed.sqlite"
    (tmp_path / "plan.json").write_text(json.dumps(plan.to_dict()))
    code = (
        "import json, sys\n"
        "from quorate.study import run_plan\n"
        "from quorate.study._plan import plan_from_dict\n"
        f"plan = plan_from_dict(json.load(open({str(tmp_path / 'plan.json')!r})))\n"
        f"run_plan(plan, {str(path)!r})\n"
    )
    rng = np.random.default_rng(0)
    for _ in range(20):
        child = subprocess.Popen([sys.executable, "-c", code])
        time.sleep(float(rng.uniform(1.0, 3.5)))
        child.send_signal(signal.SIGKILL)
        child.wait()
        if path.exists():
            with Store(path) as store:
                assert store.is_sound()
    run_plan(plan, path)
    assert plain(path) == plain(tmp_path / "quiet.sqlite")
