"""A model that is only what serving needs: trees as arrays, and when to stop."""

import os
import warnings
from functools import partial
from typing import Any, NoReturn, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import validate_data

from quorate._ensembles import Ensemble, read_ensemble
from quorate._typing import Array, FloatArray, IntArray
from quorate.lazy._additive import AdditiveEnsemble
from quorate.lazy._arrays import FORGED, TreeArrays, leaves, pack, unpack
from quorate.lazy._c_source import write_c
from quorate.lazy._ready import Ready, decision_name, make_ready, plan_of
from quorate.lazy._rules import MODES, checked_order, make_stops

_OWNER = "CompactClassifier"
# What is kept beside the trees.
_NUMBERS = ("confidence", "margin", "against")
_TRUTHS = ("divides", "allow_nan")
_ARRAYS = ("weights", "reach", "handicap")
_FACTS = ("margin", "against", "divides", *_ARRAYS)
_LEARNED = ("classes_", "order_", "stops_", "threshold_", "expected_disagreement_")


class CompactClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Predict as a :class:`quorate.LazyClassifier` does, from arrays alone.

    Made by :meth:`quorate.LazyClassifier.compact`. It answers the same from a small
    part of the memory, of the file and of the time to load: a node takes 12 bytes here,
    and in scikit-learn's trees 64 and 8 more for each class. Files written by
    :func:`quorate.save` are loaded without trusting any type, since all that is in them
    is arrays, and every index in them is checked.

    What it cannot do any more: be fitted, pruned, measured or converted to ONNX, since
    it has no members that could be asked one by one; take other parameters; take sparse
    rows. Keep the ensemble if you may need that.

    Attributes
    ----------
    classes_ : ndarray
        The classes.
    mode : str
        When it stops asking, see :class:`quorate.LazyClassifier`.
    n_members_ : int
        Number of trees.
    order_, stops_, threshold_, expected_disagreement_
        As in the :class:`quorate.LazyClassifier` it was made from.
    engine_ : {"compiled", "numpy"}
        What asks the trees, here and now.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of str
        Names of the features, where the ensemble knew them.

    See Also
    --------
    quorate.LazyClassifier.compact : Make one.

    Examples
    --------
    >>> import pickle
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> from quorate import LazyClassifier
    >>> X, y = load_wine(return_X_y=True)
    >>> forest = RandomForestClassifier(50, random_state=0).fit(X, y)
    >>> small = LazyClassifier(forest).fit().compact()
    >>> bool((small.predict(X) == forest.predict(X)).all())
    True
    >>> len(pickle.dumps(small)) < 0.1 * len(pickle.dumps(forest))
    True
    """

    @classmethod
    def from_lazy(cls, lazy: Any, ready: Ready) -> Self:
        """Return what is left of a fitted ``LazyClassifier`` and its ensemble."""
        given, ensemble = read_ensemble(lazy.ensemble), ready.ensemble
        problem = ensemble.why_no_arrays
        if not problem and not given.takes_plain:
            problem = (
                "something changes the rows before the trees see them, such as the "
                "steps of a pipeline; wrap its last step, and put what comes out in "
                "its place"
            )
        if problem or ensemble.arrays is None:
            raise ValueError(f"LazyClassifier.compact: {problem}.")
        facts = {name: getattr(ensemble, name) for name in _FACTS}
        facts |= {name: getattr(lazy, name) for name in _LEARNED}
        facts |= {"mode": ready.mode, "confidence": ready.confidence}
        facts |= {"allow_nan": _takes_missing(given)}
        if hasattr(lazy, "feature_names_in_"):
            facts["feature_names_in_"] = lazy.feature_names_in_
        made = cls()
        made._set(ensemble.arrays(), facts)
        return made

    def predict(self, X: Any) -> Array:
        """Predict classes."""
        codes = self._made().codes(X)
        return np.asarray(self.classes_.take(codes, axis=0))

    def predict_proba(self, X: Any) -> FloatArray:
        """Return the score of each class, as ``LazyClassifier.predict_proba`` does."""
        return self._made().probabilities(X)

    def members_asked(self, X: Any) -> IntArray:
        """Return how many trees are asked about each sample."""
        return self._made().ask(X).asked

    def to_c(self, path: str | os.PathLike[str], name: str = "forest") -> None:
        """Write the model as one C99 file, as ``LazyClassifier.to_c`` does."""
        ready = self._made()
        arrays, numbers = plan_of(self._trees, ready.ensemble, ready.stops, ready.rule)
        how = decision_name(ready.ensemble)
        write_c(path, name, arrays, numbers, self.classes_, how, self.mode)

    def fit(self, X: Any = None, y: Any = None) -> NoReturn:
        """Refuse: there is nothing left to fit to."""
        raise TypeError(
            f"{_OWNER}.fit: the ensemble is gone, only its trees are left; fit a "
            "LazyClassifier to the ensemble and compact that."
        )

    @property
    def engine_(self) -> str:
        """What asks the trees."""
        return self._made().engine

    def _made(self) -> Ready:
        if "_ready" not in self.__dict__:
            raise NotFittedError(f"{_OWNER}: LazyClassifier.compact() makes one.")
        return self._ready

    def _set(self, trees: TreeArrays, given: dict[str, Any]) -> None:
        """Get ready, or refuse what does not fit the trees."""
        facts = _checked(given, trees)
        self._trees, self._facts = trees, facts
        self.mode: str = facts["mode"]
        self.__dict__ |= {name: facts[name] for name in facts if name.endswith("_")}
        self.n_members_ = int(trees.roots.size)
        self.n_features_in_ = trees.n_features
        ensemble = AdditiveEnsemble(
            members=tuple(
                partial(_give, trees, place, float(weight))
                for place, weight in enumerate(facts["weights"])
            ),
            classes=self.classes_,
            prepare=self._check_rows,
            model=None,
            adds_in_order=lambda: True,
            arrays=lambda: trees,
            plain_columns=None if "feature_names_in_" in facts else trees.n_features,
            **{name: facts[name] for name in _FACTS},
        )
        stops = make_stops(ensemble, self.order_, self.stops_)
        settings = {name: facts[name] for name in ("mode", "confidence")}
        self._ready = make_ready(ensemble, stops, self.threshold_, **settings)

    def _check_rows(self, X: Any) -> Array:
        finite = "allow-nan" if self._facts["allow_nan"] else True
        checked = validate_data(
            self, X, dtype=np.float32, reset=False, ensure_all_finite=finite
        )
        return np.ascontiguousarray(checked)

    # Files

    def __getstate__(self) -> dict[str, Any]:
        if "_ready" not in self.__dict__:
            return {}
        return {"trees": pack(self._trees), "facts": self._facts}

    def __setstate__(self, state: dict[str, Any]) -> None:
        if not state:
            return
        try:
            self._set(unpack(state["trees"]), dict(state["facts"]))
        except FORGED as error:
            raise ValueError(f"{_OWNER}: damaged or forged ({error}).") from error

    # What scikit-learn and quorate ask for

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
            f"{_OWNER}: its members are gone, only their arrays are left; use the "
            "ensemble it was made from."
        )


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


def _give(trees: TreeArrays, place: int, weight: float, X: Array) -> FloatArray:
    """Return what one tree adds to each class."""
    held = leaves(trees, place, X)
    given = np.zeros((len(X), trees.n_classes))
    sure = held >= 0
    given[sure, held[sure]] = weight
    given[~sure] = weight * trees.table[~held[~sure]]
    return given


def _checked(facts: dict[str, Any], trees: TreeArrays) -> dict[str, Any]:
    """Return facts in their types, or refuse those that do not fit the trees."""
    n_members = trees.roots.size
    sizes = {
        "weights": n_members,
        "reach": n_members,
        "handicap": trees.n_classes,
        "classes_": trees.n_classes,
        "feature_names_in_": trees.n_features,
    }
    checked: dict[str, Any] = {name: float(facts[name]) for name in _NUMBERS}
    checked |= {name: bool(facts[name]) for name in _TRUTHS}
    checked |= {name: np.array(facts[name], dtype=float) for name in _ARRAYS}
    numbers = np.concatenate([np.ravel(checked[n]) for n in (*_NUMBERS, *_ARRAYS)])
    if not np.isfinite(numbers).all():
        raise ValueError("numbers that are not finite")
    mode, confidence = facts["mode"], checked["confidence"]
    if mode not in MODES:
        raise ValueError(f"mode={mode!r}")
    positive = (checked["weights"] >= 0).all()
    if mode == "bayes" and not (0.5 <= confidence < 1 and positive):
        raise ValueError("mode='bayes' with numbers that do not fit it")
    checked["classes_"] = np.asarray(facts["classes_"])
    if "feature_names_in_" in facts:
        checked["feature_names_in_"] = np.asarray(facts["feature_names_in_"])
    for name, size in sizes.items():
        if name in checked and checked[name].shape != (size,):
            raise ValueError(f"{name} of shape {checked[name].shape}")
    ends = np.array(facts["stops_"], dtype=np.intp)
    rising = ends.ndim == 1 and ends.size > 0 and ends[0] >= 1 and ends[-1] == n_members
    if not rising or (np.diff(ends) < 1).any():
        raise ValueError("stops that are no numbers of members")
    threshold, expected = facts["threshold_"], facts["expected_disagreement_"]
    if mode == "calibrated" or threshold is not None:
        threshold = float(threshold)
    return {
        **checked,
        "mode": str(mode),
        "order_": checked_order(np.asarray(facts["order_"]), n_members),
        "stops_": ends,
        "threshold_": threshold,
        "expected_disagreement_": None if expected is None else float(expected),
    }
