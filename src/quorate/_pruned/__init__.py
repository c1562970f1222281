"""Smaller ensembles: prune a fitted one, or prune while fitting."""

from quorate._pruned._auto import distilled_size, will_distil
from quorate._pruned._classifier import PrunedClassifier
from quorate._pruned._distil import check_distillable, distil
from quorate._pruned._prune import prune, smaller_ensemble

__all__ = [
    "PrunedClassifier",
    "check_distillable",
    "distil",
    "distilled_size",
    "prune",
    "smaller_ensemble",
    "will_distil",
]
