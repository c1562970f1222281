"""Samples and labels from one file, read whole."""

import re
from pathlib import Path
from typing import Any

import numpy as np

from quorate._data._form import SampleForm
from quorate._data._read import TABLES, import_pandas, read_with_texts
from quorate._messages import unknown_name
from quorate.exceptions import FileFormatError

_CODE = re.compile(r"\s*0[0-9]+\s*")


def read_samples(path: Path, target: str | None) -> tuple[Any, Any]:
    """Return the frame without the target column, and that column; None without one."""
    X, y, _ = _read(path, target)
    return X, y


def read_labels(path: Path, column: str) -> Any:
    """Return a column of labels; codes such as 007 stay text."""
    _, y, texts = _read(path, column)
    if texts is not None and any(map(_CODE.fullmatch, texts)):
        return np.array([text.strip() for text in texts])
    return y


def read_samples_for(
    form: SampleForm, path: Path, target: str | None
) -> tuple[Any, Any]:
    """Return samples as a model wants them, and their labels as it knows them."""
    X, y, texts = _read(path, target, form.keeps_spaces, form.columns or ())
    form.check_columns(list(X.columns), target, str(path))
    if y is not None and target is not None:
        try:
            y = form.as_labels(y, target, texts)
        except ValueError as error:
            raise ValueError(f"{path}: {error}") from error
    return form.samples(X), y


def _read(
    path: Path,
    target: str | None,
    keep_spaces: bool = False,
    columns: tuple[str, ...] = (),
) -> tuple[Any, Any, list[str] | None]:
    import_pandas(str(path))
    if not path.exists():
        raise FileNotFoundError(f"{path}: no such file.")
    if not path.name.lower().endswith(TABLES):
        raise FileFormatError(f"{path}: samples come as {', '.join(TABLES)}.")
    wanted = columns if target is None else (*columns, target)
    frame, texts = read_with_texts(path, path.read_bytes(), target, keep_spaces, wanted)
    twice = frame.columns[frame.columns.duplicated()]
    if len(twice):
        raise ValueError(f"{path}: column {twice[0]!r} appears twice.")
    if target is None:
        return frame, None, None
    if target not in frame.columns:
        raise ValueError(f"{path}: {unknown_name('column', target, frame.columns)}")
    return frame.drop(columns=target), frame[target].to_numpy(), texts
