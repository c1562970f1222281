"""Compact models: from a fitted ensemble, and as scikit-learn classifiers."""

import warnings
from typing import Any, Literal, NoReturn, Self, TypeAlias, TypeVar, cast, get_args

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.calibration import CalibratedClassifierCV
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import validate_data

from quorate._engine import (
    STORED_FIELDS,
    AdditiveEnsemble,
    auto_order,
    make_ends,
)
from quorate._ensembles import Ensemble, find_kind, read_ensemble
from quorate._messages import warn
from quorate._serving import CompactModel, SumAnswers
from quorate._trees._boosters import TreeSum
from quorate._trees._check import check_answers
from quorate._trees._read import read_trees, why_no_trees
from quorate._trees._steps import first_steps, split_steps, steps_before
from quorate._trees._sums import read_sums
from quorate._typing import Array
from quorate.exceptions import QuorateWarning

CompactMode: TypeAlias = Literal["exact", "bayes", "all"]
_CONFIDENCE = 0.999
_Small = TypeVar("_Small", bound="_CompactEstimator")


class _CompactEstimator(CompactModel, BaseEstimator):  # type: ignore[misc]
    """What scikit-learn and quorate expect of an estimator."""

    n_rows_checked_: int
    _not_created = NotFittedError
    _expects_names = True  # scikit-learn warns if arrays come without names

    @classmethod
    def _class_for(cls, classifies: bool) -> type[Any]:
        return CompactClassifier if classifies else CompactRegressor

    def fit(self, X: Any = None, y: Any = None) -> NoReturn:
        """Raise an error: a compact model cannot be fitted."""
        raise TypeError(
            f"{type(self).__name__}.fit: contains only the trees, not the ensemble; "
            "fit the ensemble and compact it again."
        )

    def _check_rows(self, X: Any) -> Array:
        if self._metadata["steps"] or isinstance(X, (list, tuple, dict)):
            return super()._check_rows(X)  # columns of text, or rows of a file
        names = list(getattr(X, "columns", ()))
        if self._form.known_names(names) != names:
            return super()._check_rows(X)
        finite = "allow-nan" if self._metadata["allow_nan"] else True
        checked = validate_data(
            self,
            X,
            dtype=np.float64 if self._is_wide else np.float32,
            reset=False,
            ensure_all_finite=not self._takes_infinity and finite,
        )
        return np.ascontiguousarray(checked)

    def __sklearn_is_fitted__(self) -> bool:
        return "_form" in self.__dict__

    def __sklearn_clone__(self) -> Self:
        return self  # there is nothing to fit, and nothing that changes

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = bool(
            self.__dict__.get("_metadata", {}).get("allow_nan")
        )
        tags.target_tags.required = False
        return tags


class CompactClassifier(ClassifierMixin, _CompactEstimator):  # type: ignore[misc]
    """Predict as a fitted ensemble does, from arrays alone.

    Created by :func:`quorate.compact`. It gives the ensemble's predictions with a
    fraction of the memory, file size and loading time: a node takes 12 bytes in memory
    and about 3 in a file, against 64 plus 8 per class in scikit-learn's trees.
    :func:`quorate.save` writes it to a file of arrays, in which every index is checked
    on loading. :func:`quorate.serving.load` reads the same file with NumPy alone.

    It cannot be fitted, pruned, measured or converted to ONNX, has no parameters, and
    takes no sparse rows. Keep the ensemble if you may need that.

    Attributes
    ----------
    classes_ : ndarray
        The classes.
    mode : str
        When it stops evaluating trees; see :class:`quorate.LazyClassifier`.
    n_members_ : int
        Number of trees.
    order_, stops_, threshold_, expected_disagreement_
        As in the :class:`quorate.LazyClassifier` it was made from.
    engine_ : {"compiled", "numpy"}
        What evaluates the trees in this environment.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of str
        Names of the features, if the ensemble knew them.
    n_rows_checked_ : int
        Number of rows on which :func:`quorate.compact` compared its answers with those
        of the model; files do not store it.

    See Also
    --------
    quorate.compact : Create a compact model.
    quorate.serving.load : Load its file with NumPy alone.

    Examples
    --------
    >>> import pickle
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> import quorate
    >>> X, y = load_wine(return_X_y=True)
    >>> forest = RandomForestClassifier(50, random_state=0).fit(X, y)
    >>> small = quorate.compact(forest)
    >>> bool((small.predict(X) == forest.predict(X)).all())
    True
    >>> len(pickle.dumps(small)) < 0.05 * len(pickle.dumps(forest))
    True
    """


class CompactRegressor(RegressorMixin, _CompactEstimator):  # type: ignore[misc]
    """Predict numbers as a fitted model does, from arrays alone.

    Created by :func:`quorate.compact` from regression forests and trees, gradient
    boosting, and boosters of XGBoost and LightGBM, which predict numbers even where
    they were trained on classes.

    Attributes
    ----------
    n_members_ : int
        Number of trees.
    engine_ : {"compiled", "numpy"}
        What evaluates the trees in this environment.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of str
        Names of the features, if the model knew them.
    n_rows_checked_ : int
        Number of rows on which :func:`quorate.compact` compared its answers with those
        of the model; files do not store it.

    See Also
    --------
    quorate.compact : Create a compact model.
    quorate.serving.load : Load its file with NumPy alone.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.ensemble import RandomForestRegressor
    >>> import quorate
    >>> X, y = load_diabetes(return_X_y=True)
    >>> forest = RandomForestRegressor(20, random_state=0).fit(X, y)
    >>> small = quorate.compact(forest)
    >>> small
    <CompactRegressor: 20 trees>
    >>> bool((abs(small.predict(X) - forest.predict(X)) < 1e-9).all())
    True
    """


def compact(
    model: Any, mode: CompactMode = "exact", X: Any = None
) -> CompactClassifier | CompactRegressor:
    """Return the smallest and fastest model that predicts the same as a fitted one.

    It contains trees as arrays and nothing else. Where trees vote, ``predict`` stops
    evaluating them as soon as the prediction is decided; ``predict_proba`` evaluates
    all of them and equals the model's own up to rounding. Where trees add up, in
    boosted trees and regressors, all are evaluated: classes are the model's own, and
    numbers differ by 1e-12 at most, relatively, or 1e-6 where the model itself
    calculates in 32 bits, as XGBoost does. :func:`quorate.save` writes it to a file
    which :func:`quorate.serving.load` reads with NumPy alone.

    Parameters
    ----------
    model : fitted model of trees
        A random forest, extra trees, bagging or AdaBoost of trees; one that
        :func:`quorate.prune` or :func:`quorate.distil` returned; a fitted
        :class:`quorate.PrunedClassifier`; a fitted :class:`quorate.LazyClassifier`,
        which has its own mode; a forest or bagging of regression trees, gradient
        boosting or a single tree of scikit-learn; a classifier, regressor or booster
        of LightGBM or XGBoost; or a pipeline that ends in one of these and begins with
        imputers, scalers, one-hot and ordinal encoders of scikit-learn, or a
        ``ColumnTransformer`` of them. Histogram gradient boosting, LightGBM and XGBoost
        are read by treelite (``pip install 'quorate[boosters]'``), which serving does
        not need.
    mode : {"exact", "bayes", "all"}
        When ``predict`` stops, where trees vote. "exact": when the remaining trees
        cannot change the prediction. "bayes": when that is very unlikely, 1 in 1000 by
        the model described in :class:`quorate.LazyClassifier`. "all": never.
    X : array-like or data frame, optional
        Rows on which to compare the answers, beside the few hundred that are made from
        the model's own thresholds and categories.

    Returns
    -------
    CompactClassifier or CompactRegressor
        It answers all these rows as the model does: ``n_rows_checked_`` says how many.

    Raises
    ------
    TypeError
        If it is not a model of trees.
    ValueError
        If the members are not all trees, if a step of a pipeline cannot be part of the
        compact model, or if an answer would differ; the message says which.

    See Also
    --------
    quorate.serving.load : Read its file where there is only NumPy.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.ensemble import ExtraTreesClassifier
    >>> import quorate
    >>> X, y = load_wine(return_X_y=True)
    >>> trees = ExtraTreesClassifier(50, random_state=0).fit(X, y)
    >>> small = quorate.compact(trees)
    >>> small
    <CompactClassifier: 50 trees, 3 classes, mode 'exact'>
    >>> bool((small.predict(X) == trees.predict(X)).all())
    True
    """
    if isinstance(model, (CompactClassifier, CompactRegressor)):
        return model
    if hasattr(model, "compact"):  # a LazyClassifier
        own: CompactClassifier = model.compact()
        # Its own probabilities are those at the moment of stopping.
        return _checked(model.ensemble, own, X)
    if mode not in get_args(CompactMode):
        raise ValueError(
            f"compact(mode={mode!r}): must be 'exact', 'bayes' or 'all'; for "
            "'calibrated', fit a LazyClassifier to rows and compact it."
        )
    core, steps = split_steps(model)
    if isinstance(core, CalibratedClassifierCV):
        raise TypeError(
            "compact: a compact model has no calibrators, which change the "
            "probabilities of a CalibratedClassifierCV; compact the estimator of each "
            "of its calibrated_classifiers_, and apply the calibrators to that."
        )
    sums = read_sums(core)
    if sums is not None:
        if mode == "bayes":
            raise ValueError(
                f"compact(mode='bayes'): votes can stop early, but the trees of a "
                f"{type(core).__name__} add up; leave mode out."
            )
        answers, found = sums
        found.asked = found.asked or core
        added = _compact_sums(answers, found, *steps_before(core, steps))
        asked = model if steps else found.asked
        return _checked(asked, added, X, found.tolerance)
    try:
        ensemble = read_ensemble(model)
    except TypeError:
        if isinstance(core, type) or find_kind(core) is not None:
            raise
        has_parts = hasattr(core, "estimators_")
        raise TypeError(
            f"compact: {type(core).__name__} cannot be read as trees; pass a fitted "
            "tree, forest, bagging of trees, AdaBoostClassifier or gradient boosting "
            "of scikit-learn, LightGBM or XGBoost"
            f"{', or compact each of its estimators_ on its own' * has_parts}."
        ) from None
    problem = why_no_trees(ensemble)
    if problem or ensemble.classes is None:
        raise ValueError(f"compact: {problem}.")
    additive = read_trees(ensemble, np.asarray(ensemble.classes))
    expected: float | None = 0.0
    if mode == "bayes":
        expected = 1 - _CONFIDENCE if additive.is_equal else None
    if expected is None:
        warn(
            "compact(mode='bayes'): the guarantee holds for votes of equal weight; "
            "fit a LazyClassifier with mode='calibrated', which allows any weights, "
            "and compact it.",
            QuorateWarning,
        )
    # A fixed seed: the same model gives the same file.
    order = auto_order(additive, mode, np.random.RandomState(0))
    small = compact_ensemble(
        ensemble,
        additive,
        mode=mode,
        confidence=_CONFIDENCE,
        order_=order,
        stops_=make_ends(additive, order, mode),
        threshold_=None,
        expected_disagreement_=expected,
    )
    return _checked(model, small, X)


def _checked(model: Any, small: _Small, X: Any, tolerance: float = 1e-12) -> _Small:
    """Return the compact form, unless it does not answer as the model does."""
    small.n_rows_checked_ = check_answers(
        model, small.as_loaded(), X=X, tolerance=tolerance
    )
    return small


def compact_ensemble(
    ensemble: Ensemble, additive: AdditiveEnsemble, **schedule: Any
) -> CompactClassifier:
    """Return the compact model of an ensemble whose trees have been read.

    Parameters
    ----------
    schedule
        Mode and confidence, and the fitted attributes of early exit.
    """
    if additive.trees is None:
        raise ValueError(f"compact: {additive.why_no_trees}.")
    steps, first = first_steps(ensemble)
    metadata = {
        **schedule,
        **{name: getattr(additive, name) for name in STORED_FIELDS},
        "classes_": additive.classes,
        "allow_nan": _takes_missing(ensemble.core, ensemble.core.n_features_in_),
        "steps": steps,
        "n_columns": int(first.n_features_in_),
    }
    if hasattr(ensemble.model, "feature_names_in_"):
        metadata["feature_names_in_"] = ensemble.model.feature_names_in_
    model = CompactClassifier()
    model._set(additive.trees, metadata)
    return model


def _compact_sums(
    answers: SumAnswers, found: TreeSum, steps: list[Any], first: Any
) -> CompactClassifier | CompactRegressor:
    """Return the compact model of trees that add up."""
    n_features = found.n_features
    is_booster = found.wide or found.single
    metadata: dict[str, Any] = {
        "allow_nan": is_booster or _takes_missing(found.asked, n_features),
        "steps": steps + found.steps,
        "n_columns": int(first.n_features_in_) if steps else n_features,
    }
    names = getattr(first, "feature_names_in_", None) if steps else found.names
    if names is not None:
        metadata["feature_names_in_"] = names
    small: Any = (CompactRegressor if found.classes is None else CompactClassifier)()
    small._set_sums(answers, metadata)
    return cast(CompactClassifier | CompactRegressor, small)


def _takes_missing(model: Any, n_features: int) -> bool:
    """Return whether a model accepts missing values, by trying one."""
    row = np.zeros((1, n_features))
    row[0, 0] = np.nan
    with warnings.catch_warnings(action="ignore"):  # the row has no names
        try:
            model.predict(row)
        except ValueError:
            return False
    return True
