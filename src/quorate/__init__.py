"""quorate: find the few members of an ensemble whose votes decide, and show why.

Names are loaded on first use, so that importing the package stays cheap.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from quorate._version import __version__ as __version__

if TYPE_CHECKING:
    from quorate import display as display
    from quorate import ensembles as ensembles
    from quorate import exceptions as exceptions
    from quorate import pruning as pruning
    from quorate import risk as risk
    from quorate import serving as serving
    from quorate import stats as stats
    from quorate import study as study
    from quorate import testing as testing
    from quorate._blending import Blend as Blend
    from quorate._blending import blend as blend
    from quorate._choosing import ExpectedError as ExpectedError
    from quorate._choosing import Explanation as Explanation
    from quorate._choosing import Latency as Latency
    from quorate._choosing import Selection as Selection
    from quorate._choosing import SizeCurve as SizeCurve
    from quorate._choosing import select as select
    from quorate._ensembles import WeightedVoting as WeightedVoting
    from quorate._ensembles import as_member as as_member
    from quorate._ensembles import collect_votes as collect_votes
    from quorate._ensembles import keep_members as keep_members
    from quorate._ensembles import to_forest as to_forest
    from quorate._files import load as load
    from quorate._files import save as save
    from quorate._judging import Certificate as Certificate
    from quorate._judging import Comparison as Comparison
    from quorate._judging import Frontier as Frontier
    from quorate._judging import FrontierPoint as FrontierPoint
    from quorate._judging import certify as certify
    from quorate._judging import compare as compare
    from quorate._judging import error_limit as error_limit
    from quorate._judging import excess_limit as excess_limit
    from quorate._judging import expected_limit as expected_limit
    from quorate._judging import frontier as frontier
    from quorate._judging import samples_needed as samples_needed
    from quorate._onnx import to_onnx as to_onnx
    from quorate._pruned import PrunedClassifier as PrunedClassifier
    from quorate._pruned import distil as distil
    from quorate._pruned import prune as prune
    from quorate._report import Report as Report
    from quorate._report import report as report
    from quorate._scoring import ScoreEstimate as ScoreEstimate
    from quorate._summarising import summarise as summarise
    from quorate._theory import Decomposition as Decomposition
    from quorate._theory import MeanDecomposition as MeanDecomposition
    from quorate._theory import Measure as Measure
    from quorate._theory import decompose as decompose
    from quorate._theory import diversity as diversity
    from quorate._theory import measures as measures
    from quorate._theory import pairwise_diversity as pairwise_diversity
    from quorate._theory import sample_diversity as sample_diversity
    from quorate._votes import DecisionRule as DecisionRule
    from quorate._votes import PairCounts as PairCounts
    from quorate._votes import PairedErrors as PairedErrors
    from quorate._votes import Summary as Summary
    from quorate._votes import Votes as Votes
    from quorate._votes import VoteSource as VoteSource
    from quorate.lazy import CompactClassifier as CompactClassifier
    from quorate.lazy import LazyClassifier as LazyClassifier
    from quorate.lazy import LazyCurve as LazyCurve
    from quorate.lazy import compact as compact
    from quorate.pruning import methods as methods
    from quorate.risk import RiskAssessment as RiskAssessment
    from quorate.risk import assess_risk as assess_risk

# public modules, and the names that rooms offer at the top
_MODULES = "display ensembles exceptions pruning risk serving stats study testing"
_NAMES = {
    "_blending": "Blend blend",
    "_choosing": "ExpectedError Explanation Latency Selection SizeCurve select",
    "_ensembles": "WeightedVoting as_member collect_votes keep_members to_forest",
    "_files": "load save",
    "_judging": "Certificate Comparison Frontier FrontierPoint certify compare "
    "error_limit excess_limit expected_limit frontier samples_needed",
    "_onnx": "to_onnx",
    "_pruned": "PrunedClassifier distil prune",
    "_report": "Report report",
    "_scoring": "ScoreEstimate",
    "_summarising": "summarise",
    "_theory": "Decomposition MeanDecomposition Measure decompose diversity measures "
    "pairwise_diversity sample_diversity",
    "_votes": "DecisionRule PairCounts PairedErrors Summary VoteSource Votes",
    "lazy": "CompactClassifier LazyClassifier LazyCurve compact",
    "pruning": "methods",
    "risk": "RiskAssessment assess_risk",
}
_HOMES = {name: room for room, names in _NAMES.items() for name in names.split()}

__all__ = sorted([*_MODULES.split(), *_HOMES, "__version__"])


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'quorate' has no attribute {name!r}")
    home = import_module(f"quorate.{_HOMES.get(name, name)}")
    value = getattr(home, name) if name in _HOMES else home
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*__all__, "__doc__", "__name__", "__path__"})
