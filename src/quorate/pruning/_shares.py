"""What members give each class on each sample: probabilities, or votes as ones.

Selectors that average read members through these functions, so that votes and
probabilities, masked or not, are the same to them. A vote that may not be used is a row
of zeros.
"""

import numpy as np

from quorate._kernels.counts import column_blocks
from quorate._typing import Array, BoolArray, FloatArray, IntArray
from quorate.votes import Probabilities, Votes


def unsure_probabilities(votes: Votes) -> Probabilities | None:
    """Return the probabilities, None where votes say as much: all are certain."""
    given = votes.class_probabilities
    return None if given is None or given.are_certain else given


def shares_of(votes: Votes, member: int) -> Array:
    """Return what one member gives each class, (n_samples, n_classes)."""
    given = unsure_probabilities(votes)
    if given is not None:
        return given.of(member).astype(np.float32)
    codes = votes.codes[member]
    return np.asarray(codes[:, None] == np.arange(votes.n_classes), dtype=np.float32)


def shares_for(votes: Votes, target: Array) -> Array:
    """Return what each member gives the class ``target`` names, a row per member."""
    if unsure_probabilities(votes) is None:
        return np.asarray(votes.codes == target, dtype=np.float32)
    columns = np.arange(votes.n_samples)
    every = range(votes.n_members)
    return np.stack([shares_of(votes, member)[columns, target] for member in every])


def whole_shares(votes: Votes) -> FloatArray:
    """Return the mean of all members that may vote on each sample."""
    total = np.zeros((votes.n_samples, votes.n_classes))
    for member in range(votes.n_members):
        total += shares_of(votes, member)
    _, asked = votes.sample_counts()
    return total / np.maximum(asked, 1)[:, None]


def inner_products(votes: Votes, table: Array) -> FloatArray:
    """Return the sum over samples and classes of each member's shares times a table."""
    if unsure_probabilities(votes) is not None:
        flat, every = table.ravel(), range(votes.n_members)
        return np.array(
            [float(shares_of(votes, member).ravel() @ flat) for member in every]
        )
    # The column of zeros at the end is where the code -1 of a missing vote looks.
    padded = np.concatenate([table, np.zeros((len(table), 1))], axis=1)
    samples = np.arange(votes.n_samples)
    return np.array([padded[samples, row].sum() for row in votes.codes])


def usable(votes: Votes) -> BoolArray | None:
    """Return which votes may be used, None if all."""
    return votes.valid if votes.is_masked else None


def gram(votes: Votes) -> FloatArray:
    """Return the mean inner product of all pairs of members, on samples both may vote.

    For votes that is how often two members agree. A pair without a common sample counts
    as the mean of all others.
    """
    total = votes.pairs_in_common()
    given = unsure_probabilities(votes)
    same: Array = votes.agreement()[0] if given is None else _products(given)
    known = total > 0
    mean = same / np.maximum(total, 1)
    if not known.all():
        mean = np.where(known, mean, mean[known].mean())
    return np.asarray(mean, dtype=float)


def _products(given: Probabilities) -> FloatArray:
    n, m, n_classes = given.shape
    total = np.zeros((n, n))
    for block in column_blocks(n * n_classes, m, 4):
        part = given.block(block).reshape(n, -1)
        total += part @ part.T
    return total


def label_products(votes: Votes) -> FloatArray:
    """Return the mean share each member gives the true class; accuracy for votes."""
    right, asked = votes.member_counts()
    if unsure_probabilities(votes) is not None:
        right = shares_for(votes, votes.y).sum(axis=1, dtype=float)
    return np.asarray(right / asked, dtype=float)


def whole_products(votes: Votes) -> FloatArray:
    """Return the mean inner product of each member with the mean of all members."""
    _, asked = votes.member_counts()
    return inner_products(votes, whole_shares(votes)) / asked


class Average:
    """The (weighted) mean of a growing set, on samples where somebody may vote."""

    def __init__(self, votes: Votes) -> None:
        self.votes = votes
        self.valid = usable(votes)
        self.total = np.zeros((votes.n_samples, votes.n_classes))
        self.weight = np.zeros(votes.n_samples)

    def add(self, member: int, weight: float = 1.0) -> None:
        """Let a member in with a weight; a negative one takes it out again."""
        self.total += weight * shares_of(self.votes, member)
        valid = True if self.valid is None else self.valid[member]
        self.weight += weight * np.asarray(valid)

    def mean(self) -> FloatArray:
        """Return the mean; all classes alike where nobody may vote."""
        return mean_of(self.total, self.weight)


def mean_of(total: FloatArray, weight: FloatArray) -> FloatArray:
    """Divide sums by weights; all classes alike where there is no weight."""
    n_classes = total.shape[-1]
    there = weight > 0
    if there.all():
        return np.asarray(total / weight[..., None])
    safe = np.where(there, weight, 1.0)[..., None]
    return np.where(there[..., None], total / safe, 1.0 / n_classes)


def blocks_of(members: IntArray, votes: Votes) -> list[IntArray]:
    """Cut members into groups whose shares fit into a few dozen megabytes."""
    each = max(1, 2**22 // max(1, votes.n_samples * votes.n_classes))
    return [members[start : start + each] for start in range(0, len(members), each)]
