"""Classes that functions of quorate return, for annotations and documentation."""

from quorate._blending import Blend
from quorate._choosing import ExpectedError, Explanation, Selection, SizeCurve
from quorate._judging import Certificate, Comparison
from quorate._lazy import LazyCurve
from quorate._report import Report
from quorate._scoring import ScoreEstimate
from quorate._theory import Decomposition, MeanDecomposition, Measure
from quorate._trees import CompactClassifier
from quorate._votes import PairCounts, PairedErrors, VoteSource
from quorate.risk import RiskAssessment

__all__ = [
    "Blend",
    "Certificate",
    "CompactClassifier",
    "Comparison",
    "Decomposition",
    "ExpectedError",
    "Explanation",
    "LazyCurve",
    "MeanDecomposition",
    "Measure",
    "PairCounts",
    "PairedErrors",
    "Report",
    "RiskAssessment",
    "ScoreEstimate",
    "Selection",
    "SizeCurve",
    "VoteSource",
]
