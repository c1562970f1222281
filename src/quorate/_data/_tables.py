"""One reader of tables, whoever asks: samples, labels, votes and probabilities.

Files
    ``.csv``, also gzipped (``.csv.gz``), ``.parquet`` and ``.pq``; the ending decides.
    CSV is in UTF-8 with commas and a header in which each column has a name of its own,
    as many fields in each line as in the header, and spaces after a comma that do not
    count. Otherwise pandas reads it, once, as it always does: lines that are empty or
    have spaces only are skipped.
Missing values
    What pandas takes for missing (an empty field, ``NA``, ``nan``, ``null``, ...), and
    ``?``, as the UCI repository writes it. A label may be called so where a model knows
    it by that name.
Labels
    The texts in the label columns of a CSV file, without spaces around them. They are
    numbers if all of them are; 007, 1_000 and 0x10 are text. Parquet files have types
    of their own. Where a model knows its labels, :class:`SampleForm` finds them by what
    is written.
Index
    A named index of a Parquet file is a column where somebody asks for it by name.
Several files
    A folder stands for all tables in it, at any depth, but for those whose names begin
    with a dot or an underscore; a pattern for the files that fit. They are sorted, and
    each has rows.
Damage
    Whatever a damaged file makes its reader raise becomes one ``FileFormatError``.
"""

import csv
import gzip
import os
import re
import sys
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from decimal import Decimal
from glob import glob, has_magic
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from quorate._messages import unknown_name
from quorate._typing import Array, IntArray
from quorate.exceptions import FileFormatError

TABLES = (".csv", ".csv.gz", ".parquet", ".pq")
MISSING = frozenset(
    ("", "?", "NA", "N/A", "n/a", "<NA>", "#N/A", "#N/A N/A", "#NA", "nan", "NaN",
     "-nan", "-NaN", "NaT", "NULL", "null", "None", "1.#IND", "-1.#IND", "1.#QNAN",
     "-1.#QNAN")
)  # fmt: skip
_WHOLE = re.compile(r"[+-]?(?:0|[1-9][0-9]*)")
_NUMBER = re.compile(
    r"[+-]?(?:(?:0|[1-9][0-9]*)(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
)
# Delimiters other than the comma, with their names.
_OTHER_MARKS = {";": "';'", "\t": "tabs"}


def is_table(path: Path) -> bool:
    """Return whether a file has the suffix of a table."""
    return path.name.lower().endswith(TABLES)


def is_csv(path: Path) -> bool:
    """Return whether a file has the suffix of a CSV file."""
    return path.name.lower().endswith((".csv", ".csv.gz"))


def check_table(path: Path, column: str | None = None) -> None:
    """Raise an error for a file that is not a table or lacks a column."""
    if not path.exists():
        raise FileNotFoundError(f"{path}: no such file.")
    if not is_table(path):
        raise FileFormatError(
            f"{path}: a table must be a file ending in {', '.join(TABLES)}."
        )
    if is_csv(path) and sum(1 for _ in islice(csv_rows(path), 2)) < 2:
        raise FileFormatError(f"{path}: no rows.")
    if column is not None:
        names = column_names(path)
        if column not in names:
            raise ValueError(f"{path}: {unknown_name('column', column, names)}")


def find_files(given: str | os.PathLike[str], owner: str) -> list[Path]:
    """Return the files matched by a path, a folder or a pattern, sorted."""
    text = os.fspath(given)
    path = Path(text)
    if path.is_dir():
        found = [
            file
            for file in sorted(path.rglob("*"))
            if is_table(file) and not file.name.startswith((".", "_"))
        ]
    elif path.exists() or not has_magic(text):
        found = [path]
    else:
        found = [Path(name) for name in sorted(glob(text, recursive=True))]
    for file in found:
        if not file.exists():
            raise FileNotFoundError(f"{owner}: {file}: no such file.")
        if not is_table(file):
            raise ValueError(
                f"{owner}: {file}: a table must be a file ending in "
                f"{', '.join(TABLES)}."
            )
    if not found:
        raise FileNotFoundError(
            f"{owner}: {text}: no files ending in {', '.join(TABLES)} were found."
        )
    return found


def column_names(path: Path) -> list[str]:
    """Return the columns of a table without reading all of it."""
    if is_csv(path):
        return next(csv_rows(path))
    # An unnamed index saved by pandas is not a column.
    names = _open_parquet(path).schema_arrow.names
    return [name for name in names if not name.startswith("__index_level_")]


def read_table(
    path: Path, labels: Collection[str] = (), wanted: Collection[str] = ()
) -> Any:
    """Return a table as a frame with text as names of columns.

    Parameters
    ----------
    path : path
    labels : collection of str
        Columns that stay text where the file is a CSV file.
    wanted : collection of str
        Columns that are taken from the index if they were made one.
    """
    frame = next(read_parts(path, None, labels, wanted), None)
    if frame is None:
        raise FileFormatError(f"{path}: no rows.")
    return frame


def read_parts(
    path: Path,
    rows: int | None,
    labels: Collection[str] = (),
    wanted: Collection[str] = (),
) -> Iterator[Any]:
    """Yield a table in frames of this many rows, or in one; see :func:`read_table`."""
    if is_csv(path):
        frames = _csv_parts(path, rows, labels)
    else:
        frames = _parquet_parts(path, rows)
    for frame in frames:
        frame.columns = [str(column) for column in frame.columns]
        twice = frame.columns[frame.columns.duplicated()]
        if len(twice):
            raise FileFormatError(f"{path}: column {twice[0]!r} appears twice.")
        # Columns stored as the index become columns again.
        hidden = set(wanted).difference(frame.columns)
        levels = [n for n in frame.index.names if n is not None and str(n) in hidden]
        yield frame.reset_index(levels) if levels else frame


def _open_parquet(path: Path) -> Any:
    """Open a Parquet file, reading only its footer."""
    with _reporting_damage(path):
        from pyarrow import parquet

        return parquet.ParquetFile(path)


def _parquet_parts(path: Path, rows: int | None) -> Iterator[Any]:
    file = _open_parquet(path)
    with _reporting_damage(path):
        parts = [file.read()] if rows is None else file.iter_batches(rows)
        for part in parts:
            if part.num_rows:
                yield part.to_pandas()


def _csv_parts(path: Path, rows: int | None, labels: Collection[str]) -> Iterator[Any]:
    """Read a CSV file with pandas, rejecting what it would repair silently.

    pandas fills a line that is too short with missing values, takes what is too much
    in the first line for an index, and skips a line of spaces, which is a missing value
    if there is only one column. The lines are looked at one by one only where that may
    have happened.
    """
    import pandas as pd

    header = next(csv_rows(path))
    texts = set(labels).intersection(header)
    # Exact parsing gives the same fingerprint everywhere; pandas before 3.1 parses
    # numbers exactly only on request.
    version = tuple(map(int, pd.__version__.split(".")[:2]))
    exactly = {"float_precision": "round_trip"} if version < (3, 1) else {}
    are_checked = False
    with (
        _reporting_damage(path),
        pd.read_csv(
            path,
            skipinitialspace=True,
            # Labels stay as they are written.
            dtype=dict.fromkeys(texts, object),
            na_values={name: MISSING for name in header if name not in texts},
            keep_default_na=False,
            low_memory=False,
            chunksize=rows or sys.maxsize,
            **exactly,
        ) as frames,
    ):
        try:
            for frame in frames:
                last = frame.iloc[:, -1]
                is_suspect = (
                    len(header) == 1
                    or not isinstance(frame.index, pd.RangeIndex)
                    or last.isna().any()
                    or (last == "").any()
                )
                if is_suspect and not are_checked:
                    _check_lines(path)
                    are_checked = True
                if len(frame):
                    yield frame
        except pd.errors.ParserError:
            _check_lines(path)  # names the line in words of our own
            raise


def _check_lines(path: Path) -> None:
    for row in csv_rows(path):
        if row == [""]:
            raise ValueError("a line has no value")


@contextmanager
def _reporting_damage(path: Path) -> Iterator[None]:
    try:
        yield
    except (FileFormatError, FileNotFoundError):
        raise
    except ImportError as error:
        raise ImportError(f"{path}: needs pyarrow; pip install pyarrow") from error
    # Damaged files make readers raise many kinds of errors.
    except Exception as error:
        why = str(error).strip().split("\n")[0].rstrip(". ") or "it is truncated"
        raise FileFormatError(f"{path}: not a readable table ({why[:300]}).") from error


def csv_rows(path: Path) -> Iterator[list[str]]:
    """Yield the header and the rows of a CSV file as unparsed text.

    Raises
    ------
    FileFormatError
        If it is empty, damaged, or not a table in which each column has a name of its
        own and each row all columns.
    """
    open_file: Any = gzip.open if path.name.lower().endswith(".gz") else open
    with (
        _reporting_damage(path),
        open_file(path, "rt", encoding="utf-8-sig", newline="") as file,
    ):
        rows = csv.reader(file, skipinitialspace=True, strict=True)
        try:
            header: list[str] = next(filter(None, rows), [])
            if not header:
                raise FileFormatError(f"{path}: empty file.")
            _check_header(header)
            yield header
            for row in rows:
                if not row or (row == [""] and len(header) > 1):
                    continue
                if len(row) != len(header):
                    count = f"{len(row)} field{'s' * (len(row) != 1)}"
                    wanted = f"but the header has {len(header)}"
                    raise ValueError(f"line {rows.line_num} has {count}, {wanted}")
                yield row
        except csv.Error as error:
            raise ValueError(f"line {rows.line_num}: {error}") from error


def _check_header(header: Sequence[str]) -> None:
    for mark, name in _OTHER_MARKS.items():
        if len(header) == 1 and mark in header[0]:
            raise ValueError(f"columns are separated by {name}, not by ','")
    seen: set[str] = set()
    for place, name in enumerate(header, start=1):
        if not name.strip():
            index = ", as an index; write it with index=False" if place == 1 else ""
            raise ValueError(f"column {place} has no name{index}")
        if name in seen:
            raise ValueError(f"column {name!r} appears twice")
        seen.add(name)


def factorize_labels(
    values: Array, column: str, known: Collection[str] = ()
) -> tuple[IntArray, list[Any]]:
    """Return the distinct labels of a column, and the position of each label in them.

    Parameters
    ----------
    values : array
        The column.
    column : str
        Its name, for messages.
    known : collection of str
        Labels that are not missing, whatever they are called.

    Raises
    ------
    ValueError
        If a label is missing.
    """
    import pandas as pd

    codes, each = pd.factorize(values)
    is_missing = codes < 0
    for code, value in enumerate(each):
        text = str(value).strip()
        if text in MISSING and text not in known:
            is_missing |= codes == code
    if is_missing.any():
        row = int(np.argmax(is_missing))
        text = str(values[row]).strip()
        why = f"; {text!r} cannot be a label in a file, pass a data frame instead"
        raise ValueError(
            f"column {column!r}: missing label at row {row}"
            f"{why if text and not known else ''}."
        )
    return codes, each.tolist()


def parse_labels(texts: Sequence[str]) -> Array:
    """Return labels as numbers if all of them are, and no two meet in one.

    Examples
    --------
    >>> parse_labels(["1", "2"]), parse_labels(["01", "2"])
    (array([1, 2]), array(['01', '2'], dtype='<U2'))
    """
    if all(map(_WHOLE.fullmatch, texts)):
        whole = [int(text) for text in texts if len(text) < 20]
        if len(whole) == len(texts) and max(map(abs, whole)) < 2**63:
            return np.array(whole, dtype=np.int64)
    elif all(map(_NUMBER.fullmatch, texts)):
        numbers = np.array([float(text) for text in texts])
        if np.isfinite(numbers).all() and np.unique(numbers).size == len(
            {Decimal(text) for text in texts}
        ):
            return numbers
    return np.array(texts)
