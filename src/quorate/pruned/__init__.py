"""Smaller ensembles: prune a fitted one, or prune while fitting."""

from quorate.pruned._classifier import PrunedClassifier
from quorate.pruned._prune import (
    marks_for,
    prune,
    prune_with_selection,
    smaller_ensemble,
)
from quorate.pruned._record import get_record, pruning_record

__all__ = [
    "PrunedClassifier",
    "get_record",
    "marks_for",
    "prune",
    "prune_with_selection",
    "pruning_record",
    "smaller_ensemble",
]
