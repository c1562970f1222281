"""What a user gives as ``scoring``, as a scorer of scikit-learn's kind."""

import inspect
import warnings
from functools import partial
from typing import Any

import numpy as np
from sklearn.metrics import get_scorer

from quorate._messages import unknown_name
from quorate._scoring._hidden import LOOKS_INSIDE, HiddenSamples, LooksInside, places_of
from quorate._scoring._known import (
    called,
    function_of,
    is_foreign,
    is_of_scikit_learn,
    known_names,
    name_of,
)
from quorate._scoring._score import Needs
from quorate._typing import Array, IntArray

_WORDS_FOR_PROBABILITIES = ("prob", "score", "share")
_WORDS_FOR_LOSSES = ("_loss", "_error", "_deviance")


def scorer_of(scoring: Any, owner: str) -> tuple[Any, str, bool]:
    """Return a scorer, what it is called, and whether scikit-learn calls it that."""
    if isinstance(scoring, str):
        if is_foreign(scoring):
            raise ValueError(
                f"{owner}(scoring={scoring!r}): not a score of classes but of "
                "something else; 'balanced_accuracy', 'f1_macro' or 'roc_auc_ovr' are "
                "some that fit."
            )
        if scoring not in known_names():
            problem = unknown_name("scoring", scoring, known_names())
            raise ValueError(f"{owner}: {problem}")
        return get_scorer(scoring), scoring, True
    if not callable(scoring):
        raise TypeError(
            f"{owner}(scoring={scoring!r}): a name such as 'balanced_accuracy', a "
            "scorer of sklearn.metrics.make_scorer, or a function of labels and "
            "predictions."
        )
    named, function = name_of(scoring), function_of(scoring)
    if function is None:
        return _scorer_of_function(scoring, owner)
    name = named or called(function)
    if is_of_scikit_learn(function) and is_foreign(name):
        raise ValueError(
            f"{owner}(scoring={name}): not a score of classes but of something "
            "else; a scorer of classifiers fits."
        )
    if named is not None:
        return scoring, named, True
    short = name.removesuffix("_score")
    return scoring, name if short in known_names() else short, False


def _scorer_of_function(function: Any, owner: str) -> tuple[Any, str, bool]:
    name, shown = called(function), shown_scoring(function)
    needed = _needed_parameters(function)
    if len(needed) == 3:  # a scorer by its signature: estimator, X, y
        if _ask(function, np.arange(2)).looks_inside:
            raise ValueError(f"{owner}(scoring={shown}): {LOOKS_INSIDE}.")
        return function, name, False
    if len(needed) != 2:
        raise ValueError(
            f"{owner}(scoring={shown}): a function of labels and predictions takes two "
            f"arguments, a scorer takes estimator, X and y; this one needs "
            f"{len(needed)}."
        )
    if name.endswith(_WORDS_FOR_LOSSES):
        raise ValueError(
            f"{owner}(scoring={shown}): by its name the smaller the better, and a "
            "score is the larger the better; sklearn.metrics.make_scorer with "
            "greater_is_better=False turns it round."
        )
    wants = any(word in needed[1].lower() for word in _WORDS_FOR_PROBABILITIES)
    return FunctionScorer(function, wants), name, False


def _needed_parameters(function: Any) -> list[str]:
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return ["y_true", "y_pred"]
    positional = [
        p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
    ]
    required = [p.name for p in positional if p.default is p.empty]
    # The second of two may have a default, as log_loss has.
    return required if len(required) > 1 else [p.name for p in positional[:2]]


class FunctionScorer:
    """A scorer of a function of labels and predictions, or of probabilities."""

    def __init__(self, function: Any, wants_probabilities: bool) -> None:
        self.function = function
        self.wants_probabilities = wants_probabilities

    def __call__(self, estimator: Any, X: Any, y: Any) -> Any:
        """Ask the estimator, then the function."""
        answer = (
            estimator.predict_proba if self.wants_probabilities else estimator.predict
        )
        return self.function(y, answer(X))


def shown_scoring(scoring: Any) -> str:
    """Return a score as the user gave it, for messages."""
    if isinstance(scoring, str):
        return repr(scoring)
    function = function_of(scoring)
    if isinstance(function, partial):  # which older scikit-learn cannot show
        return f"make_scorer({called(function)})"
    return str(getattr(scoring, "__name__", None) or scoring)


def needs_of_scorer(scorer: Any, classes: Array) -> Needs:
    """Find out what a scorer looks at, by letting it ask."""
    if isinstance(scorer, FunctionScorer):
        return "probabilities" if scorer.wants_probabilities else "labels"
    methods = _ask(scorer, classes).methods
    if "decision_function" in methods:
        return "decision"
    return "probabilities" if "predict_proba" in methods else "labels"


def _ask(scorer: Any, classes: Array) -> "_Asked":
    """Return what a scorer asked for on two samples of each class."""
    asked, y = _Asked(classes), np.tile(classes, 2)
    X = HiddenSamples(np.arange(y.size))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            scorer(asked, X, y)
    except LooksInside:
        asked.looks_inside = True
    except Exception:
        pass  # what it asked for is known all the same
    asked.looks_inside |= bool(X.looks)
    return asked


class _Asked:
    """A classifier that notes what it is asked for, right on half of the samples."""

    _estimator_type = "classifier"

    def __init__(self, classes: Array) -> None:
        self.classes_ = classes
        self.methods: set[str] = set()
        self.looks_inside = False
        places: IntArray = np.arange(classes.size)
        self._said = np.concatenate([places, np.roll(places, 1)])

    def __sklearn_tags__(self) -> Any:
        from sklearn.base import BaseEstimator, ClassifierMixin

        class Plain(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
            pass

        return Plain().__sklearn_tags__()

    def predict(self, X: Any) -> Array:
        self.methods.add("predict")
        return np.asarray(self.classes_[self._said[places_of(X)]])

    def predict_proba(self, X: Any) -> Array:
        self.methods.add("predict_proba")
        return self._shares(X)

    def decision_function(self, X: Any) -> Array:
        self.methods.add("decision_function")
        shares = self._shares(X)
        return shares[:, 1] - 0.5 if self.classes_.size == 2 else shares

    def _shares(self, X: Any) -> Array:
        said = np.eye(self.classes_.size)[self._said[places_of(X)]]
        return np.asarray((said + 1 / self.classes_.size) / 2)
