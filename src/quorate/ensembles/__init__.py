"""What an ensemble is: one file per kind, asked by everybody else.

A kind (:class:`Kind`) says who the members are, how they decide together, and how to
build the same kind with fewer of them. Other packages bring kinds of their own under
the entry point ``quorate.ensembles`` and prove them with
:func:`quorate.testing.check_ensemble`.
"""

from quorate.ensembles._collect import ask_members, collect_votes
from quorate.ensembles._costs import (
    COSTS,
    count_nodes,
    member_costs,
    memory_bytes,
    pickled_bytes,
    predict_milliseconds,
)
from quorate.ensembles._fingerprint import Fingerprint, fingerprint
from quorate.ensembles._keep import keep_members
from quorate.ensembles._kind import Ensemble, Kind, checker, few_members
from quorate.ensembles._member import Member, is_certain, numbered
from quorate.ensembles._recombined import collect_recombined, recombined_rows
from quorate.ensembles._registry import find_kind, read_ensemble, register_kind
from quorate.ensembles._training import (
    drawn_rows,
    may_be_training_rows,
    trained_on,
    trained_on_as_many,
)
from quorate.ensembles._weighted_voting import WeightedVoting
from quorate.ensembles._wrappers import unwrapped

__all__ = [
    "COSTS",
    "Ensemble",
    "Fingerprint",
    "Kind",
    "Member",
    "WeightedVoting",
    "ask_members",
    "checker",
    "collect_recombined",
    "collect_votes",
    "count_nodes",
    "drawn_rows",
    "few_members",
    "find_kind",
    "fingerprint",
    "is_certain",
    "keep_members",
    "may_be_training_rows",
    "member_costs",
    "memory_bytes",
    "numbered",
    "pickled_bytes",
    "predict_milliseconds",
    "read_ensemble",
    "recombined_rows",
    "register_kind",
    "trained_on",
    "trained_on_as_many",
    "unwrapped",
]
