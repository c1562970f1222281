"""Choose members whose weighted vote has large margins."""

import numpy as np

from quorate._typing import Array, FloatArray, IntArray
from quorate.pruning._base import Pruner
from quorate.pruning._picking import first_best
from quorate.pruning._shares import blocks_of, shares_of, usable
from quorate.pruning._tags import PrunerTags
from quorate.votes import Votes

_TOLERANCE = 1e-9


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
    A sample on which nobody chosen may vote has margin 0. Probabilities are used where
    the votes have them. Equals go to the lower position.

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
        driven_by_accuracy=True,
    )
    loss_: float

    def __init__(
        self, keep: float | int | None = 0.2, slope: float = 3.0, sweeps: int = 2
    ) -> None:
        super().__init__(keep)
        self.slope = slope
        self.sweeps = sweeps

    def _select(self, votes: Votes, size: int) -> list[int]:
        slope, sweeps = self._positive("slope"), self._count("sweeps")
        race = _Race(votes, slope)
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


def _sweep(race: "_Race", order: list[int]) -> bool:
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
    """Weights for the classes on each sample, from a changing set of members."""

    def __init__(self, votes: Votes, slope: float) -> None:
        self.votes, self.slope = votes, slope
        given = votes.weights
        self.weights = np.ones(votes.n_members) if given is None else np.array(given)
        self.valid = usable(votes)
        self.outside = np.ones(votes.n_members, dtype=bool)
        self.total = np.zeros((votes.n_samples, votes.n_classes))
        self.cast = np.zeros(votes.n_samples)
        self.columns = np.arange(votes.n_samples)

    def move(self, member: int, step: int) -> None:
        weight = step * self.weights[member]
        self.total += weight * shares_of(self.votes, member)
        self.cast += weight * self._votes_of(member)
        self.outside[member] = step < 0

    def _votes_of(self, member: int) -> Array:
        return np.asarray(1.0 if self.valid is None else self.valid[member])

    def loss(self) -> float:
        return float(self._losses(self.total, self.cast))

    def losses(self, members: IntArray) -> FloatArray:
        """Return the loss with each of the members added, infinite for the others."""
        found = np.full(self.votes.n_members, np.inf)
        for block in blocks_of(members, self.votes):
            shares = np.stack([shares_of(self.votes, member) for member in block])
            weights = self.weights[block]
            totals = self.total + weights[:, None, None] * shares
            valid = 1.0 if self.valid is None else self.valid[block]
            casts = self.cast + weights[:, None] * valid
            found[block] = self._losses(totals, casts)
        return found

    def _losses(self, totals: FloatArray, casts: FloatArray) -> FloatArray:
        own = totals[..., self.columns, self.votes.y]
        # Class by class: NumPy is slow at reducing an axis of few entries.
        best = np.full_like(own, -np.inf)
        for place in range(self.votes.n_classes):
            other = np.where(self.votes.y == place, -np.inf, totals[..., place])
            np.maximum(best, other, out=best)
        if self.votes.n_classes == 1:
            best = np.zeros_like(own)
        # Sums that should be zero again may be off by a rounding error.
        there = casts > 1e-12
        margins = np.where(there, (own - best) / np.where(there, casts, 1.0), 0.0)
        losses: FloatArray = np.logaddexp(0.0, -self.slope * margins).sum(axis=-1)
        return losses
