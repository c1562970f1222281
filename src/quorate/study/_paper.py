"""The paper's Tables II to VI: their rows, what is printed, and what was measured."""

import csv
import io
from collections.abc import Collection
from dataclasses import dataclass
from importlib.resources import files
from typing import TypeAlias

from quorate._data import TABLES

Cell: TypeAlias = tuple[float, float]  # mean and deviation in percent
NUMERALS = ("II", "III", "IV", "V", "VI")
_FOLDER = files("quorate.study") / "paper"
# What a mean may differ by on another machine, if folds differ by nothing.
_LEAST_TOLERANCE = 0.05


@dataclass(frozen=True, slots=True)
class PaperRow:
    """A printed row: its data, the learners that fit it best, and its cells."""

    table: str
    name: str
    learners: tuple[str, ...]
    files: tuple[str, ...]
    source: str
    printed: dict[str, Cell]

    def find(self, names: Collection[str]) -> str | None:
        """Return the data set of the row, out of those that there are."""
        accepted = (f"{file}{end}" for file in self.files for end in ("", *TABLES))
        return next((name for name in accepted if name in names), None)


def paper_rows(table: str) -> list[PaperRow]:
    """Return the rows of a table, in the order of the paper; none of no table."""
    if not table:
        return []
    data = {row["row"]: row for row in _read("data.csv")}
    rows = []
    for row in _read("rows.csv"):
        numeral, name, learners = (row.pop(key) for key in ("table", "row", "learners"))
        if numeral == table:
            names, source = data[name]["files"].split(), data[name]["source"]
            printed = {method: parse_cell(cell) for method, cell in row.items() if cell}
            made = (tuple(learners.split()), tuple(names), source, printed)
            rows.append(PaperRow(table, name, *made))
    return rows


def printed_cells(table: str, data: str, learner: str) -> dict[str, Cell]:
    """Return what the paper prints for a data set and a learner, by method."""
    for row in paper_rows(table):
        if row.find([data]) and learner in row.learners:
            return row.printed
    return {}


def cell_text(mean: float, deviation: float) -> str:
    """Format an accuracy and its deviation, given in percent."""
    return f"{mean:.2f}±{deviation:.2f}"


def committed_cells(name: str) -> dict[tuple[str, str], str]:
    """Return the table of a preset that comes with quorate, by data set and method."""
    return {
        (row["data set"], method): cell
        for row in _read(f"{name}.csv")
        for method, cell in row.items()
        if method != "data set" and cell
    }


def verdict(committed: str, now: str, folds: int) -> str:
    """Say how a cell compares with the committed one.

    It is the same if mean and deviation are equal as printed; it is within tolerance
    if the means differ by no more than one standard error of the mean over the folds,
    or 0.05 percentage points.

    Examples
    --------
    >>> [verdict("95.00±1.00", now, 4) for now in ("95.00±1.00", "95.50±2.00", "96±1")]
    ['same', 'within tolerance', 'differs']
    """
    mean, deviation = parse_cell(committed)
    tolerance = max(deviation / folds**0.5, _LEAST_TOLERANCE) + 1e-9
    if committed == now:
        return "same"
    near = abs(parse_cell(now)[0] - mean) <= tolerance
    return "within tolerance" if near else "differs"


def parse_cell(cell: str) -> Cell:
    """Return mean and deviation of a cell, the inverse of :func:`cell_text`."""
    mean, deviation = cell.split("±")
    return float(mean), float(deviation)


def _read(name: str) -> list[dict[str, str]]:
    text = (_FOLDER / name).read_text(encoding="utf-8")
    return list(csv.DictReader(io.StringIO(text)))
