"""From tables to the numbers learners take, fitted on the training part of a fold."""

from typing import Any

import numpy as np

from quorate._output import plain
from quorate._typing import Array, FloatArray, IntArray
from quorate._votes import as_labels
from quorate.study._numbers import NumberTable

_SCALARS = (str, bool, int, float, np.bool_, np.number)


def make_preparation(X: Any) -> Any:
    """Return an unfitted transformer that turns tables like this one into numbers.

    Missing numbers become the median of their column. Columns of text, categories or
    booleans have missing values filled by the most frequent one and are one-hot
    encoded; a category that was not there in ``fit`` becomes zeros. A column without
    any value becomes zeros, or one category.

    Parameters
    ----------
    X : pandas.DataFrame
        Only the names and types of its columns are used. Fit the transformer on the
        training part of each fold, so that nothing is learned from the test part.

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
    from sklearn.compose import ColumnTransformer
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import FunctionTransformer, OneHotEncoder

    if isinstance(X, NumberTable):  # nothing to fill, nothing to encode
        return make_pipeline(FunctionTransformer(_values_of))
    numeric, categorical = column_kinds(X, "make_preparation")
    steps: list[tuple[str, Any, list[str]]] = []
    if numeric:
        numbers = make_pipeline(
            FunctionTransformer(_numbers_of, feature_names_out="one-to-one"),
            SimpleImputer(strategy="median", keep_empty_features=True),
        )
        steps.append(("numeric", numbers, numeric))
    if categorical:
        categories = make_pipeline(
            FunctionTransformer(_texts_of, feature_names_out="one-to-one"),
            SimpleImputer(
                strategy="most_frequent", missing_values=None, keep_empty_features=True
            ),
            OneHotEncoder(handle_unknown="ignore", sparse_output=False),
        )
        steps.append(("categorical", categories, categorical))
    # columns by name: scikit-learn then notices a column that is missing
    return ColumnTransformer(steps, sparse_threshold=0)


def describe_preparation(X: Any) -> str:
    """Say in one line what :func:`make_preparation` does to a table.

    Parameters
    ----------
    X : pandas.DataFrame

    Examples
    --------
    >>> import pandas as pd
    >>> X = pd.DataFrame({"age": [30.0, None, 50.0], "sex": ["f", "m", "f"]})
    >>> describe_preparation(X)
    '1 numeric column, 1 with missing values filled by the median; 1 categorical \
column one-hot'
    """
    numeric, categorical = column_kinds(X, "describe_preparation")
    parts = []
    for names, kind, fill in (
        (numeric, "numeric column", "the median"),
        (categorical, "categorical column", "the most frequent"),
    ):
        if not names:
            continue
        text = f"{len(names)} {kind}{'' if len(names) == 1 else 's'}"
        if kind == "categorical column":
            text += " one-hot"
        n_missing = 0 if _has_all(X) else int(X[names].isna().any().sum())
        if n_missing:
            text += f", {n_missing} with missing values filled by {fill}"
        parts.append(text)
    return "; ".join(parts)


def reduced(preparation: Any, components: int | float | None) -> Any:
    """Put principal components after a preparation, unless all columns are to stay.

    They are fitted with the rest, on the training part of a fold.
    """
    if components is None:
        return preparation
    from sklearn.decomposition import PCA
    from sklearn.pipeline import make_pipeline

    # this solver takes shares of the variance too and has no randomness
    return make_pipeline(preparation, PCA(components, svd_solver="full"))


def log_preparation(preparation: Any, X: Any) -> dict[str, Any]:
    """Tell what a fitted preparation does to the table it was fitted on.

    Parameters
    ----------
    preparation : fitted ColumnTransformer, or a Pipeline that starts with one
        From :func:`make_preparation`.
    X : pandas.DataFrame
        The training part of a fold.

    Returns
    -------
    dict
        ``what`` in one line, the number of ``columns`` and of ``features`` they
        become, ``filled``: the value put where one is missing by column, and
        ``categories``: how many there are by column.

    Examples
    --------
    >>> import pandas as pd
    >>> X = pd.DataFrame({"age": [30.0, None, 50.0], "sex": ["f", "m", "f"]})
    >>> log = log_preparation(make_preparation(X).fit(X), X)
    >>> log["filled"], log["categories"], log["columns"], log["features"]
    ({'age': 40.0}, {'sex': 2}, 2, 3)
    """
    table = preparation
    what = describe_preparation(X)
    features = int(X.shape[1])
    components = None
    if hasattr(preparation, "steps"):
        table = preparation.steps[0][1]
        components = getattr(preparation.steps[-1][1], "n_components_", None)
    if not _has_all(X):
        features = len(table.get_feature_names_out())
    if components is not None:
        features = int(components)
        what += f"; {features} principal components"
    filled: dict[str, Any] = {}
    categories: dict[str, int] = {}
    for kind, made, names in getattr(table, "transformers_", ()):
        if kind == "categorical":
            found = made[-1].categories_
            categories = dict(zip(names, map(len, found), strict=True))
        for name, value in zip(names, made[1].statistics_, strict=True):
            if X[name].isna().any():
                known = kind == "categorical" or np.isfinite(value)
                filled[name] = plain(value) if known else 0.0
    return {
        "what": what,
        "rows": len(X),
        "columns": int(X.shape[1]),
        "features": features,
        "filled": filled,
        "categories": categories,
    }


def to_binary(y: Any) -> IntArray:
    """Make two classes of several, as even as the order of the labels allows.

    Labels are sorted and their shares added up. The first label at which the sum is
    above one half starts class 1; all labels before it are class 0. Where that is the
    very first label, nothing would be left for class 0: then that label alone is class
    0 and the others are class 1. A single label becomes class 0.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        Labels of any sortable type.

    Returns
    -------
    ndarray of int
        0 and 1.

    Examples
    --------
    >>> to_binary(["a", "b", "b", "c", "c", "d"])
    array([0, 0, 0, 1, 1, 1])
    >>> to_binary([5, 5, 5, 7, 9])
    array([0, 0, 0, 1, 1])
    """
    labels = as_labels(y, "to_binary")
    if labels.ndim != 1 or not labels.size:
        raise ValueError(
            f"to_binary: labels must be 1-d and not empty; got shape {labels.shape}."
        )
    _, codes, counts = np.unique(labels, return_inverse=True, return_counts=True)
    # whole numbers, so that a share of exactly one half is never above it
    start = int(np.argmax(2 * np.cumsum(counts) > labels.size))
    return (codes >= max(start, 1)).astype(np.int64)


def _has_all(X: Any) -> bool:
    """Tell whether the table is one without missing values by its kind."""
    return isinstance(X, NumberTable)


def column_kinds(X: Any, owner: str) -> tuple[list[str], list[str]]:
    """Return the names of numeric and of categorical columns.

    Raises
    ------
    TypeError
        If ``X`` is not a table with text as column names.
    ValueError
        If it has no columns, one twice, or one that holds something else.
    """
    if isinstance(X, NumberTable):
        return list(X.columns), []
    import pandas as pd

    if not isinstance(X, pd.DataFrame):
        raise TypeError(f"{owner}: needs a pandas DataFrame; got {type(X).__name__}.")
    if not X.shape[1]:
        raise ValueError(f"{owner}: the table has no columns.")
    odd = [name for name in X.columns if not isinstance(name, str)]
    if odd:
        raise TypeError(f"{owner}: names of columns must be text; got {odd[0]!r}.")
    twice = X.columns[X.columns.duplicated()]
    if len(twice):
        raise ValueError(f"{owner}: column {twice[0]!r} appears twice.")
    numeric: list[str] = []
    categorical: list[str] = []
    for name in X.columns:
        (numeric if _is_numeric(X[name], owner) else categorical).append(name)
    return numeric, categorical


def as_numbers(column: Any) -> FloatArray:
    """Return a numeric column as floats, NaN where a value is missing."""
    if isinstance(column, np.ndarray):
        return column
    numbers: FloatArray = column.to_numpy(dtype=np.float64, na_value=np.nan)
    return numbers


def as_texts(column: Any) -> Array:
    """Return a categorical column as an array of str, None where a value is missing."""
    texts = np.empty(len(column), dtype=object)
    pairs = zip(column.astype(object), column.isna(), strict=True)
    texts[:] = [None if missing else str(value) for value, missing in pairs]
    return texts


def _values_of(X: Any) -> FloatArray:
    return np.asarray(X.to_numpy())


def _numbers_of(X: Any) -> FloatArray:
    return np.column_stack([as_numbers(X[name]) for name in X.columns])


def _texts_of(X: Any) -> Array:
    return np.column_stack([as_texts(X[name]) for name in X.columns])


def _is_numeric(column: Any, owner: str) -> bool:
    from pandas.api import types

    dtype = column.dtype
    if types.is_bool_dtype(dtype) or dtype.name == "category":
        return False
    if types.is_numeric_dtype(dtype) and not types.is_complex_dtype(dtype):
        return True
    if types.is_object_dtype(dtype):
        kinds = set(map(type, column[column.notna()]))
        odd = sorted(kind.__name__ for kind in kinds if not issubclass(kind, _SCALARS))
        if not odd:
            return False
        what = odd[0]
    elif types.is_string_dtype(dtype):
        return False
    else:
        what = str(dtype)
    raise ValueError(
        f"{owner}: column {column.name!r} holds {what}; numbers, text, categories and "
        "booleans fit."
    )
