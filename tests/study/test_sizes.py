"""Plans that cannot be run are refused before the work, and say why."""

import time

import pytest
from click.testing import CliRunner
from tests.study.plans import plain, small_plan, write_toml

from quorate.cli import main
from quorate.study import (
    EnsembleSpec,
    MethodSpec,
    Results,
    Store,
    forecast_plan,
    read_plan,
    run_plan,
)


def study(*words):
    return CliRunner().invoke(main, ["study", *map(str, words)])


def plan_keeping(path, keep):
    write_toml(path)
    path.write_text(path.read_text().replace("keep = 1.0", f"keep = {keep}"))
    return path


@pytest.mark.parametrize("keep", ["0", "0.0", "nan", "inf", "-inf", "-0.5", "1.5", "9"])
def test_sizes_that_cannot_be_kept(tmp_path, keep):
    plan = plan_keeping(tmp_path / "p.toml", keep)
    message = r"method 'Ensem': keep is .*; a fraction in \(0, 1\], or 1 to 8 members"
    with pytest.raises(ValueError, match=message):
        read_plan(plan)
    for more in ([], ["--dry-run"]):
        done = study("run", plan, "--store", tmp_path / "s.sqlite", *more)
        assert done.exit_code == 1
        assert done.output.startswith(f"Error: {plan}: method 'Ensem': keep is ")
    assert not (tmp_path / "s.sqlite").exists()


@pytest.mark.parametrize("keep", [0, float("nan"), float("inf"), True, 9, None])
@pytest.mark.parametrize("act", [run_plan, forecast_plan])
def test_the_library_refuses_them_too(tmp_path, keep, act):
    plan = small_plan(methods=(MethodSpec("epbd", keep), MethodSpec("random")))
    with pytest.raises(ValueError, match="method 'epbd': keep is "):
        act(plan, tmp_path / "s.sqlite")
    assert not (tmp_path / "s.sqlite").exists()


def test_the_smallest_ensemble_counts():
    sizes = tuple(EnsembleSpec("bagging", "tree", members) for members in (20, 5))
    plan = small_plan(ensembles=sizes, methods=(MethodSpec("epbd", 6),))
    with pytest.raises(ValueError, match="1 to 5 members of 'bagging of tree, 5'"):
        forecast_plan(plan)


def test_methods_that_find_their_size_need_none(tmp_path):
    plan = small_plan(
        data=("wine",), methods=(MethodSpec("oep", None), MethodSpec("epbd", 0.5))
    )
    assert run_plan(plan, tmp_path / "s.sqlite").n_failed == 0


def test_stores_of_such_plans_can_be_read(tmp_path):
    """They were made before; the other methods have results in them."""
    path = tmp_path / "s.sqlite"
    run_plan(small_plan(data=("wine",)), path)
    methods = (*small_plan().methods, MethodSpec("mdm", 0))
    with Store(path) as store:
        store.remember_plan(small_plan(data=("wine",), methods=methods).to_dict())
    assert len(Results.read(path).rows) == len(plain(path)) == 9


@pytest.mark.parametrize("act", [run_plan, forecast_plan])
@pytest.mark.parametrize("folds", [91, 10_000_000_000])
def test_more_folds_than_rows(tmp_path, act, folds):
    start = time.perf_counter()
    with pytest.raises(ValueError, match=f"wine: {folds} folds of 90 rows; 2 to 90"):
        act(small_plan(folds=folds), tmp_path / "s.sqlite")
    assert time.perf_counter() - start < 20
    assert not (tmp_path / "s.sqlite").exists()


def test_as_many_folds_as_rows(tmp_path):
    plan = small_plan(data=("wine",), rows=8, folds=8, methods=(MethodSpec("epbd"),))
    assert run_plan(plan, tmp_path / "s.sqlite").n_failed == 0


@pytest.mark.parametrize("again", [False, True])
def test_nothing_but_failures_is_no_success(tmp_path, again):
    """Members of AdaBoost have no out-of-bag votes."""
    plan, path = write_toml(tmp_path / "p.toml", folds=2), tmp_path / "s.sqlite"
    text = plan.read_text().replace("rows = 90", 'rows = 90\nprune_on = "oob"')
    plan.write_text(text.replace("random_forest", "adaboost"))
    done = study("run", plan, "--store", path)
    if again:
        done = study("resume", path)
    assert done.exit_code == 1
    assert f"Error: {path}: every cell failed" in done.output
    assert "failed: Ensem on wine" in done.output


def test_some_failures_are(tmp_path, monkeypatch):
    from quorate.study import _cell

    original = _cell._Bench.run

    def broken(self, method):
        if method.name == "random":
            raise RuntimeError("out of luck")
        return original(self, method)

    monkeypatch.setattr(_cell._Bench, "run", broken)
    plan = write_toml(tmp_path / "p.toml", folds=2)
    done = study("run", plan, "--store", tmp_path / "s.sqlite")
    assert done.exit_code == 0
    assert "4 failed" in done.output
