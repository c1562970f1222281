"""What an ensemble of some members decides, by its own rule and to the last sample.

An ensemble adds up its members in their order. Sums in another order differ by rounding
only, so they are enough wherever the lead is larger than rounding can explain; where it
is not, the members are added up again in their order. Sums of whole votes are exact and
need no second look.
"""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from quorate._kernels.verdicts import TIE_TOLERANCE, lead, rounding
from quorate._typing import Array, FloatArray, IntArray, Ties

if TYPE_CHECKING:
    from quorate._votes._votes import Votes


def decide(votes: "Votes") -> IntArray:
    """Return the code of the class that the ensemble of all members decides for."""
    if counts_whole_votes(votes):
        return votes.verdict()[0]  # counted in integers
    every, weights = np.arange(votes.n_members), weights_of(votes)
    if not votes.counts_heads:
        return add_up_in_order(votes, every, weights, slice(None))
    leader, best, second = lead(np.ascontiguousarray(votes.tally().T, dtype=float))
    close = np.flatnonzero(best - second <= largest_rounding(votes, weights))
    if close.size:
        leader[close] = add_up_in_order(votes, every, weights, close)
    return leader


def prefix_errors(
    votes: "Votes",
    order: IntArray,
    weights: Sequence[FloatArray] | None = None,
    ties: Ties | None = None,
) -> Iterator[FloatArray]:
    """Yield the errors on the samples of the first 1, 2, ... members of an order.

    Parameters
    ----------
    votes : Votes
    order : array of int
        Members in the order in which they come in. The ensemble of them has them in
        the order of their positions, as a pruned ensemble does.
    weights : sequence of array, optional
        Voting weights of the first 1, 2, ... members; those of the votes by default.
    ties : {"expected", "lowest"}, optional
        How an error at a tie counts; as the votes say by default.
    """
    steady = (
        weights_of(votes) if weights is None else steady_weights(votes, order, weights)
    )
    if steady is None:
        assert weights is not None
        for step, given in enumerate(weights):
            places = np.argsort(order[: step + 1], kind="stable")
            some = votes.keep(order[places])
            some = some.reweighted(given[places] if given.any() else None)
            yield some.sample_errors(ties)
        return
    standing = Standing(votes, steady, ties)
    for member in order:
        standing.add(int(member))
        yield standing.errors()


def leave_one_out_errors(votes: "Votes") -> Iterator[FloatArray]:
    """Yield the errors on the samples of all but the first, but the second, ..."""
    standing = Standing(votes, weights_of(votes))
    for member in range(votes.n_members):
        standing.add(member)
    for member in range(votes.n_members):
        standing.remove(member)
        yield standing.errors()
        standing.add(member)


class Standing:
    """The sums of some members for each class, and how they err."""

    def __init__(
        self, votes: "Votes", weights: FloatArray, ties: Ties | None = None
    ) -> None:
        self.votes = votes
        self.ties = ties or votes.ties
        self.weights = weights
        self.inside = np.zeros(votes.n_members, dtype=bool)
        self.scores = np.zeros((votes.n_samples, votes.n_classes))
        self.asked = np.zeros(votes.n_samples)
        self.cast = np.zeros(votes.n_samples)  # the same, weighted; masked votes only
        self.is_exact = counts_whole_votes(votes) and bool(
            (weights == weights[0]).all()
        )
        self._samples = np.arange(votes.n_samples)

    def add(self, member: int) -> None:
        """Let a member in."""
        self.inside[member] = True
        self._give(member, 1)

    def remove(self, member: int) -> None:
        """Take a member out again."""
        self.inside[member] = False
        self._give(member, -1)

    def errors(self) -> FloatArray:
        """Return the error on each sample; where nobody votes, that of a guess."""
        votes = self.votes
        leader, best, second = lead(self.scores)
        if votes.ties == "expected" and votes.counts_heads:  # the plurality vote
            errors = self._errors_of_plurality(leader, best, second)
        else:
            if not self.is_exact:
                leader = self._looked_at_twice(leader, best, second)
            errors = np.asarray(leader != votes.y, dtype=float)
        if votes.is_masked:
            return np.where(self.asked == 0, 1 - 1 / votes.n_classes, errors)
        return errors

    def decisions(self) -> IntArray:
        """Return the class each sample goes to, as predicted; -1 where nobody votes."""
        votes = self.votes
        leader, best, second = lead(self.scores)
        if votes.ties == "expected" and votes.counts_heads:
            slack = self._tie_slack()
            tied = np.flatnonzero(best - second <= slack)
            top = self.scores[tied] >= best[tied, None] - slack
            leader[tied] = top.argmax(axis=1)
        elif not self.is_exact:
            leader = self._looked_at_twice(leader, best, second)
        return np.where(self.asked == 0, -1, leader) if votes.is_masked else leader

    def mean_shares(self) -> FloatArray:
        """Return what the members inside give each class on average.

        All classes alike where nobody votes.
        """
        if not self.votes.is_masked:
            return np.asarray(self.scores / self.weights[self.inside].sum())
        there = (self.asked > 0) & (self.cast > 0)
        mean = self.scores / np.where(there, self.cast, 1.0)[:, None]
        mean[~there] = 1.0 / self.votes.n_classes
        return mean

    def _give(self, member: int, times: int) -> None:
        votes, codes = self.votes, self.votes.codes[member]
        weight, rows = times * float(self.weights[member]), self._samples
        if votes.is_masked:
            rows = np.flatnonzero(codes >= 0)
            codes = codes[rows]
            self.asked[rows] += times
            self.cast[rows] += weight
        if votes.counts_heads:
            self.scores[rows, codes] += weight
        else:
            given = probabilities_of(votes, member, slice(None))
            self.scores += given if weight == 1 else weight * given

    def _errors_of_plurality(
        self, leader: IntArray, best: FloatArray, second: FloatArray
    ) -> FloatArray:
        slack = self._tie_slack()
        errors = np.asarray(leader != self.votes.y, dtype=float)
        tied = np.flatnonzero(best - second <= slack)
        top = self.scores[tied] >= best[tied, None] - slack
        if self.ties == "lowest":
            errors[tied] = top.argmax(axis=1) != self.votes.y[tied]
            return errors
        right = top[np.arange(tied.size), self.votes.y[tied]]
        errors[tied] = 1 - right / np.count_nonzero(top, axis=1)
        return errors

    def _tie_slack(self) -> float:
        if self.is_exact:
            return 0.0
        return TIE_TOLERANCE * float(self.weights[self.inside].sum())

    def _looked_at_twice(
        self, leader: IntArray, best: FloatArray, second: FloatArray
    ) -> IntArray:
        members = np.flatnonzero(self.inside)
        margin = largest_rounding(self.votes, self.weights)
        close = np.flatnonzero(best - second <= margin)
        if close.size:
            leader[close] = add_up_in_order(self.votes, members, self.weights, close)
        return leader


def steady_weights(
    votes: "Votes", order: IntArray, weights: Sequence[FloatArray]
) -> FloatArray | None:
    """Return the members' weights if they have the same at every size, else None."""
    if len(weights) != order.size or not (weights[0] > 0).all():
        return None
    last = weights[-1]
    if not all(np.array_equal(last[: len(given)], given) for given in weights):
        return None
    every = np.zeros(votes.n_members)
    every[order] = last
    return every


def weights_of(votes: "Votes") -> FloatArray:
    """Return a weight for each member; ones for equal votes."""
    given = votes.weights
    return np.ones(votes.n_members) if given is None else given


def counts_whole_votes(votes: "Votes") -> bool:
    """Tell whether sums are numbers of members, exact in any order."""
    return (
        votes.counts_heads
        and votes.has_equal_weights
        and votes.decision_rule.against == 0
    )


def largest_rounding(votes: "Votes", weights: FloatArray) -> float:
    """Return the largest lead that rounding can explain."""
    against = 1 + abs(votes.decision_rule.against)
    return rounding(len(weights), against * float(np.abs(weights).sum()))


def probabilities_of(votes: "Votes", member: int, where: Array | slice) -> FloatArray:
    """Return what a member gives each class on some samples."""
    given = votes.class_probabilities
    assert given is not None  # votes that average have them
    return given.of(member, where)


def add_up_in_order(
    votes: "Votes", members: IntArray, weights: FloatArray, where: Array | slice
) -> IntArray:
    """Add up members in the order given, exactly as the ensemble does."""
    rule = votes.decision_rule
    n_samples = votes.y[where].size
    scores = np.zeros((n_samples, votes.n_classes))
    asked: Array = np.zeros(n_samples)
    rows = np.arange(n_samples)
    equal = bool((weights == 1).all())
    for member in members:
        weight = float(weights[member])
        codes = votes.codes[member, where]
        there = codes >= 0
        if not votes.counts_heads:
            given = probabilities_of(votes, int(member), where)
            scores += given if equal else weight * given
        elif rule.against == 0:
            scores[rows[there], codes[there]] += weight
        else:
            given = np.full(scores.shape, rule.against * weight)
            given[~there] = 0
            given[rows[there], codes[there]] = weight
            scores += given
        asked += weight * there
    if not votes.is_masked:
        asked = np.full(n_samples, weights[members].sum())
    if rule.name == "average" or rule.against:
        # The division is the ensemble's; it can make one of two almost equal sums.
        scores /= np.where(asked > 0, asked, 1)[:, None]
    winners: IntArray = np.argmax(scores, axis=1)
    return winners
