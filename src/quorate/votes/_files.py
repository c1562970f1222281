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
from quorate.votes._probabilities import (
    DenseProbabilities,
    Probabilities,
    TabledProbabilities,
    certain,
)
from quorate.votes._rule import PLURALITY, DecisionRule, VoteSource
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
        "rule": np.array([votes.rule, votes.ties]),
        "against": np.array(votes.decision_rule.against),
        "source": np.array("" if votes.source is None else str(votes.source)),
        "family": np.array(votes.family or ""),
    }
    if votes.weights is not None:
        arrays["weights"] = votes.weights
    given = votes.class_probabilities
    if given is not None:
        arrays |= {"certain": np.array(True)} if given.are_certain else given.arrays()
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
    if not sound:
        raise FileFormatError(f"{path}: the arrays in the file do not fit together.")
    try:
        probabilities = _probabilities(arrays, codes, classes.size)
        rule, source = _rule(arrays, probabilities), _source(arrays)
    except (ValueError, TypeError, IndexError) as error:
        raise FileFormatError(
            f"{path}: the arrays in the file do not fit together ({error})."
        ) from error
    return Votes.from_codes(
        codes,
        y,
        classes,
        arrays.get("weights"),
        arrays["names"].tolist(),
        masked=masked,
        samples=arrays["samples"],
        probabilities=probabilities,
        rule=rule,
        source=source,
        family=str(arrays.get("family", "")) or None,
    )


def _probabilities(
    arrays: dict[str, Array], codes: Array, n_classes: int
) -> Probabilities | None:
    """Return the probabilities in a file, after checking that they fit the votes."""
    if "certain" in arrays:
        return certain(codes, n_classes)
    if "probabilities" in arrays:
        values = arrays["probabilities"]
        if values.shape != (*codes.shape, n_classes) or values.dtype.kind != "f":
            raise ValueError("probabilities")
        return DenseProbabilities(values)
    if "places" not in arrays:
        return None
    places, sizes = arrays["places"], arrays["table_sizes"]
    flat = np.asarray(arrays["tables"], dtype=float)
    fits = (
        places.shape == codes.shape
        and places.dtype.kind == "i"
        and sizes.shape == (len(codes),)
        and sizes.dtype.kind == "i"
        and flat.shape == (int(sizes.sum()), n_classes)
        and sizes.min() >= 1
        and places.min() >= -1
        and bool((places.max(axis=1) < sizes).all())
    )
    if not fits:
        raise ValueError("places and tables of probabilities")
    tables = np.split(flat, np.cumsum(sizes)[:-1])
    return TabledProbabilities(places, tuple(tables))


def _rule(arrays: dict[str, Array], given: Probabilities | None) -> DecisionRule:
    if "rule" not in arrays:  # written before votes had a rule
        return PLURALITY if given is None else DecisionRule("average")
    name, ties = (str(word) for word in arrays["rule"])
    if name not in ("average", "heads") or ties not in ("expected", "lowest"):
        raise ValueError(f"rule {name!r}, {ties!r}")
    if name == "average" and given is None:
        raise ValueError("a rule without its probabilities")
    against = float(arrays["against"]) if "against" in arrays else 0.0
    if not np.isfinite(against):
        raise ValueError("the rule")
    return DecisionRule(name, against, ties)  # type: ignore[arg-type]


def _source(arrays: dict[str, Array]) -> VoteSource | None:
    written = str(arrays.get("source", ""))
    return VoteSource(written) if written else None


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
    rows = [labels[name] for name in names]
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
