"""Small steps of choosing that methods share: who is best, who comes first."""

from typing import Any

import numpy as np

from quorate._typing import Array, BoolArray, IntArray
from quorate._votes import VoteCounts

NEAR = 1e-12
"""Sums of floats that should be equal may differ by this much, relatively."""


def most_accurate_first(votes: VoteCounts) -> IntArray:
    """Return the members by falling accuracy, equals by position."""
    right, asked = votes.member_counts()
    # Equal fractions of whole numbers below 2**26 give equal floats.
    return np.argsort(-(right / asked), kind="stable")


def first_best(scores: Array, allowed: BoolArray, tolerance: float = 0.0) -> int:
    """Return the lowest position among the allowed whose score is largest.

    With a tolerance, scores that close to the largest, relative to it, count as equal.
    """
    open_scores = np.where(allowed, scores, -np.inf)
    best = open_scores.max()
    if tolerance:
        best -= tolerance * max(1.0, abs(best))
    return int(np.argmax(open_scores >= best))


def as_generator(random_state: Any) -> np.random.Generator:
    """Return a generator for None, a seed, a RandomState or a Generator."""
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**31 - 1))
    return np.random.default_rng(random_state)
