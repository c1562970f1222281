"""Scores: what good means to the user, and how sure one can be of a number.

A name, a scorer or a function goes in (:func:`score_for`), a :class:`Score` comes out:
it turns what ensembles say on samples into a number with a standard error, quickly
where the score is known and by scikit-learn's own scorer where it is not.
"""

from quorate._scoring._counted import can_be_counted, check_counted, judge_kinds
from quorate._scoring._evaluated import EvaluatedScore, group_places
from quorate._scoring._find import (
    balanced_accuracy,
    check_classes,
    check_rule,
    check_scoring,
    counts_every_class,
    find_score,
    is_accuracy,
    score_for,
    try_out,
)
from quorate._scoring._judged import Judged
from quorate._scoring._models import check_ranking, judge_models
from quorate._scoring._recall import class_recalls
from quorate._scoring._score import Score
from quorate._scoring._scorers import shown_scoring
from quorate._scoring._tables import TableScore, count_pairs
from quorate._scoring._votes import (
    judge_prefixes,
    judge_subsets,
    judge_votes,
    losses_without_each,
)

__all__ = [
    "EvaluatedScore",
    "Judged",
    "Score",
    "TableScore",
    "balanced_accuracy",
    "can_be_counted",
    "check_classes",
    "check_counted",
    "check_ranking",
    "check_rule",
    "check_scoring",
    "class_recalls",
    "count_pairs",
    "counts_every_class",
    "find_score",
    "group_places",
    "is_accuracy",
    "judge_kinds",
    "judge_models",
    "judge_prefixes",
    "judge_subsets",
    "judge_votes",
    "losses_without_each",
    "score_for",
    "shown_scoring",
    "try_out",
]
