"""Pictures of votes, selections and studies, drawn with matplotlib.

Each display is a class that holds arrays only. Class methods whose names start with
``from_`` compute them; ``plot`` draws, keeps what it drew on as ``ax_`` and
``figure_``, and returns the display. Several panels are ``axes_``.
"""

from quorate.display._agreement import AgreementDisplay
from quorate.display._correlation import CorrelationDisplay
from quorate.display._decomposition import DecompositionDisplay
from quorate.display._diversity import DiversityDisplay
from quorate.display._files import study_figures
from quorate.display._frontier import FrontierDisplay
from quorate.display._kappa_error import KappaErrorDisplay
from quorate.display._lazy import LazyCurveDisplay
from quorate.display._margin import MarginDisplay
from quorate.display._pick_trace import PickTraceDisplay
from quorate.display._quantity import QuantityDisplay
from quorate.display._ranks import CriticalDifferenceDisplay, RankDisplay
from quorate.display._risk_curve import RiskCurveDisplay
from quorate.display._risk_error import RiskErrorDisplay
from quorate.display._size_accuracy import SizeAccuracyDisplay
from quorate.display._size_curve import SizeCurveDisplay
from quorate.display._trade_off import TradeOffDisplay, TradeOffPoint

# isort: split
# For the report, which has the facts for these pictures; not public.
from quorate.display._gain import GainDisplay as GainDisplay
from quorate.display._members import MembersDisplay as MembersDisplay
from quorate.display._size_accuracy import methods_of_own_size as methods_of_own_size

__all__ = [
    "AgreementDisplay",
    "CorrelationDisplay",
    "CriticalDifferenceDisplay",
    "DecompositionDisplay",
    "DiversityDisplay",
    "FrontierDisplay",
    "KappaErrorDisplay",
    "LazyCurveDisplay",
    "MarginDisplay",
    "PickTraceDisplay",
    "QuantityDisplay",
    "RankDisplay",
    "RiskCurveDisplay",
    "RiskErrorDisplay",
    "SizeAccuracyDisplay",
    "SizeCurveDisplay",
    "TradeOffDisplay",
    "TradeOffPoint",
    "study_figures",
]
