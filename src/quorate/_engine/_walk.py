"""Trees without compiled kernels: all of them go down together, level by level."""

from functools import cached_property
from typing import Any

import numpy as np

from quorate._engine._arrays import TreeArrays
from quorate._typing import Array, BoolArray, FloatArray, IntArray

# Descents that go down together, and numbers that they may add.
_MOST_DESCENTS, _MOST_NUMBERS = 2**16, 2**22
# Levels between two looks at who has arrived; how many must have for it to pay.
_LEVELS, _ARRIVED = 4, 0.3


class Walk:
    """Evaluate trees in NumPy, with the same results as the kernels.

    Its arrays are made when they are first needed: whoever has kernels never does.
    """

    def __init__(
        self,
        trees: TreeArrays,
        weights: FloatArray,
        kind: Any = np.float64,
        sets: Any = (),
    ) -> None:
        self._trees, self._weights, self._kind = trees, weights, kind
        self._sets = np.asarray(sets, dtype=np.uint32)
        n_descents = weights.size
        n_numbers = n_descents * trees.n_classes
        most = min(_MOST_DESCENTS // n_descents, _MOST_NUMBERS // n_numbers)
        self.n_rows = max(1, most)
        """Rows that are evaluated together."""

    def __call__(self, members: IntArray, X: Array) -> FloatArray:
        """Return what some trees add to each class: trees, rows, classes."""
        leaves = self._descend(self._trees.roots[members], X)
        shares: FloatArray = self._table.take(self._held.take(leaves), axis=0)
        shares = shares.reshape(len(members), len(X), self._trees.n_classes)
        weights = self._weights[members]
        return shares if (weights == 1).all() else weights[:, None, None] * shares

    def add(self, members: IntArray, X: Array, sums: FloatArray) -> FloatArray:
        """Return sums with these trees added, rounded after each as kernels do."""
        terms = np.concatenate([sums[None], self(members, X)])
        if sums.size == 1:  # NumPy would add a single column in pairs
            return np.asarray(np.add.accumulate(terms)[-1])
        return np.asarray(np.add.reduce(terms))

    @cached_property
    def _nodes(self) -> tuple[Array, ...]:
        nodes, trees = self._trees.nodes, self._trees
        column, child = (a.astype(np.intp) for a in (trees.columns, nodes["child"]))
        return column, nodes["threshold"].copy(), child, trees.missing_left

    @cached_property
    def _asks(self) -> BoolArray:
        return self._trees.in_set

    @cached_property
    def _table(self) -> FloatArray:
        """The table, followed by the pure leaves."""
        pure = np.eye(self._trees.n_classes)
        return np.concatenate([self._trees.table, pure]).astype(self._kind)

    @cached_property
    def _held(self) -> IntArray:
        """The row of that table for each node, if it is a leaf."""
        values = self._trees.leaf_values(slice(None))
        return np.where(values < 0, ~values, values + len(self._trees.table))

    def _descend(self, roots: IntArray, X: Array) -> IntArray:
        """Return the leaves of all rows: those of the first tree, of the second, ..."""
        column, threshold, child, missing_left = self._nodes
        n_rows, width = X.shape
        values = X.ravel()
        has_missing = np.isnan(values).any()
        at = np.repeat(roots.astype(np.intp), n_rows)
        first = np.tile(np.arange(0, values.size, width), roots.size)
        leaves, on_the_way = at, np.arange(at.size)
        level = 0
        while at.size:
            value = values.take(column.take(at) + first)
            right = ~(value <= threshold.take(at))
            if self._sets.size:
                asks = np.flatnonzero(self._asks.take(at) & ~np.isnan(value))
                rank = value[asks].astype(np.intp)
                words = threshold.take(at[asks]).astype(np.intp) + (rank >> 5)
                right[asks] = self._sets.take(words) >> (rank & 31) & 1 == 0
            if has_missing:
                right &= ~(np.isnan(value) & missing_left.take(at))
            below = child.take(at)
            below += right
            level += 1
            if level % _LEVELS == 0:
                moves = np.flatnonzero(below != at)  # a leaf is its own right child
                if moves.size <= (1 - _ARRIVED) * at.size:
                    leaves[on_the_way] = below
                    on_the_way, first = on_the_way.take(moves), first.take(moves)
                    below = below.take(moves)
            at = below
        return leaves
