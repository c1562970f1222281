"""Diversity measures and the error decomposition.

The package is private because ``quorate.diversity`` is a function; its public names are
those of :mod:`quorate`.
"""

from quorate._theory._decomposition import Decomposition, MeanDecomposition, decompose
from quorate._theory._diversity import (
    Diagnosis,
    diagnose,
    diversity,
    pairwise_diversity,
    sample_diversity,
)
from quorate._theory._formulas import closed_form
from quorate._theory._measures import Measure, find_measure, measures

__all__ = [
    "Decomposition",
    "Diagnosis",
    "MeanDecomposition",
    "Measure",
    "closed_form",
    "decompose",
    "diagnose",
    "diversity",
    "find_measure",
    "measures",
    "pairwise_diversity",
    "sample_diversity",
]
