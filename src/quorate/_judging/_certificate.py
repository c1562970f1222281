"""Certificates: limits on error rates, as numbers and as text."""

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from quorate._kernels.limits import POWER
from quorate._output import Result, plain
from quorate._typing import Array, FloatArray, IntArray
from quorate._units import percent_text, points_text
from quorate._votes import PairedErrors, VoteSource
from quorate.stats import excess_limit, samples_needed

_MOST_CLASSES = 10  # whose limits are put into words


class ClassLimit(NamedTuple):
    """Recall of one class, and the limit on its loss.

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
    occurring = np.flatnonzero(paired.samples)
    limits: list[ClassLimit] = []
    for code in occurring:
        n, first, second = int(paired.samples[code]), *paired.errors[:2, place, code]
        correct = paired.found_whole[code], paired.found[place, code]
        limit = excess_limit(first, second, n, delta / occurring.size)
        recalls = float(correct[0] / n), float(correct[1] / n)
        limits.append(ClassLimit(str(classes[code]), n, recalls, float(limit)))
    return tuple(limits)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Certificate(Result):
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
        The source of the samples; None if unknown.
    n_second : int | None
        Members of a second model, where these are not some of the whole ensemble's; no
        position stands for them then, and ``order`` is empty if it is certified.
    classes : tuple of ClassLimit
        Recall of every class, and the limit on how much of it is lost; of the only
        candidate, or of what is certified, and empty where that is the whole ensemble.
    empty_from : float
        The tolerance from which on a model that ignores a class would be certified.
    samples_needed : int | None
        How many new samples, without these, would certify the largest candidate with
        a probability of 80 %, if errors stay as frequent as they are; None if it is
        certified, or where no number would.
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
    samples_needed: int | None = None

    @property
    def n_kept(self) -> int:
        """Number of certified members."""
        if self.holds and self.n_second is not None:
            return self.n_second
        return int(self.order.size)

    @property
    def excess_limit(self) -> float:
        """Limit on the excess error of the certified members; 0 for the whole ensemble.

        For an order, only ``tolerance`` is guaranteed, because the same samples chose
        the size that this limit belongs to. A single candidate has a guaranteed limit,
        certified or not.
        """
        if self.single:
            return float(self.excess_limits[-1])
        if not self.holds:
            return 0.0
        return float(self.excess_limits[self.sizes == self.n_kept][0])

    @property
    def tolerance_needed(self) -> float | None:
        """The tolerance at which the same samples certify the largest candidate.

        None if no tolerance is large enough.
        """
        if self.holds:
            return self.tolerance
        if self._has_no_candidate:
            return None
        limit = math.ceil(10_000 * float(self.excess_limits[-1])) / 10_000
        return limit if limit < self.empty_from else None

    @property
    def _has_no_candidate(self) -> bool:
        """Whether the whole ensemble is the only candidate."""
        return not self.single and int(self.sizes[-1]) == self.n_members

    def rows(self) -> list[tuple[str, ...]]:
        """Return table rows: what was certified, and the errors on the samples."""
        certified = "no"
        if self.holds:
            of = "of" if self.n_second is None else "beside"
            certified = f"{self.n_kept:,} {of} {self.n_members:,} members"
        return [
            ("certified", certified),
            ("tolerance", f"{100 * self.tolerance:g} pp"),
            ("confidence", f"{100 * (1 - self.delta):g} %"),
            ("error", percent_text(self.error)),
            ("error of all members", percent_text(self.full_error)),
            ("samples", f"{self.n_samples:,}"),
        ]

    @property
    def note(self) -> str:  # type: ignore[override]
        """The certificate as a sentence."""
        return str(self)

    def to_dict(self) -> dict[str, Any]:
        """Return plain types for JSON."""
        return {
            **Result.to_dict(self),
            "classes": plain([limit._asdict() for limit in self.classes]),
            "excess_limit": self.excess_limit,
            "tolerance_needed": self.tolerance_needed,
            "sentence": str(self),
        }

    def __str__(self) -> str:
        samples = f"{self.n_samples:,} samples"
        if self.source is not None:
            samples = self.source.samples_text(self.n_samples)
        sure = f"{100 * (1 - self.delta):g} % confidence from {samples}"
        sure += ", with the same weight for every class" * self.balanced
        if not self.holds:
            return f"{self._refusal(sure)}{self._by_class}"
        limit = f" (upper limit {points_text(self.excess_limit)})" * self.single
        return (
            f"{self._claim}{limit}, and at most {percent_text(self.error_limit)} on "
            f"new samples, each with {sure}.{self._by_class}"
        )

    @property
    def _by_class(self) -> str:
        """Describe the possible loss of each class, and which have too few samples."""
        if not 0 < len(self.classes) <= _MOST_CLASSES:
            return ""
        needed = samples_needed(self.tolerance, self.delta / len(self.classes))
        losses = [
            f"{max(100 * each.limit, 0):.1f} points for class {each.label}"
            + f" (only {each.n_samples:,} samples)" * (each.n_samples < needed)
            for each in self.classes
        ]
        return f" Recall falls by at most: {', '.join(losses)}."

    @property
    def _claim(self) -> str:
        """Describe what is certified, or that the largest candidate is not."""
        some = self.n_kept if self.holds else int(self.sizes[-1])
        who, whom = f"these {some} of {self.n_members} members", "all of them"
        if self.n_second is not None:
            some = int(self.sizes[-1])
            who = f"the second model, of {some} member{'s' * (some != 1)},"
            whom = f"the first, of {self.n_members}"
        elif some == 1:
            who = f"this one of {self.n_members} members"
        elif not (self.holds or self.single):
            who = f"the first {some} of {self.n_members} members"
        return (
            f"The error of {who} is at most {100 * self.tolerance:g} percentage points "
            f"higher than that of {whom}"
        )

    def _refusal(self, sure: str) -> str:
        """Describe what was requested, what holds instead, and what would help."""
        if self._has_no_candidate:
            return (
                "Nothing to certify: the order contains only the size of all members."
            )
        claim = self._claim[0].lower() + self._claim[1:]
        limit = f"{100 * float(self.excess_limits[-1]):.2f}"
        return (
            f"Not certified that {claim}: the upper limit is {limit}, with {sure}. "
            f"{self._remedy}"
        )

    @property
    def _remedy(self) -> str:
        """Describe how many samples, or which tolerance, would be enough."""
        often, tolerance = "If both keep these error rates,", self.tolerance_needed
        if self.samples_needed is None:
            also = "" if tolerance is None else f"; a tolerance of {tolerance:g} would"
            return f"{often} more samples would not be enough{also}."
        # Two digits, because the rates are not known more precisely.
        digit = 10 ** max(len(str(self.samples_needed)) - 2, 0)
        about = -(-self.samples_needed // digit) * digit
        also = "" if tolerance is None else f", or a tolerance of {tolerance:g}"
        return (
            f"{often} about {about:,} new samples, certified without these, would be "
            f"enough with a probability of {100 * POWER:g} %{also}."
        )
