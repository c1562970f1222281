"""Trees and ensembles as graphs that give scikit-learn's labels, including ties.

Trees return the number of the leaf; its contribution to the score of each class is
looked up in a table of doubles and added in the order of the members.

If rounding cannot change the label, a single node sums all trees in single precision.
This is exact for integers, and so for trees with pure leaves. Otherwise the label is
correct unless two classes are closer than the total rounding error: only such rows are
summed in doubles, one tree after the other, in a branch of the graph that is rarely
taken.
"""

from collections import defaultdict
from dataclasses import dataclass
from functools import reduce
from types import SimpleNamespace
from typing import Any

import numpy as np
import sklearn
from sklearn.pipeline import Pipeline

from quorate._ensembles import Ensemble
from quorate._kernels.nearest import rounded_down
from quorate._onnx._graph import Branch, Graph
from quorate._onnx._inputs import FORKS, as_ensemble, is_tree, label_type, thawed
from quorate._typing import Array, FloatArray

# Maximum number of values per sample held in memory while summing.
_AT_ONCE = 512
# Integers up to this size, and their sums, are exact in float32.
_WHOLE = 2**24
_ROUNDING = 2.0**-24


@dataclass(frozen=True)
class _MemberVote:
    """What one member adds to the scores of the classes.

    Attributes
    ----------
    columns : Array | None
        The features it sees, or None for all.
    soft : bool
        Whether its probabilities count, or only its label.
    scores : FloatArray
        What each of its classes adds to each class of the ensemble.
    """

    member: Any
    columns: Array | None
    soft: bool
    scores: FloatArray


def label_and_probabilities(operator: Any) -> None:
    from skl2onnx.common.data_types import FloatTensorType

    rows = operator.inputs[0].get_first_dimension()
    classes = np.asarray(operator.raw_operator.classes_)
    _, tensor = label_type(classes)
    operator.outputs[0].type = tensor([rows])
    operator.outputs[1].type = FloatTensorType([rows, len(classes)])


def convert_classifier(scope: Any, operator: Any, container: Any) -> None:
    graph = Graph(scope, container)
    model = operator.raw_operator
    x = graph.as_floats(operator.inputs)
    label, chances = outputs = [variable.full_name for variable in operator.outputs]
    if _add_single_precision(graph, model, x, outputs):
        return
    index, probabilities = _verdict(graph, model, x)
    labels, _ = label_type(np.asarray(model.classes_))
    graph.add("Gather", graph.constant(labels), index, output=label)
    graph.cast(probabilities, np.float32, output=chances)


def convert_standard_scaler(scope: Any, operator: Any, container: Any) -> None:
    graph = Graph(scope, container)
    scaler = operator.raw_operator
    x = graph.as_floats(operator.inputs).full_name
    # Since 1.8 scikit-learn rounds mean and scale to the dtype of X first.
    release = tuple(int(part) for part in sklearn.__version__.split(".")[:2])
    dtype = np.float32 if release >= (1, 8) else np.float64
    if scaler.with_mean:
        x = graph.step("Sub", x, scaler.mean_.astype(dtype))
    if scaler.with_std:
        x = graph.step("Div", x, scaler.scale_.astype(dtype))
    graph.add("Identity", x, output=operator.outputs[0].full_name)


def convert_min_max_scaler(scope: Any, operator: Any, container: Any) -> None:
    graph = Graph(scope, container)
    scaler = operator.raw_operator
    x = graph.as_floats(operator.inputs).full_name
    x = graph.step("Mul", x, scaler.scale_)
    x = graph.step("Add", x, scaler.min_)
    if scaler.clip:
        low, high = (np.float32(limit) for limit in scaler.feature_range)
        x = graph.add("Clip", x, graph.constant(low), graph.constant(high))
    graph.add("Identity", x, output=operator.outputs[0].full_name)


def _verdict(graph: Graph, model: Any, x: Any) -> tuple[str, str]:
    if is_tree(model):
        everything = _MemberVote(model, None, True, np.eye(len(model.classes_)))
        probabilities = _total(graph, [everything], x)
        return _largest(graph, probabilities), probabilities
    ensemble = as_ensemble(model)
    if ensemble is not None:
        if ensemble.core is not ensemble.model:  # a pipeline inside a wrapper
            return _verdict(graph, ensemble.model, x)
        return _ensemble_verdict(graph, ensemble, x)
    if isinstance(model, Pipeline):
        model = thawed(model)
        *steps, last = (step for _, step in model.steps)
        if not any(isinstance(step, FORKS) for step in steps):
            for step in steps:
                x = _transformed(graph, step, x)
            return _verdict(graph, last, x)
    return _foreign_verdict(graph, model, x)


def _transformed(graph: Graph, step: Any, x: Any) -> Any:
    from skl2onnx import get_model_alias

    operator = graph.scope.declare_local_operator(get_model_alias(type(step)), step)
    operator.inputs.append(x)
    operator.outputs.append(graph.floats(None))
    return operator.outputs[0]


def _ensemble_verdict(graph: Graph, ensemble: Ensemble, x: Any) -> tuple[str, str]:
    total = _total(graph, _member_votes(ensemble), x)
    shares = graph.add("Div", total, graph.constant(_weights(ensemble).sum()))
    if ensemble.rule.against:
        return _boosted(graph, shares, len(ensemble.core.classes_))
    return _largest(graph, shares), shares


def _weights(ensemble: Ensemble) -> FloatArray:
    given = ensemble.weights
    return np.ones(ensemble.n_members) if given is None else np.asarray(given, float)


def _boosted(graph: Graph, shares: str, n_classes: int) -> tuple[str, str]:
    if n_classes != 2:
        scale = np.float64(max(n_classes - 1, 1))
        scaled = graph.add("Div", shares, graph.constant(scale))
        return _largest(graph, shares), graph.add("Softmax", scaled, axis=1)
    first, second = (
        graph.add("Gather", shares, graph.constant(np.array([code])), axis=1)
        for code in range(2)
    )
    decision = graph.add("Sub", second, first)
    # Ties go to the first class.
    wins = graph.add("Greater", decision, graph.constant(np.float64(0)))
    index = graph.add(
        "Reshape", graph.cast(wins, np.int64), graph.constant(np.array([-1]))
    )
    sides = graph.constant(np.array([[-0.5, 0.5]]))
    return index, graph.add("Softmax", graph.add("Mul", decision, sides), axis=1)


def _largest(graph: Graph, scores: str) -> str:
    return graph.add("ArgMax", scores, axis=1, keepdims=0)


def _member_votes(ensemble: Ensemble) -> list[_MemberVote]:
    """Return the contribution of each member to the scores."""
    classes = np.asarray(ensemble.classes)
    own = np.eye(classes.size)
    if ensemble.rule.against:
        own = np.where(own == 1, 1.0, ensemble.rule.against)
    return [
        _MemberVote(
            member.estimator,
            None if member.features is None else np.asarray(member.features),
            member.is_soft,
            # A member has no column for a class that it was not trained on.
            own[np.searchsorted(classes, member.own_labels)] * weight,
        )
        for member, weight in zip(ensemble.members, _weights(ensemble), strict=True)
    ]


def _total(graph: Graph, votes: list[_MemberVote], x: Any) -> str:
    """Sum the votes in doubles, from the first to the last."""
    if all(is_tree(vote.member) for vote in votes):
        return _total_of_trees(graph, votes, x)
    scores = [_counted(graph, vote, x) for vote in votes]
    return reduce(lambda total, part: graph.add("Add", total, part), scores)


def _counted(graph: Graph, vote: _MemberVote, x: Any) -> str:
    """Return the scores from one member, (n_samples, n_classes)."""
    if is_tree(vote.member):
        return _total_of_trees(graph, [vote], x)
    if vote.columns is not None:
        seen = graph.floats(len(vote.columns))
        columns = graph.constant(vote.columns.astype(np.int64))
        graph.add("Gather", x.full_name, columns, axis=1, output=seen.full_name)
        x = seen
    index, probabilities = _verdict(graph, vote.member, x)
    if not vote.soft:
        return graph.add("Gather", graph.constant(vote.scores), index)
    # Each class takes one column, or none with weight 0. A matrix product would be
    # equivalent, but onnxruntime fuses it with the division before it and rounds.
    places = np.abs(vote.scores).argmax(axis=0)
    weights = vote.scores[places, np.arange(places.size)]
    columns = graph.add("Gather", probabilities, graph.constant(places), axis=1)
    return graph.add("Mul", columns, graph.constant(weights))


def _total_of_trees(graph: Graph, votes: list[_MemberVote], x: Any) -> str:
    """Look up the leaf of each tree in a table of scores, and sum them."""
    tables = _leaf_tables(votes)
    starts = np.cumsum([0, *map(len, tables[:-1])], dtype=np.int64)
    numbers = [np.arange(len(table), dtype=float)[:, None] for table in tables]
    leaves = graph.cast(_add_trees(graph, votes, numbers, x, apart=True), np.int64)
    places = graph.add("Add", leaves, graph.constant(starts))
    table = graph.constant(np.concatenate(tables))
    n_classes = votes[0].scores.shape[1]
    # A plain sum may add in any order; a cumulative sum goes from first to last. It
    # stores all its terms, so trees are added in groups.
    step = max(1, _AT_ONCE // n_classes)
    widths = [min(step, len(votes) - at) for at in range(0, len(votes), step)]
    total = None
    for width, columns in zip(widths, graph.split(places, widths), strict=True):
        scores = graph.add("Gather", table, columns)
        if total is not None:
            scores = graph.add("Concat", total, scores, axis=1)
        last = graph.constant(np.array([width - (total is None)]))
        running = graph.add("CumSum", scores, graph.constant(np.int64(1)))
        total = graph.add("Gather", running, last, axis=1)
    assert total is not None
    return graph.add("Reshape", total, graph.constant(np.array([-1, n_classes])))


def _leaf_tables(votes: list[_MemberVote]) -> list[FloatArray]:
    """Return the contribution of each leaf of each tree to the class scores."""
    tables = []
    for vote in votes:
        tree = vote.member.tree_
        shares = tree.value[tree.children_left < 0, 0, :]
        tables.append(
            shares @ vote.scores if vote.soft else vote.scores[shares.argmax(1)]
        )
    return tables


def _add_trees(
    graph: Graph,
    votes: list[_MemberVote],
    tables: list[FloatArray],
    x: Any,
    *,
    apart: bool = False,
) -> str:
    """Add the node of all trees, whose columns are sums of the leaf tables.

    With ``apart`` it has one column per tree; each table then has one column.
    """
    parts: defaultdict[str, list[Array]] = defaultdict(list)
    for place, (vote, table) in enumerate(zip(votes, tables, strict=True)):
        tree = vote.member.tree_
        leaf = tree.children_left < 0
        features = np.where(leaf, 0, tree.feature)
        if vote.columns is not None:
            features = vote.columns[features]
        given = table != 0
        given[:, 0] |= ~given.any(axis=1)  # onnxruntime wants something of every leaf
        rows, columns = np.nonzero(given)
        for name, values in {
            "nodes_treeids": np.full(leaf.size, place),
            "nodes_nodeids": np.arange(leaf.size),
            "nodes_featureids": features,
            "nodes_modes": np.where(leaf, "LEAF", "BRANCH_LEQ"),
            "nodes_values": np.where(leaf, 0, rounded_down(tree.threshold)),
            "nodes_truenodeids": np.where(leaf, 0, tree.children_left),
            "nodes_falsenodeids": np.where(leaf, 0, tree.children_right),
            "nodes_missing_value_tracks_true": np.where(
                leaf, 0, tree.missing_go_to_left
            ),
            "target_treeids": np.full(rows.size, place),
            "target_nodeids": np.flatnonzero(leaf)[rows],
            "target_ids": columns + place if apart else columns,
            "target_weights": table[rows, columns].astype(np.float32),
        }.items():
            parts[name].append(values)
    attributes: dict[str, Any] = {
        name: np.concatenate(arrays).tolist() for name, arrays in parts.items()
    }
    return graph.add(
        "TreeEnsembleRegressor",
        x.full_name,
        n_targets=len(votes) if apart else tables[0].shape[1],
        post_transform="NONE",
        **attributes,
    )


def _foreign_verdict(graph: Graph, model: Any, x: Any) -> tuple[str, str]:
    """Convert a member of another type with skl2onnx."""
    from skl2onnx import get_model_alias
    from skl2onnx.common.data_types import Int64TensorType

    classes, _ = label_type(np.asarray(model.classes_))
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


def _add_single_precision(graph: Graph, model: Any, x: Any, outputs: list[str]) -> bool:
    """Add labels and probabilities of an ensemble of trees by one node, if possible.

    This requires that the class with the largest sum wins. ``outputs`` are the names of
    labels and probabilities.
    """
    ensemble = as_ensemble(model)
    if ensemble is None or not ensemble.is_of_trees or ensemble.rule.against:
        return False
    labels, _ = label_type(np.asarray(ensemble.classes))
    if labels.size < 2 or ensemble.core is not ensemble.model:
        return False  # or a pipeline inside a wrapper
    votes = _member_votes(ensemble)
    tables = _leaf_tables(votes)
    most = sum(float(table.max()) for table in tables)
    is_exact = most < _WHOLE and all(
        (table == np.round(table)).all() for table in tables
    )
    names = outputs if is_exact else [graph.new_name("quick") for _ in outputs]
    weight = np.float32(_weights(ensemble).sum())
    # For two classes, the difference is enough if their sum is the same in every leaf.
    is_pair = labels.size == 2 and all(np.ptp(t.sum(axis=1)) <= 1e-9 for t in tables)
    if is_pair:
        lead = _add_trees(graph, votes, [t[:, 1:] - t[:, :1] for t in tables], x)
        sides = graph.constant(np.array([[-1, 1]], dtype=np.float32) / (2 * weight))
        scores = graph.add("Mul", lead, sides)
        graph.add("Add", scores, graph.constant(np.float32(0.5)), output=names[1])
    else:
        scores = _add_trees(graph, votes, tables, x)
        graph.add("Div", scores, graph.constant(weight), output=names[1])
    winners = _largest(graph, scores)
    graph.add("Gather", graph.constant(labels), winners, output=names[0])
    if is_exact:
        return True
    leads = graph.add("Abs", lead) if is_pair else graph.lead(scores)
    # Every tree is rounded once as a number and once in the sum.
    doubt = 2 * (len(votes) + 2) * _ROUNDING * most
    limit = graph.constant(np.float32(doubt * (1 + 1e-6)))
    smallest = graph.add("ReduceMin", leads, keepdims=0)
    exact, plain = (Branch(graph.scope, graph.container) for _ in range(2))
    close = exact.add("Less", leads, limit)
    _correct(exact, ensemble, x, close, names)
    for name in names:
        plain.result("Identity", name)
    graph.fork(graph.add("Less", smallest, limit), exact, plain, outputs)
    return True


def _correct(
    graph: Branch, ensemble: Ensemble, x: Any, close: str, names: list[str]
) -> None:
    """Replace the labels of rows with a small lead by those computed in doubles."""
    flat = graph.constant(np.array([-1], dtype=np.int64))
    rows = graph.add("NonZero", graph.add("Reshape", close, flat))
    rows = graph.add("Reshape", rows, flat)
    close_rows = SimpleNamespace(
        full_name=graph.add("Gather", x.full_name, rows, axis=0)
    )
    index, shares = _ensemble_verdict(graph, ensemble, close_rows)
    labels, _ = label_type(np.asarray(ensemble.classes))
    places = graph.add("Unsqueeze", rows, graph.constant(np.array([1])))
    label = graph.add("Gather", graph.constant(labels), index)
    graph.result("ScatterND", names[0], places, label)
    graph.result("ScatterND", names[1], places, graph.cast(shares, np.float32))
