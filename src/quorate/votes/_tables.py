"""Samples and labels from a table file, for models that want to be asked."""

import gzip
from pathlib import Path
from typing import Any

from quorate._suggest import unknown_name
from quorate.exceptions import FileFormatError


def read_samples_for(model: Any, path: Path, target: str) -> tuple[Any, Any]:
    """Return samples in the form the model was trained on, and their labels."""
    X, y = read_samples(path, target)
    return (X if hasattr(model, "feature_names_in_") else X.to_numpy()), y


def read_samples(path: Path, target: str) -> tuple[Any, Any]:
    """Return the frame without the target column, and that column.

    Reads CSV, Parquet and ARFF; CSV and ARFF may be gzipped.
    """
    try:
        import pandas as pd
    except ImportError as error:
        raise ImportError(
            f"{path}: reading samples needs pandas; install quorate[data]."
        ) from error
    if not path.exists():
        raise FileNotFoundError(f"{path}: no such file.")
    suffixes = [suffix.lower() for suffix in path.suffixes if suffix.lower() != ".gz"]
    kind = suffixes[-1] if suffixes else ""
    readers = {
        ".csv": pd.read_csv,
        ".parquet": pd.read_parquet,
        ".pq": pd.read_parquet,
        ".arff": _read_arff,
    }
    if kind not in readers:
        raise FileFormatError(
            f"{path}: samples come as .csv, .parquet or .arff; the first and the last "
            "may be gzipped."
        )
    try:
        frame = readers[kind](path)
    except (ValueError, OSError, NotImplementedError, StopIteration) as error:
        why = str(error) or "it ends too early"
        raise FileFormatError(f"{path}: not a readable table ({why}).") from error
    twice = frame.columns[frame.columns.duplicated()]
    if len(twice):
        raise ValueError(f"{path}: column {twice[0]!r} appears twice.")
    if target not in frame.columns:
        raise ValueError(
            f"{path}: {unknown_name('column', target, map(str, frame.columns))}"
        )
    return frame.drop(columns=target), frame[target].to_numpy()


def _read_arff(path: Path) -> Any:
    import pandas as pd
    from scipy.io import arff

    unpack = gzip.open if path.suffix.lower() == ".gz" else open
    with unpack(path, "rt", encoding="utf-8") as file:
        rows, _ = arff.loadarff(file)
    frame = pd.DataFrame(rows)
    for name in frame.select_dtypes(include=object):
        frame[name] = frame[name].str.decode("utf-8")  # nominal values come as bytes
    return frame
