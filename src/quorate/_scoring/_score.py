"""What every score can do."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np

from quorate._scoring._judged import Judged
from quorate._typing import Array, IntArray
from quorate._votes import Outcome

Needs: TypeAlias = Literal["labels", "probabilities", "decision"]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Score(ABC):
    """How good the answers of an ensemble are; the larger the better."""

    name: str
    """What the score is called: scikit-learn's name, or that of the function."""
    given: Any
    """What was given as ``scoring``."""
    needs: Needs
    """What it looks at: predicted classes, probabilities, or a ranking of samples."""
    top: float
    """The best it can be; 0 where that is not known."""
    classes: Array
    """The labels, sorted."""

    @property
    def title(self) -> str:
        """The name, in words."""
        return self.name.replace("_", " ")

    @property
    def needs_shares(self) -> bool:
        """Whether more than predicted classes is looked at."""
        return self.needs != "labels"

    def loss(self, score: Any) -> Any:
        """Return what is missing to the best score: what there is to make small."""
        return self.top - score

    @abstractmethod
    def take(self, outcome: Outcome, y: IntArray) -> Array:
        """Return what the score needs of an outcome, samples along the first axis."""

    @abstractmethod
    def judge(self, taken: Array, y: IntArray) -> Judged:
        """Return the score of what was taken, with its standard error."""

    @abstractmethod
    def value(self, taken: Array, y: IntArray) -> float:
        """Return the score of what was taken."""

    def of(self, outcome: Outcome, y: IntArray) -> Judged:
        """Return the score of an outcome, with its standard error."""
        return self.judge(self.take(outcome, y), y)

    def __repr__(self) -> str:
        return f"Score({self.name!r}, needs {self.needs})"


def positive_place(classes: Array) -> int | None:
    """Return which of two classes scikit-learn takes for the positive one, if any.

    Examples
    --------
    >>> import numpy as np
    >>> from quorate._scoring._score import positive_place
    >>> positive_place(np.array([0, 1])), positive_place(np.array([1, 2]))
    (1, 0)
    """
    there = np.flatnonzero(classes == 1)
    return int(there[0]) if classes.size == 2 and there.size == 1 else None


def own_shares(shares: Array, y: IntArray) -> Array:
    """Return what the true class gets on each sample."""
    return np.asarray(shares[np.arange(y.size), y])
