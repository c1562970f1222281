"""The plainest choices: the first members, the best, and random ones."""

from typing import Any

import numpy as np

from quorate._typing import Array, IntArray
from quorate._votes import VoteCounts
from quorate.pruning._base import Pruner
from quorate.pruning._class_weight import balanced_accuracies, is_balanced
from quorate.pruning._picking import as_generator, most_accurate_first
from quorate.pruning._tags import PrunerTags


class EarlyStopping(Pruner):
    """Keep the first members, in the order they were trained.

    For boosting this is stopping early; for bagging and forests it is as good as a
    random subset, because members are trained independently.

    Parameters
    ----------
    keep : float or int
        Fraction in (0, 1] or number of members to keep.

    Examples
    --------
    >>> import quorate
    >>> votes = quorate.Votes([[0, 1], [1, 1], [0, 0]], [0, 1])
    >>> quorate.pruning.EarlyStopping(keep=2).fit(votes).order_
    array([0, 1])
    """

    tags = PrunerTags(takes_summary=True)

    def _select(self, votes: VoteCounts, size: int) -> Any:
        return range(size)


class BestMembers(Pruner):
    """Keep the most accurate members.

    A baseline every other method should beat: it ignores how members complement each
    other. On training votes of fully grown trees all members look perfect, and the
    choice is that of positions; use out-of-bag votes.

    Parameters
    ----------
    keep : float or int
        Fraction in (0, 1] or number of members to keep.
    class_weight : {"balanced"}, optional
        Let every class count the same, however rare.

    Attributes
    ----------
    scores_ : ndarray of shape (n_members,)
        The members' accuracies.

    Examples
    --------
    >>> import quorate
    >>> votes = quorate.Votes([[0, 1], [1, 1], [0, 0]], [1, 1])
    >>> quorate.pruning.BestMembers(keep=2).fit(votes).order_
    array([1, 0])
    """

    tags = PrunerTags(
        takes_class_weight=True, driven_by_accuracy=True, takes_summary=True
    )
    scores_: Array

    def __init__(
        self, keep: float | int | None = 0.2, class_weight: str | None = None
    ) -> None:
        super().__init__(keep)
        self.class_weight = class_weight

    def _select(self, votes: VoteCounts, size: int) -> IntArray:
        if is_balanced(self):
            cast = self._needs_samples(votes, "class_weight")
            self.scores_ = balanced_accuracies(cast)
            return np.argsort(-self.scores_.round(12), kind="stable")[:size]
        self.scores_ = votes.accuracies
        return most_accurate_first(votes)[:size]


class RandomSubset(Pruner):
    """Keep members drawn at random, without replacement.

    The baseline that tells whether a method chooses at all.

    Parameters
    ----------
    keep : float or int
        Fraction in (0, 1] or number of members to keep.
    random_state : int, RandomState, Generator or None
        Seed of the draw.

    Examples
    --------
    >>> import quorate
    >>> votes = quorate.Votes([[0, 1], [1, 1], [0, 0]], [1, 1])
    >>> quorate.pruning.RandomSubset(keep=2, random_state=0).fit(votes).n_kept_
    2
    """

    tags = PrunerTags(is_random=True, takes_summary=True)

    def __init__(
        self, keep: float | int | None = 0.2, random_state: Any = None
    ) -> None:
        super().__init__(keep)
        self.random_state = random_state

    def _select(self, votes: VoteCounts, size: int) -> IntArray:
        return as_generator(self.random_state).permutation(votes.n_members)[:size]
