"""Voting with early exit, by trees stored as arrays or by any other members.

Depends on NumPy and the standard library only, as :mod:`quorate.serving` requires.
"""

from quorate._engine._additive import (
    STORED_FIELDS,
    AdditiveEnsemble,
    Evaluate,
    tie_handicap,
)
from quorate._engine._arrays import LEAF, MOST_NODES, TreeArrays, lay_out
from quorate._engine._rules import (
    MODES,
    Lead,
    Mode,
    Rule,
    Stops,
    auto_order,
    check_order,
    make_ends,
    make_rule,
    make_stops,
    relative_lead,
)
from quorate._engine._sums import Adder, Sums, rank_thresholds, sum_plan
from quorate._engine._voter import LazyResult, Voter, kernel_plan, make_voter
from quorate._engine._walk import Walk

__all__ = [
    "LEAF",
    "MODES",
    "MOST_NODES",
    "STORED_FIELDS",
    "Adder",
    "AdditiveEnsemble",
    "Evaluate",
    "LazyResult",
    "Lead",
    "Mode",
    "Rule",
    "Stops",
    "Sums",
    "TreeArrays",
    "Voter",
    "Walk",
    "auto_order",
    "check_order",
    "kernel_plan",
    "lay_out",
    "make_ends",
    "make_rule",
    "make_stops",
    "make_voter",
    "rank_thresholds",
    "relative_lead",
    "sum_plan",
    "tie_handicap",
]
