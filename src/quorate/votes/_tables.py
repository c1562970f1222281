"""Samples and labels from a table file, for models that want to be asked."""

from pathlib import Path
from typing import Any

from quorate._suggest import unknown_name
from quorate.exceptions import FileFormatError


def read_samples(path: Path, target: str) -> tuple[Any, Any]:
    """Return the frame without the target column, and that column."""
    try:
        import pandas as pd
    except ImportError as error:
        raise ImportError(
            f"{path}: reading samples needs pandas; install quorate[data]."
        ) from error
    if not path.exists():
        raise FileNotFoundError(f"{path}: no such file.")
    suffixes = [suffix.lower() for suffix in path.suffixes]
    try:
        if suffixes[-1:] in ([".parquet"], [".pq"]):
            frame = pd.read_parquet(path)
        elif ".csv" in suffixes:
            frame = pd.read_csv(path)
        else:
            raise FileFormatError(f"{path}: samples come as .csv, .csv.gz or .parquet.")
    except FileFormatError:
        raise
    except (ValueError, OSError) as error:
        raise FileFormatError(f"{path}: not a readable table ({error}).") from error
    if target not in frame.columns:
        raise ValueError(
            f"{path}: {unknown_name('column', target, map(str, frame.columns))}"
        )
    return frame.drop(columns=target), frame[target]
