"""What an ensemble is: one file per kind, asked by everybody else.

A kind (:class:`Kind`) says who the members are, how they decide together, and how to
build the same kind with fewer of them. Other packages bring kinds of their own under
the entry point ``quorate.ensembles`` and prove them with
:func:`quorate.testing.check_ensemble`.
"""

from quorate.ensembles._adapters import (
    AdaptedMember,
    MemberAdapter,
    as_member,
    register_adapter,
)
from quorate.ensembles._asking import ask_members
from quorate.ensembles._batched import (
    BatchVoter,
    VotedChunk,
    batch_check,
    check_all_rows,
    rows_of_bags,
)
from quorate.ensembles._collect import collect_votes
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
from quorate.ensembles._latency import CallTimes, batch_rows, time_calls
from quorate.ensembles._leaf_notes import LeafNotes, Notebook, joined_notes
from quorate.ensembles._learned import (
    digests,
    find_record,
    model_digest,
    places_among,
    record_of,
    same_members,
    with_new_record,
)
from quorate.ensembles._leaves import with_new_leaves
from quorate.ensembles._member import Member, is_certain, numbered, take_columns
from quorate.ensembles._pool import warn_of_heads
from quorate.ensembles._pooled import PooledClassifier, predictable
from quorate.ensembles._recombined import collect_recombined, recombined_rows
from quorate.ensembles._registry import find_kind, read_ensemble, register_kind
from quorate.ensembles._row_marks import (
    ROWS,
    RowMarks,
    are_too_many,
    marked,
    marked_again,
    marked_lessons,
    marked_votes,
    marks_of,
    shared_rows,
    shared_votes,
    were_chosen_on,
)
from quorate.ensembles._training import (
    drawn_rows,
    may_be_all_rows,
    may_be_training_rows,
    recognise,
    trained_on,
    trained_on_as_many,
    were_training_rows,
)
from quorate.ensembles._tree_input import tree_input
from quorate.ensembles._unknown_labels import (
    check_labels,
    check_pair,
    labels_for_pair,
)
from quorate.ensembles._weighted_voting import WeightedVoting
from quorate.ensembles._wrappers import unwrapped

__all__ = [
    "COSTS",
    "ROWS",
    "AdaptedMember",
    "BatchVoter",
    "CallTimes",
    "Ensemble",
    "Fingerprint",
    "Kind",
    "LeafNotes",
    "Member",
    "MemberAdapter",
    "Notebook",
    "PooledClassifier",
    "RowMarks",
    "VotedChunk",
    "WeightedVoting",
    "are_too_many",
    "as_member",
    "ask_members",
    "batch_check",
    "batch_rows",
    "check_all_rows",
    "check_labels",
    "check_pair",
    "checker",
    "collect_recombined",
    "collect_votes",
    "count_nodes",
    "digests",
    "drawn_rows",
    "few_members",
    "find_kind",
    "find_record",
    "fingerprint",
    "is_certain",
    "joined_notes",
    "keep_members",
    "labels_for_pair",
    "marked",
    "marked_again",
    "marked_lessons",
    "marked_votes",
    "marks_of",
    "may_be_all_rows",
    "may_be_training_rows",
    "member_costs",
    "memory_bytes",
    "model_digest",
    "numbered",
    "pickled_bytes",
    "places_among",
    "predict_milliseconds",
    "predictable",
    "read_ensemble",
    "recognise",
    "recombined_rows",
    "record_of",
    "register_adapter",
    "register_kind",
    "rows_of_bags",
    "same_members",
    "shared_rows",
    "shared_votes",
    "take_columns",
    "time_calls",
    "trained_on",
    "trained_on_as_many",
    "tree_input",
    "unwrapped",
    "warn_of_heads",
    "were_chosen_on",
    "were_training_rows",
    "with_new_leaves",
    "with_new_record",
]
