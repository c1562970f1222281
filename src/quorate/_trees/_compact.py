"""Compact models: from a fitted ensemble, and as scikit-learn classifiers."""

import warnings
from typing import Any, Literal, NoReturn, Self, TypeAlias, get_args

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import validate_data

from quorate._engine import (
    STORED_FIELDS,
    AdditiveEnsemble,
    auto_order,
    make_ends,
)
from quorate._ensembles import Ensemble, read_ensemble
from quorate._messages import warn
from quorate._trees._read import read_trees, why_no_trees
from quorate._trees._steps import first_steps
from quorate._typing import Array
from quorate.exceptions import QuorateWarning
from quorate.serving import CompactModel

CompactMode: TypeAlias = Literal["exact", "bayes", "all"]
_OWNER = "CompactClassifier"
_CONFIDENCE = 0.999


class CompactClassifier(ClassifierMixin, CompactModel, BaseEstimator):  # type: ignore[misc]
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

    _not_created = NotFittedError
    _expects_names = True  # scikit-learn warns if arrays come without names

    def fit(self, X: Any = None, y: Any = None) -> NoReturn:
        """Raise an error: a compact model cannot be fitted."""
        raise TypeError(
            f"{_OWNER}.fit: contains only the trees, not the ensemble; fit the "
            "ensemble and compact it again."
        )

    def _check_rows(self, X: Any) -> Array:
        if self._metadata["steps"] or isinstance(X, (list, tuple)):
            return super()._check_rows(X)  # columns of text, or rows of a file
        finite = "allow-nan" if self._metadata["allow_nan"] else True
        checked = validate_data(
            self, X, dtype=np.float32, reset=False, ensure_all_finite=finite
        )
        return np.ascontiguousarray(checked)

    # scikit-learn and quorate interfaces

    def __sklearn_is_fitted__(self) -> bool:
        return "_voter" in self.__dict__

    def __sklearn_clone__(self) -> Self:
        return self  # there is nothing to fit, and nothing that changes

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = bool(
            self.__dict__.get("_metadata", {}).get("allow_nan")
        )
        tags.target_tags.required = False
        return tags

    def __quorate_ensemble__(self) -> NoReturn:
        raise TypeError(
            f"{_OWNER}: contains only the arrays of its members; use the ensemble it "
            "was made from."
        )


def compact(model: Any, mode: CompactMode = "exact") -> CompactClassifier:
    """Return the smallest and fastest model that predicts the same as a fitted one.

    It contains trees as arrays and nothing else. ``predict`` stops evaluating trees as
    soon as the prediction is decided; ``predict_proba`` evaluates all of them and
    equals the model's own up to rounding. :func:`quorate.save` writes it to a file
    which :func:`quorate.serving.load` reads with NumPy alone.

    Parameters
    ----------
    model : fitted ensemble of trees
        A random forest, extra trees, bagging or AdaBoost of trees; one that
        :func:`quorate.prune` or :func:`quorate.distil` returned; a fitted
        :class:`quorate.PrunedClassifier`; a fitted :class:`quorate.LazyClassifier`,
        which has its own mode; or a pipeline that ends in one of these and begins with
        imputers, scalers, one-hot and ordinal encoders of scikit-learn, or a
        ``ColumnTransformer`` of them.
    mode : {"exact", "bayes", "all"}
        When ``predict`` stops. "exact": when the remaining trees cannot change the
        prediction. "bayes": when that is very unlikely, 1 in 1000 by the model
        described in :class:`quorate.LazyClassifier`. "all": never.

    Returns
    -------
    CompactClassifier

    Raises
    ------
    ValueError
        If the members are not all trees, or if a step of a pipeline cannot be part of
        the compact model; the message names it.

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
    if isinstance(model, CompactClassifier):
        return model
    if hasattr(model, "compact"):  # a LazyClassifier
        own: CompactClassifier = model.compact()
        return own
    if mode not in get_args(CompactMode):
        raise ValueError(
            f"compact(mode={mode!r}): must be 'exact', 'bayes' or 'all'; for "
            "'calibrated', fit a LazyClassifier to rows and compact it."
        )
    ensemble = read_ensemble(model)
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
    return compact_ensemble(
        ensemble,
        additive,
        mode=mode,
        confidence=_CONFIDENCE,
        order_=order,
        stops_=make_ends(additive, order, mode),
        threshold_=None,
        expected_disagreement_=expected,
    )


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
        "allow_nan": _takes_missing(ensemble),
        "steps": steps,
        "n_columns": int(first.n_features_in_),
    }
    if hasattr(ensemble.model, "feature_names_in_"):
        metadata["feature_names_in_"] = ensemble.model.feature_names_in_
    model = CompactClassifier()
    model._set(additive.trees, metadata)
    return model


def _takes_missing(ensemble: Ensemble) -> bool:
    """Return whether an ensemble accepts missing values, by trying one."""
    row = np.zeros((1, ensemble.core.n_features_in_))
    row[0, 0] = np.nan
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the row has no names
        try:
            ensemble.core.predict(row)
        except ValueError:
            return False
    return True
