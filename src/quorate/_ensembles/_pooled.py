"""A pool as a model: fitted classifiers of any make, with their weights by name."""

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from quorate._data import count_rows
from quorate._ensembles._kind import Ensemble, Kind
from quorate._ensembles._labels import pool_classes
from quorate._ensembles._member import Member
from quorate._messages import one_of, unknown_name
from quorate._typing import Array, FloatArray, IntArray
from quorate._votes import DecisionRule, as_labels, positions, weights_left


def _all_have_probabilities(pool: "PooledClassifier") -> bool:
    if not hasattr(pool, "estimators_"):
        raise AttributeError(
            "PooledClassifier has no predict_proba before it is fitted"
        )
    without = next(
        (each for each in pool._members() if not each.has_probabilities), None
    )
    if without is not None:
        raise AttributeError(
            f"PooledClassifier has no predict_proba: member {without.name!r} "
            f"({type(without.estimator).__name__}) has no probabilities to average"
        )
    return True


class PooledClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Fitted classifiers of any make that decide together.

    Pruning a list or dict gives this: the members kept with their weights, as one model
    that can predict, be saved, compared, certified, asked lazily and pruned further.
    Members may be anything that a pool may have in it; see :func:`quorate.as_member`.

    Parameters
    ----------
    estimators : list, tuple or dict of classifiers
        The members, by name where it is a dict.
    weights : dict from name to float, or array-like, optional
        Voting weights, not negative. Members of a list are called by their positions.
        Equal votes by default.
    voting : {"auto", "soft", "hard"}
        Whether probabilities are averaged or heads are counted. "auto" averages where
        all members have probabilities. Of a pool in which one member had none, those
        kept count heads as they were chosen to; their ``predict_proba`` is the mean of
        probabilities all the same, and its largest may be another class.

    Attributes
    ----------
    estimators_ : list of classifiers
        The members as they are asked.
    names_ : list of str
        What they are called.
    weights_ : ndarray
        Their weights.
    classes_ : ndarray
        The classes.
    pruning_ : dict
        How the members were chosen, where :func:`quorate.prune` did that.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
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
        """Return some members of a list or dict as a model.

        Parameters
        ----------
        ensemble : Ensemble
            A list or dict that was read.
        members : array of int
            Their positions.
        weights : array, optional
            Their weights.
        classes : array of labels, optional
            The labels; those that the members know by default.
        """
        kept = [ensemble.members[member] for member in members]
        smaller = cls(
            _some(ensemble.core, members),
            voting="soft" if ensemble.rule.name == "average" else "hard",
        )
        smaller.names_ = [member.name for member in kept]
        smaller.estimators_ = [member.estimator for member in kept]
        smaller.classes_ = pool_classes(kept, classes)
        smaller._weigh(weights)
        return smaller

    def fit(self, X: Any, y: Any) -> Self:
        """Fit copies of the members anew."""
        one_of("PooledClassifier", "voting", self.voting, ("auto", "soft", "hard"))
        named = _named(self.estimators)
        for name, member in named.items():
            if not hasattr(member, "fit"):
                raise TypeError(
                    f"PooledClassifier.fit: member {name!r} ({type(member).__name__}) "
                    "cannot be fitted again; a pool of fitted members is what "
                    "quorate.prune and quorate.keep_members return."
                )
        self.names_ = list(named)
        self.estimators_ = [clone(member).fit(X, y) for member in named.values()]
        self.classes_ = np.unique(as_labels(y, "y"))
        self._weigh(_as_numbers(self.weights, self.names_))
        return self

    def predict(self, X: Any) -> Array:
        """Predict classes; the first of those with the largest weight."""
        check_is_fitted(self)
        soft = self._averages()
        sums = self._shares(X) if soft else self._sums(X, soft=False)
        return np.asarray(self.classes_[sums.argmax(axis=1)])

    @available_if(_all_have_probabilities)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> FloatArray:
        """Return the weighted mean of the members' probabilities."""
        check_is_fitted(self)
        # Products that add up one by one may round to more than the sum of weights.
        return np.minimum(self._shares(X), 1.0)

    def _averages(self) -> bool:
        if self.voting != "auto":
            return bool(self.voting == "soft")
        return all(member.has_probabilities for member in self._members())

    def _members(self) -> list[Member]:
        """Return the members, which answer with labels."""
        return [
            Member(name, member, None)
            for name, member in zip(self.names_, self.estimators_, strict=True)
        ]

    def _weigh(self, weights: FloatArray | None) -> None:
        size = len(self.names_)
        self.weights_ = np.full(size, 1 / size) if weights is None else weights
        self.weights = {
            name: float(weight)
            for name, weight in zip(self.names_, self.weights_, strict=True)
        }

    def _effective(self) -> FloatArray:
        """Return the weights; ones where they are equal, which adds up exactly."""
        if _all_equal(self.weights_):
            return np.ones(len(self.names_))
        return self.weights_

    def _shares(self, X: Any) -> FloatArray:
        return self._sums(X, soft=True) / float(np.sum(self._effective()))

    def _sums(self, X: Any, *, soft: bool) -> FloatArray:
        total = np.zeros((count_rows(X), self.classes_.size))
        for member, weight in zip(self._members(), self._effective(), strict=True):
            said = np.zeros_like(total)
            if soft and member.has_probabilities:
                columns = positions(member.own_labels, self.classes_, member.name)
                said[:, columns] = member.probabilities(X)
            else:
                said[np.arange(len(said)), member.codes(X, self.classes_)] = 1.0
            total = total + float(weight) * said
        return total


class PooledModel(Kind):
    """Fitted classifiers of any make, as one model with weights by name."""

    name = "pooled"
    family = "pool"
    models = (PooledClassifier,)
    per_member = ("estimators_", "names_", "weights_")
    takes_weights = True

    def read(self, model: Any) -> Ensemble:
        """See :class:`Kind`."""
        soft = model._averages()
        return Ensemble(
            kind=self,
            model=model,
            core=model,
            members=tuple(
                Member(
                    each.name,
                    each.estimator,
                    each.classes,
                    is_soft=soft and each.has_probabilities,
                )
                for each in model._members()
            ),
            classes=model.classes_,
            rule=DecisionRule("average" if soft else "heads"),
            weights=None if _all_equal(model.weights_) else model.weights_,
            checks_input=False,
            adds_in_order=lambda: True,
            has_onnx=True,
        )

    def keep_members(self, smaller: Any, members: IntArray) -> None:
        """See :class:`Kind`."""
        names = smaller.names_
        smaller.estimators = _some(smaller.estimators, members)
        smaller.estimators_ = [smaller.estimators_[member] for member in members]
        smaller.names_ = [names[member] for member in members]
        smaller._weigh(weights_left(smaller.weights_[members]))

    def set_weights(self, smaller: Any, weights: FloatArray) -> None:
        """See :class:`Kind`."""
        smaller._weigh(np.asarray(weights, dtype=float))


def predictable(model: Any, ensemble: Ensemble, y: Any) -> Any:
    """Return the model itself, or a list or dict as a model, which can predict."""
    if ensemble.can_predict or not isinstance(model, (list, tuple, Mapping)):
        return model
    every: IntArray = np.arange(ensemble.n_members)
    return PooledClassifier.of(ensemble, every, classes=np.unique(as_labels(y, "y")))


def _named(estimators: Any) -> dict[str, Any]:
    pool = (
        estimators if isinstance(estimators, Mapping) else dict(enumerate(estimators))
    )
    return {str(name): member for name, member in pool.items()}


def _some(pool: Any, members: IntArray) -> Any:
    if isinstance(pool, Mapping):
        names = list(pool)
        return {names[member]: pool[names[member]] for member in members}
    return type(pool)(pool[member] for member in members)


def _as_numbers(weights: Any, names: list[str]) -> FloatArray | None:
    if weights is None:
        return None
    if isinstance(weights, Mapping):
        for name in weights:
            if str(name) not in names:
                problem = unknown_name("member", str(name), names)
                raise ValueError(f"PooledClassifier(weights): {problem}")
        given = {str(name): weight for name, weight in weights.items()}
        return np.array([float(given.get(name, 0.0)) for name in names])
    return np.asarray(weights, dtype=float)


def _all_equal(weights: FloatArray) -> bool:
    return bool((weights == weights[0]).all())
