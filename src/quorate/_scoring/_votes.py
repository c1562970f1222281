"""Scores of ensembles: of all members, the first of an order, any subset."""

from collections.abc import Iterator, Sequence

import numpy as np

from quorate._scoring._judged import Judged
from quorate._scoring._score import Score
from quorate._typing import BoolArray, FloatArray, IntArray
from quorate._votes import (
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
