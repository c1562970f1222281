"""Tables from files, and samples with labels for models that want to be asked."""

import csv
import gzip
import io
import zlib
from pathlib import Path
from typing import Any

from quorate._suggest import unknown_name
from quorate.exceptions import FileFormatError

TABLES = (".csv", ".csv.gz", ".parquet", ".pq", ".arff", ".arff.gz")
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
        raise ImportError(f"{owner}: needs pandas; install quorate[data].") from error
    return pd


def read_samples_for(model: Any, path: Path, target: str | None) -> tuple[Any, Any]:
    """Return samples in the form the model was trained on, and their labels."""
    X, y = read_samples(path, target)
    return (X if hasattr(model, "feature_names_in_") else X.to_numpy()), y


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
    pd = import_pandas(str(path))
    name = path.name.lower()
    try:
        if name.endswith(".gz"):
            raw = gzip.decompress(raw)
        if name.endswith((".parquet", ".pq")):
            frame = pd.read_parquet(io.BytesIO(raw))
        elif name.endswith((".arff", ".arff.gz")):
            frame = _read_arff(raw.decode("utf-8"))
        else:
            frame = _read_csv(raw.decode("utf-8-sig"))
    except ImportError as error:
        raise ImportError(f"{path}: needs pyarrow; install quorate[data].") from error
    except _DAMAGE as error:
        why = str(error).rstrip(". \n") or "it ends too early"
        raise FileFormatError(f"{path}: not a readable table ({why}).") from error
    frame.columns = [str(column) for column in frame.columns]
    return frame.reset_index(drop=True)


def _read_csv(text: str) -> Any:
    """Read CSV, refusing what pandas would mend in silence."""
    import pandas as pd

    rows = csv.reader(io.StringIO(text, newline=""), skipinitialspace=True, strict=True)
    try:
        header = next(rows, [])
        for place, name in enumerate(header, start=1):
            if not name.strip():
                raise ValueError(f"column {place} has no name")
            if name in header[: place - 1]:
                raise ValueError(f"column {name!r} appears twice")
        for row in rows:
            if row and len(row) != len(header):
                raise ValueError(
                    f"line {rows.line_num} has {len(row)} fields, the header has "
                    f"{len(header)}"
                )
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
