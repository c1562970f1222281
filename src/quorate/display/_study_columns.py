"""Columns of a study's rows, as arrays."""

from typing import TYPE_CHECKING

import numpy as np

from quorate._suggest import unknown_name
from quorate._typing import Array, FloatArray

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


def _check(results: "Results", name: str) -> None:
    if not results.rows:
        raise ValueError(f"{results.name}: no results yet.")
    if name not in results.rows[0]:
        raise ValueError(unknown_name("quantity", name, results.rows[0]))
