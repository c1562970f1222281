"""Losses and scores of an average that grows member by member.

Each class implements one loss: its current value, and its value with each member added,
without recomputing the average for each candidate if possible. Votes have few possible
effects on a sample, so they are looked up; the Brier score is a quadratic form of
counts; a product of probabilities needs one logarithm; a confusion matrix changes only
where a single member can change the prediction. Other scores are evaluated for each
candidate.
"""

import math
from collections.abc import Callable
from functools import partial
from typing import Any, TypeAlias

import numpy as np

from quorate._kernels.counts import column_blocks
from quorate._kernels.losses import FLOOR, NEAR, log_of_product, sample_losses
from quorate._kernels.sums import sum_by_vote
from quorate._scoring import Score, StoredPrediction, TableScore, count_pairs
from quorate._typing import Array, FloatArray, IntArray
from quorate._votes import Probabilities, Votes, totals
from quorate.pruning._running import (
    QuadraticLoss,
    RunningLoss,
    running_vote,
)
from quorate.pruning._vote_shares import (
    shares_of,
    unsure_probabilities,
    usable,
)

# The loss for class sums and the weight of the votes on each sample.
LossOfSums: TypeAlias = Callable[[FloatArray, FloatArray], float]
# The losses of samples, for these and the true classes.
LossesOfSums: TypeAlias = Callable[[FloatArray, FloatArray, IntArray], FloatArray]
# Maximum difference of two probabilities: rows may be off by 1e-3.
_WIDEST = 1.01
# Rows whose sums are this close to one are exact enough for products.
_WHOLE = 1e-6
# Error bound of single precision in a mean of logarithms.
_ROUGH = 1e-5
# Logarithms that a parabola misses by more than this are computed directly.
_BENT = 1e-3
# Number of samples whose parabolas are summed in single precision.
_TOGETHER = 4096
# With more candidates than this, single precision is tried before double.
_MANY = 12
# Error bound of single precision for gaps between two shares and for the leads they are
# compared with.
_ROUGH_GAP = np.float32(4e-7)
# Number of rounds for which relevant samples are found in advance.
_AHEAD = 3
# Share of samples below which the relevant ones are copied together.
_WORTH = 0.6
# Scores that are means over samples, with the names of their losses.
SUMS = {"accuracy": "accuracy", "neg_log_loss": "log_loss", "neg_brier_score": "brier"}


def running_average(votes: Votes, loss: str, most: int) -> RunningLoss:
    """Return the loss of an empty average, for up to ``most`` additions."""
    given = unsure_probabilities(votes)
    if loss == "accuracy" and given is None:
        return running_vote(votes, most=most)
    if loss == "accuracy" and given is not None and votes.n_classes == 2:
        return TwoClassAccuracy(votes, given)
    if loss == "brier" and not votes.is_masked:
        return _brier_by_pairs(votes)
    if given is None:
        return VotedAverage(votes, partial(_losses_of_sums, loss))
    if loss == "log_loss" and not votes.is_masked:
        return SharedLogLoss(votes, given)
    return EvaluatedAverage(
        votes,
        lambda total, cast: float(_losses_of_sums(loss, total, cast, votes.y).mean()),
    )


def running_score(votes: Votes, score: Score, most: int) -> RunningLoss:
    """Return a loss that falls as the score grows, for up to ``most`` additions."""
    if score.name in SUMS and votes.has_equal_weights:
        return running_average(votes, SUMS[score.name], most)
    if isinstance(score, TableScore):
        return ScoredByTable(votes, score)
    return _evaluated_score(votes, score)


def _brier_by_pairs(votes: Votes) -> QuadraticLoss:
    """Return the Brier score if every member votes on every sample."""
    given, m = unsure_probabilities(votes), votes.n_samples
    if given is not None:
        G, b = _products(given, votes.y)
        return QuadraticLoss(G / m, b / m, 1.0)
    return QuadraticLoss(
        totals.agreement(votes)[0] / m, totals.member_counts(votes)[0] / m, 1.0
    )


def _products(given: Probabilities, y: Array) -> tuple[FloatArray, FloatArray]:
    """Return the inner products of all pairs, and of each member with the labels.

    In double precision: selections depend on the ninth digit. Two shares that sum to
    one are stored as one number, which halves the work.
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


class RunningSums(RunningLoss):
    """Class sums of the set, (n_classes, n_samples), and the number of votes."""

    def __init__(self, votes: Votes) -> None:
        self.votes, self.m = votes, votes.n_samples
        given = votes.weights
        self.weights = np.ones(votes.n_members) if given is None else np.array(given)
        self.total = np.zeros((votes.n_classes, votes.n_samples))
        self.cast = np.zeros(votes.n_samples)

    def add(self, member: int, step: int = 1) -> None:
        """See :class:`RunningLoss`."""
        self.total += step * self._member_shares(member)
        self.cast += step * self._vote_weight(member)

    def _member_shares(self, member: int) -> Array:
        """Return a member's share of each class, (n_classes, n_samples)."""
        return np.asarray(self.weights[member] * shares_of(self.votes, member).T)

    def _vote_weight(self, member: int, samples: Array | slice = slice(None)) -> Any:
        """Return the weight of a member's vote on samples."""
        weight = float(self.weights[member])
        if not self.votes.is_masked:
            return weight
        return weight * (self.votes.codes[member, samples] >= 0)


class EvaluatedAverage(RunningSums):
    """Any loss of an average, computed for every candidate.

    Parameters
    ----------
    votes : Votes
    loss_of : callable
        The loss for class sums, (n_classes, n_samples), and the weight of the votes on
        each sample.
    """

    def __init__(self, votes: Votes, loss_of: LossOfSums) -> None:
        super().__init__(votes)
        self.loss_of = loss_of

    def loss(self) -> float:
        """See :class:`RunningLoss`."""
        return self._evaluate(self.total, self.cast)

    def losses(self, members: IntArray) -> FloatArray:
        """See :class:`RunningLoss`."""
        losses = [
            self._evaluate(
                self.total + self._member_shares(m), self.cast + self._vote_weight(m)
            )
            for m in members
        ]
        return np.array(losses)

    def _evaluate(self, total: FloatArray, cast: FloatArray) -> float:
        self.n_evaluations += 1
        loss = self.loss_of(total, cast)
        return loss if np.isfinite(loss) else np.inf


class VotedAverage(RunningSums):
    """The mean of any loss of samples, for equal votes without probabilities.

    A vote has the same effect on a sample whoever casts it, so the effect of a vote for
    each class is looked up by every member.

    Parameters
    ----------
    votes : Votes
    losses_of : callable
        The losses of samples, for their class sums, numbers of votes and true classes.
    """

    def __init__(self, votes: Votes, losses_of: LossesOfSums) -> None:
        super().__init__(votes.unweighted())
        self.losses_of = losses_of

    def loss(self) -> float:
        """See :class:`RunningLoss`."""
        return float(self._sample_losses().mean())

    def losses(self, members: IntArray) -> FloatArray:
        """See :class:`RunningLoss`."""
        now, codes = self._sample_losses(), self.votes.codes
        changes = np.zeros(len(codes))
        for block in column_blocks(len(self.total), codes.shape[1], 64):
            total, cast = self.total[:, block].copy(), self.cast[block] + 1.0
            table = np.empty_like(total)
            for label, given in enumerate(total):
                given += 1.0
                losses = self.losses_of(total, cast, self.votes.y[block])
                table[label] = losses - now[block]
                given -= 1.0
            changes += sum_by_vote(codes[:, block], table, self.votes.is_masked)
        return np.asarray((now.sum() + changes[members]) / self.m)

    def _sample_losses(self) -> FloatArray:
        return self.losses_of(self.total, self.cast, self.votes.y)


def _means(total: FloatArray, cast: FloatArray) -> FloatArray:
    """Return the averages, (n_samples, n_classes); without votes all are equal."""
    there = cast > 0
    mean = np.where(there, total / np.where(there, cast, 1.0), 1.0 / len(total))
    return np.asarray(mean.T)


def _losses_of_sums(
    kind: str, total: FloatArray, cast: FloatArray, y: IntArray
) -> FloatArray:
    """Return the loss of the average on each sample."""
    return sample_losses(kind, _means(total, cast), y)


def _evaluated_score(votes: Votes, score: Score) -> EvaluatedAverage:
    """Return what is missing to the best value of a score, for any score."""
    y = votes.y

    def loss_of(total: FloatArray, cast: FloatArray) -> float:
        codes = np.where(cast > 0, total.argmax(axis=0), -1)
        prediction = StoredPrediction(codes, y)
        if score.needs_shares:
            means = np.ascontiguousarray(_means(total, cast))
            prediction = StoredPrediction(codes, y, means)
        return score.loss(score.inputs(prediction), y)

    return EvaluatedAverage(votes, loss_of)


class TwoClassAccuracy(RunningLoss):
    """Errors of averaged probabilities of two classes: who leads, by how much.

    A sample matters while some member could turn it; those that may matter in the next
    rounds stand side by side. What a member gives the true class more than the other is
    compared with the lead in single precision, and in double where that decides.

    Attributes
    ----------
    rounds_left : int
        Rounds for which the samples side by side will do.
    """

    rounds_left: int

    def __init__(self, votes: Votes, given: Probabilities) -> None:
        self.m, self.given, self.valid = votes.n_samples, given, usable(votes)
        self.is_second = votes.y == 1
        signs = np.where(self.is_second, 1, -1).astype(np.float32)
        self.gaps: Array = np.empty((votes.n_members, self.m), dtype=np.float32)
        for block in column_blocks(votes.n_members, self.m, 8):
            part, gaps = given.block(block), self.gaps[:, block]
            np.subtract(part[:, :, 1], part[:, :, 0], out=gaps)
            gaps *= signs[block]
        least, most = self.gaps.min(axis=0), self.gaps.max(axis=0)
        self.lowest_gap = np.minimum(least, 0).astype(float) - _ROUGH_GAP
        self.highest_gap = np.maximum(most, 0).astype(float) + _ROUGH_GAP
        self.lead, self.cast = np.zeros(self.m), np.zeros(self.m)
        self.buffer: Array = np.empty(0, dtype=np.float32)
        self._watch_samples(np.arange(self.m))

    def add(self, member: int, step: int = 1) -> None:
        """See :class:`RunningLoss`."""
        self.lead += step * self._exact_gaps(member, slice(None))
        self.cast += step * (1.0 if self.valid is None else self.valid[member])
        self.rounds_left = self.rounds_left - 1 if step > 0 else 0
        if self.rounds_left == 0:
            slack = NEAR * (self.cast + _AHEAD)
            falls = self.lead + _AHEAD * self.lowest_gap <= slack
            rises = self.lead + _AHEAD * self.highest_gap >= -slack
            self._watch_samples(np.flatnonzero(falls & rises))

    def _watch_samples(self, samples: IntArray) -> None:
        """Copy the samples that may matter in the next rounds together."""
        self.rounds_left = _AHEAD
        if samples.size > _WORTH * self.m:  # copying them would take longer
            samples = np.arange(self.m)
            self.window = self.gaps
        else:
            shape = len(self.gaps), samples.size
            size = shape[0] * shape[1]
            if size > self.buffer.size:
                self.buffer = np.empty(size, dtype=np.float32)
            self.window = self.buffer[:size].reshape(shape)
            # A non-default mode avoids a temporary copy.
            self.gaps.take(samples, axis=1, out=self.window, mode="clip")
        self.samples = samples
        outside = np.ones(self.m, dtype=bool)
        outside[samples] = False
        self.n_lost_outside = int(np.count_nonzero(outside & (self.lead < 0)))

    def loss(self) -> float:
        """See :class:`RunningLoss`."""
        near = NEAR * self.cast
        lost = np.count_nonzero(self.lead < -near)
        return float(lost + np.count_nonzero(self.lead <= near)) / (2 * self.m)

    def losses(self, members: IntArray) -> FloatArray:
        """See :class:`RunningLoss`."""
        lead = self.lead[self.samples]
        slack = NEAR * (self.cast[self.samples] + 1.0)
        below = (-lead - slack).astype(np.float32) - _ROUGH_GAP
        above = (-lead + slack).astype(np.float32) + _ROUGH_GAP
        errors = np.full(members.size, 2 * self.n_lost_outside)
        for place, member in enumerate(members):
            row = self.window[member]
            lost, open_ = row < below, row <= above
            n_lost, n_open = np.count_nonzero(lost), np.count_nonzero(open_)
            errors[place] += 2 * n_lost
            if n_open > n_lost:
                close = np.flatnonzero(lost != open_)
                after = self._exact_gaps(int(member), self.samples[close]) + lead[close]
                errors[place] += np.count_nonzero(after < -slack[close])
                errors[place] += np.count_nonzero(after <= slack[close])
        return np.asarray(errors / (2 * self.m))

    def _exact_gaps(self, member: int, samples: Array | slice) -> FloatArray:
        """Return a member's share of the true class minus the other, from float32."""
        shares = self.given.of(member, samples).astype(np.float32)
        gap = np.subtract(shares[:, 1], shares[:, 0], dtype=float)
        return np.where(self.is_second[samples], gap, -gap)


class SharedLogLoss(RunningLoss):
    """The log-loss of averaged probabilities of the true class.

    Approximate for all candidates, and in double precision for those that may be best.
    The logarithm is approximated by a parabola over the range of possible additions,
    with a known error bound; sums of parabolas are matrix products.
    """

    def __init__(self, votes: Votes, given: Probabilities) -> None:
        self.m, self.n_classes = votes.n_samples, votes.n_classes
        own = np.arange(self.m) * votes.n_classes + votes.y
        self.shares = np.empty((votes.n_members, self.m), dtype=np.float32)
        for member, row in enumerate(self.shares):
            row[:] = given.of(member).ravel().take(own)
        self.least, self.most = self.shares.min(axis=0), self.shares.max(axis=0)
        self.squared_shares: Array = np.empty((0, 0), dtype=np.float32)
        self.own, self.size = np.zeros(self.m), 0

    def add(self, member: int, step: int = 1) -> None:
        """See :class:`RunningLoss`."""
        self.own += step * self.shares[member]
        self.size += step

    def loss(self) -> float:
        """See :class:`RunningLoss`."""
        if self.size == 0:
            return math.log(self.n_classes)
        return float(-np.log(np.maximum(self.own / self.size, FLOOR)).mean())

    def losses(self, members: IntArray) -> FloatArray:
        """See :class:`RunningLoss`."""
        if self.size == 0:  # the order of all may be asked for
            return self._by_logarithms(members, self.own)
        losses, doubt = self._by_parabolas(members)
        near = np.flatnonzero(losses <= losses.min() + 2 * doubt + _ROUGH)
        if near.size > _MANY:
            found = self._by_logarithms(members[near], self.own.astype(np.float32), 2)
            losses[near], near = found, near[found <= found.min() + _ROUGH]
        losses[near] = self._by_logarithms(members[near], self.own)
        return losses

    def _by_parabolas(self, members: IntArray) -> tuple[FloatArray, float]:
        """Return the losses, and a bound on their error except for rounding."""
        middle, low = (self.most + self.least) / 2.0, self.own + self.least
        half = np.maximum((self.most - self.least) / 2.0, 1e-3 * low)
        # Error bound of interpolating a logarithm in three Chebyshev points.
        bottom = np.maximum(self.own + middle - half, FLOOR)
        off = (half / bottom) ** 3 / 12
        bent = (off > _BENT) | (low < FLOOR * (self.size + 1.0))
        hard = np.flatnonzero(bent)
        if hard.size > self.m // 3:
            return np.zeros(members.size), np.inf
        if not self.squared_shares.size:
            self.squared_shares = self.shares**2
        there = np.where(bent, 1.0, self.own + middle)
        reach = np.where(bent, 0.5, half * np.sqrt(0.75))
        below, at, above = (np.log(there + by) for by in (-reach, 0.0, reach))
        slope = (above - below) / (2 * reach)
        curve = (above - 2 * at + below) / (2 * reach**2)
        # In powers of the addition itself, not of its distance to the centre.
        linear = np.where(bent, 0.0, slope - 2 * curve * middle).astype(np.float32)
        square = np.where(bent, 0.0, curve).astype(np.float32)
        fixed = np.where(bent, 0.0, at - slope * middle + curve * middle**2).sum()
        logs = np.full(members.size, fixed - self.m * np.log(self.size + 1.0))
        for first in range(0, self.m, _TOGETHER):
            some = slice(first, first + _TOGETHER)
            found = self.shares[:, some] @ linear[some]
            found += self.squared_shares[:, some] @ square[some]
            logs += found[members]
        if hard.size:
            after = self.shares[np.ix_(members, hard)]
            after += self.own[hard].astype(np.float32)
            floor = np.float32(FLOOR * (self.size + 1.0))
            logs += log_of_product(np.maximum(after, floor, out=after), 2)
        return -logs / self.m, float(off[~bent].sum()) / self.m

    def _by_logarithms(
        self, members: IntArray, own: Array, halvings: int = 5
    ) -> FloatArray:
        """Return the losses without missing votes, in the precision of ``own``."""
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


class ScoredByTable(RunningSums):
    """Scores that can be computed from the confusion matrix."""

    def __init__(self, votes: Votes, score: TableScore) -> None:
        super().__init__(votes)
        self.score = score

    def loss(self) -> float:
        """See :class:`RunningLoss`."""
        counts = count_pairs(self._decided(), self.votes.y, len(self.total))
        return float(self.score.top - self.score.of_tables(counts))

    def _decided(self) -> IntArray:
        return np.where(self.cast > 0, self.total.argmax(axis=0), -1)

    def losses(self, members: IntArray) -> FloatArray:
        """See :class:`RunningLoss`."""
        y, n_classes = self.votes.y, len(self.total)
        settled = self.cast > 0
        if n_classes > 1:  # by more than any member could change
            second, first = np.partition(self.total, -2, axis=0)[-2:]
            settled &= first - second > _WIDEST * self.weights[members].max()
        fixed = count_pairs(self._decided()[settled], y[settled], n_classes)
        samples = np.flatnonzero(~settled)
        equal = bool((self.weights == self.weights[0]).all())
        if unsure_probabilities(self.votes) is None and equal:
            decided = self._by_vote(members, samples)
        else:
            decided = self._one_by_one(members, samples)
        tables = [count_pairs(row, y[samples], n_classes) for row in decided]
        return np.asarray(self.score.top - self.score.of_tables(fixed + tables))

    def _by_vote(self, members: IntArray, samples: IntArray) -> Array:
        """Look up the prediction after one more vote for each class."""
        total, n_classes = self.total[:, samples], len(self.total)
        after = np.empty((n_classes + 1, samples.size), dtype=np.int32)
        after[-1] = self._decided()[samples]  # for a vote that may not be used, -1
        for label in range(n_classes):
            more = total.copy()
            more[label] += self.weights[0]
            after[label] = more.argmax(axis=0)
        codes = self.votes.codes[np.ix_(members, samples)]
        return np.asarray(after[codes, np.arange(samples.size)])

    def _one_by_one(self, members: IntArray, samples: IntArray) -> Array:
        total, cast = self.total[:, samples], self.cast[samples]
        decided = np.empty((members.size, samples.size), dtype=np.int32)
        for row, member in zip(decided, members, strict=True):
            after = total + self._member_shares(member)[:, samples]
            there = cast + self._vote_weight(member, samples) > 0
            row[:] = np.where(there, after.argmax(axis=0), -1)
        return decided
