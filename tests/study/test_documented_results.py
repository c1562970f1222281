"""What the tables of the documentation must say, whatever was measured."""

import csv
from itertools import pairwise
from pathlib import Path

import pytest

from quorate.study import PRESETS

RESULTS = Path(__file__).parents[2] / "docs" / "results"
FTAD = ("ftad-bagging-nb", "ftad-bagging-knn", "ftad-adaboost-svm")
# It has a page and tables of its own.
PAPERS = [name for name in PRESETS if name != "selectors"]
CONSTANT = ("QStat", "Corre", "KStat", "Diffi")

pytestmark = pytest.mark.skipif(not RESULTS.exists(), reason="no documentation here")


def rows_of(name):
    with (RESULTS / name).open() as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("name", FTAD)
def test_four_measures_choose_the_same_members(name):
    """On one sample they are constants, so FTAD cannot tell them apart."""
    rows = rows_of(f"{name}-data.csv")
    assert len(rows) == 21 + 2
    for row in rows:
        assert len({row[measure] for measure in CONSTANT}) == 1, row["data set"]
    others = set(rows[0]) - {"data set", *CONSTANT}
    assert all(any(row[o] != row["QStat"] for row in rows) for o in others)


@pytest.mark.parametrize("name", FTAD[:2])
def test_so_do_two_more_on_bagged_members(name):
    assert all(row["KWVar"] == row["Inter"] for row in rows_of(f"{name}-data.csv"))


@pytest.mark.parametrize("name", PAPERS)
def test_every_preset_is_there_with_every_method(name):
    plan = PRESETS[name][1](("iris",))
    methods = {method.name for method in plan.methods}
    assert {row["method"] for row in rows_of(f"{name}-methods.csv")} == methods
    table = rows_of(f"{name}-data.csv")
    assert len(table) == 21 * len(plan.ensembles) + 2
    assert set(table[0]) == {"data set", *methods}


def test_error_is_members_error_less_diversity():
    for row in rows_of("decomposition-parts.csv"):
        for kind, cell in row.items():
            if kind == "data set":
                continue
            error, right = cell.split(" = ")
            members, diversity = right.split(" - ")
            gap = float(members) - float(diversity.strip("()"))
            assert float(error) == pytest.approx(gap, abs=0.011)


def test_better_ranks_come_first():
    for name in PAPERS:
        ranks = [float(row["rank"]) for row in rows_of(f"{name}-methods.csv")]
        assert all(a <= b for a, b in pairwise(ranks))
