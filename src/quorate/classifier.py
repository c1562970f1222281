"""Smaller ensembles: prune a fitted one, or prune while fitting."""

import inspect
import platform
import warnings
from collections.abc import Callable, Mapping
from dataclasses import replace
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

from quorate._suggest import unknown_name
from quorate._typing import Array, BoolArray
from quorate._version import __version__
from quorate._warn import warn
from quorate.exceptions import LeftOutWarning, TrainingVotesWarning
from quorate.lazy import LazyClassifier
from quorate.pruning import Pruner, choose_method, make_pruner
from quorate.pruning._auto import AUTO
from quorate.selection import Selection, select
from quorate.votes import Votes, collect_votes, keep_members
from quorate.votes._cost import member_costs
from quorate.votes._crossover import collect_crossed
from quorate.votes._members import averages_probabilities, kind_of, read_members
from quorate.votes._pooled import pooled_votes
from quorate.votes._probabilities import LARGEST_IN_MEMORY
from quorate.votes._training import bootstrapped_on, trained_on

__all__ = ["PrunedClassifier", "prune", "prune_with_selection"]

# Share of the rows held out where there are no out-of-bag votes.
_HOLDOUT = 0.25


def prune(
    ensemble: Any,
    X: Any,
    y: Any,
    method: Any = "auto",
    keep: float | int | str | None = 0.2,
    *,
    out_of_bag: bool | str = "auto",
    tolerance: float | None = None,
    budget: Mapping[str, float] | None = None,
    n_jobs: int | None = None,
    **parameters: Any,
) -> Any:
    """Return a smaller fitted ensemble of the same type.

    Parameters
    ----------
    ensemble : fitted ensemble, list or dict
        What :func:`quorate.collect_votes` reads: bagging, forests, extra trees,
        AdaBoost, voting, a pipeline that ends in one, a list or a dict of fitted
        classifiers. It is not changed.
    X, y : array-like
        Samples to choose on: the training data of an ensemble that bootstraps, or
        samples that no member has seen.
    method : str or Pruner
        A name from :func:`quorate.methods`, a pruner object, or "auto" for the one that
        suits the ensemble; see :func:`quorate.pruning.choose_method`.
    keep : float, int, "auto" or None
        Fraction in (0, 1] or number of members; "auto" for the smallest size within one
        standard error of the best; None where the method finds its own size.
    out_of_bag : {"auto", True, False}
        Choose on out-of-bag votes. "auto" does so where the ensemble bootstraps and X
        is its training data, and uses all votes on X otherwise.
    tolerance, budget
        Other ways to say how many; see :func:`quorate.select`. A budget limits the sum
        over the members kept.
    n_jobs : int, optional
        Members asked at the same time.
    **parameters
        Parameters of the method.

    Returns
    -------
    ensemble of the same type
        With the members kept, in their old order. Methods that choose weights set them
        in AdaBoost and voting ensembles, and turn forests and bagging, which have none,
        into a :class:`quorate.WeightedVoting` of the same members; lists and dicts hold
        members only. ``pruning_`` says what was done (not on lists and dicts).
        Out-of-bag scores are gone: they were those of all members. ``n_jobs`` is None,
        since starting workers makes small batches slower; set it for large ones.

    See Also
    --------
    prune_with_selection : The same, with the choice and what explains it.
    PrunedClassifier : Prune while fitting.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> import quorate
    >>> X, y = load_wine(return_X_y=True)
    >>> forest = RandomForestClassifier(100, random_state=0).fit(X, y)
    >>> small = quorate.prune(forest, X, y, method="mdm", keep=0.2)
    >>> type(small).__name__, len(small.estimators_), small.n_estimators
    ('RandomForestClassifier', 20, 20)
    >>> small.pruning_["method"], small.pruning_["chosen_on"]
    ('MarginDistance', 'out-of-bag votes')
    """
    smaller, _ = prune_with_selection(
        ensemble,
        X,
        y,
        method,
        keep,
        out_of_bag=out_of_bag,
        tolerance=tolerance,
        budget=budget,
        n_jobs=n_jobs,
        **parameters,
    )
    return smaller


def prune_with_selection(
    ensemble: Any,
    X: Any,
    y: Any,
    method: Any = "auto",
    keep: float | int | str | None = 0.2,
    *,
    out_of_bag: bool | str = "auto",
    tolerance: float | None = None,
    budget: Mapping[str, float] | None = None,
    n_jobs: int | None = None,
    **parameters: Any,
) -> tuple[Any, Selection]:
    """Prune as :func:`prune` does, and return the choice as well.

    Returns
    -------
    smaller, selection
        The smaller ensemble, and a :class:`quorate.Selection` that knows order, size
        curve and ``explain``.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> import quorate
    >>> X, y = load_wine(return_X_y=True)
    >>> forest = RandomForestClassifier(100, random_state=0).fit(X, y)
    >>> small, selection = quorate.prune_with_selection(forest, X, y, "re", "auto")
    >>> selection.n_kept == len(small.estimators_)
    True
    """
    asked = None if _is_auto(method) else make_pruner(method, **parameters)
    soft = _wants_probabilities(ensemble, np.size(y), asked)
    votes, chosen_on = votes_to_choose_on(ensemble, X, y, out_of_bag, n_jobs, soft)
    pruner = asked or choose_method(kind_of(ensemble), votes, chosen_on, **parameters)
    pruner = _priced(pruner, ensemble, X)
    _warn_of_training_votes(pruner, chosen_on)
    costs = {kind: member_costs(ensemble, kind, X) for kind in budget or {}}
    selection = select(
        votes,
        pruner,
        keep,
        tolerance=tolerance,
        budget=budget,
        costs=costs,
        X=_features(X) if pruner.tags.needs_features else None,
        unlabelled=_further_votes(pruner, ensemble, X, votes, n_jobs),
    )
    selection = replace(selection, auto=asked is None)
    return cut(ensemble, selection, chosen_on), selection


def cut(ensemble: Any, selection: Selection, chosen_on: str) -> Any:
    """Return the ensemble of the members chosen, with a record of the choice."""
    kept = np.sort(selection.order)
    weights = selection.weights
    smaller = keep_members(ensemble, kept, None if weights is None else weights[kept])
    if not isinstance(smaller, (list, tuple, dict)):
        record = pruning_record(selection, chosen_on)
        _unfrozen(smaller).pruning_ = record
    return smaller


def _priced(pruner: Pruner, ensemble: Any, X: Any) -> Pruner:
    """Measure what members cost, where the method was only told what to count."""
    kind = pruner.get_params(deep=False)["cost"] if pruner.tags.takes_costs else None
    if not isinstance(kind, str):
        return pruner
    priced: Pruner = clone(pruner).set_params(cost=member_costs(ensemble, kind, X))
    return priced


def _is_auto(method: Any) -> bool:
    return isinstance(method, str) and method == AUTO


def _further_votes(
    pruner: Pruner, ensemble: Any, X: Any, votes: Votes, n_jobs: int | None
) -> Votes | None:
    """Return votes on unlabelled rows made from X, for methods that take them."""
    if not pruner.tags.uses_unlabelled:
        return None
    soft = votes.probabilities is not None
    return collect_crossed(ensemble, X, probabilities=soft, n_jobs=n_jobs)


def _warn_of_training_votes(pruner: Pruner, chosen_on: str) -> None:
    if chosen_on == "training votes" and pruner.tags.driven_by_accuracy:
        warn(
            f"{type(pruner).__name__} is driven by accuracy and chooses on the samples "
            "the members were trained on, where they look better than they are; use "
            "out-of-bag votes or samples they have not seen.",
            TrainingVotesWarning,
        )


def pruning_record(selection: Selection, chosen_on: str) -> dict[str, Any]:
    """Return what was done to an ensemble, in plain types."""
    parameters = selection.pruner.get_params(deep=False)
    kept = np.sort(selection.order)
    weights = selection.weights
    return {
        "method": type(selection.pruner).__name__,
        "auto": selection.auto,
        "parameters": {
            name: _plain(value) for name, value in parameters.items() if name != "keep"
        },
        "size": selection.rule,
        "chosen_on": chosen_on,
        "n_samples": selection.votes.n_samples,
        "n_members": selection.votes.n_members,
        "kept": [int(member) for member in kept],
        "order": [int(member) for member in selection.order],
        "weights": None if weights is None else [float(weights[m]) for m in kept],
        "versions": {
            "quorate": __version__,
            "scikit-learn": sklearn.__version__,
            "numpy": np.__version__,
            "python": platform.python_version(),
        },
    }


def _plain(value: Any) -> Any:
    plain = value is None or isinstance(value, (bool, int, float, str))
    return value if plain else repr(value)


def votes_to_choose_on(
    ensemble: Any,
    X: Any,
    y: Any,
    out_of_bag: bool | str,
    n_jobs: int | None,
    probabilities: bool = False,
    owner: str = "prune",
) -> tuple[Votes, str]:
    """Collect votes, out of bag if asked to, and say what kind of votes they are."""
    if out_of_bag not in (True, False, "auto"):
        raise ValueError(f"{owner}(out_of_bag={out_of_bag!r}): True, False or 'auto'.")
    if out_of_bag:
        try:
            with warnings.catch_warnings():
                # Choosing does not need every sample.
                warnings.simplefilter("ignore", LeftOutWarning)
                votes = collect_votes(
                    ensemble,
                    X,
                    y,
                    out_of_bag=True,
                    n_jobs=n_jobs,
                    probabilities=probabilities,
                )
            return votes, "out-of-bag votes"
        except ValueError:
            # Asked last, as drawing the training samples again takes its time.
            if out_of_bag != "auto" or bootstrapped_on(ensemble, X, y):
                raise
    votes = collect_votes(ensemble, X, y, n_jobs=n_jobs, probabilities=probabilities)
    seen = trained_on(ensemble, X, y)
    return votes, "training votes" if seen else "votes on other samples"


def _wants_probabilities(ensemble: Any, n_rows: int, pruner: Pruner | None) -> bool:
    """Tell whether to collect probabilities; None stands for the automatic method."""
    if pruner is not None and not pruner.tags.uses_probabilities:
        return False
    if not averages_probabilities(ensemble):
        return False
    roster = read_members(ensemble)
    n_classes = 2 if roster.classes is None else len(roster.classes)
    size = 4 * len(roster.members) * n_rows * n_classes
    return pruner is not None or size <= LARGEST_IN_MEMORY


def _features(X: Any) -> Array:
    return np.asarray(X.toarray() if hasattr(X, "toarray") else X, dtype=float)


Method = TypeVar("Method", bound=Callable[..., Any])


def _inner_has(name: str) -> Callable[[Method], Method]:
    """Offer a method only where the inner ensemble has it."""

    def check(self: "PrunedClassifier") -> bool:
        inner = self.estimator_ if hasattr(self, "estimator_") else self._inner()
        getattr(inner, name)  # its AttributeError says what is missing
        return True

    offer: Callable[[Method], Method] = available_if(check)
    return offer


class PrunedClassifier(MetaEstimatorMixin, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Fit an ensemble and keep the members that decide.

    Parameters
    ----------
    estimator : ensemble, optional
        A bagging, forest, extra trees, AdaBoost or voting classifier, or a pipeline
        that ends in one; a forest by default. A fitted one comes wrapped in
        ``FrozenEstimator`` and is only pruned.
    method : str or Pruner
        A name from :func:`quorate.methods`, a pruner object, or "auto" for the one that
        suits the ensemble; see :func:`quorate.pruning.choose_method`.
    keep : float, int, "auto" or None
        Fraction in (0, 1] or number of members; "auto" for the smallest size within one
        standard error of the best; None where the method finds its own size.
    prune_on : {"auto", "oob", "train"}, float or cross-validation splitter
        What to choose on. "oob": out-of-bag votes. "train": votes on the training
        samples. A fraction of the samples: held out from training. A splitter: every
        sample is voted on by the members of an ensemble that did not see it, member t
        of each fold standing for member t of the ensemble fitted on all samples; no
        sample may be held out twice.
        "auto": out-of-bag votes where the ensemble bootstraps, otherwise a quarter is
        held out; with ``method="auto"`` boosting, and forests and bagging that do not
        bootstrap, choose on training votes, by methods that these do not mislead. With
        a frozen estimator a fraction or splitter is not needed: all samples given are
        used, out of bag if they are its training data.
    refit : bool
        After holding out, fit the ensemble again on all samples and keep the members at
        the chosen positions. Sensible where positions have a meaning: voting, boosting.
    random_state : int, RandomState or None
        Seed of the split, and of estimator and method where they have none of their
        own.
    n_jobs : int, optional
        Members asked at the same time.
    lazy : {None, "exact", "bayes", "calibrated"} or dict
        Whether ``predict`` stops asking members once the vote of those kept is decided,
        and when: a mode of :class:`quorate.LazyClassifier`, or its parameters.
        "calibrated" needs samples that the members have not seen: those that a
        fraction for ``prune_on`` holds out, or those given to a frozen estimator.

    Attributes
    ----------
    estimator_ : fitted ensemble
        The smaller ensemble, of the same class as ``estimator``; a
        :class:`quorate.WeightedVoting` where a method chose weights for one that has
        none.
    pruner_ : Pruner
        The fitted method.
    curve_ : SizeCurve or None
        Error of the vote over the number of members, where the method has an order.
    support_ : ndarray of bool
        Which of the members fitted are kept.
    lazy_ : LazyClassifier or None
        What ``predict`` goes through, if ``lazy`` was given.
    classes_ : ndarray
        The classes.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of str
        Names of the features, where X had names.

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
        method: Any = "auto",
        keep: float | int | str | None = 0.2,
        prune_on: Any = "auto",
        *,
        refit: bool = False,
        random_state: Any = None,
        n_jobs: int | None = None,
        lazy: Any = None,
    ) -> None:
        self.estimator = estimator
        self.method = method
        self.keep = keep
        self.prune_on = prune_on
        self.refit = refit
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.lazy = lazy

    def fit(self, X: Any, y: Any, **fit_params: Any) -> Self:
        """Fit the ensemble and choose its members.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame
            What the estimator accepts.
        y : array-like of shape (n_samples,)
            Labels.
        **fit_params
            Passed to the estimator's ``fit`` (``sample_weight``, say), by metadata
            routing where that is enabled. Arrays of one value per sample are split
            along with X.
        """
        validate_data(self, X, skip_check_array=True)
        y = column_or_1d(y, warn=True)
        check_classification_targets(y)
        X, y = indexable(X, y)
        if y.size == 1:
            raise ValueError(
                "PrunedClassifier.fit: got n_samples=1; choosing members needs more."
            )
        routed = self._route(fit_params)
        lazy = self._lazy()
        asked = None if _is_auto(self.method) else self._pruner(self.method)
        ensemble, votes, chosen_on, unseen = self._fit_and_vote(X, y, routed, asked)
        pruner = asked or self._pruner(
            choose_method(kind_of(ensemble), votes, chosen_on)
        )
        pruner = _priced(pruner, ensemble, X)
        _warn_of_training_votes(pruner, chosen_on)
        selection = select(
            votes,
            pruner,
            self.keep,
            X=_features(X) if pruner.tags.needs_features else None,
            unlabelled=_further_votes(pruner, ensemble, X, votes, self.n_jobs),
        )
        selection = replace(selection, auto=asked is None)
        self.estimator_ = cut(ensemble, selection, chosen_on)
        self.curve_ = selection.curve
        self.pruner_ = selection.pruner
        self.support_: BoolArray = selection.support
        self.classes_ = self.estimator_.classes_
        self.lazy_ = lazy
        if lazy is not None:
            lazy.set_params(ensemble=self.estimator_)
            lazy.fit(None if unseen is None else _rows(X, unseen))
        return self

    def predict(self, X: Any) -> Array:
        """Predict classes with the smaller ensemble, lazily if so told."""
        check_is_fitted(self, "estimator_")
        if self.lazy_ is not None:
            return np.asarray(self.lazy_.predict(X))
        return np.asarray(self._ask("predict", X))

    @_inner_has("predict_proba")
    def predict_proba(self, X: Any) -> Array:
        """Predict class probabilities with the smaller ensemble."""
        return np.asarray(self._ask("predict_proba", X))

    @_inner_has("predict_log_proba")
    def predict_log_proba(self, X: Any) -> Array:
        """Predict logarithms of class probabilities with the smaller ensemble."""
        return np.asarray(self._ask("predict_log_proba", X))

    @_inner_has("decision_function")
    def decision_function(self, X: Any) -> Array:
        """Return the decision function of the smaller ensemble."""
        return np.asarray(self._ask("decision_function", X))

    def _ask(self, name: str, X: Any) -> Any:
        return getattr(self._fitted_ensemble(), name)(X)

    def _fitted_ensemble(self) -> Any:
        check_is_fitted(self, "estimator_")
        return self.estimator_

    # Fitting

    def _inner(self) -> Any:
        return RandomForestClassifier() if self.estimator is None else self.estimator

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

    def _seed(self) -> int:
        if isinstance(self.random_state, np.random.RandomState):
            return int(self.random_state.randint(2**31 - 1))
        return int(np.random.default_rng(self.random_state).integers(2**31 - 1))

    def _pruner(self, method: Any) -> Any:
        pruner = make_pruner(method)
        params = pruner.get_params(deep=False)
        if self.random_state is not None and params.get("random_state", 0) is None:
            pruner.set_params(random_state=self._seed())
        return pruner

    def _lazy(self) -> LazyClassifier | None:
        """Return what predict will go through, still without its ensemble."""
        if self.lazy is None:
            return None
        if not isinstance(self.lazy, (str, Mapping)):
            raise ValueError(
                f"PrunedClassifier(lazy={self.lazy!r}): None, a mode of LazyClassifier "
                "('exact', 'bayes', 'calibrated'), or a dict of its parameters."
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

    def _fit_and_vote(
        self, X: Any, y: Array, fit_params: dict[str, Any], pruner: Any = None
    ) -> tuple[Any, Votes, str, Array | None]:
        """Return the ensemble to cut, votes to choose on, and where they are from.

        Last come the rows that no member has seen, None if there are none.
        """
        if isinstance(self._inner(), FrozenEstimator):
            return self._vote_frozen(X, y, pruner)
        how = self._how()
        if isinstance(how, float):
            return self._vote_held_out(how, X, y, fit_params, pruner)
        if not isinstance(how, str):  # text has a split method too
            return self._vote_in_folds(how, X, y, fit_params)
        ensemble = self._fresh().fit(X, y, **fit_params)
        kind = how == "oob"
        soft = _wants_probabilities(ensemble, y.size, pruner)
        votes, chosen_on = votes_to_choose_on(ensemble, X, y, kind, self.n_jobs, soft)
        return ensemble, votes, chosen_on, None

    def _how(self) -> Any:
        """Return "oob", "train", a fraction, or a splitter."""
        how = self.prune_on
        if isinstance(how, str) and how in ("oob", "train"):
            return how
        if isinstance(how, str) and how == "auto":
            if _bootstraps(self._inner()):
                return "oob"
            alike = kind_of(self._inner()) in ("forest", "bagging", "boosting")
            return "train" if alike and _is_auto(self.method) else _HOLDOUT
        if isinstance(how, float) and 0 < how < 1:
            return how
        if hasattr(how, "split") and not isinstance(how, str):
            return how
        raise ValueError(
            f"PrunedClassifier(prune_on={how!r}): 'auto', 'oob', 'train', a fraction "
            "in (0, 1), or a cross-validation splitter."
        )

    def _vote_frozen(
        self, X: Any, y: Array, pruner: Any
    ) -> tuple[Any, Votes, str, Array | None]:
        frozen = self._inner()
        check_is_fitted(frozen)
        wanted = {"oob": True, "train": False}.get(
            self.prune_on if isinstance(self.prune_on, str) else "auto", "auto"
        )
        soft = _wants_probabilities(frozen.estimator, y.size, pruner)
        votes, chosen_on = votes_to_choose_on(
            frozen.estimator, X, y, wanted, self.n_jobs, soft
        )
        unseen = chosen_on == "votes on other samples"
        return frozen, votes, chosen_on, np.arange(y.size) if unseen else None

    def _vote_held_out(
        self, share: float, X: Any, y: Array, fit_params: dict[str, Any], pruner: Any
    ) -> tuple[Any, Votes, str, Array | None]:
        rows = np.arange(y.size)
        smallest = np.unique(y, return_counts=True)[1].min()
        train, held = train_test_split(
            rows,
            test_size=share,
            random_state=None if self.random_state is None else self._seed(),
            stratify=y if smallest >= 2 else None,
        )
        if np.unique(y[train]).size < np.unique(y).size:
            # A class with a single sample must be trained on.
            lost = np.isin(y[held], np.setdiff1d(y, y[train]))
            train, held = np.r_[train, held[lost]], held[~lost]
        ensemble = _fit_rows(self._fresh(), X, y, train, fit_params)
        votes = collect_votes(
            ensemble,
            _rows(X, held),
            y[held],
            n_jobs=self.n_jobs,
            probabilities=_wants_probabilities(ensemble, held.size, pruner),
        )
        if self.refit:
            ensemble = self._fresh().fit(X, y, **fit_params)
            votes = _positions_in(votes, ensemble)
        unseen = None if self.refit else held
        return ensemble, votes, "votes on samples held out", unseen

    def _vote_in_folds(
        self, splitter: Any, X: Any, y: Array, fit_params: dict[str, Any]
    ) -> tuple[Any, Votes, str, Array | None]:
        ensemble = self._fresh().fit(X, y, **fit_params)
        n_members = len(read_members(ensemble).members)
        parts = []
        for train, held in splitter.split(X, y):
            fold = _fit_rows(self._fresh(), X, y, train, fit_params)
            votes = collect_votes(fold, _rows(X, held), y[held], n_jobs=self.n_jobs)
            parts.append((held, votes))
        pooled = pooled_votes(parts, n_members, y)
        return ensemble, pooled, "votes of cross-validation", None

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


def _unfrozen(estimator: Any) -> Any:
    while isinstance(estimator, FrozenEstimator):
        estimator = estimator.estimator
    return estimator


def _bootstraps(estimator: Any) -> bool:
    last = estimator.steps[-1][1] if hasattr(estimator, "steps") else estimator
    return bool(getattr(last, "bootstrap", False))


def _rows(X: Any, rows: Array) -> Any:
    """Return some rows of anything scikit-learn indexes."""
    if hasattr(X, "iloc"):
        return X.iloc[rows]
    if hasattr(X, "shape"):
        return X[rows]
    return [X[row] for row in rows]


def _fit_rows(
    estimator: Any, X: Any, y: Array, rows: Array, fit_params: dict[str, Any]
) -> Any:
    cut = {
        name: np.asarray(value)[rows] if np.shape(value)[:1] == y.shape else value
        for name, value in fit_params.items()
    }
    return estimator.fit(_rows(X, rows), y[rows], **cut)


def _positions_in(votes: Votes, ensemble: Any) -> Votes:
    """Return the votes of the positions that the refitted ensemble has too."""
    n_members = len(read_members(ensemble).members)
    return votes.keep(np.arange(min(votes.n_members, n_members)))
