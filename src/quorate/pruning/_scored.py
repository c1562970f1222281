"""Any score of an average that grows member by member.

What a table of true and predicted classes tells is counted for all candidates without
averaging anew: on most samples no single member changes the decision. Other scores are
evaluated, one candidate after the other.
"""

import numpy as np

from quorate._scoring import Score, TableScore, count_pairs
from quorate._typing import Array, FloatArray, IntArray
from quorate._votes import Outcome, Votes
from quorate.pruning._averages import open_average
from quorate.pruning._averaging import GrowingAverage
from quorate.pruning._class_weight import BalancedAverage
from quorate.pruning._shares import shares_of, unsure_probabilities, usable

# No member gives a class more than this: rows of probabilities may be off by 1e-3.
_WIDEST = 1.01
# Losses that are sums, and what they are called where averages grow.
SUMS = {"accuracy": "accuracy", "neg_log_loss": "log_loss", "neg_brier_score": "brier"}


def open_score(
    votes: Votes, score: Score, most: int, *, balanced: bool = False
) -> GrowingAverage:
    """Return an empty average with a loss that falls as the score grows.

    Parameters
    ----------
    votes : Votes
    score : Score
    most : int
        How many members come in at most, those that do so again counted again.
    balanced : bool
        Whether every class counts the same, where the score is a mean over samples.
    """
    if score.name in SUMS and votes.has_equal_weights:
        if balanced:
            return BalancedAverage(votes, SUMS[score.name], most)
        return open_average(votes, SUMS[score.name], most)
    if isinstance(score, TableScore):
        return ScoredByTable(votes, score)
    return ScoredByEvaluation(votes, score)


class _Scored(GrowingAverage):
    """Sums of what members give each class, (n_samples, n_classes), and of votes."""

    def __init__(self, votes: Votes, score: Score) -> None:
        super().__init__(votes)
        self.score = score
        self.valid = usable(votes)
        given = votes.weights
        self.weights = np.ones(votes.n_members) if given is None else np.array(given)
        self.total = np.zeros((votes.n_samples, votes.n_classes))
        self.cast = np.zeros(votes.n_samples)
        self.n_evaluations = 0

    def add(self, member: int) -> None:
        """See :class:`GrowingAverage`."""
        self.total += self.weights[member] * shares_of(self.votes, member)
        self.cast += self._voted(member)

    def _voted(self, member: int, rows: Array | slice = slice(None)) -> Array:
        weight = self.weights[member]
        if self.valid is None:
            return np.full(self.cast[rows].shape, weight)
        return np.asarray(weight * self.valid[member, rows])


class ScoredByTable(_Scored):
    """Scores that the table of true and predicted classes tells."""

    score: TableScore

    def loss(self) -> float:
        """See :class:`GrowingAverage`."""
        said = np.where(self.cast > 0, self.total.argmax(axis=1), -1)
        counts = count_pairs(said, self.votes.y, self.votes.n_classes)
        return float(self.score.loss(self.score.of_tables(counts)))

    def losses(self, members: IntArray) -> FloatArray:
        """See :class:`GrowingAverage`."""
        y, n_classes = self.votes.y, self.votes.n_classes
        settled = self._settled(members)
        said = np.where(self.cast > 0, self.total.argmax(axis=1), -1)
        known = count_pairs(said[settled], y[settled], n_classes)
        rows = np.flatnonzero(~settled)
        equal = bool((self.weights == self.weights[0]).all())
        if unsure_probabilities(self.votes) is None and equal:
            found = self._by_vote(members, rows)
        else:
            found = self._one_by_one(members, rows)
        tables = np.array([count_pairs(row, y[rows], n_classes) for row in found])
        return np.asarray(self.score.loss(self.score.of_tables(known + tables)))

    def _settled(self, members: IntArray) -> Array:
        """Return the samples on which no member could change the decision."""
        if self.votes.n_classes == 1:
            return np.asarray(self.cast > 0)
        two = np.partition(self.total, -2, axis=1)[:, -2:]
        reach = _WIDEST * self.weights[members].max()
        return np.asarray((two[:, 1] - two[:, 0] > reach) & (self.cast > 0))

    def _by_vote(self, members: IntArray, rows: IntArray) -> Array:
        """Look up what one more vote for each class would decide."""
        total, n_classes = self.total[rows], self.votes.n_classes
        nobody = np.where(self.cast[rows] > 0, total.argmax(axis=1), -1)
        after = np.empty((rows.size, n_classes + 1), dtype=np.int32)
        after[:, -1] = nobody  # the place of a vote that may not be used, -1
        for code in range(n_classes):
            more = total.copy()
            more[:, code] += self.weights[0]
            after[:, code] = more.argmax(axis=1)
        codes = self.votes.codes[np.ix_(members, rows)]
        return np.asarray(after[np.arange(rows.size), codes])

    def _one_by_one(self, members: IntArray, rows: IntArray) -> Array:
        total, cast = self.total[rows], self.cast[rows]
        found = np.empty((members.size, rows.size), dtype=np.int32)
        for row, member in zip(found, members, strict=True):
            given = shares_of(self.votes, int(member))[rows]
            after = total + self.weights[member] * given
            there = cast + self._voted(int(member), rows) > 0
            row[:] = np.where(there, after.argmax(axis=1), -1)
        return found


class ScoredByEvaluation(_Scored):
    """Scores of any kind, one evaluation for each candidate."""

    def loss(self) -> float:
        """See :class:`GrowingAverage`."""
        return self._of(self.total, self.cast)

    def losses(self, members: IntArray) -> FloatArray:
        """See :class:`GrowingAverage`."""
        found = np.empty(members.size)
        for place, member in enumerate(members):
            given = self.weights[member] * shares_of(self.votes, int(member))
            cast = self.cast + self._voted(int(member))
            found[place] = self._of(self.total + given, cast)
        return found

    def _of(self, total: FloatArray, cast: FloatArray) -> float:
        y, there = self.votes.y, cast > 0
        codes = np.where(there, total.argmax(axis=1), -1)
        shares = None
        if self.score.needs_shares:
            shares = total / np.where(there, cast, 1.0)[:, None]
            shares[~there] = 1.0 / self.votes.n_classes
        self.n_evaluations += 1
        taken = self.score.take(Outcome(codes, shares), y)
        found = self.score.loss(self.score.value(taken, y))
        return float(found) if np.isfinite(found) else np.inf
