"""The interface of an ensemble type, and the ensemble it reads.

Each type of ensemble is one module with one :class:`Kind`, which defines the members
and their outputs, the decision rule, and how to build a smaller ensemble. The rest of
the package works with the :class:`Ensemble` it returns, not with scikit-learn classes.
"""

import copy
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, TypeAlias

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import validate_data

from quorate._data import take_rows
from quorate._ensembles._member import DISTILLED, TREES, Member
from quorate._typing import Array, FloatArray, IntArray
from quorate._votes import DecisionRule

Family: TypeAlias = Literal["bagging", "boosting", "pool"]
# Out-of-bag estimates of the whole ensemble do not apply to a subset, nor do records of
# an earlier selection.
_OUT_OF_BAG = ("oob_score_", "oob_decision_function_", "oob_prediction_")
_STALE = (*_OUT_OF_BAG, "pruning_")
# Fitted arrays and records whose length may equal n_members by coincidence.
_NOT_PER_MEMBER = (
    "classes_",
    "feature_names_in_",
    "n_classes_",
    "pruning_",
    "distillation_",
)


def as_given(X: Any) -> Any:
    """Return X unchanged."""
    return X


@dataclass(frozen=True, slots=True)
class Ensemble:
    """A fitted ensemble as quorate sees it: members, rule, weights, training rows.

    Attributes
    ----------
    model : object
        The model as given, which predicts; without quorate's own wrappers.
    core : object
        The ensemble itself, without pipelines and other wrappers around it.
    classes : array, optional
        The ensemble's labels, or None if there is no ensemble around the members.
    rule : DecisionRule
        How the members are combined.
    weights : array, optional
        Their voting weights, or None if equal.
    prepare : callable
        Checks X as ``predict`` does and converts it once for all members.
    checks_input : bool
        Whether ``prepare`` does all checks that the members would do.
    takes_plain : bool
        Whether ``prepare`` leaves finite floats with the right number of columns
        unchanged, so that it can be skipped for them.
    drawn : callable, optional
        The training rows each member was fitted on, for ensembles that draw them.
    draws_all : bool
        Whether each member draws as many rows as the training set has.
    has_out_of_bag : bool
        Whether votes on the rows that a member has not drawn are out of bag.
    leaves_tell : bool
        Whether trees were fitted on exactly the rows drawn, so that leaf counts can
        identify them.
    adds_in_order : callable
        Whether it sums its members in order, so that results are equal to the bit.
    wrap : callable
        Puts the wrappers around an ensemble of the same kind.
    """

    kind: "Kind"
    model: Any
    core: Any
    members: tuple[Member, ...]
    classes: Array | None
    rule: DecisionRule
    weights: FloatArray | None = None
    prepare: Callable[[Any], Any] = as_given
    checks_input: bool = True
    takes_plain: bool = False
    drawn: Callable[[], Sequence[IntArray]] | None = None
    draws_all: bool = True
    has_out_of_bag: bool = True
    leaves_tell: bool = True
    adds_in_order: Callable[[], bool] = lambda: False
    wrap: Callable[[Any], Any] = as_given

    @property
    def n_members(self) -> int:
        """Number of members."""
        return len(self.members)

    @property
    def names(self) -> list[str]:
        """Names of the members."""
        return [member.name for member in self.members]

    @property
    def can_predict(self) -> bool:
        """Whether there is a model around the members; not for lists and dicts."""
        return callable(getattr(self.model, "predict", None))

    @property
    def is_of_trees(self) -> bool:
        """Whether every member is a decision tree."""
        return all(type(member.estimator) in TREES for member in self.members)

    @property
    def is_distilled(self) -> bool:
        """Whether members were distilled on rows they were not trained on."""
        return any(getattr(one.estimator, DISTILLED, False) for one in self.members)

    def keep(self, members: IntArray, weights: FloatArray | None = None) -> Any:
        """Return a model of the same type with only these members."""
        return self.wrap(self.kind.keep(self, members, weights))

    def with_members(self, estimators: Sequence[Any]) -> Any:
        """Return the same model with its members replaced."""
        same = copy.copy(self.core)
        for name in _OUT_OF_BAG:
            same.__dict__.pop(name, None)
        self.kind.replace_members(same, list(estimators))
        return self.wrap(same)


class Kind(ABC):
    """One kind of ensemble: how to read it, and how to build a smaller one.

    A kind handles the classes in ``models``. A subclass that predicts differently, or
    stores more about each member, needs its own kind; it is rejected, not treated as
    its parent.

    Attributes
    ----------
    name : str
        Its name, in one word.
    family : {"bagging", "boosting", "pool"}
        How members are trained, which determines suitable methods: "bagging", alike and
        on resamples; "boosting", in sequence; "pool", each on its own.
    models : tuple of type
        The classes it handles.
    deciding : tuple of str
        Methods that make predictions; a subclass that overrides one is another kind.
    per_member : tuple of str
        Fitted attributes with one entry per member; the first holds the members.
    takes_weights : bool
        Whether it supports voting weights.
    """

    name: ClassVar[str]
    family: ClassVar[Family]
    models: ClassVar[tuple[type, ...]] = ()
    deciding: ClassVar[tuple[str, ...]] = (
        "predict",
        "predict_proba",
        "decision_function",
    )
    per_member: ClassVar[tuple[str, ...]] = ("estimators_",)
    takes_weights: ClassVar[bool] = False

    @abstractmethod
    def read(self, model: Any) -> Ensemble:
        """Read a fitted ensemble of this kind."""

    @abstractmethod
    def keep_members(self, smaller: Any, members: IntArray) -> None:
        """Keep only these members in ``smaller``, a shallow copy of an ensemble.

        Replace attributes that the copy shares with the original; do not modify them.
        """

    def replace_members(self, same: Any, estimators: list[Any]) -> None:
        """Replace the members of ``same``, a shallow copy of an ensemble.

        The new members are fitted, use the same columns and have the same classes.
        """
        same.estimators_ = estimators

    def set_weights(self, smaller: Any, weights: FloatArray) -> None:
        """Set the weights of the remaining members, if the kind supports weights."""
        raise TypeError(f"{type(smaller).__name__} does not support weights.")

    def bootstraps(self, model: Any) -> bool:
        """Return whether members are trained on resamples; works unfitted."""
        return False

    def counts_votes(self, model: Any) -> bool:
        """Return whether the ensemble always counts votes; works unfitted.

        Requests for probabilities can then be rejected early.
        """
        return False

    def keep(
        self, ensemble: Ensemble, members: IntArray, weights: FloatArray | None
    ) -> Any:
        """Return a fitted ensemble with only these members and weights."""
        if weights is not None and not self.takes_weights:
            # Imported here to avoid a circular import.
            from quorate._ensembles._weighted_voting import WeightedVoting

            return WeightedVoting.of(ensemble, members, weights)
        smaller = copy.copy(ensemble.core)
        for name in _STALE:
            smaller.__dict__.pop(name, None)
        self.keep_members(smaller, members)
        if weights is not None:
            self.set_weights(smaller, weights)
        return smaller

    def refuse_another_kind(self, model: Any, n_members: int) -> None:
        """Raise an error for a subclass that may behave differently from its parent."""
        parent = next(cls for cls in type(model).__mro__ if cls in self.models)
        if parent is type(model):
            return
        before = type(model).__mro__[: type(model).__mro__.index(parent)]
        other = f"{type(model).__name__} is a {parent.__name__} with"
        remedy = "register a kind for it under the entry point 'quorate.ensembles'."
        for name in self.deciding:
            if any(name in vars(cls) for cls in before):
                raise TypeError(
                    f"{other} its own {name}, which may not predict as its parent "
                    f"does; {remedy}"
                )
        for name, value in vars(model).items():
            known = name in self.per_member or name in _NOT_PER_MEMBER
            if known or not name.endswith("_") or not hasattr(value, "__len__"):
                continue
            if not isinstance(value, str) and len(value) == n_members:
                raise TypeError(
                    f"{other} {name!r}, one entry per member, of which a smaller "
                    f"ensemble must keep only some; {remedy}"
                )


def few_members(model: Any, members: IntArray) -> None:
    """Keep some of ``estimators_``; shared by most kinds."""
    model.estimators_ = [model.estimators_[member] for member in members]
    model.n_estimators = len(members)
    if hasattr(model, "n_jobs"):
        # Workers cost more than a small batch takes; n_jobs can be set again.
        model.n_jobs = None


def checker(model: Any, **options: Any) -> Callable[[Any], Any]:
    """Return a function that validates X once for all members, as ``predict`` does."""

    def prepare(X: Any) -> Any:
        return validate_data(
            model,
            X,
            accept_sparse=["csr", "csc"],
            dtype=None,
            reset=False,
            **options,
        )

    return prepare


def tree_input(ensemble: Ensemble) -> Callable[[Any], Any]:
    """Return a function that validates X and converts it once for all trees."""
    model = ensemble.model

    def prepare(raw: Any) -> Any:
        X = ensemble.prepare(raw)
        if sp.issparse(X):
            X = X.tocsr().astype(np.float32)
            is_wide = X.indices.dtype != np.int32 or X.indptr.dtype != np.int32
            if is_wide or not np.isfinite(X.data).all():
                model.predict(raw)  # raises if the ensemble does not take them
            if is_wide:
                X.indices = X.indices.astype(np.int32)
                X.indptr = X.indptr.astype(np.int32)
            return X
        with np.errstate(over="ignore"):
            X = np.ascontiguousarray(X, dtype=np.float32)
        for missing in (np.isnan, np.isinf):
            strange = missing(X)
            if strange.any():
                # One such row shows whether the ensemble accepts them.
                model.predict(take_rows(raw, [int(strange.any(axis=1).argmax())]))
        return X

    return prepare
