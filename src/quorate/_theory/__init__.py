"""Thirteen measures of how differently the members of an ensemble vote.

The room is private because a package and a function cannot share the name
``quorate.diversity``; its public names are those of :mod:`quorate`.
"""

from quorate._theory._ask import (
    diversity,
    measures,
    pairwise_diversity,
    sample_diversity,
)
from quorate._theory._catalogue import Measure, find_measure
from quorate._theory._decomposition import (
    Decomposition,
    MeanDecomposition,
    decompose,
    mean_terms,
)
from quorate._theory._sample import closed_form

__all__ = [
    "Decomposition",
    "MeanDecomposition",
    "Measure",
    "closed_form",
    "decompose",
    "diversity",
    "find_measure",
    "mean_terms",
    "measures",
    "pairwise_diversity",
    "sample_diversity",
]
