"""Samples by their class and what two models take them for: counts that add up."""

from dataclasses import dataclass

import numpy as np

from quorate._typing import Array, IntArray


@dataclass(frozen=True, slots=True, eq=False)
class Kinds:
    """How often a class is taken for which by an ensemble, and for which by a rival.

    Every score of decided classes can be had from it, for either model and with the
    standard error of their difference. There are few kinds of samples, however many
    samples there are: where both are right, one for each class.
    """

    codes: IntArray
    """One column for each kind that occurs, sorted: the true class, that of the whole
    ensemble and that of the rival."""
    times: IntArray
    """Samples of each kind."""

    @classmethod
    def count(cls, y: Array, whole: Array, rival: Array) -> "Kinds":
        """Count the kinds of samples."""
        codes = np.stack([y, whole, rival]).astype(np.int64)
        return _gathered(codes, np.ones(codes.shape[1], dtype=np.int64))

    def __add__(self, other: "Kinds") -> "Kinds":
        codes = np.concatenate([self.codes, other.codes], axis=1)
        return _gathered(codes, np.concatenate([self.times, other.times]))

    def in_classes(self, places: IntArray) -> "Kinds":
        """Return the same with more classes; ``places`` says where the old ones are."""
        return Kinds(np.asarray(places, dtype=np.int64)[self.codes], self.times)


def _gathered(codes: IntArray, times: IntArray) -> Kinds:
    """Return every kind once, with the samples of all of its columns."""
    n_classes = int(codes.max()) + 1
    keys = (codes[0] * n_classes + codes[1]) * n_classes + codes[2]
    _, first, kind = np.unique(keys, return_index=True, return_inverse=True)
    total = np.zeros(first.size, dtype=np.int64)
    np.add.at(total, kind, times)
    return Kinds(codes[:, first], total)
