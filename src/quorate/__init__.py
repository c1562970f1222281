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
    from quorate import results as results
    from quorate import risk as risk
    from quorate import serving as serving
    from quorate import stats as stats
    from quorate import study as study
    from quorate import testing as testing
    from quorate._blending import blend as blend
    from quorate._choosing import select as select
    from quorate._ensembles import as_member as as_member
    from quorate._ensembles import collect_votes as collect_votes
    from quorate._ensembles import keep_members as keep_members
    from quorate._files import load as load
    from quorate._files import save as save
    from quorate._files import to_onnx as to_onnx
    from quorate._judging import certify as certify
    from quorate._judging import compare as compare
    from quorate._lazy import LazyClassifier as LazyClassifier
    from quorate._pruned import PrunedClassifier as PrunedClassifier
    from quorate._pruned import distil as distil
    from quorate._pruned import prune as prune
    from quorate._report import report as report
    from quorate._summarising import summarise as summarise
    from quorate._theory import decompose as decompose
    from quorate._theory import diversity as diversity
    from quorate._theory import measures as measures
    from quorate._theory import pairwise_diversity as pairwise_diversity
    from quorate._theory import sample_diversity as sample_diversity
    from quorate._trees import compact as compact
    from quorate._votes import Summary as Summary
    from quorate._votes import Votes as Votes
    from quorate.pruning import methods as methods
    from quorate.risk import assess_risk as assess_risk

# public modules, and the names that rooms offer at the top
_MODULES = (
    "display ensembles exceptions pruning results risk serving stats study testing"
)
_NAMES = {
    "_blending": "blend",
    "_choosing": "select",
    "_ensembles": "as_member collect_votes keep_members",
    "_files": "load save to_onnx",
    "_judging": "certify compare",
    "_pruned": "PrunedClassifier distil prune",
    "_report": "report",
    "_summarising": "summarise",
    "_theory": "decompose diversity measures pairwise_diversity sample_diversity",
    "_votes": "Summary Votes",
    "_lazy": "LazyClassifier",
    "_trees": "compact",
    "pruning": "methods",
    "risk": "assess_risk",
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
