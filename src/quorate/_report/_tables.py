"""Tables as the template wants them: text to show, and values to sort by."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Column:
    """One column: where its values are, what it is called, how they are written."""

    key: str
    label: str
    write: Callable[[Any], str] | None = None
    """Turns a number into text; None where the values are text."""
    hint: str = ""
    """What the column holds, in a sentence."""
    end: bool = False
    """Whether its text is set as numbers are, to the right."""
    prose: bool = False
    """Whether it holds sentences, which need room."""
    told: bool = False
    """Whether the script tells it below the table when a row is chosen, in place of a
    column."""

    @property
    def style(self) -> str:
        """How its cells are set: as numbers, as text to the right, as sentences."""
        if self.write:
            return "n"
        if self.told:
            return "prose told"
        return "end" if self.end else "prose" if self.prose else ""


@dataclass(frozen=True, slots=True)
class Cell:
    """What a cell shows."""

    text: str
    value: float | None
    """What it is sorted by; None for text and for what is missing."""
    style: str
    strong: bool = False
    """Whether it stands out, as the best of its row."""


@dataclass(frozen=True, slots=True)
class Table:
    """A table on the page."""

    id: str
    caption: str
    columns: tuple[Column, ...]
    rows: Sequence[dict[str, Any]]
    filterable: bool = False
    sortable: bool = True
    stacked: bool = False
    """Whether its rows become lists on a narrow screen, so that nothing is cut off."""
    footer: Sequence[Sequence[str]] = field(default=())
    """Rows of text that stay below, whatever the order of the others."""

    def cells(self, row: dict[str, Any]) -> list[Cell]:
        """Return a row as text and values."""
        return [_cell(column, row.get(column.key)) for column in self.columns]


def make_table(
    name: str,
    caption: str,
    columns: Sequence[Column],
    rows: Sequence[dict[str, Any]],
    **options: Any,
) -> Table:
    """Return a table without the columns that no row has a value for."""
    there = tuple(
        column
        for column in columns
        if any(row.get(column.key) is not None for row in rows)
    )
    return Table(name, caption, there, rows, **options)


def _cell(column: Column, value: Any) -> Cell:
    if isinstance(value, Cell):
        return value
    if column.write is None:
        return Cell("" if value is None else str(value), None, column.style)
    sort_by = None if value is None else float(value)
    return Cell(column.write(value), sort_by, column.style)
