"""A summary of votes: everything counted once."""

from typing import TYPE_CHECKING

import numpy as np

from quorate._typing import Array, IntArray
from quorate._votes._profile import LARGEST
from quorate._votes._sums import (
    LAMBDAS,
    PairSums,
    VoteSums,
    Worst,
    votes_where_other_voted,
    worst_of,
)

if TYPE_CHECKING:
    from quorate._votes._summary import Summary
    from quorate._votes._votes import Votes


def summary_of(votes: "Votes", start: int = 0) -> "Summary":
    """Count what a summary holds; see :meth:`Votes.summary`."""
    from quorate._votes._summary import Summary

    if max(votes.n_members, votes.n_classes) > LARGEST:
        raise ValueError(
            f"Votes.summary: up to {LARGEST} members and classes, these votes have "
            f"{votes.n_members} and {votes.n_classes}."
        )
    heads = _vote_sums(votes, start)
    equal = None if votes.has_equal_weights else _vote_sums(votes.unweighted(), start)
    return Summary(
        names=votes.names,
        classes=votes.classes,
        weights=votes.weights,
        decision_rule=votes.decision_rule,
        source=votes.source,
        family=votes.family,
        pair_sums=_pair_sums(votes),
        vote_sums=heads,
        equal_sums=equal,
        own_confusion=_confusion(votes, votes.decisions()),
        reading=votes.reading,
    )


def _pair_sums(votes: "Votes") -> PairSums:
    table = votes.pairs()
    same, _ = votes.agreement()
    if not votes.is_masked:
        return PairSums(table.both, same, votes.class_counts().T.astype(np.int64), None)
    by_class = votes_where_other_voted(votes.codes, votes.n_classes)
    return PairSums(table.both, same, by_class, table.both + table.first)


def _vote_sums(votes: "Votes", start: int) -> VoteSums:
    kinds = votes.profile()
    entropy, number = votes.entropy_sum()
    winner, _, _ = votes.verdict()
    worst: tuple[Worst, ...] = ()
    if not votes.has_equal_weights:
        error, _, diversity = votes.zero_one_terms()
        places = votes.samples + start
        worst = tuple(
            worst_of(error, diversity, places, lambda_) for lambda_ in LAMBDAS
        )
    return VoteSums(
        profile=kinds.moved(kinds.first + start),
        entropy=entropy,
        n_entropies=number,
        shares=votes.share_sum(),
        confusion=_confusion(votes, winner),
        undecided=_undecided(votes),
        worst=worst,
    )


def _confusion(votes: "Votes", decided: Array) -> IntArray:
    """Count samples by truth and decision, where a vote with some weight made it."""
    n, y = votes.n_classes, votes.y.astype(np.int64)
    if votes.is_masked:
        some = votes.shares()[1] > 0
        y, decided = y[some], decided[some]
    return np.bincount(y * n + decided, minlength=n * n).reshape(n, n)


def _undecided(votes: "Votes") -> IntArray:
    """Count samples by truth on which there are votes, but none with any weight."""
    n = votes.n_classes
    if not votes.is_masked:
        return np.zeros(n, dtype=np.int64)
    _, weight = votes.shares()
    _, asked = votes.sample_counts()
    return np.bincount(votes.y[(weight == 0) & (asked > 0)], minlength=n)
