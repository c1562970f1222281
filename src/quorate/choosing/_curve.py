"""Error over the number of members, by the rule of the ensemble itself."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from quorate._html import facts_html
from quorate._typing import Array, BoolArray, FloatArray, IntArray
from quorate.votes import Votes, prefix_errors


@dataclass(frozen=True, slots=True, eq=False)
class SizeCurve:
    """Error over the number of members, along the order of a method.

    The errors are those of the smaller ensembles themselves: of averaged probabilities
    for a forest, of the weighted vote for AdaBoost.
    """

    order: IntArray
    """Members in the order in which they come in."""
    errors: FloatArray
    """Error of the ensemble of the first 1, 2, ... members."""
    standard_errors: FloatArray
    """Standard error of each of these."""
    full_error: float
    """Error of the whole ensemble."""
    ends_with_all: bool = False
    """Whether the largest size is the whole ensemble, weights included."""

    @property
    def sizes(self) -> IntArray:
        """The sizes, 1 to the number of members ordered."""
        return np.arange(1, self.order.size + 1)

    @property
    def best_size(self) -> int:
        """The smallest size of the smallest error."""
        return int(self.errors.argmin()) + 1

    def within_one_standard_error(self) -> int:
        """Return the smallest size within one standard error of the best."""
        best = self.best_size - 1
        limit = self.errors[best] + self.standard_errors[best]
        return self._first(self.errors <= limit)

    def within(self, tolerance: float) -> int | None:
        """Return the smallest size whose error exceeds the full one by at most this.

        None if there is none.
        """
        fits = self.errors <= self.full_error + tolerance + 1e-12
        return self._first(fits) if fits.any() else None

    def affordable(self, costs: Array, budget: float, kind: str) -> int:
        """Return the largest size whose members together cost at most the budget."""
        spent = np.cumsum(costs[self.order])
        fits = spent <= budget
        if not fits[0]:
            raise ValueError(
                f"budget[{kind!r}]={budget!r}: already the first member costs "
                f"{spent[0]:.6g}."
            )
        return int(np.flatnonzero(fits)[-1]) + 1

    @staticmethod
    def _first(fits: BoolArray) -> int:
        return int(fits.argmax()) + 1

    def __repr__(self) -> str:
        return (
            f"SizeCurve(1 to {self.order.size} members; best error "
            f"{self.errors.min():.4f} with {self.best_size}, within one standard error "
            f"with {self.within_one_standard_error()}, all members "
            f"{self.full_error:.4f})"
        )

    def _repr_html_(self) -> str:
        return facts_html(
            f"Error, 1 to {self.order.size} members",
            (
                ("best error", f"{self.errors.min():.4f}, {self.best_size} members"),
                (
                    "smallest within one standard error",
                    f"{self.within_one_standard_error()} members",
                ),
                ("all members", f"{self.full_error:.4f}"),
            ),
        )


def size_curve(
    votes: Votes, order: Any, weights: Sequence[FloatArray] | None = None
) -> SizeCurve:
    """Return the error of the ensemble of each prefix of an order.

    Members are added up one after the other, so that no array of members, samples and
    classes is needed.

    Parameters
    ----------
    votes : Votes
    order : array-like of int
        Members in the order in which they come in.
    weights : sequence of ndarray, optional
        Voting weights of the first 1, 2, ... of them; those of ``votes`` by default.

    Examples
    --------
    >>> import quorate
    >>> votes = quorate.Votes([[1, 1, 0, 1], [1, 0, 1, 1], [0, 1, 1, 1]], [1, 1, 1, 1])
    >>> quorate.choosing.size_curve(votes, [0, 1, 2]).errors
    array([0.25, 0.25, 0.  ])
    """
    places = np.asarray(order, dtype=np.intp)
    errors = np.empty(places.size)
    spread = np.empty(places.size)
    for step, on_samples in enumerate(prefix_errors(votes, places, weights)):
        errors[step] = on_samples.mean()
        spread[step] = on_samples.std() / np.sqrt(votes.n_samples)
    whole = places.size == votes.n_members and weights is None
    return SizeCurve(places, errors, spread, votes.error(), whole)
