"""Scores of one class against all others, for any labels."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from quorate._messages import listed
from quorate._scoring._score import Score, StoredPrediction
from quorate._scoring._scorers import shown_scoring
from quorate._typing import Array, FloatArray, IntArray
from quorate._votes import Prediction


@dataclass(frozen=True, slots=True)
class PositiveClass:
    """The arguments ``scoring`` and ``positive``, combined into one value."""

    scoring: Any
    label: Any

    def place(self, classes: Array, owner: str) -> int:
        """Return which of the classes is meant; texts name any of them.

        Examples
        --------
        >>> import numpy as np
        >>> PositiveClass("f1", "2").place(np.array([1, 2, 3]), "prune")
        1
        """
        known = classes.tolist()
        alike = [each == self.label or str(each) == self.label for each in known]
        if not any(alike):
            raise ValueError(
                f"{owner}(positive={self.label!r}): no such class; the classes are "
                f"{listed(known)}."
            )
        return alike.index(True)

    def __repr__(self) -> str:
        """Return both arguments as written in a call."""
        return f"{shown_scoring(self.scoring)}, positive={self.label!r}"


def with_positive(scoring: Any, positive: Any, owner: str) -> Any:
    """Return a scoring for one class, or the given one if no class is named."""
    if positive is None:
        return scoring
    if scoring is None or (isinstance(scoring, str) and scoring == "accuracy"):
        raise ValueError(
            f"{owner}(positive={positive!r}): requires a score of one class, such "
            "as 'average_precision', 'roc_auc', 'recall', 'precision' or 'f1'."
        )
    return PositiveClass(scoring, positive)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True, repr=False)
class OneClassScore(Score):
    """A score of two classes, one of them and all others.

    Attributes
    ----------
    inner : Score
        The score, of classes 0 and 1.
    place : int
        Which class is 1.
    """

    inner: Score
    place: int

    @property
    def title(self) -> str:
        """See :class:`Score`."""
        return f"{self.inner.title} of {self.classes.tolist()[self.place]}"

    def as_two_classes(self, prediction: Prediction) -> StoredPrediction:
        """Return a prediction for the class against the others."""
        codes = prediction.codes()
        two = np.where(codes < 0, -1, codes == self.place)
        shares = np.empty((0, 0))
        if self.needs_shares:
            own = prediction.shares()[:, self.place]
            # The opposite of a decision function is its negative.
            shares = np.column_stack([1 - own if own.min() >= 0 else -own, own])
        return StoredPrediction(two, self._truth(prediction.y), shares)

    def inputs(self, prediction: Prediction) -> Array:
        """See :class:`Score`."""
        return self.inner.inputs(self.as_two_classes(prediction))

    def value(self, inputs: Array, y: IntArray) -> float:
        """See :class:`Score`."""
        return self.inner.value(inputs, self._truth(y))

    def value_and_parts(self, inputs: Array, y: IntArray) -> tuple[float, FloatArray]:
        """See :class:`Score`."""
        return self.inner.value_and_parts(inputs, self._truth(y))

    def _truth(self, y: IntArray) -> IntArray:
        return np.asarray(y == self.place, dtype=np.intp)
