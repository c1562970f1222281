"""Data sets by name, from a file, a folder, or OpenML."""

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from quorate._data import TABLES
from quorate._messages import unknown_name
from quorate.exceptions import FileFormatError
from quorate.study._data_set import DataSet
from quorate.study._fewer_rows import fewer_rows
from quorate.study._folder import list_folder
from quorate.study._generators import GENERATORS
from quorate.study._sources import (
    BUNDLED,
    OPENML,
    check_openml,
    from_file,
    from_images,
    from_openml,
    from_scikit_learn,
    generate,
)

GENERATED_ROWS = 1000


def load_data(
    name_or_path: str | os.PathLike[str],
    *,
    target: str | None = None,
    data_dir: str | os.PathLike[str] | None = None,
    allow_download: bool = False,
    random_state: int = 0,
    n_rows: int | None = None,
    image_size: int = 16,
) -> DataSet:
    """Return a data set by name or from a file.

    Tried in this order: a generator (waveform, twonorm, ringnorm, threenorm, gmm2,
    gmm3, gmm10), a set that comes with scikit-learn (iris, wine, breast_cancer,
    digits), a file, a name in ``data_dir``, ``openml:NAME@VERSION``, a folder of
    pictures. A set in ``data_dir`` that has the name of one of the first two is found
    by the name of its file, as in ``"ringnorm.csv.gz"``.

    Parameters
    ----------
    name_or_path : str or path
        Files are .csv, .csv.gz, .parquet, .pq, .arff or .arff.gz. CSV is in UTF-8 with
        commas and a header; empty fields, ``?`` and what pandas takes for missing
        (``NA``, ``null``, ...) are missing values. A folder of pictures has one folder
        per class.
    target : str, optional
        The column of a table that holds the classes; without it, the column
        ``target``, or else the last one.
    data_dir : path, optional
        A folder of such files. Where it has a MANIFEST.json, names, checksums and
        categorical columns are taken from there.
    allow_download : bool
        Whether OpenML may be asked.
    random_state : int
        Seed of the generators, and of the choice of rows.
    n_rows : int, optional
        At most this many rows, drawn at random with the shares of the classes as they
        are, but at least one of each class; they stay in the order of the source.
        Generators make exactly this many, or else 1000.
    image_size : int
        Pictures become grey and this many pixels wide and high.

    Returns
    -------
    DataSet

    Raises
    ------
    ValueError
        If the name is unknown, or the table is not fit for classification.
    FileFormatError
        If a file cannot be read, or is not the one its manifest describes.
    ImportError
        If pandas is missing.

    Examples
    --------
    >>> from quorate.study import load_data
    >>> load_data("iris")
    DataSet(iris: 150 rows, 4 features, 3 classes)
    >>> load_data("twonorm", n_rows=200, random_state=1)
    DataSet(twonorm: 200 rows, 20 features, 2 classes)
    """
    read = find_data(
        name_or_path,
        target=target,
        data_dir=data_dir,
        allow_download=allow_download,
        random_state=random_state,
        n_rows=n_rows,
        image_size=image_size,
    )
    return read()


def find_data(
    name_or_path: str | os.PathLike[str],
    *,
    target: str | None = None,
    data_dir: str | os.PathLike[str] | None = None,
    allow_download: bool = False,
    random_state: int = 0,
    n_rows: int | None = None,
    image_size: int = 16,
) -> Callable[[], DataSet]:
    """Return what reads a data set, once it is known to be there.

    Parameters are those of :func:`load_data`.
    """
    _check_count("n_rows", n_rows, 1)
    _check_count("random_state", random_state, 0)
    given = os.fspath(name_or_path)
    if not given:
        raise ValueError("load_data: the name is empty.")
    # a Path is never a name
    name = given if isinstance(name_or_path, str) else ""
    if name in GENERATORS or name in BUNDLED:
        if target is not None:
            raise ValueError(
                f"{name}: has a target of its own; target={target!r} is for tables."
            )
        if name in GENERATORS:
            return partial(generate, name, n_rows or GENERATED_ROWS, random_state)
        read: Callable[[], DataSet] = partial(from_scikit_learn, name)
    else:
        read = _found(given, name, target, data_dir, allow_download, image_size)

    def read_some() -> DataSet:
        data = read()
        return data if n_rows is None else fewer_rows(data, n_rows, random_state)

    return read_some


def known_data_sets(data_dir: str | os.PathLike[str] | None = None) -> list[str]:
    """Return the names that :func:`load_data` knows without a file or a download.

    Parameters
    ----------
    data_dir : path, optional
        A folder whose sets are listed too; where a name is taken by a generator or by
        scikit-learn, the name of the file is listed.

    Examples
    --------
    >>> from quorate.study import known_data_sets
    >>> known_data_sets()[-4:]
    ['iris', 'wine', 'breast_cancer', 'digits']
    """
    taken = [*GENERATORS, *BUNDLED]
    listed = list_folder(Path(data_dir)) if data_dir is not None else {}
    return taken + [
        Path(entry["file"]).name if name in taken else name
        for name, entry in sorted(listed.items())
    ]


def _found(
    given: str,
    name: str,
    target: str | None,
    data_dir: str | os.PathLike[str] | None,
    allow_download: bool,
    image_size: int,
) -> Callable[[], DataSet]:
    """Look for what is neither generated nor comes with scikit-learn."""
    path = Path(given).expanduser()
    is_table = path.name.lower().endswith(TABLES)
    if is_table and path.is_file():
        return partial(from_file, path, target)
    listed = list_folder(Path(data_dir)) if data_dir is not None else {}
    by_file = {Path(entry["file"]).name: entry for entry in listed.values()}
    entry = listed.get(name) or by_file.get(name)
    if entry is not None:
        return partial(from_file, Path(entry["file"]), target, entry)
    if name.startswith(OPENML):
        check_openml(name, allow_download)
        return partial(from_openml, name, target, allow_download)
    if path.is_dir():
        return partial(from_images, path, image_size)
    if path.is_file():
        raise FileFormatError(f"{path}: tables come as {', '.join(TABLES)}.")
    if is_table or not name or len(path.parts) != 1:
        raise FileNotFoundError(f"{path}: no such file.")
    known = [*GENERATORS, *BUNDLED, *listed]
    raise ValueError(unknown_name("data set", name, known))


def _check_count(parameter: str, given: Any, lowest: int) -> None:
    whole = isinstance(given, (int, np.integer)) and not isinstance(given, bool)
    if given is None and parameter == "n_rows":
        return
    if not whole or given < lowest:
        raise ValueError(
            f"load_data({parameter}={given!r}): take a whole number, {lowest} or more."
        )
