"""A sequence of sizes, tested from the largest down."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from quorate._judging._certificate import Certificate
from quorate._judging._limits import error_limit, excess_limit, samples_needed
from quorate._typing import BoolArray, FloatArray, IntArray
from quorate._votes import PairedErrors


@dataclass(frozen=True, slots=True)
class Errors:
    """How often subsets err, beside the whole ensemble."""

    only_subset: IntArray
    only_full: IntArray
    wrong: IntArray
    full: int
    n_samples: int

    @classmethod
    def of(
        cls, wrong: Sequence[BoolArray], full: BoolArray, group: BoolArray
    ) -> "Errors":
        """Count on some samples."""
        return cls(
            only_subset=_counts(each & ~full & group for each in wrong),
            only_full=_counts(full & ~each & group for each in wrong),
            wrong=_counts(each & group for each in wrong),
            full=int(np.count_nonzero(full & group)),
            n_samples=int(np.count_nonzero(group)),
        )

    @classmethod
    def in_groups(
        cls, wrong: Sequence[BoolArray], full: BoolArray, classes: IntArray | None
    ) -> list["Errors"]:
        """Count on all samples together, or on those of each class."""
        if classes is None:
            return [cls.of(wrong, full, np.ones(full.size, dtype=bool))]
        return [cls.of(wrong, full, classes == code) for code in np.unique(classes)]

    @classmethod
    def counted(cls, rivals: PairedErrors, balanced: bool) -> list["Errors"]:
        """Take what a pass has counted, of all samples together or of each class."""
        errors, samples = rivals.errors, rivals.samples
        if not balanced:
            errors = errors.sum(axis=-1, keepdims=True)
            samples = samples.sum(keepdims=True)
        return [
            cls(
                only_subset=errors[0, :, place],
                only_full=errors[1, :, place],
                wrong=errors[0, :, place] + errors[2, :, place],
                full=int(errors[1, 0, place] + errors[2, 0, place]),
                n_samples=int(number),
            )
            for place, number in enumerate(samples)
        ]


def _counts(flags: Iterable[BoolArray]) -> IntArray:
    return np.array([np.count_nonzero(each) for each in flags])


@dataclass(frozen=True, slots=True)
class Tested:
    """A sequence of sizes, tested from the largest down to the first that failed."""

    n_passed: int
    sizes: IntArray
    limits: FloatArray
    groups: list[Errors]
    """Errors that count together: on all samples, or on those of each class."""
    n_outcomes: int
    """Ensembles that the samples could have chosen."""
    itself: BoolArray
    """Which of the sizes are the whole ensemble, by whatever name."""

    @property
    def single(self) -> bool:
        """Whether there is one candidate only, and it is not the whole ensemble."""
        return self.n_outcomes == 1 and not self.itself[0]

    def certificate(
        self,
        order: IntArray | None,
        weights: FloatArray | None,
        n_members: int,
        tolerance: float,
        delta: float,
    ) -> Certificate:
        """Return what the tests say about the first members of an order.

        Without an order the candidate is a model that is no part of the whole one.
        """
        level = delta / self.n_outcomes / len(self.groups)
        last = self.n_passed - 1
        holds = bool(self.n_passed) and not self.itself[last]
        kept: IntArray = np.arange(n_members)
        new = None
        if holds:
            none = np.arange(0)
            kept = none if order is None else order[: self.sizes[last]]
            new = None if weights is None else weights[kept]
        # Errors of the only candidate, of the smallest that passed, or of all members.
        told = 0 if self.single else last
        counts = self.single or self.n_passed
        wrong = [int(g.wrong[told]) if counts else g.full for g in self.groups]
        each = [
            error_limit(count, group.n_samples, level)
            for count, group in zip(wrong, self.groups, strict=True)
        ]
        n_seen = self.sizes.size
        return Certificate(
            order=kept,
            weights=new,
            n_members=n_members,
            n_samples=sum(group.n_samples for group in self.groups),
            tolerance=float(tolerance),
            delta=float(delta),
            sizes=self.sizes,
            excess_limits=self.limits,
            only_subset_wrong=np.sum([g.only_subset for g in self.groups], 0)[:n_seen],
            only_full_wrong=np.sum([g.only_full for g in self.groups], 0)[:n_seen],
            error=self._mean(wrong),
            full_error=self._mean([group.full for group in self.groups]),
            error_limit=float(np.mean(each)),
            balanced=len(self.groups) > 1,
            holds=holds,
            single=self.single,
            n_second=int(self.sizes[0]) if order is None else None,
        )

    def _mean(self, wrong: Sequence[int]) -> float:
        pairs = zip(wrong, self.groups, strict=True)
        return float(np.mean([count / group.n_samples for count, group in pairs]))


def walk_down(
    groups: list[Errors],
    sizes: IntArray,
    itself: BoolArray,
    tolerance: float,
    delta: float,
) -> Tested:
    """Walk down the sizes until one fails.

    The errors of each group are limited by themselves, at a level that leaves room for
    all of them to hold at once.
    """
    n_samples = sum(group.n_samples for group in groups)
    needed = samples_needed(tolerance, delta)
    if n_samples < needed:
        raise ValueError(
            f"certify(tolerance={tolerance!r}, delta={delta!r}): {n_samples:,} "
            f"samples cannot certify any subset, however good; {needed:,} are the "
            "least."
        )
    level = delta / len(groups)
    found = np.mean(
        [excess_limit(g.only_subset, g.only_full, g.n_samples, level) for g in groups],
        axis=0,
    )
    failed = np.flatnonzero(~((found <= tolerance) | itself))
    n_passed = int(failed[0]) if failed.size else sizes.size
    n_seen = min(n_passed + 1, sizes.size)
    return Tested(
        n_passed=n_passed,
        sizes=sizes[:n_seen],
        limits=found[:n_seen],
        groups=groups,
        n_outcomes=1 if sizes.size == 1 else int(sizes.size) + (not itself.any()),
        itself=itself,
    )
