"""Early exit: the ensemble's own prediction, from as few members as it takes."""

from quorate._lazy._classifier import LazyClassifier
from quorate._lazy._trial import ModeTrial, Trial, try_modes

__all__ = ["LazyClassifier", "ModeTrial", "Trial", "try_modes"]
