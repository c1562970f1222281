"""Methods that choose which members of an ensemble to keep.

Every method is a small class with one idea: ``fit(votes)`` sets ``order_`` and
``support_``. :func:`quorate.methods` lists them by name.
"""

from quorate.pruning._base import Pruner, PrunerInputs, PrunerTags, members_to_keep
from quorate.pruning._evolution import PEP, SEP
from quorate.pruning._forward import ForwardSearch, GreedySelection
from quorate.pruning._greedy import (
    DREP,
    MRMC,
    Complementariness,
    DiscEP,
    OrderedError,
    ReducedError,
)
from quorate.pruning._instance import EPBD, FTAD
from quorate.pruning._margins import MarginDistance, MarginLoss
from quorate.pruning._names import (
    choose_method,
    make_pruner,
    method_name,
    methods,
)
from quorate.pruning._pairwise import (
    MRMR,
    FarthestFirst,
    KappaPruning,
    KLDivergence,
    LocalSearch,
)
from quorate.pruning._quadratic import BrierSelection, Herding
from quorate.pruning._ranking import (
    MDEP,
    UMEP,
    BestMembers,
    EarlyStopping,
    IndividualContribution,
    OrientationOrdering,
    RandomSubset,
)
from quorate.pruning._twostage import TwoStageAccuracy, TwoStageDistance
from quorate.pruning._weights import SimplexWeights, SparseWeights

# isort: split
# Without the methods of other packages, which quorate.methods() has; not public.
from quorate.pruning._names import METHODS as METHODS

__all__ = [
    "DREP",
    "EPBD",
    "FTAD",
    "MDEP",
    "MRMC",
    "MRMR",
    "PEP",
    "SEP",
    "UMEP",
    "BestMembers",
    "BrierSelection",
    "Complementariness",
    "DiscEP",
    "EarlyStopping",
    "FarthestFirst",
    "ForwardSearch",
    "GreedySelection",
    "Herding",
    "IndividualContribution",
    "KLDivergence",
    "KappaPruning",
    "LocalSearch",
    "MarginDistance",
    "MarginLoss",
    "OrderedError",
    "OrientationOrdering",
    "Pruner",
    "PrunerInputs",
    "PrunerTags",
    "RandomSubset",
    "ReducedError",
    "SimplexWeights",
    "SparseWeights",
    "TwoStageAccuracy",
    "TwoStageDistance",
    "choose_method",
    "make_pruner",
    "members_to_keep",
    "method_name",
    "methods",
]
