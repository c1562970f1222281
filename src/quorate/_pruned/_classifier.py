"""A classifier that trains and prunes an ensemble."""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
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

from quorate._choosing import (
    DEFAULT,
    EnsembleEvidence,
    Keep,
    check_method,
    choose,
    gather,
    size_for,
)
from quorate._data import in_memory, sample_size, take_rows
from quorate._ensembles import (
    Ensemble,
    RowSource,
    evaluate_members,
    find_kind,
    read_ensemble,
    unwrapped,
)
from quorate._lazy import LazyClassifier
from quorate._messages import unknown_name
from quorate._pruned._auto import distilled_size, will_distil
from quorate._pruned._distil import (
    check_distil,
    check_distillable,
    counts_votes,
    distil_ensemble,
)
from quorate._pruned._prune import smaller_ensemble
from quorate._pruned._teacher import Teacher
from quorate._random import draw_seed
from quorate._scoring import check_scoring
from quorate._typing import Array, BoolArray
from quorate._votes import Votes, VoteSource, as_labels, pooled_votes
from quorate.pruning import Pruner

Method = TypeVar("Method", bound=Callable[..., Any])
# Share of the rows held out where there are no out-of-bag votes.
_HOLDOUT = 0.25


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
    prune_on : {"auto", "oob", "train"}, float or cross-validation splitter
        Which votes to choose members on. "oob": out-of-bag votes. "train": votes on the
        training samples. A fraction: votes on this share of the samples, held out from
        training. A splitter: votes of cross-validation, where the votes of member t of
        each fold are used for member t of the ensemble fitted on all samples; no sample
        may be held out twice. "auto": out-of-bag votes if the ensemble bootstraps,
        otherwise a quarter is held out, also if out-of-bag votes do not cover every
        class and the size must be found. With ``method="auto"``, boosting, and forests
        and bagging that do not bootstrap, use training votes with methods that are not
        misled by them, unless the size must be found. With a frozen estimator a
        fraction or splitter has no effect: all samples are used, out of bag if they are
        its training data.
    refit : bool
        After holding out, fit the ensemble again on all samples and keep the members at
        the chosen positions. Sensible if positions have a meaning: voting, boosting.
    random_state : int, RandomState or None
        Seed of the split, and of estimator and method if they have no seed.
    n_jobs : int, optional
        Number of members evaluated in parallel.
    lazy : {None, "exact", "bayes", "calibrated"} or dict
        Early exit for ``predict``: a mode of :class:`quorate.LazyClassifier`, or a dict
        of its parameters. "calibrated" needs samples that the members were not trained
        on: those held out by a fraction for ``prune_on``, or those given to a frozen
        estimator. A random half of them is used to choose members and the other half to
        calibrate. For the same reason "bayes" measures nothing here; ``lazy_.fit`` with
        other samples does.
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
    lazy_ : LazyClassifier or None
        The classifier that ``predict`` uses, if ``lazy`` was given.
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
        prune_on: Any = "auto",
        *,
        refit: bool = False,
        random_state: Any = None,
        n_jobs: int | None = None,
        lazy: Any = None,
        scoring: Any = None,
        distil: Any = "auto",
    ) -> None:
        self.estimator = estimator
        self.method = method
        self.keep = keep
        self.prune_on = prune_on
        self.refit = refit
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.lazy = lazy
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
        X = in_memory(X)
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
        lazy = self._lazy()
        size = size_for(self.method, self.keep, owner="PrunedClassifier")
        # What is not known is refused before the work.
        check_distil(self.distil, "PrunedClassifier")
        check_method(self.method)
        must_distil = self.distil is True
        self._check_what_is_asked_of(np.unique(y), distils=must_distil)
        data = _Training(X, y, self._route(fit_params))
        evidence, unseen = self._fit_and_ask(data)
        whole = evidence.ensemble
        if must_distil:
            check_distillable(whole)
        distils = will_distil(self.distil, whole, X, self.method, size, self.scoring)
        seed = self._seed()
        if lazy is not None and lazy.mode == "calibrated" and unseen is not None:
            # Members that were chosen on some rows agree on them more than on others,
            # so that a threshold found there changes more predictions than it promises.
            mixed = np.random.default_rng(seed).permutation(unseen.size)
            evidence = evidence.at(np.sort(mixed[: unseen.size // 2]))
            unseen = unseen[np.sort(mixed[unseen.size // 2 :])]
        selection = choose(
            evidence,
            self.method,
            size,
            scoring=self.scoring,
            seed=seed,
            # Refitted members have seen what they would be judged on.
            distilled_size=distilled_size if distils and not self.refit else None,
            owner="PrunedClassifier",
        )
        self.estimator_ = smaller_ensemble(whole, selection, evidence)
        X_unseen = None if unseen is None else take_rows(X, unseen)
        if distils and (must_distil or selection.drops_members):
            most = None if must_distil else sample_size(None, "PrunedClassifier")
            self.estimator_ = distil_ensemble(
                read_ensemble(self.estimator_),
                Teacher.of(whole),
                # Rows held out, which the whole ensemble has not seen, or all rows.
                X if X_unseen is None else X_unseen,
                seed=draw_seed(seed or 0, "PrunedClassifier"),
                n_jobs=self.n_jobs,
                max_samples=most,  # as many as chosen on: a warning says so once
                verbose=1,
            )
        self.curve_ = selection.curve
        self.pruner_ = selection.pruner
        self.support_: BoolArray = selection.support
        self.classes_ = self.estimator_.classes_
        self.lazy_ = lazy
        if lazy is not None:
            lazy.set_params(ensemble=self.estimator_)
            # Rows that chose the members do not judge whether "bayes" keeps its word.
            lazy.fit(None if lazy.mode == "bayes" else X_unseen)
        return self

    def predict(self, X: Any) -> Array:
        """Predict classes with the smaller ensemble, with early exit if set."""
        check_is_fitted(self, "estimator_")
        if self.lazy_ is not None:
            return np.asarray(self.lazy_.predict(X))
        return np.asarray(self.estimator_.predict(X))

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

    def _check_what_is_asked_of(self, classes: Array, *, distils: bool) -> None:
        """Refuse what these classes, or counted votes, cannot give."""
        inner = unwrapped(self._inner())
        kind = find_kind(inner)
        counted = kind is not None and kind.counts_votes(inner)
        check_scoring(
            self.scoring, "PrunedClassifier", classes=classes, averages=not counted
        )
        if counted and distils:
            raise counts_votes(type(inner).__name__)

    def _inner(self) -> Any:
        return RandomForestClassifier() if self.estimator is None else self.estimator

    def _seed(self) -> int | None:
        """Return a seed, another each time that the random state is a generator."""
        if self.random_state is None:
            return None
        return draw_seed(self.random_state, "PrunedClassifier")

    def _fresh(self) -> Any:
        """Return an unfitted copy of the estimator, seeded where it has no seed."""
        inner = clone(self._inner())
        if self.random_state is not None:
            seeds = {
                name: self._seed()
                for name, value in inner.get_params(deep=True).items()
                if name.rpartition("__")[2] == "random_state" and value is None
            }
            inner.set_params(**seeds)
        return inner

    def _lazy(self) -> LazyClassifier | None:
        """Return what predict will go through, still without its ensemble."""
        if self.lazy is None:
            return None
        if not isinstance(self.lazy, (str, Mapping)):
            raise ValueError(
                f"PrunedClassifier(lazy={self.lazy!r}): must be None, a mode of "
                "LazyClassifier ('exact', 'bayes', 'calibrated', 'all'), or a dict of "
                "its parameters."
            )
        given: dict[str, Any] = (
            {"mode": self.lazy} if isinstance(self.lazy, str) else dict(self.lazy)
        )
        known = set(inspect.signature(LazyClassifier).parameters) - {"ensemble"}
        for name in given:
            if name not in known:
                problem = unknown_name("parameter", name, known)
                raise ValueError(f"PrunedClassifier(lazy=...): {problem}")
        if self.random_state is not None:
            given.setdefault("random_state", self._seed())
        lazy = LazyClassifier(None, **given)
        if lazy.mode == "calibrated" and not self._holds_out():
            raise ValueError(
                "PrunedClassifier(lazy='calibrated'): needs samples that the members "
                "were not trained on; hold some out with prune_on=0.25 and refit=False."
            )
        return lazy

    def _holds_out(self) -> bool:
        if isinstance(self._inner(), FrozenEstimator):
            return True
        return isinstance(self._how(), float) and not self.refit

    def _fit_and_ask(self, data: "_Training") -> tuple[EnsembleEvidence, Array | None]:
        """Fit the ensemble and get votes to choose on, in the way asked for.

        Also returns the rows of X that no member has seen; None if there are none.
        """
        inner = self._inner()
        wanted = {"oob": True, "train": False}
        if isinstance(inner, FrozenEstimator):
            check_is_fitted(inner)
            asked = self.prune_on if isinstance(self.prune_on, str) else "auto"
            evidence = self._gather(inner, data, wanted.get(asked, "auto"), "auto")
            source = evidence.votes.source
            is_unseen = source is not None and source.is_unseen
            return evidence, np.arange(data.y.size) if is_unseen else None
        how = self._how()
        if isinstance(how, float):
            return self._hold_out(data, how)
        fitted = data.fit(self._fresh())
        if isinstance(how, str):  # text has a split method too
            out_of_bag = wanted.get(how, "auto")
            evidence = self._gather(fitted, data, out_of_bag, "training")
            if how not in wanted and self._by_errors and evidence.votes.why_unreliable:
                return self._hold_out(data, _HOLDOUT)  # rows that can judge
            return evidence, None
        ensemble, parts = read_ensemble(fitted), []
        for train, held in how.split(data.X, data.y):
            fold = read_ensemble(data.fit(self._fresh(), train))
            parts.append((held, self._ask(fold, data, held, VoteSource.FOLDS)))
        votes = pooled_votes(parts, ensemble.n_members, data.y)
        return EnsembleEvidence(
            votes, data.X, ensemble=ensemble, n_jobs=self.n_jobs
        ), None

    def _gather(
        self, model: Any, data: "_Training", out_of_bag: bool | str, source: RowSource
    ) -> EnsembleEvidence:
        return gather(
            model,
            data.X,
            data.y,
            source=source,
            out_of_bag=out_of_bag,
            n_jobs=self.n_jobs,
            owner="PrunedClassifier",
        )

    def _hold_out(
        self, data: "_Training", share: float
    ) -> tuple[EnsembleEvidence, Array | None]:
        """Fit on some rows and ask about the others."""
        seed = self._seed()
        train, held = _split(data.y, share, seed)
        ensemble = read_ensemble(data.fit(self._fresh(), train))
        votes = self._ask(ensemble, data, held, VoteSource.NEW)
        if self.refit:
            ensemble = read_ensemble(data.fit(self._fresh()))
            # The refitted ensemble may have fewer members than the first.
            votes = votes.keep(np.arange(min(votes.n_members, ensemble.n_members)))
        X = take_rows(data.X, held)
        evidence = EnsembleEvidence(votes, X, ensemble=ensemble, n_jobs=self.n_jobs)
        return evidence, None if self.refit else held

    def _ask(
        self, ensemble: Ensemble, data: "_Training", held: Array, source: VoteSource
    ) -> Votes:
        """Ask about samples that were left out; one class may be among these only."""
        X, y = take_rows(data.X, held), as_labels(data.y[held], "y")
        prepared = ensemble.prepare(X)
        return evaluate_members(
            ensemble, prepared, y, source=source, n_jobs=self.n_jobs
        )

    def _how(self) -> Any:
        """Return "oob", "train", a fraction, or a splitter."""
        how = self.prune_on
        if isinstance(how, str) and how in ("oob", "train"):
            return how
        if isinstance(how, str) and how == "auto":
            return self._usual_way()
        if isinstance(how, float) and 0 < how < 1:
            return how
        if hasattr(how, "split") and not isinstance(how, str):
            return how
        raise ValueError(
            f"PrunedClassifier(prune_on={how!r}): must be 'auto', 'oob', 'train', a "
            "fraction in (0, 1), or a cross-validation splitter."
        )

    def _usual_way(self) -> str | float:
        """Return what "auto" stands for with this estimator, method and size."""
        kind = find_kind(self._inner())
        if kind is not None and kind.bootstraps(unwrapped(self._inner())):
            return "oob where there are some"
        alike = kind is not None and kind.family != "pool"
        is_auto = isinstance(self.method, str) and self.method == "auto"
        return "train" if alike and is_auto and not self._by_errors else _HOLDOUT

    @property
    def _by_errors(self) -> bool:
        """Whether errors tell how many members are kept."""
        return isinstance(self.keep, str) and self.keep != DEFAULT

    # Metadata and tags

    def _route(self, fit_params: dict[str, Any]) -> dict[str, Any]:
        if not fit_params:
            return {}
        if sklearn.get_config().get("enable_metadata_routing", False):
            routed = process_routing(self, "fit", **fit_params)
            return dict(routed["estimator"]["fit"])
        inner = self._inner()
        for name in fit_params:
            if name == "sample_weight" and not _takes(inner, name):
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


@dataclass(frozen=True, slots=True)
class _Training:
    """What an ensemble is fitted on."""

    X: Any
    y: Array
    fit_params: dict[str, Any]

    def fit(self, estimator: Any, rows: Array | None = None) -> Any:
        """Fit an estimator on all rows, or on some."""
        if rows is None:
            return estimator.fit(self.X, self.y, **self.fit_params)
        some = {
            name: np.asarray(value)[rows]
            if np.shape(value)[:1] == self.y.shape
            else value
            for name, value in self.fit_params.items()
        }
        return estimator.fit(take_rows(self.X, rows), self.y[rows], **some)


def _split(y: Array, share: float, seed: int | None) -> tuple[Array, Array]:
    smallest = np.unique(y, return_counts=True)[1].min()
    train, held = train_test_split(
        np.arange(y.size),
        test_size=share,
        random_state=seed,
        stratify=y if smallest >= 2 else None,
    )
    if np.unique(y[train]).size < np.unique(y).size:
        # A class with a single sample must be trained on.
        lost = np.isin(y[held], np.setdiff1d(y, y[train]))
        train, held = np.r_[train, held[lost]], held[~lost]
    return train, held
