"""Votes to and from files and tables."""

import os
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from quorate._atomic import atomic_write
from quorate._suggest import unknown_name
from quorate._typing import Array
from quorate.exceptions import FileFormatError
from quorate.votes import _labels
from quorate.votes._votes import Votes

_FORMAT = "quorate-votes/1"


def save(votes: Votes, path: str | os.PathLike[str]) -> None:
    """Write the arrays of ``votes`` as ``.npz``; see :meth:`Votes.save`."""
    if votes.classes.dtype.kind == "O":
        kind = type(votes.classes[0]).__name__
        raise TypeError(
            f"Votes.save: labels of type {kind} cannot be stored without pickle; "
            "use text or numbers as labels."
        )
    arrays: dict[str, Array] = {
        "format": np.array(_FORMAT),
        "codes": votes.codes,
        "y": votes.y,
        "classes": votes.classes,
        "samples": votes.samples,
        "names": np.array(votes.names, dtype=str),
        "masked": np.array(votes.is_masked),
    }
    if votes.weights is not None:
        arrays["weights"] = votes.weights
    if votes.probabilities is not None:
        arrays["probabilities"] = votes.probabilities
    with atomic_write(path) as file:
        np.savez_compressed(file, allow_pickle=False, **arrays)


def load(path: str | os.PathLike[str]) -> Votes:
    """Read and check a file written by :func:`save`; see :meth:`Votes.load`."""
    with open(path, "rb") as file:
        if not zipfile.is_zipfile(file):
            raise FileFormatError(f"{path}: not a votes file, or a damaged one.")
        file.seek(0)
        try:
            stored = np.load(file, allow_pickle=False)
            arrays = {name: stored[name] for name in stored.files}
        except (zipfile.BadZipFile, OSError, ValueError, EOFError) as error:
            raise FileFormatError(
                f"{path}: not a votes file, or a damaged one ({error})."
            ) from error
    return _from_arrays(arrays, path)


def _from_arrays(arrays: dict[str, Array], path: object) -> Votes:
    found = str(arrays.get("format", "none"))
    if found != _FORMAT:
        raise FileFormatError(
            f"{path}: expected format {_FORMAT!r}, found {found!r}; "
            "was it written by Votes.save?"
        )
    needed = {"codes", "y", "classes", "samples", "names", "masked"}
    missing = sorted(needed - arrays.keys())
    if missing:
        raise FileFormatError(f"{path}: the file lacks {', '.join(missing)}.")
    codes, y, classes = arrays["codes"], arrays["y"], arrays["classes"]
    masked = bool(arrays["masked"])
    lowest = -1 if masked else 0
    sound = (
        codes.ndim == 2
        and codes.size > 0
        and y.shape == (codes.shape[1],)
        and arrays["samples"].shape == y.shape
        and arrays["names"].shape == (codes.shape[0],)
        and codes.dtype.kind == y.dtype.kind == "i"
        and lowest <= codes.min()
        and y.min() >= 0
        and max(codes.max(), y.max()) < classes.size
        and bool((classes[:-1] < classes[1:]).all())
    )
    probabilities = arrays.get("probabilities")
    if sound and probabilities is not None:
        sound = probabilities.shape == (*codes.shape, classes.size) and (
            probabilities.dtype == np.float32
        )
    if not sound:
        raise FileFormatError(f"{path}: the arrays in the file do not fit together.")
    return Votes._from_codes(
        codes,
        y,
        classes,
        arrays.get("weights"),
        arrays["names"].tolist(),
        masked,
        arrays["samples"],
        probabilities,
    )


def from_table(
    table: Any,
    label: str,
    members: Sequence[str] | None,
    weights: Any,
) -> Votes:
    """Read one column per member and one label column; see :meth:`Votes.from_table`."""
    if isinstance(table, (str, os.PathLike)):
        columns, column = _open_table(Path(table))
    elif hasattr(table, "columns") and hasattr(table, "__getitem__"):
        columns, column = _frame_columns(table)
    else:
        raise TypeError(
            f"Votes.from_table: a path or a data frame, got {type(table).__name__}."
        )
    twice = sorted({str(name) for name in columns if columns.count(name) > 1})
    if twice:
        raise ValueError(f"Votes.from_table: column {twice[0]!r} appears twice.")
    names = (
        [name for name in columns if name != label] if members is None else [*members]
    )
    for name in (label, *names):
        if name not in columns:
            raise ValueError(
                f"Votes.from_table: {unknown_name('column', name, map(str, columns))}"
            )
    if not names:
        raise ValueError(f"Votes.from_table: no member column beside {label!r}.")
    labels = {name: _column_labels(column(name), str(name)) for name in (label, *names)}
    rows = _labels.stack_rows([labels[name] for name in names], "member columns")
    return Votes(rows, labels[label], weights=weights, names=map(str, names))


def _column_labels(values: Any, name: str) -> Array:
    try:
        return _labels.as_labels(values, f"column {name!r}")
    except ValueError as error:
        raise ValueError(str(error).replace("sample", "row")) from error


def _frame_columns(frame: Any) -> tuple[list[Any], Callable[[Any], Any]]:
    """Return the names and a getter that work for pandas and polars alike."""
    return list(frame.columns), lambda name: frame[name].to_numpy()


def _open_table(path: Path) -> tuple[list[str], Callable[[Any], Any]]:
    suffixes = [suffix.lower() for suffix in path.suffixes if suffix.lower() != ".gz"]
    kind = suffixes[-1] if suffixes else ""
    if kind in (".csv", ".txt"):
        return _read_csv(path)
    if kind in (".parquet", ".pq"):
        return _frame_columns(_read_parquet(path))
    raise ValueError(f"{path}: votes come as .csv, .csv.gz or .parquet tables.")


def _read_parquet(path: Path) -> Any:
    for package in ("pandas", "polars"):
        try:
            reader = __import__(package)
            return reader.read_parquet(path)
        except ImportError:  # the package, or its Parquet engine, is not installed
            continue
    raise ImportError(
        f"{path}: reading Parquet needs pandas with pyarrow, or polars; "
        "install quorate[data]."
    )


def _read_csv(path: Path) -> tuple[list[str], Callable[[Any], Any]]:
    try:
        cells = np.loadtxt(
            path,
            dtype=str,
            delimiter=",",
            quotechar='"',
            comments=None,
            ndmin=2,
            encoding="utf-8-sig",
        )
    except FileNotFoundError:
        raise
    except (ValueError, UnicodeDecodeError, OSError, EOFError) as error:
        raise FileFormatError(f"{path}: not a readable CSV table ({error}).") from error
    if len(cells) < 2:
        raise FileFormatError(
            f"{path}: a header row and at least one sample are needed."
        )
    header = [name.strip() for name in cells[0]]
    body = np.char.strip(cells[1:])
    empty = body == ""
    if empty.any():
        row, place = np.argwhere(empty)[0]
        raise ValueError(f"{path}: column {header[place]!r}, row {row}: missing label.")
    body = _as_numbers(body)
    return header, lambda name: body[:, header.index(name)]


def _as_numbers(cells: Array) -> Array:
    """Read labels as whole numbers, else as numbers, else leave them as text."""
    for dtype in (np.int64, np.float64):
        try:
            return cells.astype(dtype)
        except (ValueError, OverflowError):
            continue
    return cells
