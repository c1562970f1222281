"""Thirteen measures of how differently the members of an ensemble vote.

The room is private because a package and a function cannot share the name
``quorate.diversity``; its public names are those of :mod:`quorate`.
"""

from quorate._diversity._ask import (
    diversity,
    measures,
    pairwise_diversity,
    sample_diversity,
)
from quorate._diversity._catalogue import Measure, find_measure
from quorate._diversity._sample import closed_form

__all__ = [
    "Measure",
    "closed_form",
    "diversity",
    "find_measure",
    "measures",
    "pairwise_diversity",
    "sample_diversity",
]
