"""Convert an ensemble to a sum: what each member adds to each class.

Unlike votes, these are the terms of the ensemble's own ``predict``: a share for each
class if probabilities are averaged, the member's weight for one class if votes are
counted.
"""

from functools import partial, reduce
from typing import Any

import numpy as np

from quorate._engine import AdditiveEnsemble, Ask
from quorate._ensembles import Ensemble, Member, is_certain, tree_input
from quorate._kernels.verdicts import rounding
from quorate._typing import Array, FloatArray
from quorate._votes import as_labels, check_same_family, union
from quorate.lazy._arrays import tree_arrays

# Linear algebra rounds differently for other numbers of rows, so probabilities of
# members other than trees are exact only to this share of the total weight.
_BATCH_NOISE = 1e-6
# Units in which weights may be counted, and how many of them add up exactly even with
# the handicap that breaks ties.
_GRAINS = (1.0, 2.0**-10)
_COUNTABLE = 2**20
_STEP = 2.0**-30


def make_additive(
    ensemble: Ensemble, X: Any = None, y: Any = None, classes: Array | None = None
) -> AdditiveEnsemble:
    """Return an ensemble as an :class:`AdditiveEnsemble`.

    Lists and dicts have the classes of their members, those in y, and those that
    members without ``classes_`` predict on X; or the classes given.
    """
    labels = ensemble.classes
    if labels is None:
        labels = _pool_classes(ensemble, X, y) if classes is None else classes
    labels = np.asarray(labels)
    weights = ensemble.weights
    if weights is None:
        weights = np.ones(ensemble.n_members)
    averages = ensemble.rule.name == "average"
    # Trees with pure leaves only cast unit votes.
    is_whole = not averages or (
        ensemble.is_of_trees and all(map(is_certain, ensemble.members))
    )
    total, reach = float(np.abs(weights).sum()), np.abs(weights)
    margin = rounding(ensemble.n_members, total)
    why_no_arrays = _why_no_arrays(ensemble)
    if not why_no_arrays:
        members, reach = _ask_trees(ensemble, labels, weights, averages)
    else:
        members = [
            (_shares if averages and member.is_soft else _ballots)(
                member, labels, float(weight)
            )
            for member, weight in zip(ensemble.members, weights, strict=True)
        ]
        margin += 0.0 if is_whole else _BATCH_NOISE * total
    handicap = np.zeros(labels.size)
    # Members give their whole weight to one class; these weights are summed.
    if is_whole and ensemble.rule.against == 0:
        for grain in _GRAINS:  # in which weights add up without rounding
            units = weights / grain
            if total / grain < _COUNTABLE and np.array_equal(units, np.rint(units)):
                handicap -= np.arange(labels.size) * (grain * _STEP)
                margin = 0.0
                break
    # scikit-learn compares names with those of training, with a warning.
    is_plain = ensemble.takes_plain and not hasattr(ensemble.core, "feature_names_in_")
    return AdditiveEnsemble(
        members=tuple(members),
        classes=labels,
        weights=weights,
        reach=reach,
        margin=margin,
        handicap=handicap,
        prepare=ensemble.prepare if why_no_arrays else tree_input(ensemble),
        model=ensemble.model if ensemble.can_predict else None,
        adds_in_order=ensemble.adds_in_order if ensemble.can_predict else lambda: True,
        divides=averages or ensemble.rule.against != 0,
        against=float(ensemble.rule.against),
        arrays=None if why_no_arrays else partial(tree_arrays, ensemble, labels),
        why_no_arrays=why_no_arrays,
        plain_columns=int(ensemble.core.n_features_in_) if is_plain else None,
    )


def _why_no_arrays(ensemble: Ensemble) -> str:
    for member in ensemble.members:
        if member.tree is None:
            kind = type(member.estimator).__name__
            return (
                f"compiled kernels need decision trees, but member {member.name!r} is "
                f"a {kind}"
            )
    if ensemble.checks_input:
        return ""
    kind = type(ensemble.core).__name__
    return f"members of a {kind} check their input themselves"


def _ask_trees(
    ensemble: Ensemble, classes: Array, weights: FloatArray, averages: bool
) -> tuple[list[Ask], FloatArray]:
    """Return functions that look up each row's leaf, and the reach of each tree."""
    members: list[Ask] = []
    reach = np.empty(ensemble.n_members)
    for place, member in enumerate(ensemble.members):
        weight, table = weights[place], member.node_probabilities(classes)
        if not averages:
            winners = table.argmax(axis=1)
            table = np.zeros(table.shape)
            table[np.arange(len(table)), winners] = weight
        elif weight != 1:
            table = weight * table
        members.append(partial(_look_up, member, member.tree, table))
        # Column by column: NumPy takes 17 times as long along short rows.
        highest, lowest = reduce(np.maximum, table.T), reduce(np.minimum, table.T)
        reach[place] = (highest - lowest).max()
    return members, reach


def _look_up(member: Member, tree: Any, table: FloatArray, X: Any) -> FloatArray:
    # The tree that the table belongs to; a refitted member has a new one.
    return np.asarray(table.take(tree.apply(member.columns(X)), axis=0))


def _shares(member: Member, classes: Array, weight: float) -> Ask:
    """Evaluate probabilities, in the columns of the ensemble's classes."""
    columns = np.searchsorted(classes, member.own_labels)

    def ask(X: Any) -> FloatArray:
        own = member.probabilities(X)
        shares = np.zeros((len(own), classes.size))
        shares[:, columns] = weight * own
        return shares

    return ask


def _ballots(member: Member, classes: Array, weight: float) -> Ask:
    """Evaluate votes and put the member's weight on the class."""

    def ask(X: Any) -> FloatArray:
        codes = member.vote(X)
        if member.classes is None:
            labels = as_labels(codes, f"member {member.name!r}")
            codes = np.minimum(np.searchsorted(classes, labels), classes.size - 1)
            strange = classes[codes] != labels
            if strange.any():
                raise ValueError(
                    f"LazyClassifier: member {member.name!r} votes for "
                    f"{labels[strange][0]!r}, a class that fit has not seen; call "
                    "fit(X) with rows of all classes."
                )
        ballots = np.zeros((codes.size, classes.size))
        ballots[np.arange(codes.size), codes] = weight
        return ballots

    return ask


def _pool_classes(ensemble: Ensemble, X: Any, y: Any) -> Array:
    parts = [] if y is None else [as_labels(y, "y")]
    for member in ensemble.members:
        labels = getattr(member.estimator, "classes_", None)
        if labels is None and X is None:
            raise ValueError(
                f"LazyClassifier: member {member.name!r} "
                f"({type(member.estimator).__name__}) has no classes_; call fit(X) "
                "with rows of all classes."
            )
        votes = member.vote(X) if labels is None else labels
        parts.append(np.unique(as_labels(votes, f"member {member.name!r}")))
    for part in parts[1:]:
        check_same_family(parts[0], part, "LazyClassifier", "LazyClassifier")
    return union(parts, parts[0])
