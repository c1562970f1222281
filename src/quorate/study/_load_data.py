"""Load data sets by name, or from a file or a folder."""

import hashlib
import json
import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import sklearn.datasets

from quorate._checks import check_number
from quorate._data import (
    TABLES,
    check_table,
    column_names,
    is_csv,
    read_samples,
    read_table,
)
from quorate._messages import unknown_name
from quorate.exceptions import FileFormatError
from quorate.study._data_set import DataSet
from quorate.study._generators import GENERATORS

BUNDLED = ("iris", "wine", "breast_cancer", "digits")
_MANIFEST = "MANIFEST.json"


def load_data(
    name_or_path: str | os.PathLike[str],
    *,
    target: str | None = None,
    data_dir: str | os.PathLike[str] | None = None,
    random_state: int = 0,
    n_rows: int | None = None,
) -> DataSet:
    """Return a data set by name or from a file.

    Tried in this order: a generator (waveform, twonorm, ringnorm, threenorm, gmm2,
    gmm3, gmm10), a scikit-learn data set (iris, wine, breast_cancer, digits), a file, a
    name in ``data_dir``. If a name in ``data_dir`` is also that of a generator or a
    scikit-learn data set, use the name of its file, such as ``"ringnorm.csv.gz"``.

    Parameters
    ----------
    name_or_path : str or path
        Files are .csv, .csv.gz, .parquet or .pq. CSV files are in UTF-8, with commas
        and a header; empty fields, ``?`` and the missing values of pandas (``NA``,
        ``null``, ...) are missing.
    target : str, optional
        The column with the classes; by default ``target``, or else the last column.
    data_dir : path, optional
        A folder of such files. If it has a MANIFEST.json, names, checksums and
        categorical columns are read from it.
    random_state : int
        Seed of the generators and of the sample of rows.
    n_rows : int, optional
        Maximum number of rows; a stratified random sample is drawn, with at least one
        row of each class, in the original order. Generators make exactly this many
        rows, by default 1000.

    Returns
    -------
    DataSet

    Raises
    ------
    ValueError
        If the name is unknown, or the table is not suitable for classification.
    FileFormatError
        If a file cannot be read, or does not match its manifest.

    Examples
    --------
    >>> from quorate.study import load_data
    >>> load_data("iris")
    DataSet(iris: 150 rows, 4 features, 3 classes)
    >>> load_data("twonorm", n_rows=200, random_state=1)
    DataSet(twonorm: 200 rows, 20 features, 2 classes)
    """
    return find_data(name_or_path, target, data_dir, random_state, n_rows)()


def find_data(
    name_or_path: str | os.PathLike[str],
    target: str | None,
    data_dir: str | os.PathLike[str] | None,
    random_state: int,
    n_rows: int | None,
) -> Callable[[], DataSet]:
    """Return a function that reads a data set, after checking that it exists.

    Parameters are those of :func:`load_data`.
    """
    if n_rows is not None:
        check_number("load_data", "n_rows", n_rows, least=1, whole=True)
    check_number("load_data", "random_state", random_state, least=0, whole=True)
    given = os.fspath(name_or_path)
    if not given:
        raise ValueError("load_data: the name is empty.")
    # a Path is never a name
    name = given if isinstance(name_or_path, str) else ""
    if name not in (*GENERATORS, *BUNDLED):
        read = _find_file(given, name, target, data_dir)
    elif target is not None:
        raise ValueError(
            f"{name}: has its own target; target={target!r} is for tables."
        )
    elif name in GENERATORS:
        return partial(_generate, name, n_rows or 1000, random_state)
    else:
        read = partial(_from_scikit_learn, name)
    return read if n_rows is None else lambda: read().subsample(n_rows, random_state)


def list_data_sets(data_dir: str | os.PathLike[str] | None = None) -> list[str]:
    """Return the names that :func:`load_data` accepts without a file or a download.

    Parameters
    ----------
    data_dir : path, optional
        A folder whose data sets are listed, too; by the name of the file, if the name
        is that of a generator or a scikit-learn data set.

    Examples
    --------
    >>> list_data_sets()[-4:]
    ['iris', 'wine', 'breast_cancer', 'digits']
    """
    taken = [*GENERATORS, *BUNDLED]
    return taken + [
        Path(entry["file"]).name if name in taken else name
        for name, entry in sorted(list_folder(data_dir).items())
    ]


def _find_file(
    given: str,
    name: str,
    target: str | None,
    data_dir: str | os.PathLike[str] | None,
) -> Callable[[], DataSet]:
    """Find a data set that is neither generated nor part of scikit-learn."""
    path = Path(given).expanduser()
    is_table = path.name.lower().endswith(TABLES)
    if is_table and path.is_file():
        return partial(_from_file, path, target, {})
    listed = list_folder(data_dir)
    by_file = {Path(entry["file"]).name: entry for entry in listed.values()}
    entry = listed.get(name) or by_file.get(name)
    if entry is not None:
        return partial(_from_file, Path(entry["file"]), target, entry)
    if path.exists():
        raise FileFormatError(
            f"{path}: a table must be a file ending in {', '.join(TABLES)}."
        )
    if is_table or not name or len(path.parts) != 1:
        raise FileNotFoundError(f"{path}: no such file.")
    unknown = unknown_name("data set", name, [*GENERATORS, *BUNDLED, *listed])
    hint = "" if data_dir else " No folder of other data sets is given (data_dir)."
    raise ValueError(unknown + hint)


def list_folder(
    data_dir: str | os.PathLike[str] | None,
) -> dict[str, dict[str, Any]]:
    """Return the data sets of a folder's manifest and its other tables, by name.

    The ``file`` of an entry is its location.
    """
    if data_dir is None:
        return {}
    folder = Path(data_dir)
    if not folder.is_dir():
        raise FileNotFoundError(f"{folder}: no such folder.")
    manifest = folder / _MANIFEST
    listed = _read_manifest(manifest) if manifest.exists() else {}
    described = {entry["file"] for entry in listed.values()}
    for path in sorted(folder.iterdir()):
        if not path.name.lower().endswith(TABLES) or str(path) in described:
            continue
        name = _stem(path)
        if name in listed:
            first = Path(listed[name]["file"]).name
            raise ValueError(
                f"{folder}: {first} and {path.name} have the same name {name!r}."
            )
        listed[name] = {"file": str(path)}
    return listed


def _read_manifest(path: Path) -> dict[str, dict[str, Any]]:
    try:
        entries = json.loads(path.read_text(encoding="utf-8"))["datasets"]
        listed = {
            str(entry["name"]): {**entry, "file": str(path.parent / entry["file"])}
            for entry in entries
        }
    except (ValueError, KeyError, TypeError) as error:
        raise FileFormatError(
            f"{path}: needs a list 'datasets' of tables with 'name' and 'file'."
        ) from error
    for entry in listed.values():
        if Path(entry["file"]).parent != path.parent:
            raise FileFormatError(f"{path}: {entry['file']} is outside this folder.")
    return listed


def _stem(path: Path) -> str:
    """Return the name of a table without its extension."""
    ending = next(end for end in TABLES if path.name.lower().endswith(end))
    return path.name[: -len(ending)]


def _generate(name: str, n_rows: int, seed: int) -> DataSet:
    X, y = GENERATORS[name](n_rows, np.random.default_rng(seed))
    columns = [f"x{place}" for place in range(1, X.shape[1] + 1)]
    source = f"generated by quorate, {n_rows} rows, seed {seed}"
    return DataSet(name, pd.DataFrame(X, columns=columns), y, source)


def _from_scikit_learn(name: str) -> DataSet:
    bunch = getattr(sklearn.datasets, f"load_{name}")()
    X = pd.DataFrame(bunch.data, columns=bunch.feature_names)
    return DataSet(name, X, bunch.target, "comes with scikit-learn")


def _from_file(path: Path, target: str | None, entry: Mapping[str, Any]) -> DataSet:
    """Read a table and check it against the manifest of its folder."""
    check_table(path)
    expected = entry.get("sha256")
    if expected and hashlib.sha256(path.read_bytes()).hexdigest() != expected:
        raise FileFormatError(f"{path}: not the file that {_MANIFEST} describes.")
    if target is None:
        names = column_names(path) if is_csv(path) else list(read_table(path).columns)
        target = "target" if "target" in names else names[-1]
    X, y = read_samples(path, target)
    for column in entry.get("categorical_features", []):
        if column not in X.columns:
            raise FileFormatError(
                f"{path}: {_MANIFEST} describes a column {column!r}, which is missing."
            )
        X[column] = X[column].astype("category")
    reference = f"{entry['reference']}, " if entry.get("reference") else ""
    stem = _stem(path)
    name = path.name if stem in GENERATORS or stem in BUNDLED else stem
    # errors use the full path, tables of results the short name
    return replace(DataSet(str(path), X, y, f"{reference}file {path}"), name=name)
