"""The classifier that stops asking."""

import os
import warnings
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.exceptions import NotFittedError
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from quorate._data import sliceable
from quorate._ensembles import (
    Ensemble,
    RowSource,
    check_source,
    member_objects,
    read_ensemble,
    source_of,
)
from quorate._typing import Array, FloatArray, IntArray
from quorate.lazy._additive import AdditiveEnsemble, make_additive
from quorate.lazy._compact import CompactClassifier
from quorate.lazy._engine import LazyCurve, follow, watch
from quorate.lazy._fitting import (
    check_confidence,
    check_parameters,
    check_rows,
    doubt_bayes,
    make_ends,
    make_order,
    warn_of_training_rows,
)
from quorate.lazy._ready import Ready, make_ready, make_rule
from quorate.lazy._rules import (
    Guarantee,
    Stops,
    calibrate,
    harmful_thresholds,
    make_stops,
)

# Settings of a curve, where none are given.
_USUAL = {
    "bayes": (0.9, 0.95, 0.98, 0.99, 0.995, 0.998, 0.999, 0.9999),
    "calibrated": (0.0, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0),
}


class LazyClassifier(MetaEstimatorMixin, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Predict as a fitted ensemble does, without asking members that change nothing.

    Members are asked one block after the other, only about samples that are still
    open. The reference is always the ensemble's own ``predict``.

    Parameters
    ----------
    ensemble : fitted ensemble, list or dict
        What :func:`quorate.collect_votes` reads: bagging, forests, extra trees,
        AdaBoost, voting, a pipeline that ends in one, a list or a dict of fitted
        classifiers; or a :class:`quorate.PrunedClassifier`. It is never fitted again,
        and copies made by ``clone`` share it.
    mode : {"exact", "bayes", "calibrated", "all"}
        When to stop asking about a sample. "exact": when the members left cannot turn
        the vote; the prediction is the ensemble's on every sample. "bayes": when the
        leader stays ahead with probability ``confidence``, by a model of the vote (see
        Notes). "calibrated": when the lead is large for what is left, by a threshold
        under which the share of changed predictions is at most ``epsilon``, as
        ``guarantee`` says. "all": never; everyone is asked, and ``predict_proba`` is
        the ensemble's.
    confidence : float
        For "bayes": in [0.5, 1).
    epsilon : float
        For "calibrated": in (0, 1). ``fit`` needs at least 1 / epsilon - 1 samples.
    order : {"auto", "given", "random"} or array of int
        In which order members are asked. "auto": at random where all weights are equal,
        and in mode "bayes", whose promise needs that; else the largest weight first. In
        mode "exact", and if ``fit`` is given X, weights are multiplied by the share of
        samples on which the member agrees with the ensemble. Samples that calibrate do
        not choose the order, or the threshold would be too low.
    block_size : int or "auto"
        Members asked between two looks at the vote; "auto" for few where most samples
        are decided, and more and more after that.
    random_state : int, RandomState or None
        Seed of the random order.
    n_jobs : int, optional
        Parts of the samples worked on at the same time, by threads.
    guarantee : "mean" or float
        For "calibrated": what is at most ``epsilon``. "mean": the share of changed
        predictions on average over draws of the samples given to ``fit``; about a third
        of the single fits exceed it. A probability in [0.5, 1): the share itself, after
        this very ``fit``, with that probability. At 0.95 and ``epsilon=0.005``, ``fit``
        needs at least 598 samples and not 199.
    engine : {"auto", "compiled", "numpy"}
        What asks the members. "compiled": kernels in C, for trees of forests, extra
        trees, bagging, AdaBoost and :class:`quorate.WeightedVoting`, if quorate was
        installed with them. "numpy": scikit-learn's trees and NumPy. "auto": the first
        where possible. Both give the same answers. Sparse rows are always asked about
        by the second.

    Attributes
    ----------
    classes_ : ndarray
        The ensemble's classes.
    n_members_ : int
        Number of members.
    order_ : ndarray of int
        Members in the order in which they are asked.
    stops_ : ndarray of int
        Members asked at each look at the vote.
    threshold_ : float or None
        For "calibrated": the lead that is enough, in units of the square root of the
        sum of the squared weights left.
    expected_disagreement_ : float or None
        Share of predictions that may differ from the ensemble's, at most: 0 for
        "exact"; what the number of samples certifies for "calibrated", on average or
        with the probability that ``guarantee`` asks for. For "bayes" one minus the
        confidence, or None where that is not promised: for an order of your own, for
        unequal weights, or if the samples given to ``fit`` speak against it.
    engine_ : {"compiled", "numpy"}
        What asks the members.
    measured_disagreement_ : float or None
        Share of the samples given to ``fit`` whose prediction differs.
    measured_members_ : float or None
        Mean number of members asked about the samples given to ``fit``.
    n_features_in_ : int
        Number of features, where the ensemble knows it.
    feature_names_in_ : ndarray of str
        Names of the features, where the ensemble knows them.

    See Also
    --------
    prune : Save memory as well, by dropping members for good.

    Notes
    -----
    Exact mode stops only if the lead is larger than all that is left by more than any
    order of adding up can change it. Votes with weights that are whole numbers are
    counted exactly, ties included. Where all members were asked and the lead is within
    rounding, the shares are added up again as the ensemble does, or it is asked itself.
    The promise holds for members whose answer on a sample does not depend on the
    samples beside it, and whose probabilities are between 0 and 1.

    "bayes" follows Hernández-Lobato, Martínez-Muñoz and Suárez (2009), on the two
    classes in front. The prior is uniform: before anyone is asked, every share of the
    votes is taken to be as likely as any other, and members are asked in random order.
    The promise is an average over samples of which this is true. Forests, extra trees
    and bagging of deep trees keep it where there is something to learn; members that
    are all near a coin do not, nor does boosting, whose votes are close on most
    samples. Probabilities take the place of votes, rounded against the leader: right
    for deep trees, which are almost always sure, and slow for members that never are;
    prefer "calibrated" there.

    "calibrated" is conformal risk control (Angelopoulos and others, 2022), or with a
    probability as ``guarantee`` an exact binomial (Clopper-Pearson) limit. Its samples
    must be such as those to come: not the ones the members were trained on, nor the
    ones they were chosen on.

    An ensemble that is fitted again in place, or grows, has other members than ``fit``
    has seen: ``predict`` then raises ``NotFittedError``. A member that is fitted again
    by itself, and weights or leaves that somebody edits, are not noticed; call ``fit``
    again after that.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> from quorate import LazyClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> forest = RandomForestClassifier(200, random_state=0).fit(X[::2], y[::2])
    >>> lazy = LazyClassifier(forest, random_state=0).fit()
    >>> bool((lazy.predict(X) == forest.predict(X)).all())
    True
    >>> bool(lazy.members_asked(X).mean() < 0.6 * 200)
    True
    >>> quick = LazyClassifier(forest, mode="bayes", random_state=0).fit()
    >>> bool(quick.members_asked(X).mean() < 0.15 * 200)
    True
    """

    def __init__(
        self,
        ensemble: Any,
        mode: str = "exact",
        confidence: float = 0.999,
        epsilon: float = 0.005,
        order: Any = "auto",
        block_size: int | str = "auto",
        random_state: Any = None,
        *,
        n_jobs: int | None = None,
        guarantee: Guarantee = "mean",
        engine: str = "auto",
    ) -> None:
        self.ensemble = ensemble
        self.mode = mode
        self.confidence = confidence
        self.epsilon = epsilon
        self.order = order
        self.block_size = block_size
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.guarantee = guarantee
        self.engine = engine

    def fit(self, X: Any = None, y: Any = None, source: RowSource = "auto") -> Self:
        """Prepare: choose the order, compute tables, calibrate. Nothing is trained.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame, optional
            Samples such as those to come, which the members were not trained on. Mode
            "calibrated" needs them; the others measure on them what to expect, and
            "bayes" warns if more predictions change than it promises.
        y : array-like of shape (n_samples,), optional
            Labels are not needed. Lists of classifiers that do not say which classes
            they know learn of those in y.
        source : {"auto", "new", "training"}
            What X is to the members; "new" is believed. On samples that they were
            trained on nothing can be promised, with a warning. See
            :func:`quorate.prune`.

        Returns
        -------
        LazyClassifier
        """
        check_parameters(self)
        check_source(source, "LazyClassifier.fit")
        given = read_ensemble(self.ensemble)
        ensemble = make_additive(given, X, y)
        prepared = None if X is None else sliceable(ensemble.prepare(X))
        flaw = ""
        if self.mode == "calibrated":
            check_rows(prepared, self.epsilon, self.guarantee)
            flaw = source_of(given, prepared, source).flaw
            if flaw:
                warn_of_training_rows(flaw)
        if self.mode == "bayes" and (ensemble.weights < 0).any():
            raise ValueError(
                "LazyClassifier(mode='bayes'): weights below zero fit no count of "
                "votes; use mode='exact' or 'calibrated'."
            )
        reference = None if X is None else ensemble.reference(X, prepared)
        order = make_order(self, ensemble, reference, prepared)
        stops = make_stops(ensemble, order, make_ends(self, ensemble, order))
        expected = 0.0
        threshold = None
        if self.mode == "calibrated":
            assert reference is not None
            course = follow(ensemble, order, stops, prepared)
            harmful = harmful_thresholds(course, stops, reference)
            threshold, expected = calibrate(harmful, self.epsilon, self.guarantee)
        self._members = list(member_objects(self.ensemble))
        self._classes: Any = getattr(self.ensemble, "classes_", None)
        self._settings: dict[str, Any] = {
            "mode": self.mode,
            "confidence": float(self.confidence),
            "engine": self.engine,
        }
        self.threshold_: float | None = threshold
        self.classes_ = ensemble.classes
        self.n_members_ = ensemble.n_members
        self.order_ = order
        self.stops_ = stops.ends
        for name in ("n_features_in_", "feature_names_in_"):
            self.__dict__.pop(name, None)
            if hasattr(given.model, name):
                setattr(self, name, getattr(given.model, name))
        self._ready = self._make_ready(ensemble, stops)
        self.engine_ = self._ready.engine
        n_changed = self._measure(X, prepared, reference)
        self.expected_disagreement_: float | None = None if flaw else float(expected)
        if self.mode == "bayes":
            n_rows = 0 if reference is None else reference.size
            in_doubt = doubt_bayes(self, ensemble, n_changed, n_rows)
            self.expected_disagreement_ = None if in_doubt else 1 - self.confidence
        return self

    def predict(self, X: Any) -> Array:
        """Predict classes: the ensemble's own answer, up to what the mode allows."""
        codes = self._prepared().codes(X, self.n_jobs)
        labels: Array = self.classes_.take(codes)
        return labels

    def predict_proba(self, X: Any) -> FloatArray:
        """Return the score of each class at the moment of stopping.

        It is the mean over the members asked of what the ensemble adds up:
        probabilities where it averages them, shares of the weighted vote where it
        counts votes. Since the asking stops when the winner is clear, it is not the
        ensemble's own probability; with ``mode="all"``, which asks everyone, it is.
        """
        return self._prepared().probabilities(X, self.n_jobs)

    def members_asked(self, X: Any) -> IntArray:
        """Return how many members are asked about each sample."""
        return self._prepared().ask(X, self.n_jobs).asked

    def curve(self, X: Any, settings: Any = None) -> LazyCurve:
        """Measure members asked and predictions changed over other settings.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame
            Samples the members were not trained on.
        settings : array-like of float, optional
            Confidences for "bayes", thresholds for "calibrated". "exact" and "all" have
            none and give one point.

        Returns
        -------
        LazyCurve
        """
        ready = self._prepared()
        ensemble, stops = ready.ensemble, ready.stops
        mode, values = ready.mode, np.ones(1)
        if mode in _USUAL:
            given = _USUAL[mode] if settings is None else settings
            values = np.sort(np.asarray(given, dtype=float))
        if mode == "bayes":
            for value in values:
                check_confidence(float(value))
        rules = [make_rule(ensemble, stops, mode, value, value) for value in values]
        prepared = sliceable(ensemble.prepare(X))
        reference = ensemble.reference(X, prepared)
        course = follow(ensemble, self.order_, stops, prepared)
        watched = watch(course, rules, reference, stops.ends.size)
        return LazyCurve(
            mode=mode,
            setting="threshold" if mode == "calibrated" else "confidence",
            settings=values,
            members_asked=np.array([stops.ends[one.at].mean() for one in watched]),
            disagreement=np.array([one.changed.mean() for one in watched]),
            n_members=ensemble.n_members,
            n_samples=reference.size,
        )

    # Serving

    def compact(self) -> CompactClassifier:
        """Return a model that answers the same from arrays, without the ensemble.

        It has only what serving needs: it pickles, it is stored by :func:`quorate.save`
        without anything that runs, loaded without trusting a type, and takes a small
        part of the memory. It cannot be fitted, pruned, measured or converted any more,
        and takes no sparse rows.

        Returns
        -------
        CompactClassifier

        Raises
        ------
        ValueError
            If the members are not all trees, or if something else stands before them,
            such as the steps of a pipeline.
        """
        ready = self._prepared()
        given = read_ensemble(self.ensemble)
        problem = ready.ensemble.why_no_arrays
        if not problem and not given.takes_plain:
            problem = (
                "something changes the rows before the trees see them, such as the "
                "steps of a pipeline; wrap its last step, and put what comes out in "
                "its place"
            )
        if problem:
            raise ValueError(f"LazyClassifier.compact: {problem}.")
        return CompactClassifier.of(self, ready, _takes_missing(given))

    def to_c(self, path: str | os.PathLike[str], name: str = "forest") -> None:
        """Write the model as one C99 file without dependencies.

        It holds the trees, the kernel that also answers here, and two functions that
        give the same answers: ``name_predict(row)`` and ``name_predict_rows(rows,
        n_rows, codes)``, with rows of 32-bit floats and positions in ``name_labels``.
        Rows are not checked. The head of the file says how much stack they need.

        Compile it with ``-ffp-contract=off``. Under ``-ffast-math``, ``-Ofast`` or
        ``-ffinite-math-only`` it does not compile: leaves are known by a NaN.

        Parameters
        ----------
        path : path
            Where to write it, in one step.
        name : str
            What the functions begin with, for programs that have several models.

        Raises
        ------
        ValueError
            Where :meth:`compact` is not possible, if there are more than 32,768
            classes, or if a label cannot be written as a text in C.
        """
        self.compact().to_c(path, name)

    # Voting

    def _prepared(self) -> Ready:
        """Return what fit prepared, made again where it was not stored."""
        if "order_" not in self.__dict__:
            check_is_fitted(self)
        classes: Any = getattr(self.ensemble, "classes_", None)
        if member_objects(self.ensemble) != self._members or (
            classes is not self._classes and not np.array_equal(classes, self._classes)
        ):
            raise NotFittedError(
                "LazyClassifier: its ensemble was fitted again or changed since this "
                "was fitted to it; fit this again."
            )
        ready: Ready | None = self.__dict__.get("_ready")
        if ready is None:
            ensemble = make_additive(
                read_ensemble(self.ensemble), classes=self.classes_
            )
            stops = make_stops(ensemble, self.order_, self.stops_)
            ready = self._make_ready(ensemble, stops)
            self._ready = ready
            self.engine_ = ready.engine
        return ready

    # Fitting

    def _make_ready(self, ensemble: AdditiveEnsemble, stops: Stops) -> Ready:
        return make_ready(
            ensemble, self.order_, stops, self.threshold_, **self._settings
        )

    def _measure(self, X: Any, prepared: Any, reference: IntArray | None) -> int:
        """Vote on the rows given to fit and return how many come out otherwise."""
        self.measured_disagreement_: float | None = None
        self.measured_members_: float | None = None
        if reference is None:
            return 0
        result = self._ready.ask_prepared(sliceable(X), prepared, self.n_jobs)
        changed = result.codes != reference
        self.measured_disagreement_ = float(changed.mean())
        self.measured_members_ = float(result.asked.mean())
        return int(changed.sum())

    # What scikit-learn asks for

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters; those of the fitted ensemble are not among them."""
        params: dict[str, Any] = super().get_params(deep=False)
        return params

    def set_params(self, **params: Any) -> Self:
        """Set parameters; those of the fitted ensemble would change it for others."""
        inner = [name for name in params if name.startswith("ensemble__")]
        if inner:
            raise ValueError(
                f"LazyClassifier: {inner[0]!r} would change an ensemble that is fitted "
                "already; fit another one."
            )
        super().set_params(**params)
        return self

    def __quorate_ensemble__(self) -> Any:
        return self.ensemble

    def __sklearn_clone__(self) -> Self:
        # A copy that had to train the ensemble again would be another classifier.
        params = self.get_params()
        ensemble = params.pop("ensemble")
        copies = {name: clone(value, safe=False) for name, value in params.items()}
        return type(self)(ensemble, **copies)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "order_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if hasattr(self.ensemble, "__sklearn_tags__"):
            tags.input_tags = get_tags(self.ensemble).input_tags
        tags.requires_fit = True
        tags.target_tags.required = False
        return tags

    def __getstate__(self) -> dict[str, Any]:
        state = dict(super().__getstate__())
        state.pop("_ready", None)
        return state


def _takes_missing(ensemble: Ensemble) -> bool:
    """Tell whether an ensemble takes missing values, by asking it about one."""
    row = np.zeros((1, ensemble.core.n_features_in_))
    row[0, 0] = np.nan
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the row has no names
        try:
            ensemble.core.predict(row)
        except ValueError:
            return False
    return True
