"""Which of scikit-learn's scorers judge classifiers, and what they look at."""

import re
from functools import partial
from typing import Any

from sklearn.metrics import get_scorer, get_scorer_names

from quorate._scoring._score import Needs

# What scikit-learn lists beside the scores of classifiers, whichever version it is.
_REGRESSION = re.compile(
    r"(r2|explained_variance)(_score)?|.*(error|deviance)(_score)?|d2_(absolute|pinball|tweedie).*"
)
_CLUSTERING = re.compile(
    r".*(rand_score|mutual_info_score|mallows_score)"
    r"|(homogeneity|completeness|v_measure)_score"
)
_PROBABILITIES = re.compile(r"neg_(log_loss|brier_score)|roc_auc_ov.*|d2_(log|brier).*")
_RANKINGS = ("roc_auc", "average_precision", "top_k_accuracy")
_WITHOUT_TOP = ("positive_likelihood_ratio",)


def known_names() -> list[str]:
    """Return the names of the scores that judge classifiers."""
    return [name for name in get_scorer_names() if not is_foreign(name)]


def is_foreign(name: str) -> bool:
    """Tell whether a name is that of a score of something else."""
    other = _REGRESSION.fullmatch(name) or _CLUSTERING.fullmatch(name)
    return bool(other) or name.endswith("_samples")


def needs_of(name: str) -> Needs:
    """Return what a score of that name looks at."""
    if _PROBABILITIES.fullmatch(name):
        return "probabilities"
    return "decision" if name in _RANKINGS else "labels"


def top_of(name: str) -> float:
    """Return the best that a score of that name can be."""
    return 0.0 if name.startswith("neg_") or name in _WITHOUT_TOP else 1.0


def name_of(scorer: Any) -> str | None:
    """Return the name scikit-learn has for a scorer, None if it has none.

    Another function may be called as scikit-learn's is, so that names do not tell.
    """
    function = function_of(scorer)
    if function is None:
        return None
    return next(
        (name for name in get_scorer_names() if _is(scorer, function, name)), None
    )


def _is(scorer: Any, function: Any, name: str) -> bool:
    """Tell whether a scorer is the one of a name: function, parameters and sign."""
    own = get_scorer(name)
    return function_of(own) is function and bool(vars(own) == vars(scorer))


def function_of(scorer: Any) -> Any:
    """Return the function in a scorer of ``make_scorer``, None if it is another."""
    if not isinstance(scorer, type(get_scorer("accuracy"))):
        return None
    return next(part for part in vars(scorer).values() if callable(part))


def called(function: Any) -> str:
    """Return what a function is called.

    A score that somebody wrote is never called as one of scikit-learn's.

    Examples
    --------
    >>> from quorate._scoring._known import called
    >>> def accuracy(y, predicted): ...
    >>> def gain_score(y, predicted): ...
    >>> called(accuracy), called(gain_score)
    ('own_accuracy', 'gain_score')
    """
    function = _inside(function)
    name = str(getattr(function, "__name__", type(function).__name__))
    is_taken = name in get_scorer_names() and not is_of_scikit_learn(function)
    return f"own_{name}" if is_taken else name


def is_of_scikit_learn(function: Any) -> bool:
    """Tell whether a function is one of scikit-learn's own."""
    module = str(getattr(_inside(function), "__module__", ""))
    return module.partition(".")[0] == "sklearn"


def _inside(function: Any) -> Any:
    """Return the function that some parameters were given to."""
    while isinstance(function, partial):
        function = function.func
    return function
