"""Weights that add up to one and make the averaged probability good."""

import numpy as np

from quorate._kernels.losses import FLOOR
from quorate._typing import BoolArray, FloatArray, IntArray
from quorate.pruning._base import Pruner
from quorate.pruning._shares import gram, label_products, shares_of, usable
from quorate.pruning._tags import PrunerTags
from quorate.votes import Votes

_STEPS = 1000
_ROUGH_STEPS = 100
_STILL = 1e-6
# Samples on which the label is taken to be as likely any other class.
_DOUBT = 1.0
_NONE = 1e-6


class SimplexWeights(Pruner):
    """Keep members whose weighted average probability is best.

    Finds weights that are not negative and add up to one and minimise the logarithmic
    loss or the Brier score of the average; a convex problem with one answer. Members of
    little weight leave, a third of those too many at a time, and the weights of the
    others are found again. Made for pools of different models with probabilities.

    Parameters
    ----------
    keep : float, int or None
        Fraction in (0, 1] or number of members to keep, at most. None keeps every
        member that has a weight.
    loss : {"log_loss", "brier"}
        What to minimise.
    smoothing : float
        Pull towards equal weights: as if this share of the samples had been best
        explained by every member alike (``log_loss``), or as a penalty on the squared
        distance from equal weights (``brier``).

    Attributes
    ----------
    weights_ : ndarray of shape (n_members,)
        The weights, adding up to one; zero for members not kept.

    Notes
    -----
    With the logarithmic loss, labels are doubted a little, as if on one sample more
    every other class had been true: on few samples that all members get right, the
    boldest would win otherwise. Where a member may not vote it counts as saying what
    the others say on average. With the Brier score, sums are over the samples on which
    both of two members may vote. No probability counts as less than 1e-6. Votes without
    probabilities count as certain. Old weights play no part. Equals leave from the
    highest position.

    Examples
    --------
    >>> import numpy as np
    >>> import quorate
    >>> y = np.arange(40) % 2
    >>> sure, vague = np.eye(2)[y] * 0.8 + 0.1, np.eye(2)[y] * 0.2 + 0.4
    >>> votes = quorate.Votes([y, y], y, probabilities=[vague, sure])
    >>> quorate.pruning.SimplexWeights(keep=1).fit(votes).order_
    array([1])
    """

    tags = PrunerTags(
        finds_size=True,
        honours_keep=False,
        nested=False,
        chooses_weights=True,
        uses_probabilities=True,
        driven_by_accuracy=True,
    )

    def __init__(
        self,
        keep: float | int | None = 0.2,
        loss: str = "log_loss",
        smoothing: float = 0.3,
    ) -> None:
        super().__init__(keep)
        self.loss = loss
        self.smoothing = smoothing

    def _select(self, votes: Votes, size: int) -> IntArray:
        self._one_of("loss", "log_loss", "brier")
        smoothing = self._share("smoothing")
        problem = (
            _LogLoss(votes, smoothing)
            if self.loss == "log_loss"
            else _Brier(votes, smoothing)
        )
        members: IntArray = np.arange(votes.n_members)
        while members.size > size:
            weights = problem.solve(members, _ROUGH_STEPS)
            leaving = max(1, (members.size - size) // 3)
            stay = np.argsort(-_rounded(weights), kind="stable")[:-leaving]
            members = members[np.sort(stay)]
        weights = problem.solve(members, _STEPS)
        there = weights > _NONE
        order = np.argsort(-_rounded(weights[there]), kind="stable")
        self.weights_ = np.zeros(votes.n_members)
        self.weights_[members[there]] = weights[there] / weights[there].sum()
        return members[there][order]


def _rounded(weights: FloatArray) -> FloatArray:
    """Make weights that only rounding tells apart equal."""
    return weights.round(6)


class _LogLoss:
    """Mean of ``-log`` of the mixture's probability for the class.

    Samples come apart into one row for each class, weighed by the chance that it is
    the class: where all members are right on few samples, the boldest would be best.
    """

    def __init__(self, votes: Votes, smoothing: float) -> None:
        n, m, n_classes = votes.n_members, votes.n_samples, votes.n_classes
        doubt = _DOUBT / (m + _DOUBT) if n_classes > 1 else 0.0
        chances = np.full((m, n_classes), doubt / max(n_classes - 1, 1))
        chances[np.arange(m), votes.y] = 1.0 - doubt
        self.chances = chances.ravel() / m
        self.rows = np.empty((n, m * n_classes))
        for member in range(n):
            self.rows[member] = shares_of(votes, member).ravel()
        np.maximum(self.rows, FLOOR, out=self.rows)
        valid = usable(votes)
        self.valid = None if valid is None else np.repeat(valid, n_classes, axis=1)
        self.smoothing = smoothing

    def solve(self, members: IntArray, steps: int) -> FloatArray:
        """Return the weights, by expectation and maximisation in turns."""
        rows = self.rows[members]
        valid = None if self.valid is None else self.valid[members]
        n = len(rows)
        weights = np.full(n, 1.0 / n)
        for _ in range(steps):
            after = self._step(rows, valid, weights)
            after = (after + self.smoothing / n) / (1 + self.smoothing)
            moved = np.abs(after - weights).max()
            weights = after
            if moved < _STILL:
                break
        return weights

    def _step(
        self, rows: FloatArray, valid: BoolArray | None, weights: FloatArray
    ) -> FloatArray:
        """Return each member's mean share in explaining the samples."""
        if valid is None:
            return np.asarray(weights * (rows @ (self.chances / (weights @ rows))))
        cast = weights @ valid
        there = cast > 0
        mixture = np.where(there, weights @ (rows * valid), 1.0)
        ratio = np.where(there, self.chances * cast / mixture, 0.0)
        # Where a member may not vote it says what the others say.
        elsewhere = 1.0 - valid @ np.where(there, self.chances, 0.0)
        grown = weights * ((rows * valid) @ ratio + elsewhere)
        return np.asarray(grown / grown.sum())


class _Brier:
    """Brier score of the mixture, by one matrix of products."""

    def __init__(self, votes: Votes, smoothing: float) -> None:
        self.G, self.b = gram(votes), label_products(votes)
        self.smoothing = smoothing

    def solve(self, members: IntArray, steps: int) -> FloatArray:
        """Return the weights, by gradient steps back onto the simplex."""
        n = members.size
        G = self.G[np.ix_(members, members)] + self.smoothing * np.eye(n)
        b = self.b[members] + self.smoothing / n
        step = 1.0 / max(float(np.abs(G).sum(axis=1).max()), 1e-12)
        weights = ahead = np.full(n, 1.0 / n)
        pace = 1.0
        for _ in range(steps):
            after = _onto_simplex(ahead - step * (G @ ahead - b))
            faster = (1 + np.sqrt(1 + 4 * pace**2)) / 2
            if (ahead - after) @ (after - weights) > 0:
                faster = 1.0  # overshooting: begin to accelerate anew
            ahead = after + (pace - 1) / faster * (after - weights)
            moved = np.abs(after - weights).max()
            weights, pace = after, faster
            if moved < _STILL / 100:
                break
        return weights


def _onto_simplex(point: FloatArray) -> FloatArray:
    """Return the nearest point with entries that are not negative and add up to 1."""
    falling = np.sort(point)[::-1]
    excess = (np.cumsum(falling) - 1) / np.arange(1, point.size + 1)
    last = np.flatnonzero(falling > excess)[-1]
    return np.asarray(np.maximum(point - excess[last], 0.0))
