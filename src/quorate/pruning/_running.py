"""Losses of a set of members that grows and shrinks, updated incrementally.

A :class:`RunningLoss` gives the loss of its set and of the set with each member added,
without recomputing averages or votes. A :class:`RunningVote` gives the vote error, also
with each member removed. Errors are integers in units of ``1 / scale`` of a sample, so
comparisons are exact, also with voting weights.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Any

import numpy as np

from quorate._kernels import bits, sums
from quorate._kernels.verdicts import TIE_TOLERANCE
from quorate._progress import advance
from quorate._typing import Array, BoolArray, FloatArray, IntArray, Progress, Ties
from quorate._votes import Votes
from quorate.pruning._base import TOLERANCE, first_best

# The least common multiple of 1..20, so that ties of up to 20 classes are exact.
_MOST_TIED = 20


class RunningLoss(ABC):
    """The mean loss of a changing set, in which members may be several times.

    Attributes
    ----------
    n_evaluations
        How often a score was evaluated as a whole.
    """

    n_evaluations = 0

    @abstractmethod
    def add(self, member: int, step: int = 1) -> None:
        """Add a member, possibly again, or remove it if ``step`` is -1."""

    @abstractmethod
    def loss(self) -> float:
        """Return the mean loss of the set."""

    @abstractmethod
    def losses(self, members: IntArray) -> FloatArray:
        """Return the mean loss with each of the members added."""

    def losses_among(self, allowed: BoolArray) -> FloatArray:
        """Return the loss with each allowed member added, infinite for the others."""
        losses = np.full(allowed.size, np.inf)
        members = np.flatnonzero(allowed)
        losses[members] = self.losses(members)
        return losses


class QuadraticLoss(RunningLoss):
    """The loss ``u'Gu / k**2 - 2 b'u / k + constant`` of ``k`` members.

    ``u`` counts how often each member is included. The Brier score of an average has
    this form, with ``G`` the mean products of all pairs and ``b`` the mean shares of
    the true class, so evaluating a candidate is cheap.
    """

    def __init__(self, G: FloatArray, b: FloatArray, constant: float = 0.0) -> None:
        self.G, self.b, self.constant = G, b, constant
        self.size = 0
        self.square = self.own = 0.0
        self.cross = np.zeros(b.size)

    def add(self, member: int, step: int = 1) -> None:
        """See :class:`RunningLoss`."""
        self.square += 2 * step * self.cross[member] + self.G[member, member]
        self.own += step * self.b[member]
        self.cross = self.cross + step * self.G[member]
        self.size += step

    def loss(self) -> float:
        """See :class:`RunningLoss`."""
        k = self.size
        return float(self.square / k**2 - 2 * self.own / k) + self.constant

    def losses(self, members: IntArray) -> FloatArray:
        """See :class:`RunningLoss`."""
        k = self.size + 1
        square = self.square + 2 * self.cross[members] + self.G.diagonal()[members]
        own = self.own + self.b[members]
        return np.asarray(square / k**2 - 2 * own / k + self.constant)


def grow(
    running: RunningLoss,
    n_members: int,
    size: int,
    progress: Progress = advance,
    unit: float = 1.0,
) -> tuple[list[int], list[float]]:
    """Add the member with the smallest loss until the size is reached.

    Returns the members in order, and the loss after each. Losses are equal if they
    differ by no more than :data:`TOLERANCE` times the loss, or times ``unit``.
    """
    outside = np.ones(n_members, dtype=bool)
    order: list[int] = []
    losses: list[float] = []
    while len(order) < size:
        after = running.losses_among(outside)
        order.append(first_best(-after, outside, TOLERANCE, unit))
        losses.append(float(after[order[-1]]))
        outside[order[-1]] = False
        running.add(order[-1])
        progress(len(order), size)
    return order, losses


def exchange(
    running: RunningLoss,
    n_members: int,
    order: list[int],
    rounds: int,
    tolerance: float = TOLERANCE,
    unit: float = 1.0,
) -> None:
    """Exchange members one at a time for the best outsider, while it helps."""
    outside = np.ones(n_members, dtype=bool)
    outside[order] = False
    changed = bool(outside.any())
    while changed and rounds:
        changed, rounds = False, rounds - 1
        for place, member in enumerate(order):
            before = running.loss()
            running.add(member, -1)
            after = running.losses_among(outside)
            other = first_best(-after, outside, tolerance, unit)
            if after[other] < before - tolerance * max(unit, abs(before)):
                order[place], changed = other, True
                outside[member], outside[other] = True, False
            running.add(order[place])


def running_vote(
    votes: Votes, ties: Ties = "expected", most: int | None = None
) -> "RunningVote":
    """Return the vote of an empty set, of the class the votes need.

    If members may be added repeatedly, ``most`` is the maximum number of votes.
    """
    if votes.n_classes == 2 and votes.has_equal_weights:
        return TwoClassVote(votes, ties, most)
    return ManyClassVote(votes, ties)


class RunningVote(RunningLoss):
    """Votes of a changing set of members.

    Attributes
    ----------
    scale : int
        What an error of one whole sample counts.
    tally : Array
        The votes of the set.
    """

    scale: int
    tally: Array

    def __init__(self, votes: Votes, ties: Ties) -> None:
        self.votes = votes
        self.ties = ties
        self.inside = np.zeros(votes.n_members, dtype=bool)
        self.size = 0
        """Number of members in the set, those that came in again counted again."""

    @property
    def error(self) -> Any:
        """Total vote error of the set; infinite for the empty set."""
        return self._error() if self.size else math.inf

    def add(self, member: int, step: int = 1) -> None:
        """See :class:`RunningLoss`."""
        self._change(member, step)
        self.inside[member] = step > 0
        self.size += step

    def loss(self) -> float:
        """See :class:`RunningLoss`."""
        return float(self.error) / (self.scale * self.votes.n_samples)

    def losses(self, members: IntArray) -> FloatArray:
        """See :class:`RunningLoss`."""
        errors = self.errors_if_added(members)
        return np.asarray(errors / (self.scale * self.votes.n_samples))

    def flip(self, member: int) -> None:
        """Add the member, or remove it if present."""
        self.add(member, -1 if self.inside[member] else 1)

    def become(self, members: Iterable[int]) -> "RunningVote":
        """Replace the set by exactly these members."""
        wanted = np.zeros_like(self.inside)
        wanted[list(members)] = True
        for member in np.flatnonzero(wanted != self.inside):
            self.flip(int(member))
        return self

    def errors_if_flipped(self) -> FloatArray:
        """Return the error after each single flip; infinite for the empty set."""
        added, removed = self._errors_if_changed()
        errors = np.where(self.inside, removed, added).astype(float)
        if self.size == 1:
            errors[self.inside] = math.inf
        return errors

    @abstractmethod
    def _errors_if_changed(self) -> tuple[Array, Array]:
        """Return the error with each member added, and with each removed.

        The first is undefined for members in the set, the second for the others.
        """

    @abstractmethod
    def errors_if_added(self, members: IntArray | None = None) -> Array:
        """Return the error with each of the members (all by default) added.

        It is undefined for members in the set, unless members may be added repeatedly,
        which requires equal weights.
        """

    @abstractmethod
    def sample_errors(self) -> IntArray:
        """Return the error on each sample, in units of ``1 / scale``."""

    @abstractmethod
    def winners(self) -> IntArray:
        """Return the class that wins each sample, -1 at a tie."""

    def rescued(self) -> Array:
        """Return, for each member, the set's error on samples it gets right."""
        errors = self.sample_errors()
        wrong = np.flatnonzero(errors)
        codes, y = self.votes.codes[:, wrong], self.votes.y[wrong]
        return sums.sum_where_correct(codes, y, errors[wrong])

    def agreement(self) -> Array:
        """Return each member's votes for the set's winners minus those against."""
        winners = self.winners()
        decided = np.flatnonzero(winners >= 0)
        codes, target = self.votes.codes[:, decided], winners[decided]
        agree = sums.sum_where_correct(codes, target, np.ones(decided.size))
        cast = sums.sum_where_voted(codes, np.ones(decided.size))
        return 2.0 * agree - cast

    def snapshot(self) -> tuple[Array, BoolArray]:
        """Return the state, to restore later."""
        return self.tally.copy(), self.inside.copy()

    def restore(self, state: tuple[Array, BoolArray]) -> None:
        """Restore a state."""
        self.tally[:], self.inside[:] = state
        self.size = int(np.count_nonzero(self.inside))

    def _error(self) -> int:
        return int(self.sample_errors().sum())

    @abstractmethod
    def _change(self, member: int, step: int) -> None: ...


class TwoClassVote(RunningVote):
    """Correct against wrong votes, on packed flags.

    The tally is the lead of correct over wrong votes on each sample. A single vote
    matters only where the lead is -1, 0 or 1.
    """

    scale = 2

    def __init__(self, votes: Votes, ties: Ties, most: int | None = None) -> None:
        super().__init__(votes, ties)
        self.right = bits.pack_equal(votes.codes, votes.y)
        self.wrong = (
            bits.pack_equal(votes.codes, 1 - votes.y) if votes.is_masked else None
        )
        highest = votes.n_members if most is None else most
        # The smallest type that holds all votes, with either sign.
        small = np.min_scalar_type(-highest - 1)
        self.tally: IntArray = np.zeros(votes.n_samples, dtype=small)
        self.signs: dict[int, Array] = {}
        self.y_is_lowest = votes.y == 0

    def sample_errors(self) -> IntArray:
        """Return 0 if right, 2 if wrong, and 1 (or 0 or 2) at a tie."""
        if self.ties == "lowest":
            tie = np.where(self.y_is_lowest, 0, 2)
        else:
            tie = np.ones(self.tally.size, dtype=np.int64)
        return np.where(self.tally > 0, 0, np.where(self.tally < 0, 2, tie))

    def winners(self) -> IntArray:
        """Return the class that wins each sample, -1 at a tie."""
        y = self.votes.y.astype(np.int64)
        return np.where(self.tally > 0, y, np.where(self.tally < 0, 1 - y, -1))

    def rescued(self) -> IntArray:
        """Return, for each member, the set's error on samples it gets right."""
        behind, tied = self.tally < 0, self.tally == 0
        if self.ties == "lowest":
            lost = behind | (tied & ~self.y_is_lowest)
            return 2 * bits.count_common(self.right, bits.pack(lost))
        wrong = 2 * bits.count_common(self.right, bits.pack(behind))
        return wrong + bits.count_common(self.right, bits.pack(tied))

    def agreement(self) -> IntArray:
        """Return each member's votes for the set's winners minus those against."""
        won, lost = bits.pack(self.tally > 0), bits.pack(self.tally < 0)
        if self.wrong is None:
            # A vote agrees if it is right and the set won, or neither.
            differ = bits.count((self.right ^ won) & (won | lost))
            return int(bits.count(won | lost)) - 2 * differ
        agree = bits.count((self.right & won) | (self.wrong & lost))
        return 2 * agree - bits.count((self.right | self.wrong) & (won | lost))

    def _error(self) -> int:
        behind = np.count_nonzero(self.tally < 0)
        if self.ties == "lowest":
            tied = (self.tally == 0) & ~self.y_is_lowest
            return int(2 * (behind + np.count_nonzero(tied)))
        return int(behind + np.count_nonzero(self.tally <= 0))

    def _change(self, member: int, step: int) -> None:
        signs = self.signs.get(member)
        if signs is None:  # 1 where it is right, -1 where wrong, 0 without a vote
            codes = self.votes.codes[member]
            hit = (codes == self.votes.y).view(np.int8)
            cast = (codes >= 0).view(np.int8) if self.votes.is_masked else np.int8(1)
            signs = self.signs[member] = 2 * hit - cast
        operation = np.add if step > 0 else np.subtract
        operation(self.tally, signs, out=self.tally, casting="unsafe")

    def errors_if_added(self, members: IntArray | None = None) -> IntArray:
        """Return the error with each of the members (all by default) added."""
        unit, gain, loss = self._boundary()
        every = members is None or members.size == self.inside.size
        rows = slice(None) if every else members
        if self.wrong is None:
            right = self._right_near(self.right[rows], gain, loss)
            return self._error() + unit * (np.count_nonzero(loss) - right)
        fewer = bits.count_common(self.right[rows], bits.pack(gain))
        more = bits.count_common(self.wrong[rows], bits.pack(loss))
        return self._error() + unit * (more - fewer)

    def _errors_if_changed(self) -> tuple[IntArray, IntArray]:
        # Removing a correct vote has the effect of adding a wrong one, and vice versa.
        unit, gain, loss = self._boundary()
        error = self._error()
        if self.wrong is None:
            right = self._right_near(self.right, gain, loss)
            added = error + unit * (np.count_nonzero(loss) - right)
            return added, error + unit * (right - np.count_nonzero(gain))
        fewer = bits.count_common(self.wrong, bits.pack(gain))
        more = bits.count_common(self.right, bits.pack(loss))
        return self.errors_if_added(), error + unit * (more - fewer)

    def _right_near(self, rows: Array, gain: BoolArray, loss: BoolArray) -> IntArray:
        """Count correct votes of rows where they gain and where they lose.

        Without a mask every other vote is wrong, so only the sum matters.
        """
        if self.size % 2 or self.ties == "lowest":  # the two do not overlap
            return bits.count_common(rows, bits.pack(gain | loss))
        return 2 * bits.count_common(rows, bits.pack(gain))  # they are the same

    def _boundary(self) -> tuple[int, BoolArray, BoolArray]:
        """Return where a correct vote helps and a wrong one harms, and by how much."""
        if self.ties == "lowest":
            gain = np.where(self.y_is_lowest, self.tally == -1, self.tally == 0)
            loss = np.where(self.y_is_lowest, self.tally == 0, self.tally == 1)
            return 2, gain, loss
        tied = self.tally == 0
        return 1, tied | (self.tally == -1), tied | (self.tally == 1)


class ManyClassVote(RunningVote):
    """Votes per class, or sums of their weights.

    Without weights all votes for a class have the same effect on a sample, so the
    effect is looked up on samples with a close result. With weights members are
    evaluated one by one.
    """

    def __init__(self, votes: Votes, ties: Ties) -> None:
        super().__init__(votes, ties)
        self.scale = math.lcm(*range(1, min(votes.n_classes, _MOST_TIED) + 1))
        shape = votes.n_classes, votes.n_samples
        self.weights = None if votes.has_equal_weights else votes.weights
        self.slack: float = 0
        self.tally = np.zeros(shape, dtype=np.int32)
        if self.weights is not None:
            self.slack = TIE_TOLERANCE * float(self.weights.sum())
            self.tally = np.zeros(shape)
        self.columns = np.arange(votes.n_samples)

    def sample_errors(self) -> IntArray:
        """Return the error on each sample."""
        return self._judge(self.tally, self.votes.y)

    def winners(self) -> IntArray:
        """Return the class that wins each sample, -1 at a tie."""
        top = self.tally >= self.tally.max(axis=0) - self.slack
        return np.where(np.count_nonzero(top, axis=0) == 1, top.argmax(axis=0), -1)

    def _judge(self, tally: Array, y: Array) -> IntArray:
        """Return the error of a tally (classes x samples) against ``y``."""
        # Integers also with weights: sums of thirds would let rounding break ties.
        top = tally >= tally.max(axis=0) - self.slack
        if self.ties == "lowest":
            return np.where(top.argmax(axis=0) != y, self.scale, 0)
        tied = np.count_nonzero(top, axis=0)
        has_truth = top[y, np.arange(y.size)]
        return np.where(has_truth, self.scale - self.scale // tied, self.scale)

    def _change(self, member: int, step: int) -> None:
        codes = self.votes.codes[member]
        more = step if self.weights is None else step * self.weights[member]
        if self.votes.is_masked:
            cast = codes >= 0
            self.tally[codes[cast], self.columns[cast]] += more
        else:
            self.tally[codes, self.columns] += more

    def errors_if_added(self, members: IntArray | None = None) -> Array:
        """Return the error with each of the members (all by default) added."""
        every = np.arange(self.inside.size) if members is None else members
        if self.weights is None:
            return self._look_up(every, +1)
        return self._one_by_one(every, ~self.inside[every], +1)

    def _errors_if_changed(self) -> tuple[Array, Array]:
        every = np.arange(self.inside.size)
        if self.weights is None:
            return self.errors_if_added(), self._look_up(every, -1)
        return self.errors_if_added(), self._one_by_one(every, self.inside, -1)

    def _one_by_one(self, members: IntArray, meant: BoolArray, step: int) -> FloatArray:
        errors = np.full(members.size, math.inf)
        before = self.tally.copy()
        for place in np.flatnonzero(meant):
            self._change(int(members[place]), step)
            errors[place] = self._error()
            self.tally[:] = before
        return errors

    def _look_up(self, members: IntArray, step: int) -> IntArray:
        """Sum, for each member, the effect of its vote on each close sample."""
        now, y = self.sample_errors(), self.votes.y
        own = self.tally[y, self.columns]
        others = self.tally.copy()
        others[y, self.columns] = -2
        close = np.flatnonzero(np.abs(own - others.max(axis=0)) <= 1)
        tally, n_classes = self.tally[:, close], self.votes.n_classes
        # One extra class with zero effect, for missing votes.
        change = np.zeros((close.size, n_classes + 1), dtype=np.int64)
        for label in range(n_classes):
            tally[label] += step
            change[:, label + 1] = self._judge(tally, y[close]) - now[close]
            tally[label] -= step
        flat, base = change.ravel(), (n_classes + 1) * np.arange(close.size) + 1
        codes = self.votes.codes[:, close]
        moved = [flat.take(base + codes[member]).sum() for member in members]
        return np.asarray(now.sum() + np.array(moved, dtype=np.int64))
