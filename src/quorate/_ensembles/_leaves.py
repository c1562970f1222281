"""The same tree with other leaves: its splits stay, what its leaves say is new."""

import copy
from typing import Any

import numpy as np

from quorate._ensembles._member import DISTILLED, Member
from quorate._typing import FloatArray, IntArray


def with_new_leaves(member: Member, leaves: IntArray, values: FloatArray) -> Any:
    """Return a copy of a member, a tree, with new probabilities in some leaves.

    Parameters
    ----------
    member : Member
        Its estimator is not changed.
    leaves : array of int
        Which nodes.
    values : array of shape (n_leaves, n_classes)
        One row per leaf, one column for each class the member itself knows.

    Returns
    -------
    estimator
        A tree that is marked as distilled. What its inner nodes say is the mean of what
        stands below them, as in a fitted tree; impurities, and so the importances of
        features, are those of training.
    """
    again = copy.deepcopy(member.estimator)
    tree = again.tree_
    tree.value[leaves, 0, :] = values
    weights = tree.weighted_n_node_samples
    for parents in reversed(_levels(tree)):
        left, right = tree.children_left[parents], tree.children_right[parents]
        total = weights[left] + weights[right]
        share = (weights[left] / np.where(total > 0, total, 1))[:, None]
        below = tree.value[:, 0, :]
        tree.value[parents, 0, :] = share * below[left] + (1 - share) * below[right]
    setattr(again, DISTILLED, True)
    return again


def _levels(tree: Any) -> list[IntArray]:
    """Return the inner nodes, from the root downwards."""
    levels: list[IntArray] = []
    nodes: IntArray = np.zeros(1, dtype=np.intp)
    while True:
        nodes = nodes[tree.children_left[nodes] != -1]
        if not nodes.size:
            return levels
        levels.append(nodes)
        nodes = np.concatenate([tree.children_left[nodes], tree.children_right[nodes]])
