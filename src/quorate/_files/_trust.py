"""What of a model file may be built, and whether what was built is sound.

skops builds an object by making an empty one and giving it its attributes; a type is
harmless if nothing of that runs what the file holds. Each type listed here was read for
it: none calls, imports or opens anything when it is built.

What a forged file could still do is make compiled code read beyond an array. The trees
and search trees of scikit-learn are arrays that are followed without looking: a child
beyond the last node, a feature beyond the last column, and ``predict`` reads memory
that is not its own. So every part that was built is looked at once, before anybody can
call it.
"""

import gc
import importlib
from collections.abc import Callable, Iterator
from types import FunctionType, ModuleType
from typing import Any

import numpy as np

from quorate._typing import Array, IntArray

_HARMLESS = frozenset(
    {
        "numpy.dtype",
        # Nodes of trees, and what trees are searched by: arrays, checked below.
        "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor",
        "sklearn.neighbors._ball_tree.BallTree",
        "sklearn.neighbors._kd_tree.KDTree",
        "sklearn.tree._tree.Tree",
        # Distances that hold no array of their own.
        "sklearn.metrics._dist_metrics.ChebyshevDistance64",
        "sklearn.metrics._dist_metrics.EuclideanDistance64",
        "sklearn.metrics._dist_metrics.ManhattanDistance64",
        # Plain Python: attributes only.
        "sklearn.calibration._CalibratedClassifier",
        "sklearn.calibration._SigmoidCalibration",
        "sklearn.calibration._TemperatureScaling",
        "sklearn.compose._column_transformer.make_column_selector",
        "sklearn.gaussian_process._gpc._BinaryGaussianProcessClassifierLaplace",
        "sklearn.gaussian_process.kernels.ConstantKernel",
        "sklearn.gaussian_process.kernels.Matern",
        "sklearn.gaussian_process.kernels.Product",
        "sklearn.gaussian_process.kernels.RBF",
        "sklearn.gaussian_process.kernels.RationalQuadratic",
        "sklearn.gaussian_process.kernels.Sum",
        "sklearn.gaussian_process.kernels.WhiteKernel",
        "sklearn.metrics._scorer._PassthroughScorer",
        "sklearn.model_selection._split.KFold",
        "sklearn.model_selection._split.StratifiedKFold",
        "sklearn.neural_network._stochastic_optimizers.AdamOptimizer",
        "sklearn.neural_network._stochastic_optimizers.SGDOptimizer",
        "sklearn.utils._bunch.Bunch",
    }
)
# Nothing in these leads to the parts of a model.
_ENDS = (str, bytes, int, float, complex, type, ModuleType, FunctionType)


def is_harmless(name: str) -> bool:
    """Return whether a type may be built without being approved.

    Classes of quorate may: they hold data only, as they all must.
    """
    if name in _HARMLESS:
        return True
    room, _, last = name.rpartition(".")
    if not room.startswith("quorate."):
        return False
    try:
        cls = getattr(importlib.import_module(room), last, None)
    except ImportError:
        return False
    return isinstance(cls, type) and cls.__module__ == room


def unsound_part(model: Any) -> str:
    """Say what is wrong with the first part that is; "" if all is well."""
    for part in _parts(model):
        kind = type(part)
        check = _CHECKS.get(f"{kind.__module__}.{kind.__qualname__}", _fault_of_owner)
        fault = check(part)
        if fault:
            return f"{kind.__name__}: {fault}"
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


def _fault_of_tree(tree: Any) -> str:
    left, right = tree.children_left, tree.children_right
    return _fault_of_nodes(left, right, left != -1, tree.feature, tree.n_features)


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
    from sklearn import ensemble

    attributes = getattr(part, "__dict__", None)
    if not isinstance(attributes, dict):
        return ""
    owners = [part]
    if isinstance(part, ensemble.BaseEnsemble):  # gives X to its trees as it is
        owners += _flat(attributes.get("estimators_"))
    trees = [getattr(owner, "__dict__", {}).get("tree_") for owner in owners]
    asked = {getattr(tree, "n_features", 0) for tree in trees} - {0}
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


def _flat(members: Any) -> Iterator[Any]:
    """Go through lists of lists and arrays of objects."""
    if isinstance(members, np.ndarray) and members.dtype.hasobject:
        members = members.ravel().tolist()
    if isinstance(members, (list, tuple, set, frozenset)):
        for member in members:
            yield from _flat(member)
    elif members is not None:
        yield members


_CHECKS: dict[str, Callable[[Any], str]] = {
    "sklearn.tree._tree.Tree": _fault_of_tree,
    "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor": (
        _fault_of_predictor
    ),
    "sklearn.neighbors._kd_tree.KDTree": _fault_of_search_tree,
    "sklearn.neighbors._ball_tree.BallTree": _fault_of_search_tree,
}
