"""What measures, decomposition, risk and certificates need: sums over samples.

Votes count them on first use, a summary stores them, so each function takes either.
"""

from typing import TypeAlias

import numpy as np

from quorate._checks import one_of
from quorate._kernels import losses
from quorate._kernels import pairs as pair_kernels
from quorate._typing import IntArray, Lambda, Outputs
from quorate._votes._counts import (
    LAMBDAS,
    CorrectHistogram,
    PairCounts,
    SampleGroups,
    SmallestMargin,
    histogram_of,
    once,
    smallest_margin_of,
)
from quorate._votes._counts import pairs_in_common as pairs_in_common
from quorate._votes._counts import sample_counts as sample_counts
from quorate._votes._counts import zero_one_terms as zero_one_terms
from quorate._votes._summary import Summary
from quorate._votes._votes import Votes

VoteCounts: TypeAlias = Votes | Summary


def member_counts(votes: VoteCounts) -> tuple[IntArray, IntArray]:
    """Return each member's number of correct votes and of usable votes."""
    return votes._sum("right"), votes._sum("cast")


def class_counts(votes: VoteCounts) -> IntArray:
    """Return how often each member votes for each class."""
    return np.asarray(votes._sum("by_class").T)


def sample_groups(votes: VoteCounts) -> SampleGroups:
    """Return samples grouped by correct and usable votes and plurality vote."""
    groups: SampleGroups = votes._sum("groups")
    return groups


def histogram(votes: VoteCounts) -> CorrectHistogram:
    """Return how many samples have how many right votes of how many usable ones.

    Examples
    --------
    >>> from quorate import Votes
    >>> histogram(Votes([[0, 1, 1], [0, 0, 1]], [0, 1, 1])).times
    array([0, 1, 2])
    """
    if isinstance(votes, Summary):
        groups = sample_groups(votes)
        return histogram_of(votes, groups.right, groups.cast, groups.times)
    counted: CorrectHistogram = votes._sum("histogram")
    return counted


def entropy_sum(votes: VoteCounts) -> tuple[int, int]:
    """Return the summed vote entropy in fixed-point steps, and the sample count.

    Uses natural logarithms; samples whose votes have no weight are excluded. See
    ``_kernels.sums`` for the steps.
    """
    return votes._sum("entropy"), votes._sum("n_entropies")


def share_sum(votes: VoteCounts) -> int:
    """Return the summed share of correct votes, in fixed-point steps."""
    return int(votes._sum("shares"))


def smallest_margin(votes: VoteCounts, lambda_: Lambda = "ensemble") -> SmallestMargin:
    """Return the smallest mean margin, and which sample is the first to have it.

    Parameters
    ----------
    votes : Votes or Summary
    lambda_ : {"ensemble", "paper"}
        As for :func:`quorate.decompose`.
    """
    if isinstance(votes, Votes):
        error, _, diversity = zero_one_terms(votes)
        places: IntArray = np.arange(votes.n_samples)
    elif not votes.has_equal_weights:
        smallest: SmallestMargin = votes._sum("margins").by_lambda[
            LAMBDAS.index(lambda_)
        ]
        return smallest
    else:
        groups = sample_groups(votes)
        tied, places = groups.tied(votes.n_classes), groups.first
        error, _, diversity = losses.zero_one(
            tied, groups.has_truth, groups.right, groups.cast
        )
    return smallest_margin_of(error, diversity, places, lambda_)


def pairs(votes: VoteCounts, outputs: Outputs = "oracle") -> PairCounts:
    """Return the contingency tables of all pairs of members; see ``Votes.pairs``."""
    one_of("pairs", "outputs", outputs, ("oracle", "label"))
    total, where_other = pairs_in_common(votes), "_where_other" * votes.is_masked
    if outputs == "oracle":
        both, positive = votes._sum("both_right"), votes._sum("right" + where_other)
    elif votes.n_classes > 2:
        raise ValueError(
            "pairs(outputs='label'): a two-by-two table needs two classes, but these "
            f"votes have {votes.n_classes}."
        )
    else:
        by_class, same = votes._sum("by_class" + where_other), votes._sum("same")
        positive = by_class[1] if votes.n_classes == 2 else np.zeros_like(by_class[0])
    if not votes.is_masked:
        positive = positive[:, None]
    if outputs == "label":
        # Votes of either for the higher class, minus the samples on which they differ,
        # are twice the samples on which both vote for it.
        both = (positive + positive.T - (total - same)) // 2
    return PairCounts(both, positive - both, total)


def agreement(votes: VoteCounts) -> tuple[IntArray, IntArray]:
    """Return, for all pairs of members, equal votes and common samples.

    Examples
    --------
    >>> from quorate import Votes
    >>> same, total = agreement(Votes([[0, 1, 2], [0, 2, 2]], [0, 1, 2]))
    >>> same
    array([[3, 2],
           [2, 3]])
    """
    return votes._sum("same"), pairs_in_common(votes)


def chance_agreement(votes: VoteCounts) -> IntArray:
    """Return, for all pairs, the expected chance agreements times n_samples.

    For each class, multiplies both members' numbers of votes on their common samples;
    returns the sum over classes.
    """
    if not votes.is_masked:
        given = votes._sum("by_class")
        return np.asarray(given.T @ given)
    if isinstance(votes, Votes):  # one class at a time, which needs less memory
        codes, n = votes.codes, votes.n_classes
        return once(votes, "chance", lambda: pair_kernels.chance_agreement(codes, n))
    given = votes._sum("by_class_where_other")
    return np.asarray((given * given.transpose(0, 2, 1)).sum(axis=0))
