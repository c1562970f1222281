"""Summarise votes on data of any size, batch by batch or on Dask.

Every batch is evaluated once and becomes a :class:`quorate.Summary`; summaries can be
added.
"""

from quorate._summarising._against import count_pair, member_order
from quorate._summarising._summarise import summarise

__all__ = ["count_pair", "member_order", "summarise"]
