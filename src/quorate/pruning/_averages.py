"""Losses of an average that grows member by member, and may count members again.

Each class knows one loss: what it is now, and what it would be with each member added.
None of them averages anew for a candidate. What a vote can do to a sample is one of few
things, so votes are looked up; the Brier score is a quadratic form of counts; a product
of probabilities has one logarithm.
"""

import numpy as np

from quorate._kernels import lookup
from quorate._kernels.counts import column_blocks
from quorate._kernels.losses import FLOOR, NEAR, log_of_product
from quorate._typing import Array, FloatArray, IntArray
from quorate._votes import Probabilities, Votes
from quorate.pruning._averaging import GrowingAverage
from quorate.pruning._ballot import open_ballot
from quorate.pruning._leads import TwoClassAccuracy
from quorate.pruning._shares import VoteSums, shares_of, unsure_probabilities, usable

# No probability is further than this from any other: rows may be off by 1e-3.
_WIDEST = 1.01
# Rows that add up to one this closely lose nothing that matters in products.
_WHOLE = 1e-6
# Single precision errs by less than this in a mean of logarithms.
_ROUGH = 1e-5


def open_average(votes: Votes, loss: str, most: int) -> GrowingAverage:
    """Return an empty average, with up to ``most`` members to come in."""
    given = unsure_probabilities(votes)
    if loss == "accuracy":
        if given is None:
            return VotedAccuracy(votes, most)
        if votes.n_classes == 2:
            return TwoClassAccuracy(votes, given)
        return SharedAccuracy(votes, given)
    if loss == "brier":
        return BrierByParts(votes) if votes.is_masked else BrierByPairs(votes)
    return VotedLogLoss(votes) if given is None else SharedLogLoss(votes, given)


class VotedAccuracy(GrowingAverage):
    """Errors of the vote: only samples within one vote of a tie are looked at."""

    def __init__(self, votes: Votes, most: int) -> None:
        super().__init__(votes)
        self.ballot = open_ballot(votes, most=most)

    def add(self, member: int) -> None:
        """See :class:`GrowingAverage`."""
        self.ballot.add(member)

    def loss(self) -> float:
        """See :class:`GrowingAverage`."""
        return float(self.ballot.error) / (self.ballot.scale * self.m)

    def losses(self, members: IntArray) -> FloatArray:
        """See :class:`GrowingAverage`."""
        errors = self.ballot.errors_if_added(members)
        return np.asarray(errors / (self.ballot.scale * self.m))


class _Sums(GrowingAverage):
    """What the set gives each class, (n_classes, n_samples), and how many vote."""

    def __init__(self, votes: Votes) -> None:
        super().__init__(votes)
        self.valid = usable(votes)
        self.total = np.zeros((votes.n_classes, votes.n_samples))
        self.cast = np.zeros(votes.n_samples)
        self.columns = np.arange(votes.n_samples)

    def add(self, member: int) -> None:
        """See :class:`GrowingAverage`."""
        self.total += shares_of(self.votes, member).T
        self.cast += 1.0 if self.valid is None else self.valid[member]

    def _own(self) -> FloatArray:
        return self.total[self.votes.y, self.columns]


class SharedAccuracy(_Sums):
    """Errors of the averaged probabilities, on samples one member can decide."""

    def __init__(self, votes: Votes, given: Probabilities) -> None:
        super().__init__(votes)
        self.given = given

    def loss(self) -> float:
        """See :class:`GrowingAverage`."""
        errors = _errors(self.total, self.cast, self.votes.y)
        return float(errors.sum()) / self.m

    def losses(self, members: IntArray) -> FloatArray:
        """See :class:`GrowingAverage`."""
        own, others = self._own(), self.total.copy()
        others[self.votes.y, self.columns] = -np.inf
        lead = own - others.max(axis=0)
        open_ = np.flatnonzero(np.abs(lead) <= _WIDEST)
        lost = np.count_nonzero(lead < -_WIDEST)
        total, cast, y = self.total[:, open_], self.cast[open_], self.votes.y[open_]
        found = np.empty(members.size)
        for place, member in enumerate(members):
            shares = self.given.of(int(member), open_).astype(np.float32).T
            voted = 1.0 if self.valid is None else self.valid[member, open_]
            found[place] = _errors(total + shares, cast + voted, y).sum()
        return (found + lost) / self.m


def _errors(total: FloatArray, cast: FloatArray, y: Array) -> FloatArray:
    """Return how a random choice among the best classes errs on each sample."""
    near = total.max(axis=0) - NEAR * np.maximum(cast, 1.0)
    # Class by class: NumPy is slow at reducing an axis of few entries.
    tied = sum((row >= near).astype(np.int16) for row in total)
    right = total[y, np.arange(y.size)] >= near
    return np.asarray(1.0 - right / tied)


class BrierByPairs(GrowingAverage):
    """The Brier score where everybody votes: a quadratic form of how often who is in.

    With counts ``u``, products ``G`` and shares ``b`` of the true class it is
    ``1 + u'Gu / k**2 - 2 b'u / k`` for ``k`` members, so one more costs nothing.
    """

    def __init__(self, votes: Votes) -> None:
        super().__init__(votes)
        given = unsure_probabilities(votes)
        if given is None:
            self.G = votes.agreement()[0].astype(float)
            self.b = votes.member_counts()[0].astype(float)
        else:
            self.G, self.b = _products(given, votes.y)
        self.size = 0
        self.square = self.own = 0.0
        self.cross = np.zeros(votes.n_members)

    def add(self, member: int) -> None:
        """See :class:`GrowingAverage`."""
        self.square += 2 * self.cross[member] + self.G[member, member]
        self.own += self.b[member]
        self.cross = self.cross + self.G[member]
        self.size += 1

    def loss(self) -> float:
        """See :class:`GrowingAverage`."""
        k = self.size
        return float(self.square / k**2 - 2 * self.own / k) / self.m + 1.0

    def losses(self, members: IntArray) -> FloatArray:
        """See :class:`GrowingAverage`."""
        k = self.size + 1
        square = self.square + 2 * self.cross[members] + self.G.diagonal()[members]
        own = self.own + self.b[members]
        return np.asarray((square / k**2 - 2 * own / k) / self.m + 1.0)


def _products(given: Probabilities, y: Array) -> tuple[FloatArray, FloatArray]:
    """Return the inner products of all pairs, and each member's with the labels.

    In double precision: picks hang on the ninth digit. Two shares that add up to one
    are one number, which halves the work.
    """
    n, m, n_classes = given.shape
    G, b = np.zeros((n, n)), np.zeros(n)
    for block in column_blocks(n * n_classes, m, 8):
        part, truth = given.block(block), y[block]
        if n_classes == 2:
            gap = np.subtract(part[:, :, 0], part[:, :, 1], dtype=float)
            excess = np.add(part[:, :, 0], part[:, :, 1], dtype=float) - 1.0
            if max(excess.max(), -excess.min()) <= _WHOLE:
                # With p + q = 1 + e for both, 2 (p p' + q q') is
                # (p - q) (p' - q') + (1 + e) (1 + e').
                over = excess.sum(axis=1)
                G += (gap @ gap.T + over[:, None] + over + truth.size) / 2
                b += (gap @ np.where(truth == 0, 1.0, -1.0) + over + truth.size) / 2
                continue
        flat = part.astype(float).reshape(n, -1)
        G += flat @ flat.T
        b += part[:, np.arange(truth.size), truth].sum(axis=1, dtype=float)
    return G, b


class BrierByParts(_Sums):
    """The Brier score where votes are missing: sums over the samples one votes on."""

    def __init__(self, votes: Votes) -> None:
        super().__init__(votes)
        self.given = unsure_probabilities(votes)
        self.sums = VoteSums(votes.codes, votes.n_classes, votes.is_masked)

    def loss(self) -> float:
        """See :class:`GrowingAverage`."""
        return float(self._now().mean())

    def _now(self) -> FloatArray:
        n_classes = len(self.total)
        whole = np.maximum(self.cast, 1.0)
        square = (self.total**2).sum(axis=0) / whole**2
        now = square - 2 * self._own() / whole + 1.0
        return np.where(self.cast > 0, now, 1.0 - 1.0 / n_classes)

    def losses(self, members: IntArray) -> FloatArray:
        """See :class:`GrowingAverage`."""
        now, whole = self._now(), self.cast + 1.0
        # (T + p)**2 = T**2 + 2 T p + p**2: what a voter adds, whatever it says ...
        base = (self.total**2).sum(axis=0) / whole**2 - 2 * self._own() / whole
        base += 1.0 - now
        # ... and by what it says.
        table = 2 * self.total / whole**2
        table[self.votes.y, self.columns] -= 2 / whole
        if self.given is None:  # a vote is its own square, and one in all
            table += base + 1 / whole**2
            changes = self.sums.by_member(lambda block: table[:, block])[members]
            return np.asarray((changes + now.sum()) / self.m)
        found = np.empty(members.size)
        for place, member in enumerate(members):
            shares = self.given.of(int(member)).astype(np.float32).T.astype(float)
            change = (shares * (shares / whole**2 + table)).sum()
            voted = 1.0 if self.valid is None else self.valid[member]
            found[place] = change + (base * voted).sum()
        return np.asarray((found + now.sum()) / self.m)


class VotedLogLoss(_Sums):
    """The logarithmic loss of votes: a vote is right or not, so two sums tell."""

    def __init__(self, votes: Votes) -> None:
        super().__init__(votes)
        self.right = lookup.rows_equal(votes.codes, votes.y)
        valid = self.valid
        self.voted = None if valid is None else lookup.rows_equal(valid, True)

    def loss(self) -> float:
        """See :class:`GrowingAverage`."""
        return float(self._now().mean())

    def _now(self) -> FloatArray:
        share = self._own() / np.maximum(self.cast, 1.0)
        share[self.cast == 0] = 1.0 / len(self.total)
        return np.asarray(-np.log(np.maximum(share, FLOOR)))

    def losses(self, members: IntArray) -> FloatArray:
        """See :class:`GrowingAverage`."""
        own, whole = self._own(), self.cast + 1.0
        miss = -np.log(np.maximum(own / whole, FLOOR))
        hit = -np.log(np.maximum((own + 1.0) / whole, FLOOR))
        total = lookup.sum_where_set(self.right[:, members], hit - miss)
        if self.voted is None:
            return np.asarray((total + miss.sum()) / self.m)
        now = self._now()
        total += lookup.sum_where_set(self.voted[:, members], miss - now)
        return np.asarray((total + now.sum()) / self.m)


class SharedLogLoss(GrowingAverage):
    """The logarithmic loss of averaged probabilities of the true class.

    In single precision for all, and in double for those that may be best: who is not
    near the best need not be known to the ninth digit.
    """

    def __init__(self, votes: Votes, given: Probabilities) -> None:
        super().__init__(votes)
        self.n_classes = votes.n_classes
        self.valid = usable(votes)
        columns = np.arange(self.m)
        self.shares = np.empty((votes.n_members, self.m), dtype=np.float32)
        for member, row in enumerate(self.shares):
            row[:] = given.of(member)[columns, votes.y]
        self.own, self.cast = np.zeros(self.m), np.zeros(self.m)
        self.size = 0

    def add(self, member: int) -> None:
        """See :class:`GrowingAverage`."""
        self.own += self.shares[member]
        self.cast += 1.0 if self.valid is None else self.valid[member]
        self.size += 1

    def loss(self) -> float:
        """See :class:`GrowingAverage`."""
        share = self.own / np.maximum(self.cast, 1.0)
        share[self.cast == 0] = 1.0 / self.n_classes
        return float(-np.log(np.maximum(share, FLOOR)).mean())

    def losses(self, members: IntArray) -> FloatArray:
        """See :class:`GrowingAverage`."""
        if self.valid is not None:
            return self._masked(members)
        if self.size == 0:  # the order of all may be asked for
            return self._everywhere(members, self.own)
        found = self._everywhere(members, self.own.astype(np.float32), halvings=2)
        near = np.flatnonzero(found <= found.min() + _ROUGH)
        found[near] = self._everywhere(members[near], self.own)
        return found

    def _everywhere(
        self, members: IntArray, own: Array, halvings: int = 5
    ) -> FloatArray:
        """Return the losses where everybody votes, in the precision of ``own``."""
        logs: FloatArray = np.zeros(members.size)
        logs -= self.m * np.log(self.size + 1.0)
        everybody = members.size == len(self.shares)
        floor = own.dtype.type(FLOOR * (self.size + 1.0))
        for block in column_blocks(8 * members.size, self.m, own.itemsize):
            part = self.shares[:, block]
            after: Array = own[block] + (part if everybody else part[members])
            low = np.flatnonzero(own[block] < floor)
            after[:, low] = np.maximum(after[:, low], floor)
            logs += log_of_product(after, halvings)
        return -logs / self.m

    def _masked(self, members: IntArray) -> FloatArray:
        logs = np.zeros(members.size)
        assert self.valid is not None
        for block in column_blocks(8 * members.size, self.m, 8):
            after = self.own[block] + self.shares[members, block]
            whole = self.cast[block] + self.valid[members, block]
            after /= np.maximum(whole, 1.0)
            after[whole == 0] = 1.0 / self.n_classes
            logs += log_of_product(np.maximum(after, FLOOR, out=after))
        return -logs / self.m
