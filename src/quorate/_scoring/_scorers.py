"""Convert the argument ``scoring`` to a scikit-learn scorer.

A scorer calls an estimator on samples. Only predictions are available here, so it gets
an estimator that replays them.
"""

import inspect
import re
import warnings
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import get_scorer, get_scorer_names, make_scorer

from quorate._messages import unknown_name
from quorate._scoring._score import Needs, Score
from quorate._typing import Array, FloatArray, IntArray
from quorate._votes import Prediction

# Scores of scikit-learn that are not for classifiers, in any version.
_FOREIGN = re.compile(
    r"(r2|explained_variance)(_score)?|.*(error|deviance)(_score)?|.*_samples"
    r"|d2_(absolute|pinball|tweedie).*|.*(rand_score|mutual_info_score|mallows_score)"
    r"|(homogeneity|completeness|v_measure)_score"
)
_NEEDS: dict[object, Needs] = {
    "predict": "labels",
    "predict_proba": "probabilities",
    "decision_function": "decision",
}
_WORDS_FOR_PROBABILITIES = ("prob", "score", "share")
_WORDS_FOR_LOSSES = ("_loss", "_error", "_deviance")


# Names


def known_names() -> list[str]:
    """Return the names of scores for classifiers."""
    return [name for name in get_scorer_names() if not _FOREIGN.fullmatch(name)]


def name_of(scorer: Any) -> str | None:
    """Return scikit-learn's name for a scorer, or None.

    Functions of the same name may differ, so function, parameters and sign are
    compared.
    """
    function = _function_of(scorer)
    if function is None:
        return None
    for name in get_scorer_names():
        own = get_scorer(name)
        if _function_of(own) is function and vars(own) == vars(scorer):
            return str(name)
    return None


def _function_of(scorer: Any) -> Any:
    """Return the function in a scorer of ``make_scorer``, or None."""
    if not isinstance(scorer, type(get_scorer("accuracy"))):
        return None
    return next(part for part in vars(scorer).values() if callable(part))


def _name_and_origin(function: Any) -> tuple[str, bool]:
    """Return what a function is called, and whether it is one of scikit-learn's.

    A user's own function never gets the name of one of scikit-learn's.

    Examples
    --------
    >>> from quorate._scoring._scorers import _name_and_origin
    >>> def accuracy(y, predicted): ...
    >>> def gain_score(y, predicted): ...
    >>> _name_and_origin(accuracy), _name_and_origin(gain_score)
    (('own_accuracy', False), ('gain_score', False))
    """
    while isinstance(function, partial):
        function = function.func
    name = str(getattr(function, "__name__", type(function).__name__))
    module = str(getattr(function, "__module__", ""))
    is_own = module.partition(".")[0] != "sklearn"
    taken = is_own and name in get_scorer_names()
    return f"own_{name}" if taken else name, not is_own


def shown_scoring(scoring: Any) -> str:
    """Return a score as given by the user, for messages."""
    if isinstance(scoring, str):
        return repr(scoring)
    function = _function_of(scoring)
    if isinstance(function, partial):  # which older scikit-learn cannot show
        return f"make_scorer({_name_and_origin(function)[0]})"
    return str(getattr(scoring, "__name__", None) or scoring)


# Scorers


def scorer_of(scoring: Any, owner: str) -> tuple[Any, str, bool]:
    """Return a scorer, its name, and whether this is scikit-learn's name."""
    if isinstance(scoring, str):
        _refuse_foreign(scoring, repr(scoring), owner)
        if scoring not in known_names():
            problem = unknown_name("scoring", scoring, known_names())
            raise ValueError(f"{owner}: {problem}")
        return get_scorer(scoring), scoring, True
    if not callable(scoring):
        raise TypeError(
            f"{owner}(scoring={scoring!r}): must be a name such as "
            "'balanced_accuracy', a scorer of sklearn.metrics.make_scorer, or a "
            "function of labels and predictions."
        )
    named, function = name_of(scoring), _function_of(scoring)
    if function is None:
        _refuse_unlike_predictions(scoring, owner)
        return make_scorer(scoring), _name_and_origin(scoring)[0], False
    name, is_of_scikit_learn = _name_and_origin(function)
    if is_of_scikit_learn:
        _refuse_foreign(named or name, named or name, owner)
    if named is not None:
        return scoring, named, True
    short = name.removesuffix("_score")
    return scoring, name if short in known_names() else short, False


def _refuse_foreign(name: str, shown: str, owner: str) -> None:
    if _FOREIGN.fullmatch(name):
        raise ValueError(
            f"{owner}(scoring={shown}): not a classification score; use one such as "
            "'balanced_accuracy', 'f1_macro' or 'roc_auc_ovr'."
        )


def _refuse_unlike_predictions(function: Any, owner: str) -> None:
    """Raise an error unless a function takes labels and predicted labels."""
    asker = f"{owner}(scoring={shown_scoring(function)})"
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return  # not written in Python
    positional = [
        p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
    ]
    n_needed = sum(p.default is p.empty for p in positional)
    if n_needed > 2 or len(positional) < 2:
        raise ValueError(
            f"{asker}: a function of labels and predictions must have two arguments; "
            f"this one needs {n_needed}."
        )
    if _name_and_origin(function)[0].endswith(_WORDS_FOR_LOSSES):
        raise ValueError(
            f"{asker}: the name suggests a loss, but larger scores must be better; use "
            "sklearn.metrics.make_scorer with greater_is_better=False."
        )
    second = positional[1].name
    if any(word in second.lower() for word in _WORDS_FOR_PROBABILITIES):
        raise ValueError(
            f"{asker}: a function gets predicted labels, but the argument {second!r} "
            "suggests probabilities; use sklearn.metrics.make_scorer with "
            "response_method='predict_proba'."
        )


def needs_of_scorer(scorer: Any) -> Needs:
    """Return the outputs that a scorer of ``make_scorer`` uses.

    Examples
    --------
    >>> from sklearn.metrics import get_scorer
    >>> [needs_of_scorer(get_scorer(name)) for name in ("f1_macro", "roc_auc")]
    ['labels', 'decision']
    """
    for part in vars(scorer).values():
        # Of several methods, scikit-learn prefers the first.
        first = part[0] if isinstance(part, (tuple, list)) and part else part
        if isinstance(first, str) and first in _NEEDS:
            return _NEEDS[first]
    return "labels"


# Replayed predictions


class _ReplayedPredictions(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier that returns stored predictions, whatever the samples."""

    def __init__(self, classes: Array, labels: Array, shares: FloatArray) -> None:
        self.classes_, self.labels, self.shares = classes, labels, shares

    def predict(self, X: Any) -> Array:
        return self.labels

    def predict_proba(self, X: Any) -> FloatArray:
        return self.shares


def evaluate(
    scorer: Any, classes: Array, codes: IntArray, shares: FloatArray, y: IntArray
) -> float:
    """Return a scorer's value for predictions; shares only if it uses them."""
    if not y.size:
        return np.nan
    if shares.size and shares.min() >= 0:  # not what a decision function says
        # Rounding can move means of ones above 1, which scikit-learn rejects.
        shares = np.minimum(shares, 1.0)
    model = _ReplayedPredictions(classes, classes[codes], shares)
    with warnings.catch_warnings(action="ignore"):  # small sizes predict few classes
        return float(scorer(model, y[:, None], classes[y]))


@dataclass(frozen=True, slots=True, eq=False, kw_only=True, repr=False)
class EvaluatedScore(Score):
    """A score computed by its scorer for every prediction.

    Samples without votes are left out if only classes are used. Nothing else is assumed
    about a user's own score.
    """

    scorer: Any
    is_own: bool

    def inputs(self, prediction: Prediction) -> Array:
        """See :class:`Score`."""
        codes = prediction.codes()
        if not self.needs_shares:
            return codes
        return np.column_stack([codes, prediction.shares()])

    def value(self, inputs: Array, y: IntArray) -> float:
        """See :class:`Score`."""
        if self.needs_shares:
            codes, shares = inputs[:, 0].astype(np.intp), inputs[:, 1:]
        else:
            voted = inputs >= 0
            codes, shares, y = inputs[voted], np.empty((0, 0)), y[voted]
        return evaluate(self.scorer, self.classes, codes, shares, y)
