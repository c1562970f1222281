"""Turn labels of any sortable type into small integer codes, without sorting them all.

Only ``y`` is sorted. Votes are compared with the labels known so far, member by member;
the few that are unknown are added to what is known.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from quorate._typing import Array, BoolArray

# A span of integer labels up to this wide is shifted and counted as bytes.
_BYTE_SPAN = 256
# Up to this many labels absent from y are looked for one by one.
_FEW_GAPS = 8

_FAMILIES = {
    "b": "numbers",
    "i": "numbers",
    "u": "numbers",
    "f": "numbers",
    "U": "text",
    "S": "bytes",
    "M": "dates",
    "m": "durations",
}


def as_rows(predictions: Any, owner: str = "Votes") -> Array:
    """Return votes as a 2-d array of one family of labels, one row per member."""
    if _is_plain_sequence(predictions):
        rows = [
            as_labels(row, f"predictions[{t}]") for t, row in enumerate(predictions)
        ]
        flat = [row for row in rows if row.ndim != 1]
        if not rows or flat:
            shape = flat[0].shape if flat else (0,)
            raise ValueError(
                f"{owner}: predictions must be 2-d, (n_members, n_samples); "
                f"got {'nothing' if not rows else f'a row of shape {shape}'}."
            )
        lengths = {len(row) for row in rows}
        if len(lengths) > 1:
            raise ValueError(
                f"{owner}: members voted on different numbers of samples, "
                f"{min(lengths)} and {max(lengths)}."
            )
        return stack_rows(rows, "predictions")
    return as_labels(predictions, "predictions")


def stack_rows(rows: Sequence[Array], name: str) -> Array:
    """Stack label rows, refusing to let NumPy turn numbers into text on the way."""
    for row in rows[1:]:
        check_same_family(rows[0], row, name, name)
    return np.stack(rows)


def as_labels(values: Any, name: str) -> Array:
    """Return labels as an array whose dtype says which family they belong to."""
    if _is_plain_sequence(values):
        array = np.asarray(_as_objects(values))
    else:
        array = np.asarray(values)
    if array.dtype.kind == "T":  # NumPy's variable-width strings
        array = array.astype(str)
    if array.dtype.kind == "O":
        array = _unbox(array, name)
    if array.dtype.kind not in _FAMILIES and array.dtype.kind != "O":
        raise ValueError(f"{name}: labels of type {array.dtype} cannot be sorted.")
    if array.dtype.kind in "fMm":
        missing = np.isnan(array) if array.dtype.kind == "f" else np.isnat(array)
        if missing.any():
            raise ValueError(f"{name}: missing label at {first_position(missing)}.")
    return array


def first_position(mask: BoolArray) -> str:
    """Say where the first true entry of a mask is, in words."""
    where = np.unravel_index(int(np.argmax(mask)), mask.shape)
    if len(where) == 1:
        return f"sample {where[0]}"
    return f"member {where[0]}, sample {where[1]}"


def check_same_family(first: Array, second: Array, one: str, other: str) -> None:
    """Raise ``ValueError`` where labels of two arrays cannot be compared."""
    a, b = _family(first), _family(second)
    if a != b:
        place = one if one == other else f"{one} and {other}"
        raise ValueError(f"{place}: labels of mixed types, {a} and {b}.")


def encode(predictions: Array, y: Array) -> tuple[Array, Array, Array]:
    """Encode votes and truth as positions in the sorted union of their labels.

    Returns
    -------
    classes, codes, y_codes
    """
    check_same_family(predictions, y, "predictions", "y")
    if predictions.dtype.kind in "biu" and y.dtype.kind in "biu":
        low = min(int(predictions.min()), int(y.min()))
        high = max(int(predictions.max()), int(y.max()))
        if high - low < _BYTE_SPAN:
            return _encode_bytes(predictions, y, low, high)
    return encode_rows(predictions, y)


def encode_rows(rows: Array | Sequence[Array], y: Array) -> tuple[Array, Array, Array]:
    """Encode member by member against the labels known so far; any sortable type."""
    known, y_codes = _unique(y)
    # codes are given in the order of discovery and put in label order at the end
    found = np.arange(known.size)
    codes = np.empty((len(rows), y.size), dtype=np.int32)
    for member, row in enumerate(rows):
        place = np.searchsorted(known, row)
        place[place == known.size] = 0
        strange = known[place] != row
        if strange.any():
            fresh, _ = _unique(row[strange])
            numbers = np.arange(found.size, found.size + fresh.size)
            merged = np.concatenate([known, fresh])
            order = np.argsort(merged, kind="stable")
            known, found = merged[order], np.concatenate([found, numbers])[order]
            place = np.searchsorted(known, row)
        codes[member] = found[place]
    rank = np.empty(found.size, dtype=np.int32)
    rank[found] = np.arange(found.size)
    small = code_dtype(found.size)
    classes = _in_type_of(known, y)
    return classes, rank.astype(small)[codes], rank.astype(small)[y_codes]


def encode_truth(y: Array, classes: Array, codes: Array) -> tuple[Array, Array, Array]:
    """Encode ``y`` against an ensemble's classes; labels new to it are added."""
    check_same_family(classes, y, "the ensemble's classes", "y")
    fresh = np.setdiff1d(y, classes)
    if fresh.size:
        merged = np.concatenate([classes, fresh])
        order = np.argsort(merged, kind="stable")
        rank = np.empty(merged.size + 1, dtype=code_dtype(merged.size))
        rank[order] = np.arange(merged.size)
        rank[-1] = -1  # a missing vote stays missing
        classes, codes = merged[order], rank[codes]
    return classes, codes, np.searchsorted(classes, y).astype(codes.dtype)


def code_dtype(n_classes: int) -> type[np.signedinteger[Any]]:
    """Return the smallest signed type for codes 0..n_classes-1 and -1."""
    if n_classes <= 2**7:
        return np.int8
    return np.int16 if n_classes <= 2**15 else np.int32


def _encode_bytes(
    predictions: Array, y: Array, low: int, high: int
) -> tuple[Array, Array, Array]:
    shifted = np.empty(predictions.shape, dtype=np.uint8)
    for member, row in enumerate(predictions):
        shifted[member] = row.astype(np.int64) - low if low else row
    y_shifted = (y.astype(np.int64) - low).astype(np.uint8)

    present = np.zeros(high - low + 1, dtype=bool)
    present[y_shifted] = True
    gaps = np.flatnonzero(~present)
    if gaps.size <= _FEW_GAPS:
        for gap in gaps:
            present[gap] = bool((shifted == gap).any())
    else:
        for row in shifted:
            present |= np.bincount(row, minlength=present.size) > 0

    values = np.flatnonzero(present)
    classes = (values + low).astype(y.dtype)
    if values.size < present.size:
        rank = np.zeros(_BYTE_SPAN, dtype=np.uint8)
        rank[values] = np.arange(values.size)
        table = rank.tobytes()
        for row in shifted:
            row[:] = np.frombuffer(row.tobytes().translate(table), dtype=np.uint8)
        y_shifted = rank[y_shifted]
    small = code_dtype(values.size)
    if small is np.int8:
        return classes, shifted.view(np.int8), y_shifted.view(np.int8)
    return classes, shifted.astype(small), y_shifted.astype(small)


def _unique(values: Array) -> tuple[Array, Array]:
    try:
        unique, inverse = np.unique(values, return_inverse=True)
    except TypeError as error:
        raise ValueError(f"labels cannot be sorted: {error}.") from error
    return unique, inverse


def _in_type_of(classes: Array, y: Array) -> Array:
    """Give labels back in the type of ``y`` where nothing is lost by it."""
    if classes.dtype == y.dtype:
        return classes
    if classes.dtype.kind in "US":
        return classes
    cast = classes.astype(y.dtype)
    return cast if np.array_equal(cast, classes) else classes


def _family(labels: Array) -> str:
    if labels.dtype.kind == "O":
        return type(labels.flat[0]).__name__ if labels.size else "objects"
    return _FAMILIES[labels.dtype.kind]


def _is_plain_sequence(values: Any) -> bool:
    return isinstance(values, (list, tuple))


def _as_objects(values: Any) -> Array:
    """Box a list so that NumPy cannot turn the numbers in it into text."""
    try:
        array = np.asarray(values)
    except ValueError as error:  # ragged
        raise ValueError(f"labels must form a regular array: {error}.") from error
    if array.dtype.kind in "US":
        return np.asarray(values, dtype=object)
    return array


def _unbox(array: Array, name: str) -> Array:
    """Give an object array the dtype of what is in it."""
    values = array.ravel().tolist()
    types = set(map(type, values))
    if not values:
        return array
    missing = (
        np.array([_is_missing(value) for value in values]) if _may_miss(types) else None
    )
    if missing is not None and missing.any():
        where = first_position(missing.reshape(array.shape))
        raise ValueError(f"{name}: missing label at {where}.")
    if all(issubclass(kind, str) for kind in types):
        return array.astype(str)
    if all(issubclass(kind, (bool, int, float, np.bool_, np.number)) for kind in types):
        return np.array(values).reshape(array.shape)
    if len(types) > 1:
        listed = " and ".join(sorted(kind.__name__ for kind in types))
        raise ValueError(f"{name}: labels of mixed types, {listed}.")
    return array


def _may_miss(types: set[type]) -> bool:
    return any(
        issubclass(kind, (float, np.floating, type(None)))
        or kind.__name__ in ("NAType", "NaTType")
        for kind in types
    )


def _is_missing(value: Any) -> bool:
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return bool(isinstance(value, (float, np.floating)) and np.isnan(value))
