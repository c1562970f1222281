"""How well models rank the rarest class before all others."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.metrics import average_precision_score, roc_auc_score

from quorate._output import Result
from quorate._typing import Array, FloatArray

_RARE = 0.1  # share of samples below which a class is rare


@dataclass(frozen=True, slots=True, repr=False)
class RareClass(Result):
    """How well two models rank the rarest class before all others.

    Attributes
    ----------
    label : str
        The class.
    share : float
        Its share of the samples.
    auc : tuple of float
        Area under the ROC curve, before and after.
    average_precision : tuple of float
        Average precision, before and after.
    """

    label: str
    share: float
    auc: tuple[float, float]
    average_precision: tuple[float, float]

    _header = ("", "before", "after", "change")

    def rows(self) -> list[tuple[str, ...]]:
        """Return table rows: what, before, after, and the change."""
        pairs = {"AUC": self.auc, "average precision": self.average_precision}
        return [
            (f"{what} of {self.label}", f"{one:.4f}", f"{two:.4f}", f"{two - one:+.4f}")
            for what, (one, two) in pairs.items()
        ]


def find_rare_class(
    y: Array, probabilities: Callable[[Any], Iterable[FloatArray | None]]
) -> RareClass | None:
    """Return how well two models rank the rarest class, None where no class is rare.

    Parameters
    ----------
    y : array of labels
    probabilities : callable
        Returns what both models give to a class on each sample; None for a model
        without probabilities.
    """
    labels, counts = np.unique(y, return_counts=True)
    rarest = labels[counts.argmin()]
    if labels.size < 2 or counts.min() >= _RARE * y.size:
        return None
    first, second = probabilities(rarest)
    if first is None or second is None:
        return None
    is_rare, share = y == rarest, float(counts.min() / y.size)
    auc, precision = (
        (float(metric(is_rare, first)), float(metric(is_rare, second)))
        for metric in (roc_auc_score, average_precision_score)
    )
    return RareClass(str(rarest), share, auc, precision)
