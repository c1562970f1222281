"""The vote of a set of members that grows and shrinks, kept up to date.

A :class:`Ballot` knows the vote error of its set, and what it would become with one
member more or one less, without voting again. Errors are whole numbers in units of
``1 / scale`` of a sample, so that comparing them is exact; with voting weights they
are floats.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Any

import numpy as np

from quorate._kernels import bits
from quorate._kernels.verdicts import TIE_TOLERANCE
from quorate._typing import Array, BoolArray, FloatArray, IntArray, Ties
from quorate.votes import Votes

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

    @property
    def size(self) -> int:
        """Number of members in the set."""
        return int(np.count_nonzero(self.inside))

    @property
    def error(self) -> Any:
        """Total vote error of the set; infinite for the empty set."""
        return math.inf if not self.inside.any() else self._error()

    def flip(self, member: int) -> None:
        """Let a member in or out."""
        self._change(member, -1 if self.inside[member] else 1)
        self.inside[member] = not self.inside[member]

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
    def errors_if_added(self) -> Array:
        """Return the error with each member added, for those outside."""

    @abstractmethod
    def errors_if_removed(self) -> Array:
        """Return the error with each member removed, for those inside."""

    @abstractmethod
    def sample_errors(self) -> Array:
        """Return the error on each sample, in units of ``1 / scale``."""

    @abstractmethod
    def winners(self) -> IntArray:
        """Return the class that wins each sample, -1 at a tie."""

    @abstractmethod
    def snapshot(self) -> Any:
        """Return the state, to come back to it."""

    @abstractmethod
    def restore(self, state: Any) -> None:
        """Come back to a state."""

    @abstractmethod
    def _error(self) -> Any: ...

    @abstractmethod
    def _change(self, member: int, step: int) -> None: ...

    def _errors_if_changed(self) -> tuple[Array, Array]:
        return self.errors_if_added(), self.errors_if_removed()


def open_ballot(votes: Votes, ties: Ties = "expected") -> Ballot:
    """Return an empty ballot of the kind the votes need."""
    if not votes.has_equal_weights:
        return WeightedBallot(votes, ties)
    if votes.n_classes == 2:
        return TwoClassBallot(votes, ties)
    return ManyClassBallot(votes, ties)


class TwoClassBallot(Ballot):
    """Right against wrong, on packed flags.

    ``lead`` is the number of right votes minus that of wrong ones on each sample. One
    vote more or less matters only where the lead is -1, 0 or 1.
    """

    def __init__(self, votes: Votes, ties: Ties) -> None:
        super().__init__(votes, ties)
        self.scale = 2
        self.right = bits.pack_equal(votes.codes, votes.y)
        self.wrong = (
            bits.pack_equal(votes.codes, 1 - votes.y) if votes.is_masked else None
        )
        self.lead = np.zeros(votes.n_samples, dtype=np.int32)
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

    def snapshot(self) -> Any:
        """Return leads and set."""
        return self.lead.copy(), self.inside.copy()

    def restore(self, state: Any) -> None:
        """Come back to leads and set."""
        self.lead[:], self.inside[:] = state

    def _error(self) -> int:
        wrong = 2 * np.count_nonzero(self.lead < 0)
        tied = self.lead == 0
        if self.ties == "lowest":
            return int(wrong + 2 * np.count_nonzero(tied & ~self.y_is_lowest))
        return int(wrong + np.count_nonzero(tied))

    def _change(self, member: int, step: int) -> None:
        codes = self.votes.codes[member]
        hit = codes == self.votes.y
        if self.votes.is_masked:
            self.lead += step * hit
            self.lead -= step * ((codes >= 0) & ~hit)
        else:
            self.lead += (2 * step) * hit
            self.lead -= step

    def errors_if_added(self) -> IntArray:
        """Return the error with each member added, for those outside."""
        return self._errors_if_changed()[0]

    def errors_if_removed(self) -> IntArray:
        """Return the error with each member removed, for those inside."""
        return self._errors_if_changed()[1]

    def _errors_if_changed(self) -> tuple[IntArray, IntArray]:
        unit, gain, loss = self._boundary()
        right_gain = bits.count_common(self.right, bits.pack(gain))
        same = np.array_equal(gain, loss)
        right_loss = (
            right_gain if same else bits.count_common(self.right, bits.pack(loss))
        )
        wrong_gain: IntArray
        wrong_loss: IntArray
        if self.wrong is None:
            wrong_gain = np.count_nonzero(gain) - right_gain
            wrong_loss = np.count_nonzero(loss) - right_loss
        else:
            wrong_gain = bits.count_common(self.wrong, bits.pack(gain))
            wrong_loss = bits.count_common(self.wrong, bits.pack(loss))
        error = self._error()
        # Taking a right vote away does what adding a wrong one does, and vice versa.
        added = error - unit * right_gain + unit * wrong_loss
        removed = error + unit * right_loss - unit * wrong_gain
        return added, removed

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
        self.scale = math.lcm(*range(1, min(votes.n_classes, _MOST_TIED) + 1))
        self.counts = np.zeros((votes.n_classes, votes.n_samples), dtype=np.int32)
        self.columns = np.arange(votes.n_samples)

    def sample_errors(self) -> IntArray:
        """Return the error on each sample."""
        return self._judge(self.counts, self.votes.y)

    def winners(self) -> IntArray:
        """Return the class that wins each sample, -1 at a tie."""
        top = self.counts == self.counts.max(axis=0)
        return np.where(np.count_nonzero(top, axis=0) == 1, top.argmax(axis=0), -1)

    def snapshot(self) -> Any:
        """Return counts and set."""
        return self.counts.copy(), self.inside.copy()

    def restore(self, state: Any) -> None:
        """Come back to counts and set."""
        self.counts[:], self.inside[:] = state

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

    def errors_if_added(self) -> IntArray:
        """Return the error with each member added, for those outside."""
        return self._errors_after(+1)

    def errors_if_removed(self) -> IntArray:
        """Return the error with each member removed, for those inside."""
        return self._errors_after(-1)

    def _errors_after(self, step: int) -> IntArray:
        now = self.sample_errors()
        close = self._close()
        counts, y = self.counts[:, close].copy(), self.votes.y[close]
        change = np.empty(counts.shape, dtype=np.int64)
        for label in range(self.votes.n_classes):
            counts[label] += step
            change[label] = self._judge(counts, y) - now[close]
            counts[label] -= step
        gathered = self._gather(change, self.votes.codes[:, close])
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
        padded = np.vstack([change, np.zeros((1, n_close), dtype=np.int64)])
        places = np.arange(n_close)
        for member, row in enumerate(codes):
            total[member] = padded[row, places].sum()
        return total


class WeightedBallot(Ballot):
    """Sums of weights per class; candidates are judged one after the other."""

    def __init__(self, votes: Votes, ties: Ties) -> None:
        super().__init__(votes, ties)
        assert votes.weights is not None
        self.scale = 1
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

    def snapshot(self) -> Any:
        """Return scores and set."""
        return self.scores.copy(), self.inside.copy()

    def restore(self, state: Any) -> None:
        """Come back to scores and set."""
        self.scores[:], self.inside[:] = state

    def _error(self) -> float:
        return float(self.sample_errors().sum())

    def _change(self, member: int, step: int) -> None:
        codes = self.votes.codes[member]
        cast = codes >= 0
        self.scores[codes[cast], self.columns[cast]] += step * self.weights[member]

    def _judge(self, scores: Array) -> Array:
        top = scores >= scores.max(axis=0) - self.slack
        if self.ties == "lowest":
            return np.asarray(top.argmax(axis=0) != self.votes.y, dtype=float)
        has_truth = top[self.votes.y, self.columns]
        tied = np.count_nonzero(top, axis=0)
        return np.asarray((tied - has_truth) / tied)

    def errors_if_added(self) -> FloatArray:
        """Return the error with each member added, for those outside."""
        return self._errors_after(~self.inside, +1)

    def errors_if_removed(self) -> FloatArray:
        """Return the error with each member removed, for those inside."""
        return self._errors_after(self.inside, -1)

    def _errors_after(self, candidates: BoolArray, step: int) -> FloatArray:
        errors = np.full(candidates.size, math.inf)
        before = self.scores.copy()
        for member in np.flatnonzero(candidates):
            self._change(int(member), step)
            errors[member] = self._error()
            self.scores[:] = before
        return errors
