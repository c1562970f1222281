"""The votes as they were given, one row of labels per member, unusable ones hidden.

Nothing is copied that need not be: rows are filled one at a time.
"""

from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias

import numpy as np

from quorate._typing import Array, BoolArray
from quorate._votes._labels import (
    as_array,
    as_labels,
    check_same_family,
    is_listed,
    refuse_masked,
)


class FilledRows:
    """Rows of an array, each with a vote of its own where none may be used."""

    def __init__(self, rows: Array, mask: BoolArray) -> None:
        self._rows = rows
        self._mask = mask

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, member: int) -> Array:
        return filled(self._rows[member], self._mask[member])

    def __iter__(self) -> Iterator[Array]:
        return (self[member] for member in range(len(self)))


Rows: TypeAlias = Array | list[Array] | FilledRows


def as_rows(predictions: Any, mask: BoolArray | None = None) -> Rows:
    """Return votes as rows of labels, one per member."""
    if not is_listed(predictions):
        return _rows_of_array(predictions, mask)
    given = [as_array(row, f"predictions[{t}]") for t, row in enumerate(predictions)]
    flat = [row for row in given if row.ndim != 1]
    if not given or flat:
        raise ValueError(
            f"Votes: predictions must be 2-d, (n_members, n_samples); "
            f"got {f'a row of shape {flat[0].shape}' if given else 'nothing'}."
        )
    lengths = {len(row) for row in given}
    if len(lengths) > 1:
        raise ValueError(
            f"Votes: members voted on different numbers of samples, "
            f"{min(lengths)} and {max(lengths)}."
        )
    if mask is not None:
        check_mask(mask, (len(given), lengths.pop()))
        given = [filled(row, ok) for row, ok in zip(given, mask, strict=True)]
    rows = [as_labels(row, f"predictions[{t}]") for t, row in enumerate(given)]
    for row in rows[1:]:
        check_same_family(rows[0], row, "predictions", "predictions")
    return rows


def _rows_of_array(predictions: Any, mask: BoolArray | None) -> Rows:
    if mask is None:
        return as_labels(predictions, "predictions")
    array = as_array(predictions, "predictions")
    if array.ndim != 2:
        return array  # refused with its shape
    check_mask(mask, array.shape)
    rows = FilledRows(array, mask)
    if array.dtype.kind in "biuUS":
        return rows
    checked = [as_labels(row, f"predictions[{t}]") for t, row in enumerate(rows)]
    return rows if array.dtype.kind == "f" else checked


def filled(row: Array, mask: BoolArray) -> Array:
    """Return a row in which a usable vote of the member stands for unusable ones."""
    first = int(mask.argmax())
    if row.dtype.kind == "O":  # a label may be a sequence
        return row[np.where(mask, np.arange(row.size), first)]
    return np.where(mask, row, row[first])


def shape_of(rows: Rows) -> tuple[int, ...]:
    """Return the shape of votes in rows."""
    if isinstance(rows, np.ndarray):
        return rows.shape
    return len(rows), len(rows[0])


def check_shapes(shape: tuple[int, ...], y: Array) -> None:
    """Raise unless votes and truth have the shapes they should."""
    if len(shape) != 2 or y.ndim != 1:
        raise ValueError(
            f"Votes: predictions must be 2-d, (n_members, n_samples), and y 1-d; "
            f"got shapes {shape} and {y.shape}."
        )
    if 0 in shape:
        raise ValueError(f"Votes: no votes in predictions of shape {shape}.")
    if shape[1] != y.size:
        raise ValueError(
            f"Votes: predictions of shape {shape} and y of shape {y.shape} "
            f"differ in the number of samples, {shape[1]} and {y.size}."
        )


def usable_votes(predictions: Any, valid: Any) -> tuple[Any, BoolArray | None]:
    """Return the votes without their mask, and which of them may be used.

    What a masked array hides may not be used, nor what ``valid`` excludes.
    """
    mask = None if valid is None else as_mask(valid)
    hidden: BoolArray | None = None
    if isinstance(predictions, np.ma.MaskedArray):
        hidden = np.ma.getmaskarray(predictions)
        predictions = predictions.data
    elif is_listed(predictions) and any(map(np.ma.is_masked, predictions)):
        shapes = {np.shape(row) for row in predictions}
        if len(shapes) == 1:
            hidden = np.array([np.ma.getmaskarray(row) for row in predictions])
        predictions = [np.ma.getdata(row) for row in predictions]
    if hidden is None or not hidden.any():
        return predictions, mask
    if mask is None:
        return predictions, ~hidden
    check_mask(mask, hidden.shape)
    return predictions, mask & ~hidden


def as_mask(valid: Any) -> BoolArray:
    """Return the mask of usable votes as a boolean array."""
    refuse_masked(valid, "Votes(valid)")
    mask = np.asarray(valid)
    if mask.dtype != bool:
        raise ValueError(f"Votes(valid): a mask is boolean, got {mask.dtype}.")
    return mask


def check_mask(mask: BoolArray, shape: Sequence[int]) -> None:
    """Raise unless a mask fits the votes and leaves every member some."""
    if mask.shape != tuple(shape):
        raise ValueError(
            f"Votes(valid): the mask has shape {mask.shape}, "
            f"the predictions {tuple(shape)}."
        )
    idle = np.flatnonzero(~mask.any(axis=1))
    if idle.size:
        raise ValueError(f"Votes(valid): member {idle[0]} has no valid sample.")
