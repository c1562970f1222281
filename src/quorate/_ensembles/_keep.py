"""Build a model from members of another: fewer, with new leaf values, or as a forest.

The original is not modified. Shared parts (kept members, encoders, earlier steps of a
pipeline) are not copied.
"""

import copy
from typing import Any, TypeVar

import numpy as np
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.pipeline import Pipeline

from quorate._ensembles._member import DISTILLED, Member
from quorate._ensembles._records import find_record, set_record
from quorate._ensembles._registry import read_ensemble
from quorate._typing import Array, FloatArray, IntArray
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
    places = member_positions(members, found.n_members, "keep_members")
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


def to_forest(model: Any) -> RandomForestClassifier | ExtraTreesClassifier:
    """Return a scikit-learn forest that predicts the same probabilities.

    Tools that support forests (SHAP, treelite, emlearn and others) can then read it.

    Parameters
    ----------
    model : fitted ensemble
        What :func:`quorate.collect_votes` reads, if its members are decision trees
        whose probabilities it averages: bagging, also on parts of the columns, soft
        voting, a :class:`quorate.ensembles.WeightedVoting` of equal weights, or a
        :class:`quorate.PrunedClassifier` around one of these. A forest is returned
        unchanged.

    Returns
    -------
    RandomForestClassifier or ExtraTreesClassifier
        Fitted, with ``feature_importances_``. It does not know which rows its trees
        were trained on: pass ``source="training"`` to evaluate it on those.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.ensemble import BaggingClassifier
    >>> import quorate
    >>> X, y = load_wine(return_X_y=True)
    >>> bagging = BaggingClassifier(n_estimators=50, random_state=0).fit(X, y)
    >>> small = quorate.prune(bagging, X, y, keep=5)
    >>> forest = quorate.ensembles.to_forest(small)
    >>> np.allclose(forest.predict_proba(X), small.predict_proba(X))
    True
    """
    ensemble = read_ensemble(model)
    if type(ensemble.model) in (RandomForestClassifier, ExtraTreesClassifier):
        return ensemble.model
    averages = ensemble.rule.name == "average" and ensemble.weights is None
    is_one = ensemble.can_predict and not isinstance(ensemble.model, Pipeline)
    if not (is_one and averages and ensemble.is_of_trees):
        raise TypeError(
            f"to_forest: {type(ensemble.model).__name__} must be one model that "
            "averages the probabilities of decision trees, without weights and without "
            "steps before them."
        )
    classes, n_columns = np.asarray(ensemble.classes), int(ensemble.core.n_features_in_)
    forest = RandomForestClassifier(ensemble.n_members, bootstrap=False)
    forest.estimators_ = [
        _forest_tree(one, classes, n_columns) for one in ensemble.members
    ]
    forest.classes_, forest.n_classes_, forest.n_outputs_ = classes, classes.size, 1
    forest.n_features_in_ = n_columns
    if hasattr(ensemble.core, "feature_names_in_"):
        forest.feature_names_in_ = ensemble.core.feature_names_in_
    record = find_record(model)
    return forest if record is None else set_record(forest, record)


def _forest_tree(member: Member, classes: Array, n_columns: int) -> Any:
    """Return a tree defined on all columns and all classes."""
    make, _, state = member.tree.__reduce__()
    nodes = state["nodes"].copy()
    if member.features is not None:
        inner = nodes["left_child"] != -1
        nodes["feature"][inner] = member.features[nodes["feature"][inner]]
    values = np.ascontiguousarray(member.node_probabilities(classes)[:, None, :])
    tree = make(n_columns, np.array([classes.size], dtype=np.intp), 1)
    tree.__setstate__({**state, "nodes": nodes, "values": values})
    again = copy.copy(member.estimator)
    again.tree_, again.n_features_in_ = tree, n_columns
    again.classes_, again.n_classes_ = np.arange(classes.size), classes.size
    return again
