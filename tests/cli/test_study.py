"""The study on the command line."""

import json
import os
import signal
import sqlite3
import sys
import time
from contextlib import closing
from functools import partial

import pytest
from rich.console import Console
from tests.cli.shell import run, told
from tests.study.plans import write_toml

from quorate.cli._study_view import show_results
from quorate.study import Results, read_plan
from quorate.study._cell import _FittedUnit

study = partial(run, "study")


def test_list_and_new(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert "pruning-bagging" in study("list").output
    study("new")
    study("new", code=2)
    assert read_plan("study.toml").n_fits == 15
    assert [path.name for path in tmp_path.iterdir()] == ["study.toml"]


def test_run_resume_report(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_toml(tmp_path / "tiny.toml", folds=2)
    told = study("run", "tiny.toml").output
    assert "12 of 12 cells computed now, 0 failed; results in tiny.sqlite" in told
    assert "Friedman test: p =" in told
    assert "0 of 12 cells computed now" in study("resume", "tiny.sqlite").output


@pytest.mark.parametrize(
    ("form", "sign"),
    [
        ("markdown", "| data set"),
        ("latex", r"\begin{tabular}"),
        ("csv", "data,repeat,fold,ensemble,method,"),
        ("terminal", "rank 1 is best"),
        ("json", '"standings"'),
    ],
)
def test_reports(form, sign, small_store, tmp_path):
    printed = study("report", small_store, "--format", form)
    assert sign in printed.output
    file = tmp_path / "report"
    done = study("report", small_store, "--format", form, "-o", file)
    assert done.output == f"written to {file}\n"
    assert file.read_text() == printed.output


def test_reports_for_programs(small_store):
    found = json.loads(study("report", small_store, "--format", "json").output)
    assert found == json.loads(json.dumps(Results.read(small_store).to_dict()))


def test_figures(small_store, tmp_path):
    done = study("report", small_store, "--figures", tmp_path, "--figure-format", "svg")
    files = sorted(path.name for path in tmp_path.iterdir())
    assert "critical-difference.svg" in files
    assert done.output == f"{len(files)} figures written to {tmp_path}\n"


def test_reference(small_store):
    told = study("report", small_store, "--reference", "random").output
    assert "W/T/L: data sets on which random wins" in told
    done = study("report", small_store, "--reference", "randon", code=1)
    assert "did you mean 'random'" in done.output


@pytest.mark.parametrize(
    ("words", "code", "why"),
    [
        (["report", "none.sqlite"], 1, "none.sqlite: no such file."),
        (["check", "space", "none.sqlite"], 1, "none.sqlite: no such file."),
        (["merge", "none.sqlite", "b.sqlite"], 1, "none.sqlite: no such file."),
        (["merge", ".", "b.sqlite"], 1, ".: not a study file, nor a regular file."),
    ],
)  # fmt: skip
def test_refusals(words, code, why):
    assert why in told(study(*words, code=code))


def test_without_dask(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    done = study("run", "space", "--dask", "tcp://127.0.0.1:1", code=1)
    assert "pip install distributed" in done.stderr


@pytest.mark.parametrize("again", [False, True])
def test_nothing_but_failures_is_no_success(tmp_path, again):
    """Members of AdaBoost have no out-of-bag votes."""
    plan, path = write_toml(tmp_path / "p.toml", folds=2), tmp_path / "s.sqlite"
    text = plan.read_text().replace("rows = 90", 'rows = 90\nprune_on = "oob"')
    plan.write_text(text.replace("random_forest", "adaboost"))
    done = study("run", plan, "--store", path, code=1)
    if again:
        done = study("resume", path, code=1)
    assert f"Error: {path}: every cell failed" in done.stderr
    assert "failed: Ensem on wine" in done.stdout


def test_some_failures_are(tmp_path, monkeypatch):
    original = _FittedUnit.run

    def broken(self, method):
        if method.name == "random":
            raise RuntimeError("out of luck")
        return original(self, method)

    monkeypatch.setattr(_FittedUnit, "run", broken)
    plan = write_toml(tmp_path / "p.toml", folds=2)
    assert "4 failed" in study("run", plan, "--store", tmp_path / "s.sqlite").output


@pytest.mark.skipif(sys.platform == "win32", reason="needs signals")
def test_an_interrupt_that_got_lost_is_heeded(tmp_path, monkeypatch):
    """Let the method swallow it, as code that cleans up may."""
    plan = write_toml(tmp_path / "p.toml")
    original = _FittedUnit.run

    def swallow(*arguments):
        try:
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.1)
        except KeyboardInterrupt:
            pass
        return original(*arguments)

    monkeypatch.setattr(_FittedUnit, "run", swallow)
    before = signal.getsignal(signal.SIGINT)
    done = study("run", plan, "--store", tmp_path / "s.sqlite", code=130)
    assert signal.getsignal(signal.SIGINT) is before
    assert "continue with: quorate study resume" in done.output
    assert len(Results.read(tmp_path / "s.sqlite").rows) == 3  # those of one fit


def failing(store, tmp_path, where):
    path = tmp_path / "failed.sqlite"
    path.write_bytes(store.read_bytes())
    with closing(sqlite3.connect(path)) as db, db:
        db.execute(
            "update cells set status = 'failed', error = 'Traceback\nOops: [no]' "
            f"where {where}"
        )
    return path


def test_failures_are_told(small_store, tmp_path):
    path = failing(small_store, tmp_path, "data = 'iris' and method = 'epbd'")
    told = study("report", path).output
    assert "1 data set, 3 folds; 1 without all results left out" in told
    assert "Only one data set" in told
    assert "failed: epbd on iris, fold 0: Oops: [no]" in told
    assert "Traceback\nOops" not in told
    assert "Traceback\nOops" in study("report", path, "--verbose").output


@pytest.mark.parametrize("where", ["fold = 1 and method = 'epbd'", "1 = 1"])
def test_nothing_to_compare_yet(small_store, tmp_path, where):
    done = study("report", failing(small_store, tmp_path, where))
    assert "nothing to compare yet" in done.output
    assert "failed: " in done.output


@pytest.mark.parametrize("width", [80, 120])
def test_it_fits_the_width(small_store, width):
    console = Console(width=width, highlight=False)
    with console.capture() as captured:
        show_results(console, Results.read(small_store), verbose=True)
    lines = captured.get().splitlines()
    assert max(map(len, lines)) <= width
    assert not any("…" in line for line in lines)
