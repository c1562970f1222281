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
    labels, _ = label_type(np.asarray(ensemble.classes))
    weights = ensemble.weights
    whole = np.float32(ensemble.n_members if weights is None else np.sum(weights))
    most = sum(float(table.max()) for table in tables)
    is_exact = bool((everything == np.round(everything)).all()) and most < _WHOLE
    wanted = outputs if is_exact else [None, None]
    label, totals = _count(graph, ballots, tables, labels, x, wanted[0])
    shares = graph.add("Div", totals, graph.constant(whole), output=wanted[1])
    if is_exact:
        return True
    # Every tree is rounded once as a number and once in the sum.
    doubt = 2 * (len(ballots) + 2) * _ROUNDING * most
    leads = graph.add("MatMul", _two_largest(graph, totals), _difference(graph))
    limit = graph.constant(np.float32(doubt * (1 + 1e-6)))
    smallest = graph.add("ReduceMin", leads, keepdims=0)
    exact, plain = graph.branch(), graph.branch()
    _correct(exact, ensemble, x, leads, limit, label, shares)
    for name in (label, shares):
        plain.result("Identity", name)
    graph.fork(graph.add("Less", smallest, limit), exact, plain, outputs)
    return True


def _two_largest(graph: Graph, totals: str) -> str:
    two = graph.constant(np.array([2], dtype=np.int64))
    values, _ = graph.add_two("TopK", totals, two, axis=1)
    return values


def _difference(graph: Graph) -> str:
    return graph.constant(np.array([[1], [-1]], dtype=np.float32))


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


def _count(
    graph: Graph,
    ballots: list[Ballot],
    tables: list[FloatArray],
    labels: Array,
    x: Any,
    label: str | None,
) -> tuple[str, str]:
    """Add nodes for the label of the largest score, the first of equals, and scores."""
    scores = _scores_of_leaves(ballots, tables)
    if len(labels) > 2:
        kind = "strings" if labels.dtype.kind == "O" else "int64s"
        classes: dict[str, Any] = {
            **{f"class_{name}": values for name, values in scores.items()},
            **tree_nodes(ballots),
            f"classlabels_{kind}": labels.tolist(),
            "post_transform": "NONE",
        }
        return graph.add_two(
            "TreeEnsembleClassifier", x.full_name, outputs=(label, None), **classes
        )
    # Of two classes the other node takes the second if its score is above one half.
    targets: dict[str, Any] = {
        **{f"target_{name}": values for name, values in scores.items()},
        **tree_nodes(ballots),
        "n_targets": len(labels),
        "post_transform": "NONE",
    }
    totals = graph.add("TreeEnsembleRegressor", x.full_name, **targets)
    index = graph.add("ArgMax", totals, axis=1, keepdims=0)
    return graph.add("Gather", graph.constant(labels), index, output=label), totals


def _scores_of_leaves(
    ballots: list[Ballot], tables: list[FloatArray]
) -> dict[str, list[Any]]:
    """Describe what leaves add to the score of each class."""
    trees, nodes, classes, scores = [], [], [], []
    for place, (ballot, table) in enumerate(zip(ballots, tables, strict=True)):
        leaves = np.flatnonzero(ballot.member.tree_.children_left < 0)
        rows, columns = np.nonzero(table)
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
