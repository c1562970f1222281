"""The verdict of an ensemble as a graph: votes, sums, and the largest of them."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from quorate._onnx._graph import Graph
from quorate._onnx._kinds import FORKS, as_ensemble, is_tree, label_type, thawed
from quorate._typing import Array, FloatArray
from quorate.ensembles import Ensemble

# Numbers of a sample that stand in memory while they are added up.
_AT_ONCE = 512


@dataclass(frozen=True)
class Ballot:
    """What one member adds to the scores of the classes."""

    member: Any
    columns: Array | None
    """The features it sees, or None for all."""
    soft: bool
    """Whether its probabilities count, or only its label."""
    scores: FloatArray
    """What each of its classes adds to each class of the ensemble."""


def verdict(graph: Graph, model: Any, x: Any) -> tuple[str, str]:
    if is_tree(model):
        everything = Ballot(model, None, True, np.eye(len(model.classes_)))
        probabilities = _total(graph, [everything], x)
        return _largest(graph, probabilities), probabilities
    ensemble = as_ensemble(model)
    if ensemble is not None:
        if ensemble.core is not ensemble.model:  # a pipeline inside a wrapper
            return verdict(graph, ensemble.model, x)
        return ensemble_verdict(graph, ensemble, x)
    if isinstance(model, Pipeline):
        model = thawed(model)
        *steps, last = (step for _, step in model.steps)
        if not any(isinstance(step, FORKS) for step in steps):
            for step in steps:
                x = _transformed(graph, step, x)
            return verdict(graph, last, x)
    return _foreign_verdict(graph, model, x)


def _transformed(graph: Graph, step: Any, x: Any) -> Any:
    from skl2onnx import get_model_alias

    operator = graph.scope.declare_local_operator(get_model_alias(type(step)), step)
    operator.inputs.append(x)
    operator.outputs.append(graph.floats(None))
    return operator.outputs[0]


def ensemble_verdict(graph: Graph, ensemble: Ensemble, x: Any) -> tuple[str, str]:
    weights = ensemble.weights
    whole = np.float64(ensemble.n_members if weights is None else np.sum(weights))
    total = _total(graph, ballots_of(ensemble), x)
    shares = graph.add("Div", total, graph.constant(whole))
    if ensemble.rule.against:
        return _boosted(graph, shares, len(ensemble.core.classes_))
    return _largest(graph, shares), shares


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
    # The first class wins a tie, as everywhere.
    wins = graph.add("Greater", decision, graph.constant(np.float64(0)))
    index = graph.add(
        "Reshape", graph.cast(wins, np.int64), graph.constant(np.array([-1]))
    )
    sides = graph.constant(np.array([[-0.5, 0.5]]))
    return index, graph.add("Softmax", graph.add("Mul", decision, sides), axis=1)


def _largest(graph: Graph, scores: str) -> str:
    return graph.add("ArgMax", scores, axis=1, keepdims=0)


def ballots_of(ensemble: Ensemble) -> list[Ballot]:
    """Write down how the ensemble counts its members."""
    classes = np.asarray(ensemble.classes)
    own = np.eye(classes.size)
    if ensemble.rule.against:
        own = np.where(own == 1, 1.0, ensemble.rule.against)
    weights = ensemble.weights
    if weights is None:
        weights = np.ones(ensemble.n_members)
    return [
        Ballot(
            member.estimator,
            None if member.features is None else np.asarray(member.features),
            member.is_soft,
            # A member that never saw a class has no column for it.
            own[np.searchsorted(classes, member.own_labels)] * weight,
        )
        for member, weight in zip(ensemble.members, weights, strict=True)
    ]


def _total(graph: Graph, ballots: list[Ballot], x: Any) -> str:
    """Add up the ballots, in doubles and from the first to the last."""
    if all(is_tree(ballot.member) for ballot in ballots):
        return _total_of_trees(graph, ballots, x)
    return graph.sum([_counted(graph, ballot, x) for ballot in ballots])


def _counted(graph: Graph, ballot: Ballot, x: Any) -> str:
    """Return the scores that one member gives, (n_samples, n_classes)."""
    if is_tree(ballot.member):
        return _total_of_trees(graph, [ballot], x)
    if ballot.columns is not None:
        seen = graph.floats(len(ballot.columns))
        columns = graph.constant(ballot.columns.astype(np.int64))
        graph.add("Gather", x.full_name, columns, axis=1, output=seen.full_name)
        x = seen
    index, probabilities = verdict(graph, ballot.member, x)
    if not ballot.soft:
        return graph.add("Gather", graph.constant(ballot.scores), index)
    # Each class takes one column, or none with weight 0. A product of matrices would
    # say the same, but onnxruntime merges it with the division before it and rounds.
    places = np.abs(ballot.scores).argmax(axis=0)
    weights = ballot.scores[places, np.arange(places.size)]
    columns = graph.add("Gather", probabilities, graph.constant(places), axis=1)
    return graph.add("Mul", columns, graph.constant(weights))


def _total_of_trees(graph: Graph, ballots: list[Ballot], x: Any) -> str:
    """Look up the leaf of each tree in a table of scores, and add these up."""
    tables = leaf_tables(ballots)
    sizes = [len(table) for table in tables]
    starts = np.cumsum([0, *sizes[:-1]], dtype=np.int64)
    leaves = graph.cast(
        graph.add("TreeEnsembleRegressor", x.full_name, **_leaf_numbers(ballots)),
        np.int64,
    )
    places = graph.add("Add", leaves, graph.constant(starts))
    table = graph.constant(np.concatenate(tables))
    n_classes = ballots[0].scores.shape[1]
    # A plain sum may add in any order; a running one goes from the first to the last.
    # It needs room for all it adds, so that not all trees are added at once.
    step = max(1, _AT_ONCE // n_classes)
    widths = [min(step, len(ballots) - at) for at in range(0, len(ballots), step)]
    total = None
    for width, some in zip(widths, graph.split(places, widths), strict=True):
        scores = graph.add("Gather", table, some)
        if total is not None:
            scores = graph.add("Concat", total, scores, axis=1)
        last = graph.constant(np.array([width - (total is None)]))
        running = graph.add("CumSum", scores, graph.constant(np.int64(1)))
        total = graph.add("Gather", running, last, axis=1)
    assert total is not None
    return graph.add("Reshape", total, graph.constant(np.array([-1, n_classes])))


def leaf_tables(ballots: list[Ballot]) -> list[FloatArray]:
    """Return what each leaf of each tree adds to the scores of the classes."""
    tables = []
    for ballot in ballots:
        tree = ballot.member.tree_
        shares = tree.value[tree.children_left < 0, 0, :]
        tables.append(
            shares @ ballot.scores if ballot.soft else ballot.scores[shares.argmax(1)]
        )
    return tables


def _leaf_numbers(ballots: list[Ballot]) -> dict[str, Any]:
    """Describe trees that answer, one column each, with the number of the leaf."""
    leaves = [
        np.flatnonzero(ballot.member.tree_.children_left < 0) for ballot in ballots
    ]
    places = np.repeat(np.arange(len(ballots)), [some.size for some in leaves])
    numbers = np.concatenate([np.arange(some.size, dtype=float) for some in leaves])
    return {
        **tree_nodes(ballots),
        "target_treeids": places.tolist(),
        "target_nodeids": np.concatenate(leaves).tolist(),
        "target_ids": places.tolist(),
        "target_weights": numbers.tolist(),
        "n_targets": len(ballots),
        "post_transform": "NONE",
    }


def tree_nodes(ballots: list[Ballot]) -> dict[str, Any]:
    """Describe the nodes of trees, whatever their leaves answer."""
    parts: dict[str, list[Array]] = {}

    def note(**arrays: Array) -> None:
        for name, values in arrays.items():
            parts.setdefault(name, []).append(values)

    for place, ballot in enumerate(ballots):
        tree = ballot.member.tree_
        nodes = np.arange(tree.node_count)
        leaf = tree.children_left < 0
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
        )
    return {name: np.concatenate(parts[name]).tolist() for name in parts}


def _rounded_down(thresholds: FloatArray) -> Array:
    """Return the largest 32-bit floats that are not above the thresholds.

    A 32-bit float is at most the one if and only if it is at most the other.
    """
    with np.errstate(under="ignore"):  # next to 0 there are subnormal numbers
        nearest = thresholds.astype(np.float32)
        below = np.nextafter(nearest, np.float32(-np.inf))
    return np.where(nearest > thresholds, below, nearest)


def _foreign_verdict(graph: Graph, model: Any, x: Any) -> tuple[str, str]:
    """Let skl2onnx convert a member that is none of ours."""
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
