"""Which types a model file may create, and checks of the created objects.

skops creates most objects empty and then sets their attributes, but a file can also
request that a class be called with arbitrary arguments. A type is trusted if it is
listed here and the file creates it in the same way as :func:`quorate.save`: then
nothing is called, imported or opened. Types go by the names by which users import
them, without private modules, so it does not matter in which file a class is defined.

A forged file could still make compiled code read out of bounds. The trees of
scikit-learn are arrays that are indexed without bounds checks: with a child beyond the
last node or a feature beyond the last column, ``predict`` reads foreign memory. So
trees are validated before they can be used. Other compiled parts of that kind have no
such check here, and need the user's trust.
"""

import gc
from collections.abc import Callable, Iterator
from itertools import takewhile
from types import FunctionType, ModuleType
from typing import Any

import numpy as np

from quorate._checks import is_whole
from quorate._messages import in_short

# Models and methods of quorate and their parts, by where they are imported from:
# attributes only.
_OWN = {
    name: module
    for module, names in {
        "quorate": "LazyClassifier PrunedClassifier",
        "quorate.ensembles": "DecisionRule WeightedVoting",
        "quorate.results": "ScoreEstimate Selection SizeCurve",
        "quorate.pruning": (
            "BestMembers BrierSelection Complementariness DREP DiscEP EPBD "
            "EarlyStopping FTAD FarthestFirst ForwardSearch GreedySelection Herding "
            "IndividualContribution KLDivergence KappaPruning LocalSearch MDEP MRMC "
            "MRMR MarginDistance MarginLoss OrderedError OrientationOrdering PEP "
            "RandomSubset ReducedError SEP SimplexWeights SparseWeights "
            "TwoStageAccuracy TwoStageDistance UMEP"
        ),
        "quorate._choosing": "CrossFittedCurve FixedSize SizeByCost SizeByErrors",
        "quorate._scoring._named": (
            "Accuracy AccuracyEstimate AreaUnderRoc AveragePrecision MeanScore "
            "TableScore"
        ),
    }.items()
    for name in names.split()
}
# Types that skops does not trust, but that are harmless if it creates them in this way.
_TRUSTED = {
    "DTypeNode": {"numpy.dtype"},
    "DictNode": {"sklearn.utils.Bunch"},
    "TreeNode": {"sklearn.tree.Tree"},  # validated below
    # Created empty, then attributes are set.
    "ObjectNode": {
        "sklearn.calibration._CalibratedClassifier",
        "sklearn.calibration._SigmoidCalibration",
        "sklearn.calibration._TemperatureScaling",
        "sklearn.compose._RemainderColsList",  # before scikit-learn 1.9
        "sklearn.compose.make_column_selector",
        "sklearn.ensemble.TreePredictor",  # only histogram boosting calls it
        "sklearn.gaussian_process._BinaryGaussianProcessClassifierLaplace",
        "sklearn.gaussian_process.kernels.ConstantKernel",
        "sklearn.gaussian_process.kernels.Matern",
        "sklearn.gaussian_process.kernels.Product",
        "sklearn.gaussian_process.kernels.RBF",
        "sklearn.gaussian_process.kernels.RationalQuadratic",
        "sklearn.gaussian_process.kernels.Sum",
        "sklearn.gaussian_process.kernels.WhiteKernel",
        "sklearn.metrics.ChebyshevDistance64",
        "sklearn.metrics.EuclideanDistance64",
        "sklearn.metrics.ManhattanDistance64",
        "sklearn.metrics._PassthroughScorer",
        "sklearn.model_selection.KFold",
        "sklearn.model_selection.StratifiedKFold",
        "sklearn.neural_network.AdamOptimizer",
        "sklearn.neural_network.SGDOptimizer",
        "sklearn.utils.MetadataRequest",  # before scikit-learn 1.7
        "sklearn.utils.MethodMetadataRequest",
    },
}
# Types that skops trusts, with compiled parts that are not validated here.
_UNCHECKED = {
    "sklearn.ensemble.GradientBoostingClassifier",
    "sklearn.ensemble.GradientBoostingRegressor",
    "sklearn.ensemble.HistGradientBoostingClassifier",
    "sklearn.ensemble.HistGradientBoostingRegressor",
    "sklearn.svm.NuSVC",
    "sklearn.svm.NuSVR",
    "sklearn.svm.OneClassSVM",
    "sklearn.svm.SVC",
    "sklearn.svm.SVR",
}
# These never contain parts of a model.
_ENDS = (str, bytes, int, float, complex, type, ModuleType, FunctionType)


def public_name(name: str) -> str:
    """Return the name of a type without private modules.

    Examples
    --------
    >>> public_name("sklearn.ensemble._forest.RandomForestClassifier")
    'sklearn.ensemble.RandomForestClassifier'
    """
    package, *modules = name.split(".")
    public = takewhile(lambda module: not module.startswith("_"), modules[:-1])
    return ".".join([package, *public, *modules[-1:]])


def schema_nodes(schema: Any) -> Iterator[dict[str, Any]]:
    """Iterate over the objects that a file describes."""
    left = [schema]
    while left:
        node = left.pop()
        if isinstance(node, list):
            left.extend(node)
        elif isinstance(node, dict):
            yield node
            left.extend(node.values())


def find_moved_classes(schema: Any) -> bool:
    """Write where quorate's own classes are now into a schema; return if any are."""
    is_changed = False
    for node in schema_nodes(schema):
        module, name = str(node.get("__module__")), str(node.get("__class__"))
        if module.startswith("quorate.") and node.get("__loader__") == "ObjectNode":
            node["__module__"] = _OWN.get(name, module)
            is_changed |= node["__module__"] != module
    return is_changed


def untrusted_types(schema: Any, unknown: set[str], approved: set[str]) -> list[str]:
    """Return the public names of the types that the user has to trust.

    Parameters
    ----------
    schema : object
        Schema of the file: its objects and how they are created.
    unknown : set of str
        The types that skops does not trust.
    approved : set of str
        The public names that the user trusts.
    """
    own = {public_name(f"{module}.{name}") for name, module in _OWN.items()}
    trusted = {**_TRUSTED, "ObjectNode": _TRUSTED["ObjectNode"] | own}
    created, found = set(), set()
    for node in schema_nodes(schema):
        if "__loader__" not in node:
            continue
        full = f"{node.get('__module__')}.{node.get('__class__')}"
        name = public_name(full)
        created.add(full)
        is_listed = name in trusted.get(str(node["__loader__"]), ())
        if name in _UNCHECKED or (full in unknown and not is_listed):
            found.add(name)
    return sorted((found | set(map(public_name, unknown - created))) - approved)


def why_unsafe(model: Any) -> str:
    """Describe the first invalid part; "" if all parts are valid."""
    owners = []
    for part in _objects_in(model):
        kind = type(part)
        if public_name(f"{kind.__module__}.{kind.__qualname__}") == "sklearn.tree.Tree":
            fault = _fault(_tree_fault, part)
        elif hasattr(part, "indptr"):
            fault = _fault(_sparse_fault, part)
        else:
            owners.append(part)
            continue
        if fault:
            return fault
    # These depend on their trees.
    return next(filter(None, (_fault(_owner_fault, part) for part in owners)), "")


def _fault(check: Callable[[Any], str], part: Any) -> str:
    try:
        fault = check(part)
    except Exception as error:
        # Attributes of a forged part can be anything, so access can raise anything.
        fault = in_short(error) or type(error).__name__
    return fault and f"{type(part).__name__}: {fault}"


def _objects_in(model: Any) -> Iterator[Any]:
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


def _tree_fault(tree: Any) -> str:
    """Check that every path through a tree ends, and that all features exist."""
    # Views beyond the end of the data would be created without an error.
    if not 1 <= tree.node_count <= tree.capacity:
        return f"has {tree.node_count} nodes, but only {tree.capacity} are stored"
    if tree.n_outputs < 1 or tree.max_n_classes < 1:
        return "its nodes have no values"
    inner = np.flatnonzero(tree.children_left != -1)
    for children in (tree.children_left[inner], tree.children_right[inner]):
        # Children have larger numbers than their parents, so every path ends.
        if np.any(children <= inner) or np.any(children >= tree.node_count):
            return "the child of a node does not come after it"
    feature = tree.feature[inner]
    if np.any(feature < 0) or np.any(feature >= tree.n_features):
        return "a node uses a column that does not exist"
    return ""


def _sparse_fault(matrix: Any) -> str:
    try:
        matrix.check_format(full_check=True)
    except ValueError as error:
        return in_short(error)
    return ""


def _owner_fault(part: Any) -> str:
    """Check that a model accepts as many columns as its trees use."""
    from sklearn import ensemble

    attributes = getattr(part, "__dict__", None)
    if not isinstance(attributes, dict):
        return ""
    owners = [part]
    if isinstance(part, ensemble.BaseEnsemble):  # passes X to its trees unchanged
        owners += _flat(attributes.get("estimators_"))
    trees = [getattr(owner, "__dict__", {}).get("tree_") for owner in owners]
    n_used = max(getattr(tree, "n_features", 0) for tree in trees)
    if not n_used:
        return ""
    n_columns: Any = attributes.get("n_features_in_")
    if not is_whole(n_columns):
        return "its number of columns is missing"
    if n_used > n_columns:
        return f"fitted on {n_columns} columns, but a tree uses {n_used}"
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
