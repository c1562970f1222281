"""Which of scikit-learn's scorers judge classifiers, and what they look at."""

import re
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
_FUNCTION = re.compile(r"make_scorer\((\w+)")
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
    """Return the name scikit-learn has for a scorer, None if it has none."""
    said = repr(scorer)
    if not said.startswith("make_scorer("):
        return None
    return next(
        (name for name in get_scorer_names() if repr(get_scorer(name)) == said), None
    )


def function_of(scorer: Any) -> str | None:
    """Return the name of the function in a scorer, None if it does not say."""
    found = _FUNCTION.match(repr(scorer))
    return None if found is None else found.group(1)
