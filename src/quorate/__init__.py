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
    from quorate import stats as stats
    from quorate import study as study
    from quorate import testing as testing
    from quorate._blending import Blend as Blend
    from quorate._blending import blend as blend
    from quorate._choosing import Selection as Selection
    from quorate._choosing import select as select
    from quorate._files import load as load
    from quorate._files import save as save
    from quorate._judging import Certificate as Certificate
    from quorate._judging import Comparison as Comparison
    from quorate._judging import Frontier as Frontier
    from quorate._judging import FrontierPoint as FrontierPoint
    from quorate._judging import certify as certify
    from quorate._judging import compare as compare
    from quorate._judging import frontier as frontier
    from quorate._onnx import to_onnx as to_onnx
    from quorate._pruned import PrunedClassifier as PrunedClassifier
    from quorate._pruned import distil as distil
    from quorate._pruned import prune as prune
    from quorate._pruned import prune_with_selection as prune_with_selection
    from quorate._report import Report as Report
    from quorate._report import report as report
    from quorate._summarising import summarise as summarise
    from quorate._theory import Decomposition as Decomposition
    from quorate._theory import MeanDecomposition as MeanDecomposition
    from quorate._theory import Measure as Measure
    from quorate._theory import decompose as decompose
    from quorate._theory import diversity as diversity
    from quorate._theory import measures as measures
    from quorate._theory import pairwise_diversity as pairwise_diversity
    from quorate._theory import sample_diversity as sample_diversity
    from quorate._votes import Summary as Summary
    from quorate._votes import Votes as Votes
    from quorate.ensembles import PooledClassifier as PooledClassifier
    from quorate.ensembles import WeightedVoting as WeightedVoting
    from quorate.ensembles import as_member as as_member
    from quorate.ensembles import collect_votes as collect_votes
    from quorate.ensembles import keep_members as keep_members
    from quorate.lazy import CompactClassifier as CompactClassifier
    from quorate.lazy import LazyClassifier as LazyClassifier
    from quorate.lazy import LazyCurve as LazyCurve
    from quorate.pruning import methods as methods
    from quorate.risk import RiskAssessment as RiskAssessment
    from quorate.risk import assess_risk as assess_risk

# public name -> module that has it; a module's own name stands for the module
_HOMES = {
    "Blend": "quorate._blending",
    "blend": "quorate._blending",
    "Certificate": "quorate._judging",
    "ensembles": "quorate.ensembles",
    "certify": "quorate._judging",
    "Comparison": "quorate._judging",
    "CompactClassifier": "quorate.lazy",
    "Decomposition": "quorate._theory",
    "MeanDecomposition": "quorate._theory",
    "compare": "quorate._judging",
    "LazyClassifier": "quorate.lazy",
    "LazyCurve": "quorate.lazy",
    "PrunedClassifier": "quorate._pruned",
    "prune": "quorate._pruned",
    "prune_with_selection": "quorate._pruned",
    "Measure": "quorate._theory",
    "Report": "quorate._report",
    "RiskAssessment": "quorate.risk",
    "Summary": "quorate._votes",
    "summarise": "quorate._summarising",
    "Votes": "quorate._votes",
    "PooledClassifier": "quorate.ensembles",
    "WeightedVoting": "quorate.ensembles",
    "as_member": "quorate.ensembles",
    "assess_risk": "quorate.risk",
    "collect_votes": "quorate.ensembles",
    "decompose": "quorate._theory",
    "Frontier": "quorate._judging",
    "FrontierPoint": "quorate._judging",
    "display": "quorate.display",
    "distil": "quorate._pruned",
    "diversity": "quorate._theory",
    "exceptions": "quorate.exceptions",
    "frontier": "quorate._judging",
    "keep_members": "quorate.ensembles",
    "load": "quorate._files",
    "methods": "quorate.pruning",
    "measures": "quorate._theory",
    "pairwise_diversity": "quorate._theory",
    "pruning": "quorate.pruning",
    "report": "quorate._report",
    "risk": "quorate.risk",
    "Selection": "quorate._choosing",
    "save": "quorate._files",
    "select": "quorate._choosing",
    "stats": "quorate.stats",
    "study": "quorate.study",
    "sample_diversity": "quorate._theory",
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
