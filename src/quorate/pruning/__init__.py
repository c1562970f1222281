"""Methods that choose which members of an ensemble to keep.

Every method is a small class with one idea: ``fit(votes)`` sets ``order_`` and
``support_``. :func:`quorate.methods` lists them by name.
"""

from quorate.pruning._base import Pruner
from quorate.pruning._discep import DiscEP
from quorate.pruning._evolution import PEP, SEP
from quorate.pruning._greedy import (
    DREP,
    MRMC,
    Complementariness,
    Concurrency,
    OrderedError,
    ReducedError,
    UncertaintyWeighted,
)
from quorate.pruning._instance import EPBD, FTAD
from quorate.pruning._names import METHODS, Method, make_pruner, methods
from quorate.pruning._pairs import (
    MRMR,
    FarthestFirst,
    KappaPruning,
    KLDivergence,
    LocalSearch,
    MarginDistance,
)
from quorate.pruning._rankings import (
    MDEP,
    UMEP,
    IndividualContribution,
    OrientationOrdering,
)
from quorate.pruning._simple import BestMembers, EarlyStopping, RandomSubset
from quorate.pruning._size import members_to_keep
from quorate.pruning._twostage import TwoStageAccuracy, TwoStageDistance

__all__ = [
    "DREP",
    "EPBD",
    "FTAD",
    "MDEP",
    "METHODS",
    "MRMC",
    "MRMR",
    "PEP",
    "SEP",
    "UMEP",
    "BestMembers",
    "Complementariness",
    "Concurrency",
    "DiscEP",
    "EarlyStopping",
    "FarthestFirst",
    "IndividualContribution",
    "KLDivergence",
    "KappaPruning",
    "LocalSearch",
    "MarginDistance",
    "Method",
    "OrderedError",
    "OrientationOrdering",
    "Pruner",
    "RandomSubset",
    "ReducedError",
    "TwoStageAccuracy",
    "TwoStageDistance",
    "UncertaintyWeighted",
    "make_pruner",
    "members_to_keep",
    "methods",
]
