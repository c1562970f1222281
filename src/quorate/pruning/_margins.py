"""Select members whose vote has large margins."""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from quorate._checks import is_number
from quorate._kernels.counts import column_blocks
from quorate._kernels.losses import log_of_product
from quorate._kernels.verdicts import TIE_TOLERANCE
from quorate._typing import Array, FloatArray, IntArray
from quorate._votes import VoteCounts, Votes, totals
from quorate.pruning._base import NEAR, Pruner, PrunerInputs, PrunerTags, first_best
from quorate.pruning._running import BalancedLoss, RunningLoss, exchange, grow
from quorate.pruning._running_average import RunningSums
from quorate.pruning._shares import VoteSums, class_parts, unsure_probabilities

# Exponentials of slopes up to this value can be multiplied without overflow.
_MODERATE = 12.0
# Error bound of single precision in a mean of such losses.
_ROUGH = 2e-5


@dataclass(repr=False, eq=False)
class MarginDistance(Pruner):
    """Move the mean signature towards all correct (MDM).

    A member's signature is +1 where it is right and -1 where it is wrong. Adds the
    member that brings the sum of signatures, divided by the size of the whole ensemble,
    nearest to the point ``(p, ..., p)``; a small p gives hard samples more say.

    Parameters
    ----------
    keep : float or int
        Fraction in (0, 1] or number of members to keep.
    p : float or "schedule"
        The goal on each sample, in (0, 1), or ``2 sqrt(2 u) / n`` at step u.

    Notes
    -----
    One matrix product, then O(n) per pick. Ignores weights. A margin criterion: works
    on training votes too. One published implementation averages signatures to a single
    number and draws p anew at every look.

    References
    ----------
    G. Martínez-Muñoz, D. Hernández-Lobato, A. Suárez, "An analysis of ensemble pruning
    techniques based on ordered aggregation", IEEE TPAMI 31, 2009.

    Examples
    --------
    >>> import quorate
    >>> votes = quorate.Votes([[1, 1, 1, 0], [1, 1, 1, 0], [0, 0, 1, 1]], [1, 1, 1, 1])
    >>> quorate.pruning.MarginDistance(keep=2).fit(votes).order_
    array([0, 2])
    """

    tags = PrunerTags(takes_summary=True)
    keep: float | int | None = 0.2
    p: float | str = 0.075

    def _select(self, inputs: PrunerInputs, size: int) -> list[int]:
        votes: VoteCounts = inputs.votes
        scheduled = self.p == "schedule"
        if not scheduled and not (is_number(self.p) and 0 < float(self.p) < 1):
            raise self._refuse("p", "must be a number in (0, 1), or 'schedule'")
        table = totals.pairs(votes)
        gram = table.both + table.neither - table.first - table.second
        right, asked = totals.member_counts(votes)
        towards = 2 * right - asked
        n = votes.n_members
        # Change of the squared distance, times n, due to the members already picked.
        burden = asked.astype(np.int64)
        outside = np.ones(n, dtype=bool)
        picked: list[int] = []
        score: Array
        for step in range(size):
            if scheduled:
                goal = 2.0 * math.sqrt(2.0 * (step + 1)) / n
                score = 2.0 * goal * n * towards - burden
                member = first_best(score, outside, NEAR)
            else:
                p = Fraction(str(self.p))
                score = 2 * p.numerator * n * towards - p.denominator * burden
                member = first_best(score, outside)
            picked.append(member)
            outside[member] = False
            burden = burden + 2 * gram[member]
        return picked


@dataclass(repr=False, eq=False)
class MarginLoss(Pruner):
    """Keep members whose weighted vote has the largest margins.

    Minimises ``sum_i log(1 + exp(-slope * m_i))``, where the margin ``m_i`` is the
    weight for the true class minus the largest weight for another, as a share of the
    weight of all that vote on the sample. Members are added one by one, then exchanged
    while that helps. A simple choice for boosting that leaves the weights as they are.

    Parameters
    ----------
    keep : float or int
        Fraction in (0, 1] or number of members to keep.
    slope : float
        How steeply the loss falls with the margin; the larger, the more samples near a
        tie count.
    sweeps : int
        How often to go through the members and exchange each for a better one.
    class_weight : {"balanced"}, optional
        Give every class the same weight, however rare.

    Attributes
    ----------
    loss_ : float
        Mean loss of the choice.

    Notes
    -----
    A sample on which nobody chosen may vote has margin 0. Probabilities are used if the
    votes have them. Ties go to the lower position. Each pick and each exchange looks at
    every member once: with equal weights a vote does the same to a sample whoever casts
    it, so that costs less than voting anew; other weights and probabilities cost an
    exponential for each member and sample.

    Examples
    --------
    >>> import quorate
    >>> votes = quorate.Votes([[1, 1, 0, 1], [1, 0, 1, 1], [0, 1, 1, 1]], [1, 1, 1, 1])
    >>> quorate.pruning.MarginLoss(keep=2).fit(votes).order_
    array([0, 1])
    """

    tags = PrunerTags(
        nested=False,
        uses_weights=True,
        driven_by_accuracy=True,
    )
    keep: float | int | None = 0.2
    slope: float = 3.0
    sweeps: int = 2
    class_weight: str | None = None

    def _select(self, inputs: PrunerInputs, size: int) -> list[int]:
        votes = inputs.votes
        slope, sweeps = self._number("slope", above=0), self._count("sweeps")
        running: RunningLoss = RunningMargins(votes, slope)
        if self._is_balanced:
            parts = [RunningMargins(part, slope, True) for part in class_parts(votes)]
            running = BalancedLoss(parts)
        # Tolerance for equal sums of losses: relative to the sum, or to one loss.
        unit = 1 / votes.n_samples
        order, _ = grow(running, votes.n_members, size, inputs.progress, unit)
        exchange(running, votes.n_members, order, sweeps, unit=unit)
        self.loss_ = running.loss()
        return order


class RunningMargins(RunningSums):
    """The margin loss of a weighted vote, for a changing set of members.

    Candidates are screened in single precision, and those that may be best are
    evaluated in double precision, unless all have to be exact.
    """

    def __init__(self, votes: Votes, slope: float, exact: bool = False) -> None:
        super().__init__(votes)
        self.slope = slope
        self.exact = exact or slope > _MODERATE
        self.shares = unsure_probabilities(votes)
        self.sums: VoteSums | None = None
        if self.shares is None and np.ptp(self.weights) == 0:
            self.sums = VoteSums(votes.codes, votes.n_classes, votes.is_masked)

    def _sample_losses(self) -> FloatArray:
        own, best = self._own_and_best()
        return _loss(self._against(own - best, self.cast))

    def losses(self, members: IntArray) -> FloatArray:
        """See :class:`RunningLoss`."""
        if self.sums is not None:
            return self._by_vote(self.sums)[members] / self.m
        if self.exact:
            return self._added(members, np.dtype(float)) / self.m
        losses = self._added(members, np.dtype(np.float32))
        near = losses <= losses.min() + _ROUGH * self.m
        losses[near] = self._added(members[near], np.dtype(float))
        return losses / self.m

    def _own_and_best(self) -> tuple[FloatArray, FloatArray]:
        """Return the weight of the true class and the largest other weight."""
        own = self._own()
        if len(self.total) == 1:
            return own, np.zeros_like(own)
        best = np.full_like(own, -np.inf)
        for label, score in enumerate(self.total):
            np.maximum(best, score, out=best, where=self.votes.y != label)
        return own, best

    def _by_vote(self, sums: VoteSums) -> FloatArray:
        """Look up the effect of a vote for each class on each sample."""
        weight = self.weights[0]
        own, best = self._own_and_best()
        now = self._sample_losses()

        def change(block: slice) -> FloatArray:
            cast, table = self.cast[block] + weight, self.total[:, block] + weight
            for label, score in enumerate(table):
                behind = own[block] - np.maximum(best[block], score)
                ahead = own[block] + weight - best[block]
                leads = np.where(self.votes.y[block] == label, ahead, behind)
                table[label] = _loss(self._against(leads, cast)) - now[block]
            return np.asarray(table)

        return np.asarray(now.sum() + sums.by_member(change))

    def _added(self, members: IntArray, dtype: np.dtype[Any]) -> FloatArray:
        """Evaluate each addition, in blocks of samples that fit in cache."""
        total = np.zeros(members.size)
        weights = self.weights[members, None].astype(dtype)
        own, best = self._own_and_best()
        lead = (own - best).astype(dtype)
        n_items = 4 * members.size * self.votes.n_classes
        halvings = 2 if dtype.itemsize == 4 else 5
        for block in column_blocks(n_items, self.m, dtype.itemsize):
            if self.votes.n_classes == 2:
                leads = weights * self._gaps(members, block, dtype)
                leads += lead[block]
            else:
                leads = self._leads(members, weights, block)
            if not self.votes.is_masked:
                # Every member votes on every sample, so all samples have the same
                # weight.
                cast = self.cast[:1] + self.weights[members, None]
                leads *= self._against(np.ones(1), cast).astype(dtype)
                exponents = leads
            else:
                voted = self.votes.codes[members, block] >= 0
                cast = self.cast[block] + weights * voted
                exponents = self._against(leads, cast).astype(dtype, copy=False)
            # One logarithm of a product instead of a sum of logarithms.
            if self.slope <= _MODERATE:
                factors = np.exp(exponents, out=exponents)
            else:
                total += np.maximum(exponents, 0.0).sum(axis=1)
                factors = np.exp(-np.abs(exponents))
            factors += 1.0
            total += log_of_product(factors, halvings)
        return total

    def _gaps(
        self, members: IntArray, block: slice, dtype: np.dtype[Any]
    ) -> FloatArray:
        """Return the members' weight for the true class minus the other of two."""
        y = self.votes.y[block]
        if self.shares is None:
            codes = self.votes.codes[members, block]
            gaps: FloatArray = np.where(codes == y, dtype.type(1), dtype.type(-1))
            gaps[codes < 0] = 0.0
            return gaps
        shares = self.shares.block(block)
        if members.size < len(shares):
            shares = shares[members]
        gaps = np.subtract(shares[:, :, 1], shares[:, :, 0], dtype=dtype)
        gaps *= np.where(y == 1, dtype.type(1), dtype.type(-1))
        return gaps

    def _leads(
        self, members: IntArray, weights: FloatArray, block: slice
    ) -> FloatArray:
        """Return true minus largest other weight with each of the members added."""
        y = self.votes.y[block]
        codes = self.votes.codes[members, block] if self.shares is None else None
        shares = None if self.shares is None else self.shares.block(block)[members]
        own = np.zeros((members.size, y.size), dtype=weights.dtype)
        best = np.full_like(own, -np.inf if self.votes.n_classes > 1 else 0.0)
        for label, now in enumerate(self.total[:, block]):
            share = codes == label if shares is None else shares[:, :, label]
            score = weights * share
            score += now
            true = y == label
            np.copyto(own, score, where=true)
            score[:, true] = -np.inf if self.votes.n_classes > 1 else 0.0
            np.maximum(best, score, out=best)
        return own - best

    def _against(self, leads: FloatArray, casts: FloatArray) -> FloatArray:
        """Return the margins times ``-slope``."""
        # Sums that should return to zero may be off by rounding.
        there = casts > TIE_TOLERANCE * self.weights.max()
        margins = np.where(there, leads / np.where(there, casts, 1.0), 0.0)
        return np.asarray(-self.slope * margins)


def _loss(exponents: FloatArray) -> FloatArray:
    """Return ``log(1 + exp(x))``; ``logaddexp`` is many times slower."""
    return np.maximum(exponents, 0.0) + np.log1p(np.exp(-np.abs(exponents)))
