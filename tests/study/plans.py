"""A small plan, and what is the same whenever and wherever it is run."""

import sqlite3
import subprocess
import sys
from contextlib import closing

from quorate.study import EnsembleSpec, MethodSpec, Plan, Results, Store, run_plan

# Times differ from run to run; everything else must not.
# Pickles are a few bytes longer in a process that has read one of that class before.
TIMED = ("seconds", "fit_seconds", "vote_seconds", "bytes", "full_bytes")

TOML = """
[study]
data = ["wine", "iris"]
folds = {folds}
repeats = {repeats}
rows = 90
[[ensemble]]
kind = "random_forest"
members = {members}
[[method]]
method = "es"
keep = 1.0
label = "Ensem"
[[method]]
method = "random"
keep = 0.5
[[method]]
method = "epbd"
keep = 0.5
"""


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


def results_of(path, n_failed=0, **changes):
    """Run a small plan, and return its results."""
    assert run_plan(small_plan(**changes), path, n_jobs=1).n_failed == n_failed
    return Results.read(path)


def write_toml(path, folds=3, repeats=1, members=8):
    path.write_text(TOML.format(folds=folds, repeats=repeats, members=members))
    return path


def execute(code, *words, **how):
    """Run code in a process of its own."""
    command = [sys.executable, "-c", code, *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, check=False, **how)


def plain(path):
    """Return the rows of a store without times and pickled sizes."""
    with Store(path) as store:
        return [
            {key: value for key, value in row.items() if key not in TIMED}
            for row in store.rows()
        ]


def n_rows(path):
    """Return how many cells a store has, if it is there and not being made."""
    if not path.exists():
        return 0
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as db:
        try:
            return db.execute("select count(*) from cells").fetchone()[0]
        except sqlite3.OperationalError:
            return 0


def is_sound(path):
    """Tell whether SQLite finds a store intact."""
    with closing(sqlite3.connect(path)) as db:
        return db.execute("pragma integrity_check").fetchone() == ("ok",)
