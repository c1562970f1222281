"""Trees of a fitted ensemble as arrays, and the compact model made of them.

An ensemble is read once: its trees, their rule, and the first steps of a pipeline.
"""

from quorate._trees._compact import (
    CompactClassifier,
    CompactRegressor,
    compact,
    compact_ensemble,
)
from quorate._trees._read import (
    add_up,
    leaf_finder,
    quick_parts,
    read_trees,
    why_no_trees,
)
from quorate._trees._steps import as_table, row_form

__all__ = [
    "CompactClassifier",
    "CompactRegressor",
    "add_up",
    "as_table",
    "compact",
    "compact_ensemble",
    "leaf_finder",
    "quick_parts",
    "read_trees",
    "row_form",
    "why_no_trees",
]
