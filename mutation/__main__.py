"""``python -m mutation``: change the source a little and see whether a test fails.

Each mutant is tried in a copy of the source, with the quickest tests that run its line
and no others; a kernel in C is compiled there. Verdicts stand in
``mutation/mutants.csv``; a run takes up where the last one stopped. The exit code is 1
if too many live, or one without a reason.
"""

import argparse
import csv
import hashlib
import importlib
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterable
from contextlib import suppress
from functools import cache
from importlib.util import cache_from_source
from pathlib import Path

import pytest

from mutation.mutants import Mutant, draw, functions_of
from mutation.named import named_mutants

HERE = Path(__file__).parent
SOURCE = HERE.parent / "src" / "quorate"
TABLE = HERE / "mutants.csv"
TOUCHED = HERE / ".touched.json"
COLUMNS = ["room", "file", "function", "kind", "before", "after"]
COLUMNS += ["verdict", "by", "reason"]
WANTED = 0.93
STALE = 0.1  # share of the verdicts that may be about lines that have changed since
# What is not Python leaves no trace of its lines: tests that call what calls it.
CALLED_BY = {"_native/forest.c": "_engine/_voter.py"}
# Imported once, before every mutant gets a process of its own.
HEAVY = ["numpy", "scipy.stats", "scipy.optimize", "pandas", "pyarrow", "click"]
HEAVY += ["sklearn.ensemble", "sklearn.datasets", "sklearn.model_selection"]
HEAVY += [
    "sklearn.naive_bayes",
    "sklearn.svm",
    "hypothesis.extra.numpy",
    "rich.console",
]
SAID = "failed.txt"
PYTEST = ["-x", "-q", "-p", "no:xdist", "-p", "no:cacheprovider", "-m", "not slow"]
PYTEST += ["--hypothesis-seed=0", "-W", "ignore::pytest.PytestAssertRewriteWarning"]
FIRST = 12  # tests, of the room itself, before all others are tried
SECONDS = 40.0  # of tests per mutant, as long as they took when they were recorded
SPARE = 20.0  # seconds of a processor on top of twice as many, then a mutant hangs
LIMIT = 600.0  # seconds by the clock, for one that waits
LONGEST = 3600  # seconds of a processor, for all tests that noticed something

Row = dict[str, str]
Key = tuple[str, ...]


def main() -> int:
    parser = argparse.ArgumentParser(prog="mutation", description=__doc__)
    parser.add_argument("--per-room", type=int, default=13)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=SECONDS, help="of tests each")
    parser.add_argument("--only", metavar="ROOM", help="a room, a file, or 'named'")
    parser.add_argument("--again", action="store_true", help="those that lived, anew")
    parser.add_argument("--fresh", action="store_true", help="all of them anew")
    parser.add_argument(
        "--record",
        nargs="*",
        metavar="TEST",
        help="see which test runs what, then stop",
    )
    asked = parser.parse_args()
    if asked.record is not None or not TOUCHED.exists():
        record(asked.record or [])
        if asked.record is not None:
            return 0
    mutants = [*named_mutants(SOURCE), *draw(SOURCE, asked.per_room)]
    rows = {key(row_of(mutant)): row_of(mutant) for mutant in mutants}
    for row in read_table():
        if key(row) in rows:
            now = rows[key(row)]
            rows[key(row)] = row | {"file": now["file"], "room": now["room"]}

    def is_wanted(mutant: Mutant) -> bool:
        verdict = rows[key(row_of(mutant))]["verdict"]
        again = asked.fresh or (asked.again and verdict == "lived")
        return (not verdict or again) and asked.only in (None, mutant.room, mutant.file)

    todo = [mutant for mutant in mutants if is_wanted(mutant)]
    print(f"{len(mutants)} mutants, {len(todo)} to try", flush=True)
    try_all(todo, rows, asked.jobs, asked.seconds)
    take_back([rows[key(row_of(mutant))] for mutant in todo])
    write_table(rows.values())
    return summary(list(rows.values()))


def try_all(
    todo: list[Mutant], rows: dict[Key, Row], jobs: int, seconds: float
) -> None:
    """Try mutants, some at a time, and keep every verdict as soon as it is there."""
    for module in HEAVY:
        importlib.import_module(module)
    tests = Tests.read()
    waiting, running = list(reversed(todo)), set[Attempt]()
    while waiting or running:
        while waiting and len(running) < jobs:
            mutant = waiting.pop()
            plan = tests.for_mutant(mutant, seconds)
            running.add(Attempt(mutant, plan, int(2 * seconds + SPARE)))
        for attempt in [one for one in running if one.is_over()]:
            running.remove(attempt)
            row = rows[key(row_of(attempt.mutant))]
            row["verdict"] = "killed" if attempt.noticed_by else "lived"
            row["by"] = attempt.noticed_by
            if attempt.noticed_by:
                row["reason"] = ""
            write_table(rows.values())
            place = f"{row['file']}: {row['function']}"
            print(f"{row['verdict']:6} {place}: {row['after']}", flush=True)
        time.sleep(0.02)


def take_back(rows: list[Row]) -> None:
    """Forget verdicts of tests that fail on the source as it is."""
    tests = sorted({row["by"] for row in rows if "::" in row["by"]})
    with tempfile.TemporaryDirectory(prefix="quorate-mutant-") as name:
        folder = Path(name)
        shutil.copytree(SOURCE, folder / "quorate")
        process = os.fork() if tests else 0
        if tests and process == 0:
            try:
                run_here(tests, folder, LONGEST, PYTEST[1:])
            finally:
                os._exit(0)
        if tests:
            os.waitpid(process, 0)
        said = folder / SAID
        failing = set(said.read_text().splitlines()) if said.exists() else set()
    for row in rows:
        if row["by"] in failing:
            print(f"fails on the source as it is: {row['by']}")
            row["verdict"] = row["by"] = ""


# Which tests ------------------------------------------------------------------------


class Tests:
    """The tests that run a line, as they were recorded."""

    def __init__(self, record: dict[str, dict], sources: dict[str, str]) -> None:
        self.record, self.sources = record, sources

    @classmethod
    def read(cls) -> "Tests":
        found = json.loads(TOUCHED.read_text())
        found["tests"] = {
            name: test for name, test in found["tests"].items() if is_there(name)
        }
        for test in found["tests"].values():
            test["lines"] = {
                file: int(bits, 16) for file, bits in test["lines"].items()
            }
        return cls(found["tests"], found["sources"])

    def for_mutant(self, mutant: Mutant, seconds: float) -> list[list[str]]:
        """Return tests in two portions: the nearest and quickest, then the others."""
        wanted = sum(1 << n for n in range(mutant.first_line, mutant.last_line + 1))
        if self.sources.get(mutant.file) != digest(SOURCE / mutant.file):
            wanted = 0  # the file has changed since: every test that runs any of it
        source = CALLED_BY.get(mutant.file, mutant.file)
        touching = [
            name
            for name, test in self.record.items()
            if test["lines"].get(source, 0) & (wanted or -1)
        ]
        # What is run by importing, in a fixture or for a cache is run in one test only,
        # if in any, and used by others.
        same = [n for n, test in self.record.items() if source in test["lines"]]
        files = {name.partition("::")[0] for name in touching}
        beside = [n for n in self.record if n.partition("::")[0] in files]
        order: list[str] = []
        for names in (touching, same, beside):
            order += self._nearest(names, source)
        chosen, spent = [], 0.0
        for name in dict.fromkeys(order):
            spent += self.record[name]["seconds"]
            if spent > seconds and chosen:
                break
            chosen.append(name)
        return [part for part in (chosen[:FIRST], chosen[FIRST:]) if part]

    def _nearest(self, names: list[str], source: str) -> list[str]:
        """Sort tests: those of the file, of the room, others; the quickest first.

        What tests of one function with other parameters took before is added.
        """
        room, file = Path(source).parts[0], Path(source).stem
        seconds: defaultdict[str, float] = defaultdict(float)
        places = []
        for name in sorted(names, key=lambda one: self.record[one]["seconds"]):
            function = name.partition("[")[0]
            tests = function.partition("::")[0]
            far = 0 if file.strip("_") in Path(tests).stem else 1
            if far and Path(room).stem.strip("_") not in tests:
                far = 2
            seconds[function] += self.record[name]["seconds"]
            places.append(((far, seconds[function]), name))
        return [name for _, name in sorted(places)]


def is_there(test: str) -> bool:
    """Tell whether a test that was recorded once is still in its file."""
    file, _, function = test.partition("[")[0].partition("::")
    return f"def {function.rpartition('::')[2]}(" in text_of(HERE.parent / file)


@cache
def text_of(path: Path) -> str:
    return path.read_text() if path.exists() else ""


def record(tests: list[str]) -> None:
    """Run tests, all or some, and note their lines in ``.touched.json``."""
    ignored = ["--ignore=tests/browser", "--ignore=tests/ecosystem"]
    command = [sys.executable, "-m", "pytest", *PYTEST[1:], "-p", "mutation.touched"]
    path = f"{SOURCE.parent}{os.pathsep}{HERE.parent}"
    environment = os.environ | {"QUORATE_TOUCHED": str(TOUCHED), "PYTHONPATH": path}
    subprocess.run([*command, *(tests or ignored)], cwd=HERE.parent, env=environment)


# One mutant -------------------------------------------------------------------------


class Attempt:
    """A mutant in a copy of the source, and a process that runs tests on it."""

    def __init__(self, mutant: Mutant, plan: list[list[str]], limit: int) -> None:
        self.mutant, self.plan, self.limit = mutant, plan, limit
        self.noticed_by = ""
        self.folder = Path(tempfile.mkdtemp(prefix="quorate-mutant-"))
        shutil.copytree(SOURCE, self.folder / "quorate")  # with compiled files
        target = self.folder / "quorate" / mutant.file
        Path(cache_from_source(str(target))).unlink(missing_ok=True)
        target.write_bytes(mutant.apply())
        if target.suffix == ".c":
            command = [sys.executable, str(target.with_name("_compile.py"))]
            subprocess.run(command, check=True, capture_output=True)
        # The tests have to import the copy.
        assert "quorate" not in sys.modules
        self._start()

    def _start(self) -> None:
        """Run the next portion of tests."""
        self.end = time.monotonic() + LIMIT
        self.tests = self.plan.pop(0) if self.plan else ["--version"]  # none runs it
        self.process = os.fork()
        if self.process == 0:
            code = 100
            try:
                code = run_here(self.tests, self.folder, self.limit)
            finally:
                os._exit(code)

    def is_over(self) -> bool:
        """Tell whether the verdict is there; go on with the next tests if not."""
        ended, status = os.waitpid(self.process, os.WNOHANG)
        too_long = time.monotonic() > self.end
        if not ended and not too_long:
            return False
        with suppress(ProcessLookupError):  # it, and what it has started
            os.killpg(self.process, signal.SIGKILL)
        if not ended:
            os.waitpid(self.process, 0)
            self.noticed_by = "time is up"
        elif status:
            code = os.waitstatus_to_exitcode(status)
            said = self.folder / SAID
            unknown = code == pytest.ExitCode.USAGE_ERROR and not said.exists()
            if unknown and "[" in "".join(self.tests):
                # Parameters that depend on the source: with whatever there is now.
                functions = dict.fromkeys(test.partition("[")[0] for test in self.tests)
                self.plan.insert(0, list(functions))
                self._start()
                return False
            if unknown:
                log = (self.folder / "log.txt").read_text()
                sys.exit(f"tests have gone or got other names; --record them:\n{log}")
            name = f"pytest ends with {code}"
            if said.exists():
                name = said.read_text().splitlines()[0]
            if code == -signal.SIGKILL:
                name = "hangs"
            self.noticed_by = name
        if self.plan and not self.noticed_by:
            self._start()
            return False
        shutil.rmtree(self.folder, ignore_errors=True)
        return True


def run_here(
    tests: list[str], source: Path, limit: int, options: list[str] = PYTEST
) -> int:
    """Run tests on a copy of the source, in a process that ends with them."""
    os.setsid()
    resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))
    log = os.open(source / "log.txt", os.O_CREAT | os.O_WRONLY | os.O_TRUNC)
    os.dup2(log, 1)
    os.dup2(log, 2)
    sys.dont_write_bytecode = True
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
    os.environ["HYPOTHESIS_STORAGE_DIRECTORY"] = str(source / "hypothesis")
    os.environ["PYTHONPATH"] = str(source)
    sys.path.insert(0, str(source))
    os.chdir(HERE.parent)

    class Says:
        def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
            if report.failed:
                with (source / SAID).open("a") as file:
                    file.write(f"{report.nodeid}\n")

        def pytest_collectreport(self, report: pytest.CollectReport) -> None:
            if report.failed:
                (source / SAID).write_text(f"importing {report.nodeid}")

    return int(pytest.main([*options, *tests], plugins=[Says()]))


# The table --------------------------------------------------------------------------


def row_of(mutant: Mutant) -> Row:
    before, after = mutant.lines()
    values = [mutant.room, mutant.file, mutant.function, mutant.kind, before, after]
    return dict(zip(COLUMNS, [*values, "", "", ""], strict=True))


def key(row: Row) -> Key:
    return tuple(row[name] for name in ("function", "kind", "before", "after"))


def read_table() -> list[Row]:
    if not TABLE.exists():
        return []
    with TABLE.open(newline="") as file:
        return list(csv.DictReader(file))


def write_table(rows: Iterable[Row]) -> None:
    part = TABLE.with_suffix(".part")
    with part.open("w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(row for row in rows if row["verdict"])
    part.replace(TABLE)


def stale_rows(rows: list[Row]) -> list[Row]:
    """Return the rows whose line no function of that name has any more.

    In whichever file: code that moves takes its verdicts along.
    """
    texts: defaultdict[str, str] = defaultdict(str)
    for path in sorted(SOURCE.rglob("*.py")):
        for name, text in functions_of(path.read_bytes()).items():
            texts[name] += f"{text}\n"
    for path in SOURCE.rglob("*.c"):
        texts[path.name] = " ".join(path.read_text().split())
    return [
        row
        for row in rows
        if row["before"] not in texts[row["function"]]
        and row["before"] not in texts[Path(row["file"]).name]
    ]


def summary(rows: list[Row]) -> int:
    """Print the score by room, and those that lived; return the exit code."""
    tried = [row for row in rows if row["verdict"]]
    if not tried:
        return 0
    lived = [row for row in tried if row["verdict"] == "lived"]
    for row in lived:
        print(f"\n{row['file']}: {row['function']} ({row['kind']})")
        print(f"  - {row['before']}\n  + {row['after']}\n  {row['reason'] or 'why?'}")
    print()
    for room in dict.fromkeys(row["room"] for row in tried):
        here = [row for row in tried if row["room"] == room]
        noticed = sum(row["verdict"] == "killed" for row in here)
        print(f"{room:13} {noticed:4} of {len(here):4}")
    noticed = len(tried) - len(lived)
    print(f"{'together':13} {noticed:4} of {len(tried):4}: {noticed / len(tried):.1%}")
    print(f"of those that change something: {share_noticed(tried):.1%}")
    return int(share_noticed(tried) < WANTED or any(not row["reason"] for row in lived))


def share_noticed(rows: list[Row]) -> float:
    """Return the share noticed of the mutants that change something.

    The reason of the others begins with "equivalent".
    """
    real = [row for row in rows if not row["reason"].startswith("equivalent")]
    return sum(row["verdict"] == "killed" for row in real) / len(real)


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


if __name__ == "__main__":
    sys.exit(main())
