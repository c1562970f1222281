"""Margin distance minimisation: bring the mean signature near its goal."""

import math
from fractions import Fraction

import numpy as np

from quorate._typing import Array
from quorate._votes import VoteCounts
from quorate.pruning._base import Pruner
from quorate.pruning._picking import NEAR, first_best
from quorate.pruning._tags import PrunerTags


class MarginDistance(Pruner):
    """Move the mean signature to where all is correct (MDM).

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
    One product of matrices, then O(n) per pick. Weights play no part. A margin
    criterion: works on training votes too. One published implementation averages
    signatures to a single number and draws p anew at every look.

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

    def __init__(self, keep: float | int | None = 0.2, p: float | str = 0.075) -> None:
        super().__init__(keep)
        self.p = p

    def _select(self, votes: VoteCounts, size: int) -> list[int]:
        scheduled = self.p == "schedule"
        if not scheduled and not (isinstance(self.p, (int, float)) and 0 < self.p < 1):
            raise self._refuse("p", "a number in (0, 1), or 'schedule'")
        table = votes.pairs()
        gram = table.both + table.neither - table.first - table.second
        right, asked = votes.member_counts()
        towards = 2 * right - asked
        n = votes.n_members
        # The squared distance, times n, grows by this for the members picked already.
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
