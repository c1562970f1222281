"""From tables to the numbers learners take, fitted on the training part of a fold."""

from typing import Any

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder

from quorate._output import plain
from quorate._typing import Array, FloatArray
from quorate.study._data_set import as_numbers, as_texts, column_kinds


def make_preparation(X: Any, components: int | float | None = None) -> Any:
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
    components : int or float, optional
        Principal components to reduce the numbers to, or the share of the variance
        that they explain.

    Returns
    -------
    sklearn.compose.ColumnTransformer, or a Pipeline that starts with one
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
    # columns by name: scikit-learn then notices a column that is missing
    table = ColumnTransformer([step for step in steps if step[2]], sparse_threshold=0)
    if components is None:
        return table
    # this solver takes shares of the variance too and has no randomness
    return make_pipeline(table, PCA(components, svd_solver="full"))


def describe_preparation(X: Any) -> str:
    """Say in one line what :func:`make_preparation` does to a table.

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
    for names, kind, done, fill in (
        (numeric, "numeric column", "", "the median"),
        (categorical, "categorical column", " one-hot", "the most frequent"),
    ):
        if not names:
            continue
        text = f"{len(names)} {kind}{'' if len(names) == 1 else 's'}{done}"
        n_missing = int(X[names].isna().any().sum())
        if n_missing:
            text += f", {n_missing} with missing values filled by {fill}"
        parts.append(text)
    return "; ".join(parts)


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
    features = len(preparation.get_feature_names_out())
    if hasattr(preparation, "steps"):
        table = preparation[0]
        what += f"; {features} principal components"
    filled: dict[str, Any] = {}
    categories: dict[str, int] = {}
    for kind, made, names in table.transformers_:
        if kind == "categorical":
            categories = dict(zip(names, map(len, made[-1].categories_), strict=True))
        for name, value in zip(names, made[1].statistics_, strict=True):
            if X[name].isna().any():
                is_known = kind == "categorical" or np.isfinite(value)
                filled[name] = plain(value) if is_known else 0.0
    return {
        "what": what,
        "rows": len(X),
        "columns": int(X.shape[1]),
        "features": features,
        "filled": filled,
        "categories": categories,
    }


def _numbers_of(X: Any) -> FloatArray:
    return np.column_stack([as_numbers(X[name]) for name in X.columns])


def _texts_of(X: Any) -> Array:
    return np.column_stack([as_texts(X[name]) for name in X.columns])
