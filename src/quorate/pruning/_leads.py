"""Errors of averaged probabilities of two classes: who leads, by how much."""

import numpy as np

from quorate._kernels.counts import column_blocks
from quorate._kernels.losses import NEAR
from quorate._typing import Array, FloatArray, IntArray
from quorate._votes import Probabilities, Votes
from quorate.pruning._averaging import GrowingAverage
from quorate.pruning._shares import usable

# Gaps between two shares in single precision, and leads that are compared with them,
# are off by less than this.
_ROUGH = np.float32(4e-7)
# Rounds for which the samples that may matter are found in advance.
_AHEAD = 3
# Share of the samples below which these are put side by side.
_WORTH = 0.6


class TwoClassAccuracy(GrowingAverage):
    """Errors of averaged probabilities of two classes.

    A sample matters while some member could turn it; those that may matter in the next
    rounds stand side by side. What a member gives the true class more than the other is
    compared with the lead in single precision, and in double where that decides.
    """

    def __init__(self, votes: Votes, given: Probabilities) -> None:
        super().__init__(votes)
        self.given = given
        self.valid = usable(votes)
        self.is_second = votes.y == 1
        signs = np.where(self.is_second, 1, -1).astype(np.float32)
        self.gaps: Array = np.empty((votes.n_members, self.m), dtype=np.float32)
        for block in column_blocks(votes.n_members, self.m, 8):
            part, gaps = given.block(block), self.gaps[:, block]
            np.subtract(part[:, :, 1], part[:, :, 0], out=gaps)
            gaps *= signs[block]
        least, most = self.gaps.min(axis=0), self.gaps.max(axis=0)
        self.fall = np.minimum(least, 0).astype(float) - _ROUGH
        self.rise = np.maximum(most, 0).astype(float) + _ROUGH
        self.lead, self.cast = np.zeros(self.m), np.zeros(self.m)
        self.room: Array = np.empty(0, dtype=np.float32)
        self._look_at(np.arange(self.m))

    def add(self, member: int) -> None:
        """See :class:`GrowingAverage`."""
        self.lead += self._exactly(member, slice(None))
        self.cast += 1.0 if self.valid is None else self.valid[member]
        self.left -= 1
        if self.left == 0:
            slack = NEAR * (self.cast + _AHEAD)
            falls = self.lead + _AHEAD * self.fall <= slack
            rises = self.lead + _AHEAD * self.rise >= -slack
            self._look_at(np.flatnonzero(falls & rises))

    def _look_at(self, columns: IntArray) -> None:
        """Put the samples side by side that may matter in the next rounds."""
        self.left = _AHEAD
        if columns.size > _WORTH * self.m:  # copying them would take longer
            columns = np.arange(self.m)
            self.window = self.gaps
        else:
            shape = len(self.gaps), columns.size
            size = shape[0] * shape[1]
            if size > self.room.size:
                self.room = np.empty(size, dtype=np.float32)
            self.window = self.room[:size].reshape(shape)
            # A mode other than the usual writes without a copy in between.
            self.gaps.take(columns, axis=1, out=self.window, mode="clip")
        self.columns = columns
        outside = np.ones(self.m, dtype=bool)
        outside[columns] = False
        self.lost = int(np.count_nonzero(outside & (self.lead < 0)))

    def loss(self) -> float:
        """See :class:`GrowingAverage`."""
        near = NEAR * self.cast
        lost = np.count_nonzero(self.lead < -near)
        return float(lost + np.count_nonzero(self.lead <= near)) / (2 * self.m)

    def losses(self, members: IntArray) -> FloatArray:
        """See :class:`GrowingAverage`."""
        lead = self.lead[self.columns]
        slack = NEAR * (self.cast[self.columns] + 1.0)
        below = (-lead - slack).astype(np.float32) - _ROUGH
        above = (-lead + slack).astype(np.float32) + _ROUGH
        errors = np.full(members.size, 2 * self.lost)
        for place, member in enumerate(members):
            row = self.window[member]
            lost, open_ = row < below, row <= above
            n_lost, n_open = np.count_nonzero(lost), np.count_nonzero(open_)
            errors[place] += 2 * n_lost
            if n_open > n_lost:
                close = np.flatnonzero(lost != open_)
                after = self._exactly(int(member), self.columns[close]) + lead[close]
                errors[place] += np.count_nonzero(after < -slack[close])
                errors[place] += np.count_nonzero(after <= slack[close])
        return np.asarray(errors / (2 * self.m))

    def _exactly(self, member: int, samples: Array | slice) -> FloatArray:
        """Return what a member gives the true class more, of shares in 32 bits."""
        shares = self.given.of(member, samples).astype(np.float32)
        gap = np.subtract(shares[:, 1], shares[:, 0], dtype=float)
        return np.where(self.is_second[samples], gap, -gap)
