"""Smaller ensembles: prune a fitted one, or prune while fitting."""

from quorate._pruned._classifier import PrunedClassifier
from quorate._pruned._distil import (
    check_distillable,
    check_options,
    counts_votes,
    distil,
)
from quorate._pruned._prune import (
    prune,
    rows_for,
    smaller_ensemble,
)
from quorate._pruned._record import get_record, pruning_record

__all__ = [
    "PrunedClassifier",
    "check_distillable",
    "check_options",
    "counts_votes",
    "distil",
    "get_record",
    "prune",
    "pruning_record",
    "rows_for",
    "smaller_ensemble",
]
