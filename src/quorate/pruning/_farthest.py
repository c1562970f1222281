"""Members far apart: by farthest-first traversal, or by exchanges."""

from typing import Any

import numpy as np

from quorate._theory import pairwise_diversity
from quorate._typing import FloatArray
from quorate._votes import VoteCounts
from quorate.pruning._base import Pruner
from quorate.pruning._picking import (
    NEAR,
    as_generator,
    first_best,
    most_accurate_first,
)
from quorate.pruning._tags import PrunerTags


class FarthestFirst(Pruner):
    """Keep members far from each other (farthest first, GMA).

    Adds the member whose smallest distance to the set is largest.

    Parameters
    ----------
    keep : float or int
        Fraction in (0, 1] or number of members to keep.
    distance : {"kappa", "disagreement"}
        1 - kappa of the classes voted for, or the share of different votes.
    start : {"best", "random"} or int
        The first member: the most accurate, a random or a given one.
    random_state : int, RandomState, Generator or None
        Seed of a random start.

    Notes
    -----
    Ignores accuracy after the first pick. Weights play no part. The authors of EPBD
    maximised kappa, which is a similarity, and so kept the most alike.

    References
    ----------
    T. Gonzalez, Theoretical Computer Science 38, 1985; S. Aghamolaei, M. Farhadi,
    H. Zarrabi-Zadeh, "Diversity maximization via composable coresets", CCCG 2015.

    Examples
    --------
    >>> import quorate
    >>> votes = quorate.Votes([[1, 1, 1, 0], [1, 1, 1, 0], [0, 0, 1, 1]], [1, 1, 1, 1])
    >>> quorate.pruning.FarthestFirst(keep=2).fit(votes).order_
    array([0, 2])
    """

    tags = PrunerTags(is_random=True, takes_summary=True)

    def __init__(
        self,
        keep: float | int | None = 0.2,
        distance: str = "kappa",
        start: str | int = "best",
        random_state: Any = None,
    ) -> None:
        super().__init__(keep)
        self.distance = distance
        self.start = start
        self.random_state = random_state

    def _select(self, votes: VoteCounts, size: int) -> list[int]:
        self._one_of("distance", "kappa", "disagreement")
        apart = distances(votes, self.distance)
        return farthest_first(apart, [self._first(votes)], size)

    def _first(self, votes: VoteCounts) -> int:
        n = votes.n_members
        if isinstance(self.start, (int, np.integer)) and not isinstance(
            self.start, bool
        ):
            if 0 <= self.start < n:
                return int(self.start)
        elif self.start == "best":
            return int(most_accurate_first(votes)[0])
        elif self.start == "random":
            return int(as_generator(self.random_state).integers(n))
        raise self._refuse("start", f"'best', 'random' or a member from 0 to {n - 1}")


class LocalSearch(Pruner):
    """Keep the largest sum of distances, by local search (LCS).

    Starts from the farthest pair, filled up by farthest-first traversal, and exchanges
    one member at a time while the sum of distances grows by a factor ``1 + eps/n``.

    Parameters
    ----------
    keep : float or int
        Fraction in (0, 1] or number of members to keep.
    distance : {"kappa", "disagreement"}
        As for :class:`FarthestFirst`.
    eps : float
        The growth an exchange must bring, relative and times n.

    Notes
    -----
    The best exchange is taken each time, the first of equals. There is no order of
    picking: ``order_`` is by position. Ignores accuracy, except
    that a single member is the most accurate. Weights play no part. The authors of EPBD
    maximised kappa here too.

    References
    ----------
    Z. Abbassi, V. Mirrokni, M. Thakur, "Diversity maximization under matroid
    constraints", KDD 2013.

    Examples
    --------
    >>> import quorate
    >>> votes = quorate.Votes([[1, 1, 1, 0], [1, 1, 1, 0], [0, 0, 1, 1]], [1, 1, 1, 1])
    >>> quorate.pruning.LocalSearch(keep=2).fit(votes).order_
    array([0, 2])
    """

    tags = PrunerTags(has_order=False, nested=False, takes_summary=True)

    def __init__(
        self,
        keep: float | int | None = 0.2,
        distance: str = "kappa",
        eps: float = 0.001,
    ) -> None:
        super().__init__(keep)
        self.distance = distance
        self.eps = eps

    def _select(self, votes: VoteCounts, size: int) -> Any:
        self._one_of("distance", "kappa", "disagreement")
        if not self.eps >= 0:
            raise self._refuse("eps", "a number, 0 or more")
        if size == 1:
            return most_accurate_first(votes)[:1]
        apart = distances(votes, self.distance)
        rows, columns = np.triu_indices(votes.n_members, k=1)
        pair = first_best(apart[rows, columns], np.ones(rows.size, dtype=bool))
        start = [int(rows[pair]), int(columns[pair])]
        return np.sort(exchange(apart, farthest_first(apart, start, size), self.eps))


def distances(votes: VoteCounts, kind: str) -> FloatArray:
    """Return the distance of each pair of members; zero on the diagonal."""
    if kind == "kappa":
        apart = 1.0 - pairwise_diversity(votes, "kappa", outputs="label")
    else:
        apart = pairwise_diversity(votes, "disagreement", outputs="label")
    np.fill_diagonal(apart, 0.0)
    return apart


def farthest_first(apart: FloatArray, start: list[int], size: int) -> list[int]:
    """Grow ``start`` by the member farthest from its nearest neighbour in the set."""
    picked = list(start)
    outside = np.ones(len(apart), dtype=bool)
    outside[picked] = False
    nearest = apart[picked].min(axis=0)
    while len(picked) < size:
        member = first_best(nearest, outside)
        picked.append(member)
        outside[member] = False
        nearest = np.minimum(nearest, apart[member])
    return picked


def exchange(apart: FloatArray, picked: list[int], eps: float) -> list[int]:
    """Exchange members for outsiders while the sum of distances grows enough."""
    n = len(apart)
    inside = np.zeros(n, dtype=bool)
    inside[picked] = True
    reach = apart[:, inside].sum(axis=1)
    total = reach[inside].sum() / 2.0
    while not inside.all():
        ins, outs = np.flatnonzero(inside), np.flatnonzero(~inside)
        after = total - reach[ins][:, None] + reach[outs] - apart[np.ix_(ins, outs)]
        best = first_best(after.ravel(), np.ones(after.size, dtype=bool), NEAR)
        p, q = ins[best // outs.size], outs[best % outs.size]
        grown = after.ravel()[best]
        if not grown > total * (1.0 + eps / n):
            break
        picked = [int(q) if member == p else member for member in picked]
        inside[p], inside[q] = False, True
        reach = reach - apart[p] + apart[q]
        total = grown
    return picked
