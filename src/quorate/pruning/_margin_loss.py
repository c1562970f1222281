"""Choose members whose weighted vote has large margins."""

from typing import Any

import numpy as np

from quorate._kernels.counts import column_blocks
from quorate._kernels.losses import log_of_product
from quorate._typing import BoolArray, FloatArray, IntArray
from quorate._votes import Votes
from quorate.pruning._base import Pruner
from quorate.pruning._class_weight import class_parts, is_balanced
from quorate.pruning._picking import first_best
from quorate.pruning._shares import VoteSums, shares_of, unsure_probabilities
from quorate.pruning._tags import PrunerTags

_TOLERANCE = 1e-9
# Exponentials of slopes up to here can be multiplied without overflow.
_MODERATE = 12.0
# Single precision errs by less than this in a mean of such losses.
_ROUGH = 2e-5


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
        Let every class count the same, however rare.

    Attributes
    ----------
    loss_ : float
        Mean loss of the choice.

    Notes
    -----
    A sample on which nobody chosen may vote has margin 0. Probabilities are used where
    the votes have them. Equals go to the lower position. Each pick and each exchange
    looks at every member once: with equal weights a vote does the same to a sample
    whoever casts it, so that costs less than voting anew; other weights and
    probabilities cost an exponential for each member and sample.

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
        uses_probabilities=True,
        takes_class_weight=True,
        driven_by_accuracy=True,
    )
    loss_: float

    def __init__(
        self,
        keep: float | int | None = 0.2,
        slope: float = 3.0,
        sweeps: int = 2,
        class_weight: str | None = None,
    ) -> None:
        super().__init__(keep)
        self.slope = slope
        self.sweeps = sweeps
        self.class_weight = class_weight

    def _select(self, votes: Votes, size: int) -> list[int]:
        slope, sweeps = self._positive("slope"), self._count("sweeps")
        race = _BalancedRace(votes, slope) if is_balanced(self) else _Race(votes, slope)
        order: list[int] = []
        while len(order) < size:
            losses = race.losses(np.flatnonzero(race.outside))
            order.append(first_best(-losses, race.outside, _TOLERANCE))
            race.move(order[-1], 1)
            self._progress(len(order), size)
        for _ in range(sweeps):
            if not _sweep(race, order):
                break
        self.loss_ = race.loss() / votes.n_samples
        return order


def _sweep(race: "_Race | _BalancedRace", order: list[int]) -> bool:
    """Exchange each member for the best outsider, where that helps."""
    changed = False
    for place, member in enumerate(order):
        if not race.outside.any():
            break
        before = race.loss()
        candidates = np.flatnonzero(race.outside)
        race.move(member, -1)
        losses = race.losses(candidates)
        allowed = race.outside.copy()
        allowed[member] = False
        other = first_best(-losses, allowed, _TOLERANCE)
        better = losses[other] < before - _TOLERANCE * max(1.0, before)
        order[place] = other if better else member
        race.move(order[place], 1)
        changed |= bool(better)
    return changed


class _Race:
    """Weights for the classes on each sample, from a changing set of members.

    Where members are added one by one, it is in single precision for all and in double
    for those that may be best, unless only others know which these are.
    """

    def __init__(self, votes: Votes, slope: float, knows_best: bool = True) -> None:
        self.votes, self.slope = votes, slope
        self.knows_best = knows_best and slope <= _MODERATE
        given = votes.weights
        self.weights = np.ones(votes.n_members) if given is None else np.array(given)
        self.shares = unsure_probabilities(votes)
        self.sums: VoteSums | None = None
        if self.shares is None and np.ptp(self.weights) == 0:
            self.sums = VoteSums(votes.codes, votes.n_classes, votes.is_masked)
        self.outside = np.ones(votes.n_members, dtype=bool)
        self.total = np.zeros((votes.n_classes, votes.n_samples))
        self.cast = np.zeros(votes.n_samples)
        self.columns = np.arange(votes.n_samples)

    def move(self, member: int, step: int) -> None:
        weight = step * self.weights[member]
        self.total += weight * shares_of(self.votes, member).T
        self.cast += weight * (self.votes.codes[member] >= 0)
        self.outside[member] = step < 0

    def loss(self) -> float:
        own, best = self._own_and_best()
        return float(_loss(self._against(own - best, self.cast)).sum())

    def _own_and_best(self) -> tuple[FloatArray, FloatArray]:
        """Return the weight for the true class and the largest for another."""
        own = self.total[self.votes.y, self.columns]
        if len(self.total) == 1:
            return own, np.zeros_like(own)
        best = np.full_like(own, -np.inf)
        for label, score in enumerate(self.total):
            np.maximum(best, score, out=best, where=self.votes.y != label)
        return own, best

    def losses(self, members: IntArray) -> FloatArray:
        """Return the loss with each of the members added, infinite for the others."""
        found = np.full(self.votes.n_members, np.inf)
        if self.sums is None:
            found[members] = self._one_by_one(members)
        else:
            found[members] = self._by_vote(self.sums)[members]
        return found

    def _by_vote(self, sums: VoteSums) -> FloatArray:
        """Look up what a vote for each class makes of each sample."""
        weight = self.weights[0]
        own, best = self._own_and_best()
        now = _loss(self._against(own - best, self.cast))

        def change(block: slice) -> FloatArray:
            cast, found = self.cast[block] + weight, self.total[:, block] + weight
            for label, score in enumerate(found):
                behind = own[block] - np.maximum(best[block], score)
                ahead = own[block] + weight - best[block]
                leads = np.where(self.votes.y[block] == label, ahead, behind)
                found[label] = _loss(self._against(leads, cast)) - now[block]
            return np.asarray(found)

        return np.asarray(now.sum() + sums.by_member(change))

    def _one_by_one(self, members: IntArray) -> FloatArray:
        if not self.knows_best:
            return self._added(members, np.dtype(float))
        found = self._added(members, np.dtype(np.float32))
        near = found <= found.min() + _ROUGH * self.votes.n_samples
        found[near] = self._added(members[near], np.dtype(float))
        return found

    def _added(self, members: IntArray, dtype: np.dtype[Any]) -> FloatArray:
        """Add each member, for blocks of samples that stay in cache."""
        total = np.zeros(members.size)
        weights = self.weights[members, None].astype(dtype)
        own, best = self._own_and_best()
        lead = (own - best).astype(dtype)
        n_items = 4 * members.size * self.votes.n_classes
        halvings = 2 if dtype.itemsize == 4 else 5
        for block in column_blocks(n_items, self.votes.n_samples, dtype.itemsize):
            if self.votes.n_classes == 2:
                leads = weights * self._gaps(members, block, dtype)
                leads += lead[block]
            else:
                leads = self._leads(members, weights, block)
            if not self.votes.is_masked:
                # Everybody votes on every sample, so all have the same weight.
                cast = self.cast[:1] + self.weights[members, None]
                leads *= self._against(np.ones(1), cast).astype(dtype)
                exponents = leads
            else:
                voted = self.votes.codes[members, block] >= 0
                cast = self.cast[block] + weights * voted
                exponents = self._against(leads, cast).astype(dtype, copy=False)
            # The logarithm of a product instead of a sum of logarithms.
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
        """Return what members give the true of two classes more than the other."""
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
        """Return own minus largest other weight with each of the members added."""
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
        """Return the margins times minus the slope."""
        # Sums that should be zero again may be off by a rounding error.
        there = casts > 1e-12
        margins = np.where(there, leads / np.where(there, casts, 1.0), 0.0)
        return np.asarray(-self.slope * margins)


class _BalancedRace:
    """A race on the samples of each class, all of which count the same."""

    def __init__(self, votes: Votes, slope: float) -> None:
        parts = class_parts(votes)
        self.races = [_Race(part, slope, knows_best=False) for part in parts]
        self.n_samples = votes.n_samples

    @property
    def outside(self) -> BoolArray:
        return self.races[0].outside

    def move(self, member: int, step: int) -> None:
        for race in self.races:
            race.move(member, step)

    def loss(self) -> float:
        return float(self._mean([np.asarray(race.loss()) for race in self.races]))

    def losses(self, members: IntArray) -> FloatArray:
        return self._mean([race.losses(members) for race in self.races])

    def _mean(self, losses: list[FloatArray]) -> FloatArray:
        """Return the balanced mean, times the number of samples."""
        each = [
            loss / race.votes.n_samples
            for loss, race in zip(losses, self.races, strict=True)
        ]
        return np.asarray(self.n_samples * np.mean(each, axis=0))


def _loss(exponents: FloatArray) -> FloatArray:
    """Return ``log(1 + exp(x))``; ``logaddexp`` takes many times as long."""
    return np.maximum(exponents, 0.0) + np.log1p(np.exp(-np.abs(exponents)))
