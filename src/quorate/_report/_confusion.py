"""Which classes are taken for which, by all members and by others."""

from typing import Any

import numpy as np

from quorate._typing import IntArray
from quorate._votes import Votes

# Beyond so many classes a square of numbers tells nobody anything.
_MOST_CLASSES = 30
_MOST_PAIRS = 30


def taken_for(before: IntArray, after: IntArray | None, classes: Any) -> dict[str, Any]:
    """Return tables of classes and decisions as a page has them; ``after`` if any.

    The square of all classes only where these are few; the pairs of classes most often
    confused in any case.
    """
    few = len(classes) <= _MOST_CLASSES
    return {
        "classes": [str(label) for label in classes] if few else None,
        "before": before if few else None,
        "after": after if few else None,
        "pairs": _pairs(before, after, classes),
    }


def confusion(votes: Votes) -> IntArray:
    """Count samples: a row per true class, a column per class decided on.

    Samples on which nobody has a vote are in no column.
    """
    y, decided = votes.y, votes.decisions()
    if votes.is_masked:
        _, asked = votes.sample_counts()
        y, decided = y[asked > 0], decided[asked > 0]
    return count_pairs(y, decided, votes.n_classes)


def count_pairs(y: IntArray, decided: IntArray, n_classes: int) -> IntArray:
    """Count pairs of a true class and one that was decided on."""
    pairs = y.astype(np.int64) * n_classes + decided
    return np.bincount(pairs, minlength=n_classes**2).reshape(n_classes, n_classes)


def _pairs(
    before: IntArray, after: IntArray | None, classes: Any
) -> list[dict[str, Any]]:
    """Return which class was taken for which other, the most frequent first."""
    either = before.copy() if after is None else np.maximum(before, after)
    np.fill_diagonal(either, 0)
    order = np.argsort(-either, axis=None, kind="stable")[:_MOST_PAIRS]
    places = [np.unravel_index(at, either.shape) for at in order]
    return [
        {
            "class": str(classes[true]),
            "taken_for": str(classes[said]),
            "before": int(before[true, said]),
            "after": None if after is None else int(after[true, said]),
        }
        for true, said in places
        if either[true, said]
    ]
