"""Scores of fitted models by their own answers, checked as scores of votes are."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from quorate._scoring._find import (
    ACCURACY,
    find_score,
    refuse_missing_classes,
    refuse_several_classes,
    shown_scoring,
    try_out,
    without_probabilities,
)
from quorate._scoring._judged import Judged
from quorate._scoring._score import Score
from quorate._typing import Array
from quorate.votes import Outcome, Votes, as_labels, outcome_of, union


def judge_models(
    scoring: Any,
    models: Sequence[Any],
    votes: Sequence[Callable[[], Votes] | None],
    X: Any,
    y: Any,
    owner: str,
) -> tuple[Score, list[Judged]]:
    """Return the score that is meant, and what each model gets on the same samples.

    What does not suit models or samples is refused in the words of
    :func:`quorate._scoring.score_for`.

    Parameters
    ----------
    scoring : str, scorer, callable or None
    models : sequence of fitted classifiers
    votes : sequence of callable or None
        For a model whose members' votes are counted, what collects them, to rank
        samples by; None for one that averages probabilities.
    X, y : array-like
        Samples and their labels.
    owner : str
        Who asks, for messages.
    """
    truth = as_labels(y, "y")
    known = [_labels(model) for model in models if hasattr(model, "classes_")]
    classes = union([*known, np.unique(truth)], truth)
    score = find_score(scoring, classes, owner)
    codes = np.searchsorted(classes, truth)
    if score.name != ACCURACY:
        owner = f"{owner}(scoring={shown_scoring(scoring)})"
        refuse_several_classes(score, owner)
        counts = np.bincount(codes, minlength=classes.size)
        refuse_missing_classes(counts, classes, "given", owner)
        can_rank = score.needs == "decision" and classes.size == 2
        counted = any(each is not None for each in votes)
        if score.needs_shares and counted and not can_rank:
            raise without_probabilities(owner)
    judged = []
    for model, collect in zip(models, votes, strict=True):
        outcome = _outcome(model, collect, X, score)
        if score.name != ACCURACY:
            try_out(scoring, score, outcome.codes, outcome.shares, codes, owner)
        judged.append(score.of(outcome, codes))
    return score, judged


def _outcome(
    model: Any, collect: Callable[[], Votes] | None, X: Any, score: Score
) -> Outcome:
    """Return what a model says: classes, and what each of them gets if that counts."""
    said = as_labels(model.predict(X), "predictions")
    codes = np.searchsorted(score.classes, said)
    if not score.needs_shares:
        return Outcome(codes, None)
    two = score.classes.size == 2
    if score.needs == "decision" and two and hasattr(model, "decision_function"):
        ahead = np.asarray(model.decision_function(X), dtype=float)
        return Outcome(codes, np.column_stack([-ahead, ahead]))
    if collect is not None:  # the share of votes that each class gets
        votes = collect()
        found = outcome_of(votes, shares=True)
        assert found.shares is not None
        return Outcome(codes, _spread(found.shares, votes.classes, score))
    given = np.asarray(model.predict_proba(X), dtype=float)
    return Outcome(codes, _spread(given, _labels(model), score))


def _labels(model: Any) -> Array:
    return as_labels(model.classes_, "classes")


def _spread(given: Array, labels: Array, score: Score) -> Array:
    """Return columns for all classes of the score."""
    shares = np.zeros((len(given), score.classes.size))
    shares[:, np.searchsorted(score.classes, labels)] = given
    return shares
