"""Ensembles as ONNX graphs that predict the same labels as scikit-learn.

skl2onnx adds up the votes of an ensemble as single-precision numbers, so that samples
on which classes nearly tie get other labels than from scikit-learn. The converters here
let trees answer with the number of the leaf, look the leaf up in a table of doubles and
add in the order of the members, which is what scikit-learn does. Members that are not
trees are left to skl2onnx.
"""

import copy
import os
import re
import textwrap
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import sklearn
from sklearn.base import is_classifier
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    ExtraTreesClassifier,
    RandomForestClassifier,
    VotingClassifier,
)
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import FeatureUnion, Pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.tree import DecisionTreeClassifier, ExtraTreeClassifier
from sklearn.utils.validation import check_is_fitted

from quorate._atomic import atomic_write
from quorate._typing import Array, FloatArray

__all__ = ["register_converter", "to_onnx"]

_TREES = (DecisionTreeClassifier, ExtraTreeClassifier)
_FORESTS = (RandomForestClassifier, ExtraTreesClassifier)
_ENSEMBLES = (*_FORESTS, BaggingClassifier, AdaBoostClassifier, VotingClassifier)
# Steps of a pipeline that skl2onnx takes apart itself, before it converts.
_FORKS = (ColumnTransformer, FeatureUnion, Pipeline)
# Versions of operators outside the core of ONNX that onnxruntime has long known.
_ML_OPERATORS = {"TreeEnsembleRegressor": 1, "LabelEncoder": 2}
_OPTIONS = {
    "zipmap": [True, False, "columns"],
    "output_class_labels": [False, True],
    "nocl": [True, False],
}

# Classes that hold a model that votes for them; register_converter adds to them.
_wrappers: set[type] = {FrozenEstimator}


def to_onnx(model: Any, X: Any, *, path: str | os.PathLike[str] | None = None) -> Any:
    """Convert a fitted classifier to ONNX, and check that it predicts the same.

    Forests, extra trees, bagging, AdaBoost, voting (hard and soft), what
    :class:`quorate.PrunedClassifier` holds, and pipelines that end in one of them are
    converted so that the labels of trees are those of scikit-learn, ties included.
    Other members and the other steps of a pipeline are converted by skl2onnx, in
    single precision.

    Parameters
    ----------
    model : fitted classifier
        The model to convert.
    X : array-like of shape (n_samples, n_features)
        Samples, as numbers. They say how many features there are, and the converted
        model has to give them the labels that ``model`` gives them.
    path : path, optional
        Where to write the model as well, in one step.

    Returns
    -------
    onnx.ModelProto
        It takes one tensor ``X`` of 32-bit floats and returns ``label`` (one per
        sample; text or 64-bit integers) and ``probabilities`` (one 32-bit float per
        sample and class; with hard voting the share of the votes).

    Raises
    ------
    TypeError
        If ``model`` is not a classifier, or skl2onnx has no converter for a part of it.
    ValueError
        If a part is used in a way that cannot be converted, or if the converted model
        labels a sample of ``X`` otherwise.
    ImportError
        If skl2onnx or onnxruntime is missing; ``quorate[onnx]`` brings them.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> from quorate import to_onnx
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0]], dtype=np.float32)
    >>> forest = RandomForestClassifier(5, random_state=0).fit(X, list("aabb"))
    >>> [output.name for output in to_onnx(forest, X).graph.output]
    ['label', 'probabilities']
    """
    if not hasattr(model, "fit") or not is_classifier(model):
        raise TypeError(
            f"to_onnx: a fitted classifier, got {type(model).__name__}; "
            "put a list of classifiers into a VotingClassifier first."
        )
    _need("skl2onnx")
    _need("onnxruntime")
    check_is_fitted(model)
    model = _thawed(model)
    samples = _as_samples(X, model)
    _refuse_labels(model)
    for part in _parts(model):
        if _is_ours(part):
            register_converter(type(part))
    converted = _convert(model, samples.shape[1])
    _compare(model, converted, samples)
    if path is not None:
        with atomic_write(path) as file:
            file.write(converted.SerializeToString())
    return converted


def register_converter(cls: type) -> None:
    """Teach skl2onnx a class whose fitted ``estimator_`` makes its predictions.

    From then on any conversion by skl2onnx can contain such a classifier.

    Parameters
    ----------
    cls : type
        A classifier with ``estimator_`` and ``classes_`` once it is fitted.

    Examples
    --------
    >>> from quorate._onnx import register_converter
    >>> from quorate.classifier import PrunedClassifier
    >>> register_converter(PrunedClassifier)
    """
    _need("skl2onnx")
    from skl2onnx import update_registered_converter

    _wrappers.add(cls)
    update_registered_converter(
        cls,
        f"Quorate{cls.__name__}",
        _label_and_probabilities,
        _convert_classifier,
        options=_OPTIONS,
    )


def _need(package: str) -> None:
    try:
        __import__(package)
    except ImportError as error:
        raise ImportError(
            f"to_onnx: {package} is not installed; install quorate[onnx]."
        ) from error


def _is_ours(part: Any) -> bool:
    home = type(part).__module__.partition(".")[0]
    return home == "quorate" and hasattr(part, "estimator_")


def _as_samples(X: Any, model: Any) -> Array:
    try:
        samples = np.asarray(X, dtype=np.float32)
    except (TypeError, ValueError) as error:
        raise TypeError(
            f"to_onnx: X as an array of numbers, got {type(X).__name__} with other "
            "values; convert the steps after the encoding."
        ) from error
    features = getattr(model, "n_features_in_", None)
    if (
        samples.ndim != 2
        or not len(samples)
        or samples.shape[1] != (samples.shape[1] if features is None else features)
    ):
        wanted = "any number of" if features is None else features
        raise ValueError(
            f"to_onnx: X with at least one sample and {wanted} features, got an array "
            f"of shape {samples.shape}."
        )
    return samples


def _parts(model: Any) -> Iterator[Any]:
    """Yield a model and the models in it, as far as they are known to vote."""
    yield model
    inside: list[Any] = []
    if isinstance(model, Pipeline):
        inside = [step for _, step in model.steps]
    elif type(model) in _ENSEMBLES and type(model) not in _FORESTS:
        inside = list(model.estimators_)
    elif type(model) in _wrappers or _is_ours(model):
        inside = [_held(model)]
    for part in inside:
        yield from _parts(part)


def _thawed(model: Any) -> Any:
    """Return a model without what skl2onnx has no place for and does nothing."""
    if isinstance(model, FrozenEstimator):
        return _thawed(model.estimator)
    if isinstance(model, Pipeline):
        thawed = copy.copy(model)
        thawed.steps = [
            (name, _thawed(step))
            for name, step in model.steps
            if step is not None and step != "passthrough"
        ]
        return thawed
    return model


def _held(model: Any) -> Any:
    return model.estimator if type(model) is FrozenEstimator else model.estimator_


def _refuse_labels(model: Any) -> None:
    classes = model.classes_
    if isinstance(classes, list):
        raise ValueError(
            f"to_onnx: {type(model).__name__} predicts {len(classes)} outputs; "
            "convert a model of one output."
        )
    try:
        _label_type(np.asarray(classes))
    except ValueError as error:
        raise ValueError(f"to_onnx: {error}.") from error


def _convert(model: Any, n_features: int) -> Any:
    from skl2onnx import convert_sklearn
    from skl2onnx.common.data_types import FloatTensorType

    voters = dict.fromkeys((*_ENSEMBLES, *_TREES), _convert_classifier)
    try:
        return convert_sklearn(
            model,
            initial_types=[("X", FloatTensorType([None, n_features]))],
            options={"zipmap": False},
            custom_conversion_functions={
                **voters,
                StandardScaler: _convert_standard_scaler,
                MinMaxScaler: _convert_min_max_scaler,
            },
            custom_shape_calculators=dict.fromkeys(voters, _label_and_probabilities),
        )
    except Exception as error:
        # skl2onnx meets what it cannot convert with any kind of error.
        missing = re.search(r"Unable to find .*?<class '([\w.]+)'>", str(error), re.S)
        if missing:
            raise TypeError(
                f"to_onnx: skl2onnx has no converter for {missing[1]}."
            ) from error
        raise ValueError(
            f"to_onnx: skl2onnx cannot convert this {type(model).__name__} "
            f"({type(error).__name__}: {_reason(error)})."
        ) from error


def _reason(error: Exception) -> str:
    return textwrap.shorten(str(error), 200, placeholder=" ...").rstrip(".")


def _compare(model: Any, converted: Any, samples: Array) -> None:
    """Refuse a conversion that labels a sample otherwise than the model."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3  # keep remarks on unused parts from stderr
    try:
        session = onnxruntime.InferenceSession(
            converted.SerializeToString(), options, providers=["CPUExecutionProvider"]
        )
        labels = session.run(["label"], {"X": samples})[0]
    except Exception as error:
        # onnxruntime raises classes of its own that are not public.
        raise ValueError(
            f"to_onnx: onnxruntime cannot run the converted {type(model).__name__} "
            f"({_reason(error)})."
        ) from error
    with warnings.catch_warnings():
        # Models that were fitted on frames remark on arrays without column names.
        warnings.filterwarnings("ignore", "X does not have valid feature names")
        expected = np.asarray(model.predict(samples))
    wrong = np.flatnonzero(labels != expected)
    if wrong.size:
        raise ValueError(
            f"to_onnx: the converted {type(model).__name__} labels {wrong.size} of "
            f"{len(samples)} samples otherwise, the first at position {wrong[0]}; "
            "skl2onnx computes a part of it in single precision."
        )


# What skl2onnx calls.


def _label_and_probabilities(operator: Any) -> None:
    from skl2onnx.common.data_types import FloatTensorType

    rows = operator.inputs[0].get_first_dimension()
    classes = np.asarray(operator.raw_operator.classes_)
    _, tensor = _label_type(classes)
    operator.outputs[0].type = tensor([rows])
    operator.outputs[1].type = FloatTensorType([rows, len(classes)])


def _label_type(classes: Array) -> tuple[Array, Any]:
    """Return labels as ONNX stores them, and the type of their tensor."""
    from skl2onnx.common.data_types import Int64TensorType, StringTensorType

    if classes.dtype.kind in "iu":
        return classes.astype(np.int64), Int64TensorType
    if all(isinstance(label, str) for label in classes.tolist()):
        return classes.astype(object), StringTensorType
    raise ValueError(f"labels as text or integers, got {classes.dtype}")


def _convert_classifier(scope: Any, operator: Any, container: Any) -> None:
    graph = _Graph(scope, container)
    model = operator.raw_operator
    x = graph.as_floats(operator.inputs)
    index, probabilities = _verdict(graph, model, x)
    labels, _ = _label_type(np.asarray(model.classes_))
    label, chances = (variable.full_name for variable in operator.outputs)
    graph.add("Gather", graph.constant(labels), index, output=label)
    graph.cast(probabilities, np.float32, output=chances)


def _convert_standard_scaler(scope: Any, operator: Any, container: Any) -> None:
    graph = _Graph(scope, container)
    scaler = operator.raw_operator
    x = graph.as_floats(operator.inputs).full_name
    # Since 1.8 scikit-learn rounds mean and scale to the type of X before it uses them.
    release = tuple(int(part) for part in sklearn.__version__.split(".")[:2])
    dtype = np.float32 if release >= (1, 8) else np.float64
    if scaler.with_mean:
        x = graph.step("Sub", x, scaler.mean_.astype(dtype))
    if scaler.with_std:
        x = graph.step("Div", x, scaler.scale_.astype(dtype))
    graph.add("Identity", x, output=operator.outputs[0].full_name)


def _convert_min_max_scaler(scope: Any, operator: Any, container: Any) -> None:
    graph = _Graph(scope, container)
    scaler = operator.raw_operator
    x = graph.as_floats(operator.inputs).full_name
    x = graph.step("Mul", x, scaler.scale_)
    x = graph.step("Add", x, scaler.min_)
    if scaler.clip:
        low, high = (np.float32(limit) for limit in scaler.feature_range)
        x = graph.add("Clip", x, graph.constant(low), graph.constant(high))
    graph.add("Identity", x, output=operator.outputs[0].full_name)


class _Graph:
    """Adds nodes and constants to the graph that skl2onnx builds."""

    def __init__(self, scope: Any, container: Any):
        self.scope = scope
        self.container = container

    def add(
        self, kind: str, *inputs: str, output: str | None = None, **attributes: Any
    ) -> str:
        """Add a node and return the name of its output."""
        name = output or self.scope.get_unique_variable_name(kind.lower())
        if kind in _ML_OPERATORS:
            attributes |= {"op_domain": "ai.onnx.ml", "op_version": _ML_OPERATORS[kind]}
        self.container.add_node(
            kind,
            list(inputs),
            [name],
            name=self.scope.get_unique_operator_name(kind),
            **attributes,
        )
        return name

    def constant(self, values: Any) -> str:
        """Add a constant array and return its name."""
        from onnx import TensorProto, numpy_helper

        name: str = self.scope.get_unique_variable_name("constant")
        array = np.asarray(values)
        if array.dtype.kind == "O":
            texts = [text.encode() for text in array.tolist()]
            self.container.add_initializer(
                name, TensorProto.STRING, list(array.shape), texts
            )
        else:
            tensor = numpy_helper.from_array(array, name)
            self.container.add_initializer(name, None, None, tensor)
        return name

    def cast(self, x: str, dtype: Any, output: str | None = None) -> str:
        """Add a conversion to another type of number."""
        from onnx import helper

        number = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
        return self.add("Cast", x, output=output, to=number)

    def step(self, kind: str, x: str, values: Array) -> str:
        """Compute in the type of the values and keep 32-bit floats, as NumPy does."""
        result = self.add(kind, self.cast(x, values.dtype), self.constant(values))
        return self.cast(result, np.float32)

    def sum(self, parts: list[str]) -> str:
        """Add up, from the first to the last."""
        total = parts[0]
        for part in parts[1:]:
            total = self.add("Add", total, part)
        return total

    def columns(self, x: str, n_columns: int) -> list[str]:
        """Take a matrix apart into its columns."""
        if n_columns == 1:
            return [x]
        names = [
            self.scope.get_unique_variable_name("column") for _ in range(n_columns)
        ]
        self.container.add_node(
            "Split",
            [x, self.constant(np.ones(n_columns, dtype=np.int64))],
            names,
            name=self.scope.get_unique_operator_name("Split"),
            axis=1,
        )
        return names

    def floats(self, n_columns: int | None) -> Any:
        """Declare a matrix of 32-bit floats."""
        from skl2onnx.common.data_types import FloatTensorType

        return self.scope.declare_local_variable(
            "floats", FloatTensorType([None, n_columns])
        )

    def as_floats(self, inputs: Any) -> Any:
        """Return the one input as a matrix of 32-bit floats, which trees compare."""
        from skl2onnx.common.data_types import FloatTensorType

        if len(inputs) != 1:
            raise ValueError(f"one matrix as input, got {len(inputs)} inputs")
        if isinstance(inputs[0].type, FloatTensorType):
            return inputs[0]
        x = self.floats(None)
        self.cast(inputs[0].full_name, np.float32, output=x.full_name)
        return x


# How a model votes: as the names of two tensors, the position of the label in classes_
# (n_samples,) and the probabilities as doubles (n_samples, n_classes).


@dataclass(frozen=True)
class _Ballot:
    """What one member adds to the scores of the classes."""

    member: Any
    columns: Array | None
    """The features it sees, or None for all."""
    soft: bool
    """Whether its probabilities count, or only its label."""
    scores: FloatArray
    """What each of its classes adds to each class of the ensemble."""


def _verdict(graph: _Graph, model: Any, x: Any) -> tuple[str, str]:
    kind = type(model)
    if kind in _wrappers:
        return _verdict(graph, _held(model), x)
    if kind in _TREES:
        everything = _Ballot(model, None, True, np.eye(len(model.classes_)))
        probabilities = _total(graph, [everything], x)
        return _largest(graph, probabilities), probabilities
    if kind in _ENSEMBLES:
        return _ensemble_verdict(graph, model, x)
    if kind is Pipeline:
        *steps, last = (step for _, step in _thawed(model).steps)
        if not any(isinstance(step, _FORKS) for step in steps):
            for step in steps:
                x = _transformed(graph, step, x)
            return _verdict(graph, last, x)
    return _foreign_verdict(graph, model, x)


def _transformed(graph: _Graph, step: Any, x: Any) -> Any:
    from skl2onnx import get_model_alias

    operator = graph.scope.declare_local_operator(get_model_alias(type(step)), step)
    operator.inputs.append(x)
    operator.outputs.append(graph.floats(None))
    return operator.outputs[0]


def _ensemble_verdict(graph: _Graph, model: Any, x: Any) -> tuple[str, str]:
    n_classes = len(model.classes_)
    ballots = _ballots(model)
    total = _total(graph, ballots, x)
    if isinstance(model, AdaBoostClassifier):
        shares = graph.add(
            "Div", total, graph.constant(np.float64(model.estimator_weights_.sum()))
        )
        return _boosted(graph, shares, n_classes)
    if isinstance(model, VotingClassifier):
        whole = np.sum(_voting_weights(model), dtype=np.float64)
    else:
        whole = np.float64(len(ballots))
    probabilities = graph.add("Div", total, graph.constant(whole))
    return _largest(graph, probabilities), probabilities


def _boosted(graph: _Graph, shares: str, n_classes: int) -> tuple[str, str]:
    if n_classes != 2:
        scale = np.float64(max(n_classes - 1, 1))
        scaled = graph.add("Div", shares, graph.constant(scale))
        return _largest(graph, shares), graph.add("Softmax", scaled, axis=1)
    first, second = (
        graph.add("Gather", shares, graph.constant(np.array([code])), axis=1)
        for code in range(2)
    )
    decision = graph.add("Sub", second, first)
    # The first class wins a tie, as everywhere.
    wins = graph.add("Greater", decision, graph.constant(np.float64(0)))
    index = graph.add(
        "Reshape", graph.cast(wins, np.int64), graph.constant(np.array([-1]))
    )
    sides = graph.constant(np.array([[-0.5, 0.5]]))
    return index, graph.add("Softmax", graph.add("Mul", decision, sides), axis=1)


def _largest(graph: _Graph, scores: str) -> str:
    return graph.add("ArgMax", scores, axis=1, keepdims=0)


def _ballots(model: Any) -> list[_Ballot]:
    """Write down how scikit-learn counts the members of an ensemble."""
    n_classes = len(model.classes_)
    own = np.eye(n_classes)
    if isinstance(model, _FORESTS):
        return [_Ballot(tree, None, True, own) for tree in model.estimators_]
    if isinstance(model, BaggingClassifier):
        # A member that never saw a class has no column for it.
        return [
            _Ballot(
                member,
                np.asarray(columns),
                hasattr(member, "predict_proba"),
                own[np.asarray(member.classes_, dtype=int)],
            )
            for member, columns in zip(
                model.estimators_, model.estimators_features_, strict=True
            )
        ]
    if isinstance(model, AdaBoostClassifier):
        against = -1 / max(n_classes - 1, 1)
        return [
            _Ballot(
                member,
                None,
                False,
                np.where(
                    np.asarray(member.classes_)[:, None] == model.classes_,
                    weight,
                    against * weight,
                ),
            )
            # After an early stop there are more weights than members.
            for member, weight in zip(
                model.estimators_, model.estimator_weights_, strict=False
            )
        ]
    return [
        _Ballot(
            member,
            None,
            model.voting == "soft",
            own[np.asarray(member.classes_, dtype=int)] * weight,
        )
        for member, weight in zip(
            model.estimators_, _voting_weights(model), strict=True
        )
    ]


def _voting_weights(model: Any) -> list[float]:
    weights = [1] * len(model.estimators) if model.weights is None else model.weights
    return [
        weight
        for (_, member), weight in zip(model.estimators, weights, strict=True)
        if not isinstance(member, str)  # the word "drop"
    ]


def _total(graph: _Graph, ballots: list[_Ballot], x: Any) -> str:
    """Add up the ballots, in doubles and from the first to the last."""
    if all(type(ballot.member) in _TREES for ballot in ballots):
        return _total_of_trees(graph, ballots, x)
    return graph.sum([_counted(graph, ballot, x) for ballot in ballots])


def _counted(graph: _Graph, ballot: _Ballot, x: Any) -> str:
    """Return the scores that one member gives, (n_samples, n_classes)."""
    if type(ballot.member) in _TREES:
        return _total_of_trees(graph, [ballot], x)
    if ballot.columns is not None:
        seen = graph.floats(len(ballot.columns))
        columns = graph.constant(ballot.columns.astype(np.int64))
        graph.add("Gather", x.full_name, columns, axis=1, output=seen.full_name)
        x = seen
    index, probabilities = _verdict(graph, ballot.member, x)
    if not ballot.soft:
        return graph.add("Gather", graph.constant(ballot.scores), index)
    # Each class takes one column, or none with weight 0. A product of matrices would
    # say the same, but onnxruntime merges it with the division before it and rounds.
    places = np.abs(ballot.scores).argmax(axis=0)
    weights = ballot.scores[places, np.arange(places.size)]
    columns = graph.add("Gather", probabilities, graph.constant(places), axis=1)
    return graph.add("Mul", columns, graph.constant(weights))


def _total_of_trees(graph: _Graph, ballots: list[_Ballot], x: Any) -> str:
    """Look up the leaf of each tree in a table of scores, and add these up."""
    tables = []
    for ballot in ballots:
        tree = ballot.member.tree_
        shares = tree.value[tree.children_left < 0, 0, :]
        tables.append(
            shares @ ballot.scores if ballot.soft else ballot.scores[shares.argmax(1)]
        )
    sizes = [len(table) for table in tables]
    starts = np.cumsum([0, *sizes[:-1]], dtype=np.int64)
    leaves = graph.cast(
        graph.add("TreeEnsembleRegressor", x.full_name, **_leaf_numbers(ballots)),
        np.int64,
    )
    places = graph.add("Add", leaves, graph.constant(starts))
    table = graph.constant(np.concatenate(tables))
    # One by one: a sum over all trees may add in any order, and needs room for all.
    scores = [
        graph.add("Gather", table, place)
        for place in graph.columns(places, len(ballots))
    ]
    shape = graph.constant(np.array([-1, ballots[0].scores.shape[1]]))
    return graph.add("Reshape", graph.sum(scores), shape)


def _leaf_numbers(ballots: list[_Ballot]) -> dict[str, Any]:
    """Describe trees that answer, one column each, with the number of the leaf."""
    parts: dict[str, list[Array]] = {}

    def note(**arrays: Array) -> None:
        for name, values in arrays.items():
            parts.setdefault(name, []).append(values)

    for place, ballot in enumerate(ballots):
        tree = ballot.member.tree_
        nodes = np.arange(tree.node_count)
        leaf = tree.children_left < 0
        n_leaves = int(leaf.sum())
        features = np.where(leaf, 0, tree.feature)
        if ballot.columns is not None:
            features = ballot.columns[features]
        note(
            nodes_treeids=np.full(nodes.size, place),
            nodes_nodeids=nodes,
            nodes_featureids=features,
            nodes_modes=np.where(leaf, "LEAF", "BRANCH_LEQ"),
            nodes_values=np.where(leaf, 0, _rounded_down(tree.threshold)),
            nodes_truenodeids=np.where(leaf, 0, tree.children_left),
            nodes_falsenodeids=np.where(leaf, 0, tree.children_right),
            nodes_missing_value_tracks_true=tree.missing_go_to_left.astype(int) * ~leaf,
            target_treeids=np.full(n_leaves, place),
            target_nodeids=nodes[leaf],
            target_ids=np.full(n_leaves, place),
            target_weights=np.arange(n_leaves, dtype=float),
        )
    attributes = {name: np.concatenate(parts[name]).tolist() for name in parts}
    return {**attributes, "n_targets": len(ballots), "post_transform": "NONE"}


def _rounded_down(thresholds: FloatArray) -> Array:
    """Return the largest 32-bit floats that are not above the thresholds.

    A 32-bit float is at most the one if and only if it is at most the other.
    """
    nearest = thresholds.astype(np.float32)
    below = np.nextafter(nearest, np.float32(-np.inf))
    return np.where(nearest > thresholds, below, nearest)


def _foreign_verdict(graph: _Graph, model: Any, x: Any) -> tuple[str, str]:
    """Let skl2onnx convert a member that is none of ours."""
    from skl2onnx import get_model_alias
    from skl2onnx.common.data_types import Int64TensorType

    classes, _ = _label_type(np.asarray(model.classes_))
    operator = graph.scope.declare_local_operator(get_model_alias(type(model)), model)
    operator.inputs.append(x)
    label = graph.scope.declare_local_variable("label", Int64TensorType())
    operator.outputs.append(label)
    probabilities = graph.floats(len(classes))
    operator.outputs.append(probabilities)
    keys = "keys_strings" if classes.dtype.kind == "O" else "keys_int64s"
    index = graph.add(
        "LabelEncoder",
        label.full_name,
        **{keys: classes.tolist(), "values_int64s": list(range(len(classes)))},
    )
    return index, graph.cast(probabilities.full_name, np.float64)
