"""Summarise votes batch by batch: in a loop, on several cores, on a cluster.

Every batch is evaluated once and becomes a :class:`quorate.Summary`; summaries can be
added.
"""

from quorate._summarising._progress import is_summary_of
from quorate._summarising._running import connect
from quorate._summarising._summarise import summarise
from quorate._summarising._tasks import count_pair, member_order

__all__ = ["connect", "count_pair", "is_summary_of", "member_order", "summarise"]
