"""Select members whose vote has large margins."""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

import numpy as np

from quorate._checks import is_number
from quorate._kernels.verdicts import TIE_TOLERANCE
from quorate._typing import Array, FloatArray, IntArray
from quorate._votes import VoteCounts, Votes, totals
from quorate.pruning._base import NEAR, Pruner, PrunerInputs, PrunerTags, first_best
from quorate.pruning._running import RunningLoss, exchange, grow
from quorate.pruning._running_average import EvaluatedAverage, VotedAverage
from quorate.pruning._vote_shares import unsure_probabilities


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

    def _select(self, inputs: PrunerInputs, size: int) -> list[int]:
        votes = inputs.votes
        slope, sweeps = self._number("slope", above=0), self._count("sweeps")
        running = _running_margins(votes, slope)
        # Tolerance for equal sums of losses: relative to the sum, or to one loss.
        unit = 1 / votes.n_samples
        order, _ = grow(running, votes.n_members, size, inputs.progress, unit)
        exchange(running, votes.n_members, order, sweeps, unit=unit)
        self.loss_ = running.loss()
        return order


def _running_margins(votes: Votes, slope: float) -> RunningLoss:
    """Return the margin loss of an empty set."""
    if votes.has_equal_weights and unsure_probabilities(votes) is None:
        return VotedAverage(votes, partial(_margin_losses, slope))
    largest = 1.0 if votes.weights is None else float(votes.weights.max())
    return EvaluatedAverage(
        votes,
        lambda total, cast: float(
            _margin_losses(slope, total / largest, cast / largest, votes.y).mean()
        ),
    )


def _margin_losses(
    slope: float, total: FloatArray, cast: FloatArray, y: IntArray
) -> FloatArray:
    """Return the loss on each sample, for class sums and the weight of the votes."""
    lead = total[y, np.arange(y.size)] - _best_other(total, y)
    # Sums that should return to zero may be off by rounding.
    there = cast > TIE_TOLERANCE
    exponents = np.where(there, -slope * lead / np.where(there, cast, 1.0), 0.0)
    # log(1 + exp(exponent)); logaddexp is many times slower.
    return np.maximum(exponents, 0.0) + np.log1p(np.exp(-np.abs(exponents)))


def _best_other(total: FloatArray, y: IntArray) -> FloatArray:
    """Return the largest weight of a class other than the true one."""
    if len(total) == 1:
        return np.zeros(y.size)
    best = np.full(y.size, -np.inf)
    for label, weights in enumerate(total):
        np.maximum(best, weights, out=best, where=y != label)
    return best
