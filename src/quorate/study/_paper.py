"""The paper's Tables II to VI: their rows, what is printed, and what was measured."""

import csv
import io
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from importlib.resources import files
from typing import TypeAlias

from quorate._messages import unknown_name
from quorate._output import Result
from quorate._typing import FloatArray

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
        stems = {name.split(".")[0]: name for name in names}
        return next((stems[file] for file in self.files if file in stems), None)


def paper_rows(table: str) -> list[PaperRow]:
    """Return the rows of a table, in the order of the paper."""
    data = {row["row"]: row for row in _read("data.csv")}
    rows = []
    for row in _read("rows.csv"):
        numeral, name, learners = (row.pop(key) for key in ("table", "row", "learners"))
        if numeral == table:
            names, source = data[name]["files"].split(), data[name]["source"]
            printed = {method: _parse(cell) for method, cell in row.items() if cell}
            made = (tuple(learners.split()), tuple(names), source, printed)
            rows.append(PaperRow(table, name, *made))
    return rows


def missing_rows(table: str, data: Collection[str]) -> list[str]:
    """Say which rows of a table have no data here, and where it can be had."""
    return [
        f"missing: {row.name}: "
        + (f"{row.files[0]}.csv.gz, from {row.source}" if row.files else _UNKNOWN)
        for row in paper_rows(table)
        if row.find(data) is None
    ]


_UNKNOWN = "the paper does not describe this data set"


def printed_cells(table: str, data: str, learner: str) -> dict[str, Cell]:
    """Return what the paper prints for a data set and a learner, by method."""
    for row in paper_rows(table):
        if row.find([data]) and learner in row.learners:
            return row.printed
    return {}


def cell_text(mean: float, deviation: float) -> str:
    """Format an accuracy and its deviation, given in percent."""
    return f"{mean:.2f}±{deviation:.2f}"


@dataclass(frozen=True, eq=False, repr=False)
class TableCheck(Result):
    """How the cells of a study compare with those that come with the package.

    A cell is the same if mean and deviation are equal as printed; it is within
    tolerance if the means differ by no more than one standard error of the mean over
    the folds, or 0.05 percentage points.

    Parameters
    ----------
    name : str
        Name of the preset.
    cells : dict
        Text of each cell that was compared and its verdict, by data set and method:
        "same", "within tolerance" or "differs".
    n_missing : int
        Cells of the committed table that were not computed.

    Examples
    --------
    >>> from quorate.study import TableCheck
    >>> TableCheck("x", {("iris", "epbd"): ("95.00±1.00", "94.00±1.00", "differs")}, 2)
    x: 0 same, 0 within tolerance, 1 differs, 2 not computed
    data set  method   committed         now  verdict
    iris        epbd  95.00±1.00  94.00±1.00  differs
    """

    name: str
    cells: dict[tuple[str, str], tuple[str, str, str]]
    n_missing: int = 0
    _header = ("data set", "method", "committed", "now", "verdict")

    @property
    def _title(self) -> str:  # type: ignore[override]
        verdicts = [verdict for *_, verdict in self.cells.values()]
        counts = [f"{verdicts.count(word)} {word}" for word in _VERDICTS]
        return f"{self.name}: {', '.join(counts)}, {self.n_missing} not computed"

    @property
    def passes(self) -> bool:
        """Whether cells were compared and none differs."""
        verdicts = {verdict for *_, verdict in self.cells.values()}
        return bool(verdicts) and "differs" not in verdicts

    def rows(self) -> list[tuple[str, ...]]:
        """Return the cells that are not the same."""
        return [(*at, *cell) for at, cell in self.cells.items() if cell[-1] != "same"]


_VERDICTS = ("same", "within tolerance", "differs")


def compare_cells(
    name: str, means: FloatArray, spread: FloatArray, places: Iterator[tuple[str, str]],
    folds: int,
) -> TableCheck:  # fmt: skip
    """Compare computed cells with the committed table of a preset."""
    file = f"{name}.csv"
    if not (_FOLDER / file).is_file():
        made = [p.name[:-4] for p in _FOLDER.iterdir() if p.name not in _INPUTS]
        raise ValueError(unknown_name("committed table", name, sorted(made)))
    committed = {
        (row["data set"], method): cell
        for row in _read(file)
        for method, cell in row.items()
        if method != "data set" and cell
    }
    cells = {}
    for at, mean, deviation in zip(places, means.flat, spread.flat, strict=True):
        if at in committed:
            before, now = committed[at], cell_text(mean, deviation)
            old_mean, old_deviation = _parse(before)
            tolerance = max(old_deviation / folds**0.5, _LEAST_TOLERANCE) + 1e-9
            near = abs(mean - old_mean) <= tolerance
            verdict = _VERDICTS[0 if before == now else 1 if near else 2]
            cells[at] = (before, now, verdict)
    return TableCheck(name, cells, len(committed) - len(cells))


_INPUTS = ("rows.csv", "data.csv")


def _parse(cell: str) -> Cell:
    mean, deviation = cell.split("±")
    return float(mean), float(deviation)


def _read(name: str) -> list[dict[str, str]]:
    text = (_FOLDER / name).read_text(encoding="utf-8")
    return list(csv.DictReader(io.StringIO(text)))
