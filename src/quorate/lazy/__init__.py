"""Early exit: the ensemble's own prediction, from as few members as it takes."""

from quorate.lazy._classifier import LazyClassifier
from quorate.lazy._compact import CompactClassifier
from quorate.lazy._course import LazyCurve
from quorate.lazy._make_compact import compact
from quorate.lazy._trial import ModeTrial, Trial, try_modes

__all__ = [
    "CompactClassifier",
    "LazyClassifier",
    "LazyCurve",
    "ModeTrial",
    "Trial",
    "compact",
    "try_modes",
]
