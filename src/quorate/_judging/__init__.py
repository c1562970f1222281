"""Guarantees for smaller ensembles, from new samples.

All limits are exact: they hold with the stated probability for any number of samples,
if the samples are independent draws from the distribution of future data and were used
neither for training nor for choosing members.
"""

from quorate._judging._certificate import Certificate
from quorate._judging._certify import certify
from quorate._judging._compare import Comparison, compare

__all__ = [
    "Certificate",
    "Comparison",
    "certify",
    "compare",
]
