"""A small forest that learns from a big one: the same trees, with new leaf values."""

from quorate._distil._distil import (
    Distillation,
    check_distillable,
    check_options,
    counts_votes,
    distil,
)

__all__ = [
    "Distillation",
    "check_distillable",
    "check_options",
    "counts_votes",
    "distil",
]
