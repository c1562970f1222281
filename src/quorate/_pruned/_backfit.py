"""Leaf values that bring the mean of some trees close to given targets.

Within one tree every row is in one leaf, so that the best values of its leaves, given
those of all other trees, are known leaf by leaf: the mean of what is left to explain,
drawn a little to the old values, and the nearest point of the simplex to that. Trees
take turns until nothing moves, which is the solution of the whole problem, since it is
convex. No step leaves the simplex, so nothing has to be cut off at the end. The leaves
then go a step from their old values to these, not all the way.

At last all leaves are rounded to a grid. Their probabilities are multiples of a power
of two, so that sums of them are exact, in any order and in 32 bits as well: every form
in which the ensemble is stored or exported is the same model. Leaves that became equal
are stored once.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from quorate._ensembles import Ensemble, Member, with_new_leaves
from quorate._kernels.nearest import onto_simplex, round_leaves
from quorate._progress import advance
from quorate._pruned._distillation_set import DistillationSet
from quorate._typing import Array, BoolArray, FloatArray, IntArray
from quorate._votes import positions

_MOST_ROUNDS = 20
# Rounds end when one of them lowers the sum of squares by less than this share.
_LITTLE = 1e-3
# Of the agreement in the step, chosen on twenty data sets: 1 loses accuracy and 2
# log-loss.
_POWER = 1.5
# The grid: with 64 levels files are a tenth smaller, and with many classes the log-loss
# grows by 1 %.
_LEVELS = 256


@dataclass(frozen=True, slots=True)
class Student:
    """Trees with a fixed say each, and where rows end in them.

    Attributes
    ----------
    places : list[IntArray]
        For each tree, the leaf of each row, counted from 0 among those reached.
    values : list[FloatArray]
        What these leaves say now: one row per leaf, one column per class.
    knows : list[BoolArray]
        Which classes a tree knows; its leaves can say nothing about others.
    say : FloatArray
        What a tree counts in the mean; adds up to 1.
    """

    places: list[IntArray]
    values: list[FloatArray]
    knows: list[BoolArray]
    say: FloatArray


def refit_leaves(
    ensemble: Ensemble,
    data: DistillationSet,
    classes: Array,
    ridge: float,
) -> tuple[list[Any], int, float]:
    """Return the members with new leaves, the number of rounds, and the step."""
    weights = ensemble.weights
    if weights is None or not weights.sum():
        weights = np.ones(ensemble.n_members)
    reached, places, values, knows = [], [], [], []
    columns = [
        positions(member.own_labels, classes, f"member {member.name!r}")
        for member in ensemble.members
    ]
    for member, leaves, own in zip(ensemble.members, data.leaves, columns, strict=True):
        number = np.zeros(member.tree.node_count, dtype=np.int32)
        number[leaves] = 1
        nodes = np.flatnonzero(number)
        number[nodes] = np.arange(nodes.size, dtype=np.int32)
        leaves[:] = number[leaves]  # in place: there may be many rows
        reached.append(nodes)
        places.append(leaves)
        values.append(member.node_probabilities(classes)[nodes])
        knows.append(np.isin(np.arange(classes.size), own))
    student = Student(places, values, knows, weights / weights.sum())
    new, rounds = backfit(student, data.targets, data.weights, ridge)
    step = _step(student, data)
    parts = zip(
        ensemble.members,
        reached,
        (old + step * (best - old) for old, best in zip(values, new, strict=True)),
        columns,
        strict=True,
    )
    return (
        [_on_grid(member, nodes, table[:, own]) for member, nodes, table, own in parts],
        rounds,
        step,
    )


def _step(student: Student, data: DistillationSet) -> float:
    """Return how far leaves go from their old values to those that fit best.

    Not far if trees and teacher, each drawing a class by their probabilities, mostly
    draw the same one, beyond what they would by chance: then leaves are right to be
    sure, and crossed rows, which lie between the classes, only make them unsure. And
    not far with few rows per leaf, which are fitted by chance.
    """
    n_rows = data.n_typical
    said = sum(
        say * table.take(places[:n_rows], axis=0)
        for places, table, say in zip(
            student.places, student.values, student.say, strict=True
        )
    )
    targets = data.targets[:, :n_rows].T
    agreement = float(np.sum(said * targets)) / n_rows
    by_chance = float(said.mean(axis=0) @ targets.mean(axis=0))
    kappa = max(agreement - by_chance, 0.0) / max(1 - by_chance, _LITTLE)
    per_leaf = float(data.weights.sum()) / sum(map(len, student.values))
    return float(1 - min(kappa, 1.0) ** _POWER) * per_leaf / (per_leaf + 1)


def _on_grid(member: Member, nodes: IntArray, table: FloatArray) -> Any:
    """Return a copy of a tree with new values in these nodes and all leaves rounded."""
    values = member.tree.value[:, 0, :].copy()
    values[nodes] = table
    leaves = np.flatnonzero(member.tree.children_left < 0)
    return with_new_leaves(member, leaves, round_leaves(values[leaves].T, _LEVELS).T)


def backfit(
    student: Student,
    targets: FloatArray,
    weights: FloatArray,
    ridge: float,
) -> tuple[list[FloatArray], int]:
    """Return new leaf values and the number of rounds it took.

    With p the mean of the trees they minimise ``sum_i weights_i |p_i - targets_i|^2 +
    ridge |v - old|^2`` over v with rows that are not negative and add up to 1.

    Parameters
    ----------
    student : Student
    targets : array of shape (n_classes, n_rows)
        Probabilities, a row per class.
    weights : array of shape (n_rows,)
        All positive.
    ridge : float
        How strongly leaves are held where they are.
    """
    # Of two classes one number says all.
    two = targets.shape[0] == 2 and all(known.all() for known in student.knows)
    first = 1 if two else 0
    old = [np.ascontiguousarray(table.T[first:]) for table in student.values]
    new = [table.copy() for table in old]
    left = np.array(targets[first:], dtype=float)
    for places, table, say in zip(student.places, new, student.say, strict=True):
        for row, value in zip(left, table, strict=True):
            row -= say * value.take(places)
    counts = [
        np.bincount(places, weights, minlength=table.shape[1])
        for places, table in zip(student.places, new, strict=True)
    ]
    before, rounds = np.inf, 0
    while rounds < _MOST_ROUNDS:
        for tree in np.flatnonzero(student.say):
            say, places = float(student.say[tree]), student.places[tree].astype(np.intp)
            # What is left to explain in each leaf, a row per class.
            size = old[tree].shape[1]
            pull = np.stack([np.bincount(places, weights * row, size) for row in left])
            step = say * pull - ridge * (new[tree] - old[tree])
            step /= say**2 * counts[tree] + ridge
            wanted = new[tree] + step
            if two:
                values = wanted.clip(0.0, 1.0)
            else:
                known = student.knows[tree]
                shares = onto_simplex(wanted[known])
                values = np.zeros_like(wanted)
                values[known] = shares / shares.sum(axis=0)
            for row, change in zip(left, say * (values - new[tree]), strict=True):
                row -= change.take(places)
            new[tree] = values
        rounds += 1
        advance(rounds, _MOST_ROUNDS)
        moved = sum(float(np.sum((a - b) ** 2)) for a, b in zip(new, old, strict=True))
        after = float(np.sum((left**2) @ weights)) + ridge * moved
        if before - after <= _LITTLE * after:
            break
        before = after
    if two:
        new = [np.concatenate([1 - table, table]) for table in new]
    return [np.ascontiguousarray(table.T) for table in new], rounds
