"""Which test runs which functions: a pytest plugin that writes them down.

``pytest -p mutation.touched`` leaves in the file named by ``QUORATE_TOUCHED``, for
every test that passed, the seconds of a processor it took and the lines of what it
called in ``src/quorate``: one whole number per file, in which bit ``n`` stands for line
``n``. Calls are watched and lines are not, which would take far longer. What the file
says of other tests stays.
"""

import json
import os
import sys
import threading
from collections import defaultdict
from hashlib import sha256
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import pytest

import quorate

SOURCE = str(Path(quorate.__file__).parent)

_ours: dict[CodeType, bool] = {}
_called: set[CodeType] = set()
_record: dict[str, dict[str, Any]] = {}
_not_passed: set[str] = set()
_is_part = False  # some tests of a file, chosen by their names


def _watch(frame: FrameType, event: str, argument: Any) -> None:
    """Note a function of quorate that is called; its lines are not followed."""
    code = frame.f_code
    ours = _ours.get(code)
    if ours is None:
        ours = _ours[code] = code.co_filename.startswith(SOURCE)
    if ours:
        _called.add(code)


def _lines_of(code: CodeType) -> int:
    return sum(1 << line for line in {line for *_, line in code.co_lines()} if line)


def _seconds() -> float:
    """Return the time spent by this process and those it has started and ended."""
    used = os.times()
    return used.user + used.system + used.children_user + used.children_system


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Any:
    _called.clear()
    start = _seconds()
    threading.settrace(_watch)
    sys.settrace(_watch)
    try:
        return (yield)
    finally:
        sys.settrace(None)
        threading.settrace(None)  # type: ignore[arg-type]
        files: defaultdict[str, int] = defaultdict(int)
        for code in list(_called):
            files[code.co_filename[len(SOURCE) + 1 :]] |= _lines_of(code)
        _record[item.nodeid] = {
            "seconds": round(_seconds() - start, 4),
            "lines": {file: hex(bits) for file, bits in files.items()},
        }


def pytest_configure(config: pytest.Config) -> None:
    global _is_part
    chosen = "::" in " ".join(config.args)
    _is_part = bool(config.option.keyword) or chosen


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if not report.passed:
        _not_passed.add(report.nodeid)


def pytest_sessionfinish() -> None:
    path = Path(os.environ["QUORATE_TOUCHED"])
    known = {"tests": {}, "sources": {}}
    if path.exists():
        known = json.loads(path.read_text())
    whole = {name.partition("::")[0] for name in _record} if not _is_part else set()
    tests = {
        name: test
        for name, test in known["tests"].items()
        if name not in _record and name.partition("::")[0] not in whole
    }
    # Lines of tests that were not run again are those of the source as it was then.
    earlier = known["sources"] if tests else {}
    tests |= {name: one for name, one in _record.items() if name not in _not_passed}
    sources = {
        file.relative_to(SOURCE).as_posix(): sha256(file.read_bytes()).hexdigest()
        for file in Path(SOURCE).rglob("*.py")
    }
    path.write_text(json.dumps({"tests": tests, "sources": sources | earlier}))
