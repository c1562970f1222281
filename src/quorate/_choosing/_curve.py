"""Error or another score over the number of members, by the ensemble's own rule."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from quorate._output import facts_html
from quorate._scoring import (
    Judged,
    Score,
    is_accuracy,
    judge_prefixes,
    judge_votes,
    score_for,
)
from quorate._typing import Array, BoolArray, FloatArray, IntArray
from quorate._units import cost_text
from quorate._votes import Votes, prefix_errors


@dataclass(frozen=True, slots=True, eq=False)
class SizeCurve:
    """Error over the number of members, along the order of a method.

    The errors are those of the smaller ensembles themselves: of averaged probabilities
    for a forest, of the weighted vote for AdaBoost. Where another score than accuracy
    was asked for, an error is what is missing to the best value of that score (1, or 0
    for scores whose name begins with "neg" and those of your own), so that small is
    good; ``scores`` has the score itself.
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
    score: Score | None = None
    """The score asked for; None for accuracy."""

    @property
    def scoring(self) -> str:
        """What the score is called."""
        return "accuracy" if self.score is None else self.score.name

    @property
    def scores(self) -> FloatArray:
        """Score of the first 1, 2, ... members: the larger the better."""
        top = 1.0 if self.score is None else self.score.top
        return np.asarray(top - self.errors)

    @property
    def full_score(self) -> float:
        """Score of the whole ensemble."""
        return (1.0 if self.score is None else self.score.top) - self.full_error

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
                f"{cost_text(float(spent[0]), kind)}."
            )
        return int(np.flatnonzero(fits)[-1]) + 1

    @staticmethod
    def _first(fits: BoolArray) -> int:
        return int(fits.argmax()) + 1

    def __repr__(self) -> str:
        what, best, whole = self._words()
        return (
            f"SizeCurve(1 to {self.order.size} members; best {what} {best} with "
            f"{self.best_size}, within one standard error with "
            f"{self.within_one_standard_error()}, all members {whole})"
        )

    def _words(self) -> tuple[str, str, str]:
        """Return what is counted, the best of it, and what all members have."""
        if self.score is None:
            return "error", f"{self.errors.min():.4f}", f"{self.full_error:.4f}"
        doubt = self.standard_errors[self.best_size - 1]
        best = f"{self.scores.max():.4f} +- {doubt:.4f}"
        return self.score.title, best, f"{self.full_score:.4f}"

    def _repr_html_(self) -> str:
        what, best, whole = self._words()
        return facts_html(
            f"{what.capitalize()}, 1 to {self.order.size} members",
            (
                (f"best {what}", f"{best}, {self.best_size} members"),
                (
                    "smallest within one standard error",
                    f"{self.within_one_standard_error()} members",
                ),
                ("all members", whole),
            ),
        )


def size_curve(
    votes: Votes,
    order: Any,
    weights: Sequence[FloatArray] | None = None,
    *,
    scoring: Any = None,
) -> SizeCurve:
    """Return the error or score of the ensemble of each prefix of an order.

    Members are added up one after the other, so that no array of members, samples and
    classes is needed.

    Parameters
    ----------
    votes : Votes
    order : array-like of int
        Members in the order in which they come in.
    weights : sequence of ndarray, optional
        Voting weights of the first 1, 2, ... of them; those of ``votes`` by default.
    scoring : str, scorer, callable or None
        What to count; see :func:`quorate.select`. Accuracy by default.

    Examples
    --------
    >>> import quorate
    >>> votes = quorate.Votes([[1, 1, 0, 1], [1, 0, 1, 1], [0, 1, 1, 1]], [1, 1, 1, 1])
    >>> quorate._choosing.size_curve(votes, [0, 1, 2]).errors
    array([0.25, 0.25, 0.  ])
    >>> votes = quorate.Votes([[1, 1, 1], [1, 0, 0], [0, 1, 0]], [1, 1, 0])
    >>> curve = quorate._choosing.size_curve(
    ...     votes, [0, 1, 2], scoring="balanced_accuracy"
    ... )
    >>> curve.scores
    array([0.5 , 0.75, 1.  ])
    """
    places = np.asarray(order, dtype=np.intp)
    if not is_accuracy(scoring):
        score = score_for(scoring, votes, "size_curve")
        found = list(judge_prefixes(votes, places, weights, score))
        return judged_curve(votes, places, found, score, weights is None)
    errors = np.empty(places.size)
    spread = np.empty(places.size)
    for step, on_samples in enumerate(prefix_errors(votes, places, weights)):
        errors[step] = on_samples.mean()
        spread[step] = on_samples.std() / np.sqrt(votes.n_samples)
    whole = places.size == votes.n_members and weights is None
    return SizeCurve(places, errors, spread, votes.error(), whole)


def judged_curve(
    votes: Votes, order: IntArray, found: list[Judged], score: Score, own: bool
) -> SizeCurve:
    """Return the curve of scores, one for each size; ``own``: with the own weights."""
    errors, spread = losses_of(found, score)
    whole = score.loss(judge_votes(votes, score).score)
    ends = own and order.size == votes.n_members
    return SizeCurve(order, errors, spread, float(whole), ends, score)


def losses_of(found: list[Judged], score: Score) -> tuple[FloatArray, FloatArray]:
    """Return what is missing to the best score, and the standard errors.

    A size of which the score cannot be had is the worst there is.
    """
    errors = np.array([score.loss(each.score) for each in found], dtype=float)
    spread = np.array([each.standard_error for each in found], dtype=float)
    return (
        np.where(np.isfinite(errors), errors, np.inf),
        np.where(np.isfinite(spread), spread, 0.0),
    )
