"""Convert an ensemble to a sum: what each member adds to each class.

Unlike votes, these are the terms of the ensemble's own ``predict``: a share for each
class if probabilities are averaged, the member's weight for one class if votes are
counted.
"""

from functools import partial
from typing import Any

import numpy as np

from quorate._engine import AdditiveEnsemble
from quorate._ensembles import Ensemble, Member, is_certain
from quorate._trees import add_up, read_trees, why_no_trees
from quorate._typing import Array, FloatArray
from quorate._votes import as_labels, check_same_family, union

# Linear algebra rounds differently for other numbers of rows, so probabilities of
# members other than trees are exact only to this share of the total weight.
_BATCH_NOISE = 1e-6


def additive_ensemble(
    ensemble: Ensemble, X: Any = None, y: Any = None, classes: Array | None = None
) -> AdditiveEnsemble:
    """Return an ensemble as an :class:`AdditiveEnsemble`, of trees if possible.

    Lists and dicts have the classes of their members, those in y, and those that
    members without ``classes_`` predict on X; or the classes given.
    """
    if ensemble.classes is not None:
        classes = np.asarray(ensemble.classes)
    elif classes is None:
        classes = _pool_classes(ensemble, X, y)
    if not why_no_trees(ensemble):
        return read_trees(ensemble, classes)
    averages = ensemble.rule.name == "average"
    # Trees with pure leaves only cast unit votes.
    is_whole = not averages or (
        ensemble.is_of_trees and all(map(is_certain, ensemble.members))
    )
    weights = np.ones(ensemble.n_members)
    if ensemble.weights is not None:
        weights = ensemble.weights
    members = tuple(
        partial(
            _evaluate_probabilities if averages and member.is_soft else _evaluate_vote,
            member,
            classes,
            float(weight),
        )
        for member, weight in zip(ensemble.members, weights, strict=True)
    )
    noise = 0.0 if is_whole else _BATCH_NOISE
    return add_up(ensemble, classes, members, is_whole=is_whole, noise=noise)


def _evaluate_probabilities(
    member: Member, classes: Array, weight: float, X: Any
) -> FloatArray:
    """Return weighted probabilities, in the columns of the ensemble's classes."""
    own = member.probabilities(X)
    shares = np.zeros((len(own), classes.size))
    shares[:, member.class_columns(classes)] = weight * own
    return shares


def _evaluate_vote(member: Member, classes: Array, weight: float, X: Any) -> FloatArray:
    """Return the member's weight for the class it votes for."""
    codes = member.vote(X)
    if member.classes is None:
        labels = as_labels(codes, f"member {member.name!r}")
        codes = np.minimum(np.searchsorted(classes, labels), classes.size - 1)
        unknown = classes[codes] != labels
        if unknown.any():
            raise ValueError(
                f"LazyClassifier: member {member.name!r} votes for "
                f"{labels[unknown][0]}, a class that fit has not seen; call "
                "fit(X) with rows of all classes."
            )
    votes = np.zeros((codes.size, classes.size))
    votes[np.arange(codes.size), codes] = weight
    return votes


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
