"""What authors of kinds call.

A kind (:class:`Kind`) says who the members of an ensemble are, how they decide
together, and how to build the same kind with fewer of them. Other packages bring kinds
of their own under the entry point ``quorate.ensembles`` and prove them with
:func:`quorate.testing.check_ensemble`.
"""

from quorate._ensembles import (
    Ensemble,
    Kind,
    Member,
    WeightedVoting,
    checker,
    few_members,
    numbered,
    read_ensemble,
    register_kind,
    to_forest,
)
from quorate._votes import DecisionRule

__all__ = [
    "DecisionRule",
    "Ensemble",
    "Kind",
    "Member",
    "WeightedVoting",
    "checker",
    "few_members",
    "numbered",
    "read_ensemble",
    "register_kind",
    "to_forest",
]
