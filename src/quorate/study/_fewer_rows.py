"""Fewer rows of a data set, with the shares of its classes as they are."""

import numpy as np

from quorate._data import take_rows
from quorate._typing import IntArray
from quorate.study._data_set import DataSet
from quorate.study._numbers import NumberTable


def fewer_rows(data: DataSet, n_rows: int, seed: int) -> DataSet:
    """Return so many rows drawn at random, one of each class at least.

    They stay in the order they had.
    """
    if n_rows >= data.n_rows:
        return data
    classes, codes = np.unique(data.y, return_inverse=True)
    if n_rows < classes.size:
        raise ValueError(
            f"{data.name}: has {classes.size} classes; take at least as many rows, not "
            f"n_rows={n_rows}."
        )
    take = rows_per_class(np.bincount(codes), n_rows)
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


def rows_per_class(counts: IntArray, n_rows: int) -> IntArray:
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
