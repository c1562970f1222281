"""Stopped by hand, or killed: what was computed stays, and the rest can follow."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from tests.study.plans import execute, is_sound, n_rows, plain, write_toml

from quorate import study
from quorate.cli import main
from quorate.study import Results, read_plan, run_plan

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs signals")
CLI = [sys.executable, "-m", "quorate", "study", "run"]


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


def started(tmp_path, jobs):
    """Begin a run in a group of its own, as a shell does."""
    plan = write_toml(tmp_path / "p.toml", folds=10, repeats=30, members=40)
    path = tmp_path / "s.sqlite"
    words = [*CLI, str(plan), "--store", str(path), "--jobs", str(jobs)]
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen(words, start_new_session=True, **streams)


def ended(run):
    """Wait for the end; return what was said, once nobody of the group is left."""
    try:
        out, said = run.communicate(timeout=60)
        if Path("/proc").exists():
            for _ in range(100):
                if not living(run.pid):
                    break
                time.sleep(0.1)
            assert not living(run.pid)
    except BaseException:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(run.pid, signal.SIGKILL)
        raise
    return out, said


@pytest.mark.slow
@pytest.mark.parametrize(
    ("number", "jobs", "all_of_them"),
    [
        (signal.SIGINT, 1, True),
        (signal.SIGINT, 2, True),  # what a terminal does on Ctrl-C
        (signal.SIGINT, 2, False),
        (signal.SIGTERM, 1, False),
        (signal.SIGTERM, 2, False),  # what kill and service managers do
        (signal.SIGTERM, 2, True),
    ],
)
def test_interrupt(number, jobs, all_of_them, tmp_path):
    path = tmp_path / "s.sqlite"
    with started(tmp_path, jobs) as run:
        while n_rows(path) == 0:
            assert run.poll() is None
            time.sleep(0.02)
        (os.killpg if all_of_them else os.kill)(run.pid, number)
        out, said = ended(run)
    assert run.returncode == 128 + number
    assert f"continue with: quorate study resume {path}" in said
    assert "Traceback" not in said
    assert out == ""
    assert is_sound(path)
    results = Results.read(path)
    assert 0 < len(results.rows) < read_plan(tmp_path / "p.toml").n_cells
    assert not results.failures


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=str)
def test_interrupted_while_it_begins(number, tmp_path):
    """Before there is a store: packages are imported, data is read."""
    code = (
        "import os, sys\n"
        "from quorate.cli import main\n"
        "class Door:\n"
        "    def find_spec(self, name, *_):\n"
        "        if name == 'sklearn.ensemble':\n"
        f"            os.kill(os.getpid(), {int(number)})\n"
        "sys.meta_path.insert(0, Door())\n"
        "main()\n"
    )
    plan = write_toml(tmp_path / "p.toml")
    done = execute(code, "study", "run", plan, cwd=tmp_path)
    assert done.returncode == 128 + number
    assert done.stderr.startswith("stopped")
    assert "Traceback" not in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["p.toml"]


def run_broken(monkeypatch, tmp_path, broken):
    """Return what a command says whose work is broken."""
    monkeypatch.setattr(study, "run_plan", broken)
    plan = write_toml(tmp_path / "p.toml")
    return CliRunner().invoke(main, ["study", "run", str(plan)])


def test_what_an_interrupt_broke_counts_as_interrupted(monkeypatch, tmp_path):
    """Libraries turn it into errors of their own."""

    def broken(*_, **__):
        try:
            signal.raise_signal(signal.SIGINT)
        except KeyboardInterrupt:
            raise RuntimeError("cannot schedule new futures") from None

    done = run_broken(monkeypatch, tmp_path, broken)
    assert (done.exit_code, done.output) == (130, "stopped.\n")


def test_ignored_interrupts_stay_ignored(monkeypatch, tmp_path):
    """As in the background of a shell without job control."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    seen = []

    def look(*_, **__):
        seen.append(signal.getsignal(signal.SIGINT))
        raise ValueError("enough")

    try:
        done = run_broken(monkeypatch, tmp_path, look)
    finally:
        signal.signal(signal.SIGINT, before)
    assert done.output == "Error: enough\n"
    assert seen == [signal.SIG_IGN]


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
    for _ in range(20):
        words = [*CLI, str(plan), "--store", str(path)]
        nowhere = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        with subprocess.Popen(words, **nowhere) as run:
            while n_rows(path) == before:  # it has begun to write
                assert run.poll() is None
                time.sleep(0.001)
            time.sleep(float(rng.uniform(0, 0.25)))
            run.send_signal(signal.SIGKILL)
            assert run.wait() == -signal.SIGKILL  # it had not come to its end
        assert is_sound(path)
        assert n_rows(path) > before
        before = n_rows(path)
    assert before < read_plan(plan).n_cells
    assert run_plan(read_plan(plan), path).n_run == read_plan(plan).n_cells - before
    assert plain(path) == plain(tmp_path / "quiet.sqlite")
