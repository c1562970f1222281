"""The loss of a set of members that changes, and searches that make it small.

A :class:`RunningLoss` knows the loss of its set and what it would become with each
member added, without averaging or voting anew.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np

from quorate._typing import BoolArray, FloatArray, IntArray, Progress
from quorate.pruning._base import TOLERANCE, first_best, silent


class RunningLoss(ABC):
    """The mean loss of a changing set, in which members may be several times.

    Attributes
    ----------
    n_evaluations
        How often a score was evaluated as a whole.
    """

    n_evaluations = 0

    @abstractmethod
    def add(self, member: int, step: int = 1) -> None:
        """Let a member in, maybe once more; or out, where ``step`` is -1."""

    @abstractmethod
    def loss(self) -> float:
        """Return the mean loss of the set."""

    @abstractmethod
    def losses(self, members: IntArray) -> FloatArray:
        """Return the mean loss with each of the members added."""

    def losses_among(self, allowed: BoolArray) -> FloatArray:
        """Return the loss with each member allowed, infinite for the others."""
        losses = np.full(allowed.size, np.inf)
        members = np.flatnonzero(allowed)
        losses[members] = self.losses(members)
        return losses


class BalancedLoss(RunningLoss):
    """The mean of the losses on the samples of each class, however rare."""

    def __init__(self, parts: Sequence[RunningLoss]) -> None:
        self.parts = parts

    def add(self, member: int, step: int = 1) -> None:
        """See :class:`RunningLoss`."""
        for part in self.parts:
            part.add(member, step)

    def loss(self) -> float:
        """See :class:`RunningLoss`."""
        return float(np.mean([part.loss() for part in self.parts]))

    def losses(self, members: IntArray) -> FloatArray:
        """See :class:`RunningLoss`."""
        each = [part.losses(members) for part in self.parts]
        return np.asarray(np.mean(each, axis=0))


class QuadraticLoss(RunningLoss):
    """The loss ``u'Gu / k**2 - 2 b'u / k + constant`` of ``k`` members.

    ``u`` says how often each is in. The Brier score of an average is of this form, with
    ``G`` the mean products of all pairs and ``b`` the mean shares of the true class, so
    one more member costs nothing.
    """

    def __init__(self, G: FloatArray, b: FloatArray, constant: float = 0.0) -> None:
        self.G, self.b, self.constant = G, b, constant
        self.size = 0
        self.square = self.own = 0.0
        self.cross = np.zeros(b.size)

    def add(self, member: int, step: int = 1) -> None:
        """See :class:`RunningLoss`."""
        self.square += 2 * step * self.cross[member] + self.G[member, member]
        self.own += step * self.b[member]
        self.cross = self.cross + step * self.G[member]
        self.size += step

    def loss(self) -> float:
        """See :class:`RunningLoss`."""
        k = self.size
        return float(self.square / k**2 - 2 * self.own / k) + self.constant

    def losses(self, members: IntArray) -> FloatArray:
        """See :class:`RunningLoss`."""
        k = self.size + 1
        square = self.square + 2 * self.cross[members] + self.G.diagonal()[members]
        own = self.own + self.b[members]
        return np.asarray(square / k**2 - 2 * own / k + self.constant)


def grow(
    running: RunningLoss,
    n_members: int,
    size: int,
    progress: Progress = silent,
    unit: float = 1.0,
) -> tuple[list[int], list[float]]:
    """Add the member of the smallest loss until there are enough.

    Returns the members in order, and the loss after each. Losses are equal if they
    differ by no more than :data:`TOLERANCE` times the loss, or times ``unit``.
    """
    outside = np.ones(n_members, dtype=bool)
    order: list[int] = []
    losses: list[float] = []
    while len(order) < size:
        after = running.losses_among(outside)
        order.append(first_best(-after, outside, TOLERANCE, unit))
        losses.append(float(after[order[-1]]))
        outside[order[-1]] = False
        running.add(order[-1])
        progress(len(order), size)
    return order, losses


def exchange(
    running: RunningLoss,
    n_members: int,
    order: list[int],
    rounds: int,
    tolerance: float = TOLERANCE,
    unit: float = 1.0,
) -> None:
    """Exchange members one at a time for the best outsider, while that helps."""
    outside = np.ones(n_members, dtype=bool)
    outside[order] = False
    changed = bool(outside.any())
    while changed and rounds:
        changed, rounds = False, rounds - 1
        for place, member in enumerate(order):
            before = running.loss()
            running.add(member, -1)
            after = running.losses_among(outside)
            other = first_best(-after, outside, tolerance, unit)
            if after[other] < before - tolerance * max(unit, abs(before)):
                order[place], changed = other, True
                outside[member], outside[other] = True, False
            running.add(order[place])
