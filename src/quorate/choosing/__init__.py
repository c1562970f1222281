"""Which members, how many of them, and why: one chooser for every door.

An ensemble, samples, a method and a size go in (:func:`gather`, :func:`choose`), a
:class:`quorate.Selection` comes out. :func:`quorate.prune` turns it into a model.
"""

from quorate.choosing._choose import check_method, choose, method_for, select
from quorate.choosing._crossfit import CrossFittedCurve, first_votes
from quorate.choosing._curve import SizeCurve, size_curve
from quorate.choosing._drawing import MAX_SAMPLES, Drawn, draw_rows
from quorate.choosing._evidence import Evidence, gather
from quorate.choosing._expected import (
    ExpectedError,
    expectations,
    has_whole_order,
)
from quorate.choosing._explanation import Explanation, contributions
from quorate.choosing._pace import Latency
from quorate.choosing._selection import Selection
from quorate.choosing._size import DEFAULT_KEEP, USUAL, Budget, Keep, Size

__all__ = [
    "DEFAULT_KEEP",
    "MAX_SAMPLES",
    "USUAL",
    "Budget",
    "CrossFittedCurve",
    "Drawn",
    "Evidence",
    "ExpectedError",
    "Explanation",
    "Keep",
    "Latency",
    "Selection",
    "Size",
    "SizeCurve",
    "check_method",
    "choose",
    "contributions",
    "draw_rows",
    "expectations",
    "first_votes",
    "gather",
    "has_whole_order",
    "method_for",
    "select",
    "size_curve",
]
