"""Exact limits on error rates, and what they prove, in figures and in a sentence."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from quorate._kernels import excess, limits
from quorate._output import escape
from quorate._typing import Array, BoolArray, FloatArray, IntArray
from quorate._units import points_text
from quorate._votes import PairedErrors, VoteSource

_MOST_CLASSES = 10  # whose limits are put into words


def error_limit(n_errors: int, n_samples: int, delta: float = 0.05) -> float:
    """Return the exact upper limit on an error rate.

    Parameters
    ----------
    n_errors, n_samples : int
        Errors seen, and samples looked at.
    delta : float
        Probability that the true error rate lies above the limit, at most.

    Examples
    --------
    >>> from quorate import error_limit
    >>> round(error_limit(0, 100), 4)
    0.0295
    """
    check_share("error_limit", "delta", delta)
    if not 0 <= n_errors <= n_samples or n_samples < 1:
        raise ValueError(
            f"error_limit: {n_errors} errors on {n_samples} samples; 0 to all of at "
            "least one."
        )
    return float(limits.upper_limit(n_errors, n_samples, delta))


def excess_limit(
    only_first: Any, only_second: Any, n_samples: int, delta: float = 0.05
) -> FloatArray:
    """Return the upper limit on by how much one model errs more than another.

    Exact for any number of samples: an unconditional test of the three counts,
    inverted. See :doc:`/reliability`.

    Parameters
    ----------
    only_first, only_second : int or array of int
        Samples that only the first, and only the second model gets wrong.
    n_samples : int
        Samples looked at.
    delta : float
        Probability that the true excess lies above the limit, at most.

    Examples
    --------
    >>> from quorate import excess_limit
    >>> float(excess_limit(3, 3, 1000).round(4))
    0.0048
    """
    check_share("excess_limit", "delta", delta)
    first, second = np.asarray(only_first), np.asarray(only_second)
    if (first < 0).any() or (second < 0).any() or (first + second > n_samples).any():
        raise ValueError(
            f"excess_limit: counts from 0 that together are at most the {n_samples} "
            "samples."
        )
    return excess.excess_limit(first, second, n_samples, delta)


def samples_needed(tolerance: float, delta: float = 0.05) -> int:
    """Return the fewest samples that can certify anything at this tolerance.

    That many suffice for a subset that is never wrong alone; real ones need more.

    Examples
    --------
    >>> from quorate import samples_needed
    >>> samples_needed(0.02)
    149
    """
    check_share("samples_needed", "tolerance", tolerance)
    check_share("samples_needed", "delta", delta)
    few, enough = 0, 1
    while excess.excess_limit(0, 0, enough, delta) > tolerance:
        few, enough = enough, 2 * enough
    while enough - few > 1:
        middle = (few + enough) // 2
        if excess.excess_limit(0, 0, middle, delta) > tolerance:
            few = middle
        else:
            enough = middle
    return enough


def check_share(owner: str, name: str, value: float) -> None:
    if not (isinstance(value, (int, float)) and 0 < value < 1):
        raise ValueError(f"{owner}({name}={value!r}): a number between 0 and 1.")


@dataclass(frozen=True, slots=True)
class ClassLimit:
    """What is known of one class: how much of it is found, and what may be lost.

    Attributes
    ----------
    label : str
        The class.
    n_samples : int
        Samples of it.
    recalls : tuple of float
        Share of them that is found, before and after.
    limit : float
        Upper limit on the loss of recall; the limits of all classes hold together.
    """

    label: str
    n_samples: int
    recalls: tuple[float, float]
    limit: float

    def to_dict(self) -> dict[str, Any]:
        """Return plain types for JSON."""
        before, after = self.recalls
        return {
            "class": self.label,
            "samples": self.n_samples,
            "before": before,
            "after": after,
            "loss_limit": self.limit,
        }


def class_limits(
    paired: PairedErrors, classes: Array, place: int = 0, delta: float = 0.05
) -> tuple[ClassLimit, ...]:
    """Return the limits of all classes that occur, wrong together in ``delta`` at most.

    Parameters
    ----------
    paired : PairedErrors
    classes : array
        The labels.
    place : int
        Which of the other models.
    delta : float
        Probability that a limit does not hold, at most.
    """
    there = np.flatnonzero(paired.samples)
    limited: list[ClassLimit] = []
    for code in there:
        n, first, second = int(paired.samples[code]), *paired.errors[:2, place, code]
        found = paired.found_whole[code], paired.found[place, code]
        limit = excess_limit(first, second, n, delta / there.size)
        recalls = float(found[0] / n), float(found[1] / n)
        limited.append(ClassLimit(str(classes[code]), n, recalls, float(limit)))
    return tuple(limited)


@dataclass(frozen=True, slots=True, eq=False)
class Certificate:
    """The smallest prefix of an order that is certified to be good enough.

    Attributes
    ----------
    order : IntArray
        The members certified, in their order; all of them if no subset could be.
    weights : FloatArray | None
        Their voting weights where the method chose new ones, None where it did not.
    n_members : int
        Members of the whole ensemble.
    n_samples : int
        Samples the certificate rests on.
    tolerance : float
        By how much the error may exceed that of the whole ensemble.
    delta : float
        Probability that the certificate is wrong, at most.
    sizes : IntArray
        Sizes looked at, from the largest down; the last one failed unless it is 1.
    excess_limits : FloatArray
        Upper limit on the excess error at each of these sizes.
    only_subset_wrong : IntArray
        Samples that only the subset gets wrong, at each size.
    only_full_wrong : IntArray
        Samples that only the whole ensemble gets wrong, at each size.
    error : float
        Error of the certified members on the samples; of the only candidate, certified
        or not, where there was only one.
    full_error : float
        Error of the whole ensemble on the samples.
    error_limit : float
        Upper limit on that error, whichever members came out.
    balanced : bool
        Whether errors are means over classes of the errors on their samples.
    holds : bool
        Whether anything but the whole ensemble is certified.
    single : bool
        Whether there was only one candidate, so that the samples chose nothing.
    source : VoteSource | None
        What the samples are to the members; None if nobody has said.
    n_second : int | None
        Members of a second model, where these are not some of the whole ensemble's; no
        position stands for them then, and ``order`` is empty if it is certified.
    classes : tuple of ClassLimit
        Recall of every class, and the limit on how much of it is lost; of the only
        candidate, or of what is certified, and empty where that is the whole ensemble.
    empty_from : float
        The tolerance from which on a model that ignores a class would be certified.
    """

    order: IntArray
    weights: FloatArray | None
    n_members: int
    n_samples: int
    tolerance: float
    delta: float
    sizes: IntArray
    excess_limits: FloatArray
    only_subset_wrong: IntArray
    only_full_wrong: IntArray
    error: float
    full_error: float
    error_limit: float
    balanced: bool = False
    holds: bool = False
    single: bool = False
    source: VoteSource | None = None
    n_second: int | None = None
    classes: tuple[ClassLimit, ...] = ()
    empty_from: float = 1.0

    @property
    def n_kept(self) -> int:
        """How many members are certified."""
        if self.holds and self.n_second is not None:
            return self.n_second
        return int(self.order.size)

    @property
    def excess_limit(self) -> float:
        """Limit on the excess error of those certified; 0 if only the whole is left.

        Of an order, proven is that it is at most ``tolerance``: this limit belongs to a
        size that the same samples chose. Where there was only one candidate it is
        proven itself, and given whether the candidate is certified or not.
        """
        if self.single:
            return float(self.excess_limits[-1])
        if not self.holds:
            return 0.0
        return float(self.excess_limits[self.sizes == self.n_kept][0])

    @property
    def tolerance_needed(self) -> float | None:
        """The tolerance with which the same samples certify something.

        That of the largest candidate; None where no tolerance would do.
        """
        if self.holds:
            return self.tolerance
        if self.sizes[-1] == self.n_members and not self.single:
            return None  # there is nothing but the whole
        limit = math.ceil(10_000 * float(self.excess_limits[-1])) / 10_000
        return limit if limit < self.empty_from else None

    def to_dict(self) -> dict[str, Any]:
        """Return plain types for JSON."""
        return {
            "holds": self.holds,
            "kept": self.order.tolist(),
            "n_members": self.n_members,
            "n_samples": self.n_samples,
            "source": None if self.source is None else str(self.source),
            "tolerance": self.tolerance,
            "delta": self.delta,
            "balanced": self.balanced,
            "error": self.error,
            "full_error": self.full_error,
            "error_limit": self.error_limit,
            "excess_limit": self.excess_limit,
            "tolerance_needed": self.tolerance_needed,
            "second_members": self.n_second,
            "classes": [limit.to_dict() for limit in self.classes],
            "sentence": str(self),
        }

    @property
    def support(self) -> BoolArray:
        """Which members of the whole ensemble are certified."""
        support = np.zeros(self.n_members, dtype=bool)
        support[self.order] = True
        return support

    def __str__(self) -> str:
        samples = f"{self.n_samples:,} samples"
        if self.source is not None:
            samples = self.source.samples_text(self.n_samples)
        sure = f"{100 * (1 - self.delta):g} % confidence from {samples}"
        sure += ", every class counting the same" * self.balanced
        if not self.holds:
            return f"{self._refusal(sure)}{self._by_class}"
        found = f" ({points_text(self.excess_limit)} is proven)" * self.single
        return (
            f"{self._claim}{found}, and on at most {100 * self.error_limit:.2f} % of "
            f"new samples, each with {sure}.{self._by_class}"
        )

    @property
    def _by_class(self) -> str:
        """What each class may lose, and where samples are too few to tell."""
        if not 0 < len(self.classes) <= _MOST_CLASSES:
            return ""
        needed = samples_needed(self.tolerance, self.delta / len(self.classes))
        parts = [
            f"{max(100 * each.limit, 0):.1f} points of class {each.label}"
            + f" (only {each.n_samples:,} samples)" * (each.n_samples < needed)
            for each in self.classes
        ]
        return f" Recall falls by at most: {', '.join(parts)}."

    @property
    def _claim(self) -> str:
        """What is certified, or is not."""
        some, every = int(self.sizes[-1]), self.n_members
        who, whom = f"These {some} of {every} members err", "all of them"
        if self.n_second is not None:
            who = f"The second model, of {some} member{'s' * (some != 1)}, errs"
            whom = f"the first, of {every}"
        elif not self.single:
            who = f"These {self.n_kept} of {every} members err"
        limit = f"at most {100 * self.tolerance:g} percentage points more than"
        return f"{who} {limit} {whom}"

    def _refusal(self, sure: str) -> str:
        needed = self.tolerance_needed
        remedy = "more samples may do"
        if needed is not None:
            remedy += f", and a tolerance of {needed:g} would"
        if self.single:
            claim = self._claim[0].lower() + self._claim[1:]
            return f"It is not certified that {claim}, with {sure}: {remedy}."
        return (
            f"No subset is certified to err at most {100 * self.tolerance:g} "
            f"percentage points more than all {self.n_members} members, with "
            f"{sure}: {remedy}."
        )

    def __repr__(self) -> str:
        of = "of" if self.n_second is None else "beside"
        return (
            f"Certificate({self.n_kept} {of} {self.n_members} members, "
            f"tolerance={self.tolerance:g}, delta={self.delta:g}; error "
            f"{self.error:.4f}, all members {self.full_error:.4f}, "
            f"{self.n_samples} samples)"
        )

    def _repr_html_(self) -> str:
        return f"<p>{escape(str(self))}</p>"
