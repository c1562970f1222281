"""Sums over the samples of votes, each counted by the kernel that suits it."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from quorate._kernels import counts, fixed, pairs
from quorate._kernels.entropy import entropy
from quorate._typing import Array, IntArray
from quorate._votes._counts import (
    LAMBDAS,
    LARGEST,
    SampleGroups,
    SmallestMargins,
    smallest_margin,
)
from quorate._votes._summary import MASKED_SUMS, MEMBER_SUMS, VOTE_SUMS, Summary

if TYPE_CHECKING:
    from quorate._votes._sample_votes import SampleVotes
    from quorate._votes._votes import Votes

# Up to so many classes, looking for each is quicker than sorting the votes.
_FEW_CLASSES = 32


def summary_of(votes: "Votes", start: int = 0) -> Summary:
    """Count what a summary holds; see :meth:`Votes.summary`."""
    if max(votes.n_members, votes.n_classes) > LARGEST:
        raise ValueError(
            f"Votes.summary: up to {LARGEST} members and classes, these votes have "
            f"{votes.n_members} and {votes.n_classes}."
        )
    names = [*MEMBER_SUMS, *VOTE_SUMS, *(MASKED_SUMS if votes.is_masked else ())]
    sums = {name: votes._sum(name) for name in names}
    sums["own"] = _confusion(votes, votes.decisions())
    if not votes.has_equal_weights:
        equal = votes.unweighted()
        sums |= {f"equal_{name}": equal._sum(name) for name in VOTE_SUMS}
        sums["margins"] = votes._sum("margins")
    return Summary(
        names=votes.names,
        classes=votes.classes,
        weights=votes.weights,
        decision_rule=votes.decision_rule,
        source=votes.source,
        family=votes.family,
        sums=sums,
    ).shifted(start)


def _cast(votes: "SampleVotes") -> IntArray:
    if votes.is_masked:
        return counts.votes_per_member(votes.codes)
    return np.full(votes.n_members, votes.n_samples)


def _by_class(votes: "SampleVotes") -> IntArray:
    n, codes = votes.n_classes, votes.codes
    if n <= _FEW_CLASSES:
        each = (np.full_like(votes.y, label) for label in range(n))
        return np.stack([counts.correct_per_member(codes, label) for label in each])
    return np.stack([np.bincount(row[row >= 0], minlength=n) for row in codes], axis=1)


def _same(votes: "SampleVotes") -> IntArray:
    if votes.n_classes > 2:
        return pairs.agreement(votes.codes, votes.n_classes)
    total = votes.pairs_in_common()
    if votes.n_classes == 1:
        return np.array(total)
    if votes.is_masked:
        higher = votes._sum("by_class_where_other")[1]
    else:
        higher = votes._sum("by_class")[1][:, None]
    both = pairs.both_equal(votes.codes, np.ones_like(votes.y))
    return np.asarray(total - higher - higher.T + 2 * both)


def _by_class_where_other(votes: "SampleVotes") -> IntArray:
    """Count, for each class, the votes of the row on samples the column voted on."""
    rest, tables = votes._sum("common"), []
    for label in range(1, votes.n_classes):
        tables.append(_equal_where_other(votes, np.full_like(votes.y, label)))
        rest = rest - tables[-1]
    return np.stack([rest, *tables])


def _equal_where_other(votes: "SampleVotes", target: Array) -> IntArray:
    return pairs.equal_where_other_voted(votes.codes, target)


def _groups(votes: "SampleVotes") -> SampleGroups:
    _, tied, has_truth = votes.verdict()
    if votes.is_masked:
        tied = np.where(votes.shares()[1] == 0, 0, tied)
    return SampleGroups.count(*votes.sample_counts(), tied, has_truth, votes.samples)


def _entropies(votes: "SampleVotes") -> tuple[int, int]:
    """Return the sum of the votes' entropies in steps, and of how many samples."""
    if votes.n_classes <= 2 and votes.has_equal_weights:
        some = votes.histogram()
        some = some.only(some.n >= 1)
        values = entropy(np.stack([some.c, some.n - some.c]))
        return fixed.whole_steps(values, some.times), int(some.times.sum())
    total, number = 0, 0
    for _, tally in votes.tallies():
        voted = tally[:, tally.any(axis=0)]
        total += fixed.whole_steps(entropy(voted))
        number += voted.shape[1]
    return total, number


def _shares(votes: "SampleVotes") -> int:
    if votes.has_equal_weights:
        some = votes.histogram()
        some = some.only(some.n >= 1)
        return fixed.whole_steps(some.c / some.n, some.times)
    right, cast = votes.shares()
    voted = cast > 0
    return fixed.whole_steps(right[voted] / cast[voted])


def _confusion(votes: "SampleVotes", decided: Array) -> IntArray:
    """Count samples by truth and decision, where a vote with some weight made it."""
    n, y = votes.n_classes, votes.y.astype(np.int64)
    if votes.is_masked:
        voted = votes.shares()[1] > 0
        y, decided = y[voted], decided[voted]
    return np.bincount(y * n + decided, minlength=n * n).reshape(n, n)


def _undecided(votes: "SampleVotes") -> IntArray:
    """Count samples by truth on which there are votes, but none with any weight."""
    idle = (votes.shares()[1] == 0) & (votes.sample_counts()[1] > 0)
    return np.bincount(votes.y[idle], minlength=votes.n_classes)


def _margins(votes: "SampleVotes") -> SmallestMargins:
    error, _, diversity = votes.zero_one_terms()
    return SmallestMargins(
        tuple(
            smallest_margin(error, diversity, votes.samples, lambda_)
            for lambda_ in LAMBDAS
        )
    )


COUNT: dict[str, Callable[["SampleVotes"], Any]] = {
    "right": lambda votes: counts.correct_per_member(votes.codes, votes.y),
    "cast": _cast,
    "by_class": _by_class,
    "both_right": lambda votes: pairs.both_equal(votes.codes, votes.y),
    "same": _same,
    "common": lambda votes: pairs.common(votes.codes),
    "right_where_other": lambda votes: _equal_where_other(votes, votes.y),
    "by_class_where_other": _by_class_where_other,
    "groups": _groups,
    "entropies": _entropies,
    "entropy": lambda votes: votes._sum("entropies")[0],
    "n_entropies": lambda votes: votes._sum("entropies")[1],
    "shares": _shares,
    "confusion": lambda votes: _confusion(votes, votes.verdict()[0]),
    "undecided": _undecided,
    "margins": _margins,
}
