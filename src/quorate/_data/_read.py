"""Tables from files of any kind that people keep samples in."""

import csv
import gzip
import io
import re
import zlib
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from quorate.exceptions import FileFormatError

TABLES = (".csv", ".csv.gz", ".parquet", ".pq", ".arff", ".arff.gz")
_ARFF_NAME = re.compile(r"@attribute\s+(?:'([^']+)'|([^\s'\"]+))\s", re.IGNORECASE)
# Other marks between columns than the comma, and what to call them.
_OTHER_MARKS = {";": "';'", "\t": "tabs"}
# What damaged files make their readers raise.
_DAMAGE = (
    ValueError,
    OSError,
    EOFError,
    zlib.error,
    NotImplementedError,
    StopIteration,
    IndexError,
)


def import_pandas(owner: str) -> Any:
    """Return pandas, or raise ``ImportError`` naming what to install."""
    try:
        import pandas as pd
    except ImportError as error:
        raise ImportError(f"{owner}: needs pandas; pip install pandas") from error
    return pd


def column_names(path: Path) -> list[str] | None:
    """Return the columns of a table without reading it; None if that cannot be told."""
    name = path.name.lower()
    try:
        if name.endswith((".csv", ".csv.gz")):
            return next(csv_rows(path), None)
        if name.endswith((".parquet", ".pq")):
            from pyarrow.parquet import read_schema

            names = read_schema(path).names
            # An index that pandas wrote along is none of the columns.
            return [name for name in names if not name.startswith("__index_level_")]
        if name.endswith((".arff", ".arff.gz")):
            return _arff_names(path)
    except (FileFormatError, ImportError, *_DAMAGE):
        return None  # whoever reads it will say what is wrong
    return None


def check_start(path: Path) -> None:
    """Refuse a CSV file that its first lines show to be none, without pandas."""
    if not _is_csv(path):
        return
    first = list(islice(csv_rows(path), 2))
    if not first:
        raise FileFormatError(f"{path}: empty file.")
    if len(first) == 1:
        raise FileFormatError(f"{path}: no rows.")


def _is_csv(path: Path) -> bool:
    return path.name.lower().endswith((".csv", ".csv.gz"))


def _arff_names(path: Path) -> list[str] | None:
    is_zipped = path.name.lower().endswith(".gz")
    names: list[str] = []
    with gzip.open(path, "rt") if is_zipped else open(path) as lines:
        for line in map(str.strip, lines):
            if line.lower().startswith("@data"):
                return names
            if line.lower().startswith("@attribute"):
                name = _ARFF_NAME.match(line)
                if name is None:
                    return None
                names.append(name[1] or name[2])
    return None


def read_table(path: Path, raw: bytes) -> Any:
    """Return a file as a frame with text as column names."""
    return read_with_texts(path, raw, None)[0]


def read_with_texts(
    path: Path,
    raw: bytes,
    column: str | None,
    keep_spaces: bool = False,
    wanted: Collection[str] = (),
) -> tuple[Any, list[str] | None]:
    """Return a file as a frame, and a column of it as it is written.

    The second is None where a file has types of its own, or no such column.
    ``keep_spaces`` leaves those before a text, too. Columns that are ``wanted`` are
    taken from the index if they were made one.
    """
    import_pandas(str(path))
    name = path.name.lower()
    texts = None
    try:
        if name.endswith(".gz"):
            raw = gzip.decompress(raw)
        if not raw.strip():
            raise FileFormatError(f"{path}: empty file.")
        if name.endswith((".parquet", ".pq")):
            frame = read_parquet(path, raw, ["pandas"])
        elif name.endswith((".arff", ".arff.gz")):
            frame = _read_arff(raw.decode("utf-8"))
        else:
            frame, texts = _read_csv(raw.decode("utf-8-sig"), column, keep_spaces)
    except FileFormatError:
        raise
    except _DAMAGE as error:
        raise _damaged(path, error) from error
    if not len(frame):
        raise FileFormatError(f"{path}: no rows.")
    frame.columns = [str(column) for column in frame.columns]
    return with_index(frame, wanted).reset_index(drop=True), texts


def with_index(frame: Any, wanted: Collection[str]) -> Any:
    """Return a frame in which those columns stand that were made its index.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"age": [3, 4], "kind": [0, 1]}).set_index("age")
    >>> list(with_index(frame, ["age", "kind"]).columns)
    ['age', 'kind']
    >>> list(with_index(frame, ["kind"]).columns)
    ['kind']
    """
    names = [name for name in frame.index.names if name is not None]
    levels = [
        name for name in names if str(name) in wanted and name not in frame.columns
    ]
    return frame.reset_index(levels) if levels else frame


def read_parquet(
    path: Path, raw: bytes, packages: Sequence[str] = ("pandas", "polars")
) -> Any:
    """Return a Parquet file as a frame of the first package that can read it."""
    for package in packages:
        try:
            return __import__(package).read_parquet(io.BytesIO(raw))
        except ImportError:  # the package, or its Parquet engine, is not installed
            continue
        # Damage makes Arrow raise errors of its own, of memory, of keys and types.
        except Exception as error:
            raise _damaged(path, error) from error
    raise ImportError(f"{path}: needs pyarrow; pip install pyarrow")


def csv_rows(path: Path, keep_spaces: bool = False) -> Iterator[list[str]]:
    """Yield the header and the rows of a CSV file, which may be gzipped.

    Spaces before a text are taken away, unless ``keep_spaces`` says otherwise.

    Raises
    ------
    FileFormatError
        If it is damaged, or not a table in which each column has a name of its own.
    """
    is_zipped = path.name.lower().endswith(".gz")
    with gzip.open(path, "rb") if is_zipped else open(path, "rb") as file:
        quotes = _Quotes(io.TextIOWrapper(file, encoding="utf-8-sig", newline=""))
        rows = csv.reader(quotes, skipinitialspace=not keep_spaces)
        n_fields = None
        try:
            for row in rows:
                if not row:
                    continue
                if n_fields is None:
                    check_header(row)
                    n_fields = len(row)
                _check_fields(row, n_fields, rows.line_num)
                yield row
            if quotes.count % 2:
                raise ValueError("a quote is never closed")
        except (*_DAMAGE, csv.Error) as error:
            raise _damaged(path, error) from error


class _Quotes:
    """Lines of text, with a count of the quotes in them."""

    def __init__(self, lines: Iterable[str]) -> None:
        self._lines = iter(lines)
        self.count = 0

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        line = next(self._lines)
        self.count += line.count('"')
        return line


def check_header(header: Sequence[str]) -> None:
    """Raise ``ValueError`` unless each column has a name of its own."""
    for mark, name in _OTHER_MARKS.items():
        if len(header) == 1 and mark in header[0]:
            raise ValueError(f"columns are separated by {name}, not by ','")
    seen: set[str] = set()
    for place, name in enumerate(header, start=1):
        if not name.strip():
            index = ", as an index that was written along" if place == 1 else ""
            raise ValueError(f"column {place} has no name{index}")
        if name in seen:
            raise ValueError(f"column {name!r} appears twice")
        seen.add(name)


def _check_fields(row: list[str], n_fields: int, line: int) -> None:
    if len(row) != n_fields:
        raise ValueError(
            f"line {line} has {len(row)} fields, the header has {n_fields}"
        )


def _damaged(path: Path, error: BaseException) -> FileFormatError:
    why = str(error).strip().split("\n")[0].rstrip(". ") or "it ends too early"
    return FileFormatError(f"{path}: not a readable table ({why[:300]}).")


def _read_csv(
    text: str, column: str | None, keep_spaces: bool
) -> tuple[Any, list[str] | None]:
    """Read CSV, refusing what pandas would mend in silence."""
    import pandas as pd

    rows = csv.reader(
        io.StringIO(text, newline=""), skipinitialspace=not keep_spaces, strict=True
    )
    texts: list[str] = []
    try:
        header = [name.lstrip() for name in next(rows, [])]
        check_header(header)
        place = header.index(column) if column in header else None
        for row in rows:
            if row:
                _check_fields(row, len(header), rows.line_num)
                if place is not None:
                    texts.append(row[place])
    except csv.Error as error:
        raise ValueError(f"line {rows.line_num}: {error}") from error
    # The same numbers everywhere, so the same fingerprint: until 3.1 pandas did not
    # read a number exactly unless told to, since then it always does.
    version = tuple(map(int, pd.__version__.split(".")[:2]))
    precision = {"float_precision": "round_trip"} if version < (3, 1) else {}
    frame = pd.read_csv(
        io.StringIO(text),
        skipinitialspace=True,
        na_values=["?"],
        low_memory=False,
        **precision,
    )
    return frame, texts if place is not None and len(texts) == len(frame) else None


def _read_arff(text: str) -> Any:
    import pandas as pd
    from scipy.io import arff

    rows, _ = arff.loadarff(io.StringIO(text))
    frame = pd.DataFrame(rows)
    for name in frame.select_dtypes(include=object):
        # nominal values come as bytes, and a missing one as a question mark
        texts = frame[name].str.decode("utf-8")
        frame[name] = texts.where(texts != "?", None)
    return frame
