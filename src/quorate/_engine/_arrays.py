"""Trees as flat arrays, for kernels without bounds checks.

A node takes twelve bytes: column, threshold, left child. Children are adjacent and
always come after their parent, so every descent ends. Pure leaves store their class,
other leaves a row in a table of distinct distributions.

A leaf is its own right child: its left child is the node before it, and its threshold
is NaN, so every value goes right. Kernels therefore need not test for leaves, which
saves a quarter of their time. The value of a leaf is stored in the payload bits of the
NaN and in spare bits beside its column.

The node layout affects speed. A pair of children is followed by the children of the
heavier one, which more rows reach, so the next two nodes are often in the same cache
line. In files, nodes are stored breadth first: the positions of the leaves then
determine the structure.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from quorate._kernels.nearest import rounded_down
from quorate._typing import Array, BoolArray, FloatArray, IntArray

NODE = np.dtype([("feature", np.int32), ("threshold", np.float32), ("child", np.int32)])
# Same values as in forest.c: flags beside the column, and the leaf mark.
_COLUMN = 0x00FFFFFF
_MISSING_LEFT = 0x40000000
LEAF = -(2**31)
_MOST = 2**31 - 1
_NO_NUMBER = 0x7FC00000
_LOW_BITS, _HIGH_SHIFT, _HIGH = 22, 24, 0x3F
_LOW = 2**_LOW_BITS - 1
_MOST_HELD = 2**28 - 1
# Exceptions raised by invalid data from a file.
FORGED = (KeyError, TypeError, AttributeError, IndexError, ValueError, OverflowError)


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
        Distinct distributions over the classes, of leaves that are not sure.
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

    def held(self, places: Any) -> IntArray:
        """Return the values of leaves: a class, or ``~row`` of the table."""
        bits = self.nodes["threshold"].view(np.uint32)[places].astype(np.int64)
        high = self.nodes["feature"][places].astype(np.int64) >> _HIGH_SHIFT & _HIGH
        number: IntArray = bits & _LOW | high << _LOW_BITS
        return np.where(bits >> 31, ~number, number)

    def check(self) -> "TreeArrays":
        """Raise an error for arrays that a kernel cannot safely traverse.

        After this check every descent stays within the arrays and ends.
        """
        nodes, table, roots = self.nodes, self.table, self.roots
        if nodes.dtype != NODE or nodes.ndim != 1 or nodes.size > _MOST:
            raise _forged("nodes of an unexpected layout")
        if not (1 <= self.n_features <= _COLUMN and 1 <= self.n_classes <= _COLUMN):
            raise _forged("an invalid number of columns or classes")
        if table.dtype != np.float64 or table.shape != (len(table), self.n_classes):
            raise _forged("leaves of an unexpected layout")
        if not np.isfinite(table).all():
            raise _forged("leaves that are not finite")
        if not (nodes.flags.c_contiguous and table.flags.c_contiguous):
            raise _forged("arrays that are not contiguous")
        leaf, place = self.is_leaf, np.arange(nodes.size)
        child = nodes["child"].astype(np.int64)
        forward = (child > place) & (child + 1 < nodes.size)
        held = self.held(leaf)
        if ((nodes["feature"] & _COLUMN) >= self.n_features).any():
            raise _forged("a column that does not exist")
        if not forward[~leaf].all():
            raise _forged("a child that does not exist")
        if not ((held >= -len(table)) & (held < self.n_classes)).all():
            raise _forged("a leaf without a class")
        ends = (child == place - 1) & np.isnan(nodes["threshold"])
        if not (ends & (nodes["feature"] & _MISSING_LEFT == 0))[leaf].all():
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
    left: IntArray,
    right: IntArray,
    counts: IntArray,
    columns: IntArray,
    missing_left: BoolArray,
    thresholds: FloatArray,
    held: IntArray,
    table: FloatArray,
    n_features: int,
) -> TreeArrays:
    """Return trees whose nodes stand one after the other, tree by tree.

    Parameters
    ----------
    left, right : array of int
        Children, counted from the root of their tree; negative for leaves.
    counts : array of int
        Nodes of each tree.
    columns : array of int
        Column that each node compares.
    missing_left : array of bool
        Whether missing values go left there.
    thresholds : array of float
        Values up to this one go left.
    held : array of int
        What leaves hold: a class, or ``~row`` of the table.
    table : array of shape (n_rows, n_classes)
        Distinct distributions.
    n_features : int
        Columns of the rows to come.
    """
    starts = np.cumsum(counts) - counts
    if counts.sum() > _MOST:
        raise ValueError(f"trees in arrays: too many nodes ({counts.sum()}).")
    is_leaf = left < 0
    shift = np.repeat(starts, counts)
    order = _breadth_first(starts, left + shift, right + shift, is_leaf, counts)
    leaf = is_leaf[order]
    held, table = _in_order(held[order][leaf], table)
    nodes = np.zeros(order.size, dtype=NODE)
    nodes["threshold"] = rounded_down(np.where(is_leaf, 0.0, thresholds))[order]
    nodes["feature"] = (columns | np.where(missing_left, _MISSING_LEFT, 0))[order]
    nodes["child"][~leaf] = _children(~leaf, counts)
    _fill_leaves(nodes, np.flatnonzero(leaf), held)
    roots = starts.astype(np.int32)
    arrays = TreeArrays(nodes, roots, table, n_features, table.shape[1])
    return _heavy_first(arrays.check()).check()


def _in_order(held: IntArray, table: FloatArray) -> tuple[IntArray, FloatArray]:
    """Return leaf values with the table sorted by first reference.

    Breadth first, most leaves then refer to the next row.
    """
    unsure = held < 0
    rows, first, number = np.unique(
        ~held[unsure], return_index=True, return_inverse=True
    )
    order = np.argsort(first)
    moved = held.copy()
    moved[unsure] = ~np.argsort(order)[number]
    return moved, np.ascontiguousarray(table[rows[order]])


def _fill_leaves(nodes: Array, places: IntArray, held: IntArray) -> None:
    """Turn some nodes into leaves that store a class, or ``~row`` of the table."""
    number = np.where(held < 0, ~held, held).astype(np.int64)
    if number.size and number.max() > _MOST_HELD:
        raise ValueError(f"trees in arrays: too many distinct leaves ({number.max()}).")
    bits = number & _LOW | _NO_NUMBER | np.where(held < 0, 1 << 31, 0)
    nodes["threshold"].view(np.uint32)[places] = bits
    nodes["feature"][places] = LEAF | number >> _LOW_BITS << _HIGH_SHIFT
    nodes["child"][places] = places - 1


def _heavy_first(trees: TreeArrays) -> TreeArrays:
    """Convert trees from breadth-first order to the order of this module."""
    nodes, inner = trees.nodes, ~trees.is_leaf
    left = nodes["child"].astype(np.int64)
    levels = []
    level = trees.roots.astype(np.int64)
    while level.size:
        level = level[inner[level]]
        levels.append(level)
        level = np.concatenate([left[level], left[level] + 1])
    below = np.zeros(nodes.size, dtype=np.int64)
    for level in reversed(levels):
        below[level] = 2 + below[left[level]] + below[left[level] + 1]
    place = np.arange(nodes.size)  # roots stay
    pair = place + 1
    for level in levels:
        first, second = left[level], left[level] + 1
        place[first], place[second] = pair[level], pair[level] + 1
        swap = below[second] > below[first]
        heavy, light = np.where(swap, second, first), np.where(swap, first, second)
        pair[heavy] = pair[level] + 2
        pair[light] = pair[heavy] + below[heavy]
    ordered = np.empty_like(nodes)
    ordered[place] = nodes
    ordered["child"][place] = np.where(inner, pair, place - 1)
    return replace(trees, nodes=ordered)


def _breadth_first(
    roots: IntArray, left: IntArray, right: IntArray, is_leaf: BoolArray, counts: Any
) -> IntArray:
    """Return the nodes tree by tree, each tree level by level.

    All trees descend one level at a time.
    """
    levels = [roots]
    while levels[-1].size:
        inner = levels[-1][~is_leaf[levels[-1]]]
        levels.append(np.stack([left[inner], right[inner]], axis=1).ravel())
    nodes = np.concatenate(levels)
    tree = np.repeat(np.arange(counts.size), counts)
    return nodes[np.argsort(tree[nodes], kind="stable")]


def _children(is_inner: BoolArray, counts: IntArray) -> IntArray:
    """Return the left child of each inner node, from breadth-first order alone.

    The children of the first inner node follow the root, those of the next inner node
    follow them, and so on.
    """
    starts = np.cumsum(counts) - counts
    tree = np.repeat(np.arange(counts.size), counts)[is_inner]
    # Number of inner nodes before each node, over all trees and in its own.
    before: IntArray = np.cumsum(is_inner) - is_inner
    number: IntArray = before[is_inner] - before[starts][tree]
    children: IntArray = starts[tree] + 1 + 2 * number
    return children


# Files


def pack(trees: TreeArrays) -> dict[str, Array]:
    """Return the trees in compressed form.

    Child positions follow from the positions of the leaves and are omitted, so they
    cannot be forged. The distinct thresholds of each column are listed once. If all
    shares are multiples of a power of two, as in distilled leaves, they are stored as
    counts, without that of the first class.
    """
    counts = np.diff(np.r_[trees.roots, trees.nodes.size])
    left = trees.nodes["child"].astype(np.int64)
    roots = trees.roots.astype(np.int64)
    order = _breadth_first(roots, left, left + 1, trees.is_leaf, counts)
    leaf = trees.is_leaf[order]
    nodes = trees.nodes[order[~leaf]]
    columns = nodes["feature"] & _COLUMN
    held, levels = trees.held(order[leaf]), share_levels(trees.table)
    shares = trees.table
    if levels:
        shares = (trees.table[:, 1:] * levels).astype(np.uint8)
    return {
        "counts": narrow(counts),
        "leaf": np.packbits(leaf),
        "columns": narrow(columns),
        "missing_left": np.packbits((nodes["feature"] & _MISSING_LEFT) != 0),
        **_listed(columns, nodes["threshold"], trees.n_features),
        "payload": narrow(_referring(held, trees.n_classes)),
        "levels": np.array([levels], dtype=np.uint16),
        "table": shares,
    }


def unpack(packed: Mapping[str, Array], n_features: int, n_classes: int) -> TreeArrays:
    """Return the trees written by :func:`pack`, or raise one of ``FORGED``."""
    counts = whole_numbers(packed["counts"])
    if counts.ndim != 1 or counts.size == 0 or counts.min() < 1 or counts.max() > _MOST:
        raise ValueError("a tree without nodes")
    n_nodes = int(counts.sum())
    bits = packed["leaf"]
    if n_nodes > _MOST or bits.shape != ((n_nodes + 7) // 8,):
        raise ValueError("leaves are not marked")
    leaf = np.unpackbits(bits, count=n_nodes).astype(bool)
    starts = np.cumsum(counts) - counts
    # Every inner node has two children, and every node but the root is one.
    if not np.array_equal(counts, 1 + 2 * np.add.reduceat(~leaf, starts, dtype=int)):
        raise ValueError("a tree that does not end")
    n_inner = int(np.count_nonzero(~leaf))
    if packed["missing_left"].shape != ((n_inner + 7) // 8,):
        raise ValueError("columns of an unexpected layout")
    missing = np.unpackbits(packed["missing_left"], count=n_inner)
    columns = whole_numbers(packed["columns"])
    if columns.shape != (n_inner,):
        raise ValueError("columns of an unexpected layout")
    if n_inner and not 0 <= columns.min() <= columns.max() < min(n_features, _COLUMN):
        raise ValueError("a column that does not exist")
    table = _shares(packed["table"], int(packed["levels"][0]))
    payload = whole_numbers(packed["payload"])
    if payload.shape != (n_nodes - n_inner,):
        raise ValueError("leaves of an unexpected layout")
    nodes = np.zeros(n_nodes, dtype=NODE)
    nodes["feature"][~leaf] = columns | np.where(missing, _MISSING_LEFT, 0)
    nodes["threshold"][~leaf] = _looked_up(packed, columns, n_features)
    nodes["child"][~leaf] = _children(~leaf, counts)
    held = _referred(payload, n_classes, len(table))
    _fill_leaves(nodes, np.flatnonzero(leaf), held)
    roots = starts.astype(np.int32)
    trees = TreeArrays(nodes, roots, table, n_features, n_classes)
    return _heavy_first(trees.check()).check()


def _listed(columns: IntArray, thresholds: Array, n_features: int) -> dict[str, Array]:
    """Return the distinct thresholds of each column, and each node's index.

    Thresholds are stored as differences in units in the last place; the indices are
    stored column by column, because those of a column are similar.
    """
    keys = _in_sequence(thresholds.view(np.uint32))
    numbers = columns.astype(np.int64) << 32 | keys
    distinct, places = np.unique(numbers, return_inverse=True)
    n_listed = np.bincount(distinct >> 32, minlength=n_features)
    first = np.cumsum(n_listed) - n_listed
    order = np.argsort(columns, kind="stable")
    return {
        "n_listed": narrow(n_listed),
        "steps": np.diff(distinct.astype(np.uint32), prepend=np.uint32(0)),
        "which": narrow((places.reshape(-1) - first[columns])[order]),
    }


def _looked_up(
    packed: Mapping[str, Array], columns: IntArray, n_features: int
) -> Array:
    """Return the threshold of each node; the inverse of :func:`_listed`."""
    n_listed, which = whole_numbers(packed["n_listed"]), whole_numbers(packed["which"])
    steps = packed["steps"]
    fits = n_listed.shape == (n_features,)
    if not fits or not 0 <= n_listed.min() <= n_listed.max() <= _MOST:
        raise ValueError("thresholds of an unexpected layout")
    if steps.dtype != np.uint32 or steps.shape != (n_listed.sum(),):
        raise ValueError("thresholds of an unexpected layout")
    if which.shape != columns.shape:
        raise ValueError("thresholds of an unexpected layout")
    places = np.empty_like(which)
    places[np.argsort(columns, kind="stable")] = which
    if ((places < 0) | (places >= n_listed[columns])).any():
        raise ValueError("a threshold that does not exist")
    keys = np.cumsum(steps, dtype=np.uint32)
    listed: Array = _in_sequence(keys, back=True).view(np.float32)
    first = np.cumsum(n_listed) - n_listed
    return listed.take(first[columns] + places)


def _in_sequence(bits: Array, *, back: bool = False) -> Array:
    """Map float bits to integers in the same order, or back."""
    sign = np.uint32(1 << 31)
    positive = (bits >= sign) if back else (bits < sign)
    return np.where(positive, bits ^ sign, ~bits)


def share_levels(table: FloatArray) -> int:
    """Return the smallest common denominator of all shares up to 256, or 0."""
    if not table.size or (table.sum(axis=1) != 1).any() or table.min() < 0:
        return 0
    for levels in (16, 32, 64, 128, 256):
        parts = table * levels
        if (parts == np.rint(parts)).all() and parts.max() < 256:
            return levels
    return 0


def _shares(table: Array, levels: int) -> FloatArray:
    """Return the table of distinct leaves from its stored form."""
    if not levels:
        return np.ascontiguousarray(table, dtype=float)
    others = whole_numbers(table)
    first = levels - others.sum(axis=1, keepdims=True)
    if first.size and first.min() < 0:
        raise ValueError("a leaf with shares above 1")
    return np.ascontiguousarray(np.hstack([first, others]) / levels)


def _referring(held: IntArray, n_classes: int) -> IntArray:
    """Encode pure leaves as their class, others as a distance to their row.

    One above the last class means a new row; larger values count back from the latest
    new row.
    """
    row = ~held
    latest = np.maximum.accumulate(np.where(held < 0, row, -1))
    before = np.r_[-1, latest[:-1]]
    back = np.where(row > before, 0, 1 + before - row)
    return np.where(held < 0, n_classes + back, held)


def _referred(payload: IntArray, n_classes: int, n_rows: int) -> IntArray:
    """Decode a class, or ``~row``, for each leaf; the inverse of :func:`_referring`."""
    is_new = payload == n_classes
    latest = np.cumsum(is_new) - 1
    row = np.where(is_new, latest, latest - (payload - n_classes - 1))
    unsure = payload >= n_classes
    if payload.size and payload.min() < 0:
        raise ValueError("a leaf without a class")
    if unsure.any() and not 0 <= row[unsure].min() <= row[unsure].max() < n_rows:
        raise ValueError("a leaf without a class")
    return np.where(unsure, ~row, payload)


def whole_numbers(array: Array) -> IntArray:
    """Return an integer array as int64, or raise an error."""
    if array.dtype.kind not in "iu":
        raise ValueError("numbers that are not integers")
    return array.astype(np.int64)


def narrow(numbers: Array) -> Array:
    """Return integers in the smallest dtype that holds them."""
    low, high = (int(numbers.min()), int(numbers.max())) if numbers.size else (0, 0)
    kind = np.result_type(np.min_scalar_type(low), np.min_scalar_type(high))
    return numbers.astype(kind)


# NumPy fallback


def leaves(trees: TreeArrays, member: int, X: Array) -> IntArray:
    """Return the value of each row's leaf: a class, or ``~row`` of the table.

    Equivalent to the kernels, level by level in NumPy.
    """
    nodes = trees.nodes
    at = np.full(len(X), trees.roots[member], dtype=np.int64)
    rows = np.arange(len(X))
    while rows.size:
        here = nodes[at[rows]]
        inner = here["feature"] >= 0
        rows, here = rows[inner], here[inner]
        value = X[rows, here["feature"] & _COLUMN]
        right = ~(value <= here["threshold"])
        goes_left = (here["feature"] & _MISSING_LEFT) != 0
        right[np.isnan(value) & goes_left] = False
        at[rows] = here["child"] + right
    return trees.held(at)
