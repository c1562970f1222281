"""Wherever units run, the results are the same, and a dead worker loses nothing."""

import json
import os
import signal
import subprocess
import sys
import time
import warnings

import joblib
import pytest
from tests.study import cluster
from tests.study.plans import is_sound, n_rows, plain, small_plan, write_toml

from quorate.study import Results, read_plan, run_plan
from quorate.study import _run as run_module

CLI = [sys.executable, "-m", "quorate", "study", "run"]


@pytest.fixture(scope="module")
def dask_cluster():
    pytest.importorskip("distributed")
    streams = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    command = [sys.executable, cluster.__file__]
    with subprocess.Popen(
        command, **streams, stderr=subprocess.DEVNULL, text=True
    ) as process:
        yield process, process.stdout.readline().strip()
        process.stdin.close()
        process.wait(60)


def run_here(plan_file, path):
    run_plan(read_plan(plan_file), path, n_jobs=1)
    return plain(path)


def run_there(plan_file, path, *options):
    words = [*CLI, str(plan_file), "--store", str(path), *options]
    done = subprocess.run(words, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return plain(path)


@pytest.mark.slow
@pytest.mark.parametrize("backend", ["threading", "loky"])
def test_an_active_backend_is_used(backend, tmp_path, small_store):
    filters = list(warnings.filters)
    with joblib.parallel_config(backend=backend, n_jobs=2):
        run_plan(small_plan(), tmp_path / "2.sqlite")
    assert warnings.filters == filters
    assert plain(small_store) == plain(tmp_path / "2.sqlite")


class ListsOnly(joblib.parallel.ThreadingBackend):
    """As those of clusters that joblib does not know."""

    supports_return_generator = False


@pytest.mark.slow
def test_a_backend_that_returns_lists_only(tmp_path):
    joblib.register_parallel_backend("lists-only", ListsOnly)
    plan = small_plan(folds=5, repeats=2)
    run_plan(plan, tmp_path / "1.sqlite")
    with joblib.parallel_config(backend="lists-only", n_jobs=2):
        with pytest.raises(ValueError, match="does not support"):
            joblib.Parallel(return_as="generator_unordered")
        run_plan(plan, tmp_path / "2.sqlite")
    assert plain(tmp_path / "1.sqlite") == plain(tmp_path / "2.sqlite")


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="has no fork")
def test_this_process_is_never_forked(tmp_path, monkeypatch, small_store):
    """A fork copies the locks of threads that it does not copy, such as a bar's."""

    def fork():
        raise AssertionError("forked")

    monkeypatch.setattr(os, "fork", fork)
    with joblib.parallel_config(backend="multiprocessing", n_jobs=2):
        run_plan(small_plan(), tmp_path / "2.sqlite")
    assert plain(small_store) == plain(tmp_path / "2.sqlite")


@pytest.mark.slow
def test_a_dask_cluster(dask_cluster, tmp_path):
    _, address = dask_cluster
    plan = write_toml(tmp_path / "p.toml")
    expected = run_here(plan, tmp_path / "1.sqlite")
    assert run_there(plan, tmp_path / "2.sqlite", "--dask", address) == expected


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGKILL")
def test_a_dask_worker_killed_in_the_middle(dask_cluster, tmp_path):
    process, address = dask_cluster
    process.stdin.write("who\n")
    process.stdin.flush()
    worker = json.loads(process.stdout.readline())[0]
    plan = write_toml(tmp_path / "p.toml", folds=10, repeats=2, members=40)
    expected = run_here(plan, tmp_path / "1.sqlite")
    path = tmp_path / "2.sqlite"
    with subprocess.Popen(
        [*CLI, str(plan), "--store", str(path), "--dask", address],
        stdout=subprocess.DEVNULL,
    ) as run:
        while n_rows(path) == 0:
            assert run.poll() is None
            time.sleep(0.02)
        os.kill(worker, signal.SIGKILL)
        assert n_rows(path) < len(expected)  # it was in the middle
        assert run.wait(120) == 0
    assert plain(path) == expected
    assert is_sound(path)


@pytest.fixture
def deadly(monkeypatch, tmp_path):
    """Let the worker that gets the second unit die as often as is asked for."""

    def arrange(times):
        original = run_module._run_numbered
        grave = tmp_path / "grave"
        grave.mkdir()

        def fragile(place, unit, data, methods):
            deaths = len(list(grave.iterdir()))
            if place == 1 and deaths < times:
                (grave / str(deaths)).touch()
                time.sleep(0.5)
                os._exit(9)
            return original(place, unit, data, methods)

        monkeypatch.setattr(run_module, "_run_numbered", fragile)
        return grave

    return arrange


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_process_that_dies_is_replaced(tmp_path, deadly, small_store):
    grave = deadly(times=1)
    outcome = run_plan(small_plan(), tmp_path / "2.sqlite", n_jobs=2)
    assert len(list(grave.iterdir())) == 1
    assert (outcome.n_run, outcome.n_failed) == (18, 0)
    assert plain(tmp_path / "2.sqlite") == plain(small_store)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_processes_that_keep_dying_end_the_run_and_lose_nothing(tmp_path, deadly):
    deadly(times=100)
    path = tmp_path / "s.sqlite"
    with pytest.raises(ChildProcessError, match="Completed results are stored"):
        run_plan(small_plan(), path, n_jobs=2)
    assert len(Results.read(path).rows) == 15  # all but those of the deadly unit
