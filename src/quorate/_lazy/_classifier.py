"""A classifier with early exit."""

import os
from functools import partial
from itertools import pairwise
from typing import Any, Literal, Self

import numpy as np
from scipy.stats import binom
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.exceptions import NotFittedError
from sklearn.utils import check_random_state, get_tags
from sklearn.utils.validation import check_is_fitted

from quorate._checks import check_number, one_of
from quorate._data import in_memory
from quorate._engine import (
    MODES,
    AdditiveEnsemble,
    LazyResult,
    Mode,
    Stops,
    Voter,
    auto_order,
    check_order,
    make_ends,
    make_stops,
    make_voter,
)
from quorate._ensembles import (
    Ensemble,
    RowSource,
    check_source,
    member_objects,
    read_ensemble,
    source_of,
    were_chosen_on,
)
from quorate._lazy._calibration import (
    Guarantee,
    calibrate,
    check_rows,
    harmful_thresholds,
    leads_at_stops,
)
from quorate._lazy._members import additive_ensemble
from quorate._messages import warn
from quorate._random import as_seed
from quorate._rows import count_rows, cut_rows, sliceable
from quorate._trees import CompactClassifier, compact_ensemble
from quorate._typing import Array, FloatArray, IntArray
from quorate._workers import count_threads, in_threads
from quorate.exceptions import QuorateWarning, TrainingVotesWarning

# Number of rows from which another thread pays off.
_ROWS_PER_JOB = 500
# Smaller shares would need too many samples.
_LEAST_EPSILON = 1e-9
# Significance level of changes on the rows given to fit.
_UNLIKELY = 0.01


class LazyClassifier(MetaEstimatorMixin, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Predict as a fitted ensemble does, with early exit.

    Members are evaluated block by block, only on samples that are not decided yet. The
    reference is always the ensemble's own ``predict``.

    Parameters
    ----------
    ensemble : fitted ensemble, list or dict
        What :func:`quorate.collect_votes` reads: bagging, forests, extra trees,
        AdaBoost, voting, a pipeline that ends in one, a list or a dict of fitted
        classifiers; or a :class:`quorate.PrunedClassifier`. It is never fitted again,
        and copies made by ``clone`` share it.
    mode : {"exact", "bayes", "calibrated", "all"}
        When to stop on a sample. "exact": when the remaining members cannot change the
        prediction, which is the ensemble's on every sample. "bayes": when the leading
        class stays ahead with probability ``confidence``, by a model of the vote (see
        Notes). "calibrated": when the lead exceeds a threshold with which the share of
        changed predictions is at most ``epsilon``, in the sense of ``guarantee``.
        "all": never; all members are evaluated, and ``predict_proba`` is the
        ensemble's.
    confidence : float
        For "bayes": in [0.5, 1).
    epsilon : float
        For "calibrated": in (0, 1). ``fit`` needs at least 1 / epsilon - 1 samples.
    order : {"auto", "given", "random"} or array of int
        The order in which members are evaluated. "auto": random if all weights are
        equal, and in mode "bayes", whose guarantee needs that; otherwise the largest
        weight first. In mode "exact", and if X is passed to ``fit``, weights are
        multiplied by the share of samples on which the member agrees with the ensemble.
        Calibration samples are not used for the order, because the threshold would be
        too low.
    block_size : int or "auto"
        Members evaluated between two checks of the vote; "auto" for small blocks where
        most samples are decided, and growing ones after that.
    random_state : int, RandomState or None
        Seed of the random order.
    n_jobs : int, optional
        Number of threads, each for a part of the samples.
    guarantee : "mean" or float
        For "calibrated": what is at most ``epsilon``. "mean": the mean share of changed
        predictions over draws of the samples passed to ``fit``; about a third of single
        fits exceed it. A probability in [0.5, 1): the share after this ``fit``, with
        that probability. At 0.95 and ``epsilon=0.005``, ``fit`` needs at least 598
        samples instead of 199.
    engine : {"auto", "compiled", "numpy"}
        What evaluates the members. "compiled": C kernels, for trees of forests, extra
        trees, bagging, AdaBoost and :class:`quorate.ensembles.WeightedVoting`, if
        quorate was installed with them. "numpy": scikit-learn's trees and NumPy, always
        used for sparse rows. "auto": the first if possible. Both give the same results.

    Attributes
    ----------
    classes_ : ndarray
        The ensemble's classes.
    n_members_ : int
        Number of members.
    order_ : ndarray of int
        Members in the order in which they are evaluated.
    stops_ : ndarray of int
        Number of members evaluated at each check of the vote.
    threshold_ : float or None
        For "calibrated": the lead that is enough, in units of the square root of the
        sum of the squared remaining weights.
    expected_disagreement_ : float or None
        Maximum share of predictions that differ from the ensemble's: 0 for
        "exact"; for "calibrated" the share that the samples guarantee, on average or
        with the probability ``guarantee``. For "bayes" one minus the
        confidence, or None if that is not guaranteed: for an order of your own, for
        unequal weights, or if the samples passed to ``fit`` contradict it.
    engine_ : {"compiled", "numpy"}
        What evaluates the members.
    measured_disagreement_ : float or None
        Share of the samples passed to ``fit`` whose prediction differs.
    measured_members_ : float or None
        Mean number of members evaluated on the samples passed to ``fit``.
    n_features_in_ : int
        Number of features, if the ensemble knows it.
    feature_names_in_ : ndarray of str
        Names of the features, if the ensemble knows them.

    See Also
    --------
    prune : Save memory as well, by dropping members.

    Notes
    -----
    Exact mode stops only if the lead exceeds the sum of the remaining members by more
    than any order of summation can change. Votes with integer weights are counted
    exactly, ties included. If all members were evaluated and the lead is within
    rounding error, the sum is computed again in the ensemble's own order, or the
    ensemble itself predicts. This holds for members whose prediction for a sample does
    not depend on other samples, and whose probabilities are between 0 and 1.

    "bayes" follows Hernández-Lobato, Martínez-Muñoz and Suárez (2009), on the two
    leading classes, with a uniform prior for the share of votes and members in random
    order. The guarantee is an average over samples for which this holds. Forests, extra
    trees and bagging of deep trees meet it if there is something to learn; members that
    all vote nearly at random do not, and neither does boosting, whose votes are close
    on most samples. Probabilities are used as votes, rounded against the leading class:
    correct for deep trees, which are almost always certain, and slow for members that
    never are; prefer "calibrated" for those.

    "calibrated" is conformal risk control (Angelopoulos and others, 2022), or with a
    probability as ``guarantee`` an exact binomial (Clopper-Pearson) limit. Its samples
    must come from the distribution of the data to predict, and must not be those that
    members were trained or chosen on.

    If the ensemble is fitted again in place, or grows, ``predict`` raises
    ``NotFittedError``. Changes of a single member, of weights or of leaves are not
    detected; call ``fit`` again after them.

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
        mode: Mode = "exact",
        confidence: float = 0.999,
        epsilon: float = 0.005,
        order: Any = "auto",
        block_size: int | Literal["auto"] = "auto",
        random_state: Any = None,
        *,
        n_jobs: int | None = None,
        guarantee: Guarantee = "mean",
        engine: Literal["auto", "compiled", "numpy"] = "auto",
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
        """Choose the order, compute tables and calibrate; nothing is trained.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame, optional
            New samples, from the distribution of the data to predict. Mode "calibrated"
            needs them; the others use them to measure how many predictions change, and
            "bayes" warns if there are more than its confidence allows.
        y : array-like of shape (n_samples,), optional
            Not needed, except for lists of classifiers that do not know their classes.
        source : {"auto", "new", "training"}
            Whether X is new or training data. On training data, or if members were
            chosen or distilled on X, there is no guarantee, and a warning is issued.
            See :func:`quorate.prune`.

        Returns
        -------
        LazyClassifier
        """
        check_source(source, "LazyClassifier.fit")
        given, X = read_ensemble(self.ensemble), in_memory(X)
        return self._fit(given, additive_ensemble(given, X, y), X, source)

    def _fit(
        self, given: Ensemble, ensemble: AdditiveEnsemble, X: Any, source: RowSource
    ) -> Self:
        """Fit the sum that an ensemble was read to."""
        self._check_parameters()
        prepared = None if X is None else sliceable(ensemble.prepare(X))
        n_rows = 0 if X is None else count_rows(prepared)
        why_unreliable = ""
        if self.mode == "calibrated":
            check_rows(n_rows, self.epsilon, self.guarantee)
            why_unreliable = source_of(given, prepared, source).why_unreliable
            if not why_unreliable and were_chosen_on([given], X, source):
                why_unreliable = "the members were chosen or distilled on these samples"
            if why_unreliable:
                warn(
                    "LazyClassifier(mode='calibrated'): there is no guarantee, "
                    "because members agree more on samples they were trained or "
                    f"chosen on, and {why_unreliable}.",
                    TrainingVotesWarning,
                )
        reference = None if X is None else ensemble.reference(X, prepared)
        order = self._make_order(ensemble, reference, prepared)
        ends = make_ends(ensemble, order, self.mode, self.block_size)
        stops = make_stops(ensemble, order, ends)
        threshold, expected = None, 0.0
        if self.mode == "calibrated":
            leads = leads_at_stops(ensemble, stops, prepared)
            harmful = harmful_thresholds(leads, stops, np.asarray(reference))
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
        self.order_, self.stops_ = order, ends
        for name in ("n_features_in_", "feature_names_in_"):
            self.__dict__.pop(name, None)
            if hasattr(given.model, name):
                setattr(self, name, getattr(given.model, name))
        voter = self._make_voter(ensemble, stops)
        n_changed = 0
        self.measured_disagreement_: float | None = None
        self.measured_members_: float | None = None
        if reference is not None:
            result = self._evaluate(voter, sliceable(X), prepared)
            changed = result.codes != reference
            n_changed = int(changed.sum())
            self.measured_disagreement_ = float(changed.mean())
            self.measured_members_ = float(result.asked.mean())
        self.expected_disagreement_: float | None = (
            None if why_unreliable else float(expected)
        )
        if self.mode == "bayes":
            in_doubt = self._doubt_bayes(ensemble.is_equal, n_changed, n_rows)
            self.expected_disagreement_ = None if in_doubt else 1 - self.confidence
        return self

    def predict(self, X: Any) -> Array:
        """Predict classes as the ensemble does, up to what the mode allows."""
        voter = self._get_voter()
        few = voter.serve(X)
        if few is not None:
            return np.asarray(self.classes_.take(few[0]))
        found = self._evaluate(voter, *voter.prepare(X), keep_scores=False)
        return np.asarray(self.classes_.take(found.codes))

    def predict_proba(self, X: Any) -> FloatArray:
        """Return the score of each class at the moment of stopping.

        It is the mean over the evaluated members: of probabilities if the ensemble
        averages them, of shares of the weighted vote if it counts votes. Because
        evaluation stops when the predicted class is decided, it is not the ensemble's
        own probability, except with ``mode="all"``.
        """
        voter = self._get_voter()
        result = self._evaluate(voter, *voter.prepare(X))
        return voter.probabilities(result.scores)

    def members_asked(self, X: Any) -> IntArray:
        """Return the number of members evaluated for each sample."""
        voter = self._get_voter()
        return self._evaluate(voter, *voter.prepare(X)).asked

    # Serving

    def compact(self) -> CompactClassifier:
        """Return a compact model with the same predictions, without the ensemble.

        It contains only arrays: it can be pickled, saved by :func:`quorate.save`,
        loaded without trusting a type, and takes little memory. It cannot be fitted,
        pruned, measured or converted, and takes no sparse rows.

        Returns
        -------
        CompactClassifier

        Raises
        ------
        ValueError
            If the members are not all trees, or if a step of a pipeline cannot be part
            of the compact model; :func:`quorate.compact` says which can.
        """
        voter = self._get_voter()
        return compact_ensemble(
            read_ensemble(self.ensemble),
            voter.ensemble,
            mode=voter.mode,
            confidence=voter.confidence,
            order_=self.order_,
            stops_=self.stops_,
            threshold_=self.threshold_,
            expected_disagreement_=self.expected_disagreement_,
        )

    def to_c(self, path: str | os.PathLike[str], name: str = "forest") -> None:
        """Write the model as one C99 file without dependencies.

        It contains the trees, the same kernel, and two functions that give the same
        predictions: ``name_predict(row)`` and ``name_predict_rows(rows, n_rows,
        codes)``, with rows of 32-bit floats and positions in ``name_labels``. Rows are
        not checked. The comment at the top says how much stack they need.

        Compile it with ``-ffp-contract=off``. Under ``-ffast-math``, ``-Ofast`` or
        ``-ffinite-math-only`` it does not compile: leaves are known by a NaN.

        Parameters
        ----------
        path : path
            Output file.
        name : str
            Prefix of the functions, for programs that use several models.

        Raises
        ------
        ValueError
            Where :meth:`compact` is not possible, for a pipeline, if a prediction needs
            more than half a megabyte of stack, as with more than 32,000 classes, or if
            a label cannot be written as a text in C.
        """
        self.compact().to_c(path, name)

    # Voting

    def _evaluate(
        self,
        voter: Voter,
        raw: Any,
        X: Any,
        is_finite: bool = False,
        keep_scores: bool = True,
    ) -> LazyResult:
        """Evaluate prepared rows, in as many parts as there are threads."""
        n_rows, n_parts = count_rows(X), 1
        if n_rows >= 2 * _ROWS_PER_JOB:
            n_parts = min(count_threads(self.n_jobs), n_rows // _ROWS_PER_JOB)
        call = partial(voter.evaluate, is_finite=is_finite, keep_scores=keep_scores)
        if n_parts <= 1:
            return call(raw, X)
        bounds = np.linspace(0, n_rows, n_parts + 1).astype(int)
        slices = [slice(*pair) for pair in pairwise(bounds)]
        results = in_threads(
            n_parts, call, [(cut_rows(raw, part), cut_rows(X, part)) for part in slices]
        )
        parts = [(part.codes, part.asked, part.scores) for part in results]
        return LazyResult(*map(np.concatenate, zip(*parts, strict=True)))

    def _get_voter(self) -> Voter:
        """Return what fit prepared, rebuilt if it was not stored."""
        if "order_" not in self.__dict__:
            check_is_fitted(self)
        classes: Any = getattr(self.ensemble, "classes_", None)
        if member_objects(self.ensemble) != self._members or (
            classes is not self._classes and not np.array_equal(classes, self._classes)
        ):
            raise NotFittedError(
                "LazyClassifier: the ensemble was fitted again or changed after this "
                "was fitted; fit this classifier again."
            )
        voter: Voter | None = self.__dict__.get("_voter")
        if voter is None:
            given = read_ensemble(self.ensemble)
            ensemble = additive_ensemble(given, classes=self.classes_)
            stops = make_stops(ensemble, self.order_, self.stops_)
            voter = self._make_voter(ensemble, stops)
        return voter

    # Fitting

    def _make_voter(self, ensemble: AdditiveEnsemble, stops: Stops) -> Voter:
        self._voter = make_voter(ensemble, stops, self.threshold_, **self._settings)
        self.engine_ = self._voter.engine
        return self._voter

    def _check_parameters(self) -> None:
        owner = type(self).__name__
        count_threads(self.n_jobs)  # refuses what is none
        one_of(owner, "mode", self.mode, MODES)
        one_of(owner, "engine", self.engine, ("auto", "compiled", "numpy"))
        if isinstance(self.order, str):
            one_of(owner, "order", self.order, ("auto", "given", "random"))
        check_number(owner, "epsilon", self.epsilon, least=_LEAST_EPSILON, below=1)
        check_number(owner, "confidence", self.confidence, least=0.5, below=1)
        if self.guarantee != "mean":
            check_number(owner, "guarantee", self.guarantee, least=0.5, below=1)
        if self.block_size != "auto":
            check_number(owner, "block_size", self.block_size, least=1, whole=True)

    def _make_order(
        self, ensemble: AdditiveEnsemble, reference: IntArray | None, X: Any
    ) -> IntArray:
        """Return the order in which members are evaluated.

        ``reference`` contains the ensemble's predictions on the prepared rows X, if
        any.
        """
        n_members, order = ensemble.n_members, self.order
        if self.mode == "bayes" and (ensemble.weights < 0).any():
            raise ValueError(
                "LazyClassifier(mode='bayes'): weights below zero do not correspond to "
                "vote counts; use mode='exact' or 'calibrated'."
            )
        if not isinstance(order, str):
            return check_order(order, n_members)
        if order == "given":
            return np.arange(n_members)
        rng = check_random_state(as_seed(self.random_state, "LazyClassifier"))
        if order == "random":
            return np.asarray(rng.permutation(n_members))
        agreements: FloatArray | float = 1.0
        # An order fitted to the calibration rows would make their leads look safer than
        # those on other rows.
        if self.mode == "exact" and reference is not None and not ensemble.is_equal:
            agreements = ensemble.agreements(reference, X)
        return auto_order(ensemble, self.mode, rng, agreements)

    def _doubt_bayes(self, is_equal: bool, n_changed: int, n_rows: int) -> bool:
        """Warn if the assumptions of "bayes" do not hold, and return whether they fail.

        They hold if the order is independent of the members' quality, all weights are
        equal, and the given rows do not contradict them.
        """
        allowed = 1 - self.confidence
        seen = f"{n_changed} of {n_rows} predictions change"
        problem = ""
        if not isinstance(self.order, str) or self.order == "given":
            problem = (
                "the guarantee holds for members in random order, but this order may "
                f"put the weak ones first{f' ({seen})' if n_rows else ''}; use "
                "order='auto', or mode='calibrated', which allows any order."
            )
        elif not is_equal and (not n_rows or n_changed > allowed * n_rows):
            problem = (
                "the guarantee holds for votes of equal "
                f"weight{f', and {seen}' if n_rows else ''}; use mode='calibrated', "
                "which allows any weights."
            )
        elif n_rows and binom.sf(n_changed - 1, n_rows, allowed) < _UNLIKELY:
            problem = (
                f"{seen}, more than the confidence allows; the members do not vote as "
                "the model assumes, so use mode='calibrated'."
            )
        if problem:
            name = f"LazyClassifier(mode='bayes', confidence={self.confidence})"
            warn(f"{name}: {problem}", QuorateWarning)
        return bool(problem) or not is_equal

    # scikit-learn interface

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters, without those of the fitted ensemble."""
        params: dict[str, Any] = super().get_params(deep=False)
        return params

    def set_params(self, **params: Any) -> Self:
        """Set parameters; those of the fitted ensemble are not accepted."""
        inner = [name for name in params if name.startswith("ensemble__")]
        if inner:
            raise ValueError(
                f"LazyClassifier: {inner[0]!r} would change an ensemble that is "
                "already fitted; fit another one."
            )
        super().set_params(**params)
        return self

    def __quorate_ensemble__(self) -> Any:
        return self.ensemble

    def __sklearn_clone__(self) -> Self:
        # A clone that trained the ensemble again would be another classifier.
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
        state.pop("_voter", None)
        return state
