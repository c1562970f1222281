"""Data sets by name, from a file, a folder, or OpenML."""

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from quorate._suggest import unknown_name
from quorate._tables import TABLES, import_pandas, read_table
from quorate._typing import Array, IntArray
from quorate.exceptions import FileFormatError
from quorate.study._generators import GENERATORS
from quorate.study._images import read_images
from quorate.study._numbers import NumberTable, make_table, take_rows
from quorate.study._prepare import as_numbers, as_texts, column_kinds
from quorate.votes import as_labels

BUNDLED = ("iris", "wine", "breast_cancer", "digits")
GENERATED_ROWS = 1000
_MANIFEST = "MANIFEST.json"
_OPENML = "openml:"


@dataclass(frozen=True, eq=False)
class DataSet:
    """A table, the class of each of its rows, and where both are from.

    Parameters
    ----------
    name : str
        What it is called in tables of results.
    X : pandas.DataFrame
        Columns of numbers, text, categories or booleans; values may be missing. Sets
        that are generated or come with scikit-learn are plain tables of numbers where
        pandas is not installed.
    y : array-like of shape (n_rows,)
        Labels: two classes or more, none missing.
    source : str
        One line saying where the data is from.

    Raises
    ------
    ValueError
        If table or labels do not fit each other or a study.

    Examples
    --------
    >>> import pandas as pd
    >>> from quorate.study import DataSet
    >>> data = DataSet("tiny", pd.DataFrame({"a": [1, 2]}), ["no", "yes"], "by hand")
    >>> data
    DataSet(tiny: 2 rows, 1 feature, 2 classes)
    >>> data.fingerprint[:12]
    '3537c7052ffb'
    """

    name: str
    X: Any
    y: Array
    source: str

    def __post_init__(self) -> None:
        numeric, _ = column_kinds(self.X, self.name)
        object.__setattr__(self, "y", _checked_labels(self.y, self.name))
        if self.y.size != len(self.X):
            raise ValueError(
                f"{self.name}: {len(self.X)} rows but {self.y.size} labels."
            )
        for name in numeric:
            n_infinite = int(np.isinf(as_numbers(self.X[name])).sum())
            if n_infinite:
                raise ValueError(
                    f"{self.name}: column {name!r} is infinite in {n_infinite} rows."
                )

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.y.size)

    @property
    def n_features(self) -> int:
        """Number of columns, before any of them is encoded."""
        return int(self.X.shape[1])

    @property
    def classes(self) -> Array:
        """The labels that occur, sorted."""
        return np.unique(self.y)

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of column names, values and labels, as 64 hexadecimal digits.

        It is the same on every machine, and whichever type a column of the same
        values is stored in.
        """
        numeric, _ = column_kinds(self.X, self.name)
        digest = hashlib.sha256()
        for name in self.X.columns:
            _hash_texts(digest, [name])
            if name in numeric:
                _hash_numbers(digest, as_numbers(self.X[name]))
            else:
                _hash_texts(digest, as_texts(self.X[name]))
        if self.y.dtype.kind == "U":
            _hash_texts(digest, self.y.tolist())
        else:
            _hash_numbers(digest, self.y.astype(np.float64))
        return digest.hexdigest()

    def __repr__(self) -> str:
        plural = "" if self.n_features == 1 else "s"
        return (
            f"DataSet({self.name}: {self.n_rows} rows, {self.n_features} "
            f"feature{plural}, {self.classes.size} classes)"
        )


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
        If pandas is missing; ``quorate[data]`` brings it.

    Examples
    --------
    >>> from quorate.study import load_data
    >>> load_data("iris")
    DataSet(iris: 150 rows, 4 features, 3 classes)
    >>> load_data("twonorm", n_rows=200, random_state=1)
    DataSet(twonorm: 200 rows, 20 features, 2 classes)
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
            return _generated(name, n_rows or GENERATED_ROWS, random_state)
        data = _bundled(name)
    else:
        import_pandas(given)
        data = _found(given, name, target, data_dir, allow_download, image_size)
    return data if n_rows is None else _fewer_rows(data, n_rows, random_state)


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
    listed = _listed(Path(data_dir)) if data_dir is not None else {}
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
) -> DataSet:
    """Look for what is neither generated nor comes with scikit-learn."""
    path = Path(given).expanduser()
    is_table = path.name.lower().endswith(TABLES)
    if is_table and path.is_file():
        return _from_file(path, target)
    listed = _listed(Path(data_dir)) if data_dir is not None else {}
    by_file = {Path(entry["file"]).name: entry for entry in listed.values()}
    entry = listed.get(name) or by_file.get(name)
    if entry is not None:
        return _from_file(Path(entry["file"]), target, entry)
    if name.startswith(_OPENML):
        return _from_openml(name, target, allow_download)
    if path.is_dir():
        return _from_images(path, image_size)
    if path.is_file():
        raise FileFormatError(f"{path}: tables come as {', '.join(TABLES)}.")
    if is_table or not name or len(path.parts) != 1:
        raise FileNotFoundError(f"{path}: no such file.")
    known = [*GENERATORS, *BUNDLED, *listed]
    raise ValueError(unknown_name("data set", name, known))


def _generated(name: str, n_rows: int, seed: int) -> DataSet:
    X, y = GENERATORS[name](n_rows, np.random.default_rng(seed))
    columns = [f"x{place}" for place in range(1, X.shape[1] + 1)]
    source = f"generated by quorate, {n_rows} rows, seed {seed}"
    return DataSet(name, make_table(X, columns), y, source)


def _bundled(name: str) -> DataSet:
    import sklearn.datasets

    made = getattr(sklearn.datasets, f"load_{name}")()
    source = "comes with scikit-learn"
    return DataSet(name, make_table(made.data, made.feature_names), made.target, source)


def _from_file(
    path: Path, target: str | None, entry: Mapping[str, Any] | None = None
) -> DataSet:
    entry = entry or {}
    try:
        raw = path.read_bytes()
    except FileNotFoundError as error:
        raise FileNotFoundError(f"{path}: no such file.") from error
    expected = entry.get("sha256")
    if expected and hashlib.sha256(raw).hexdigest() != expected:
        raise FileFormatError(f"{path}: not the file that {_MANIFEST} describes.")
    frame = read_table(path, raw)
    stem = _stem(path)
    taken = stem in GENERATORS or stem in BUNDLED
    name = path.name if taken else stem
    X, y = _split(frame, target, str(path))
    for column in entry.get("categorical_features", []):
        if column not in X.columns:
            raise FileFormatError(
                f"{path}: {_MANIFEST} tells of a column {column!r}, which is missing."
            )
        X[column] = X[column].astype("category")
    reference = entry.get("reference")
    source = f"{reference}, file {path}" if reference else f"file {path}"
    return _named(DataSet(str(path), X, y, source), name)


def _from_openml(name: str, target: str | None, allow_download: bool) -> DataSet:
    what, _, version = name.removeprefix(_OPENML).rpartition("@")
    if not what or not version.isdecimal() or int(version) < 1:
        raise ValueError(f"{name}: say which version, as in 'openml:credit-g@1'.")
    if not allow_download:
        raise ValueError(
            f"{name}: would be downloaded; allow it with allow_download=True."
        )
    from sklearn.datasets import fetch_openml

    try:
        made = fetch_openml(
            what,
            version=int(version),
            target_column=target or "default-target",
            as_frame=True,
        )
    except OSError as error:
        raise OSError(f"{name}: could not be downloaded ({error}).") from error
    if made.target is None:
        raise ValueError(f"{name}: has no target of its own; name one.")
    if made.target.ndim != 1:
        raise ValueError(f"{name}: has several targets; name one.")
    y = made.target.astype(object).to_numpy()
    source = f"OpenML, {what}, version {version}"
    return DataSet(name, made.data.reset_index(drop=True), y, source)


def _from_images(folder: Path, size: int) -> DataSet:
    pd = import_pandas(str(folder))
    pixels, labels = read_images(folder, size)
    columns = [f"pixel_{row}_{column}" for row in range(size) for column in range(size)]
    source = f"pictures in {folder}, {size} x {size} grey values"
    X = pd.DataFrame(pixels, columns=columns)
    return _named(DataSet(str(folder), X, np.array(labels), source), folder.name)


def _named(data: DataSet, name: str) -> DataSet:
    # complaints name the whole path, tables of results the short name
    return DataSet(name, data.X, data.y, data.source)


def _listed(folder: Path) -> dict[str, dict[str, Any]]:
    """Return what a folder offers: the sets of its manifest, and other tables."""
    if not folder.is_dir():
        raise FileNotFoundError(f"{folder}: no such folder.")
    listed = _read_manifest(folder)
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


def _read_manifest(folder: Path) -> dict[str, dict[str, Any]]:
    path = folder / _MANIFEST
    if not path.exists():
        return {}
    try:
        entries = json.loads(path.read_text(encoding="utf-8"))["datasets"]
        listed = {
            str(entry["name"]): {**entry, "file": str(folder / entry["file"])}
            for entry in entries
        }
    except (ValueError, KeyError, TypeError) as error:
        raise FileFormatError(
            f"{path}: needs a list 'datasets' of tables with 'name' and 'file'."
        ) from error
    for entry in listed.values():
        if Path(entry["file"]).parent != folder:
            raise FileFormatError(f"{path}: {entry['file']} is outside this folder.")
    return listed


def _stem(path: Path) -> str:
    longest = max(
        (end for end in TABLES if path.name.lower().endswith(end)), key=len, default=""
    )
    return path.name[: len(path.name) - len(longest)]


def _split(frame: Any, target: str | None, owner: str) -> tuple[Any, Array]:
    """Take the column of labels out of a table."""
    names = list(frame.columns)
    if len(names) < 2:
        raise ValueError(
            f"{owner}: needs a target and at least one more column, separated by "
            f"commas; got {names}."
        )
    if target is None:
        target = "target" if "target" in names else names[-1]
    elif target not in names:
        raise ValueError(f"{owner}: {unknown_name('column', target, names)}")
    if names.count(target) > 1:
        raise ValueError(f"{owner}: column {target!r} appears twice.")
    return frame.drop(columns=target), frame[target].astype(object).to_numpy()


def _checked_labels(y: Any, owner: str) -> Array:
    values = y if isinstance(y, np.ndarray) else np.asarray(y, dtype=object)
    if values.ndim != 1:
        raise ValueError(f"{owner}: labels must be 1-d; got shape {values.shape}.")
    if not values.size:
        raise ValueError(f"{owner}: the table has no rows.")
    n_missing = _count_missing(values, owner)
    if n_missing:
        rows = "row has" if n_missing == 1 else "rows have"
        raise ValueError(
            f"{owner}: {n_missing} {rows} no label; leave them out or label them."
        )
    labels = as_labels(values, owner)
    if labels.dtype.kind not in "biufU":
        raise ValueError(
            f"{owner}: labels are {labels.dtype}; text, numbers and booleans fit."
        )
    whole = labels.dtype.kind != "f" or (
        np.isfinite(labels).all() and (labels == np.floor(labels)).all()
    )
    if not whole:
        raise ValueError(f"{owner}: the target is a continuous number, not a class.")
    if (labels == labels[0]).all():
        raise ValueError(
            f"{owner}: only one class, {labels[0].item()!r}; a study needs two or more."
        )
    return labels


def _count_missing(labels: Array, owner: str) -> int:
    if labels.dtype.kind in "biuU":
        return 0
    return int(import_pandas(owner).isna(labels).sum())


def _check_count(parameter: str, given: Any, lowest: int) -> None:
    whole = isinstance(given, (int, np.integer)) and not isinstance(given, bool)
    if given is None and parameter == "n_rows":
        return
    if not whole or given < lowest:
        raise ValueError(
            f"load_data({parameter}={given!r}): take a whole number, {lowest} or more."
        )


def _fewer_rows(data: DataSet, n_rows: int, seed: int) -> DataSet:
    if n_rows >= data.n_rows:
        return data
    classes, codes = np.unique(data.y, return_inverse=True)
    if n_rows < classes.size:
        raise ValueError(
            f"{data.name}: has {classes.size} classes; take at least as many rows, not "
            f"n_rows={n_rows}."
        )
    take = _shares(np.bincount(codes), n_rows)
    mixed = np.random.default_rng(seed).permutation(data.n_rows)
    chosen = np.sort(
        np.concatenate(
            [mixed[codes[mixed] == code][: take[code]] for code in range(classes.size)]
        )
    )
    X = take_rows(data.X, chosen)
    if not isinstance(X, NumberTable):
        X = X.reset_index(drop=True)
    source = f"{data.source}; {n_rows} of {data.n_rows} rows, seed {seed}"
    return DataSet(data.name, X, data.y[chosen], source)


def _shares(counts: IntArray, n_rows: int) -> IntArray:
    """Divide rows among classes in proportion, but one at least to each.

    Rows left over go one by one to the class furthest below its share, rows too many
    come from the class furthest above; the first of equals.
    """
    total = int(counts.sum())
    take = np.maximum(counts * n_rows // total, 1)
    while (left := n_rows - int(take.sum())) != 0:
        gap = counts * n_rows - take * total
        if left > 0:
            take[np.argmax(gap)] += 1
        else:
            take[np.argmin(np.where(take > 1, gap, np.iinfo(gap.dtype).max))] -= 1
    return take


def _hash_numbers(digest: Any, values: Array) -> None:
    # one zero and one NaN, and bytes in the same order everywhere
    plain = np.where(np.isnan(values), np.nan, values + 0.0).astype("<f8")
    digest.update(f"numbers {plain.size}:".encode())
    digest.update(plain.tobytes())


def _hash_texts(digest: Any, values: Any) -> None:
    # JSON puts quotes around texts, so no two lists are written alike
    digest.update(f"texts {len(values)}:".encode())
    digest.update(json.dumps(list(values)).encode())
