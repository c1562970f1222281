"""Compact models as scikit-learn classifiers."""

import warnings
from typing import Any, NoReturn, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import validate_data

from quorate._engine import FACTS, Ready
from quorate._ensembles import Ensemble, read_ensemble
from quorate._typing import Array
from quorate.lazy._carried import carried_layers
from quorate.serving import CompactModel

_OWNER = "CompactClassifier"
_LEARNED = ("classes_", "order_", "stops_", "threshold_", "expected_disagreement_")


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

    @classmethod
    def from_lazy(cls, lazy: Any, ready: Ready) -> Self:
        """Create from a fitted ``LazyClassifier`` and its ensemble."""
        given, ensemble = read_ensemble(lazy.ensemble), ready.ensemble
        if ensemble.why_no_arrays or ensemble.arrays is None:
            raise ValueError(f"compact: {ensemble.why_no_arrays}.")
        steps: list[Any] = []
        first = given.core
        if not given.takes_plain:
            steps, first = _first_steps(given.model)
        facts = {name: getattr(ensemble, name) for name in FACTS}
        facts |= {name: getattr(lazy, name) for name in _LEARNED}
        facts |= {"mode": ready.mode, "confidence": ready.confidence}
        facts |= {"allow_nan": _takes_missing(given), "steps": steps}
        facts["n_columns"] = int(first.n_features_in_)
        if hasattr(lazy, "feature_names_in_"):
            facts["feature_names_in_"] = lazy.feature_names_in_
        made = cls()
        made._set(ensemble.arrays(), facts)
        return made

    def fit(self, X: Any = None, y: Any = None) -> NoReturn:
        """Raise an error: a compact model cannot be fitted."""
        raise TypeError(
            f"{_OWNER}.fit: contains only the trees, not the ensemble; fit the "
            "ensemble and compact it again."
        )

    def _empty(self) -> Exception:
        error: Exception = NotFittedError(
            f"{_OWNER}: use quorate.compact() to create one."
        )
        return error

    def _plain_columns(self) -> int | None:
        # scikit-learn compares names with those of training, with a warning.
        has_names = "feature_names_in_" in self.__dict__
        return None if has_names else self.n_features_in_

    def _check_rows(self, X: Any) -> Array:
        if self._facts["steps"]:
            return super()._check_rows(X)  # whose columns may hold text
        finite = "allow-nan" if self._facts["allow_nan"] else True
        checked = validate_data(
            self, X, dtype=np.float32, reset=False, ensure_all_finite=finite
        )
        return np.ascontiguousarray(checked)

    # scikit-learn and quorate interfaces

    def __sklearn_is_fitted__(self) -> bool:
        return "_ready" in self.__dict__

    def __sklearn_clone__(self) -> Self:
        return self  # there is nothing to fit, and nothing that changes

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = bool(
            self.__dict__.get("_facts", {}).get("allow_nan")
        )
        tags.target_tags.required = False
        return tags

    def __quorate_ensemble__(self) -> NoReturn:
        raise TypeError(
            f"{_OWNER}: contains only the arrays of its members; use the ensemble it "
            "was made from."
        )


def _first_steps(model: Any) -> tuple[list[Any], Any]:
    """Return the steps before an ensemble in compact form, and the first one."""
    steps: list[tuple[str, Any]] = []
    while isinstance(model, (Pipeline, FrozenEstimator)):
        if isinstance(model, Pipeline):
            steps += model.steps[:-1]
        model = model.estimator if isinstance(model, FrozenEstimator) else model[-1]
    if not read_ensemble(model).takes_plain:
        raise ValueError(
            f"compact: {type(model).__name__} changes the rows before they reach its "
            "trees; compact the ensemble inside, and pass it preprocessed rows."
        )
    known = [step for _, step in steps if hasattr(step, "n_features_in_")]
    return carried_layers(steps), (*known, model)[0]


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
