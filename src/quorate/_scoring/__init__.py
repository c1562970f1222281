"""Scores: what to optimise, and the uncertainty of its estimates.

:func:`score_for` converts a name, a scorer or a function to a :class:`Score`, which
computes a :class:`ScoreEstimate` from predictions: with fast code for known scores,
with scikit-learn's own scorer otherwise. Accuracy is one of them, with exact limits.
"""

from quorate._scoring._find import (
    check_ranking,
    check_scoring,
    counts_every_class,
    find_score,
    is_accuracy,
    score_for,
    score_models,
    try_out,
)
from quorate._scoring._named import TableScore, count_pairs
from quorate._scoring._one_class import PositiveClass, with_positive
from quorate._scoring._rare import RareClass, find_rare_class
from quorate._scoring._score import (
    FoldInputs,
    Score,
    ScoreEstimate,
    StoredPrediction,
    finite_losses,
    stratified_folds,
    where_voted,
)
from quorate._scoring._scorers import EvaluatedScore, shown_scoring
from quorate._scoring._tolerance import (
    costs_of_ignoring,
    usual_tolerance,
    why_empty,
)

__all__ = [
    "EvaluatedScore",
    "FoldInputs",
    "PositiveClass",
    "RareClass",
    "Score",
    "ScoreEstimate",
    "StoredPrediction",
    "TableScore",
    "check_ranking",
    "check_scoring",
    "costs_of_ignoring",
    "count_pairs",
    "counts_every_class",
    "find_rare_class",
    "find_score",
    "finite_losses",
    "is_accuracy",
    "score_for",
    "score_models",
    "shown_scoring",
    "stratified_folds",
    "try_out",
    "usual_tolerance",
    "where_voted",
    "why_empty",
    "with_positive",
]
