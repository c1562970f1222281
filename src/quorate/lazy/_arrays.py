"""Convert the trees of an ensemble to the engine's arrays."""

import numpy as np

from quorate._engine import TreeArrays, lay_out
from quorate._ensembles import Ensemble, Member
from quorate._typing import Array, BoolArray, FloatArray, IntArray


def tree_arrays(ensemble: Ensemble, classes: Array) -> TreeArrays:
    """Return the trees of an ensemble as arrays, with votes for these classes."""
    trees = [member.tree for member in ensemble.members]
    left = np.concatenate([tree.children_left for tree in trees])
    held, table = _payload(ensemble, classes, left < 0)
    missing_left = [tree.missing_go_to_left for tree in trees]
    return lay_out(
        left=left,
        right=np.concatenate([tree.children_right for tree in trees]),
        counts=np.array([tree.node_count for tree in trees]),
        columns=np.concatenate([_columns(member) for member in ensemble.members]),
        missing_left=np.concatenate(missing_left).astype(bool),
        thresholds=np.concatenate([tree.threshold for tree in trees]),
        held=held,
        table=table,
        n_features=int(ensemble.core.n_features_in_),
    )


def _columns(member: Member) -> IntArray:
    """Return the column of the ensemble's X that each node tests."""
    columns: IntArray = np.maximum(member.tree.feature, 0)
    return columns if member.features is None else np.asarray(member.features)[columns]


def _payload(
    ensemble: Ensemble, classes: Array, is_leaf: BoolArray
) -> tuple[IntArray, FloatArray]:
    """Return the leaf values, and the table of leaves that are not pure."""
    shares = np.concatenate([m.node_probabilities(classes) for m in ensemble.members])
    payload = np.zeros(is_leaf.size, dtype=np.int64)
    payload[is_leaf] = shares[is_leaf].argmax(axis=1)
    if ensemble.rule.name != "average":
        return payload, np.empty((0, classes.size))
    # A pure leaf has exact zeros elsewhere; adding anything would change sums.
    sure = (shares.max(axis=1) == 1) & (np.count_nonzero(shares, axis=1) == 1)
    unsure = np.flatnonzero(is_leaf & ~sure)
    table = np.ascontiguousarray(shares[unsure], dtype=np.float64)
    if not unsure.size:
        return payload, table
    # Each distribution once, compared by its bytes.
    as_bytes = table.view(np.dtype((np.void, table.strides[0]))).ravel()
    _, first, rows = np.unique(as_bytes, return_index=True, return_inverse=True)
    payload[unsure] = ~rows.reshape(-1)
    return payload, np.ascontiguousarray(table[first])
