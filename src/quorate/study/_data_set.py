"""A data set: a table, the class of each of its rows, and a fingerprint of both."""

import hashlib
import json
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from quorate._typing import Array
from quorate.study._prepare import as_numbers, as_texts, column_kinds
from quorate.study._target import checked_labels


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
        object.__setattr__(self, "y", checked_labels(self.y, self.name))
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


def _hash_numbers(digest: Any, values: Array) -> None:
    # one zero and one NaN, and bytes in the same order everywhere
    plain = np.where(np.isnan(values), np.nan, values + 0.0).astype("<f8")
    digest.update(f"numbers {plain.size}:".encode())
    digest.update(plain.tobytes())


def _hash_texts(digest: Any, values: Any) -> None:
    # JSON puts quotes around texts, so no two lists are written alike
    digest.update(f"texts {len(values)}:".encode())
    digest.update(json.dumps(list(values)).encode())
