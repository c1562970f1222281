"""Preprocessing steps of a pipeline as plain data.

Steps are JSON-like lists and numbers. A *layer* transforms a table into the next one:
each of its parts transforms some columns, and the results are stacked side by side. A
transformation is one of ``_MAKERS`` with its parameters; a file cannot contain anything
else.
"""

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from quorate._typing import Array, FloatArray

Change: TypeAlias = Callable[[Array], Array]
"""A table in, a table with as many rows out."""
TEXT = ("fill_text", "one_hot", "ordinal")
"""What takes categories, which may be text."""
_MOST_COLUMNS = 2**24


def make_steps(layers: Any, n_columns: int) -> tuple[Change, int]:
    """Return a function that applies the steps, and the number of output columns.

    Raises
    ------
    ValueError, TypeError, KeyError
        If they are not valid steps of :func:`quorate.compact`.
    """
    made, width = [], n_columns
    for layer in _check_list(layers):
        parts = [_make_part(part, width) for part in _check_list(layer)]
        if not parts:
            raise ValueError("a step without columns")
        width = sum(part[2] for part in parts)
        made.append([(columns, change) for columns, change, _ in parts])

    def change(table: Array) -> FloatArray:
        for layer in made:
            done = [then(table[:, columns]) for columns, then in layer]
            table = np.hstack([part.astype(float, copy=False) for part in done])
        return table.astype(float, copy=False)

    return change, width


def _make_part(part: Any, width: int) -> tuple[list[int], Change, int]:
    columns, operations = _check_list(part, 2)
    chosen = _check_columns(columns, width)
    changes, width = [], len(chosen)
    for operation in _check_list(operations):
        name, *parameters = _check_list(operation)
        change, width = _MAKERS[name](width, *parameters)
        changes.append(change)
        if width > _MOST_COLUMNS:
            raise ValueError("a step with too many columns")

    def change_all(part: Array) -> Array:
        for change in changes:
            part = change(part)
        return part

    return chosen, change_all, width


def _check_list(given: Any, size: int | None = None) -> list[Any]:
    if not isinstance(given, list) or (size is not None and len(given) != size):
        raise ValueError("a step of an unexpected layout")
    return given


def _check_columns(columns: Any, width: int) -> list[int]:
    places = _check_list(columns)
    if not all(type(place) is int and 0 <= place < width for place in places):
        raise ValueError("a step with a column that does not exist")
    return places


def _numbers(values: Any, width: int) -> FloatArray:
    row = np.array(_check_list(values, width), dtype=float)
    if row.shape != (width,) or not np.isfinite(row).all():
        raise ValueError("a step with invalid numbers")
    return row


# Transformations of columns: numbers


def _arithmetic(ufunc: Any) -> Callable[..., tuple[Change, int]]:
    def make(width: int, values: Any) -> tuple[Change, int]:
        row = _numbers(values, width)
        return lambda part: ufunc(part.astype(float, copy=False), row), width

    return make


def _clip(width: int, low: Any, high: Any) -> tuple[Change, int]:
    least, most = _numbers(low, width), _numbers(high, width)
    return lambda part: np.clip(part.astype(float, copy=False), least, most), width


def _fill(width: int, values: Any) -> tuple[Change, int]:
    """Replace missing values."""
    row = _numbers(values, width)

    def change(part: Array) -> Array:
        part = part.astype(float, copy=False)
        return np.where(np.isnan(part), row, part)

    return change, width


def _take(width: int, columns: Any) -> tuple[Change, int]:
    chosen = _check_columns(columns, width)
    return lambda part: part[:, chosen], len(chosen)


# Categories: numbers or text, None, or NaN, which is not equal to itself


def _fill_text(width: int, values: Any) -> tuple[Change, int]:
    """Replace missing values by a string."""
    row = _check_list(values, width)
    if not all(isinstance(value, str) for value in row):
        raise ValueError("a step with texts that do not fit")

    def change(part: Array) -> Array:
        part = part.astype(object)
        for place, value in enumerate(row):
            part[part[:, place] != part[:, place], place] = value
        return part

    return change, width


def _one_hot(
    width: int, categories: Any, dropped: Any, ignores: Any
) -> tuple[Change, int]:
    """One-hot encode; ``dropped`` are the categories (or None) without a column."""
    encode = _encoder(width, categories, bool(ignores))
    sizes = [len(known) for known in categories]
    without = _check_list(dropped, width)
    kept = []
    for known, left_out in zip(categories, without, strict=True):
        places = np.arange(len(known))
        if left_out is not None and not 0 <= int(left_out) < len(known):
            raise ValueError("a step with a category that does not exist")
        kept.append(places if left_out is None else np.delete(places, int(left_out)))

    def change(part: Array) -> Array:
        codes = encode(part)
        each = zip(codes.T, kept, strict=True)
        columns = [column[:, None] == places for column, places in each]
        return np.hstack(columns).astype(float)

    return change, sum(sizes) - sum(left_out is not None for left_out in without)


def _ordinal(
    width: int, categories: Any, unknown: Any, missing: Any
) -> tuple[Change, int]:
    """Encode categories as numbers; if ``unknown`` is None, others are refused."""
    encode = _encoder(width, categories, unknown is not None)
    instead = np.nan if unknown is None else float(unknown)
    of_missing = float(missing)

    def change(part: Array) -> Array:
        codes = encode(part)
        numbers = np.where(codes < 0, instead, codes)
        for place, known in enumerate(categories):
            if known and known[-1] != known[-1]:
                numbers[codes[:, place] == len(known) - 1, place] = of_missing
        return numbers

    return change, width


def _encoder(width: int, categories: Any, ignores: bool) -> Change:
    """Return a function that maps values to category indices, or -1."""
    known = [
        {_key(value): place for place, value in enumerate(_check_list(column))}
        for column in _check_list(categories, width)
    ]

    def encode(part: Array) -> Array:
        codes = np.empty(part.shape, dtype=np.int64)
        for place, places in enumerate(known):
            values = part[:, place].tolist()
            codes[:, place] = [places.get(_key(value), -1) for value in values]
            strange = np.flatnonzero(codes[:, place] < 0)
            if strange.size and not ignores:
                raise ValueError(
                    f"column {place} of those with categories has the value "
                    f"{values[strange[0]]!r}, which did not occur in training"
                )
        return codes

    return encode


def _key(value: Any) -> Any:
    if not isinstance(value, (str, int, float, type(None))):
        raise ValueError(f"a category of an unsupported type ({type(value).__name__})")
    return ("missing",) if value != value else value


_MAKERS: dict[str, Callable[..., tuple[Change, int]]] = {
    "add": _arithmetic(np.add),
    "subtract": _arithmetic(np.subtract),
    "multiply": _arithmetic(np.multiply),
    "divide": _arithmetic(np.divide),
    "clip": _clip,
    "fill": _fill,
    "take": _take,
    "fill_text": _fill_text,
    "one_hot": _one_hot,
    "ordinal": _ordinal,
}
