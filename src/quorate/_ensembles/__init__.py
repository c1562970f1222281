"""Ensemble types: one module per type behind a common interface.

A :class:`Kind` describes the members of an ensemble type, its decision rule, and how to
build a smaller ensemble of the same type. Other packages register kinds under the entry
point ``quorate.ensembles`` and check them with :func:`quorate.testing.check_ensemble`.
"""

from quorate._ensembles._adapters import as_member
from quorate._ensembles._collect import (
    collect_in_memory,
    collect_recombined,
    collect_votes,
)
from quorate._ensembles._costs import (
    COSTS,
    count_nodes,
    member_costs,
    memory_bytes,
    pickled_bytes,
    predict_milliseconds,
)
from quorate._ensembles._evaluate import evaluate_members
from quorate._ensembles._keep import keep_members, to_forest, with_new_leaves
from quorate._ensembles._kind import Ensemble, Kind, checker, few_members, tree_input
from quorate._ensembles._labels import check_labels, check_pair, labels_for_pair
from quorate._ensembles._member import Member, is_certain, numbered
from quorate._ensembles._pool import warn_of_heads
from quorate._ensembles._records import (
    find_record,
    places_among,
    same_members,
    set_record,
)
from quorate._ensembles._registry import (
    find_kind,
    member_objects,
    read_ensemble,
    register_kind,
)
from quorate._ensembles._rows import (
    RowSource,
    check_row_numbers,
    check_source,
    out_of_bag_rows,
    recorded_rows,
    rows_left_out,
    source_of,
    were_chosen_on,
)
from quorate._ensembles._weighted_voting import WeightedVoting, predictable
from quorate._ensembles._wrappers import inside, unwrapped

__all__ = [
    "COSTS",
    "Ensemble",
    "Kind",
    "Member",
    "RowSource",
    "WeightedVoting",
    "as_member",
    "check_labels",
    "check_pair",
    "check_row_numbers",
    "check_source",
    "checker",
    "collect_in_memory",
    "collect_recombined",
    "collect_votes",
    "count_nodes",
    "evaluate_members",
    "few_members",
    "find_kind",
    "find_record",
    "inside",
    "is_certain",
    "keep_members",
    "labels_for_pair",
    "member_costs",
    "member_objects",
    "memory_bytes",
    "numbered",
    "out_of_bag_rows",
    "pickled_bytes",
    "places_among",
    "predict_milliseconds",
    "predictable",
    "read_ensemble",
    "recorded_rows",
    "register_kind",
    "rows_left_out",
    "same_members",
    "set_record",
    "source_of",
    "to_forest",
    "tree_input",
    "unwrapped",
    "warn_of_heads",
    "were_chosen_on",
    "with_new_leaves",
]
