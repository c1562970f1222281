"""A classifier that trains and prunes an ensemble."""

import inspect
from collections.abc import Callable
from typing import Any, Self, TypeVar

import numpy as np
import sklearn
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import train_test_split
from sklearn.utils import get_tags, indexable
from sklearn.utils.metadata_routing import (
    MetadataRouter,
    MethodMapping,
    process_routing,
)
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    check_is_fitted,
    column_or_1d,
    validate_data,
)

from quorate._checks import is_number
from quorate._choosing import (
    DEFAULT,
    EnsembleEvidence,
    Keep,
    check_method,
    gather,
    size_for,
)
from quorate._data import hash_rows, in_memory, take_rows
from quorate._ensembles import (
    RowSource,
    find_kind,
    unwrapped,
)
from quorate._pruned._distil import (
    check_distil,
    check_distillable,
    counts_votes,
)
from quorate._pruned._prune import prune_on_evidence
from quorate._random import draw_seed
from quorate._scoring import check_scoring
from quorate._typing import Array, BoolArray
from quorate._votes import as_labels
from quorate.pruning import Pruner

Method = TypeVar("Method", bound=Callable[..., Any])
# Share of the rows held out where there are no out-of-bag votes.
_HOLDOUT = 0.25
# Values of prune_on that say whether votes are out of bag.
_OUT_OF_BAG: dict[Any, bool | str] = {"oob": True, "train": False}


def _inner_has(name: str) -> Callable[[Method], Method]:
    """Offer a method only where the inner ensemble has it."""

    def check(self: "PrunedClassifier") -> bool:
        inner = self.estimator_ if hasattr(self, "estimator_") else self._inner()
        getattr(inner, name)  # its AttributeError says what is missing
        return True

    offer: Callable[[Method], Method] = available_if(check)
    return offer


class PrunedClassifier(MetaEstimatorMixin, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Fit an ensemble and prune it.

    Parameters
    ----------
    estimator : ensemble, optional
        A bagging, forest, extra trees, AdaBoost or voting classifier, or a pipeline
        that ends in one; a forest by default. A fitted ensemble wrapped in
        ``FrozenEstimator`` is only pruned.
    method : str or Pruner
        A name from :func:`quorate.methods`, a pruner object, or "auto" for a method
        that suits the ensemble; see :func:`quorate.pruning.choose_method`.
    keep : float, int, "auto", None or "default"
        Fraction in (0, 1] or number of members; "auto" for the smallest size within one
        standard error of the best, by log-loss or errors as in :func:`quorate.prune`;
        None if the method chooses its own size. By default 0.2, and for voting
        ensembles as in :func:`quorate.prune`.
    prune_on : {"auto", "oob", "train"} or float
        Which votes to choose members on. "oob": out-of-bag votes. "train": votes on the
        training samples. A fraction: votes on this share of the samples, held out from
        training. "auto": out-of-bag votes if the ensemble bootstraps, otherwise a
        quarter is held out, also if out-of-bag votes do not cover every class and the
        size must be found. With ``method="auto"``, boosting, and forests and bagging
        that do not bootstrap, use training votes with methods that are not misled by
        them, unless the size must be found. With a frozen estimator a fraction has no
        effect: all samples are used, out of bag if they are its training data.
    random_state : int, RandomState or None
        Seed of the split, and of estimator and method if they have no seed.
    n_jobs : int, optional
        Number of members evaluated in parallel.
    scoring : str, scorer, callable or None
        Score to choose members and their number by; see :func:`quorate.select`.
        Accuracy by default. The method ``score`` always returns accuracy.
    distil : bool or "auto"
        Whether to refit the leaves of the kept trees to the whole ensemble. Only for
        ensembles that average the probabilities of trees. "auto" distils with
        ``method="auto"``, as in :func:`quorate.prune`.

    Attributes
    ----------
    estimator_ : fitted ensemble
        The smaller ensemble, of the same class as ``estimator``; a
        :class:`quorate.ensembles.WeightedVoting` if a method chose weights for an
        ensemble that cannot store them.
    pruner_ : Pruner
        The fitted method.
    curve_ : SizeCurve or None
        Error by number of members, if the method has an order.
    support_ : ndarray of bool
        Mask of the fitted members that are kept.
    classes_ : ndarray
        The classes.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of str
        Names of the features, if X had names.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> from quorate import PrunedClassifier
    >>> X, y = load_wine(return_X_y=True)
    >>> forest = RandomForestClassifier(60, random_state=0)
    >>> pruned = PrunedClassifier(forest, method="mdm", keep=0.2).fit(X, y)
    >>> len(pruned.estimator_.estimators_), pruned.support_.sum()
    (12, np.int64(12))
    """

    def __init__(
        self,
        estimator: Any = None,
        method: str | Pruner = "auto",
        keep: Keep = DEFAULT,
        prune_on: str | float = "auto",
        *,
        random_state: Any = None,
        n_jobs: int | None = None,
        scoring: Any = None,
        distil: Any = "auto",
    ) -> None:
        self.estimator = estimator
        self.method = method
        self.keep = keep
        self.prune_on = prune_on
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.scoring = scoring
        self.distil = distil

    def fit(self, X: Any, y: Any, **fit_params: Any) -> Self:
        """Fit the ensemble and choose its members.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame
            What the estimator accepts.
        y : array-like of shape (n_samples,)
            Labels.
        **fit_params
            Passed to the estimator's ``fit`` (for example ``sample_weight``), by
            metadata routing if it is enabled. Arrays with one value per sample are
            split together with X.
        """
        X, y = self._check_samples(X, y)
        size = size_for(self.method, self.keep, owner="PrunedClassifier")
        self._check_parameters(np.unique(y))  # before the work
        evidence = self._fit_and_collect(X, y, self._route(fit_params))
        if self.distil is True:
            check_distillable(evidence.ensemble)
        self.estimator_, selection = prune_on_evidence(
            evidence,
            self.method,
            size,
            distil=self.distil,
            scoring=self.scoring,
            seed=self._seed(),
            owner="PrunedClassifier",
        )
        self.curve_ = selection.curve
        self.pruner_ = selection.pruner
        self.support_: BoolArray = selection.support
        self.classes_ = self.estimator_.classes_
        return self

    def predict(self, X: Any) -> Array:
        """Predict classes with the smaller ensemble."""
        return np.asarray(self.__quorate_ensemble__().predict(X))

    @_inner_has("predict_proba")
    def predict_proba(self, X: Any) -> Array:
        """Predict class probabilities with the smaller ensemble."""
        return np.asarray(self.__quorate_ensemble__().predict_proba(X))

    @_inner_has("predict_log_proba")
    def predict_log_proba(self, X: Any) -> Array:
        """Predict logarithms of class probabilities with the smaller ensemble."""
        return np.asarray(self.__quorate_ensemble__().predict_log_proba(X))

    @_inner_has("decision_function")
    def decision_function(self, X: Any) -> Array:
        """Return the decision function of the smaller ensemble."""
        return np.asarray(self.__quorate_ensemble__().decision_function(X))

    @property
    def feature_importances_(self) -> Array:
        """Feature importances, if the smaller ensemble has them."""
        return np.asarray(self.__quorate_ensemble__().feature_importances_)

    def __quorate_ensemble__(self) -> Any:
        check_is_fitted(self, "estimator_")
        return self.estimator_

    # Fitting

    def _check_samples(self, X: Any, y: Any) -> tuple[Any, Array]:
        X = in_memory(X)
        if not (self.estimator is None or hasattr(self.estimator, "fit")):
            got = type(self.estimator).__name__
            raise TypeError(f"PrunedClassifier: expected a classifier, got {got}.")
        validate_data(self, X, skip_check_array=True)
        shape = column_or_1d(y, warn=True).shape
        y = as_labels(y, "PrunedClassifier.fit: y").reshape(shape)
        check_classification_targets(y)
        X, y = indexable(X, y)
        if y.size == 1:
            raise ValueError(
                "PrunedClassifier.fit: got n_samples=1; choosing members needs at "
                "least two samples."
            )
        return X, y

    def _check_parameters(self, classes: Array) -> None:
        """Refuse unknown parameters, and what these classes or hard votes rule out."""
        on: Any = self.prune_on
        is_name = isinstance(on, str) and on in ("auto", "oob", "train")
        if not is_name and not (is_number(on) and 0 < on < 1):
            raise ValueError(
                f"PrunedClassifier(prune_on={on!r}): must be 'auto', 'oob', 'train', "
                "or a fraction in (0, 1)."
            )
        check_distil(self.distil, "PrunedClassifier")
        check_method(self.method)
        inner = unwrapped(self._inner())
        kind = find_kind(inner)
        hard = kind is not None and kind.counts_votes(inner)
        check_scoring(
            self.scoring, "PrunedClassifier", classes=classes, averages=not hard
        )
        if hard and self.distil is True:
            raise counts_votes(type(inner).__name__)

    def _inner(self) -> Any:
        return RandomForestClassifier() if self.estimator is None else self.estimator

    def _seed(self) -> int | None:
        """Return a seed, another each time that the random state is a generator."""
        if self.random_state is None:
            return None
        return draw_seed(self.random_state, "PrunedClassifier")

    def _fit_and_collect(
        self, X: Any, y: Array, fit_params: dict[str, Any]
    ) -> EnsembleEvidence:
        """Fit the estimator, unless it is frozen, and collect the votes to choose on.

        The samples of the evidence are those held out, or all.
        """
        inner, prune_on = self._inner(), self.prune_on
        if isinstance(inner, FrozenEstimator):
            check_is_fitted(inner)
            return self._gather(inner, X, y, "auto", _OUT_OF_BAG.get(prune_on, "auto"))
        if prune_on == "auto":
            prune_on = self._default_prune_on()
        if not isinstance(prune_on, str):
            return self._hold_out(X, y, fit_params, prune_on)
        fitted = self._unfitted().fit(X, y, **fit_params)
        out_of_bag = _OUT_OF_BAG.get(prune_on, "auto")
        evidence = self._gather(fitted, X, y, "training", out_of_bag)
        if prune_on == "auto" and self._by_errors and evidence.votes.why_unreliable:
            return self._hold_out(X, y, fit_params, _HOLDOUT)
        return evidence

    def _default_prune_on(self) -> str | float:
        """Return "auto" for out-of-bag votes if there are any, "train" or a share."""
        kind = find_kind(self._inner())
        if kind is not None and kind.bootstraps(unwrapped(self._inner())):
            return "auto"
        alike = kind is not None and kind.family != "pool"
        is_auto = isinstance(self.method, str) and self.method == "auto"
        return "train" if alike and is_auto and not self._by_errors else _HOLDOUT

    @property
    def _by_errors(self) -> bool:
        """Whether errors tell how many members are kept."""
        return isinstance(self.keep, str) and self.keep != DEFAULT

    def _hold_out(
        self, X: Any, y: Array, fit_params: dict[str, Any], share: float
    ) -> EnsembleEvidence:
        """Fit on some samples and collect votes on the others."""
        train, held = _split(X, y, share, self._seed())
        params = {
            name: np.asarray(value)[train] if np.shape(value)[:1] == y.shape else value
            for name, value in fit_params.items()
        }
        fitted = self._unfitted().fit(take_rows(X, train), y[train], **params)
        return self._gather(fitted, take_rows(X, held), y[held], "new", False)

    def _unfitted(self) -> Any:
        """Return a copy of the estimator, seeded where it has no seed."""
        inner = clone(self._inner())
        if self.random_state is not None:
            seeds = {
                name: self._seed()
                for name, value in inner.get_params(deep=True).items()
                if name.rpartition("__")[2] == "random_state" and value is None
            }
            inner.set_params(**seeds)
        return inner

    def _gather(
        self, model: Any, X: Any, y: Array, source: RowSource, out_of_bag: bool | str
    ) -> EnsembleEvidence:
        return gather(
            model,
            X,
            y,
            source=source,
            out_of_bag=out_of_bag,
            n_jobs=self.n_jobs,
            owner="PrunedClassifier",
        )

    # Metadata and tags

    def _route(self, fit_params: dict[str, Any]) -> dict[str, Any]:
        if not fit_params:
            return {}
        if sklearn.get_config().get("enable_metadata_routing", False):
            routed = process_routing(self, "fit", **fit_params)
            return dict(routed["estimator"]["fit"])
        inner = self._inner()
        if "sample_weight" in fit_params and not _takes(inner, "sample_weight"):
            raise TypeError(
                f"PrunedClassifier.fit: {type(inner).__name__} does not take "
                "sample_weight."
            )
        return fit_params

    def get_metadata_routing(self) -> MetadataRouter:
        """Return how metadata given to ``fit`` reaches the estimator."""
        router = MetadataRouter(owner=type(self).__name__)
        mapping = MethodMapping().add(caller="fit", callee="fit")
        return router.add(estimator=self._inner(), method_mapping=mapping)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(self._inner())
        tags.input_tags = inner.input_tags
        tags.classifier_tags = inner.classifier_tags or tags.classifier_tags
        if tags.classifier_tags is not None:
            tags.classifier_tags.multi_label = False
        tags.target_tags.multi_output = False
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "estimator_")


def _takes(estimator: Any, name: str) -> bool:
    """Tell whether ``fit`` has a parameter of that name, or takes any."""
    parameters = inspect.signature(estimator.fit).parameters.values()
    return any(p.name == name or p.kind is p.VAR_KEYWORD for p in parameters)


def _split(X: Any, y: Array, share: float, seed: int | None) -> tuple[Array, Array]:
    """Return rows to train on, and others to judge by: none that equals one of these.

    Equal rows stay together, and judge once.
    """
    _, firsts, kinds = np.unique(hash_rows(X), return_index=True, return_inverse=True)
    rows = np.sort(firsts) if firsts.size > 1 else np.arange(y.size)
    smallest = np.unique(y[rows], return_counts=True)[1].min()
    train, held = train_test_split(
        rows,
        test_size=share,
        random_state=seed,
        stratify=y[rows] if smallest >= 2 else None,
    )
    copies = np.setdiff1d(np.arange(y.size), rows)
    known = np.isin(firsts[kinds[copies]], train) | ~np.isin(y[copies], y[train])
    train = np.r_[train, copies[known]]
    if np.unique(y[train]).size < np.unique(y).size:
        # A class with a single sample must be trained on.
        lost = np.isin(y[held], np.setdiff1d(y, y[train]))
        train, held = np.r_[train, held[lost]], held[~lost]
    return train, held
