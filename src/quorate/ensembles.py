"""What authors of kinds and member adapters call.

A kind (:class:`Kind`) says who the members of an ensemble are, how they decide
together, and how to build the same kind with fewer of them. Other packages bring kinds
of their own under the entry point ``quorate.ensembles`` and prove them with
:func:`quorate.testing.check_ensemble`.
"""

from quorate._ensembles import (
    AdaptedMember,
    Ensemble,
    Kind,
    Member,
    MemberAdapter,
    WeightedVoting,
    checker,
    few_members,
    find_kind,
    numbered,
    read_ensemble,
    register_adapter,
    register_kind,
    to_forest,
)
from quorate._votes import DecisionRule

__all__ = [
    "AdaptedMember",
    "DecisionRule",
    "Ensemble",
    "Kind",
    "Member",
    "MemberAdapter",
    "WeightedVoting",
    "checker",
    "few_members",
    "find_kind",
    "numbered",
    "read_ensemble",
    "register_adapter",
    "register_kind",
    "to_forest",
]
