"""Samples that count by their class: as much for every class, however rare.

A balanced mean is the mean over classes of the means within them. So whatever is a mean
over samples is asked of the samples of each class, and nothing that counts needs to
know of weights.
"""

from typing import TYPE_CHECKING, Any

import numpy as np

from quorate._typing import Array, FloatArray, IntArray, Ties
from quorate._votes import Votes
from quorate.pruning._averages import open_average
from quorate.pruning._averaging import GrowingAverage
from quorate.pruning._ballot import Ballot, open_ballot
from quorate.pruning._shares import (
    inner_products,
    product_sums,
    shares_for,
    unsure_probabilities,
    whole_shares,
)

if TYPE_CHECKING:
    from quorate.pruning._base import Pruner

BALANCED = "balanced"
# Weighted sums of classes that should be equal may differ by this much, relatively.
NEAR = 1e-9


def is_balanced(pruner: "Pruner") -> bool:
    """Tell whether a method is to count samples by their class, or refuse the word."""
    given = pruner.get_params(deep=False)["class_weight"]
    if given is None or (isinstance(given, str) and given == BALANCED):
        return given is not None
    raise ValueError(
        f"{type(pruner).__name__}(class_weight={given!r}): None or 'balanced'."
    )


def sample_weights(votes: Votes) -> FloatArray:
    """Return weights of mean 1 that give every class the same total.

    Examples
    --------
    >>> import quorate
    >>> from quorate.pruning._class_weight import sample_weights
    >>> sample_weights(quorate.Votes([[0, 0, 0, 1]], [0, 0, 0, 1])).round(2)
    array([0.67, 0.67, 0.67, 2.  ])
    """
    counts = np.bincount(votes.y, minlength=votes.n_classes)
    return votes.n_samples / (np.count_nonzero(counts) * counts[votes.y])


def class_parts(votes: Votes) -> list[Votes]:
    """Return the votes on the samples of each class that has some."""
    codes = np.unique(votes.y)
    return [votes.at(np.flatnonzero(votes.y == code)) for code in codes]


def balanced_accuracies(votes: Votes) -> FloatArray:
    """Return each member's share of right votes, every class counting the same."""
    right, asked = np.zeros((2, votes.n_members))
    for part in class_parts(votes):
        hits, cast = part.member_counts()
        right += hits / part.n_samples
        asked += cast / part.n_samples
    return np.asarray(right / asked)


def balanced_gram(votes: Votes) -> FloatArray:
    """Return the balanced mean inner product of all pairs of members."""
    same, total = np.zeros((2, votes.n_members, votes.n_members))
    for part in class_parts(votes):
        same += product_sums(part) / part.n_samples
        total += part.pairs_in_common() / part.n_samples
    known = total > 0
    mean = same / np.where(known, total, 1.0)
    return mean if known.all() else np.where(known, mean, mean[known].mean())


def balanced_label_products(votes: Votes) -> FloatArray:
    """Return the balanced mean share each member gives the true class."""
    if unsure_probabilities(votes) is None:
        return balanced_accuracies(votes)
    weights = sample_weights(votes)
    given = shares_for(votes, votes.y).astype(float) @ weights
    return np.asarray(given / _weight_asked(votes, weights))


def balanced_whole_products(votes: Votes) -> FloatArray:
    """Return the balanced mean inner product of each member with the mean of all."""
    weights = sample_weights(votes)
    found = inner_products(votes, whole_shares(votes) * weights[:, None])
    return np.asarray(found / _weight_asked(votes, weights))


def _weight_asked(votes: Votes, weights: FloatArray) -> FloatArray:
    if votes.valid is None:
        return np.full(votes.n_members, weights.sum())
    return np.asarray(votes.valid @ weights)


class BalancedAverage(GrowingAverage):
    """A loss of a growing average, as much of it from every class."""

    def __init__(self, votes: Votes, loss: str, most: int) -> None:
        super().__init__(votes)
        self.parts = [open_average(part, loss, most) for part in class_parts(votes)]

    def add(self, member: int) -> None:
        """See :class:`GrowingAverage`."""
        for part in self.parts:
            part.add(member)

    def loss(self) -> float:
        """See :class:`GrowingAverage`."""
        return float(np.mean([part.loss() for part in self.parts]))

    def losses(self, members: IntArray) -> FloatArray:
        """See :class:`GrowingAverage`."""
        each = [part.losses(members) for part in self.parts]
        return np.asarray(np.mean(each, axis=0))


class BalancedBallot(Ballot):
    """The vote of a changing set, its error as much from every class."""

    scale = 1

    def __init__(self, votes: Votes, ties: Ties) -> None:
        super().__init__(votes, ties)
        self.parts = [open_ballot(part, ties) for part in class_parts(votes)]

    def errors_if_added(self, members: IntArray | None = None) -> Array:
        """See :class:`Ballot`."""
        each = [part.errors_if_added(members) for part in self.parts]
        return np.asarray(self._mean(each))

    def errors_if_removed(self) -> Array:
        """See :class:`Ballot`."""
        each = [part.errors_if_removed() for part in self.parts]
        return np.asarray(self._mean(each))

    def rescued(self) -> Array:
        """See :class:`Ballot`."""
        return np.asarray(self._mean([part.rescued() for part in self.parts]))

    def sample_errors(self) -> Array:
        """See :class:`Ballot`; one class after the other."""
        return np.concatenate([p.sample_errors() / p.scale for p in self.parts])

    def winners(self) -> IntArray:
        """See :class:`Ballot`; one class after the other."""
        return np.concatenate([part.winners() for part in self.parts])

    @property
    def _state(self) -> Array:
        raise NotImplementedError  # nobody comes back to a balanced ballot

    def _error(self) -> float:
        return float(self._mean([part.error for part in self.parts]))

    def _change(self, member: int, step: int) -> None:
        for part in self.parts:
            part.flip(member)

    def _mean(self, errors: list[Any]) -> Any:
        """Return the balanced error, in samples as other ballots have it."""
        shares = [
            np.asarray(found) / (part.scale * part.votes.n_samples)
            for found, part in zip(errors, self.parts, strict=True)
        ]
        return self.votes.n_samples * np.mean(shares, axis=0)
