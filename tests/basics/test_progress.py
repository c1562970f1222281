"""A line says what is being done: after two seconds, to somebody who is looking."""

import inspect
import io
import sys
import time
import types

import pytest
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier

import quorate
from quorate import _progress
from quorate._progress import ProgressBar, advance, find_screen, progress_text, stage
from quorate.study import EnsembleSpec, MethodSpec, Plan, run_plan


class Screen(io.StringIO):
    """A stream that says whether it is a terminal."""

    def __init__(self, terminal=True):
        super().__init__()
        self.terminal = terminal

    def isatty(self):
        return self.terminal

    def lines(self):
        """Return what could be read on the line, one after the other."""
        return [line.rstrip() for line in self.getvalue().split("\r") if line.strip()]


def wait_for(screen, text):
    until = time.monotonic() + 10
    while text not in screen.getvalue():
        assert time.monotonic() < until, screen.getvalue()
        time.sleep(0.005)


def test_the_line_says_what_is_done_and_is_gone_afterwards():
    screen = Screen()
    bar = ProgressBar(screen, wait=0)
    with bar.doing("choosing members"):
        wait_for(screen, "choosing members, 0 s")
        with bar.doing("distilling"):
            bar.done, bar.total = 5, 20
            wait_for(screen, "distilling [######------------------] 5 of 20, ")
        assert (bar.what, bar.done, bar.total) == ("choosing members", 0, 0)
    bar.close()
    width = max(map(len, screen.lines()))
    assert screen.getvalue().endswith("\r")
    last = screen.getvalue().rstrip("\r").rpartition("\r")[2]
    assert not last.strip()
    assert 0 < len(last) <= width


def test_nothing_is_shown_at_first():
    screen = Screen()
    bar = ProgressBar(screen, wait=2.0)
    with bar.doing("choosing members"):
        time.sleep(0.05)
    bar.close()
    assert screen.getvalue() == ""
    assert _progress._WAIT == 2.0


def test_the_bar_is_never_longer_than_full():
    assert progress_text("a", 30, 20, 1.0) == f"a [{'#' * 24}] 30 of 20, 1 s"


@pytest.fixture
def seen(monkeypatch):
    """Record the words of every bar that somebody could see."""
    words = []

    class Recorded(ProgressBar):
        def __init__(self, stream):
            super().__init__(None)
            self.visible = stream is not None

        def __setattr__(self, name, value):
            if name in ("what", "total") and value and self.visible:
                words.append(value)
            super().__setattr__(name, value)

    monkeypatch.setattr(_progress, "ProgressBar", Recorded)
    monkeypatch.setattr(_progress, "find_screen", Screen)
    return words


def test_the_outermost_stage_decides(seen):
    advance(1, 2)  # nobody is told
    with stage("outside, silent"):
        pass
    with stage("quiet", verbose=0), stage("inside", verbose=1):
        advance(1, 2)
    assert seen == []
    with stage("loud", verbose=1), stage("inside", verbose=0):
        advance(1, 2)
    assert seen == ["loud", "inside", 2, "loud"]


def test_where_somebody_is_looking(monkeypatch):
    for stream in (None, Screen(terminal=False), Screen()):
        monkeypatch.setattr(sys, "stderr", stream)
        assert find_screen() is (stream if stream and stream.terminal else None)
    monkeypatch.setattr(sys, "stderr", Screen(terminal=False))
    shell = types.SimpleNamespace(kernel=types.SimpleNamespace(_allow_stdin=True))
    fake = types.SimpleNamespace(get_ipython=lambda: shell)
    monkeypatch.setitem(sys.modules, "IPython", fake)
    assert find_screen() is sys.stdout  # what goes to standard error is red there
    shell.kernel._allow_stdin = False  # a notebook run by nbconvert
    assert find_screen() is None
    fake.get_ipython = lambda: None  # imported, but this is a script
    assert find_screen() is None


def test_nobody_looks_at_a_pipe(seen, monkeypatch):
    monkeypatch.setattr(_progress, "find_screen", lambda: None)
    with stage("piped", verbose=1):
        pass
    assert seen == []


def test_a_stage_that_fails_is_closed(seen):
    def fail():
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError), stage("failing", verbose=1):
        fail()
    assert _progress._CURRENT.get() is None


@pytest.fixture(scope="module")
def forest():
    X, y = make_classification(200, random_state=0)
    return RandomForestClassifier(12, random_state=0).fit(X, y), X, y


def test_long_work_says_what_it_does(forest, seen):
    model, X, y = forest
    with stage("pruning", verbose=1):
        _, selection = quorate.prune(model, X, y, keep=3, return_selection=True)
        assert selection.expected is not None
    words = [word for word in dict.fromkeys(seen) if isinstance(word, str)]
    assert words == [
        "pruning", "evaluating members", "choosing members", "evaluating the teacher",
        "distilling", "cross-validating",
    ]  # fmt: skip
    assert 3 in seen  # members picked
    seen.clear()
    quorate.report(model, X, y, keep=3)
    assert {"evaluating members", "choosing members", "cross-validating",
            "measuring", "drawing figures"} <= set(seen)  # fmt: skip
    seen.clear()
    small = quorate.keep_members(model, range(3))
    quorate.distil(small, model, X, n_rows=200)
    assert {"evaluating the teacher", "distilling"} <= set(seen)


@pytest.mark.parametrize(
    "function", [quorate.prune, quorate.report, quorate.distil, run_plan]
)
def test_nobody_has_to_ask_for_progress(function):
    assert inspect.signature(function).parameters["verbose"].default == 1


def test_silence_is_silence(forest, seen):
    model, X, y = forest
    small = quorate.prune(model, X, y, keep=3, verbose=0)
    quorate.report(model, X, y, keep=3, verbose=0)
    quorate.distil(small, model, X, n_rows=200, verbose=0)
    assert seen == []


def test_studies_count_their_cells(seen, tmp_path):
    plan = Plan(
        name="small", data=("iris",), ensembles=(EnsembleSpec("bagging", "tree", 3),),
        methods=(MethodSpec("es", keep=2), MethodSpec("best", keep=2)), folds=2,
    )  # fmt: skip
    run_plan(plan, tmp_path / "loud.sqlite")
    assert seen[0] == "running cells"
    assert plan.n_cells in seen
    seen.clear()
    run_plan(plan, tmp_path / "quiet.sqlite", verbose=0)
    told = []
    run_plan(
        plan, tmp_path / "own.sqlite", progress=lambda done, total: told.append(done)
    )
    assert seen == []
    assert told[0] == 0
    assert told[-1] == plan.n_cells
