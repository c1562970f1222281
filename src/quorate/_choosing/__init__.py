"""Which members, how many of them, and why: one chooser for every door.

An ensemble, samples, a method and a size go in (:func:`gather`, :func:`choose`), a
:class:`quorate.Selection` comes out. :func:`quorate.prune` turns it into a model.
"""

from quorate._choosing._choose import check_method, choose, method_for, select
from quorate._choosing._crossfit import CrossFittedCurve, first_votes
from quorate._choosing._curve import SizeCurve, size_curve
from quorate._choosing._drawing import MAX_SAMPLES, Drawn, draw_rows
from quorate._choosing._evidence import Evidence, gather
from quorate._choosing._expected import (
    ExpectedError,
    expectations,
    expected_of,
    has_whole_order,
)
from quorate._choosing._explanation import Explanation, contributions
from quorate._choosing._pace import Latency
from quorate._choosing._selection import Selection
from quorate._choosing._size import DEFAULT_KEEP, USUAL, Budget, Keep, Size

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
    "expected_of",
    "first_votes",
    "gather",
    "has_whole_order",
    "method_for",
    "select",
    "size_curve",
]
