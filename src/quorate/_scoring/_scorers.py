"""Convert the argument ``scoring`` to a scikit-learn scorer.

A scorer calls an estimator on samples. Only predictions are available here, so it gets
an estimator that replays them, and samples that it cannot read.
"""

import inspect
import re
import warnings
from dataclasses import dataclass
from functools import partial
from typing import Any, NoReturn

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import get_scorer, get_scorer_names

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
_PROBABILITIES = re.compile(r"neg_(log_loss|brier_score)|roc_auc_ov.*|d2_(log|brier).*")
_RANKINGS = ("roc_auc", "average_precision", "top_k_accuracy")
_WORDS_FOR_PROBABILITIES = ("prob", "score", "share")
_WORDS_FOR_LOSSES = ("_loss", "_error", "_deviance")


# Names


def known_names() -> list[str]:
    """Return the names of scores for classifiers."""
    return [name for name in get_scorer_names() if not _FOREIGN.fullmatch(name)]


def needs_of(name: str) -> Needs:
    """Return the outputs that a named score uses."""
    if _PROBABILITIES.fullmatch(name):
        return "probabilities"
    return "decision" if name in _RANKINGS else "labels"


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


def _called(function: Any) -> tuple[str, bool]:
    """Return what a function is called, and whether it is one of scikit-learn's.

    A user's own function never gets the name of one of scikit-learn's.

    Examples
    --------
    >>> from quorate._scoring._scorers import _called
    >>> def accuracy(y, predicted): ...
    >>> def gain_score(y, predicted): ...
    >>> _called(accuracy), _called(gain_score)
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
        return f"make_scorer({_called(function)[0]})"
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
        return _scorer_of_function(scoring, owner)
    name, is_of_scikit_learn = _called(function)
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


def _scorer_of_function(function: Any, owner: str) -> tuple[Any, str, bool]:
    (name, _), shown = _called(function), shown_scoring(function)
    needed = _needed_parameters(function)
    if len(needed) == 3:  # a scorer by its signature: estimator, X, y
        if _ask(function, np.arange(2))[1]:
            raise ValueError(f"{owner}(scoring={shown}): {LooksInside()}.")
        return function, name, False
    if len(needed) != 2:
        raise ValueError(
            f"{owner}(scoring={shown}): a function of labels and predictions must have "
            "two arguments, and a scorer estimator, X and y; this one needs "
            f"{len(needed)}."
        )
    if name.endswith(_WORDS_FOR_LOSSES):
        raise ValueError(
            f"{owner}(scoring={shown}): the name suggests a loss, but larger scores "
            "must be better; use sklearn.metrics.make_scorer with "
            "greater_is_better=False."
        )
    wants = any(word in needed[1].lower() for word in _WORDS_FOR_PROBABILITIES)
    method = "predict_proba" if wants else "predict"
    return partial(_score_answers, function, method), name, False


def _score_answers(function: Any, method: str, estimator: Any, X: Any, y: Any) -> Any:
    return function(y, getattr(estimator, method)(X))


def _needed_parameters(function: Any) -> list[str]:
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return ["y_true", "y_pred"]
    positional = [
        p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
    ]
    required = [p.name for p in positional if p.default is p.empty]
    # The second of two may have a default, as in log_loss.
    return required if len(required) > 1 else [p.name for p in positional[:2]]


def needs_of_scorer(scorer: Any, classes: Array) -> Needs:
    """Find out which outputs a scorer uses, by calling it."""
    if isinstance(scorer, partial) and scorer.func is _score_answers:
        methods = {scorer.args[1]}
    else:
        methods, _ = _ask(scorer, classes)
    if "decision_function" in methods:
        return "decision"
    return "probabilities" if "predict_proba" in methods else "labels"


# Replayed predictions


class LooksInside(AttributeError, ValueError):
    """Error raised if a scorer accesses the contents of samples.

    Also an ``AttributeError``, so that a scorer may still test for attributes.
    """

    def __init__(self) -> None:
        super().__init__(
            "the score uses the samples themselves, of which only labels and "
            "predictions are available; pass a function of labels and predictions"
        )


class HiddenSamples(NDArrayOperatorsMixin):
    """A placeholder for X that only knows which samples it stands for.

    It has a length and can be indexed by rows. Numbers would be mistaken for features.

    Parameters
    ----------
    places : array of int
        Which samples, as positions among the answers.

    Examples
    --------
    >>> import numpy as np
    >>> from quorate._scoring._scorers import HiddenSamples
    >>> X = HiddenSamples(np.arange(5))
    >>> len(X), X[np.array([True, False, False, True, False])].places.tolist()
    (5, [0, 3])
    >>> X[:, 0]
    Traceback (most recent call last):
    ...
    quorate._scoring._scorers.LooksInside: the score uses the samples ...
    """

    def __init__(self, places: IntArray) -> None:
        self.places = places

    def __len__(self) -> int:
        return int(self.places.size)

    def __getitem__(self, rows: Any) -> "HiddenSamples":
        """Return a subset of the samples."""
        if isinstance(rows, (list, np.ndarray)):
            rows = np.asarray(rows)
        one_by_one = getattr(rows, "ndim", 0) == 1 and rows.dtype.kind in "biu"
        if not (one_by_one or isinstance(rows, slice)):
            raise LooksInside
        return HiddenSamples(self.places[rows])

    def __getattr__(self, name: str) -> NoReturn:
        raise LooksInside

    def _refuse(self, *given: Any, **more: Any) -> NoReturn:
        raise LooksInside

    __iter__ = __array__ = __array_ufunc__ = __array_function__ = _refuse


class _Answers(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier that replays predictions, and records which outputs are used.

    Parameters
    ----------
    classes : array
        The labels, sorted.
    answers : dict from str to array
        What its methods return, such as ``{"predict": labels}``; it has no others.
    """

    def __init__(self, classes: Array, answers: dict[str, Array]) -> None:
        self.classes_, self.answers = classes, answers
        self.asked: set[str] = set()

    def __getattr__(self, name: str) -> Any:
        if name not in vars(self).get("answers", ()):
            raise AttributeError(name)

        def repeat(X: Any) -> Array:
            self.asked.add(name)
            if not isinstance(X, HiddenSamples):
                raise LooksInside
            return self.answers[name][X.places]

        repeat.__name__ = name  # by which scikit-learn goes
        return repeat


def _ask(scorer: Any, classes: Array) -> tuple[set[str], bool]:
    """Return which outputs a scorer uses, and whether it reads the samples.

    It is called on two samples of each class, half of them predicted correctly.
    """
    places: IntArray = np.arange(classes.size)
    codes = np.concatenate([places, np.roll(places, 1)])
    shares = (np.eye(classes.size)[codes] + 1 / classes.size) / 2
    answers = {
        "predict": classes[codes],
        "predict_proba": shares,
        "decision_function": shares[:, 1] if classes.size == 2 else shares,
    }
    model, looks = _Answers(classes, answers), False
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            scorer(model, HiddenSamples(np.arange(codes.size)), np.tile(classes, 2))
    except LooksInside:
        looks = True
    except Exception:
        pass  # what it asked for is known all the same
    return model.asked, looks


def evaluate(
    scorer: Any, classes: Array, codes: IntArray, shares: FloatArray, y: IntArray
) -> float:
    """Return a scorer's value for predictions; shares only if it uses them."""
    if not y.size:
        return np.nan
    if shares.size and shares.min() >= 0:  # not what a decision function says
        # Rounding can move means of ones above 1, which scikit-learn rejects.
        shares = np.minimum(shares, 1.0)
    answers: dict[str, Array] = {"predict": classes[codes]}
    if shares.size:
        answers["predict_proba"] = shares
    model = _Answers(classes, answers)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # small sizes predict few classes
        return float(scorer(model, HiddenSamples(np.arange(y.size)), classes[y]))


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
