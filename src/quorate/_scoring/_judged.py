"""A score with how sure one can be of it."""

from dataclasses import dataclass

import numpy as np
from scipy import special

from quorate._typing import FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class Judged:
    """A score, and the parts of the samples in it.

    The parts are what a jackknife calls pseudo-values: numbers, one for each sample (or
    group of samples), whose mean is about the score and whose scatter tells how far
    chance moves it. For a mean over samples they are its terms.
    """

    score: float
    """The score, as scikit-learn gives it: the larger the better."""
    parts: FloatArray
    """The parts of the samples, or of groups of them, in it."""

    @property
    def standard_error(self) -> float:
        """Standard error of the score."""
        return _standard_error(self.parts)

    def behind(self, other: "Judged") -> tuple[float, float]:
        """Return by how much this is worse than another, and the standard error.

        Both have to be about the same samples.
        """
        apart = other.score - self.score
        return apart, _standard_error(other.parts - self.parts)

    def limit_behind(self, other: "Judged", confidence: float) -> float:
        """Return an upper limit on by how much this is worse than another."""
        apart, doubt = self.behind(other)
        return apart + self._quantile(confidence) * doubt

    def lower_limit(self, confidence: float) -> float:
        """Return a lower limit on the score."""
        return self.score - self._quantile(confidence) * self.standard_error

    def _quantile(self, confidence: float) -> float:
        """Return Student's quantile for the number of parts."""
        freedom = max(self.parts.size - 1, 1)
        return float(special.stdtrit(freedom, confidence))

    def __str__(self) -> str:
        return f"{self.score:.4f} +- {self.standard_error:.4f}"


def _standard_error(parts: FloatArray) -> float:
    if parts.size < 2:
        return 0.0
    return float(parts.std(ddof=1) / np.sqrt(parts.size))
