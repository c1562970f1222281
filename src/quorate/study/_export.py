"""Rows as CSV, Parquet or a data frame; a file is the old one or the whole new one."""

import csv
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from quorate._atomic import atomic_write

_FORMULAS = ("=", "+", "-", "@")
Rows = Sequence[dict[str, Any]]


def csv_text(rows: Rows) -> str:
    """Return rows as CSV; a row without a column leaves it empty.

    Spreadsheets compute what begins with ``=``, ``+``, ``-`` or ``@``. Text that does
    gets an apostrophe before it; numbers are as they are.

    Examples
    --------
    >>> from quorate.study import csv_text
    >>> print(csv_text([{"method": "epbd", "kept": 10}, {"method": "best"}]), end="")
    method,kept
    epbd,10
    best,
    """
    file = io.StringIO()
    columns = _columns(rows)
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(map(_inert, columns))
    writer.writerows([_inert(row.get(name)) for name in columns] for row in rows)
    return file.getvalue()


def write_csv(rows: Rows, path: str | Path) -> None:
    """Write rows as CSV."""
    with atomic_write(path) as file:
        file.write(csv_text(rows).encode())


def to_frame(rows: Rows) -> Any:
    """Return rows as a pandas frame."""
    import pandas as pd

    return pd.DataFrame(list(rows), columns=_columns(rows))


def write_parquet(rows: Rows, path: str | Path) -> None:
    """Write rows as Parquet, with the engine pandas finds."""
    frame = to_frame(rows)
    with atomic_write(path) as file:
        try:
            frame.to_parquet(file, index=False)
        except ImportError as error:
            raise ImportError(
                f"{path}: Parquet needs pyarrow; pip install pyarrow"
            ) from error


def _inert(value: Any) -> Any:
    """Return a value that a spreadsheet does not compute."""
    if not isinstance(value, str) or not value.lstrip().startswith(_FORMULAS):
        return value
    try:
        float(value)  # what is but a number
    except ValueError:
        return f"'{value}"
    return value


def _columns(rows: Rows) -> list[str]:
    return list(dict.fromkeys(name for row in rows for name in row))
