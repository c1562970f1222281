"""What the pictures of an ensemble are drawn from."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from quorate._choosing import Selection
from quorate._theory import Diagnosis
from quorate._typing import BoolArray, IntArray
from quorate._votes import VoteCounts, Votes


@dataclass(frozen=True, slots=True)
class PictureInput:
    """All that is known of an ensemble when its pictures are drawn."""

    votes: Votes | None
    """None where only a summary is known, and no single sample."""
    pair_votes: VoteCounts
    """The votes on fewer samples where there are many, for pictures of pairs."""
    selection: Selection | None
    """None where nobody was chosen."""
    diagnosis: Diagnosis | None
    """None where members were trained on the samples, so that nothing is scored."""
    data: dict[str, Any]
    """The numbers of the page, as its tables show them."""

    @property
    def is_scored(self) -> bool:
        """Whether the votes say how good the members are."""
        return self.diagnosis is not None

    @property
    def support(self) -> BoolArray | None:
        """Which members are kept, if some were chosen."""
        return None if self.selection is None else self.selection.support


def evenly_spread(length: int, most: int) -> IntArray:
    """Return at most so many positions, evenly spread, both ends among them."""
    return np.unique(np.linspace(0, length - 1, min(length, most)).round()).astype(
        np.intp
    )
