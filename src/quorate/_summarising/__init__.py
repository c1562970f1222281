"""Votes on batches, counted and forgotten: in a loop, on several cores, on a cluster.

Every batch is voted on once and becomes a :class:`quorate.Summary`; summaries add up.
"""

from quorate._summarising._chunk import is_summary_of, rivals_of
from quorate._summarising._cluster import connect
from quorate._summarising._summarise import summarise

__all__ = ["connect", "is_summary_of", "rivals_of", "summarise"]
