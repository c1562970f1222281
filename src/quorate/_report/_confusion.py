"""Which classes are taken for which, by all members and by those kept."""

from typing import Any

import numpy as np

from quorate._typing import IntArray
from quorate.votes import Votes

# Beyond so many classes a square of numbers tells nobody anything.
_MOST_CLASSES = 30
_MOST_PAIRS = 30


def confusion_facts(votes: Votes, kept: Votes, honest: bool) -> dict[str, Any] | None:
    """Count samples by their class and the class decided on, before and after.

    The square of all classes only where these are few; the pairs of classes most often
    confused in any case.
    """
    if not honest:
        return None
    return taken_for(confusion(votes), confusion(kept), votes.classes)


def taken_for(before: IntArray, after: IntArray | None, classes: Any) -> dict[str, Any]:
    """Return tables of classes and decisions as a page has them; ``after`` if any."""
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
    n, y = votes.n_classes, votes.y.astype(np.int64)
    decided = votes.decisions()
    if votes.is_masked:
        _, asked = votes.sample_counts()
        y, decided = y[asked > 0], decided[asked > 0]
    return np.bincount(y * n + decided, minlength=n * n).reshape(n, n)


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
