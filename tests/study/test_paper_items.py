"""The list of the paper's items: nothing is left out, and every call exists."""

import csv
import importlib
import pkgutil
import re
from pathlib import Path

import pytest

import quorate
from quorate.study import PRESETS
from quorate.study._learners import ENSEMBLES, LEARNERS
from quorate.study._paper import NUMERALS, paper_rows

DOCS = Path(__file__).parents[2] / "docs"
pytestmark = pytest.mark.skipif(not DOCS.exists(), reason="no documentation here")
FIGURES = [str(number) for number in range(2, 14)]


@pytest.fixture(scope="module")
def items():
    with (DOCS / "results/paper/items.csv").open() as file:
        return list(csv.DictReader(file))


def calls(items):
    return [row["call"].strip("`") for row in items if row["call"]]


def test_every_call_exists(items):
    for call in calls(items):
        if call.startswith("quorate study"):
            _, _, command, preset = call.split()
            assert command in ("run", "check")
            assert preset in PRESETS
        elif call.startswith("python -m"):
            _, _, package, name, *rest = call.split()
            assert importlib.util.find_spec(f"{package}.{name}")
            assert name != "paper_figures" or rest[-1] in FIGURES
        else:
            path, _, arguments = call.partition("(")
            found = pkgutil.resolve_name(path.replace("quorate.", "quorate:", 1))
            given = dict(re.findall(r'(\w+)="(\w+)"', arguments))
            assert given.get("learner", "svm") in LEARNERS
            assert given.get("kind", "bagging") in ENSEMBLES
            assert given.get("method", "es") in quorate.methods()
            assert given.get("measure", "kappa") in quorate.measures()
            if ".pruning." in path and arguments:
                assert isinstance(eval(call), found)  # an own file, not input


def test_nothing_is_left_out(items):
    names = [row["item"] for row in items]
    assert len(names) == len(set(names)) == 139
    assert [row["number"] for row in items] == [str(n + 1) for n in range(139)]
    for kind, numbers in (
        ("Eq.", range(1, 35)),
        ("Appendix, eq.", range(1, 12)),
        ("Figure", range(1, 14)),
        ("Algorithm", (1, 2)),
        ("Theorem", (1, 2)),
        ("Table", ("I", *NUMERALS)),
    ):
        found = [name for name in names if name.startswith(f"{kind} ")]
        assert [name.split(":")[0] for name in found] == [
            f"{kind} {n}" for n in numbers
        ]
    listed = " ".join(calls(items))
    for name in quorate.measures():
        assert f'diversity(votes, "{name}")' in listed
    columns = paper_rows("II")[0].printed
    for method in set(columns) - {"Ensem", "EPBD"}:
        assert f"Method {method}" in names
    assert all(row["state"] for row in items)


def test_states_are_those_of_the_rows_and_errata(items):
    errata = (DOCS / "errata.rst").read_text()
    for row in items:
        for number in re.findall(r"erratum (\d+)", row["state"]):
            assert re.search(rf"^{number}\. \*\*", errata, re.M), row
        table = re.match(r"Table (\w+):", row["item"])
        if table and table[1] in NUMERALS:
            rows = paper_rows(table[1])
            n_run = sum(bool(row.files) for row in rows)
            assert f"run: {n_run} of {len(rows)} rows" in row["state"]


def test_every_figure_has_its_command_and_axes():
    page = (DOCS / "paper_figures.rst").read_text()
    experiments = importlib.import_module("experiments.paper_figures")
    assert sorted(experiments.FIGURES) == sorted(FIGURES)
    for number in FIGURES:
        (block,) = re.findall(rf"^Figure {number}\n-+\n(.*?)(?=^Figure |\Z)", page,
                              re.M | re.S)  # fmt: skip
        assert f"python -m experiments paper_figures STORES {number}\n" in block
        assert "On the axes:" in block
        assert (DOCS / f"results/paper/figure-{number}.png").exists()
        preset = re.search(r"quorate study run ([a-z0-9-]+)", block)
        assert number == "2" or preset[1] in PRESETS
