"""The members' shares of each class on each sample: probabilities, or votes as ones.

Selectors that average read members through these functions, which treat votes and
probabilities alike, masked or not. An unusable vote is a row of zeros. Samples may be
weighted so that every class counts the same: a balanced mean is the mean over classes
of the means within them.
"""

from typing import cast

import numpy as np

from quorate._kernels import sums
from quorate._kernels.counts import column_blocks
from quorate._typing import Array, BoolArray, FloatArray, IntArray
from quorate._votes import Probabilities, VoteCounts, Votes, totals


def unsure_probabilities(votes: VoteCounts) -> Probabilities | None:
    """Return the probabilities, or None if all are 0 or 1 and equal to the votes."""
    given = votes.class_probabilities
    return None if given is None or given.are_certain else given


def usable(votes: Votes) -> BoolArray | None:
    """Return which votes are usable, or None if all are."""
    return votes.valid if votes.is_masked else None


def shares_of(votes: Votes, member: int) -> Array:
    """Return one member's share of each class, (n_samples, n_classes)."""
    given = unsure_probabilities(votes)
    if given is not None:
        return given.of(member).astype(np.float32)
    codes = votes.codes[member]
    return np.asarray(codes[:, None] == np.arange(votes.n_classes), dtype=np.float32)


# ------------------------------------------------- classes that count the same


def class_parts(votes: Votes) -> list[Votes]:
    """Return the votes on the samples of each class that occurs."""
    codes = np.unique(votes.y)
    return [votes.at(np.flatnonzero(votes.y == code)) for code in codes]


def sample_weights(votes: Votes, balanced: bool = True) -> FloatArray:
    """Return weights of mean 1 that give every class the same total, or all ones.

    Examples
    --------
    >>> import quorate
    >>> from quorate.pruning._vote_shares import sample_weights
    >>> sample_weights(quorate.Votes([[0, 0, 0, 1]], [0, 0, 0, 1])).round(2)
    array([0.67, 0.67, 0.67, 2.  ])
    """
    if not balanced:
        return np.ones(votes.n_samples)
    counts = np.bincount(votes.y, minlength=votes.n_classes)
    return votes.n_samples / (np.count_nonzero(counts) * counts[votes.y])


def balanced_accuracies(votes: Votes) -> FloatArray:
    """Return each member's accuracy, every class counting the same."""
    right, asked = np.zeros((2, votes.n_members))
    for part in class_parts(votes):
        hits, cast = totals.member_counts(part)
        right += hits / part.n_samples
        asked += cast / part.n_samples
    return np.asarray(right / asked)


def most_accurate_first(votes: VoteCounts, balanced: bool = False) -> IntArray:
    """Return the members by decreasing accuracy; ties keep their order."""
    if balanced:
        accuracies = balanced_accuracies(cast("Votes", votes)).round(12)
    else:  # equal fractions of whole numbers below 2**26 give equal floats
        accuracies = votes.accuracies
    return np.argsort(-accuracies, kind="stable")


# ------------------------------------------------- products


def gram(votes: VoteCounts, balanced: bool = False) -> FloatArray:
    """Return the mean inner product of all pairs of members on common samples.

    For votes this is their agreement. A pair without common samples gets the mean of
    all others.
    """
    same: Array
    total: Array
    if not balanced:
        same, total = _product_sums(votes), totals.pairs_in_common(votes)
    else:
        same, total = np.zeros((2, votes.n_members, votes.n_members))
        for part in class_parts(cast("Votes", votes)):
            same += _product_sums(part) / part.n_samples
            total += totals.pairs_in_common(part) / part.n_samples
    shared = total > 0
    mean = same / np.where(shared, total, 1)
    return mean if shared.all() else np.where(shared, mean, mean[shared].mean())


def _product_sums(votes: VoteCounts) -> Array:
    """Return the inner products of all pairs of members; agreements for votes."""
    given = unsure_probabilities(votes)
    if given is None:
        return totals.agreement(votes)[0]
    n, m, n_classes = given.shape
    total = np.zeros((n, n))
    for block in column_blocks(n * n_classes, m, 4):
        part = given.block(block).reshape(n, -1)
        total += part @ part.T
    return total


def brier_products(
    votes: VoteCounts, balanced: bool = False
) -> tuple[FloatArray, FloatArray]:
    """Return what the Brier score of an average needs to know.

    Returns
    -------
    products : ndarray of shape (n_members, n_members)
        :func:`gram`, the mean inner product of all pairs of members.
    right : ndarray of shape (n_members,)
        The mean share each member gives the true class; accuracy for votes.
    """
    if not isinstance(votes, Votes):
        return gram(votes), votes.accuracies
    products = gram(votes, balanced)
    if unsure_probabilities(votes) is None:
        return products, balanced_accuracies(votes) if balanced else votes.accuracies
    weights, samples = sample_weights(votes, balanced), np.arange(votes.n_samples)
    # Sums, not dot products, which are slow when cores are busy.
    right = [
        float((weights * shares_of(votes, member)[samples, votes.y]).sum())
        for member in range(votes.n_members)
    ]
    return products, right / sums.sum_where_voted(votes.codes, weights)


def mean_products(votes: Votes, target: Array, balanced: bool = False) -> FloatArray:
    """Return the mean product of each member's shares with a target."""
    weights = sample_weights(votes, balanced)
    asked = sums.sum_where_voted(votes.codes, weights)
    return inner_products(votes, target * weights[:, None]) / asked


def whole_shares(votes: Votes) -> FloatArray:
    """Return the mean share over the members that may vote on each sample."""
    total = np.zeros((votes.n_samples, votes.n_classes))
    for member in range(votes.n_members):
        total += shares_of(votes, member)
    _, asked = totals.sample_counts(votes)
    return total / np.maximum(asked, 1)[:, None]


def inner_products(votes: Votes, table: Array) -> FloatArray:
    """Return the sum over samples and classes of each member's shares times a table."""
    if unsure_probabilities(votes) is not None:
        flat, every = table.ravel(), range(votes.n_members)
        return np.array(
            [float(shares_of(votes, member).ravel() @ flat) for member in every]
        )
    return sums.sum_by_vote(votes.codes, table.T, votes.is_masked)


def are_a_pool(votes: Votes) -> bool:
    """Return whether members differ in quality, as in a pool.

    For pools, shrinking towards equal weights costs more than it saves, measured on 21
    data sets with 5, 12 and 30 members (experiments/pools.py).
    """
    if votes.family is None:
        return votes.has_equal_weights and not votes.is_masked
    return votes.family == "pool"
