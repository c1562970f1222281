"""Columns of a study's rows as arrays, and how two of them go together."""

from typing import TYPE_CHECKING, Any

import numpy as np

from quorate._messages import unknown_name
from quorate._typing import Array, BoolArray, FloatArray

if TYPE_CHECKING:
    from quorate.study import Results


def column(results: "Results", name: str) -> FloatArray:
    """Return a measured quantity of every cell; NaN where it is missing."""
    _check(results, name)
    values = [row.get(name) for row in results.rows]
    return np.array([np.nan if value is None else float(value) for value in values])


def words(results: "Results", name: str) -> Array:
    """Return a name that every cell has, such as its method."""
    _check(results, name)
    return np.array([str(row[name]) for row in results.rows])


def means_by_method(results: "Results", *names: str) -> list[FloatArray]:
    """Return the means of quantities over the cells, by method."""
    method = words(results, "method")
    return [
        np.array([np.nanmean(values[method == name]) for name in results.methods])
        for values in (column(results, name) for name in names)
    ]


def cells_of_methods(owner: str, results: "Results", methods: Any) -> BoolArray:
    """Return which cells are of some methods; of all of them if None."""
    method = words(results, "method")
    if methods is None:
        return np.ones(method.size, dtype=bool)
    wanted = [methods] if isinstance(methods, str) else list(methods)
    for name in wanted:
        if name not in results.methods:
            raise ValueError(
                f"{owner}: {unknown_name('method', name, results.methods)}"
            )
    return np.isin(method, wanted)


def pearson(x: FloatArray, y: FloatArray) -> float:
    """Return the correlation of two columns, over the rows in which both are finite."""
    fine = np.isfinite(x) & np.isfinite(y)
    x, y = x[fine], y[fine]
    if x.size < 2 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return float("nan")
    return float(np.corrcoef(x, y)[0, 1])


def rank_correlation(x: FloatArray, y: FloatArray) -> float:
    """Return Spearman's correlation; few huge estimates must not decide it."""
    from scipy.stats import rankdata

    return pearson(rankdata(x), rankdata(y))


def _check(results: "Results", name: str) -> None:
    if not results.rows:
        raise ValueError(f"{results.name}: no results yet.")
    if name not in results.rows[0]:
        raise ValueError(unknown_name("quantity", name, results.rows[0]))
