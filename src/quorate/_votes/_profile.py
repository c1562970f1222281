"""Kinds of samples, and how many there are of each.

For equal votes all that counts about a sample is how many members are right on it, how
many vote, how many classes lead and whether the true one is among them. Samples that
are alike in these are of one kind, and a table of kinds says as much as all samples.
"""

from dataclasses import dataclass

import numpy as np

from quorate._typing import Array, FloatArray, IntArray

# Each of three numbers in 20 bits and a flag in one: keys are below 2**61.
_BITS = 20
_MASK = (1 << _BITS) - 1
LARGEST = _MASK
"""Members and classes that a key has room for."""


@dataclass(frozen=True, slots=True, eq=False)
class Histogram:
    """Kinds of samples, ``c`` of ``n`` votes right, and how many there are of each."""

    c: IntArray
    n: IntArray
    times: IntArray

    def only(self, mask: Array) -> "Histogram":
        """Return the kinds of samples the mask marks."""
        return Histogram(self.c[mask], self.n[mask], self.times[mask])

    def mean(self, values: FloatArray) -> float:
        """Average a value per kind over the samples; NaN if there are none."""
        total = self.times.sum()
        return float((self.times * values).sum() / total) if total else float("nan")


@dataclass(frozen=True, slots=True, eq=False)
class Profile:
    """A table of kinds of samples, sorted."""

    keys: IntArray
    """The kinds, each as one number."""
    times: IntArray
    """How many samples there are of each."""
    first: IntArray
    """Where the first of them is."""

    @classmethod
    def of(
        cls, right: Array, asked: Array, tied: Array, has_truth: Array, where: Array
    ) -> "Profile":
        """Sort samples into kinds.

        Parameters
        ----------
        right, asked : arrays of int
            How many members are right on each sample, and how many vote.
        tied : array of int
            How many classes lead; 0 where no vote has any weight, which is a tie of
            all classes, however many there are.
        has_truth : array of bool
            Whether the true class is one of them.
        where : array of int
            Positions of the samples, rising.
        """
        keys = asked.astype(np.int64)
        for number, bits in ((right, _BITS), (tied, _BITS), (has_truth, 1)):
            keys <<= bits
            keys |= number
        found, first, times = np.unique(keys, return_index=True, return_counts=True)
        return cls(found, times.astype(np.int64), where[first].astype(np.int64))

    def __add__(self, other: "Profile") -> "Profile":
        keys = np.concatenate([self.keys, other.keys])
        found, place = np.unique(keys, return_inverse=True)
        times = np.zeros(found.size, dtype=np.int64)
        np.add.at(times, place, np.concatenate([self.times, other.times]))
        first = np.full(found.size, np.iinfo(np.int64).max)
        np.minimum.at(first, place, np.concatenate([self.first, other.first]))
        return Profile(found, times, first)

    @property
    def n_samples(self) -> int:
        """How many samples there are in all."""
        return int(self.times.sum())

    @property
    def asked(self) -> IntArray:
        """How many members vote."""
        return self.keys >> (2 * _BITS + 1)

    @property
    def right(self) -> IntArray:
        """How many members are right."""
        return (self.keys >> (_BITS + 1)) & _MASK

    def tied(self, n_classes: int) -> IntArray:
        """How many classes lead; all where nobody's vote has any weight."""
        found = (self.keys >> 1) & _MASK
        return np.where(found == 0, n_classes, found)

    @property
    def undecided(self) -> Array:
        """Where no vote has any weight."""
        return np.asarray((self.keys >> 1) & _MASK == 0)

    @property
    def has_truth(self) -> IntArray:
        """Whether the true class is one of those that lead, 0 or 1."""
        return self.keys & 1

    def mean(self, values: FloatArray) -> float:
        """Average a value per kind over the samples."""
        return float((self.times * values).sum() / self.times.sum())

    def moved(self, places: IntArray) -> "Profile":
        """Return the same table with other positions of the first samples."""
        return Profile(self.keys, self.times, places)


def histogram_of(right: IntArray, asked: IntArray, times: Array | None) -> Histogram:
    """Sort samples (or kinds of them) by how many members vote and are right."""
    keys = asked.astype(np.int64) << _BITS | right
    if times is None:
        found, counts = np.unique(keys, return_counts=True)
        return Histogram(found & _MASK, found >> _BITS, counts)
    found, place = np.unique(keys, return_inverse=True)
    total = np.zeros(found.size, dtype=np.int64)
    np.add.at(total, place, times)
    return Histogram(found & _MASK, found >> _BITS, total)


def full_histogram(right: IntArray, n_members: int, times: Array) -> Histogram:
    """Return the histogram where everybody votes: 0 to all members right."""
    total = np.zeros(n_members + 1, dtype=np.int64)
    np.add.at(total, right, times)
    every = np.arange(n_members + 1)
    return Histogram(every, np.full(n_members + 1, n_members), total)
