"""Scores of fitted models by their own answers, checked as scores of votes are."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from quorate._scoring._find import (
    ACCURACY,
    find_score,
    refuse_missing_classes,
    refuse_several_classes,
    try_out,
    without_probabilities,
)
from quorate._scoring._judged import Judged
from quorate._scoring._score import Score
from quorate._scoring._scorers import shown_scoring
from quorate._typing import Array
from quorate._votes import Outcome, Votes, as_labels, outcome_of, union


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
        samples by where it has no decision function; None for one that averages
        probabilities, which rank them.
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
        counted = any(each is not None for each in votes)
        if score.needs_shares and counted and not _ranks_two_classes(score):
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
    if collect is None:  # probabilities are averaged, and decide
        given = np.asarray(model.predict_proba(X), dtype=float)
        return Outcome(codes, _spread(given, _labels(model), score))
    if _ranks_two_classes(score) and hasattr(model, "decision_function"):
        ahead = np.asarray(model.decision_function(X), dtype=float)
        return Outcome(codes, np.column_stack([-ahead, ahead]))
    votes = collect()  # the share of votes that each class gets
    found = outcome_of(votes, shares=True)
    assert found.shares is not None
    return Outcome(codes, _spread(found.shares, votes.classes, score))


def check_ranking(score: Score, ensemble: Any, owner: str) -> None:
    """Refuse to rank samples by votes where the ensemble itself does so otherwise.

    Bagging of members without probabilities counts their votes to predict, and to rank
    averages their decision functions. Boosting ranks by its weighted vote.

    Parameters
    ----------
    score : Score
    ensemble : Ensemble
        What the votes are from.
    owner : str
        Who asks, for messages.
    """
    by_votes = ensemble.rule.name == "heads" and _ranks_two_classes(score)
    if not by_votes or ensemble.kind.family == "boosting":
        return
    if hasattr(ensemble.model, "decision_function"):
        raise ValueError(
            f"{owner}(scoring={shown_scoring(score.given)}): goes by the decision "
            "functions of the members, which votes do not keep; take a score of "
            "predicted classes such as 'balanced_accuracy', or members with "
            "predict_proba."
        )


def _ranks_two_classes(score: Score) -> bool:
    return score.needs == "decision" and score.classes.size == 2


def _labels(model: Any) -> Array:
    return as_labels(model.classes_, "classes")


def _spread(given: Array, labels: Array, score: Score) -> Array:
    """Return columns for all classes of the score."""
    shares = np.zeros((len(given), score.classes.size))
    shares[:, np.searchsorted(score.classes, labels)] = given
    return shares
