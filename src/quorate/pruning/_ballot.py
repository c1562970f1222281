"""The vote of a set of members that grows and shrinks, kept up to date.

A :class:`Ballot` knows the vote error of its set, and what it would become with one
member more or one less, without voting again. Errors are whole numbers in units of
``1 / scale`` of a sample, so that comparing them is exact, with voting weights too.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Any

import numpy as np

from quorate._kernels import bits, sums
from quorate._kernels.verdicts import TIE_TOLERANCE
from quorate._typing import Array, BoolArray, FloatArray, IntArray, Ties
from quorate._votes import Votes

# The least common multiple of 1..20: ties of up to 20 classes are exact fractions of
# it.
_MOST_TIED = 20


class Ballot(ABC):
    """Votes of a changing set of members."""

    scale: int
    """What an error of one whole sample counts."""

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

    def flip(self, member: int) -> None:
        """Let a member in or out."""
        leaves = self.inside[member]
        self._change(member, -1 if leaves else 1)
        self.inside[member] = not leaves
        self.size += -1 if leaves else 1

    def add(self, member: int) -> None:
        """Let a member in, maybe once more; its votes count as often as it came in."""
        self._change(member, 1)
        self.inside[member] = True
        self.size += 1

    def become(self, members: Iterable[int]) -> "Ballot":
        """Let in exactly these members."""
        wanted = np.zeros_like(self.inside)
        wanted[list(members)] = True
        for member in np.flatnonzero(wanted != self.inside):
            self.flip(int(member))
        return self

    def errors_if_flipped(self) -> Array:
        """Return the error after each single change; infinite where nobody is left."""
        added, removed = self._errors_if_changed()
        errors: Array = np.where(self.inside, removed, added)
        if self.size == 1:
            errors = errors.astype(float)
            errors[self.inside] = math.inf
        return errors

    @abstractmethod
    def errors_if_added(self, members: IntArray | None = None) -> Array:
        """Return the error with each of the members (all, if None) added.

        It has no meaning for members inside, unless they may come in again: then it
        needs equal weights.
        """

    @abstractmethod
    def errors_if_removed(self) -> Array:
        """Return the error with each member removed, for those inside."""

    @abstractmethod
    def sample_errors(self) -> Array:
        """Return the error on each sample, in units of ``1 / scale``."""

    def rescued(self) -> Array:
        """Return, for each member, the set's error on samples the member gets right."""
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

    @abstractmethod
    def winners(self) -> IntArray:
        """Return the class that wins each sample, -1 at a tie."""

    def snapshot(self) -> Any:
        """Return the state, to come back to it."""
        return self._state.copy(), self.inside.copy()

    def restore(self, state: Any) -> None:
        """Come back to a state."""
        self._state[:], self.inside[:] = state
        self.size = int(np.count_nonzero(self.inside))

    @property
    @abstractmethod
    def _state(self) -> Array: ...

    @abstractmethod
    def _error(self) -> Any: ...

    @abstractmethod
    def _change(self, member: int, step: int) -> None: ...

    def _errors_if_changed(self) -> tuple[Array, Array]:
        return self.errors_if_added(), self.errors_if_removed()


def open_ballot(
    votes: Votes, ties: Ties = "expected", most: int | None = None
) -> Ballot:
    """Return an empty ballot of the kind the votes need.

    Where members may come in again, ``most`` is how many votes there will be at most.
    """
    if not votes.has_equal_weights:
        return WeightedBallot(votes, ties)
    if votes.n_classes == 2:
        return TwoClassBallot(votes, ties, most)
    return ManyClassBallot(votes, ties)


class TwoClassBallot(Ballot):
    """Right against wrong, on packed flags.

    ``lead`` is the number of right votes minus that of wrong ones on each sample. One
    vote more or less matters only where the lead is -1, 0 or 1.
    """

    def __init__(self, votes: Votes, ties: Ties, most: int | None = None) -> None:
        super().__init__(votes, ties)
        self.scale = 2
        self.right = bits.pack_equal(votes.codes, votes.y)
        self.wrong = (
            bits.pack_equal(votes.codes, 1 - votes.y) if votes.is_masked else None
        )
        highest = votes.n_members if most is None else most
        # The smallest type that holds all votes, both ways.
        small = np.min_scalar_type(-highest - 1)
        self.lead: IntArray = np.zeros(votes.n_samples, dtype=small)
        self.signs: dict[int, Array] = {}
        self.scratch: Array | None = None
        self.y_is_lowest = votes.y == 0

    def sample_errors(self) -> IntArray:
        """Return 0 where right, 2 where wrong, and 1 (or 0 or 2) at a tie."""
        if self.ties == "lowest":
            tie = np.where(self.y_is_lowest, 0, 2)
        else:
            tie = np.ones(self.lead.size, dtype=np.int64)
        return np.where(self.lead > 0, 0, np.where(self.lead < 0, 2, tie))

    def winners(self) -> IntArray:
        """Return the class that wins each sample, -1 at a tie."""
        y = self.votes.y.astype(np.int64)
        return np.where(self.lead > 0, y, np.where(self.lead < 0, 1 - y, -1))

    def rescued(self) -> IntArray:
        """Return, for each member, the set's error on samples the member gets right."""
        wrong = bits.count_common(self.right, bits.pack(self.lead < 0))
        tied = self.lead == 0
        if self.ties == "lowest":
            lost = bits.pack(tied & ~self.y_is_lowest)
            return 2 * (wrong + bits.count_common(self.right, lost))
        return 2 * wrong + bits.count_common(self.right, bits.pack(tied))

    def agreement(self) -> IntArray:
        """Return each member's votes for the set's winners minus those against."""
        won, lost = bits.pack(self.lead > 0), bits.pack(self.lead < 0)
        if self.wrong is None:
            # A vote agrees if it is right and the set won, or neither.
            differ = bits.count((self.right ^ won) & (won | lost))
            return int(bits.count(won | lost)) - 2 * differ
        # In place, because making these arrays anew takes longer than filling them.
        if self.scratch is None:
            self.scratch = np.empty((3, *self.right.shape), dtype=np.uint64)
            np.bitwise_or(self.right, self.wrong, out=self.scratch[2])
        first, second, cast = self.scratch
        np.bitwise_and(self.right, won, out=first)
        np.bitwise_and(self.wrong, lost, out=second)
        agree = bits.count(np.bitwise_or(first, second, out=first))
        return 2 * agree - bits.count(np.bitwise_and(cast, won | lost, out=first))

    @property
    def _state(self) -> Array:
        return self.lead

    def _error(self) -> int:
        behind = np.count_nonzero(self.lead < 0)
        if self.ties == "lowest":
            tied = (self.lead == 0) & ~self.y_is_lowest
            return int(2 * (behind + np.count_nonzero(tied)))
        return int(behind + np.count_nonzero(self.lead <= 0))

    def _change(self, member: int, step: int) -> None:
        signs = self.signs.get(member)
        if signs is None:
            signs = self.signs[member] = self._signs(member)
        operation = np.add if step > 0 else np.subtract
        operation(self.lead, signs, out=self.lead, casting="unsafe")

    def _signs(self, member: int) -> Array:
        """Return 1 where the member is right, -1 where wrong, 0 without a vote."""
        codes = self.votes.codes[member]
        hit = (codes == self.votes.y).view(np.int8)
        cast = (codes >= 0).view(np.int8) if self.votes.is_masked else np.int8(1)
        return np.asarray(2 * hit - cast)

    def errors_if_added(self, members: IntArray | None = None) -> IntArray:
        """Return the error with each of the members (all, if None) added."""
        unit, gain, loss = self._boundary()
        rows = slice(None) if members is None else members
        if self.wrong is None:
            fewer = self._right_near(self.right[rows], gain, loss)
            return self._error() + unit * (np.count_nonzero(loss) - fewer)
        fewer = bits.count_common(self.right[rows], bits.pack(gain))
        more = bits.count_common(self.wrong[rows], bits.pack(loss))
        return self._error() + unit * (more - fewer)

    def errors_if_removed(self) -> IntArray:
        """Return the error with each member removed, for those inside."""
        return self._errors_if_changed()[1]

    def _errors_if_changed(self) -> tuple[IntArray, IntArray]:
        unit, gain, loss = self._boundary()
        error = self._error()
        # Taking a right vote away does what adding a wrong one does, and vice versa.
        if self.wrong is None:
            right = self._right_near(self.right, gain, loss)
            added = error + unit * (np.count_nonzero(loss) - right)
            removed = error + unit * (right - np.count_nonzero(gain))
            return added, removed
        helps, harms = bits.pack(gain), bits.pack(loss)
        added = error - unit * (
            bits.count_common(self.right, helps) - bits.count_common(self.wrong, harms)
        )
        removed = error + unit * (
            bits.count_common(self.right, harms) - bits.count_common(self.wrong, helps)
        )
        return added, removed

    def _right_near(self, rows: Array, gain: BoolArray, loss: BoolArray) -> IntArray:
        """Return how often rows are right where they gain plus where they lose.

        Without a mask votes that are not right are wrong, and only this sum matters.
        """
        if self.size % 2 or self.ties == "lowest":  # the two do not overlap
            return bits.count_common(rows, bits.pack(gain | loss))
        return 2 * bits.count_common(rows, bits.pack(gain))  # they are the same

    def _boundary(self) -> tuple[int, BoolArray, BoolArray]:
        """Return how much and where a right vote helps and a wrong one harms."""
        if self.ties == "lowest":
            gain = np.where(self.y_is_lowest, self.lead == -1, self.lead == 0)
            loss = np.where(self.y_is_lowest, self.lead == 0, self.lead == 1)
            return 2, gain, loss
        tied = self.lead == 0
        return 1, tied | (self.lead == -1), tied | (self.lead == 1)


class ManyClassBallot(Ballot):
    """Counts of votes per class; only samples with a close race are looked at."""

    def __init__(self, votes: Votes, ties: Ties) -> None:
        super().__init__(votes, ties)
        self.scale = _scale(votes.n_classes)
        self.counts = np.zeros((votes.n_classes, votes.n_samples), dtype=np.int32)
        self.columns = np.arange(votes.n_samples)

    def sample_errors(self) -> IntArray:
        """Return the error on each sample."""
        return self._judge(self.counts, self.votes.y)

    def winners(self) -> IntArray:
        """Return the class that wins each sample, -1 at a tie."""
        top = self.counts == self.counts.max(axis=0)
        return np.where(np.count_nonzero(top, axis=0) == 1, top.argmax(axis=0), -1)

    @property
    def _state(self) -> Array:
        return self.counts

    def _error(self) -> int:
        return int(self.sample_errors().sum())

    def _change(self, member: int, step: int) -> None:
        codes = self.votes.codes[member]
        if self.votes.is_masked:
            cast = codes >= 0
            self.counts[codes[cast], self.columns[cast]] += step
        else:
            self.counts[codes, self.columns] += step

    def _judge(self, counts: IntArray, y: Array) -> IntArray:
        """Return the error of counts (classes x samples) against ``y``."""
        columns = np.arange(y.size)
        best = counts.max(axis=0)
        own = counts[y, columns]
        top = counts == best
        if self.ties == "lowest":
            wrong = top.argmax(axis=0) != y
            return np.where(wrong, self.scale, 0)
        tied = np.count_nonzero(top, axis=0)
        share = self.scale - self.scale // tied
        return np.where(own == best, share, self.scale)

    def errors_if_added(self, members: IntArray | None = None) -> IntArray:
        """Return the error with each of the members (all, if None) added."""
        return self._errors_after(+1, members)

    def errors_if_removed(self) -> IntArray:
        """Return the error with each member removed, for those inside."""
        return self._errors_after(-1, None)

    def _errors_after(self, step: int, members: IntArray | None) -> IntArray:
        now = self.sample_errors()
        close = self._close()
        counts, y = self.counts[:, close].copy(), self.votes.y[close]
        change = np.empty(counts.shape, dtype=np.int64)
        for label in range(self.votes.n_classes):
            counts[label] += step
            change[label] = self._judge(counts, y) - now[close]
            counts[label] -= step
        codes = self.votes.codes if members is None else self.votes.codes[members]
        gathered = self._gather(change, codes[:, close])
        return np.asarray(now.sum() + gathered)

    def _close(self) -> IntArray:
        """Return the samples whose verdict one vote can change."""
        y = self.votes.y
        own = self.counts[y, self.columns]
        others = self.counts.copy()
        others[y, self.columns] = -2
        return np.flatnonzero(np.abs(own - others.max(axis=0)) <= 1)

    def _gather(self, change: IntArray, codes: Array) -> IntArray:
        """Sum, for each member, the change its vote makes on each sample."""
        total = np.zeros(len(codes), dtype=np.int64)
        n_close = codes.shape[1]
        if n_close == 0:
            return total
        # One class more, of changes that are zero, for votes that are missing.
        bins = len(change) + 1
        padded = np.zeros((n_close, bins), dtype=np.int64)
        padded[:, 1:] = change.T
        flat, base = padded.ravel(), bins * np.arange(n_close) + 1
        for member, row in enumerate(codes):
            total[member] = flat.take(base + row).sum()
        return total


def _scale(n_classes: int) -> int:
    """Return a whole number that all ties of so many classes divide."""
    return math.lcm(*range(1, min(n_classes, _MOST_TIED) + 1))


class WeightedBallot(Ballot):
    """Sums of weights per class; candidates are judged one after the other."""

    def __init__(self, votes: Votes, ties: Ties) -> None:
        super().__init__(votes, ties)
        assert votes.weights is not None
        self.scale = _scale(votes.n_classes)
        self.weights = votes.weights
        self.slack = TIE_TOLERANCE * float(votes.weights.sum())
        self.scores = np.zeros((votes.n_classes, votes.n_samples))
        self.columns = np.arange(votes.n_samples)

    def sample_errors(self) -> Array:
        """Return the error on each sample."""
        return self._judge(self.scores)

    def winners(self) -> IntArray:
        """Return the class that wins each sample, -1 at a tie."""
        top = self.scores >= self.scores.max(axis=0) - self.slack
        return np.where(np.count_nonzero(top, axis=0) == 1, top.argmax(axis=0), -1)

    @property
    def _state(self) -> Array:
        return self.scores

    def _error(self) -> int:
        return int(self.sample_errors().sum())

    def _change(self, member: int, step: int) -> None:
        codes = self.votes.codes[member]
        cast = codes >= 0
        self.scores[codes[cast], self.columns[cast]] += step * self.weights[member]

    def _judge(self, scores: Array) -> IntArray:
        # Whole numbers here too: adding up thirds would let rounding break ties.
        top = scores >= scores.max(axis=0) - self.slack
        if self.ties == "lowest":
            return np.where(top.argmax(axis=0) != self.votes.y, self.scale, 0)
        has_truth = top[self.votes.y, self.columns]
        tied = np.count_nonzero(top, axis=0)
        return np.where(has_truth, self.scale - self.scale // tied, self.scale)

    def errors_if_added(self, members: IntArray | None = None) -> FloatArray:
        """Return the error with each of the members (all, if None) added."""
        if members is None:
            return self._errors_after(np.arange(self.inside.size), ~self.inside, +1)
        return self._errors_after(members, ~self.inside[members], +1)

    def errors_if_removed(self) -> FloatArray:
        """Return the error with each member removed, for those inside."""
        return self._errors_after(np.arange(self.inside.size), self.inside, -1)

    def _errors_after(
        self, members: IntArray, meant: BoolArray, step: int
    ) -> FloatArray:
        errors = np.full(members.size, math.inf)
        before = self.scores.copy()
        for place in np.flatnonzero(meant):
            self._change(int(members[place]), step)
            errors[place] = self._error()
            self.scores[:] = before
        return errors
