"""Build a smaller ensemble of the same kind from some members of a fitted one.

The inverse of ``_members``: the only place that knows which attributes of an ensemble
belong to its members. The original is never changed; the parts both share (the members
that stay, encoders, earlier steps of a pipeline) are not copied.
"""

import copy
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    ExtraTreesClassifier,
    RandomForestClassifier,
    VotingClassifier,
)
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline
from sklearn.utils import Bunch

from quorate._typing import FloatArray, IntArray
from quorate.votes._checks import as_weights, member_positions
from quorate.votes._members import read_members
from quorate.votes._weighted import WeightedVoting

# Estimates from the whole ensemble's out-of-bag votes do not hold for a part of it.
_STALE = ("oob_score_", "oob_decision_function_", "oob_prediction_")


def keep_members(ensemble: Any, members: Any, weights: Any = None) -> Any:
    """Return a fitted ensemble of the same type with only these members.

    Parameters
    ----------
    ensemble : fitted ensemble, list or dict
        What :func:`quorate.collect_votes` reads. It is not changed.
    members : array-like of bool of shape (n_members,), or array-like of int
        A mask, or positions in the order wanted.
    weights : array-like of shape (n_kept,), optional
        New voting weights of these members. AdaBoost and voting ensembles take them;
        forests and bagging, which have none, become a
        :class:`quorate.WeightedVoting` of the same members. Lists and dicts hold
        members only.

    Returns
    -------
    ensemble of the same type
        Its ``n_estimators`` (or ``estimators`` and ``weights``) agree with its members.

    See Also
    --------
    quorate.prune : Let a method choose the members.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> import quorate
    >>> forest = RandomForestClassifier(100).fit(*load_wine(return_X_y=True))
    >>> quorate.keep_members(forest, [3, 14, 15])
    RandomForestClassifier(n_estimators=3)
    """
    n_members = len(read_members(ensemble).members)  # says why where there are none
    places = member_positions(members, n_members)
    new = None if weights is None else _new_weights(weights, places.size)
    return _keep(ensemble, places, new)


def _new_weights(weights: Any, n_kept: int) -> FloatArray:
    try:
        return as_weights(weights, n_kept)
    except ValueError as error:
        raise ValueError(str(error).replace("Votes(", "keep_members(")) from error


def _keep(ensemble: Any, members: IntArray, weights: FloatArray | None) -> Any:
    if isinstance(ensemble, Mapping):
        names = list(ensemble)
        return {names[member]: ensemble[names[member]] for member in members}
    if isinstance(ensemble, (list, tuple)):
        return type(ensemble)(ensemble[member] for member in members)
    if isinstance(ensemble, FrozenEstimator):
        return FrozenEstimator(_keep(ensemble.estimator, members, weights))
    if isinstance(ensemble, Pipeline):
        return _cut_pipeline(ensemble, members, weights)
    if weights is not None and not isinstance(ensemble, _WITH_WEIGHTS):
        return _weighted(ensemble, members, weights)
    for kind, cut in _CUTTERS.items():
        if isinstance(ensemble, kind):
            smaller = copy.copy(ensemble)
            for name in _STALE:
                smaller.__dict__.pop(name, None)
            cut(smaller, members)
            if weights is not None:
                _set_weights(smaller, weights)
            return smaller
    read_members(ensemble)  # says why such an ensemble has no members to keep
    raise AssertionError(f"{type(ensemble).__name__} can be read but not cut")


def _weighted(ensemble: Any, members: IntArray, weights: FloatArray) -> WeightedVoting:
    roster = read_members(ensemble)
    kept = [roster.members[member] for member in members]
    return WeightedVoting.of(
        [member.estimator for member in kept],
        weights,
        [member.features for member in kept],
        [f"member_{member.name}" for member in kept],
        ensemble,
    )


def _set_weights(smaller: Any, weights: FloatArray) -> None:
    if isinstance(smaller, AdaBoostClassifier):
        smaller.estimator_weights_ = np.array(weights)
    else:
        smaller.weights = [float(weight) for weight in weights]


def _cut_pipeline(
    pipeline: Pipeline, members: IntArray, weights: FloatArray | None
) -> Pipeline:
    smaller = copy.copy(pipeline)
    name, last = pipeline.steps[-1]
    smaller.steps = [*pipeline.steps[:-1], (name, _keep(last, members, weights))]
    return smaller


def _cut_forest(forest: Any, members: IntArray) -> None:
    forest.estimators_ = [forest.estimators_[member] for member in members]
    forest.n_estimators = len(members)
    if hasattr(forest, "n_jobs"):
        # Starting workers costs more than a small batch takes; large ones may ask
        # again.
        forest.n_jobs = None


def _cut_bagging(bagging: Any, members: IntArray) -> None:
    seeds = getattr(bagging, "_seeds", None)
    _cut_forest(bagging, members)
    features = bagging.estimators_features_
    bagging.estimators_features_ = [features[member] for member in members]
    # estimators_samples_ draws the samples again, from one seed per member.
    if seeds is not None and len(seeds) > int(max(members)):
        bagging._seeds = np.asarray(seeds)[members]


def _cut_boosting(boosting: Any, members: IntArray) -> None:
    _cut_forest(boosting, members)
    boosting.estimator_weights_ = boosting.estimator_weights_[members]
    boosting.estimator_errors_ = boosting.estimator_errors_[members]


def _cut_voting(voting: Any, members: IntArray) -> None:
    present = [
        place
        for place, (_, member) in enumerate(voting.estimators)
        if not isinstance(member, str)  # the word "drop"
    ]
    kept = [present[member] for member in members]
    if voting.weights is not None:
        voting.weights = [voting.weights[place] for place in kept]
    voting.estimators = [voting.estimators[place] for place in kept]
    voting.estimators_ = [voting.estimators_[member] for member in members]
    if isinstance(voting, WeightedVoting):
        voting.features_ = [voting.features_[member] for member in members]
    names = [name for name, _ in voting.estimators]
    voting.named_estimators_ = Bunch(
        **dict(zip(names, voting.estimators_, strict=True))
    )


_WITH_WEIGHTS = (AdaBoostClassifier, VotingClassifier)

_CUTTERS: dict[type, Callable[[Any, IntArray], None]] = {
    RandomForestClassifier: _cut_forest,
    ExtraTreesClassifier: _cut_forest,
    BaggingClassifier: _cut_bagging,
    AdaBoostClassifier: _cut_boosting,
    VotingClassifier: _cut_voting,
}
