"""Class probabilities beside the votes: checked, and on disk where they are large."""

import tempfile
from typing import Any

import numpy as np

from quorate._typing import Array, BoolArray, IntArray
from quorate.votes._checks import read_only

LARGEST_IN_MEMORY = 512 * 2**20
"""Bytes above which probabilities live in a temporary file."""
# How far a row of probabilities may be from adding up to one.
_SLACK = 1e-3


def room_for(shape: tuple[int, ...]) -> Array:
    """Return zeros for probabilities, memory-mapped if there are many.

    The file has no name on the disk (or loses it with the last array that uses it), so
    nothing is left behind.
    """
    if np.prod(shape, dtype=np.int64) * 4 <= LARGEST_IN_MEMORY:
        return np.zeros(shape, dtype=np.float32)
    with tempfile.TemporaryFile() as file:
        return np.memmap(file, dtype=np.float32, mode="w+", shape=shape)


def part_of(
    probabilities: Array, members: IntArray | None, samples: IntArray | None
) -> Array:
    """Return the probabilities of some members on some samples."""
    n, m, n_classes = probabilities.shape
    rows = np.arange(n) if members is None else members
    columns = slice(None) if samples is None else samples
    part = room_for((len(rows), m if samples is None else len(samples), n_classes))
    for place, member in enumerate(rows):
        part[place] = probabilities[member, columns]
    return part


def check_probabilities(
    given: Any, shape: tuple[int, int], classes: Array, valid: BoolArray | None
) -> Array:
    """Return probabilities as 32-bit floats, zero where a vote may not be used.

    Raises
    ------
    ValueError
        Naming the first member and sample that do not fit.
    """
    array = np.asarray(given)
    wanted = (*shape, classes.size)
    if array.shape != wanted:
        raise ValueError(
            f"Votes(probabilities): shape {wanted}, one probability per member, sample "
            f"and class ({', '.join(map(str, classes[:5].tolist()))}"
            f"{', ...' if classes.size > 5 else ''}); got {array.shape}."
        )
    if array.dtype.kind not in "fiub":
        raise ValueError(f"Votes(probabilities): numbers, got {array.dtype}.")
    kept = room_for(wanted)
    for member, row in enumerate(array):
        usable = None if valid is None else valid[member]
        _check_row(row, usable, member)
        kept[member] = row if usable is None else np.where(usable[:, None], row, 0)
    return kept


def _check_row(row: Array, usable: BoolArray | None, member: int) -> None:
    known = np.isfinite(row) & (row >= 0) & (row <= 1 + _SLACK)
    bad = ~known.all(axis=1) | (np.abs(row.sum(axis=1) - 1) > _SLACK)
    if usable is not None:
        bad &= usable
    if bad.any():
        sample = int(bad.argmax())
        raise ValueError(
            f"Votes(probabilities): between 0 and 1 and adding up to 1; member "
            f"{member} has {row[sample].tolist()} on sample {sample}."
        )


def as_stored(probabilities: Array | None) -> Array | None:
    """Return a read-only view."""
    return None if probabilities is None else read_only(np.asarray(probabilities))
