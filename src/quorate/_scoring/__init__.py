"""Scores: what good means to the user, and how sure one can be of a number.

A name, a scorer or a function goes in (:func:`score_for`), a :class:`Score` comes out:
it turns what ensembles say on samples into a :class:`ScoreEstimate`, quickly where the
score is known and by scikit-learn's own scorer where it is not. Accuracy is one of
them, with exact limits.
"""

from quorate._scoring._find import (
    check_ranking,
    check_scoring,
    counts_every_class,
    find_score,
    is_accuracy,
    score_counts,
    score_for,
    score_models,
    try_out,
)
from quorate._scoring._named import TableScore, count_pairs
from quorate._scoring._one_class import PositiveClass, with_positive
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
    "Score",
    "ScoreEstimate",
    "StoredPrediction",
    "TableScore",
    "check_ranking",
    "check_scoring",
    "costs_of_ignoring",
    "count_pairs",
    "counts_every_class",
    "find_score",
    "finite_losses",
    "is_accuracy",
    "score_counts",
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
