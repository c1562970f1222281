"""Trees whose leaves hold numbers that add up: regressors and boosted trees.

Nodes are those of votes, with thresholds of 32 bits. Trees that compare in 64 bits keep
their thresholds in a list, rising, for each column. A row then holds how many of them
are below its value, its rank, which is an exact number of 32 bits, and is compared with
places in the list: the same way left or right for every value.

Trees that split categories ask whether the rank is in a set: thresholds of the column
are then the ends of categories. A set is a bit for each rank, in words of 32; its place
among all words is the threshold of the node.
"""

import ctypes
from dataclasses import dataclass
from typing import Any

import numpy as np

from quorate._engine._arrays import TreeArrays
from quorate._engine._walk import Walk
from quorate._native import SumPlan, address, kernels
from quorate._typing import Array, FloatArray, IntArray

# Numbers of this size and less are exact in 32 bits.
_MOST_CUTS = 2**24


@dataclass(frozen=True, slots=True, eq=False)
class Sums:
    """Trees that add up.

    Attributes
    ----------
    trees : TreeArrays
        Leaves refer to the table, which has a column for each number that a leaf adds.
    targets : IntArray
        The sum to which each tree adds its first number.
    base : FloatArray
        What each sum begins with.
    single : bool
        Whether sums are rounded to 32 bits after every tree.
    n_cuts : IntArray
        Number of listed thresholds of each column; empty if rows are compared in 32
        bits.
    cuts : FloatArray
        The thresholds, column by column.
    sets : Array
        The words of the sets of ranks that go left.
    """

    trees: TreeArrays
    targets: IntArray
    base: FloatArray
    single: bool
    n_cuts: IntArray
    cuts: FloatArray
    sets: Array

    @property
    def thresholds(self) -> FloatArray:
        """The value that each node compares with; for a set, the end of a category."""
        found: FloatArray = self.trees.nodes["threshold"]
        if not self.n_cuts.size:
            return found
        inner, first = ~self.trees.is_leaf, np.cumsum(self.n_cuts) - self.n_cuts
        columns = self.trees.columns[inner]
        places = first[columns] + found[inner].astype(int) % self.n_cuts[columns]
        found = found.astype(float)
        found[inner] = self.cuts[places]
        return found

    def check(self) -> "Sums":
        """Raise an error for arrays that a kernel cannot safely use."""
        trees, n_cuts = self.trees, self.n_cuts
        places = np.flatnonzero(trees.is_leaf)
        if trees.roots.size != self.targets.size or self.base.ndim != 1:
            raise ValueError("trees without a sum")
        if not np.isfinite(self.base).all() or (trees.leaf_values(places) >= 0).any():
            raise ValueError("leaves without a number")
        last = self.base.size - trees.n_classes
        if not 0 <= self.targets.min() <= self.targets.max() <= last:
            raise ValueError("a sum that does not exist")
        if n_cuts.size and (n_cuts.shape != (trees.n_features,) or n_cuts.min() < 0):
            raise ValueError("thresholds of an unexpected layout")
        if n_cuts.sum() != self.cuts.size or n_cuts.max(initial=0) > _MOST_CUTS:
            raise ValueError("thresholds of an unexpected layout")
        asks = trees.in_set
        if asks.any() and not n_cuts.size:
            raise ValueError("a set without ranks")
        at = trees.nodes["threshold"][asks]
        end = at + n_cuts[trees.columns[asks]] // 32 if at.size else at
        if not ((at >= 0) & (end < self.sets.size)).all():
            raise ValueError("a set that does not exist")
        return self


def rank_thresholds(
    columns: IntArray, thresholds: FloatArray, n_features: int
) -> tuple[FloatArray, IntArray, FloatArray]:
    """Return places in the lists of thresholds, and those lists for :class:`Sums`."""
    order = np.lexsort((thresholds, columns))
    ordered = np.rec.fromarrays([columns[order], thresholds[order]])
    is_new = np.r_[True, ordered[1:] != ordered[:-1]][: order.size]
    n_cuts = np.bincount(columns[order][is_new], minlength=n_features)
    first = np.cumsum(n_cuts) - n_cuts
    ranks = np.empty(order.size)
    ranks[order] = np.cumsum(is_new) - 1
    return ranks - first[columns], n_cuts, thresholds[order][is_new]


class Adder:
    """Add up trees, by compiled kernels or in NumPy: the same sums, to the bit."""

    def __init__(self, sums: Sums) -> None:
        self.sums, trees = sums, sums.trees
        kind = np.float32 if sums.single else np.float64
        self._walk = Walk(trees, np.ones(trees.roots.size), kind, sums.sets)
        self._library = kernels()
        self.engine = "numpy" if self._library is None else "compiled"
        if self._library is not None:
            arrays, numbers = sum_plan(sums)
            self._arrays = arrays
            at = {name: address(array) for name, array in arrays.items()}
            self._plan = SumPlan(**at, **numbers)
            self._plan_address = ctypes.addressof(self._plan)

    def __call__(self, X: Array) -> tuple[FloatArray, bool, bool]:
        """Return the sums, and whether values are missing, and whether any is infinite.

        Values that are too large for 32 bits are infinite where 32 bits are compared.
        """
        X = np.ascontiguousarray(X, dtype=np.float64)
        if self._library is None:
            return self._add_in_numpy(X)
        found = np.empty((len(X), self.sums.base.size))
        room = np.empty((min(len(X), self._library.room), X.shape[1]), dtype=np.float32)
        given, to = (address(X), len(X)), (address(room), address(found))
        strange = self._library.add(self._plan_address, *given, *to)
        return found, bool(strange & 1), bool(strange & 2)

    def _add_in_numpy(self, X: Array) -> tuple[FloatArray, bool, bool]:
        sums, walk = self.sums, self._walk
        with np.errstate(over="ignore"):
            rows = self._rank(X) if sums.n_cuts.size else X.astype(np.float32)
        is_infinite = bool(np.isinf(X if sums.n_cuts.size else rows).any())
        found = np.tile(sums.base, (len(X), 1))
        kind = np.float32 if sums.single else np.float64
        groups = [np.flatnonzero(sums.targets == to) for to in range(sums.base.size)]
        for start in range(0, len(X), walk.n_rows):
            part = slice(start, start + walk.n_rows)
            for first, trees in enumerate(groups):
                if trees.size:
                    to = slice(first, first + sums.trees.n_classes)
                    before: Any = found[part, to].astype(kind)
                    found[part, to] = walk.add(trees, rows[part], before)
        return found, bool(np.isnan(rows).any()), is_infinite

    def _rank(self, X: Array) -> Array:
        """Return how many thresholds are below each value."""
        if self.sums.single:
            X = X.astype(np.float32)
        rows = np.empty(X.shape, dtype=np.float32)
        listed = np.split(self.sums.cuts, np.cumsum(self.sums.n_cuts)[:-1])
        for place, cuts in enumerate(listed):
            rows[:, place] = np.searchsorted(cuts, X[:, place])
        rows[np.isnan(X)] = np.nan
        return rows


def sum_plan(sums: Sums) -> tuple[dict[str, Array], dict[str, Any]]:
    """Return the arrays and numbers of ``sum_plan`` in ``forest.c``."""
    arrays = {
        "nodes": sums.trees.nodes,
        "table": sums.trees.table,
        "roots": np.ascontiguousarray(sums.trees.roots, dtype=np.int32),
        "targets": np.ascontiguousarray(sums.targets, dtype=np.int32),
        "base": np.ascontiguousarray(sums.base, dtype=np.float64),
        "cuts": np.ascontiguousarray(sums.cuts, dtype=np.float64),
        "first": np.r_[0, np.cumsum(sums.n_cuts)].astype(np.int32),
    }
    if sums.sets.size:
        arrays["sets"] = np.ascontiguousarray(sums.sets, dtype=np.uint32)
    return arrays, {
        "n_trees": sums.trees.roots.size,
        "n_features": sums.trees.n_features,
        "n_held": sums.trees.n_classes,
        "n_sums": sums.base.size,
        "ranked": int(sums.n_cuts.size > 0),
        "single": int(sums.single),
    }
