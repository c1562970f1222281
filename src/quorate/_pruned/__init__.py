"""Smaller ensembles: prune a fitted one, or prune while fitting."""

from quorate._pruned._classifier import PrunedClassifier
from quorate._pruned._distil import check_distillable, distil
from quorate._pruned._prune import (
    prune,
    prune_on_evidence,
    smaller_ensemble,
)

__all__ = [
    "PrunedClassifier",
    "check_distillable",
    "distil",
    "prune",
    "prune_on_evidence",
    "smaller_ensemble",
]
