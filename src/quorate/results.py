"""Classes that functions of quorate return, for annotations and documentation."""

from typing import TYPE_CHECKING, Any

from quorate._blending import Blend
from quorate._choosing import ExpectedError, Explanation, Selection, SizeCurve
from quorate._judging import Certificate, Comparison
from quorate._scoring import ScoreEstimate
from quorate._theory import Decomposition, MeanDecomposition, Measure
from quorate._trees import CompactClassifier, CompactRegressor
from quorate._votes import PairCounts, PairedErrors, VoteSource
from quorate.risk import RiskAssessment

if TYPE_CHECKING:
    from quorate._report import Report

__all__ = [
    "Blend",
    "Certificate",
    "CompactClassifier",
    "CompactRegressor",
    "Comparison",
    "Decomposition",
    "ExpectedError",
    "Explanation",
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


def __getattr__(name: str) -> Any:
    if name != "Report":
        raise AttributeError(f"module 'quorate.results' has no attribute {name!r}")
    from quorate._report import Report  # with matplotlib, which nothing else here needs

    return Report
