"""Trees in compressed form, as files store them.

Nodes are stored breadth first: the positions of the leaves then determine the
structure, so children are omitted and cannot be forged. The distinct thresholds of each
column are listed once.
"""

from collections.abc import Mapping

import numpy as np

from quorate._engine import MOST_NODES, TreeArrays, lay_out
from quorate._typing import Array, BoolArray, FloatArray, IntArray

PACKED = (
    "counts", "leaf", "columns", "missing_left", "n_listed", "steps", "which",
    "payload", "levels", "table", "in_set",
)  # fmt: skip
"""Names of the arrays that :func:`pack` returns; the last only if there are sets."""


def pack(trees: TreeArrays) -> dict[str, Array]:
    """Return the trees in compressed form.

    If all shares are multiples of a power of two, as in distilled leaves, they are
    stored as counts, without that of the first class.
    """
    counts = np.diff(np.r_[trees.roots, trees.nodes.size])
    order = _breadth_first(trees, counts)
    leaf = trees.is_leaf[order]
    inner = order[~leaf]
    columns = trees.columns[inner]
    values, table = _by_first_use(trees.leaf_values(order[leaf]), trees.table)
    levels = share_levels(table)
    if levels:
        table = (table[:, 1:] * levels).astype(np.uint8)
    in_set = trees.in_set[inner]
    return {
        **({"in_set": np.packbits(in_set)} if in_set.any() else {}),
        "counts": narrow(counts),
        "leaf": np.packbits(leaf),
        "columns": narrow(columns),
        "missing_left": np.packbits(trees.missing_left[inner]),
        **_pack_thresholds(columns, trees.nodes["threshold"][inner], trees.n_features),
        "payload": narrow(_pack_leaves(values, trees.n_classes)),
        "levels": np.array([levels], dtype=np.uint16),
        "table": table,
    }


def unpack(packed: Mapping[str, Array], n_features: int, n_classes: int) -> TreeArrays:
    """Return the trees written by :func:`pack`; raise an error if they are forged."""
    counts = whole_numbers(packed["counts"])
    if counts.ndim != 1 or not counts.size or counts.min() < 1:
        raise ValueError("a tree without nodes")
    if counts.max() > MOST_NODES or counts.sum() > MOST_NODES:
        raise ValueError("too many nodes")
    n_nodes = int(counts.sum())
    is_leaf = _unpack_bits(packed["leaf"], n_nodes)
    starts = np.cumsum(counts) - counts
    # Every inner node has two children, and every node but the root is one.
    n_inner = np.add.reduceat(~is_leaf, starts, dtype=int)
    # The children of the inner nodes of a tree follow its root, pair by pair.
    first = starts + 1 - 2 * (np.cumsum(n_inner) - n_inner)
    left = np.repeat(first, n_inner) + 2 * np.arange(n_inner.sum())
    fits = np.array_equal(counts, 1 + 2 * n_inner)
    if not fits or not (left > np.flatnonzero(~is_leaf)).all():
        raise ValueError("a tree that does not end")
    columns = whole_numbers(packed["columns"])
    if columns.shape != left.shape:
        raise ValueError("columns of an unexpected layout")
    if left.size and not 0 <= columns.min() <= columns.max() < n_features:
        raise ValueError("a column that does not exist")
    payload = whole_numbers(packed["payload"])
    if payload.shape != (n_nodes - left.size,):
        raise ValueError("leaves of an unexpected layout")
    in_set = np.zeros(left.size, dtype=bool)
    if "in_set" in packed:
        in_set = _unpack_bits(packed["in_set"], left.size)
    table = _unpack_table(packed["table"], int(packed["levels"][0]))
    if table.ndim != 2 or table.shape[1] != n_classes:
        raise ValueError("leaves of an unexpected layout")
    return lay_out(
        counts=counts,
        is_leaf=is_leaf,
        left=left,
        right=left + 1,
        columns=columns,
        missing_left=_unpack_bits(packed["missing_left"], left.size),
        in_set=in_set,
        thresholds=_unpack_thresholds(packed, columns, n_features),
        leaf_values=_unpack_leaves(payload, n_classes, len(table)),
        table=table,
        n_features=n_features,
    )


def _breadth_first(trees: TreeArrays, counts: IntArray) -> IntArray:
    """Return the nodes tree by tree, each tree level by level."""
    is_leaf, left = trees.is_leaf, trees.nodes["child"].astype(np.int64)
    levels = [trees.roots.astype(np.int64)]
    while levels[-1].size:
        first = left[levels[-1][~is_leaf[levels[-1]]]]
        levels.append(np.stack([first, first + 1], axis=1).ravel())
    nodes = np.concatenate(levels)
    tree = np.repeat(narrow(np.arange(counts.size)), counts)
    return nodes[np.argsort(tree[nodes], kind="stable")]


def _unpack_bits(packed: Array, count: int) -> BoolArray:
    if packed.shape != ((count + 7) // 8,):
        raise ValueError("marks of an unexpected length")
    return np.unpackbits(packed, count=count).astype(bool)


# Thresholds


def _pack_thresholds(
    columns: IntArray, thresholds: Array, n_features: int
) -> dict[str, Array]:
    """Return the distinct thresholds of each column, and each node's index.

    Thresholds are stored as differences in units in the last place; the indices are
    stored column by column, because those of a column are similar.
    """
    keys = _sortable(thresholds.view(np.uint32))
    numbers = columns.astype(np.int64) << 32 | keys
    distinct, places = np.unique(numbers, return_inverse=True)
    n_listed = np.bincount(distinct >> 32, minlength=n_features)
    first = np.cumsum(n_listed) - n_listed
    order = _by_column(columns)
    return {
        "n_listed": narrow(n_listed),
        "steps": np.diff(distinct.astype(np.uint32), prepend=np.uint32(0)),
        "which": narrow((places.reshape(-1) - first[columns])[order]),
    }


def _unpack_thresholds(
    packed: Mapping[str, Array], columns: IntArray, n_features: int
) -> Array:
    """Return the threshold of each node."""
    n_listed, which = whole_numbers(packed["n_listed"]), whole_numbers(packed["which"])
    steps = packed["steps"]
    fits = n_listed.shape == (n_features,) and which.shape == columns.shape
    if not fits or not 0 <= n_listed.min() <= n_listed.max() <= MOST_NODES:
        raise ValueError("thresholds of an unexpected layout")
    if steps.dtype != np.uint32 or steps.shape != (n_listed.sum(),):
        raise ValueError("thresholds of an unexpected layout")
    places = np.empty_like(which)
    places[_by_column(columns)] = which
    if ((places < 0) | (places >= n_listed[columns])).any():
        raise ValueError("a threshold that does not exist")
    keys = np.cumsum(steps, dtype=np.uint32)
    listed: Array = _sortable(keys, back=True).view(np.float32)
    first = np.cumsum(n_listed) - n_listed
    return listed.take(first[columns] + places)


def _by_column(columns: IntArray) -> IntArray:
    """Return an order of nodes; numbers of few bits are sorted in a single pass."""
    return np.argsort(narrow(columns), kind="stable")


def _sortable(bits: Array, *, back: bool = False) -> Array:
    """Map float bits to integers in the same order, or back."""
    sign = np.uint32(1 << 31)
    positive = (bits >= sign) if back else (bits < sign)
    return np.where(positive, bits ^ sign, ~bits)


# Leaves


def _by_first_use(values: IntArray, table: FloatArray) -> tuple[IntArray, FloatArray]:
    """Return leaf values with the rows of the table in order of their first use.

    Breadth first, most leaves then refer to the next row.
    """
    in_table = values < 0
    rows, first, number = np.unique(
        ~values[in_table], return_index=True, return_inverse=True
    )
    order = np.argsort(first)
    moved = values.copy()
    moved[in_table] = ~np.argsort(order)[number]
    return moved, table[rows[order]]


def share_levels(table: FloatArray) -> int:
    """Return the smallest common denominator of all shares up to 256, or 0."""
    if not table.size or (table.sum(axis=1) != 1).any() or table.min() < 0:
        return 0
    for levels in (16, 32, 64, 128, 256):
        parts = table * levels
        if (parts == np.rint(parts)).all() and parts.max() < 256:
            return levels
    return 0


def _unpack_table(table: Array, levels: int) -> FloatArray:
    """Return the table of distinct leaves."""
    if not levels:
        return np.ascontiguousarray(table, dtype=float)
    others = whole_numbers(table)
    first = levels - others.sum(axis=1, keepdims=True)
    if first.size and first.min() < 0:
        raise ValueError("a leaf with shares above 1")
    return np.ascontiguousarray(np.hstack([first, others]) / levels)


def _pack_leaves(values: IntArray, n_classes: int) -> IntArray:
    """Encode pure leaves as their class, others as a distance to their row.

    One above the last class means a new row; larger values count back from the latest
    new row.
    """
    row = ~values
    latest = np.maximum.accumulate(np.where(values < 0, row, -1))
    before = np.r_[-1, latest[:-1]]
    back = np.where(row > before, 0, 1 + before - row)
    return np.where(values < 0, n_classes + back, values)


def _unpack_leaves(payload: IntArray, n_classes: int, n_rows: int) -> IntArray:
    """Return a class, or ``~row`` of the table, for each leaf."""
    is_new = payload == n_classes
    latest = np.cumsum(is_new) - 1
    row = np.where(is_new, latest, latest - (payload - n_classes - 1))
    in_table: BoolArray = payload >= n_classes
    if payload.size and payload.min() < 0:
        raise ValueError("a leaf without a class")
    if in_table.any() and not 0 <= row[in_table].min() <= row[in_table].max() < n_rows:
        raise ValueError("a leaf without a class")
    return np.where(in_table, ~row, payload)


# Numbers


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
