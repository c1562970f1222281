"""Plots of votes, selections and studies, drawn with matplotlib.

Each display is a class that holds only arrays. Class methods whose names start with
``from_`` compute them; ``plot`` draws them, stores ``ax_`` and ``figure_`` (``axes_``
for several panels), and returns the display.
"""

from quorate.display._files import study_figures
from quorate.display._margins import MarginDisplay
from quorate.display._pairs import KappaErrorDisplay
from quorate.display._ranks import CriticalDifferenceDisplay, RankDisplay
from quorate.display._risk import RiskCurveDisplay, RiskErrorDisplay
from quorate.display._sizes import SizeCurveDisplay
from quorate.display._study import (
    CorrelationDisplay,
    QuantityDisplay,
    SizeAccuracyDisplay,
)

# isort: split
# For the report; not public.
from quorate.display._base import PanelsDisplay as PanelsDisplay
from quorate.display._files import study_displays as study_displays

__all__ = [
    "CorrelationDisplay",
    "CriticalDifferenceDisplay",
    "KappaErrorDisplay",
    "MarginDisplay",
    "QuantityDisplay",
    "RankDisplay",
    "RiskCurveDisplay",
    "RiskErrorDisplay",
    "SizeAccuracyDisplay",
    "SizeCurveDisplay",
    "study_figures",
]
