"""What smaller ensembles say on each sample: the class, and the shares of classes.

Errors are enough for accuracy. Any other score asks what was said instead, so here the
members are added up as :mod:`quorate._votes._deciding` adds them, and the answers come
out.
"""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from quorate._typing import FloatArray, IntArray
from quorate._votes._deciding import Standing, steady_weights, weights_of

if TYPE_CHECKING:
    from quorate._votes._votes import Votes


class Outcome(NamedTuple):
    """What an ensemble says on each sample."""

    codes: IntArray
    """The class, as predicted; -1 where nobody votes."""
    shares: FloatArray | None
    """What each class gets on average, (n_samples, n_classes), all alike where nobody
    votes: the probabilities of an ensemble that averages. None if not asked for."""


def outcome_of(votes: "Votes", *, shares: bool = False) -> Outcome:
    """Return what the ensemble of all members says.

    Examples
    --------
    >>> from quorate._votes import Votes, outcome_of
    >>> outcome_of(Votes([[0, 1], [1, 1], [1, 1]], [0, 1]), shares=True)
    Outcome(codes=array([1, 1]), shares=array([[0.33333333, 0.66666667],
           [0.        , 1.        ]]))
    """
    codes = np.searchsorted(votes.classes, votes.predict())
    _, asked = votes.sample_counts()
    if votes.is_masked:
        codes = np.where(asked == 0, -1, codes)
    return Outcome(codes, _shares(votes) if shares else None)


def _shares(votes: "Votes") -> FloatArray:
    if votes.counts_heads:
        given: FloatArray = np.asarray(votes.tally().T, dtype=float)
        mean = given / np.maximum(given.sum(axis=1, keepdims=True), 1e-300)
    else:
        mean = votes.mean_probabilities()
    _, asked = votes.sample_counts()
    if votes.is_masked:
        mean[asked == 0] = 1.0 / votes.n_classes
    return np.asarray(mean)


def prefix_outcomes(
    votes: "Votes",
    order: IntArray,
    weights: Sequence[FloatArray] | None = None,
    *,
    shares: bool = False,
) -> Iterator[Outcome]:
    """Yield what the first 1, 2, ... members of an order say.

    Parameters
    ----------
    votes : Votes
    order : array of int
        Members in the order in which they come in.
    weights : sequence of array, optional
        Voting weights of the first 1, 2, ... members; those of the votes by default.
    shares : bool
        Whether the shares of classes are wanted beside the classes.
    """
    steady = (
        weights_of(votes) if weights is None else steady_weights(votes, order, weights)
    )
    if steady is None:
        assert weights is not None
        for step, given in enumerate(weights):
            places = np.argsort(order[: step + 1], kind="stable")
            some = votes.keep(order[places])
            some = some.reweighted(given[places] if given.any() else None)
            yield outcome_of(some, shares=shares)
        return
    standing = Standing(votes, steady)
    for member in order:
        standing.add(int(member))
        yield _standing_outcome(standing, shares)


def leave_one_out_outcomes(
    votes: "Votes", *, shares: bool = False
) -> Iterator[Outcome]:
    """Yield what all but the first, but the second, ... say."""
    standing = Standing(votes, weights_of(votes))
    for member in range(votes.n_members):
        standing.add(member)
    for member in range(votes.n_members):
        standing.remove(member)
        yield _standing_outcome(standing, shares)
        standing.add(member)


def _standing_outcome(standing: Standing, shares: bool) -> Outcome:
    return Outcome(standing.decisions(), standing.mean_shares() if shares else None)
