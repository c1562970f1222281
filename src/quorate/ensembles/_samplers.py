"""Samplers between the samples and the members, and which rows a member really saw.

A pipeline of imbalanced-learn resamples before it fits, and predicts without. Samplers
that choose rows remember which; those that invent rows keep the old ones first, and
where they clean up afterwards, what cleans remembers the rows it leaves.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from quorate._data import count_rows, take_rows
from quorate._typing import Array, IntArray
from quorate.ensembles._kind import Ensemble
from quorate.ensembles._leaf_notes import LEAVES_OF_EVIDENCE
from quorate.ensembles._member import Member
from quorate.ensembles._training import recognise

# What cleans up after a sampler that invents rows: SMOTETomek, SMOTEENN.
_CLEANERS = ("tomek_", "enn_")

Recognised = tuple[bool, list[IntArray] | None]


def is_sampler(step: Any) -> bool:
    """Tell whether a step of a pipeline changes rows when fitting, and nothing else."""
    return hasattr(step, "fit_resample") and not hasattr(step, "transform")


def before_samplers(pipeline: Pipeline) -> Any:
    """Return what the steps before the last do to X when predicting."""
    steps = [step for step in pipeline.steps[:-1] if not is_sampler(step[1])]
    if not steps:
        return lambda X: X
    return Pipeline(steps).transform


def after_samplers(ensemble: Ensemble, samplers: Sequence[Any]) -> Ensemble:
    """Return an ensemble that was fitted on what samplers made of the samples."""
    rows = _rows_of(samplers)
    if rows is None:
        return replace(
            ensemble,
            drawn=None,
            recognise=lambda X, y: (_invented_from(ensemble, samplers, X), None),
        )
    return chosen_by(ensemble, rows)


def chosen_by(
    ensemble: Ensemble, rows: IntArray, labels: Array | None = None
) -> Ensemble:
    """Return an ensemble that was fitted on some rows of the samples.

    Parameters
    ----------
    ensemble : Ensemble
    rows : array of int
        The rows, in the order in which it got them.
    labels : array, optional
        What they were labelled with, for all samples; their true labels by default.
    """
    drawn = ensemble.drawn

    def known(X: Any, y: Array) -> Recognised:
        return _chosen_from(ensemble, rows, X, y if labels is None else labels)

    return replace(
        ensemble,
        drawn=None if drawn is None else lambda: [rows[some] for some in drawn()],
        recognise=known,
    )


def chosen_rows(
    members: Sequence[Member], rows: Sequence[IntArray], X: Any, y: Array
) -> bool:
    """Tell whether these are the samples that members were fitted on some rows of.

    Samplers give a member as many samples of each class, or the same numbers to all
    members, which other labels in these rows do not have; trees remember their leaves.
    """
    if max(int(some.max()) for some in rows) >= y.size:
        return False
    counts = {
        tuple(np.unique(y[some], return_counts=True)[1].tolist()) for some in rows
    }
    balanced = all(len(set(of_classes)) == 1 for of_classes in counts)
    alike = len(counts) == 1 and len(rows) > 1
    of_a_tree = hasattr(members[0].estimator, "tree_")
    if not balanced and not alike and not (of_a_tree and len(rows) == 1):
        return False
    leaves = 0
    for member, some in zip(members, rows, strict=True):
        tree = getattr(member.estimator, "tree_", None)
        if tree is None or tree.n_node_samples[0] != some.size:
            continue
        if not np.array_equal(*_counts(member, tree, take_rows(X, some))):
            return False
        leaves += tree.n_leaves
        if leaves >= LEAVES_OF_EVIDENCE:
            break
    return True


def _rows_of(samplers: Sequence[Any]) -> IntArray | None:
    """Return the rows that samplers chose one after the other; None if unknown."""
    chosen: IntArray | None = None
    for sampler in samplers:
        rows = getattr(sampler, "sample_indices_", None)
        if rows is None:
            return None
        chosen = np.asarray(rows) if chosen is None else chosen[np.asarray(rows)]
    return chosen


def _chosen_from(ensemble: Ensemble, rows: IntArray, X: Any, y: Array) -> Recognised:
    if int(rows.max()) >= y.size or count_rows(X) != y.size:
        return False, None
    seen, drawn = recognise(ensemble, take_rows(X, rows), y[rows])
    return seen, None if drawn is None else [rows[some] for some in drawn]


def _origins(samplers: Sequence[Any], n_rows: int) -> IntArray:
    """Return the row that each sample behind the samplers was, -1 if it was invented.

    So were all after the last.
    """
    found: IntArray = np.arange(n_rows)
    for sampler in samplers:
        cleaners = (getattr(sampler, name, None) for name in _CLEANERS)
        for one in (sampler, *cleaners):
            rows = getattr(one, "sample_indices_", None)
            if rows is not None:
                found = _origins_at(found, np.asarray(rows))
    return found


def _origins_at(origins: IntArray, rows: IntArray) -> IntArray:
    return np.append(origins, -1)[np.minimum(rows, origins.size)]


def _invented_from(ensemble: Ensemble, samplers: Sequence[Any], X: Any) -> bool:
    """Tell whether members were trained on these samples and on others made of them.

    Then no more of them reach a leaf than did in training.
    """
    origins, leaves = _origins(samplers, count_rows(X)), 0
    drawn = None if ensemble.drawn is None else list(ensemble.drawn())
    for place, member in enumerate(ensemble.members):
        tree = getattr(member.estimator, "tree_", None)
        if tree is None:
            return False
        some = origins
        if drawn is not None:
            distinct = np.unique(drawn[place])
            if tree.n_node_samples[0] != distinct.size:
                return False
            some = _origins_at(origins, distinct)
        some = some[some >= 0]
        if some.size > tree.n_node_samples[0] or some.size == 0:
            return False
        reached, trained = _counts(member, tree, take_rows(X, some))
        if (reached > trained).any():
            return False
        leaves += tree.n_leaves
        if leaves >= LEAVES_OF_EVIDENCE:
            return True
    return leaves > 0


def _counts(member: Member, tree: Any, X: Any) -> tuple[IntArray, IntArray]:
    """Return how many samples reach each leaf, and how many did in training."""
    reached = np.bincount(member.leaves(X), minlength=tree.node_count)
    is_leaf = tree.children_left == -1
    return reached[is_leaf], tree.n_node_samples[is_leaf]
