"""Which types a model file may create, and checks of the created objects.

skops creates most objects empty and then sets their attributes, but a file can also
request that a class be called with arbitrary arguments. A type is trusted if it is
listed here and the file creates it in the same way as :func:`quorate.save`: then
nothing is called, imported or opened.

A forged file could still make compiled code read out of bounds. Trees, search trees and
support vectors of scikit-learn are arrays that are indexed without bounds checks: with
a child beyond the last node or a feature beyond the last column, ``predict`` reads
foreign memory. So every created part is validated before it can be used.
"""

import gc
from collections.abc import Callable, Collection, Iterator
from types import FunctionType, ModuleType
from typing import Any

import numpy as np

from quorate._messages import in_short
from quorate._typing import Array, IntArray

# Models and methods of quorate and their parts, by package and file: attributes only.
_OWN = {
    "_choosing._selection": "Selection",
    "_choosing._size": "CrossFittedCurve FixedSize SizeByCost SizeByErrors SizeCurve",
    "_ensembles._weighted_voting": "WeightedVoting",
    "_pruned._classifier": "PrunedClassifier",
    "_scoring._named": (
        "Accuracy AccuracyEstimate AreaUnderRoc AveragePrecision MeanScore TableScore"
    ),
    "_scoring._score": "ScoreEstimate",
    "_votes._rule": "DecisionRule",
    "_lazy._classifier": "LazyClassifier",
    "pruning._evolution": "PEP SEP",
    "pruning._forward": "ForwardSearch GreedySelection",
    "pruning._greedy": "Complementariness DREP DiscEP MRMC OrderedError ReducedError",
    "pruning._instance": "EPBD FTAD",
    "pruning._margins": "MarginDistance MarginLoss",
    "pruning._pairwise": "FarthestFirst KLDivergence KappaPruning LocalSearch MRMR",
    "pruning._quadratic": "BrierSelection Herding",
    "pruning._ranking": (
        "BestMembers EarlyStopping IndividualContribution MDEP OrientationOrdering "
        "RandomSubset UMEP"
    ),
    "pruning._twostage": "TwoStageAccuracy TwoStageDistance",
    "pruning._weights": "SimplexWeights SparseWeights",
}
# Trusted types, by the way in which skops creates them.
_HARMLESS = {
    "DTypeNode": {"numpy.dtype"},
    "DictNode": {
        "sklearn.utils._bunch.Bunch",
    },
    "TreeNode": {"sklearn.tree._tree.Tree"},
    # Created empty, then attributes are set.
    "ObjectNode": {
        # Tree nodes and search trees: arrays, validated below.
        "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor",
        "sklearn.neighbors._ball_tree.BallTree",
        "sklearn.neighbors._kd_tree.KDTree",
        # Distances without arrays of their own.
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
        *(
            f"quorate.{file}.{name}"
            for file, names in _OWN.items()
            for name in names.split()
        ),
    },
}
# A set of up to 256 categories is stored as bits of this many numbers.
_WORDS_OF_CATEGORIES = 8
# These never contain parts of a model.
_ENDS = (str, bytes, int, float, complex, type, ModuleType, FunctionType)


def strange_types(schema: Any, names: Collection[str]) -> list[str]:
    """Return the types that are not trusted by default.

    Parameters
    ----------
    schema : object
        Schema of the file: its objects and how they are created.
    names : collection of str
        The types that skops does not trust.
    """
    ways: dict[str, set[str]] = {name: set() for name in names}
    left = [schema]
    while left:
        node = left.pop()
        if isinstance(node, list):
            left.extend(node)
        elif isinstance(node, dict):
            left.extend(node.values())
            name = f"{node.get('__module__')}.{node.get('__class__')}"
            if name in ways and "__loader__" in node:
                ways[name].add(str(node["__loader__"]))
    return sorted(
        name
        for name, loaders in ways.items()
        if not loaders or any(name not in _HARMLESS.get(way, ()) for way in loaders)
    )


def unsound_part(model: Any) -> str:
    """Describe the first invalid part; "" if all parts are valid."""
    owners = []
    for part in _parts(model):
        check = _CHECKS.get(_type_name(part))
        if hasattr(part, "indptr"):
            check = _fault_of_sparse
        if check is None:
            owners.append(part)
        elif fault := _said(check, part):
            return fault
    # These depend on their trees.
    return next(filter(None, (_said(_fault_of_owner, part) for part in owners)), "")


def _said(check: Callable[[Any], str], part: Any) -> str:
    try:
        fault = check(part)
    except Exception as error:
        # Attributes of a forged part can be anything, so access can raise anything.
        fault = in_short(error) or type(error).__name__
    return fault and f"{type(part).__name__}: {fault}"


def _type_name(part: Any) -> str:
    kind = type(part)
    return f"{kind.__module__}.{kind.__qualname__}"


def _parts(model: Any) -> Iterator[Any]:
    """Iterate over all objects in a model, each once."""
    seen = {id(model): model}
    left = [model]
    while left:
        part = left.pop()
        yield part
        # The garbage collector does not see the items of object arrays.
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
    # Views beyond the end of the data would be created without an error.
    if not 1 <= tree.node_count <= tree.capacity:
        return f"has {tree.node_count} nodes, but only {tree.capacity} are stored"
    if tree.n_outputs < 1 or tree.max_n_classes < 1:
        return "its nodes have no values"
    left, right = tree.children_left, tree.children_right
    return _fault_of_nodes(left, right, left != -1, tree.feature, tree.n_features)


def _fault_of_nodes(
    left: IntArray, right: IntArray, inner: Array, feature: IntArray, columns: int
) -> str:
    """Check that every path ends, and that all features exist."""
    place, left, right = np.flatnonzero(inner), left[inner], right[inner]
    for child in (left, right):
        # Children have larger numbers than their parents, so every path ends.
        if np.any(child <= place) or np.any(child >= inner.size):
            return "the child of a node does not come after it"
    if np.any(feature[inner] < 0) or np.any(feature[inner] >= columns):
        return "a node uses a column that does not exist"
    return ""


def _fault_of_predictor(predictor: Any) -> str:
    nodes = predictor.nodes
    wanted = {"left", "right", "is_leaf", "feature_idx", "is_categorical", "bitset_idx"}
    if (
        not isinstance(nodes, np.ndarray)
        or nodes.ndim != 1
        or not nodes.size
        or not wanted <= set(nodes.dtype.names or ())
    ):
        return "its nodes are not an array of nodes"
    inner = nodes["is_leaf"] == 0
    fault = _fault_of_nodes(
        nodes["left"].astype(np.int64),
        nodes["right"].astype(np.int64),
        inner,
        nodes["feature_idx"].astype(np.int64),
        np.iinfo(np.int64).max,  # the owner knows their number
    )
    asks = inner & (nodes["is_categorical"] != 0)
    sets = (predictor.raw_left_cat_bitsets, predictor.binned_left_cat_bitsets)
    if (
        not fault
        and np.any(asks)
        and (
            any(np.shape(bits)[1:] != (_WORDS_OF_CATEGORIES,) for bits in sets)
            or np.any(nodes["bitset_idx"][asks] >= min(map(len, sets)))
        )
    ):
        fault = "a node uses a set of categories that does not exist"
    return fault


def _fault_of_search_tree(tree: Any) -> str:
    data, rows, nodes, bounds = (np.asarray(part) for part in tree.get_arrays())
    if tree.__getstate__()[11] is None:
        return "it has no distance metric"
    if not (data.size and nodes.size):
        return "it has no data"
    if not np.array_equal(np.sort(rows), np.arange(len(data))):
        return "its row indices are not a permutation"
    start, end = nodes["idx_start"], nodes["idx_end"]
    if np.any(start < 0) or np.any(end < start) or np.any(end > len(data)):
        return "a node contains rows that do not exist"
    inner = np.flatnonzero(nodes["is_leaf"] == 0)
    if np.any(2 * inner + 2 >= len(nodes)):
        return "the child of a node does not exist"
    # A box has a lower and an upper corner, a ball has a centre.
    corners = 2 if type(tree).__name__ == "KDTree" else 1
    if bounds.shape != (corners, len(nodes), data.shape[1]):
        return "its bounds do not match its nodes"
    return ""


def _fault_of_support_vectors(model: Any) -> str:
    """Check the arrays that libsvm indexes by class and support vector."""
    found = vars(model)
    if "support_vectors_" not in found:
        return ""
    names = ("support_", "_n_support", "_dual_coef_", "_intercept_", "_probA", "_probB")
    if not all(hasattr(found.get(name), "shape") for name in names):
        return "lacks arrays of numbers"
    support, each, weights, intercept, *slopes = (found[name] for name in names)
    n, classes = support.size, each.size
    pairs = classes * (classes - 1) // 2
    by_rows = found.get("kernel") == "precomputed" or callable(found.get("kernel"))
    if (
        classes < 2
        or weights.shape != (classes - 1, n)
        or getattr(weights, "nnz", weights.size) != weights.shape[0] * n
        or intercept.shape != (pairs,)
        or not {slope.shape for slope in slopes} <= {(0,), (pairs,)}
        or (not by_rows and found["support_vectors_"].shape[0] != n)
        or (by_rows and np.any((support < 0) | (support >= found["shape_fit_"][0])))
        or (model._impl.endswith("svc") and (np.any(each < 0) or each.sum() != n))
    ):
        return "its arrays do not match its support vectors and classes"
    return ""


def _fault_of_stages(model: Any) -> str:
    """Check that boosting stages match the columns they add to."""
    stages, start = (vars(model).get(name) for name in ("estimators_", "init_"))
    if stages is None:
        return ""
    if not isinstance(stages, np.ndarray) or stages.ndim != 2:
        return "its stages are not a table of trees"
    for tree in _flat(stages):
        if getattr(tree, "n_features_in_", None) != model.n_features_in_:
            return "a tree was fitted on a different number of columns"
    if isinstance(start, str):
        columns = model.n_trees_per_iteration_
    elif not model._loss.is_multiclass:
        columns = 1
    elif fault := unsound_part(start):
        return fault
    else:  # as the model does before it adds what its trees say
        columns = start.predict_proba(np.zeros((1, model.n_features_in_))).shape[1]
    if stages.shape[1] > columns:
        return "a stage has more trees than there are classes"
    return _fault_of_owner(model)


def _fault_of_sparse(matrix: Any) -> str:
    try:
        matrix.check_format(full_check=True)
    except ValueError as error:
        return in_short(error)
    return ""


def _fault_of_owner(part: Any) -> str:
    """Check that a model accepts as many columns as its trees use."""
    from sklearn import ensemble

    attributes = getattr(part, "__dict__", None)
    if not isinstance(attributes, dict):
        return ""
    owners = [part]
    if isinstance(part, ensemble.BaseEnsemble):  # passes X to its trees unchanged
        owners += _flat(attributes.get("estimators_"))
    trees = [getattr(owner, "__dict__", {}).get("tree_") for owner in owners]
    asked = {getattr(tree, "n_features", 0) for tree in trees} - {0}
    for predictor in _flat(attributes.get("_predictors")):
        nodes = predictor.nodes
        inner = nodes[nodes["is_leaf"] == 0]
        asked.add(int(inner["feature_idx"].max(initial=-1)) + 1)
        by_category = inner["feature_idx"][inner["is_categorical"] != 0]
        known = np.asarray(
            getattr(attributes.get("_bin_mapper"), "is_categorical_", [])
        )
        if by_category.size and (by_category.max() >= known.size or not known.any()):
            return "a node uses categories of a column that has none"
    if not asked:
        return ""
    columns = attributes.get("n_features_in_")
    if not isinstance(columns, (int, np.integer)) or isinstance(columns, bool):
        return "its number of columns is missing"
    if max(asked) > columns:
        return f"fitted on {columns} columns, but a tree uses {max(asked)}"
    return ""


def _flat(members: Any) -> Iterator[Any]:
    """Iterate over nested lists and object arrays."""
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
    **{
        f"sklearn.ensemble._gb.GradientBoosting{kind}": _fault_of_stages
        for kind in ("Classifier", "Regressor")
    },
    **{
        f"sklearn.svm._classes.{kind}": _fault_of_support_vectors
        for kind in ("NuSVC", "NuSVR", "OneClassSVM", "SVC", "SVR")
    },
}
