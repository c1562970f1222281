"""Data sets, and the preprocessing that turns them into numbers."""

import hashlib
import json
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from pandas.api import types
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder

from quorate._data import stratum_sizes
from quorate._messages import plural
from quorate._typing import Array, FloatArray, IntArray
from quorate._votes import as_labels

_SCALARS = (str, bool, int, float, np.bool_, np.number)


@dataclass(frozen=True, eq=False)
class DataSet:
    """A table with the class of each row and its source.

    Parameters
    ----------
    name : str
        Name in tables of results.
    X : pandas.DataFrame
        Columns of numbers, text, categories or booleans, possibly with missing values.
    y : array-like of shape (n_rows,)
        Labels: at least two classes, none missing.
    source : str
        Source of the data, in one line.

    Raises
    ------
    ValueError
        If the table and labels do not match or are not suitable for a study.

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
        object.__setattr__(self, "y", _check_labels(self.y, self.name))
        if self.y.size != len(self.X):
            raise ValueError(
                f"{self.name}: {len(self.X)} rows but {self.y.size} labels."
            )
        for name in numeric:
            if n_infinite := int(np.isinf(as_numbers(self.X[name])).sum()):
                rows = plural(n_infinite, "row")
                raise ValueError(f"{self.name}: column {name!r} is infinite in {rows}.")

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.y.size)

    @property
    def n_features(self) -> int:
        """Number of columns before encoding."""
        return int(self.X.shape[1])

    @property
    def classes(self) -> Array:
        """Sorted labels that occur."""
        return np.unique(self.y)

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of column names, values and labels, as 64 hexadecimal digits.

        It does not depend on the machine, nor on the type in which equal values are
        stored.
        """
        numeric = set(column_kinds(self.X, self.name)[0])
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

    def subsample(self, n_rows: int, seed: int) -> "DataSet":
        """Return a random sample of rows, with at least one of each class.

        Class frequencies and the order of rows are preserved.
        """
        if n_rows >= self.n_rows:
            return self
        classes, codes = np.unique(self.y, return_inverse=True)
        if n_rows < classes.size:
            raise ValueError(
                f"{self.name}: has {classes.size} classes, but n_rows={n_rows}; use at "
                "least one row per class."
            )
        counts = dict(enumerate(np.bincount(codes).tolist()))
        mixed = np.random.default_rng(seed).permutation(self.n_rows)
        chosen = np.concatenate(
            [
                mixed[codes[mixed] == code][:size]
                for code, size in stratum_sizes(counts, n_rows).items()
            ]
        )
        chosen.sort()
        X = self.X.iloc[chosen].reset_index(drop=True)
        source = f"{self.source}; {n_rows} of {self.n_rows} rows, seed {seed}"
        return DataSet(self.name, X, self.y[chosen], source)

    def __repr__(self) -> str:
        counts = {"row": self.n_rows, "feature": self.n_features}
        size = ", ".join(plural(number, noun) for noun, number in counts.items())
        return f"DataSet({self.name}: {size}, {self.classes.size} classes)"


def to_binary(y: Any) -> IntArray:
    """Merge classes into two, as balanced as the order of the labels allows.

    Labels are sorted and their shares accumulated. The first label at which the sum
    exceeds one half starts class 1; all labels before it are class 0. If that is the
    first label, it alone is class 0 and the others are class 1. A single label becomes
    class 0.

    Examples
    --------
    >>> to_binary(["a", "b", "b", "c", "c", "d"])
    array([0, 0, 0, 1, 1, 1])
    >>> to_binary([5, 5, 5, 7, 9])
    array([0, 0, 0, 1, 1])
    """
    _, codes, counts = np.unique(y, return_inverse=True, return_counts=True)
    # integers, so that a share of exactly one half does not exceed it
    start = int(np.argmax(2 * np.cumsum(counts) > codes.size))
    return (codes >= max(start, 1)).astype(np.int64)


def column_kinds(X: Any, owner: str) -> tuple[list[str], list[str]]:
    """Return the names of numeric and categorical columns.

    Raises
    ------
    TypeError
        If ``X`` is not a table with text as column names.
    ValueError
        If it has no columns, duplicate ones, or columns of other types.
    """
    if not isinstance(X, pd.DataFrame):
        raise TypeError(f"{owner}: needs a pandas DataFrame; got {type(X).__name__}.")
    if not X.shape[1]:
        raise ValueError(f"{owner}: the table has no columns other than the labels.")
    odd = [name for name in X.columns if not isinstance(name, str)]
    if odd:
        raise TypeError(f"{owner}: names of columns must be text; got {odd[0]!r}.")
    twice = X.columns[X.columns.duplicated()]
    if len(twice):
        raise ValueError(f"{owner}: column {twice[0]!r} appears twice.")
    numeric = {name: _is_numeric(X[name], owner) for name in X.columns}
    return (
        [name for name in numeric if numeric[name]],
        [name for name in numeric if not numeric[name]],
    )


def as_numbers(column: Any) -> FloatArray:
    """Return a numeric column as floats, with NaN for missing values."""
    numbers: FloatArray = column.to_numpy(dtype=np.float64, na_value=np.nan)
    return numbers


def as_texts(column: Any) -> Array:
    """Return a categorical column as an array of str, with None for missing values."""
    texts = np.empty(len(column), dtype=object)
    pairs = zip(column.astype(object), column.isna(), strict=True)
    texts[:] = [None if missing else str(value) for value, missing in pairs]
    return texts


def _is_numeric(column: Any, owner: str) -> bool:
    dtype = column.dtype
    if types.is_bool_dtype(dtype) or isinstance(dtype, pd.CategoricalDtype):
        return False
    if types.is_numeric_dtype(dtype) and not types.is_complex_dtype(dtype):
        return True
    odd = [str(dtype)]
    if types.is_object_dtype(dtype):
        kinds = set(map(type, column[column.notna()]))
        odd = sorted(kind.__name__ for kind in kinds if not issubclass(kind, _SCALARS))
    elif types.is_string_dtype(dtype):
        odd = []
    if odd:
        raise ValueError(
            f"{owner}: column {column.name!r} contains {odd[0]}; only numbers, text, "
            "categories and booleans are supported."
        )
    return False


def _check_labels(y: Any, owner: str) -> Array:
    """Return labels as an array: at least two classes, none missing, not continuous.

    Raises
    ------
    ValueError
        If the labels are anything else.
    """
    values = y if isinstance(y, np.ndarray) else np.asarray(y, dtype=object)
    if values.ndim != 1:
        raise ValueError(f"{owner}: labels must be 1-d; got shape {values.shape}.")
    if not values.size:
        raise ValueError(f"{owner}: the table has no rows.")
    labels = as_labels(values, owner)
    if labels.dtype.kind not in "biufU":
        raise ValueError(
            f"{owner}: labels are {labels.dtype}; only text, numbers and booleans are "
            "supported."
        )
    if labels.dtype.kind == "f" and not (
        np.isfinite(labels).all() and (labels == np.floor(labels)).all()
    ):
        raise ValueError(f"{owner}: the target is continuous, not a class.")
    if (labels == labels[0]).all():
        raise ValueError(
            f"{owner}: only one class, {labels[0].item()!r}; a study needs two or more."
        )
    return labels


def _hash_numbers(digest: Any, values: Array) -> None:
    # normalise zeros, NaN and the byte order
    plain = np.where(np.isnan(values), np.nan, values + 0.0).astype("<f8")
    digest.update(f"numbers {plain.size}:".encode())
    digest.update(plain.tobytes())


def _hash_texts(digest: Any, values: Any) -> None:
    # JSON quotes strings, so different lists have different texts
    digest.update(f"texts {len(values)}:".encode())
    digest.update(json.dumps(list(values)).encode())


def make_preparation(X: Any) -> Any:
    """Return an unfitted transformer that converts tables like this one to numbers.

    Missing numbers are replaced by the median of their column. In columns of text,
    categories or booleans, missing values are replaced by the most frequent one, and
    the columns are one-hot encoded; categories unknown in ``fit`` become zeros. A
    column without any value becomes zeros, or one category.

    Parameters
    ----------
    X : pandas.DataFrame
        Only the names and types of its columns are used. Fit the transformer on the
        training part of each fold, to avoid leakage from the test part.

    Returns
    -------
    sklearn.compose.ColumnTransformer
        Its output is a dense array of floats.

    Examples
    --------
    >>> import pandas as pd
    >>> X = pd.DataFrame({"age": [30.0, None, 50.0], "sex": ["f", "m", "f"]})
    >>> make_preparation(X).fit_transform(X)
    array([[30.,  1.,  0.],
           [40.,  0.,  1.],
           [50.,  1.,  0.]])
    """
    numeric, categorical = column_kinds(X, "make_preparation")
    numbers = make_pipeline(
        FunctionTransformer(_numbers_of, feature_names_out="one-to-one"),
        SimpleImputer(strategy="median", keep_empty_features=True),
    )
    categories = make_pipeline(
        FunctionTransformer(_texts_of, feature_names_out="one-to-one"),
        SimpleImputer(
            strategy="most_frequent", missing_values=None, keep_empty_features=True
        ),
        OneHotEncoder(handle_unknown="ignore", sparse_output=False),
    )
    steps = [("numeric", numbers, numeric), ("categorical", categories, categorical)]
    # columns by name, so that scikit-learn detects missing columns
    return ColumnTransformer([step for step in steps if step[2]], sparse_threshold=0)


def log_preparation(preparation: Any, X: Any) -> dict[str, Any]:
    """Describe what a fitted preparation does to the table it was fitted on.

    Parameters
    ----------
    preparation : fitted ColumnTransformer
        From :func:`make_preparation`.
    X : pandas.DataFrame
        The training part of a fold.

    Returns
    -------
    dict
        ``what`` is a one-line description, ``columns`` and ``features`` are the numbers
        of input and output columns.

    Examples
    --------
    >>> import pandas as pd
    >>> X = pd.DataFrame({"age": [30.0, None, 50.0], "sex": ["f", "m", "f"]})
    >>> log = log_preparation(make_preparation(X).fit(X), X)
    >>> log["what"]
    '1 numeric column, 1 with missing values filled by the median; 1 categorical \
column one-hot'
    >>> log["columns"], log["features"]
    (2, 3)
    """
    steps = []
    for kind, _, names in preparation.transformers_:
        step = plural(len(names), f"{kind} column")
        fill = "the median"
        if kind == "categorical":
            step, fill = f"{step} one-hot", "the most frequent"
        missing = X[names].isna().any()
        if missing.any():
            step += f", {missing.sum()} with missing values filled by {fill}"
        steps.append(step)
    return {
        "what": "; ".join(steps),
        "rows": len(X),
        "columns": int(X.shape[1]),
        "features": len(preparation.get_feature_names_out()),
    }


def _numbers_of(X: Any) -> FloatArray:
    return np.column_stack([as_numbers(X[name]) for name in X.columns])


def _texts_of(X: Any) -> Array:
    return np.column_stack([as_texts(X[name]) for name in X.columns])
