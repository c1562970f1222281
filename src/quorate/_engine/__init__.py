"""Voting with early exit, by trees stored as arrays or by any other members.

Depends on NumPy and the standard library only, as :mod:`quorate.serving` requires.
"""

from quorate._engine._additive import FACTS, AdditiveEnsemble, Ask
from quorate._engine._arrays import (
    FORGED,
    LEAF,
    TreeArrays,
    lay_out,
    leaves,
    narrow,
    pack,
    share_levels,
    unpack,
    whole_numbers,
)
from quorate._engine._format import MAGIC, decode, encode
from quorate._engine._ready import Ready, decision_name, make_ready, plan_of
from quorate._engine._rules import (
    MODES,
    SLACK,
    CalibratedRule,
    ExactRule,
    Lead,
    Mode,
    Rule,
    Stops,
    checked_order,
    make_rule,
    make_stops,
    relative_lead,
    votes_needed,
)
from quorate._engine._vote import LazyResult, vote

__all__ = [
    "FACTS",
    "FORGED",
    "LEAF",
    "MAGIC",
    "MODES",
    "SLACK",
    "AdditiveEnsemble",
    "Ask",
    "CalibratedRule",
    "ExactRule",
    "LazyResult",
    "Lead",
    "Mode",
    "Ready",
    "Rule",
    "Stops",
    "TreeArrays",
    "checked_order",
    "decision_name",
    "decode",
    "encode",
    "lay_out",
    "leaves",
    "make_ready",
    "make_rule",
    "make_stops",
    "narrow",
    "pack",
    "plan_of",
    "relative_lead",
    "share_levels",
    "unpack",
    "vote",
    "votes_needed",
    "whole_numbers",
]
