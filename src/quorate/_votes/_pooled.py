"""Votes of the folds of a cross-validation, put together position by position."""

import numpy as np

from quorate._typing import Array, IntArray
from quorate._votes._encoding import code_dtype, positions, union
from quorate._votes._labels import as_labels
from quorate._votes._probabilities import Probabilities, pooled
from quorate._votes._rule import VoteSource
from quorate._votes._votes import Votes


def pooled_votes(
    parts: list[tuple[IntArray, Votes]], n_members: int, y: Array
) -> Votes:
    """Return votes in which member t is member t of the ensemble of each fold.

    Parameters
    ----------
    parts : list of (rows, votes)
        The rows of each fold and the votes of its ensemble on them.
    n_members : int
        Positions to keep; a fold with fewer members has no vote at the others.
    y : array of labels, one per row

    Notes
    -----
    Folds share one list of classes only if each has seen all of them, so labels, not
    codes, are put together.
    """
    y = as_labels(y, "y")
    classes = union([y, *(votes.classes for _, votes in parts)], y)
    codes = np.full((n_members, y.size), -1, dtype=code_dtype(classes.size))
    weights = None
    seen = np.bincount(np.concatenate([rows for rows, _ in parts]), minlength=y.size)
    if seen.max() > 1:
        raise ValueError(
            f"cross-validation: sample {int(seen.argmax())} is held out "
            f"{int(seen.max())} times; use a splitter that holds each out once."
        )
    for rows, votes in parts:
        place = positions(votes.classes, classes, "cross-validation")
        shared = min(n_members, votes.n_members)
        codes[:shared, rows[votes.samples]] = place[votes.codes[:shared]]
        if votes.weights is not None:
            weights = np.zeros(n_members) if weights is None else weights
            weights[:shared] += votes.weights[:shared] / len(parts)
    truth = positions(y, classes, "y").astype(codes.dtype)
    return Votes.from_codes(
        codes,
        truth,
        classes,
        weights,
        is_masked=True,
        class_probabilities=_pooled_probabilities(parts, codes.shape, classes),
        decision_rule=parts[0][1].decision_rule,
        source=VoteSource.FOLDS,
        family=parts[0][1].family,
    )


def _pooled_probabilities(
    parts: list[tuple[IntArray, Votes]], shape: tuple[int, int], classes: Array
) -> Probabilities | None:
    found = []
    for rows, votes in parts:
        given = votes.class_probabilities
        if given is None:
            return None
        columns = positions(votes.classes, classes, "cross-validation")
        found.append((rows[votes.samples], columns, given))
    return pooled(found, (*shape, classes.size))
