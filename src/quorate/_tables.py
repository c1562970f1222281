"""Tables from files, and samples with labels for models that want to be asked."""

import csv
import gzip
import io
import re
import zlib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from quorate._suggest import unknown_name
from quorate.exceptions import FileFormatError

TABLES = (".csv", ".csv.gz", ".parquet", ".pq", ".arff", ".arff.gz")
_ARFF_NAME = re.compile(r"@attribute\s+(?:'([^']+)'|([^\s'\"]+))\s", re.IGNORECASE)
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


def read_samples_for(model: Any, path: Path, target: str | None) -> tuple[Any, Any]:
    """Return samples in the form the model was trained on, and their labels."""
    X, y = read_samples(path, target)
    if y is not None:
        y = as_labels_of(model, y)
    return (X if _knows_names(model) else X.to_numpy()), y


def _knows_names(model: Any) -> bool:
    """Tell whether a model, or a member of a list or dict, was trained on a frame."""
    members = model.values() if isinstance(model, dict) else model
    if isinstance(model, (list, tuple, dict)):
        return any(map(_knows_names, members))
    return hasattr(model, "feature_names_in_")


def as_labels_of(model: Any, y: Any) -> Any:
    """Return labels from a file as the model knows them: its 5 may be written "5".

    Labels that the model does not know, or knows as they are, stay as they are.
    """
    classes = getattr(model, "classes_", None)
    if classes is None or isinstance(classes, list) or set(y) <= set(classes):
        return y
    known = {_as_text(label): label for label in classes}
    told = [known.get(_as_text(label)) for label in y]
    if len(known) < len(classes) or any(label is None for label in told):
        return y
    return _like(told, classes)


def _as_text(label: Any) -> str:
    """Return a label as people would write it: 5.0 is 5."""
    is_whole = isinstance(label, float) and label.is_integer()
    return str(int(label)) if is_whole else str(label)


def _like(labels: list[Any], classes: Any) -> Any:
    import numpy as np

    return np.asarray(labels, dtype=classes.dtype)


def column_names(path: Path) -> list[str] | None:
    """Return the columns of a table without reading it; None if that cannot be told."""
    name = path.name.lower()
    try:
        if name.endswith((".csv", ".csv.gz")):
            return next(csv_rows(path), [])
        if name.endswith((".parquet", ".pq")):
            from pyarrow.parquet import read_schema

            return list(read_schema(path).names)
        if name.endswith((".arff", ".arff.gz")):
            return _arff_names(path)
    except (FileFormatError, ImportError, *_DAMAGE):
        return None  # whoever reads it will say what is wrong
    return None


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


def read_samples(path: Path, target: str | None) -> tuple[Any, Any]:
    """Return the frame without the target column, and that column; None without one."""
    import_pandas(str(path))
    if not path.exists():
        raise FileNotFoundError(f"{path}: no such file.")
    if not path.name.lower().endswith(TABLES):
        raise FileFormatError(f"{path}: samples come as {', '.join(TABLES)}.")
    frame = read_table(path, path.read_bytes())
    twice = frame.columns[frame.columns.duplicated()]
    if len(twice):
        raise ValueError(f"{path}: column {twice[0]!r} appears twice.")
    if target is None:
        return frame, None
    if target not in frame.columns:
        raise ValueError(f"{path}: {unknown_name('column', target, frame.columns)}")
    return frame.drop(columns=target), frame[target].to_numpy()


def read_table(path: Path, raw: bytes) -> Any:
    """Return a file as a frame with text as column names."""
    import_pandas(str(path))
    name = path.name.lower()
    try:
        if name.endswith(".gz"):
            raw = gzip.decompress(raw)
        if name.endswith((".parquet", ".pq")):
            frame = read_parquet(path, raw, ["pandas"])
        elif name.endswith((".arff", ".arff.gz")):
            frame = _read_arff(raw.decode("utf-8"))
        else:
            frame = _read_csv(raw.decode("utf-8-sig"))
    except FileFormatError:
        raise
    except _DAMAGE as error:
        raise _damaged(path, error) from error
    frame.columns = [str(column) for column in frame.columns]
    return frame.reset_index(drop=True)


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


def csv_rows(path: Path) -> Iterator[list[str]]:
    """Yield the header and the rows of a CSV file, which may be gzipped.

    Raises
    ------
    FileFormatError
        If it is damaged, or not a table in which each column has a name of its own.
    """
    is_zipped = path.name.lower().endswith(".gz")
    with gzip.open(path, "rb") if is_zipped else open(path, "rb") as file:
        quotes = _Quotes(io.TextIOWrapper(file, encoding="utf-8-sig", newline=""))
        rows = csv.reader(quotes, skipinitialspace=True)
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


def _read_csv(text: str) -> Any:
    """Read CSV, refusing what pandas would mend in silence."""
    import pandas as pd

    rows = csv.reader(io.StringIO(text, newline=""), skipinitialspace=True, strict=True)
    try:
        header = next(rows, [])
        check_header(header)
        for row in rows:
            if row:
                _check_fields(row, len(header), rows.line_num)
    except csv.Error as error:
        raise ValueError(f"line {rows.line_num}: {error}") from error
    # The same numbers everywhere, so the same fingerprint: until 3.1 pandas did not
    # read a number exactly unless told to, since then it always does.
    version = tuple(map(int, pd.__version__.split(".")[:2]))
    precision = {"float_precision": "round_trip"} if version < (3, 1) else {}
    return pd.read_csv(
        io.StringIO(text),
        skipinitialspace=True,
        na_values=["?"],
        low_memory=False,
        **precision,
    )


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
