"""Trees that add up: one table per tree, one descent per row."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from quorate._typing import Array, FloatArray, IntArray
from quorate.ensembles import Ensemble, Member, is_certain, take_columns


@dataclass(frozen=True, slots=True)
class TreeAddends:
    """What each tree adds to each class, by the leaf that a row reaches."""

    members: tuple[Callable[[Any], FloatArray], ...]
    reach: FloatArray
    """The largest difference that a tree can make between two classes."""
    are_whole: bool
    """Whether every leaf gives all of the weight to one class."""


def tree_addends(
    ensemble: Ensemble, classes: Array, weights: FloatArray
) -> TreeAddends:
    """Return what the trees of an ensemble add, with their weights."""
    averages = ensemble.rule.name == "average"
    tables = [
        _table(member, classes, float(weight), averages)
        for member, weight in zip(ensemble.members, weights, strict=True)
    ]
    return TreeAddends(
        tuple(
            _descent(member.tree, table, member.features)
            for member, table in zip(ensemble.members, tables, strict=True)
        ),
        np.array([_reach(table) for table in tables]),
        not averages or all(is_certain(member) for member in ensemble.members),
    )


def _table(member: Member, classes: Array, weight: float, averages: bool) -> FloatArray:
    """Return what every node of a tree adds to each class."""
    shares = member.node_probabilities(classes)
    if averages:
        return shares if weight == 1 else weight * shares
    table = np.zeros(shares.shape)
    table[np.arange(len(shares)), shares.argmax(axis=1)] = weight
    return table


def _reach(table: FloatArray) -> float:
    """Return the largest difference of two numbers in a row.

    Column by column, as rows are short: along rows NumPy takes 17 times as long.
    """
    highest = table[:, 0].copy()
    lowest = highest.copy()
    for column in table.T[1:]:
        np.maximum(highest, column, out=highest)
        np.minimum(lowest, column, out=lowest)
    return float((highest - lowest).max())


def _descent(
    tree: Any, table: FloatArray, features: IntArray | None
) -> Callable[[Any], FloatArray]:
    if features is None:
        return lambda X: table.take(tree.apply(X), axis=0)
    return lambda X: table.take(tree.apply(take_columns(X, features)), axis=0)


def takes_missing(ensemble: Ensemble) -> bool:
    """Tell whether an ensemble takes missing values, by asking it about one."""
    row = np.zeros((1, ensemble.core.n_features_in_))
    row[0, 0] = np.nan
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the row has no names
        try:
            ensemble.core.predict(row)
        except ValueError:
            return False
    return True
