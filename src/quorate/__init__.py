"""quorate: find the few members of an ensemble whose votes decide, and show why.

Names are loaded on first use, so that importing the package stays cheap.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from quorate._version import __version__ as __version__

if TYPE_CHECKING:
    from quorate import certificates as certificates
    from quorate import choosing as choosing
    from quorate import display as display
    from quorate import ensembles as ensembles
    from quorate import exceptions as exceptions
    from quorate import pruning as pruning
    from quorate import risk as risk
    from quorate import selection as selection
    from quorate import stats as stats
    from quorate import study as study
    from quorate import testing as testing
    from quorate import votes as votes
    from quorate._blending import Blend as Blend
    from quorate._blending import blend as blend
    from quorate._distil import distil as distil
    from quorate._diversity import Measure as Measure
    from quorate._diversity import diversity as diversity
    from quorate._diversity import measures as measures
    from quorate._diversity import pairwise_diversity as pairwise_diversity
    from quorate._diversity import sample_diversity as sample_diversity
    from quorate._frontier import Frontier as Frontier
    from quorate._frontier import FrontierPoint as FrontierPoint
    from quorate._frontier import frontier as frontier
    from quorate._onnx import to_onnx as to_onnx
    from quorate._report import Report as Report
    from quorate._report import report as report
    from quorate.certificates import Certificate as Certificate
    from quorate.certificates import certify as certify
    from quorate.choosing import Selection as Selection
    from quorate.choosing import select as select
    from quorate.comparison import Comparison as Comparison
    from quorate.comparison import compare as compare
    from quorate.decomposition import Decomposition as Decomposition
    from quorate.decomposition import MeanDecomposition as MeanDecomposition
    from quorate.decomposition import decompose as decompose
    from quorate.ensembles import PooledClassifier as PooledClassifier
    from quorate.ensembles import WeightedVoting as WeightedVoting
    from quorate.ensembles import as_member as as_member
    from quorate.ensembles import collect_votes as collect_votes
    from quorate.ensembles import keep_members as keep_members
    from quorate.lazy import CompactClassifier as CompactClassifier
    from quorate.lazy import LazyClassifier as LazyClassifier
    from quorate.lazy import LazyCurve as LazyCurve
    from quorate.persistence import load as load
    from quorate.persistence import save as save
    from quorate.pruned import PrunedClassifier as PrunedClassifier
    from quorate.pruned import prune as prune
    from quorate.pruned import prune_with_selection as prune_with_selection
    from quorate.pruning import methods as methods
    from quorate.risk import RiskAssessment as RiskAssessment
    from quorate.risk import assess_risk as assess_risk
    from quorate.summarising import summarise as summarise
    from quorate.votes import Summary as Summary
    from quorate.votes import Votes as Votes

# public name -> module that has it; a module's own name stands for the module
_HOMES = {
    "Blend": "quorate._blending",
    "blend": "quorate._blending",
    "Certificate": "quorate.certificates",
    "certificates": "quorate.certificates",
    "choosing": "quorate.choosing",
    "ensembles": "quorate.ensembles",
    "votes": "quorate.votes",
    "certify": "quorate.certificates",
    "Comparison": "quorate.comparison",
    "CompactClassifier": "quorate.lazy",
    "Decomposition": "quorate.decomposition",
    "MeanDecomposition": "quorate.decomposition",
    "compare": "quorate.comparison",
    "LazyClassifier": "quorate.lazy",
    "LazyCurve": "quorate.lazy",
    "PrunedClassifier": "quorate.pruned",
    "prune": "quorate.pruned",
    "prune_with_selection": "quorate.pruned",
    "Measure": "quorate._diversity",
    "Report": "quorate._report",
    "RiskAssessment": "quorate.risk",
    "Summary": "quorate.votes",
    "summarise": "quorate.summarising",
    "Votes": "quorate.votes",
    "PooledClassifier": "quorate.ensembles",
    "WeightedVoting": "quorate.ensembles",
    "as_member": "quorate.ensembles",
    "assess_risk": "quorate.risk",
    "collect_votes": "quorate.ensembles",
    "decompose": "quorate.decomposition",
    "Frontier": "quorate._frontier",
    "FrontierPoint": "quorate._frontier",
    "display": "quorate.display",
    "distil": "quorate._distil",
    "diversity": "quorate._diversity",
    "exceptions": "quorate.exceptions",
    "frontier": "quorate._frontier",
    "keep_members": "quorate.ensembles",
    "load": "quorate.persistence",
    "methods": "quorate.pruning",
    "measures": "quorate._diversity",
    "pairwise_diversity": "quorate._diversity",
    "pruning": "quorate.pruning",
    "report": "quorate._report",
    "risk": "quorate.risk",
    "Selection": "quorate.choosing",
    "save": "quorate.persistence",
    "select": "quorate.choosing",
    "stats": "quorate.stats",
    "study": "quorate.study",
    "selection": "quorate.selection",
    "sample_diversity": "quorate._diversity",
    "testing": "quorate.testing",
    "to_onnx": "quorate._onnx",
}

__all__ = sorted([*_HOMES, "__version__"])


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'quorate' has no attribute {name!r}")
    home = import_module(_HOMES[name])
    value = home if _HOMES[name] == f"quorate.{name}" else getattr(home, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*__all__, "__doc__", "__name__", "__path__"})
