"""Contingency tables of all pairs of members."""

from dataclasses import dataclass

from quorate._typing import IntArray


@dataclass(frozen=True, slots=True, eq=False)
class PairCounts:
    """Contingency tables of all pairs of members, each an (n_members, n_members) array.

    The first member of a pair is the row, the second the column. *Positive* means right
    for oracle outputs, and voting the higher of two classes for label outputs.
    """

    both: IntArray
    """Samples on which both are positive."""
    first: IntArray
    """Samples on which only the first is positive."""
    total: IntArray
    """Samples on which both have a vote."""

    @property
    def second(self) -> IntArray:
        """Samples on which only the second is positive."""
        return self.first.T

    @property
    def neither(self) -> IntArray:
        """Samples on which neither is positive."""
        return self.total - self.both - self.first - self.first.T
