"""A weighted voting classifier over fitted classifiers."""

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from quorate._checks import one_of
from quorate._data import count_rows
from quorate._ensembles._bagging import draws_all
from quorate._ensembles._kind import Ensemble, Kind, checker
from quorate._ensembles._labels import pool_classes
from quorate._ensembles._member import Member
from quorate._messages import unknown_name
from quorate._typing import Array, FloatArray, IntArray
from quorate._votes import DecisionRule, as_labels, weights_left


def _all_have_probabilities(model: "WeightedVoting") -> bool:
    return hasattr(model, "estimators_") and all(
        member.has_probabilities for member in model._members()
    )


class WeightedVoting(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A voting classifier over already fitted classifiers from any library.

    The result of pruning a list or dict: the kept members with their weights, as one
    model that can predict, be saved, compared, certified, used with early exit and
    pruned further. Methods that choose weights also return it for forests and bagging,
    which cannot store weights. Members can be anything that a pool accepts; see
    :func:`quorate.as_member`.

    Parameters
    ----------
    estimators : list, tuple or dict of classifiers
        The members; the keys of a dict are their names.
    weights : dict from name to float, or array-like, optional
        Voting weights, non-negative. Members of a list are named by their positions.
        Equal weights by default.
    voting : {"auto", "soft", "hard"}
        Whether probabilities are averaged or votes are counted. "auto" averages if all
        members have probabilities. If a member of the pool had none, the kept members
        count votes, as they were chosen to; ``predict_proba`` is still the mean of
        probabilities, and its largest may be another class.

    Attributes
    ----------
    estimators_ : list of classifiers
        The members.
    names_ : list of str
        Their names.
    weights_ : ndarray
        Their weights.
    features_ : list of ndarray or None
        The columns that each member uses; None for all.
    labels_ : list of bool
        Which members return labels; the others return positions in ``classes_``.
    classes_ : ndarray
        The classes.
    pruning_ : dict
        How the members were chosen, if by :func:`quorate.prune`.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> import quorate
    >>> X, y = load_wine(return_X_y=True)
    >>> pool = {f"depth {d}": DecisionTreeClassifier(max_depth=d) for d in (1, 2, 3)}
    >>> pool["bayes"] = GaussianNB()
    >>> pool = {name: model.fit(X[::2], y[::2]) for name, model in pool.items()}
    >>> small = quorate.prune(pool, X[1::2], y[1::2], keep=2)
    >>> "bayes" in small.weights, "bayes" in small.estimators
    (True, True)
    >>> small.predict_proba(X).shape
    (178, 3)
    >>> forest = RandomForestClassifier(20, random_state=0).fit(X[::2], y[::2])
    >>> few = quorate.keep_members(forest, [3, 4, 7], weights=[0.5, 0.3, 0.2])
    >>> few.weights, few.voting
    ({'3': 0.5, '4': 0.3, '7': 0.2}, 'soft')
    """

    def __init__(
        self, estimators: Any, weights: Any = None, *, voting: str = "auto"
    ) -> None:
        self.estimators = estimators
        self.weights = weights
        self.voting = voting

    @classmethod
    def of(
        cls,
        ensemble: Ensemble,
        members: IntArray,
        weights: FloatArray | None = None,
        classes: Array | None = None,
    ) -> Self:
        """Return some members of an ensemble as a model.

        Parameters
        ----------
        ensemble : Ensemble
        members : array of int
            Their positions.
        weights : array, optional
            Their weights.
        classes : array of labels, optional
            The labels of a list or dict; by default those of the members.
        """
        kept = [ensemble.members[member] for member in members]
        core = ensemble.core
        estimators = {member.name: member.estimator for member in kept}
        model = cls(
            estimators if ensemble.can_predict else take_members(core, members),
            voting="soft" if ensemble.rule.name == "average" else "hard",
        )
        model.names_ = list(estimators)
        model.estimators_ = list(estimators.values())
        model.features_ = [member.features for member in kept]
        model.labels_ = [member.classes is None for member in kept]
        model._weigh(weights)
        if not ensemble.can_predict:
            model.classes_ = pool_classes(kept, classes)
            return model
        model.classes_ = np.asarray(ensemble.classes)
        model.n_columns_ = int(core.n_features_in_)
        for name in ("feature_names_in_", "distillation_"):
            if hasattr(core, name):
                setattr(model, name, getattr(core, name))
        if ensemble.drawn is not None:
            # Shares the members, and knows each member's training rows.
            model.origin_ = ensemble.kind.keep(ensemble, members, None)
        return model

    @property
    def estimators_samples_(self) -> Sequence[IntArray]:
        """The training rows of each member, if the original ensemble has them."""
        samples: Sequence[IntArray] = self.origin_.estimators_samples_
        return samples

    @property
    def n_features_in_(self) -> int:
        """Number of features, if the members or the original ensemble have it."""
        if hasattr(self, "n_columns_"):
            return int(self.n_columns_)
        return int(self.estimators_[0].n_features_in_)

    def fit(self, X: Any, y: Any) -> Self:
        """Fit copies of the members, each on all columns."""
        one_of("WeightedVoting", "voting", self.voting, ("auto", "soft", "hard"))
        pool = self.estimators
        pairs = pool.items() if isinstance(pool, Mapping) else enumerate(pool)
        named = {str(name): member for name, member in pairs}
        for name in ("origin_", "n_columns_", "feature_names_in_"):
            self.__dict__.pop(name, None)
        self.names_ = list(named)
        self.estimators_ = [clone(member).fit(X, y) for member in named.values()]
        self.features_ = [None] * len(named)
        self.labels_ = [True] * len(named)
        self.classes_ = np.unique(as_labels(y, "y"))
        self._weigh(_as_numbers(self.weights, self.names_))
        return self

    def predict(self, X: Any) -> Array:
        """Predict classes; ties go to the lowest class."""
        check_is_fitted(self)
        # Votes are compared as sums, averages after the division.
        sums = (
            self._mean_probabilities(X)
            if self._averages()
            else self._sums(X, soft=False)
        )
        return np.asarray(self.classes_[sums.argmax(axis=1)])

    @available_if(_all_have_probabilities)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> FloatArray:
        """Return the weighted mean of the members' probabilities."""
        check_is_fitted(self)
        # Sums of products may round to more than the sum of the weights.
        return np.minimum(self._mean_probabilities(X), 1.0)

    def _averages(self) -> bool:
        if self.voting != "auto":
            return bool(self.voting == "soft")
        return all(member.has_probabilities for member in self._members())

    def _members(self) -> list[Member]:
        return [
            Member(name, member, None if labels else self.classes_, features)
            for name, member, labels, features in zip(
                self.names_, self.estimators_, self.labels_, self.features_, strict=True
            )
        ]

    def _prepare(self, X: Any) -> Any:
        """Validate X as the original ensemble does, if there is one."""
        if not hasattr(self, "n_columns_"):
            return X
        return checker(self, ensure_all_finite=False)(X)

    def _weigh(self, weights: FloatArray | None) -> None:
        size = len(self.names_)
        self.weights_ = np.full(size, 1 / size) if weights is None else weights
        self.weights = {
            name: float(weight)
            for name, weight in zip(self.names_, self.weights_, strict=True)
        }

    def _unequal(self) -> FloatArray | None:
        """Return the weights, or None if equal: ones add up exactly."""
        equal = (self.weights_ == self.weights_[0]).all()
        return None if equal else np.asarray(self.weights_, dtype=float)

    def _mean_probabilities(self, X: Any) -> FloatArray:
        weights = self._unequal()
        total = len(self.names_) if weights is None else float(np.sum(weights))
        return self._sums(X, soft=True) / total

    def _sums(self, X: Any, *, soft: bool) -> FloatArray:
        ready, known = self._prepare(X), as_labels(self.classes_, "classes_")
        total = np.zeros((count_rows(ready), known.size))
        weights = self._unequal()
        for place, member in enumerate(self._members()):
            said = np.zeros_like(total)
            if soft and member.has_probabilities:
                columns = member.class_columns(known)
                said[:, columns] = member.probabilities(ready)
            else:
                said[np.arange(len(said)), member.codes(ready, known)] = 1.0
            total = total + (1.0 if weights is None else float(weights[place])) * said
        return total


class WeightedVotes(Kind):
    """Fitted classifiers from any library, combined with weights."""

    name = "weighted voting"
    family = "pool"
    models = (WeightedVoting,)
    per_member = ("estimators_", "names_", "weights_", "features_", "labels_")
    takes_weights = True

    def read(self, model: Any) -> Ensemble:
        """See :class:`Kind`."""
        soft, is_checked = model._averages(), hasattr(model, "n_columns_")
        is_drawn = hasattr(model, "origin_")
        return Ensemble(
            kind=self,
            model=model,
            core=model,
            members=tuple(
                Member(
                    each.name,
                    each.estimator,
                    each.classes,
                    each.features,
                    is_soft=soft and each.has_probabilities,
                )
                for each in model._members()
            ),
            classes=model.classes_,
            rule=DecisionRule("average" if soft else "heads"),
            weights=model._unequal(),
            prepare=model._prepare,
            checks_input=is_checked,
            takes_plain=is_checked,
            drawn=(lambda: model.estimators_samples_) if is_drawn else None,
            draws_all=not is_drawn or draws_all(model.origin_.max_samples),
            adds_in_order=lambda: True,
        )

    def keep_members(self, smaller: Any, members: IntArray) -> None:
        """See :class:`Kind`."""
        left = weights_left(smaller.weights_[members])
        smaller.estimators = take_members(smaller.estimators, members)
        for name in ("estimators_", "names_", "features_", "labels_"):
            setattr(smaller, name, [getattr(smaller, name)[at] for at in members])
        smaller._weigh(left)
        if hasattr(smaller, "origin_"):
            smaller.origin_ = _read_ensemble(smaller.origin_).keep(members)

    def replace_members(self, same: Any, estimators: list[Any]) -> None:
        """See :class:`Kind`."""
        same.estimators_ = estimators
        if isinstance(same.estimators, Mapping):
            same.estimators = dict(zip(same.estimators, estimators, strict=True))
        else:
            same.estimators = estimators
        if hasattr(same, "origin_"):
            same.origin_ = _read_ensemble(same.origin_).with_members(estimators)

    def set_weights(self, smaller: Any, weights: FloatArray) -> None:
        """See :class:`Kind`."""
        smaller._weigh(np.asarray(weights, dtype=float))


def predictable(model: Any, ensemble: Ensemble, y: Array) -> Any:
    """Return the model itself, or a list or dict wrapped as a model."""
    if ensemble.can_predict or not isinstance(model, (list, tuple, Mapping)):
        return model
    every: IntArray = np.arange(ensemble.n_members)
    return WeightedVoting.of(ensemble, every, classes=np.unique(y))


def take_members(pool: Any, members: IntArray) -> Any:
    """Return some members of a list or dict as a list or dict."""
    if isinstance(pool, Mapping):
        names = list(pool)
        return {names[member]: pool[names[member]] for member in members}
    some = [pool[member] for member in members]
    return tuple(some) if isinstance(pool, tuple) else some


def _read_ensemble(model: Any) -> Ensemble:
    from quorate._ensembles._registry import read_ensemble  # it knows this kind

    return read_ensemble(model)


def _as_numbers(weights: Any, names: list[str]) -> FloatArray | None:
    if weights is None:
        return None
    if isinstance(weights, Mapping):
        for name in weights:
            if str(name) not in names:
                problem = unknown_name("member", str(name), names)
                raise ValueError(f"WeightedVoting(weights): {problem}")
        given = {str(name): weight for name, weight in weights.items()}
        return np.array([float(given.get(name, 0.0)) for name in names])
    return np.asarray(weights, dtype=float)
