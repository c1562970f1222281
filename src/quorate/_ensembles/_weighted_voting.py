"""A vote with weights, for members of ensembles that have no place for weights."""

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.ensemble import VotingClassifier
from sklearn.preprocessing import LabelEncoder
from sklearn.utils import Bunch
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, validate_data

from quorate._ensembles._kind import Ensemble, checker
from quorate._ensembles._member import Member
from quorate._ensembles._voting import Voting
from quorate._typing import Array, FloatArray, IntArray
from quorate._votes import DecisionRule

if TYPE_CHECKING:
    from collections.abc import Sequence


def _is_soft(voting: "WeightedVoting") -> bool:
    if voting.voting != "soft":
        raise AttributeError(
            f"predict_proba is not available when voting={voting.voting!r}"
        )
    return True


class WeightedVoting(VotingClassifier):  # type: ignore[misc]
    """Members of a forest or of bagging that vote with weights.

    Forests and bagging count all members alike. A pruning method that chooses weights
    turns them into this: a ``VotingClassifier`` of the same fitted members, which may
    see some of the columns and know some of the classes only, as members of bagging do.
    :func:`quorate.prune` and :func:`quorate.keep_members` make it.

    Parameters
    ----------
    estimators, voting, weights, n_jobs, flatten_transform, verbose
        As in ``sklearn.ensemble.VotingClassifier``.

    Attributes
    ----------
    estimators_ : list of fitted classifiers
        The members; their labels are positions in ``classes_``, unless ``labels_`` says
        otherwise.
    labels_ : list of bool
        Which members answer with labels.
    features_ : list of ndarray or None
        The columns each member sees; None for all.
    classes_ : ndarray
        The classes.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> import quorate
    >>> X, y = load_wine(return_X_y=True)
    >>> forest = RandomForestClassifier(20, random_state=0).fit(X[::2], y[::2])
    >>> few = quorate.keep_members(forest, [3, 4, 7], weights=[0.5, 0.3, 0.2])
    >>> type(few).__name__, few.voting, few.score(X[1::2], y[1::2]) > 0.8
    ('WeightedVoting', 'soft', True)
    """

    features_: list[IntArray | None]
    labels_: list[bool]

    @classmethod
    def of(cls, ensemble: Ensemble, members: IntArray, weights: FloatArray) -> Self:
        """Return a fitted vote of some members of an ensemble."""
        kept = [ensemble.members[member] for member in members]
        averages = ensemble.rule.name == "average"
        soft = averages and all(
            hasattr(member.estimator, "predict_proba") for member in kept
        )
        voting = cls(
            [(f"member_{member.name}", member.estimator) for member in kept],
            voting="soft" if soft else "hard",
            weights=[float(weight) for weight in weights],
        )
        voting.estimators_ = [member.estimator for member in kept]
        voting.named_estimators_ = Bunch(**dict(voting.estimators))
        voting.features_ = [member.features for member in kept]
        voting.labels_ = [member.classes is None for member in kept]
        voting.classes_ = np.asarray(ensemble.classes)
        voting.le_ = LabelEncoder().fit(voting.classes_)
        voting.n_columns_ = int(ensemble.core.n_features_in_)
        if hasattr(ensemble.core, "feature_names_in_"):
            voting.feature_names_in_ = ensemble.core.feature_names_in_
        if hasattr(ensemble.core, "distillation_"):
            voting.distillation_ = ensemble.core.distillation_
        if ensemble.drawn is not None:
            # Shares the members, and knows the rows each of them was trained on.
            voting.origin_ = ensemble.kind.keep(ensemble, members, None)
        return voting

    @property
    def estimators_samples_(self) -> "Sequence[IntArray]":
        """The training rows of each member, where the ensemble they are from knows."""
        samples: Sequence[IntArray] = self.origin_.estimators_samples_
        return samples

    @property
    def n_features_in_(self) -> int:
        """Number of features."""
        if not hasattr(self, "n_columns_"):
            raise AttributeError(
                f"{type(self).__name__} object has no n_features_in_ attribute."
            )
        return int(self.n_columns_)

    def fit(self, X: Any, y: Any, **fit_params: Any) -> Self:
        """Fit copies of the members anew, each on all columns."""
        super().fit(X, y, **fit_params)
        self.__dict__.pop("origin_", None)
        self.features_ = [None] * len(self.estimators_)
        self.labels_ = [False] * len(self.estimators_)
        self.n_columns_ = int(self.estimators_[0].n_features_in_)
        return self

    def predict(self, X: Any) -> Array:
        """Predict classes; the first of those with the largest weight."""
        check_is_fitted(self)
        # Votes are compared as they add up, averages after the division.
        scores = self._scores(X) if self.voting == "soft" else self._sums(X)
        return np.asarray(self.classes_[scores.argmax(axis=1)])

    @available_if(_is_soft)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> FloatArray:
        """Return the weighted mean of the members' probabilities."""
        check_is_fitted(self)
        # Products that add up one by one may round to more than the sum of weights.
        return np.minimum(self._scores(X), 1.0)

    def transform(self, X: Any) -> Array:
        """Return what each member says: probabilities if soft, else classes."""
        check_is_fitted(self)
        ready = self._ready(X)
        said = [self._said(place, ready) for place in range(len(self.estimators_))]
        if self.voting != "soft":
            return np.stack([shares.argmax(axis=1) for shares in said], axis=1)
        return np.hstack(said) if self.flatten_transform else np.stack(said)

    def _ready(self, X: Any) -> Any:
        return validate_data(
            self,
            X,
            accept_sparse=["csr", "csc"],
            dtype=None,
            reset=False,
            ensure_all_finite=False,
        )

    def _scores(self, X: Any) -> FloatArray:
        return self._sums(X) / float(np.sum(self._all_weights()))

    def _sums(self, X: Any) -> FloatArray:
        ready = self._ready(X)
        total: Any = 0.0
        for place, weight in enumerate(self._all_weights()):
            total = total + float(weight) * self._said(place, ready)
        return np.asarray(total)

    def _all_weights(self) -> FloatArray:
        if self.weights is None:
            return np.ones(len(self.estimators_))
        return np.asarray(self.weights, dtype=float)

    def _said(self, place: int, X: Any) -> FloatArray:
        """Return what one member gives each class."""
        member, columns = self.estimators_[place], self.features_[place]
        seen = X if columns is None else X[:, columns]
        said = np.zeros((X.shape[0], self.classes_.size))
        if self.voting == "soft":
            said[:, self._places(place, member.classes_)] = member.predict_proba(seen)
        else:
            codes = self._places(place, member.predict(seen))
            said[np.arange(codes.size), codes] = 1.0
        return said

    def _places(self, place: int, answers: Any) -> IntArray:
        """Return positions among the classes of what a member calls them."""
        if self.labels_[place]:
            return np.asarray(np.searchsorted(self.classes_, answers))
        return np.asarray(answers).astype(np.intp)


class WeightedVotes(Voting):
    """Members of a forest or of bagging that vote with weights."""

    models = (WeightedVoting,)
    per_member = ("estimators_", "features_", "labels_", "named_estimators_")

    def read(self, model: Any) -> Ensemble:
        """See :class:`Kind`."""
        is_soft = model.voting == "soft"
        weights = model.weights
        drawn = hasattr(model, "origin_")
        return Ensemble(
            kind=self,
            model=model,
            core=model,
            members=tuple(
                Member(name, member, None if labels else model.classes_, seen, is_soft)
                for (name, _), member, seen, labels in zip(
                    model.estimators,
                    model.estimators_,
                    model.features_,
                    model.labels_,
                    strict=True,
                )
            ),
            classes=model.classes_,
            rule=DecisionRule("average" if is_soft else "heads"),
            weights=None if weights is None else np.array(weights, dtype=float),
            prepare=checker(model, ensure_all_finite=False),
            drawn=(lambda: model.estimators_samples_) if drawn else None,
            draws_all=not drawn or model.origin_.max_samples is None,
            adds_in_order=lambda: True,
            takes_plain=True,
            has_onnx=True,
        )

    def keep_members(self, smaller: Any, members: IntArray) -> None:
        """See :class:`Kind`."""
        super().keep_members(smaller, members)
        smaller.features_ = [smaller.features_[member] for member in members]
        smaller.labels_ = [smaller.labels_[member] for member in members]
        if hasattr(smaller, "origin_"):
            from quorate._ensembles._registry import read_ensemble

            smaller.origin_ = read_ensemble(smaller.origin_).keep(members)

    def replace_members(self, same: Any, estimators: list[Any]) -> None:
        """See :class:`Kind`."""
        super().replace_members(same, estimators)
        same.estimators = list(same.named_estimators_.items())
        if hasattr(same, "origin_"):
            from quorate._ensembles._registry import read_ensemble

            same.origin_ = read_ensemble(same.origin_).with_members(estimators)
