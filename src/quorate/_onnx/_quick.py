"""One node for all trees, where no rounding can change the label.

onnxruntime adds up scores in single precision. That is exact for whole numbers, and so
for trees whose leaves are sure. Otherwise the label is right unless two classes are
closer than all roundings together: only such rows are then added up in doubles, one
tree after the other, by a branch of the graph that is rarely entered.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from quorate._onnx._graph import Branch, Graph
from quorate._onnx._kinds import as_ensemble, label_type
from quorate._onnx._verdicts import (
    Ballot,
    ballots_of,
    ensemble_verdict,
    leaf_tables,
    tree_nodes,
)
from quorate._typing import Array, FloatArray
from quorate.ensembles import Ensemble

# Whole numbers up to here are 32-bit floats, and so are their sums.
_WHOLE = 2**24
_ROUNDING = 2.0**-24


@dataclass(frozen=True)
class _Named:
    """Rows inside a branch, by the name they have there."""

    full_name: str


@dataclass(frozen=True)
class _Trees:
    """What is drawn: trees, what their leaves add, labels, and the sum of weights."""

    ballots: list[Ballot]
    tables: list[FloatArray]
    labels: Array
    whole: float


def draw_quickly(graph: Graph, model: Any, x: Any, outputs: list[str]) -> bool:
    """Draw labels and probabilities of an ensemble of trees, if it can be done so.

    Parameters
    ----------
    graph : Graph
    model : classifier
        Drawn if it is an ensemble of trees that takes the class of the largest sum.
    x : variable
        The samples.
    outputs : list of str
        What labels and probabilities are called.
    """
    ensemble = as_ensemble(model)
    if ensemble is None or not ensemble.is_of_trees or ensemble.rule.against:
        return False
    if ensemble.core is not ensemble.model:  # a pipeline inside a wrapper
        return False
    ballots = ballots_of(ensemble)
    tables = leaf_tables(ballots)
    everything = np.concatenate(tables)
    seen = np.flatnonzero((everything != 0).any(axis=0))
    if seen.size < 2 or (everything < 0).any():
        return False  # onnxruntime has rules of its own for these
    if any(np.ptp(table.sum(axis=1)) > 1e-9 for table in tables):
        return False  # shares of two classes would not follow from their difference
    labels, _ = label_type(np.asarray(ensemble.classes))
    weights = ensemble.weights
    whole = float(ensemble.n_members if weights is None else np.sum(weights))
    most = sum(float(table.max()) for table in tables)
    is_exact = bool((everything == np.round(everything)).all()) and most < _WHOLE
    wanted: list[Any] = [*outputs] if is_exact else [None, None]
    trees = _Trees(ballots, tables, labels, whole)
    draw = _draw_two if labels.size == 2 else _draw_many
    label, shares, scores = draw(graph, trees, x, wanted)
    if is_exact:
        return True
    # Every tree is rounded once as a number and once in the sum.
    doubt = 2 * (len(ballots) + 2) * _ROUNDING * most
    leads = _leads(graph, scores, labels.size)
    limit = graph.constant(np.float32(doubt * (1 + 1e-6)))
    smallest = graph.add("ReduceMin", leads, keepdims=0)
    exact, plain = graph.branch(), graph.branch()
    _correct(exact, ensemble, x, leads, limit, label, shares)
    for name in (label, shares):
        plain.result("Identity", name)
    graph.fork(graph.add("Less", smallest, limit), exact, plain, outputs)
    return True


def _leads(graph: Graph, scores: str, n_classes: int) -> str:
    """Return by how much the first class is ahead of the second, on each row."""
    if n_classes == 2:
        return graph.add("Abs", scores)
    two = graph.constant(np.array([2], dtype=np.int64))
    largest, _ = graph.add_two("TopK", scores, two, axis=1)
    difference = graph.constant(np.array([[1], [-1]], dtype=np.float32))
    return graph.add("MatMul", largest, difference)


def _correct(
    graph: Branch,
    ensemble: Ensemble,
    x: Any,
    leads: str,
    limit: str,
    label: str,
    shares: str,
) -> None:
    """Put the verdict in doubles in the places of rows with a small lead."""
    flat = graph.constant(np.array([-1], dtype=np.int64))
    close = graph.add("Reshape", graph.add("Less", leads, limit), flat)
    rows = graph.add("Reshape", graph.add("NonZero", close), flat)
    some = _Named(graph.add("Gather", x.full_name, rows, axis=0))
    index, exact = ensemble_verdict(graph, ensemble, some)
    labels, _ = label_type(np.asarray(ensemble.classes))
    places = graph.add("Unsqueeze", rows, graph.constant(np.array([1])))
    right = graph.add("Gather", graph.constant(labels), index)
    graph.result("ScatterND", label, places, right)
    exact = graph.cast(exact, np.float32)
    graph.result("ScatterND", shares, places, exact)


def _draw_many(
    graph: Graph, trees: _Trees, x: Any, outputs: list[Any]
) -> tuple[str, str, str]:
    """Add nodes for labels, shares and scores; the first of equal scores wins."""
    scores = _scores_of_leaves(trees.ballots, trees.tables)
    kind = "strings" if trees.labels.dtype.kind == "O" else "int64s"
    classes: dict[str, Any] = {
        **{f"class_{name}": values for name, values in scores.items()},
        **tree_nodes(trees.ballots),
        f"classlabels_{kind}": trees.labels.tolist(),
        "post_transform": "NONE",
    }
    label, totals = graph.add_two(
        "TreeEnsembleClassifier", x.full_name, outputs=(outputs[0], None), **classes
    )
    whole = graph.constant(np.float32(trees.whole))
    return label, graph.add("Div", totals, whole, output=outputs[1]), totals


def _draw_two(
    graph: Graph, trees: _Trees, x: Any, outputs: list[Any]
) -> tuple[str, str, str]:
    """Do the same for two classes, by what the second has more than the first.

    The node for classes would take the second if its score is above one half.
    """
    more = [table[:, 1:] - table[:, :1] for table in trees.tables]
    scores = _scores_of_leaves(trees.ballots, more)
    targets: dict[str, Any] = {
        **{f"target_{name}": values for name, values in scores.items()},
        **tree_nodes(trees.ballots),
        "n_targets": 1,
        "post_transform": "NONE",
    }
    lead = graph.add("TreeEnsembleRegressor", x.full_name, **targets)
    sides = np.array([[-1, 1]], dtype=np.float32) / np.float32(2 * trees.whole)
    apart = graph.add("Mul", lead, graph.constant(sides))
    index = graph.add("ArgMax", apart, axis=1, keepdims=0)
    label = graph.add("Gather", graph.constant(trees.labels), index, output=outputs[0])
    half = graph.constant(np.float32(0.5))
    return label, graph.add("Add", apart, half, output=outputs[1]), lead


def _scores_of_leaves(
    ballots: list[Ballot], tables: list[FloatArray]
) -> dict[str, list[Any]]:
    """Describe what leaves add to the score of each class."""
    trees, nodes, classes, scores = [], [], [], []
    for place, (ballot, table) in enumerate(zip(ballots, tables, strict=True)):
        leaves = np.flatnonzero(ballot.member.tree_.children_left < 0)
        said = table != 0
        said[:, 0] |= ~said.any(axis=1)  # onnxruntime wants something of every leaf
        rows, columns = np.nonzero(said)
        trees.append(np.full(rows.size, place))
        nodes.append(leaves[rows])
        classes.append(columns)
        scores.append(table[rows, columns].astype(np.float32))
    return {
        "treeids": np.concatenate(trees).tolist(),
        "nodeids": np.concatenate(nodes).tolist(),
        "ids": np.concatenate(classes).tolist(),
        "weights": np.concatenate(scores).tolist(),
    }
