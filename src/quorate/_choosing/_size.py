"""Number of members to keep: size curves, and rules that determine the size."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from types import NoneType
from typing import Any, Final, Literal

import numpy as np

from quorate._checks import check_number, is_number
from quorate._ensembles import COSTS
from quorate._messages import plural
from quorate._output import Result
from quorate._scoring import Score, finite_losses
from quorate._typing import Array, FloatArray, IntArray
from quorate._units import as_bytes, cost_text
from quorate._votes import Votes
from quorate.pruning import Pruner, members_to_keep

Keep = float | Literal["auto", "default"] | None
# Limits by kind of cost; bytes can be a string such as "50MB".
Budget = Mapping[str, float | str]
# Name of the default size, which depends on the ensemble.
DEFAULT: Final = "default"
# Default for ensembles of one type of member; for pools, errors determine the size.
DEFAULT_KEEP = 0.2
# Minimum share that "auto" keeps with log-loss: fewer members rank samples coarsely.
LEAST_SHARE = 0.1


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class SizeCurve(Result):
    """Error by number of members, in the order of a method.

    Errors are those of the smaller ensembles themselves: of averaged probabilities for
    a forest, of the weighted vote for AdaBoost. For a score other than accuracy, an
    error is the difference to the best value of that score (1, or 0 for custom scores
    and scores whose name begins with "neg"), so that smaller is better; ``scores`` has
    the score itself.

    Attributes
    ----------
    order : IntArray
        Members in the order in which they are added.
    errors : FloatArray
        Error of the ensemble of the first 1, 2, ... members.
    standard_errors : FloatArray
        Standard error of each of these.
    full_error : float
        Error of the whole ensemble.
    score : Score
        The score in which errors are measured.
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
        """Name of the score."""
        return self.score.name

    @property
    def scores(self) -> FloatArray:
        """Score of the first 1, 2, ... members; larger is better."""
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
        """The smallest size with the smallest error."""
        return int(self.errors.argmin()) + 1

    def within_one_standard_error(self) -> int:
        """Return the smallest size within one standard error of the best."""
        best = self.best_size - 1
        limit = self.errors[best] + self.standard_errors[best]
        return int(np.argmax(self.errors <= limit)) + 1

    def within(self, tolerance: float) -> int | None:
        """Return the smallest size whose error is within a tolerance of ``full_error``.

        None if there is none.
        """
        fits = np.flatnonzero(self.errors <= self.full_error + tolerance + 1e-12)
        return int(fits[0]) + 1 if fits.size else None

    @property
    def _title(self) -> str:  # type: ignore[override]
        return f"{self.score.loss_title.capitalize()}, 1 to {self.order.size} members"

    def rows(self) -> list[tuple[str, ...]]:
        """Return the best size, the smallest that is enough, and the whole ensemble."""
        best, enough = self.best_size, self.within_one_standard_error()
        text = self.score.loss_text(self.errors.min())
        if not self.score.is_accuracy:
            text += f" +- {self.standard_errors[best - 1]:.4f}"
        return [
            (f"best {self.score.loss_title}", f"{text}, {plural(best, 'member')}"),
            ("smallest within one standard error", plural(enough, "member")),
            ("all members", self.score.loss_text(self.full_error)),
        ]


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class CrossFittedCurve(SizeCurve):
    """Cross-validated error by size.

    If members vote on some samples only (out of bag), the error of k members is that of
    the first k with a vote on each sample, because all of them vote on new data.

    Attributes
    ----------
    excess_limits : FloatArray
        Upper limit (95 % each) of the excess error of the first 1, 2, ... members over
        that of all. Out of bag, there are fewer votes than on new data, so that the
        limit is conservative.
    excess_errors : FloatArray
        Standard error of the difference from all members, on the same samples.
    """

    excess_limits: FloatArray
    excess_errors: FloatArray

    def within_one_standard_error(self) -> int:
        """Return the smallest size within one standard error of the best.

        All sizes from there to the best must be within it, too, because a single good
        size among worse ones is likely due to chance.
        """
        best = self.best_size - 1
        worse = self.errors > self.errors[best] + self.standard_errors[best]
        before = np.flatnonzero(worse[:best])
        return int(before[-1]) + 2 if before.size else 1

    def within(self, tolerance: float) -> int | None:
        """Return the smallest size whose ``excess_limits`` are within a tolerance.

        Sizes are tested from the largest down until one fails, as for certificates.
        None if even the largest one fails.
        """
        fits = np.array(self.excess_limits <= tolerance)
        if self.ends_with_all:
            fits[-1] = True  # the whole ensemble
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

    Members are added one by one, so that no (members, samples, classes) array is
    needed.

    Parameters
    ----------
    votes : Votes
    order : array-like of int
        Members in the order in which they come in.
    score : Score
        Score to compute.
    weights : sequence of ndarray, optional
        Voting weights of the first 1, 2, ... members; those of ``votes`` by default.

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


@dataclass(frozen=True, slots=True)
class FixedSize:
    """A number of members, a fraction, or None for the method's own size."""

    keep: float | int | None = DEFAULT_KEEP

    @property
    def text(self) -> str:
        """The size, as it was given."""
        return f"keep={self.keep!r}"


@dataclass(frozen=True, slots=True)
class SizeByErrors:
    """A size determined from errors on new data.

    Attributes
    ----------
    tolerance : float | None
        Maximum excess error over all members; None for "auto".
    at_best : bool
        Whether to use the smallest error, as for pools by default, instead of the
        one-standard-error rule.
    at_least : float
        Minimum share of the members that "auto" keeps.
    """

    tolerance: float | None = None
    at_best: bool = False
    at_least: float = 0.0

    @property
    def is_auto(self) -> bool:
        """Whether this is ``keep="auto"``."""
        return self.tolerance is None and not self.at_best

    @property
    def text(self) -> str:
        """The size, as it was given."""
        if self.tolerance is not None:
            return f"tolerance={self.tolerance!r}"
        return f"keep={DEFAULT if self.at_best else 'auto'!r}"

    def resolve(self, curve: CrossFittedCurve) -> int | None:
        """Return the number of members; None if no size meets the tolerance."""
        if not curve.errors.size:  # too few samples for cross-validation
            return None
        if self.tolerance is not None:
            return curve.within(self.tolerance)
        if self.at_best:
            return curve.best_size
        least = math.ceil(self.at_least * curve.order.size)
        return max(curve.within_one_standard_error(), least)


@dataclass(frozen=True, slots=True)
class SizeByCost:
    """The largest number of members within a budget."""

    budget: Budget

    @property
    def text(self) -> str:
        """The size, as it was given."""
        return f"budget={dict(self.budget)!r}"

    def resolve(self, order: IntArray, costs: Callable[[str], Array]) -> int:
        """Return how many of the first members in an order fit the limits."""
        number = order.size
        for kind, given in self.budget.items():
            limit = _as_limit(kind, given)
            spent = np.cumsum(np.asarray(costs(kind))[order])
            if spent[0] > limit:
                raise ValueError(
                    f"budget[{kind!r}]={given!r}: the first member alone costs "
                    f"{cost_text(float(spent[0]), kind)}."
                )
            number = min(number, int(np.flatnonzero(spent <= limit)[-1]) + 1)
        return number


# Any way to specify the number of members; None is the default of the ensemble.
Size = FixedSize | SizeByErrors | SizeByCost


def size_for(
    method: Any,
    keep: Keep,
    tolerance: float | None = None,
    budget: Budget | None = None,
    owner: str = "select",
) -> Size | None:
    """Return the requested size; None for the default of the ensemble.

    A pruner object has a size of its own, which is used unless another one is passed.

    Examples
    --------
    >>> from quorate._choosing import size_for
    >>> size_for("re", 5)
    FixedSize(keep=5)
    >>> size_for("re", "default", tolerance=0.01).text
    'tolerance=0.01'
    """
    if not isinstance(keep, (str, Real, NoneType)):
        got = type(keep).__name__
        raise TypeError(f"{owner}(keep): must be a number or 'auto', got {got}.")
    given = [f"keep={keep!r}"] if keep not in (DEFAULT, None) else []
    given += ["tolerance"] if tolerance is not None else []
    given += ["budget"] if budget is not None else []
    if len(given) > 1:
        raise ValueError(
            f"{owner}: {' and '.join(given)} cannot be combined; use only one of them "
            "to set the number of members."
        )
    if budget is not None:
        _check_budget(budget)
        return SizeByCost(budget)
    if tolerance is not None:
        check_number(owner, "tolerance", tolerance, least=0)
        return SizeByErrors(tolerance)
    if isinstance(method, Pruner) and keep == DEFAULT:
        keep = method.keep
    if not isinstance(keep, str):
        return FixedSize(keep)
    if keep not in (DEFAULT, "auto"):
        raise ValueError(f"{owner}(keep={keep!r}): must be a number or 'auto'.")
    return SizeByErrors() if keep == "auto" else None


def check_fits(
    size: Size | None, n_members: int, owner: str, finds_size: bool = True
) -> None:
    """Refuse a fixed size that is not one of so many members."""
    if isinstance(size, FixedSize) and not (finds_size and size.keep is None):
        members_to_keep(size.keep, n_members, owner)


def _check_budget(budget: Any) -> None:
    limits = dict(budget) if isinstance(budget, Mapping) else budget
    if not isinstance(limits, dict) or not limits or not limits.keys() <= set(COSTS):
        raise ValueError(
            f"budget={limits!r}: must be a dict of limits for any of "
            f"{', '.join(COSTS)}, such as {{'bytes': '50MB'}} or {{'nodes': 20000}}."
        )
    for kind, limit in limits.items():
        _as_limit(kind, limit)


def _as_limit(kind: str, limit: Any) -> float:
    """Return a limit as a number; bytes can be a string with a unit."""
    number: Any = limit
    if kind == "bytes" and isinstance(limit, str):
        try:
            number = as_bytes(limit)
        except ValueError:
            number = None
    if is_number(number) and number > 0:
        return float(number)
    units = ", or text such as '50MB' or '1.5 GiB'" if kind == "bytes" else ""
    raise ValueError(f"budget[{kind!r}]={limit!r}: must be a number above 0{units}.")
