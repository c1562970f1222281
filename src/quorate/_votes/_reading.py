"""How members that count their classes, 0, 1, 2, ..., were understood, and why.

Such a member may say labels, or positions among labels that it does not know. The
labels of the samples tell, and those of a few samples may tell something else than
those of all. So what was found goes along with the votes and adds up as they do: parts
that were understood in two ways are refused, and all of them together are judged once.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import add
from typing import Any

import numpy as np

from quorate._typing import Array, BoolArray, IntArray
from quorate._votes._labels import positions, union

REMEDY = (
    "pass the ensemble that these members are from, or say what their positions stand "
    "for: quorate.as_member(member, classes=[...], answers='codes')."
)
# Positions fit better than labels if they are right this many times as often, and by
# this many times what chance makes of as many samples.
_TIMES, _DEVIATIONS = 1.5, 3.0


@dataclass(frozen=True, slots=True, eq=False)
class Reading:
    """What members answered on samples of each label, and what that was taken for.

    Members that know equally many classes are one group, and are understood alike.
    """

    labels: Array
    """The labels of the samples, sorted."""
    sizes: IntArray
    """How many classes the members of each group know."""
    members: IntArray
    """How many members each group has."""
    as_codes: BoolArray
    """Whether their answers were taken for positions among the labels."""
    counts: IntArray
    """Answers by group, label of the sample, and answer."""

    def __add__(self, other: "Reading") -> "Reading":
        """Return what both say together; refuse what was understood in two ways."""
        _check_alike(self, other)
        if np.array_equal(self.labels, other.labels):
            return replace(self, counts=self.counts + other.counts)
        labels = union([self.labels, other.labels], self.labels)
        n_groups, _, width = self.counts.shape
        counts = np.zeros((n_groups, labels.size, width), dtype=np.int64)
        for one in (self, other):
            counts[:, positions(one.labels, labels, "y")] += one.counts
        return replace(self, labels=labels, counts=counts)

    def settled(self, owners: Sequence[str] = ()) -> "Reading":
        """Return what all of it says, whatever its parts were taken for.

        Parameters
        ----------
        owners : sequence of str
            Whom to name for each group, if it cannot be told.
        """
        return self._judged(owners, part=False)

    def provisional(self, owners: Sequence[str] = ()) -> "Reading":
        """Return what a part says: labels, where all together may say otherwise."""
        return self._judged(owners, part=True)

    def check(self) -> None:
        """Refuse parts of which all together say something else than each did."""
        found = self.settled().as_codes
        off = np.flatnonzero(found != self.as_codes)
        if off.size:
            ways = ("labels", "positions")[:: 1 if found[off[0]] else -1]
            raise ValueError(
                f"members that know the classes {_counted(self.sizes[off[0]])} look as "
                f"if they answered with {ways[0]} in each batch, and with {ways[1]} if "
                f"the labels of all are known ({listed(self.labels)}); {REMEDY}"
            )

    def _judged(self, owners: Sequence[str], *, part: bool) -> "Reading":
        found = [self._are_codes(group, part) for group in range(self.sizes.size)]
        for group, are_codes in enumerate(found):
            if are_codes is None:
                raise ValueError(self._doubt(group, *owners[group : group + 1]))
        return replace(self, as_codes=np.array(found, dtype=bool))

    def _are_codes(self, group: int, part: bool) -> bool | None:
        """Tell whether answers are positions; None if nobody can."""
        size, labels = int(self.sizes[group]), self.labels
        table = self.counts[group, :, :size]
        if labels.dtype.kind not in "biuf":
            return True if labels.size == size else None
        known = np.isin(labels, np.arange(size))
        right = int(table[known, labels[known].astype(np.intp)].sum())
        if labels.size == size:
            # Equal labels say the same either way; of others, those who say labels
            # would never be right on the last class.
            return int(np.trace(table)) > right
        if part:
            return False
        from_one = labels.min() > 0 and labels.max() == size
        if from_one or (labels.size > 1 and not known.any()):
            return None
        most, n_members = _most_in_order(table), int(self.members[group])
        chance = _DEVIATIONS * np.sqrt(table.sum() * n_members)
        return None if most > _TIMES * right and most - right > chance else False

    def _doubt(self, group: int, owner: str = "a member") -> str:
        """Say that it cannot be told what a group's answers are."""
        size, labels = int(self.sizes[group]), self.labels
        given = f"{labels.size} label{'s' * (labels.size > 1)} ({listed(labels)})"
        numbers = labels.dtype.kind in "biuf"
        if not numbers or not np.isin(labels, np.arange(size)).all():
            return (
                f"{owner} answers with positions among {size} classes, and y has "
                f"{given}: which is which cannot be told; {REMEDY}"
            )
        return (
            f"{owner} answers with {_counted(size)}, which are labels or positions "
            f"among {size} classes; y has {given}, on which positions would be right "
            f"more often, so {REMEDY} If they are labels: quorate.as_member(member, "
            "classes=member.classes_, answers='labels')."
        )


def added(readings: Iterable[Reading | None]) -> Reading | None:
    """Return what parts say together, as far as they say how they were understood."""
    known = [each for each in readings if each is not None]
    return reduce(add, known) if known else None


def _most_in_order(table: IntArray) -> int:
    """Return how often answers are right if they stand for labels in their order.

    Which labels there are is not known, so each of those seen may stand anywhere, as
    long as a larger one stands behind a smaller one.
    """
    best = np.zeros(table.shape[1] + 1, dtype=np.int64)
    for row in table:
        taken = np.maximum(best[1:], best[:-1] + row)
        best[1:] = np.maximum.accumulate(taken)
    return int(best[-1])


def _check_alike(one: Reading, two: Reading) -> None:
    if not np.array_equal(one.sizes, two.sizes):
        raise ValueError("votes of members that know other classes do not add up.")
    for group in np.flatnonzero(one.as_codes | two.as_codes):
        alike = one.as_codes[group] == two.as_codes[group]
        if alike and np.array_equal(one.labels, two.labels):
            continue
        ways = [
            f"{'positions' if each.as_codes[group] else 'labels'} where y has "
            f"{listed(each.labels)}"
            for each in (one, two)
        ]
        raise ValueError(
            f"members that know the classes {_counted(one.sizes[group])} look as "
            f"if they answered with {ways[0]}, and with {ways[1]}; {REMEDY}"
        )


def _counted(size: Any) -> str:
    return listed(np.arange(int(size)))


def listed(labels: Array) -> str:
    """Return labels in a row, the first few of many."""
    shown = ", ".join(map(str, labels[:5].tolist()))
    return f"{shown}, ..." if len(labels) > 5 else shown
