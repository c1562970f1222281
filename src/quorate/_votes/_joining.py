"""Votes of the same members on several batches of samples, as one."""

from collections.abc import Sequence

import numpy as np

from quorate._typing import Array, FloatArray, IntArray
from quorate._votes._encoding import code_dtype, positions, union
from quorate._votes._probabilities import (
    DenseProbabilities,
    Probabilities,
    TabledProbabilities,
    certain,
    room_for,
    tabled,
)
from quorate._votes._reading import added
from quorate._votes._summary import FROM_WEAKEST
from quorate._votes._votes import Votes


def joined_votes(parts: Sequence[Votes]) -> Votes:
    """Return the votes on the samples of all parts, one after the other.

    They are of the same members, weights and rule; the rest is that of the first. A
    class that only some of them have is one of the whole. Samples keep their positions.

    Examples
    --------
    >>> from quorate import Votes
    >>> from quorate._votes import joined_votes
    >>> first, second = Votes([["a", "b"]], ["a", "a"]), Votes([["c"]], ["c"])
    >>> joined_votes([first, second.numbered([2])]).predict()
    array(['a', 'b', 'c'], dtype='<U1')
    """
    if len(parts) == 1:
        return parts[0]
    one = parts[0]
    classes = union([part.classes for part in parts], one.classes)
    columns = [positions(part.classes, classes, "the classes") for part in parts]
    small = code_dtype(classes.size)
    samples = np.concatenate([part.samples for part in parts])
    codes = np.empty((one.n_members, samples.size), dtype=small)
    y = np.empty(samples.size, dtype=small)
    for part, places, rows in zip(parts, columns, _slices(parts), strict=True):
        codes[:, rows] = _moved(part.codes, places, small)
        y[rows] = _moved(part.y, places, small)
    return Votes.from_codes(
        codes,
        y,
        classes,
        one.weights,
        one.names,
        is_masked=any(part.is_masked for part in parts),
        samples=samples,
        class_probabilities=_probabilities(parts, columns, codes, classes.size),
        decision_rule=one.decision_rule,
        source=min((part.source for part in parts), key=FROM_WEAKEST.index),
        family=one.family,
        reading=added([part.reading for part in parts]),
    )


def _slices(parts: Sequence[Votes]) -> list[slice]:
    ends = np.cumsum([part.n_samples for part in parts]).tolist()
    return [slice(*pair) for pair in zip([0, *ends], ends, strict=False)]


def _moved(codes: Array, places: IntArray, small: type) -> Array:
    """Return codes as positions in more classes; a missing vote stays missing."""
    if np.array_equal(places, np.arange(places.size)):
        return codes
    return np.append(places, -1).astype(small)[codes]


def _probabilities(
    parts: Sequence[Votes], columns: list[IntArray], codes: Array, n_classes: int
) -> Probabilities | None:
    given = [part.class_probabilities for part in parts]
    if all(each is not None and each.are_certain for each in given):
        return certain(codes, n_classes)
    known = [each for each in given if isinstance(each, TabledProbabilities)]
    if len(known) == len(parts):
        return _joined_tables(known, columns, n_classes)
    values = room_for((*codes.shape, n_classes), np.float64)
    for each, places, rows in zip(given, columns, _slices(parts), strict=True):
        if each is None:
            return None
        for member in range(len(codes)):
            values[member, rows][:, places] = each.of(member)
    return DenseProbabilities(values)


def _joined_tables(
    given: list[TabledProbabilities], columns: list[IntArray], n_classes: int
) -> Probabilities:
    """Return places in tables that have each distribution once."""
    places: list[Array] = []
    tables: list[FloatArray] = []
    for member in range(given[0].shape[0]):
        rows: list[FloatArray] = []
        for each, own in zip(given, columns, strict=True):
            table = np.zeros((len(each.tables[member]) - 1, n_classes))
            table[:, own] = each.tables[member][:-1]  # without the row of nothing
            rows.append(table)
        table, found = np.unique(np.concatenate(rows), axis=0, return_inverse=True)
        ends = np.cumsum([len(part) for part in rows])
        place_of = [np.append(part, -1) for part in np.split(found.ravel(), ends[:-1])]
        places.append(
            np.concatenate(
                [
                    moved[each.places[member]]
                    for moved, each in zip(place_of, given, strict=True)
                ]
            )
        )
        tables.append(table)
    return tabled(places, tables)
