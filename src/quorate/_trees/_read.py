"""Read the trees of an ensemble, and how it decides, into the engine's arrays."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from quorate._engine import (
    Adder,
    AdditiveEnsemble,
    Evaluate,
    Sums,
    TreeArrays,
    lay_out,
    make_stops,
    make_voter,
    tie_handicap,
)
from quorate._ensembles import Ensemble, Member, tree_input
from quorate._messages import with_article
from quorate._native import kernels
from quorate._typing import Array, BoolArray, FloatArray, IntArray

# At least. Leaves distilled from parts in turn are as good as from the mean of all
# trees; with parts of 25 they are worse.
_TREES_OF_PART = 100


def why_no_trees(ensemble: Ensemble) -> str:
    """Say why an ensemble cannot be read as trees; empty if it can."""
    for member in ensemble.members:
        if member.tree is None:
            return (
                f"each member must be a decision tree, but member {member.name!r} is "
                f"{with_article(type(member.estimator).__name__)}"
            )
    if ensemble.checks_input:
        return ""
    kind = type(ensemble.core).__name__
    return (
        f"the trees of a {kind} are not one forest; if it averages their "
        "probabilities, quorate.ensembles.to_forest makes one of it"
    )


def read_trees(ensemble: Ensemble, classes: Array) -> AdditiveEnsemble:
    """Return an ensemble of trees, with votes for these classes.

    Members are evaluated by scikit-learn's own trees, which take sparse rows as well;
    kernels use the arrays.
    """
    averages = ensemble.rule.name == "average"
    values = [member.node_probabilities(classes) for member in ensemble.members]
    weights = np.ones(len(values)) if ensemble.weights is None else ensemble.weights
    members = tuple(
        partial(_evaluate_tree, member, member.tree, shares, float(weight), averages)
        for member, shares, weight in zip(
            ensemble.members, values, weights, strict=True
        )
    )
    trees = _tree_arrays(ensemble, values, averages)
    is_whole = trees.table.size == 0
    return add_up(ensemble, classes, members, is_whole=is_whole, trees=trees)


def quick_parts(
    ensemble: Ensemble, classes: Array
) -> list[tuple[int, Callable[[Any], FloatArray]]]:
    """Return what gives the means of parts of the trees, by the compiled kernels.

    With the number of trees of each. Parts are of about equal size, from all over the
    ensemble; weighted trees are one part. Nothing if members are not trees, or count
    votes. All parts together say what the ensemble says, but for rounding, in a
    fraction of the time.
    """
    if ensemble.rule.name != "average" or why_no_trees(ensemble):
        return []
    n_parts = 1
    if ensemble.weights is None:
        n_parts = max(1, ensemble.n_members // _TREES_OF_PART)
    parts = [ensemble.members[part::n_parts] for part in range(n_parts)]
    return [
        (len(part), _quick_shares(replace(ensemble, members=part), classes))
        for part in parts
    ]


def _quick_shares(ensemble: Ensemble, classes: Array) -> Callable[[Any], FloatArray]:
    additive, order = read_trees(ensemble, classes), np.arange(ensemble.n_members)
    stops = make_stops(additive, order, order[-1:] + 1)
    voter = make_voter(additive, stops, None, mode="all", confidence=0.5)

    def shares(X: Any) -> FloatArray:
        return voter.probabilities(voter.evaluate(*voter.prepare(X)).scores)

    return shares


def leaf_finder(ensemble: Ensemble) -> Callable[[Any], IntArray]:
    """Return what finds the leaf that each row ends in, a line per tree.

    Rows are those that :func:`tree_input` returns. The compiled kernels add up the
    numbers of the leaves, each tree to a sum of its own, in a quarter of the time that
    the trees take themselves.
    """
    members = ensemble.members

    def by_trees(X: Any) -> IntArray:
        return np.stack([member.tree.apply(member.columns(X)) for member in members])

    if kernels() is None:
        return by_trees
    nodes = [tree_nodes(member.tree, member.features) for member in members]
    places = np.concatenate([np.flatnonzero(tree.left < 0) for tree in nodes])
    trees = lay_out(
        **join_trees(nodes),
        leaf_values=~np.arange(places.size),
        table=places[:, None].astype(float),
        n_features=int(ensemble.core.n_features_in_),
    )
    each, none = np.arange(len(nodes)), np.empty(0)
    sums = Sums(trees, each, np.zeros(len(nodes)), False, none.astype(int), none, none)
    find = Adder(sums)
    return lambda X: by_trees(X) if sp.issparse(X) else find(X)[0].T.astype(np.int32)


def add_up(
    ensemble: Ensemble,
    classes: Array,
    members: tuple[Evaluate, ...],
    *,
    is_whole: bool,
    noise: float = 0.0,
    trees: TreeArrays | None = None,
) -> AdditiveEnsemble:
    """Return an ensemble as the sum of what its members add to each class.

    Parameters
    ----------
    members : tuple of callable
        What each member adds, from prepared rows.
    is_whole : bool
        Whether a member gives its whole weight to one class.
    noise : float
        Share of the total weight that the members' own rounding may change.
    trees : TreeArrays, optional
        The members, if they are trees.
    """
    n_members, against = ensemble.n_members, float(ensemble.rule.against)
    weights = np.ones(n_members) if ensemble.weights is None else ensemble.weights
    handicap, margin = tie_handicap(weights, classes.size, is_whole and not against)
    return AdditiveEnsemble(
        members=members,
        classes=classes,
        weights=weights,
        reach=np.abs(weights) if trees is None else trees.reach(weights),
        margin=margin + noise * float(np.abs(weights).sum()),
        handicap=handicap,
        prepare=ensemble.prepare if trees is None else tree_input(ensemble),
        model=ensemble.model if ensemble.can_predict else None,
        adds_in_order=ensemble.adds_in_order if ensemble.can_predict else lambda: True,
        divides=ensemble.rule.name == "average" or against != 0,
        against=against,
        trees=trees,
        why_no_trees="" if trees is not None else why_no_trees(ensemble),
        # scikit-learn warns if arrays come without the names of training.
        takes_plain=ensemble.takes_plain
        and not hasattr(ensemble.core, "feature_names_in_"),
    )


def _evaluate_tree(
    member: Member, tree: Any, shares: FloatArray, weight: float, averages: bool, X: Any
) -> FloatArray:
    """Return what a tree adds to each class, by the leaf that each row reaches."""
    # The tree that the shares belong to; a refitted member has a new one.
    reached: FloatArray = shares.take(tree.apply(member.columns(X)), axis=0)
    if averages:
        return reached if weight == 1 else weight * reached
    votes = np.zeros(reached.shape)
    votes[np.arange(len(votes)), reached.argmax(axis=1)] = weight
    return votes


class TreeNodes(NamedTuple):
    """The nodes of a tree, the root first; leaves have no left child, -1.

    Where ``in_set`` is true, a threshold is the place of a set of categories.
    """

    left: Array
    right: Array
    columns: Array
    thresholds: Array
    missing_left: Array
    in_set: Any = False


def join_trees(trees: list[TreeNodes]) -> dict[str, Any]:
    """Return the nodes of all trees as :func:`quorate._engine.lay_out` takes them."""
    counts = np.array([tree.left.size for tree in trees])
    left, right, columns, thresholds, missing_left, in_set = (
        np.concatenate(
            [
                np.broadcast_to(part, tree.left.size)
                for part, tree in zip(each, trees, strict=True)
            ]
        )
        for each in zip(*trees, strict=True)
    )
    is_leaf = left < 0
    inner = np.flatnonzero(~is_leaf)
    start = np.repeat(np.cumsum(counts) - counts, counts)[inner]
    return {
        "counts": counts,
        "is_leaf": is_leaf,
        "left": left[inner] + start,
        "right": right[inner] + start,
        "columns": columns[inner],
        "missing_left": missing_left[inner],
        "thresholds": thresholds[inner],
        "in_set": in_set[inner],
    }


def _tree_arrays(
    ensemble: Ensemble, values: list[FloatArray], averages: bool
) -> TreeArrays:
    """Return the trees of an ensemble, with the shares of each class in their nodes."""
    joined = join_trees([tree_nodes(m.tree, m.features) for m in ensemble.members])
    shares = np.concatenate(values)[joined["is_leaf"]]
    leaf_values, table = _leaves(shares, averages)
    n_features = int(ensemble.core.n_features_in_)
    return lay_out(
        **joined, leaf_values=leaf_values, table=table, n_features=n_features
    )


def tree_nodes(tree: Any, own: Any = None) -> TreeNodes:
    """Return the nodes of a tree of scikit-learn, which may have columns of its own."""
    columns: IntArray = tree.feature
    if own is not None:
        columns = np.asarray(own)[np.maximum(columns, 0)]
    return TreeNodes(
        tree.children_left,
        tree.children_right,
        columns,
        tree.threshold,
        tree.missing_go_to_left,
    )


def _leaves(shares: FloatArray, averages: bool) -> tuple[IntArray, FloatArray]:
    """Return the values of leaves, and the table of those that are not pure."""
    values: IntArray = shares.argmax(axis=1)
    if not averages:
        return values, np.empty((0, shares.shape[1]))
    # A pure leaf has exact zeros elsewhere; adding anything would change sums.
    is_pure: BoolArray = shares[np.arange(len(shares)), values] == 1
    is_pure &= np.count_nonzero(shares, axis=1) == 1
    table = np.ascontiguousarray(shares[~is_pure], dtype=np.float64)
    if not table.size:
        return values, table
    first, rows = distinct_rows(table)
    values[~is_pure] = ~rows
    return values, np.ascontiguousarray(table[first])


def distinct_rows(table: FloatArray) -> tuple[IntArray, IntArray]:
    """Return where each row stands first, by its bytes, and the number of each."""
    as_bytes = table.view(np.dtype((np.void, table.strides[0]))).ravel()
    _, first, rows = np.unique(as_bytes, return_index=True, return_inverse=True)
    return first, rows.reshape(-1)
