"""Scores of ensembles: of all members, the first of an order, any subset, a model."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from quorate._scoring._judged import Judged
from quorate._scoring._score import Score
from quorate._typing import Array, BoolArray, FloatArray, IntArray
from quorate.votes import (
    Outcome,
    Votes,
    leave_one_out_outcomes,
    outcome_of,
    prefix_outcomes,
)


def judge_votes(votes: Votes, score: Score) -> Judged:
    """Return the score of the ensemble of all members."""
    return score.of(outcome_of(votes, shares=score.needs_shares), votes.y)


def judge_prefixes(
    votes: Votes,
    order: IntArray,
    weights: Sequence[FloatArray] | None,
    score: Score,
) -> Iterator[Judged]:
    """Yield the scores of the first 1, 2, ... members of an order.

    Examples
    --------
    >>> import numpy as np
    >>> import quorate
    >>> from quorate._scoring import judge_prefixes, score_for
    >>> votes = quorate.Votes([[0, 1, 1], [0, 0, 1]], [0, 0, 1])
    >>> score = score_for("f1_macro", votes, "here")
    >>> [f"{each.score:.2f}" for each in judge_prefixes(votes, [1, 0], None, score)]
    ['1.00', '1.00']
    """
    places = np.asarray(order, dtype=np.intp)
    outcomes = prefix_outcomes(votes, places, weights, shares=score.needs_shares)
    for outcome in outcomes:
        yield score.of(outcome, votes.y)


def judge_subsets(
    votes: Votes, supports: BoolArray, score: Score
) -> tuple[FloatArray, FloatArray]:
    """Return the score of each subset of members, and its standard error."""
    found = [judge_votes(votes.keep(support), score) for support in supports]
    return (
        np.array([each.score for each in found]),
        np.array([each.standard_error for each in found]),
    )


def losses_without_each(votes: Votes, score: Score) -> FloatArray:
    """Return by how much the score falls without each member."""
    whole = score.value(
        score.take(outcome_of(votes, shares=score.needs_shares), votes.y), votes.y
    )
    return np.array(
        [
            whole - score.value(score.take(outcome, votes.y), votes.y)
            for outcome in leave_one_out_outcomes(votes, shares=score.needs_shares)
        ]
    )


def judge_model(model: Any, X: Any, y: IntArray, score: Score, owner: str) -> Judged:
    """Return the score of a fitted model's own answers.

    Parameters
    ----------
    model : fitted classifier
    X : array-like
    y : array of int
        Positions in ``score.classes``.
    score : Score
    owner : str
        Who asks, for messages.
    """
    codes = np.searchsorted(score.classes, np.asarray(model.predict(X)))
    shares = _model_shares(model, X, score, owner) if score.needs_shares else None
    return score.of(Outcome(codes, shares), y)


def _model_shares(model: Any, X: Any, score: Score, owner: str) -> Array:
    two = score.classes.size == 2
    if score.needs == "decision" and two and hasattr(model, "decision_function"):
        ahead = np.asarray(model.decision_function(X), dtype=float)
        return np.column_stack([-ahead, ahead])
    if not hasattr(model, "predict_proba"):
        raise ValueError(
            f"{owner}(scoring={score.name!r}): needs class probabilities, and "
            f"{type(model).__name__} gives none; a score of predicted classes such as "
            "'balanced_accuracy' fits."
        )
    given = np.asarray(model.predict_proba(X), dtype=float)
    known = np.searchsorted(score.classes, np.asarray(model.classes_))
    shares = np.zeros((len(given), score.classes.size))
    shares[:, known] = given
    return shares
