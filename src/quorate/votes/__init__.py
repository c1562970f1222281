"""Votes: the one noun of the package, with the rule by which its ensemble decides."""

from quorate.votes._checks import as_weights, member_positions, weights_left
from quorate.votes._deciding import leave_one_out_errors, prefix_errors
from quorate.votes._encoding import (
    code_dtype,
    encode_rows,
    encode_truth,
    positions,
    union,
    widened,
)
from quorate.votes._labels import as_labels, check_same_family, refuse_masked
from quorate.votes._pair_counts import PairCounts
from quorate.votes._plausible import refuse_scores
from quorate.votes._pooled import pooled_votes
from quorate.votes._probabilities import (
    DenseProbabilities,
    Probabilities,
    certain,
    place_dtype,
    room_for,
    tabled,
)
from quorate.votes._rule import PLURALITY, DecisionRule, RuleName, VoteSource
from quorate.votes._subsets import subset_errors
from quorate.votes._votes import Votes, check_votes

__all__ = [
    "PLURALITY",
    "DecisionRule",
    "DenseProbabilities",
    "PairCounts",
    "Probabilities",
    "RuleName",
    "VoteSource",
    "Votes",
    "as_labels",
    "as_weights",
    "certain",
    "check_same_family",
    "check_votes",
    "code_dtype",
    "encode_rows",
    "encode_truth",
    "leave_one_out_errors",
    "member_positions",
    "place_dtype",
    "pooled_votes",
    "positions",
    "prefix_errors",
    "refuse_masked",
    "refuse_scores",
    "room_for",
    "subset_errors",
    "tabled",
    "union",
    "weights_left",
    "widened",
]
