"""Methods that choose which members of an ensemble to keep.

Every method is a small class with one idea: ``fit(votes)`` sets ``order_`` and
``support_``. :func:`quorate.methods` lists them by name.
"""

from quorate.pruning._auto import AUTO, choose_method
from quorate.pruning._base import Progress, Pruner
from quorate.pruning._complement import MRMC, Complementariness
from quorate.pruning._concurrency import Concurrency, UncertaintyWeighted
from quorate.pruning._discep import DiscEP
from quorate.pruning._divergence import KLDivergence
from quorate.pruning._drep import DREP
from quorate.pruning._evolution import PEP, SEP
from quorate.pruning._farthest import FarthestFirst, LocalSearch
from quorate.pruning._forward import ForwardSearch
from quorate.pruning._ges import GreedySelection
from quorate.pruning._instance import EPBD, FTAD
from quorate.pruning._kappa import KappaPruning
from quorate.pruning._margin_distance import MarginDistance
from quorate.pruning._margin_loss import MarginLoss
from quorate.pruning._mrmr import MRMR
from quorate.pruning._names import METHODS, Method, make_pruner, method_name, methods
from quorate.pruning._quadratic import BrierSelection, Herding
from quorate.pruning._rankings import (
    MDEP,
    UMEP,
    IndividualContribution,
    OrientationOrdering,
)
from quorate.pruning._reduced_error import OrderedError, ReducedError
from quorate.pruning._shares import gram, label_products
from quorate.pruning._simple import BestMembers, EarlyStopping, RandomSubset
from quorate.pruning._simplex import SimplexWeights
from quorate.pruning._size import members_to_keep
from quorate.pruning._sparse import SparseWeights
from quorate.pruning._tags import PrunerTags
from quorate.pruning._twostage import TwoStageAccuracy, TwoStageDistance

__all__ = [
    "AUTO",
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
    "BrierSelection",
    "Complementariness",
    "Concurrency",
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
    "Method",
    "OrderedError",
    "OrientationOrdering",
    "Progress",
    "Pruner",
    "PrunerTags",
    "RandomSubset",
    "ReducedError",
    "SimplexWeights",
    "SparseWeights",
    "TwoStageAccuracy",
    "TwoStageDistance",
    "UncertaintyWeighted",
    "choose_method",
    "gram",
    "label_products",
    "make_pruner",
    "members_to_keep",
    "method_name",
    "methods",
]
