"""Join the votes of several parts: batches of samples, or folds."""

from collections.abc import Sequence

import numpy as np

from quorate._typing import Array, FloatArray, IntArray
from quorate._votes._labels import as_labels, code_dtype, positions, recode, union
from quorate._votes._probabilities import (
    DenseProbabilities,
    Probabilities,
    TabledProbabilities,
    allocate_probabilities,
)
from quorate._votes._rule import VoteSource
from quorate._votes._votes import Votes, votes_from_codes


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
    seen = np.bincount(np.concatenate([rows for rows, _ in parts]), minlength=y.size)
    if seen.max() > 1:
        raise ValueError(
            f"cross-validation: sample {int(seen.argmax())} is held out "
            f"{int(seen.max())} times; use a splitter that holds out each sample once."
        )
    folds = [votes for _, votes in parts]
    classes = union([y, *(votes.classes for votes in folds)], y)
    rows = [held_out[votes.samples] for held_out, votes in parts]
    codes, given = _combine(folds, rows, (n_members, y.size), classes)
    weights = None
    if any(votes.weights is not None for votes in folds):
        weights = np.zeros(n_members)
        for votes in folds:
            if votes.weights is not None:
                own = votes.weights[:n_members]
                weights[: own.size] += own / len(folds)
    return votes_from_codes(
        codes,
        positions(y, classes, "y").astype(codes.dtype),
        classes,
        weights,
        is_masked=True,
        class_probabilities=given,
        decision_rule=folds[0].decision_rule,
        source=VoteSource.FOLDS,
        family=folds[0].family,
    )


def _combine(
    parts: Sequence[Votes],
    rows: Sequence[IntArray],
    shape: tuple[int, int],
    classes: Array,
) -> tuple[Array, Probabilities | None]:
    """Return codes and probabilities of all parts, each in its rows."""
    codes = np.full(shape, -1, dtype=code_dtype(classes.size))
    for part, where in zip(parts, rows, strict=True):
        kept = part.codes[: shape[0]]
        codes[: len(kept), where] = recode(kept, part.classes, classes)
    columns = [positions(part.classes, classes, "the classes") for part in parts]
    given = [p for part in parts if (p := part.class_probabilities) is not None]
    if len(given) < len(parts):
        return codes, None
    if all(each.are_certain for each in given):
        return codes, TabledProbabilities.certain(codes, classes.size)
    known = [each for each in given if isinstance(each, TabledProbabilities)]
    if len(known) == len(given):
        return codes, _combine_tables(known, rows, columns, (*shape, classes.size))
    values = allocate_probabilities((*shape, classes.size), np.float64)
    for each, where, own in zip(given, rows, columns, strict=True):
        for member in range(min(shape[0], each.shape[0])):
            values[member][np.ix_(where, own)] = each.of(member)
    return codes, DenseProbabilities(values)


def _combine_tables(
    given: list[TabledProbabilities],
    rows: Sequence[IntArray],
    columns: list[IntArray],
    shape: tuple[int, int, int],
) -> Probabilities:
    """Return indices into tables that contain each distribution once."""
    places: list[Array] = []
    tables: list[FloatArray] = []
    for member in range(shape[0]):
        place, stacked, start = np.full(shape[1], -1), [np.zeros((0, shape[2]))], 0
        for each, where, own in zip(given, rows, columns, strict=True):
            if member < each.shape[0]:
                found = each.places[member].astype(np.intp)
                place[where] = np.where(found < 0, -1, found + start)
                table = np.zeros((len(each.tables[member]) - 1, shape[2]))
                table[:, own] = each.tables[member][:-1]  # without the row of nothing
                stacked.append(table)
                start += len(table)
        table, numbers = np.unique(np.concatenate(stacked), axis=0, return_inverse=True)
        places.append(np.append(numbers.ravel(), -1)[place])
        tables.append(table)
    return TabledProbabilities.from_tables(places, tables)
