"""Which leaves of a few trees samples reach, noted batch by batch.

Samples that come in batches are gone when the last of them has been seen, and only then
it is known how many there were. What tells training samples from others is little: the
leaves that they reach in one deep tree, or in a few that are not. So that is kept.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from quorate._data import count_rows
from quorate._typing import IntArray
from quorate._votes import code_dtype
from quorate.ensembles._kind import Ensemble
from quorate.ensembles._member import Member

# A stump may count other samples by chance as it did its own; this many leaves do not.
LEAVES_OF_EVIDENCE = 30
MOST_NOTED = 5_000_000
"""Rows beyond which nothing is kept."""


@dataclass(frozen=True, slots=True, eq=False)
class LeafNotes:
    """The leaves that samples reach, in place of the samples."""

    members: tuple[str, ...]
    """The trees that were asked."""
    leaves: tuple[IntArray, ...]
    """The leaf that each sample reaches, for each of these trees."""
    n_rows: int
    """How many samples there are."""

    @property
    def shape(self) -> tuple[int]:
        """How many samples there are."""
        return (self.n_rows,)

    def __len__(self) -> int:
        return self.n_rows

    def __getitem__(self, rows: IntArray) -> "LeafNotes":
        leaves = tuple(reached[rows] for reached in self.leaves)
        return replace(self, leaves=leaves, n_rows=rows.size)

    def know(self, member: Member) -> bool:
        """Tell whether a member was asked."""
        return member.name in self.members

    def of(self, member: Member) -> IntArray:
        """Return the leaves of a member that was asked."""
        return self.leaves[self.members.index(member.name)]


def note_leaves(ensemble: Ensemble, prepared: Any) -> LeafNotes | None:
    """Return where samples come to; None for kinds that know their rows otherwise."""
    if ensemble.recognise is not None:
        return None
    asked = _few_trees(ensemble)
    return LeafNotes(
        tuple(member.name for member in asked),
        tuple(
            member.leaves(prepared).astype(code_dtype(member.tree.node_count))
            for member in asked
        ),
        count_rows(prepared),
    )


def joined_notes(parts: list[LeafNotes]) -> LeafNotes:
    """Return the notes on all samples, in their order."""
    return LeafNotes(
        parts[0].members,
        tuple(
            np.concatenate(every)
            for every in zip(*(part.leaves for part in parts), strict=True)
        ),
        sum(map(len, parts)),
    )


class Notebook:
    """Notes on batches as they come; none once there are too many rows."""

    def __init__(self, *, limited: bool = True) -> None:
        self._limited = limited
        self._parts: list[LeafNotes] | None = []
        self._rows = 0

    def add(self, notes: LeafNotes | None) -> None:
        """Keep the notes on one more batch; without them the others are worthless."""
        if notes is None or self._parts is None:
            self._parts = None
            return
        self._parts.append(notes)
        self._rows += len(notes)
        if self._limited and self._rows > MOST_NOTED:
            self._parts = None

    def whole(self) -> LeafNotes | None:
        """Return the notes on all samples, if there are some."""
        return joined_notes(self._parts) if self._parts else None


def _few_trees(ensemble: Ensemble) -> list[Member]:
    """Return the first trees that have leaves enough to tell."""
    asked: list[Member] = []
    leaves = 0
    for member in ensemble.members:
        if leaves >= LEAVES_OF_EVIDENCE:
            break
        if member.tree is not None:
            asked.append(member)
            leaves += int(member.tree.n_leaves)
    return asked
