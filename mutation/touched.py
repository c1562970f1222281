"""Which test runs which lines: a pytest plugin that writes them down.

``pytest -p mutation.touched`` leaves in the file named by ``QUORATE_TOUCHED``, for
every test that passed, the seconds it took and its lines of ``src/quorate``: one whole
number per file, in which bit ``n`` stands for line ``n``. What the file says of other
tests stays.
"""

import json
import os
import sys
import threading
import time
from collections import defaultdict
from hashlib import sha256
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import pytest

import quorate

SOURCE = str(Path(quorate.__file__).parent)

_ours: dict[CodeType, str | None] = {}
_lines: set[tuple[str, int]] = set()
_record: dict[str, dict[str, Any]] = {}
_not_passed: set[str] = set()
_is_part = False  # some tests of a file, chosen by their names


def _watch(frame: FrameType, event: str, argument: Any) -> Any:
    """Follow the frames of quorate, line by line, and no others."""
    code = frame.f_code
    if code not in _ours:
        path = code.co_filename
        _ours[code] = path[len(SOURCE) + 1 :] if path.startswith(SOURCE) else None
    if _ours[code] is None:
        return None
    return _follow


def _follow(frame: FrameType, event: str, argument: Any) -> Any:
    _lines.add((_ours[frame.f_code] or "", frame.f_lineno))
    return _follow


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Any:
    _lines.clear()
    start = time.perf_counter()
    threading.settrace(_watch)
    sys.settrace(_watch)
    try:
        return (yield)
    finally:
        sys.settrace(None)
        threading.settrace(None)  # type: ignore[arg-type]
        files: defaultdict[str, int] = defaultdict(int)
        for file, line in list(_lines):
            files[file] |= 1 << line
        _record[item.nodeid] = {
            "seconds": round(time.perf_counter() - start, 4),
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
