"""Scores of two models from counts of what they decide, whatever the samples."""

from typing import Any

import numpy as np

from quorate._scoring._find import (
    ACCURACY,
    find_score,
    refuse_missing_classes,
    refuse_several_classes,
)
from quorate._scoring._score import Score
from quorate._scoring._scorers import shown_scoring
from quorate._scoring._tables import TableScore
from quorate._typing import Array, FloatArray, IntArray
from quorate._votes import PairedCounts


def can_be_counted(scoring: Any, classes: Array, owner: str) -> bool:
    """Tell whether counts of decided classes are enough for a score."""
    return isinstance(find_score(scoring, classes, owner), TableScore)


def check_counted(scoring: Any, classes: Array | None, owner: str) -> None:
    """Refuse a score that counts of decided classes cannot tell, before any pass.

    Where classes are not known yet, they are taken for 0 and 1.
    """
    classes = np.arange(2) if classes is None else np.asarray(classes)
    asker = f"{owner}(scoring={shown_scoring(scoring)})"
    refuse_several_classes(find_score(scoring, classes, owner), asker)
    if not can_be_counted(scoring, classes, owner):
        raise ValueError(
            f"{asker}: a pass over batches counts what is decided, which tells "
            "accuracy, balanced_accuracy, matthews_corrcoef, f1_macro, "
            "precision_macro, recall_macro and the like; for another score give X and "
            "y of a sample of the rows."
        )


def judge_kinds(
    scoring: Any, classes: Array, kinds: PairedCounts, owner: str
) -> tuple[Score, tuple[float, float], tuple[float, float, float]]:
    """Return the score that is meant, what both models get, and standard errors.

    The errors are those of both scores, and of their difference.
    """
    check_counted(scoring, classes, owner)
    score = find_score(scoring, classes, owner)
    assert isinstance(score, TableScore)
    y, times = kinds.codes[0], kinds.times
    if score.name != ACCURACY:
        there = np.bincount(y, weights=times, minlength=classes.size)
        owner = f"{owner}(scoring={shown_scoring(scoring)})"
        refuse_missing_classes(there.astype(np.int64), classes, "given", owner)
    values, parts = [], []
    for said in kinds.codes[1:]:
        counts = np.zeros((classes.size, classes.size + 1))
        np.add.at(counts, (y, said), times)
        value, of_cells = score.parts(counts)
        values.append(value)
        parts.append(of_cells[y, said])
    errors = [_standard_error(each, times) for each in (*parts, parts[0] - parts[1])]
    return score, (values[0], values[1]), (errors[0], errors[1], errors[2])


def _standard_error(parts: FloatArray, times: IntArray) -> float:
    """Return the standard error of the mean of parts that come several times."""
    n = int(times.sum())
    if n < 2:
        return 0.0
    mean = (parts * times).sum() / n
    return float(np.sqrt(((parts - mean) ** 2 * times).sum() / (n - 1) / n))
