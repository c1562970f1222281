"""Trees as flat arrays, for kernels without bounds checks.

A node takes twelve bytes: column, threshold, left child. Children are adjacent and
always come after their parent, so every descent ends. Pure leaves store their class,
other leaves a row in a table of distinct distributions.

A leaf is its own right child: its left child is the node before it, and its threshold
is NaN, so every value goes right. Kernels therefore need not test for leaves, which
saves a quarter of their time. The value of a leaf is stored in the payload bits of the
NaN and in spare bits beside its column.

The node layout affects speed. A pair of children is followed by the children of the
larger subtree, which more rows reach, so the next two nodes are often in the same cache
line.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from quorate._kernels.nearest import rounded_down
from quorate._typing import Array, BoolArray, FloatArray, IntArray

NODE = np.dtype([("feature", np.int32), ("threshold", np.float32), ("child", np.int32)])
# Same values as in forest.c: flags beside the column, and the leaf mark.
_COLUMN = 0x00FFFFFF
_MISSING_LEFT = 0x40000000
_IN_SET = 0x20000000
LEAF = -(2**31)
MOST_NODES = 2**31 - 1
_NO_NUMBER = 0x7FC00000
_LOW_BITS, _HIGH_SHIFT, _HIGH = 22, 24, 0x3F
_LOW = 2**_LOW_BITS - 1
_MOST_LEAVES = 2**28 - 1


@dataclass(frozen=True, slots=True, eq=False)
class TreeArrays:
    """Trees, without what scikit-learn keeps about their training.

    Attributes
    ----------
    nodes : Array
        All nodes of all trees, of type ``NODE``.
    roots : IntArray
        Where each tree begins.
    table : FloatArray
        Distinct distributions over the classes, of leaves that are not pure.
    """

    nodes: Array
    roots: IntArray
    table: FloatArray
    n_features: int
    n_classes: int

    @property
    def is_leaf(self) -> BoolArray:
        """Which nodes are leaves."""
        leaf: BoolArray = self.nodes["feature"] < 0
        return leaf

    @property
    def columns(self) -> IntArray:
        """The column that each node compares."""
        columns: IntArray = self.nodes["feature"] & _COLUMN
        return columns

    @property
    def missing_left(self) -> BoolArray:
        """Whether missing values go left at each node."""
        goes_left: BoolArray = (self.nodes["feature"] & _MISSING_LEFT) != 0
        return goes_left

    @property
    def in_set(self) -> BoolArray:
        """Which nodes ask whether a value is in a set, see :class:`Sums`."""
        asks: BoolArray = (self.nodes["feature"] & (LEAF | _IN_SET)) == _IN_SET
        return asks

    def leaf_values(self, places: Any) -> IntArray:
        """Return the values of leaves: a class, or ``~row`` of the table."""
        bits = self.nodes["threshold"].view(np.int32)[places]
        high = self.nodes["feature"][places] >> _HIGH_SHIFT & _HIGH
        number: IntArray = bits & _LOW | high << _LOW_BITS
        return np.where(bits < 0, ~number, number)

    def reach(self, weights: FloatArray) -> FloatArray:
        """Return the most that each tree can take from a lead, if weighted so."""
        if self.n_classes == 1:
            return np.zeros(weights.size)
        # The largest and the smallest share in a leaf, at the end those of a pure one.
        highest = np.r_[self.table.max(axis=1), 1.0]
        lowest = np.r_[self.table.min(axis=1), 0.0]
        places = np.flatnonzero(self.is_leaf)
        rows = np.maximum(~self.leaf_values(places), -1)
        first = np.searchsorted(places, self.roots)
        each = np.repeat(weights, np.diff(np.r_[first, places.size]))
        spread = np.abs(each * highest[rows] - each * lowest[rows])
        return np.maximum.reduceat(spread, first)

    def check(self) -> "TreeArrays":
        """Raise an error for arrays that a kernel cannot safely traverse.

        After this check every descent stays within the arrays and ends.
        """
        nodes, table, roots = self.nodes, self.table, self.roots
        if nodes.dtype != NODE or nodes.ndim != 1 or nodes.size > MOST_NODES:
            raise _forged("nodes of an unexpected layout")
        if not (1 <= self.n_features <= _COLUMN and 1 <= self.n_classes <= _COLUMN):
            raise _forged("an invalid number of columns or classes")
        if table.dtype != np.float64 or table.shape != (len(table), self.n_classes):
            raise _forged("leaves of an unexpected layout")
        if not np.isfinite(table).all():
            raise _forged("leaves not finite, as if all rows had a sample_weight of 0")
        if not (nodes.flags.c_contiguous and table.flags.c_contiguous):
            raise _forged("arrays that are not contiguous")
        if (self.columns >= self.n_features).any():
            raise _forged("a column that does not exist")
        is_leaf, child = self.is_leaf, nodes["child"]
        place = np.arange(nodes.size, dtype=np.int32)
        if not (is_leaf | (child > place) & (child < nodes.size - 1)).all():
            raise _forged("a child that does not exist")
        values = self.leaf_values(np.flatnonzero(is_leaf))
        if not ((values >= -len(table)) & (values < self.n_classes)).all():
            raise _forged("a leaf without a class")
        ends = (child == place - 1) & np.isnan(nodes["threshold"]) & ~self.missing_left
        if not (ends | ~is_leaf).all():
            raise _forged("a leaf with children")
        if roots.ndim != 1 or not roots.size or roots.min() < 0:
            raise _forged("a tree without a root")
        if roots.max() >= nodes.size:
            raise _forged("a tree without a root")
        return self


def _forged(problem: str) -> ValueError:
    return ValueError(f"trees in arrays: damaged or forged, {problem}.")


def lay_out(
    *,
    counts: IntArray,
    is_leaf: BoolArray,
    left: IntArray,
    right: IntArray,
    columns: IntArray,
    missing_left: BoolArray,
    in_set: BoolArray,
    thresholds: FloatArray,
    leaf_values: IntArray,
    table: FloatArray,
    n_features: int,
) -> TreeArrays:
    """Return trees given node by node, in any order that begins with the root.

    Parameters
    ----------
    counts : array of int
        Number of nodes of each tree; the trees follow each other.
    is_leaf : array of bool
        Which nodes are leaves; all others are inner nodes.
    left, right : array of int
        Positions of the children of each inner node, among all nodes.
    columns : array of int
        Column that each inner node compares.
    missing_left : array of bool
        Whether missing values go left at each inner node.
    in_set : array of bool
        Whether an inner node asks for a set, whose place is its threshold.
    thresholds : array of float
        Values up to this one go left at each inner node.
    leaf_values : array of int
        The value of each leaf: a class, or ``~row`` of the table.
    table : array of shape (n_rows, n_classes)
        Distinct distributions.
    n_features : int
        Number of columns of X.
    """
    if counts.sum() > MOST_NODES:
        raise ValueError(f"trees in arrays: too many nodes ({counts.sum()}).")
    roots = np.cumsum(counts) - counts
    place, children = _places(roots, is_leaf, left, right)
    nodes = np.empty(is_leaf.size, dtype=NODE)
    at = place[~is_leaf]
    flags = missing_left * np.int32(_MISSING_LEFT) | in_set * np.int32(_IN_SET)
    nodes["feature"][at] = columns | flags
    nodes["threshold"][at] = rounded_down(thresholds)
    nodes["child"][at] = children
    fill_leaves(nodes, place[is_leaf], leaf_values)
    trees = TreeArrays(nodes, roots.astype(np.int32), table, n_features, table.shape[1])
    return trees.check()


def _places(
    roots: IntArray, is_leaf: BoolArray, left: IntArray, right: Any
) -> tuple[IntArray, IntArray]:
    """Return the place of each node, and that of each inner node's left child.

    All trees descend one level at a time; roots stay where they are. The children of
    the inner nodes of a level are the next one, pair by pair.
    """
    number = np.cumsum(~is_leaf, dtype=np.int32) - np.int32(1)  # of each inner node
    level, levels = roots, []
    while level.size:
        is_inner = ~is_leaf[level]
        at = number[level[is_inner]]
        levels.append((level, is_inner, at))
        level = _pairs(left[at], right[at])
    sizes = [level]  # nodes below each node, the lowest level first
    for level, is_inner, _ in reversed(levels):
        sizes.append(np.zeros(level.size, dtype=np.int32))
        sizes[-1][is_inner] = 2 + sizes[-2][::2] + sizes[-2][1::2]
    place = np.empty(is_leaf.size, dtype=np.int32)
    children = np.empty(left.size, dtype=np.int32)
    here: IntArray = roots.astype(np.int32)
    below = here + 1
    for (level, is_inner, at), size in zip(levels, sizes[-2::-1], strict=True):
        place[level] = here
        children[at] = first = below[is_inner]
        swap = size[1::2] > size[::2]
        here = _pairs(first, first + 1)
        below = 2 + _pairs(
            first + np.where(swap, size[1::2], 0), first + np.where(swap, 0, size[::2])
        )
    return place, children


def _pairs(first: IntArray, second: IntArray) -> IntArray:
    """Return numbers of two arrays in turns."""
    return np.stack([first, second], axis=1).ravel()


def fill_leaves(nodes: Array, places: IntArray, values: IntArray) -> None:
    """Turn some nodes into leaves that store a class, or ``~row`` of the table."""
    number = np.maximum(values, ~values)
    if number.size and number.max() > _MOST_LEAVES:
        raise ValueError(f"trees in arrays: too many distinct leaves ({number.max()}).")
    number = number.astype(np.int32)
    bits = number & _LOW | _NO_NUMBER | np.where(values < 0, np.int32(LEAF), 0)
    nodes["threshold"].view(np.int32)[places] = bits
    nodes["feature"][places] = LEAF | number >> _LOW_BITS << _HIGH_SHIFT
    nodes["child"][places] = places - 1
