"""Votes of an ensemble's members, and the rule that combines them."""

from quorate._votes import totals
from quorate._votes._checks import (
    as_weights,
    member_positions,
    sample_positions,
    weights_left,
)
from quorate._votes._counts import (
    CorrectHistogram,
    PairCounts,
)
from quorate._votes._files import load_counts
from quorate._votes._labels import (
    as_labels,
    as_truth,
    check_same_family,
    code_dtype,
    codes_among,
    encode_truth,
    positions,
    refuse_masked,
    union,
)
from quorate._votes._predictions import (
    Prediction,
    WholePrediction,
    leave_one_out_predictions,
    predicted_codes,
    prefix_predictions,
)
from quorate._votes._probabilities import (
    DenseProbabilities,
    Probabilities,
    TabledProbabilities,
    improper_row,
    refuse_improper,
)
from quorate._votes._rule import (
    PLURALITY,
    DecisionRule,
    VoteSource,
    warn_if_uncovered,
)
from quorate._votes._summary import PairedErrors, Summary, pair_predictions
from quorate._votes._votes import (
    Votes,
    check_counts,
    check_votes,
    renumber,
    votes_from_codes,
    with_changes,
)
from quorate._votes.totals import VoteCounts

__all__ = [
    "PLURALITY",
    "CorrectHistogram",
    "DecisionRule",
    "DenseProbabilities",
    "PairCounts",
    "PairedErrors",
    "Prediction",
    "Probabilities",
    "Summary",
    "TabledProbabilities",
    "VoteCounts",
    "VoteSource",
    "Votes",
    "WholePrediction",
    "as_labels",
    "as_truth",
    "as_weights",
    "check_counts",
    "check_same_family",
    "check_votes",
    "code_dtype",
    "codes_among",
    "encode_truth",
    "improper_row",
    "leave_one_out_predictions",
    "load_counts",
    "member_positions",
    "pair_predictions",
    "positions",
    "predicted_codes",
    "prefix_predictions",
    "refuse_improper",
    "refuse_masked",
    "renumber",
    "sample_positions",
    "totals",
    "union",
    "votes_from_codes",
    "warn_if_uncovered",
    "weights_left",
    "with_changes",
]
