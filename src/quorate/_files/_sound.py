"""Whether compiled parts of a model point only at what they have.

scikit-learn's trees and search trees are arrays that compiled code follows without
looking: a child beyond the last node, a feature beyond the last column, and ``predict``
reads memory that is not its own. Every part that was built from a file is looked at
once, before anybody can call it.
"""

import gc
from collections.abc import Iterator, Mapping, ValuesView
from types import FunctionType, ModuleType
from typing import Any

import numpy as np

from quorate._typing import Array, IntArray

# Nothing in these leads to the parts of a model.
_ENDS = (str, bytes, int, float, complex, type, ModuleType, FunctionType)


def unsound_part(model: Any) -> str:
    """Say what is wrong with the first part that is; "" if all is well."""
    for part in _parts(model):
        found = _fault(part)
        if found:
            return f"{type(part).__name__}: {found}"
    return ""


def _parts(model: Any) -> Iterator[Any]:
    """Walk over everything that a model holds, each thing once."""
    seen = {id(model): model}
    left = [model]
    while left:
        part = left.pop()
        yield part
        # An array of objects does not tell the garbage collector what it holds.
        inside = (
            part.ravel().tolist()
            if isinstance(part, np.ndarray) and part.dtype.hasobject
            else gc.get_referents(part)
        )
        for other in inside:
            if id(other) not in seen and not isinstance(other, _ENDS):
                seen[id(other)] = other
                left.append(other)


def _fault(part: Any) -> str:
    name = f"{type(part).__module__}.{type(part).__qualname__}"
    if name == "sklearn.tree._tree.Tree":
        return _fault_of_tree(part)
    if name.endswith(".TreePredictor") and name.startswith("sklearn.ensemble."):
        return _fault_of_predictor(part)
    if name in (
        "sklearn.neighbors._kd_tree.KDTree",
        "sklearn.neighbors._ball_tree.BallTree",
    ):
        return _fault_of_search_tree(part)
    return _fault_of_owner(part)


def _fault_of_tree(tree: Any) -> str:
    left, right = tree.children_left, tree.children_right
    inner = left != -1
    return _fault_of_nodes(left, right, inner, tree.feature, tree.n_features)


def _fault_of_nodes(
    left: IntArray, right: IntArray, inner: Array, feature: IntArray, columns: int
) -> str:
    """Check that every way down ends, and asks for columns that are there."""
    place, left, right = np.flatnonzero(inner), left[inner], right[inner]
    for child in (left, right):
        # Builders number children after their parents, so every way down ends.
        if np.any(child <= place) or np.any(child >= inner.size):
            return "a node's child is not among the nodes after it"
    if np.any(feature[inner] < 0) or np.any(feature[inner] >= columns):
        return "a node asks for a column that is not there"
    return ""


def _fault_of_predictor(predictor: Any) -> str:
    nodes = predictor.nodes
    wanted = {"left", "right", "is_leaf", "feature_idx", "is_categorical", "bitset_idx"}
    if (
        not isinstance(nodes, np.ndarray)
        or nodes.ndim != 1
        or not wanted <= set(nodes.dtype.names or ())
    ):
        return "its nodes are not an array of nodes"
    inner = nodes["is_leaf"] == 0
    fault = _fault_of_nodes(
        nodes["left"].astype(np.int64),
        nodes["right"].astype(np.int64),
        inner,
        nodes["feature_idx"].astype(np.int64),
        np.iinfo(np.int64).max,  # the owner knows how many there are
    )
    asks = inner & (nodes["is_categorical"] != 0)
    sets = (predictor.raw_left_cat_bitsets, predictor.binned_left_cat_bitsets)
    if not fault and np.any(nodes["bitset_idx"][asks] >= min(map(len, sets))):
        fault = "a node asks for a set of categories that is not there"
    return fault


def _fault_of_search_tree(tree: Any) -> str:
    data, rows, nodes, bounds = (np.asarray(part) for part in tree.get_arrays())
    if not np.array_equal(np.sort(rows), np.arange(len(data))):
        return "its rows are not each row once"
    start, end = nodes["idx_start"], nodes["idx_end"]
    if np.any(start < 0) or np.any(end < start) or np.any(end > len(data)):
        return "a node holds rows that are not there"
    inner = np.flatnonzero(nodes["is_leaf"] == 0)
    if np.any(2 * inner + 2 >= len(nodes)):
        return "a node's child is not there"
    if bounds.shape[1:] != (len(nodes), data.shape[1]):
        return "its bounds do not fit its nodes"
    return ""


def _fault_of_owner(part: Any) -> str:
    """Check that a model lets in as many columns as its trees look at."""
    attributes = getattr(part, "__dict__", None)
    if not isinstance(attributes, dict):
        return ""
    trees = [attributes["tree_"]] if "tree_" in attributes else []
    if isinstance(part, _hands_over()):
        trees = [
            tree
            for member in _flat(attributes.get("estimators_"))
            if (tree := getattr(member, "__dict__", {}).get("tree_")) is not None
        ]
    asked = {tree.n_features for tree in trees if hasattr(tree, "n_features")}
    for predictor in _flat(attributes.get("_predictors")):
        nodes = predictor.nodes
        asked.add(int(nodes["feature_idx"][nodes["is_leaf"] == 0].max(initial=-1)) + 1)
    if not asked:
        return ""
    columns = attributes.get("n_features_in_")
    if not isinstance(columns, (int, np.integer)) or isinstance(columns, bool):
        return "does not say for how many columns it was made"
    if max(asked) > columns:
        return f"made for {columns} columns, with a tree that asks for {max(asked)}"
    return ""


def _hands_over() -> tuple[type, ...]:
    """Return the ensembles that give X to compiled trees without another look."""
    from sklearn import ensemble

    return (
        ensemble.RandomForestClassifier,
        ensemble.RandomForestRegressor,
        ensemble.ExtraTreesClassifier,
        ensemble.ExtraTreesRegressor,
        ensemble.RandomTreesEmbedding,
        ensemble.IsolationForest,
        ensemble.GradientBoostingClassifier,
        ensemble.GradientBoostingRegressor,
    )


def _flat(members: Any) -> Iterator[Any]:
    """Go through lists of lists and arrays of objects."""
    if isinstance(members, np.ndarray):
        members = members.ravel().tolist() if members.dtype.hasobject else ()
    if isinstance(members, Mapping):
        members = members.values()
    if isinstance(members, (list, tuple, set, frozenset, ValuesView)):
        for member in members:
            yield from _flat(member)
    elif members is not None:
        yield members
