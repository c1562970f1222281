"""How far a smaller ensemble can be trusted, from samples nobody has seen.

All limits are exact: they hold with the stated probability for any number of samples,
without approximation, as long as the samples are drawn independently from the same
source as those to come, and took part neither in training nor in choosing members.
"""

from quorate._judging._certificate import Certificate
from quorate._judging._certify import certify
from quorate._judging._compare import (
    Comparison,
    RareClass,
    compare,
    expected_rare_class,
)
from quorate._judging._frontier import Frontier, FrontierPoint, frontier
from quorate._judging._limits import (
    error_limit,
    excess_limit,
    expected_limit,
    samples_needed,
)

__all__ = [
    "Certificate",
    "Comparison",
    "Frontier",
    "FrontierPoint",
    "RareClass",
    "certify",
    "compare",
    "error_limit",
    "excess_limit",
    "expected_limit",
    "expected_rare_class",
    "frontier",
    "samples_needed",
]
