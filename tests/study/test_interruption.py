"""Stopped by hand, or killed: what was computed stays, and the rest can follow."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from tests.study.plans import is_sound, n_rows, plain, write_toml

from quorate.study import Results, read_plan, run_plan

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs signals")
CLI = [sys.executable, "-m", "quorate", "study"]


def living(group):
    """Return the processes of a group, without those that only wait to be buried."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, _, number = stat.read_text().rpartition(")")[2].split()[:3]
        except OSError:
            continue
        if int(number) == group and state != "Z":
            found.append(stat)
    return found


@pytest.mark.parametrize(
    "jobs", [pytest.param(1, marks=pytest.mark.slow), 2], ids="jobs={}".format
)
def test_interrupt(jobs, tmp_path):
    plan = write_toml(tmp_path / "p.toml", folds=10, repeats=30, members=40)
    path = tmp_path / "s.sqlite"
    with subprocess.Popen(
        [*CLI, "run", str(plan), "--store", str(path), "--jobs", str(jobs)],
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,
        text=True,
    ) as run:
        while n_rows(path) == 0:
            assert run.poll() is None
            time.sleep(0.02)
        os.killpg(run.pid, signal.SIGINT)  # what a terminal does on Ctrl-C
        out, said = run.communicate(timeout=60)
    assert run.returncode == 130
    assert f"go on with: quorate study resume {path}" in said
    assert "Traceback" not in said
    assert out == ""
    assert is_sound(path)
    results = Results.read(path)
    assert 0 < len(results.rows) < read_plan(plan).n_cells
    assert not results.failures
    if Path("/proc").exists():
        for _ in range(100):
            if not living(run.pid):
                break
            time.sleep(0.1)
        assert not living(run.pid)


def test_interrupts_reach_callers_of_the_library(tmp_path):
    plan = read_plan(write_toml(tmp_path / "p.toml"))

    def stop(done, total):
        if done:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_plan(plan, tmp_path / "s.sqlite", progress=stop)
    assert len(plain(tmp_path / "s.sqlite")) == len(plan.methods)  # one fit
    assert run_plan(plan, tmp_path / "s.sqlite").n_run == 15


@pytest.mark.slow
def test_killed_at_random_moments(tmp_path):
    """Twenty times in the middle of the work; the rows are those of a quiet run."""
    plan = write_toml(tmp_path / "p.toml", folds=10, repeats=10, members=20)
    run_plan(read_plan(plan), tmp_path / "quiet.sqlite")
    path = tmp_path / "killed.sqlite"
    rng = np.random.default_rng(0)
    before = 0
    moments = []
    for _ in range(20):
        with subprocess.Popen(
            [*CLI, "run", str(plan), "--store", str(path)],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        ) as run:
            while n_rows(path) == before:  # it has begun to write
                assert run.poll() is None
                time.sleep(0.001)
            time.sleep(float(rng.uniform(0, 0.25)))
            run.send_signal(signal.SIGKILL)
            assert run.wait() == -signal.SIGKILL  # it had not come to its end
        assert is_sound(path)
        found = n_rows(path)
        moments.append(found - before)
        before = found
    assert all(moments)
    assert before < read_plan(plan).n_cells
    assert run_plan(read_plan(plan), path).n_run == read_plan(plan).n_cells - before
    assert plain(path) == plain(tmp_path / "quiet.sqlite")
