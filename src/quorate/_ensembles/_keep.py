"""Build an ensemble of the same type from some members, or with new leaf values.

The original is not modified. Shared parts (kept members, encoders, earlier steps of a
pipeline) are not copied.
"""

import copy
from typing import Any, TypeVar

import numpy as np

from quorate._ensembles._member import DISTILLED, Member
from quorate._ensembles._records import find_record, set_record
from quorate._ensembles._registry import read_ensemble
from quorate._typing import FloatArray, IntArray
from quorate._votes import as_weights, member_positions

Model = TypeVar("Model")


def keep_members(ensemble: Model, members: Any, weights: Any = None) -> Model:
    """Return a fitted ensemble of the same type with only these members.

    Parameters
    ----------
    ensemble : fitted ensemble, list or dict
        What :func:`quorate.collect_votes` reads. It is not modified.
    members : array-like of bool of shape (n_members,), or array-like of int
        A mask, or positions in the desired order.
    weights : array-like of shape (n_kept,), optional
        New voting weights of these members. AdaBoost and voting ensembles take them;
        forests and bagging, which have none, become a
        :class:`quorate.ensembles.WeightedVoting` of the same members. Lists and dicts
        hold members only.

    Returns
    -------
    ensemble of the same type
        Its ``n_estimators`` (or ``estimators`` and ``weights``) agree with its members.
        If these were chosen by :func:`quorate.prune` before, ``pruning_`` only says
        which are left and on which rows they were chosen.

    See Also
    --------
    quorate.prune : Let a method choose the members.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> import quorate
    >>> forest = RandomForestClassifier(100).fit(*load_wine(return_X_y=True))
    >>> quorate.keep_members(forest, [3, 14, 15])
    RandomForestClassifier(n_estimators=3)
    """
    found = read_ensemble(ensemble)
    places = member_positions(members, found.n_members)
    new = None if weights is None else _new_weights(weights, places.size)
    smaller: Model = found.keep(places, new)
    record = find_record(found.model)
    if record is None:
        return smaller
    kept = [int(place) for place in places]
    left = {"n_members": found.n_members, "kept": kept, "rows": record.get("rows", [])}
    set_record(smaller, left)
    return smaller


def _new_weights(weights: Any, n_kept: int) -> FloatArray:
    try:
        return as_weights(weights, n_kept)
    except ValueError as error:
        raise ValueError(str(error).replace("Votes(", "keep_members(")) from error


def with_new_leaves(member: Member, leaves: IntArray, values: FloatArray) -> Any:
    """Return a copy of a member, a tree, with new probabilities in some leaves.

    Parameters
    ----------
    member : Member
        Its estimator is not modified.
    leaves : array of int
        Positions of the nodes.
    values : array of shape (n_leaves, n_classes)
        One row per leaf, one column for each class the member itself knows.

    Returns
    -------
    estimator
        A tree that is marked as distilled. Inner nodes have the mean of the nodes below
        them, as in a fitted tree; impurities, and so feature importances, are those of
        training.
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
    """Return the inner nodes of each level, from the root down."""
    levels: list[IntArray] = []
    nodes: IntArray = np.zeros(1, dtype=np.intp)
    while True:
        nodes = nodes[tree.children_left[nodes] != -1]
        if not nodes.size:
            return levels
        levels.append(nodes)
        nodes = np.concatenate([tree.children_left[nodes], tree.children_right[nodes]])
