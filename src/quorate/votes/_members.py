"""Read the members out of fitted ensembles: the one place that knows their dialects.

scikit-learn's ensembles do not agree on what a member says. Trees of a forest answer
with floats, members of bagging and voting with integer codes, members of AdaBoost with
the labels themselves; members of bagging see a subset of the columns. Everything else
in the package sees a :class:`Roster`, where these differences are gone.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    StackingClassifier,
    VotingClassifier,
)
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted, validate_data

from quorate._typing import Array, FloatArray, IntArray
from quorate.votes._weighted import WeightedVoting

READABLE = (
    "a fitted BaggingClassifier, RandomForestClassifier, ExtraTreesClassifier, "
    "AdaBoostClassifier or VotingClassifier, a Pipeline that ends in one, "
    "or a list or dict of fitted classifiers"
)


@dataclass(frozen=True, slots=True)
class Member:
    """One classifier and how to understand it."""

    name: str
    estimator: Any
    classes: Array | None
    """Labels that its answers are positions in; None if it answers with labels."""
    features: IntArray | None = None
    """The columns it sees; None for all."""

    def vote(self, X: Any) -> Array:
        """Return its answers on X: positions in ``classes``, or labels."""
        answers = np.asarray(self.estimator.predict(self.columns(X)))
        if answers.ndim == 2 and answers.shape[1] == 1:
            answers = answers[:, 0]
        if answers.ndim != 1:
            raise TypeError(
                f"member {self.name!r} ({type(self.estimator).__name__}) predicts an "
                f"array of shape {answers.shape}; a vote is one label per sample."
            )
        return answers if self.classes is None else answers.astype(np.intp)

    def probabilities(self, X: Any) -> Array:
        """Return its class probabilities on X, columns as in its ``classes_``."""
        ask = getattr(self.estimator, "predict_proba", None)
        if ask is None:
            raise TypeError(
                f"member {self.name!r} ({type(self.estimator).__name__}) has no "
                "predict_proba; collect votes without probabilities."
            )
        found = np.asarray(ask(self.columns(X)), dtype=np.float32)
        if found.ndim != 2 or found.shape[1] != len(self.estimator.classes_):
            raise TypeError(
                f"member {self.name!r} ({type(self.estimator).__name__}) gives "
                f"probabilities of shape {found.shape}; one column for each of its "
                f"{len(self.estimator.classes_)} classes is needed."
            )
        return found

    def columns(self, X: Any) -> Any:
        """Return the part of X that the member sees."""
        return X if self.features is None else X[:, self.features]


@dataclass(frozen=True, slots=True)
class Roster:
    """The members of an ensemble, ready to be asked."""

    members: tuple[Member, ...]
    classes: Array | None = None
    """The ensemble's own labels; None where there is no ensemble around the members."""
    weights: FloatArray | None = None
    prepare: Callable[[Any], Any] = lambda X: X
    """Checks X and converts it once for all members."""
    drawn: Callable[[], list[IntArray]] | None = None
    """The training rows each member was fitted on, for ensembles that bootstrap."""
    max_samples: int | float | None = None
    """The ensemble's own setting, to check the number of training rows by."""


def read_members(ensemble: Any) -> Roster:
    """Return the roster of a fitted ensemble, or say why it has none."""
    if isinstance(ensemble, Mapping):
        return _read_pool({str(name): member for name, member in ensemble.items()})
    if isinstance(ensemble, (list, tuple)):
        return _read_pool({str(place): member for place, member in enumerate(ensemble)})
    if isinstance(ensemble, FrozenEstimator):
        return read_members(ensemble.estimator)
    if isinstance(ensemble, Pipeline):
        return _read_pipeline(ensemble)
    for kind, reader in _READERS.items():
        if isinstance(ensemble, kind):
            check_is_fitted(ensemble)
            _refuse_many_outputs(ensemble)
            return reader(ensemble)
    raise TypeError(_why_not(ensemble))


def kind_of(ensemble: Any) -> str:
    """Return "forest", "bagging", "boosting", "voting" or "pool"."""
    if isinstance(ensemble, FrozenEstimator):
        return kind_of(ensemble.estimator)
    if isinstance(ensemble, Pipeline):
        return kind_of(ensemble[-1])
    for kind, name in _KINDS.items():
        if isinstance(ensemble, kind):
            return name
    return "pool"


def averages_probabilities(ensemble: Any) -> bool:
    """Tell whether the ensemble decides by its members' mean probability.

    A list or dict decides nothing; it counts where every member has probabilities.
    """
    if isinstance(ensemble, FrozenEstimator):
        return averages_probabilities(ensemble.estimator)
    if isinstance(ensemble, Pipeline):
        return averages_probabilities(ensemble[-1])
    if kind_of(ensemble) == "boosting":
        return False
    if kind_of(ensemble) == "voting" and ensemble.voting != "soft":
        return False
    return all(
        callable(getattr(member.estimator, "predict_proba", None))
        and hasattr(member.estimator, "classes_")
        for member in read_members(ensemble).members
    )


def _read_forest(forest: Any) -> Roster:
    def prepare(X: Any) -> Any:
        # NaN is left to the trees, which know whether they were trained with it.
        finite = "allow-nan" if get_tags(forest).input_tags.allow_nan else True
        return validate_data(
            forest,
            X,
            dtype=np.float32,
            accept_sparse="csr",
            reset=False,
            ensure_all_finite=finite,
        )

    return Roster(
        members=_members(forest.estimators_, classes=forest.classes_),
        classes=forest.classes_,
        prepare=prepare,
        drawn=(lambda: forest.estimators_samples_) if forest.bootstrap else None,
        max_samples=forest.max_samples,
    )


def _read_bagging(bagging: Any) -> Roster:
    members = _members(bagging.estimators_, classes=bagging.classes_)
    every_column = np.arange(bagging.n_features_in_)
    members = tuple(
        member
        if np.array_equal(features, every_column)
        else replace(member, features=features)
        for member, features in zip(members, bagging.estimators_features_, strict=True)
    )
    return Roster(
        members=members,
        classes=bagging.classes_,
        prepare=_validator(bagging, ensure_all_finite=False),
        drawn=(lambda: bagging.estimators_samples_) if bagging.bootstrap else None,
        max_samples=bagging.max_samples,
    )


def _read_adaboost(boosting: Any) -> Roster:
    members = _members(boosting.estimators_, classes=None)
    return Roster(
        members=members,
        classes=boosting.classes_,
        # the array has room for members that early stopping never fitted
        weights=np.asarray(boosting.estimator_weights_[: len(members)], dtype=float),
        prepare=_validator(boosting),
    )


def _read_voting(voting: Any) -> Roster:
    kept = [
        (name, w) for (name, member), w in _with_weights(voting) if member != "drop"
    ]
    members = tuple(
        Member(name, member, _voting_dialect(member, voting.classes_))
        for (name, _), member in zip(kept, voting.estimators_, strict=True)
    )
    weights = None
    if voting.weights is not None:
        weights = np.array([weight for _, weight in kept], dtype=float)
    return Roster(members=members, classes=voting.classes_, weights=weights)


def _read_weighted(voting: Any) -> Roster:
    members = tuple(
        Member(name, member, voting.classes_, columns)
        for (name, _), member, columns in zip(
            voting.estimators, voting.estimators_, voting.features_, strict=True
        )
    )
    weights = None if voting.weights is None else np.array(voting.weights, dtype=float)
    return Roster(
        members=members,
        classes=voting.classes_,
        weights=weights,
        prepare=_validator(voting, ensure_all_finite=False),
    )


def _with_weights(voting: Any) -> Any:
    weights = voting.weights
    return zip(
        voting.estimators,
        [None] * len(voting.estimators) if weights is None else weights,
        strict=True,
    )


def _voting_dialect(member: Any, classes: Array) -> Array | None:
    """Tell codes from labels: a frozen member kept the labels it was trained on."""
    if isinstance(member, FrozenEstimator) and np.isin(member.classes_, classes).all():
        return None
    return classes


def _read_pool(pool: Mapping[str, Any]) -> Roster:
    if not pool:
        raise ValueError(
            "collect_votes: the ensemble is empty, it has no member to ask."
        )
    for name, member in pool.items():
        if not callable(getattr(member, "predict", None)):
            raise TypeError(
                f"member {name!r} is a {type(member).__name__} without predict; "
                "a member is a fitted classifier."
            )
        kind = _declared_kind(member)
        if kind in ("regressor", "clusterer"):
            raise TypeError(
                f"member {name!r} ({type(member).__name__}) is a {kind}: "
                "it does not vote for classes."
            )
    return Roster(tuple(Member(name, member, None) for name, member in pool.items()))


def _read_pipeline(pipeline: Pipeline) -> Roster:
    roster = read_members(pipeline[-1])
    if len(pipeline) == 1:
        return roster
    before = pipeline[:-1]
    return replace(roster, prepare=lambda X: roster.prepare(before.transform(X)))


_GRADIENT_BOOSTING = (GradientBoostingClassifier, HistGradientBoostingClassifier)

_READERS: dict[type, Callable[[Any], Roster]] = {
    RandomForestClassifier: _read_forest,
    ExtraTreesClassifier: _read_forest,
    BaggingClassifier: _read_bagging,
    AdaBoostClassifier: _read_adaboost,
    WeightedVoting: _read_weighted,  # before the class it comes from
    VotingClassifier: _read_voting,
}


_KINDS = {
    RandomForestClassifier: "forest",
    ExtraTreesClassifier: "forest",
    BaggingClassifier: "bagging",
    AdaBoostClassifier: "boosting",
    VotingClassifier: "voting",
}


def _members(estimators: Any, classes: Array | None) -> tuple[Member, ...]:
    return tuple(
        Member(str(place), estimator, classes)
        for place, estimator in enumerate(estimators)
    )


def _validator(ensemble: Any, **options: Any) -> Callable[[Any], Any]:
    """Check X as the ensemble's own predict does, once for all members."""

    def prepare(X: Any) -> Any:
        return validate_data(
            ensemble,
            X,
            accept_sparse=["csr", "csc"],
            dtype=None,
            reset=False,
            **options,
        )

    return prepare


def _declared_kind(estimator: Any) -> str | None:
    """Return what scikit-learn calls it; outsiders declare nothing."""
    if isinstance(estimator, type) or not hasattr(estimator, "__sklearn_tags__"):
        return None
    kind: str | None = get_tags(estimator).estimator_type
    return kind


def _refuse_many_outputs(ensemble: Any) -> None:
    classes = getattr(ensemble, "classes_", None)
    if isinstance(classes, list):
        raise TypeError(
            f"{type(ensemble).__name__} was fitted on {len(classes)} outputs; "
            "quorate reads ensembles that vote on one."
        )


def _why_not(ensemble: Any) -> str:
    name = type(ensemble).__name__
    if isinstance(ensemble, type):
        return (
            f"collect_votes: got the class {ensemble.__name__}, not a fitted ensemble."
        )
    if isinstance(
        ensemble, (GradientBoostingClassifier, HistGradientBoostingClassifier)
    ):
        return (
            f"{name}: members of gradient boosting are regression trees that add up "
            "to a score; they do not vote for classes, so there is nothing to collect."
        )
    if isinstance(ensemble, StackingClassifier):
        return (
            f"{name}: the members feed a final estimator and do not vote; "
            "pass its estimators_ as a list to measure them."
        )
    if hasattr(ensemble, "best_estimator_"):
        return f"{name}: pass its best_estimator_, the fitted ensemble itself."
    kind = _declared_kind(ensemble)
    if kind in ("regressor", "clusterer"):
        return f"{name} is a {kind}: its members do not vote for classes."
    if kind == "classifier":
        return (
            f"{name} is not an ensemble whose members vote; quorate reads {READABLE}."
        )
    return f"collect_votes: cannot read {name}; quorate reads {READABLE}."
