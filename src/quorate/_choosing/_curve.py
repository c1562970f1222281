"""Error or another score over the number of members, by the ensemble's own rule."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from quorate._output import facts_html
from quorate._scoring import Score, finite_losses
from quorate._typing import FloatArray, IntArray
from quorate._votes import Votes


@dataclass(frozen=True, slots=True, eq=False)
class SizeCurve:
    """Error over the number of members, along the order of a method.

    The errors are those of the smaller ensembles themselves: of averaged probabilities
    for a forest, of the weighted vote for AdaBoost. Where another score than accuracy
    was asked for, an error is what is missing to the best value of that score (1, or 0
    for scores whose name begins with "neg" and those of your own), so that small is
    good; ``scores`` has the score itself.

    Attributes
    ----------
    order : IntArray
        Members in the order in which they come in.
    errors : FloatArray
        Error of the ensemble of the first 1, 2, ... members.
    standard_errors : FloatArray
        Standard error of each of these.
    full_error : float
        Error of the whole ensemble.
    score : Score
        The score that errors are counted in.
    ends_with_all : bool
        Whether the largest size is the whole ensemble, weights included.
    """

    order: IntArray
    errors: FloatArray
    standard_errors: FloatArray
    full_error: float
    score: Score
    ends_with_all: bool = False

    @property
    def scoring(self) -> str:
        """What the score is called."""
        return self.score.name

    @property
    def scores(self) -> FloatArray:
        """Score of the first 1, 2, ... members: the larger the better."""
        return np.asarray(self.score.top - self.errors)

    @property
    def full_score(self) -> float:
        """Score of the whole ensemble."""
        return self.score.top - self.full_error

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
        return int(np.argmax(self.errors <= limit)) + 1

    def within(self, tolerance: float) -> int | None:
        """Return the smallest size whose error exceeds the full one by at most this.

        None if there is none.
        """
        fits = np.flatnonzero(self.errors <= self.full_error + tolerance + 1e-12)
        return int(fits[0]) + 1 if fits.size else None

    def __repr__(self) -> str:
        return (
            f"SizeCurve(1 to {self.order.size} members; best {self.score.loss_title} "
            f"{self._best} with {self.best_size}, within one standard error with "
            f"{self.within_one_standard_error()}, all members "
            f"{self.score.loss_text(self.full_error)})"
        )

    @property
    def _best(self) -> str:
        best = self.score.loss_text(self.errors.min())
        if self.score.is_accuracy:
            return best
        return f"{best} +- {self.standard_errors[self.best_size - 1]:.4f}"

    def _repr_html_(self) -> str:
        what, enough = self.score.loss_title, self.within_one_standard_error()
        facts = (
            (f"best {what}", f"{self._best}, {self.best_size} members"),
            ("smallest within one standard error", f"{enough} members"),
            ("all members", self.score.loss_text(self.full_error)),
        )
        caption = f"{what.capitalize()}, 1 to {self.order.size} members"
        return facts_html(caption, facts)


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class CrossFittedCurve(SizeCurve):
    """Error over size on samples that did not choose, and what follows for the rest.

    Where members may vote on some samples only, the error of so many members is that
    of the first so many that may vote on a sample: on a new one, all of them would.

    Attributes
    ----------
    excess_limits : FloatArray
        Upper limit on how much more the first 1, 2, ... err than all, 95 % each. Where
        members may vote on some samples only, by the votes that they have, fewer than
        on new samples, so that it is rather too high.
    excess_errors : FloatArray
        Standard error of the difference to all members, on the same samples.
    """

    excess_limits: FloatArray
    excess_errors: FloatArray

    def within_one_standard_error(self) -> int:
        """Return the smallest size from which on none is clearly worse than the best.

        One that happens to look good among worse ones does not count: of many sizes,
        some do.
        """
        best = self.best_size - 1
        worse = self.errors > self.errors[best] + self.standard_errors[best]
        before = np.flatnonzero(worse[:best])
        return int(before[-1]) + 2 if before.size else 1

    def within(self, tolerance: float) -> int | None:
        """Return the smallest size that is known to err at most this much more.

        Sizes are looked at from the largest down until one fails, as certificates do.
        None if not even the largest one passes.
        """
        fits = np.array(self.excess_limits <= tolerance)
        if self.ends_with_all:
            fits[-1] = True  # that is the whole ensemble
        failed = np.flatnonzero(~fits)
        first = int(failed[-1]) + 2 if failed.size else 1
        return first if first <= self.order.size else None


def size_curve(
    votes: Votes,
    order: Any,
    score: Score,
    weights: Sequence[FloatArray] | None = None,
) -> SizeCurve:
    """Return the error or score of the ensemble of each prefix of an order.

    Members are added up one after the other, so that no array of members, samples and
    classes is needed.

    Parameters
    ----------
    votes : Votes
    order : array-like of int
        Members in the order in which they come in.
    score : Score
        What to count.
    weights : sequence of ndarray, optional
        Voting weights of the first 1, 2, ... of them; those of ``votes`` by default.

    Examples
    --------
    >>> import quorate
    >>> from quorate._choosing import size_curve
    >>> from quorate._scoring import score_for
    >>> votes = quorate.Votes([[1, 1, 1], [1, 0, 0], [0, 1, 0]], [1, 1, 0])
    >>> size_curve(votes, [0, 1, 2], score_for(None, votes, "here")).errors.round(2)
    array([0.33, 0.33, 0.  ])
    >>> balanced = score_for("balanced_accuracy", votes, "here")
    >>> size_curve(votes, [0, 1, 2], balanced).scores
    array([0.5 , 0.75, 1.  ])
    """
    places = np.asarray(order, dtype=np.intp)
    errors, spread = finite_losses(score.estimate_prefixes(votes, places, weights))
    full = score.estimate_votes(votes).loss
    ends = weights is None and places.size == votes.n_members
    return SizeCurve(places, errors, spread, full, score, ends)
