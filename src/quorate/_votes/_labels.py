"""Read labels of any sortable type so that they come back exactly as they were given.

NumPy would turn numbers into text, large whole numbers into floats, dates into other
dates, and drop what a masked array hides. Here labels get a type that holds each of
them, or are refused with a sentence.
"""

from collections.abc import Sequence
from contextlib import suppress
from decimal import Decimal
from typing import Any

import numpy as np

from quorate._typing import Array, BoolArray

_FAMILIES = {
    **dict.fromkeys("biuf", "numbers"),
    "U": "text",
    "S": "bytes",
    "M": "dates",
    "m": "durations",
}
_WHOLE = (bool, int, np.bool_, np.integer)
_NUMBERS = (*_WHOLE, float, np.number)
# Types of which no value stands for a missing one.
_NEVER_MISSING = {str, bytes, int, bool, np.str_, np.bytes_}


def as_labels(values: Any, name: str) -> Array:
    """Return labels as an array whose dtype says which family they belong to."""
    if values is None:
        raise ValueError(f"{name}: one label per sample is needed, got None.")
    refuse_masked(values, name)
    array = as_array(values)
    if array.dtype.kind == "O":
        array = _unbox(array, name)
    if array.dtype.kind not in _FAMILIES and array.dtype.kind != "O":
        raise ValueError(f"{name}: labels of type {array.dtype} cannot be sorted.")
    if array.dtype.kind in "fMm":
        missing = np.isnan(array) if array.dtype.kind == "f" else np.isnat(array)
        if missing.any():
            raise ValueError(f"{name}: missing label at {first_position(missing)}.")
    return array


def as_array(values: Any) -> Array:
    """Return an array of the values as they are, boxed where NumPy would change any."""
    if is_listed(values):
        with suppress(ValueError):  # not of equal lengths
            array = np.asarray(values)
            if array.dtype.kind in "biu":
                return array
        return np.asarray(values, dtype=object)
    array = np.asarray(values)
    # NumPy's variable-width strings may hold missing ones, and trailing NULs.
    return array.astype(object) if array.dtype.kind == "T" else array


def is_listed(values: Any) -> bool:
    """Tell whether values come one by one, with a type each."""
    return isinstance(values, (list, tuple))


def refuse_masked(values: Any, name: str) -> None:
    """Refuse a masked array that hides something."""
    if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
        where = first_position(np.ma.getmaskarray(values))
        raise ValueError(
            f"{name}: masked at {where}; nothing may be masked but predictions."
        )


def first_position(mask: BoolArray) -> str:
    """Say where the first true entry of a mask is, in words."""
    where = np.unravel_index(int(np.argmax(mask)), mask.shape)
    if len(where) == 1:
        return f"sample {where[0]}"
    if len(where) == 2:
        return f"member {where[0]}, sample {where[1]}"
    return f"position {tuple(map(int, where))}"


def check_same_family(first: Array, second: Array, one: str, other: str) -> None:
    """Raise ``ValueError`` where labels of two arrays cannot be compared."""
    a, b = _family(first), _family(second)
    if a != b:
        place = one if one == other else f"{one} and {other}"
        raise ValueError(f"{place}: labels of mixed types, {a} and {b}.")


def _family(labels: Array) -> str:
    if labels.dtype.kind == "O":
        return type(labels.flat[0]).__name__ if labels.size else "objects"
    return _FAMILIES[labels.dtype.kind]


def common_type(arrays: Sequence[Array]) -> np.dtype[Any]:
    """Return the type in which labels of one family can be compared, none changed.

    Raises
    ------
    ValueError
        If there is none, with two labels that no type holds both.
    """
    dtypes = {array.dtype for array in arrays}
    if len(dtypes) == 1:
        return dtypes.pop()
    try:
        wide = np.result_type(*dtypes)
    except TypeError as error:
        listed = " and ".join(sorted(map(str, dtypes)))
        raise ValueError(f"labels of types {listed} cannot be compared.") from error
    if wide.kind != "f":
        return wide
    filled = [array for array in arrays if array.size]
    whole = [array for array in filled if array.dtype.kind in "biu"]
    low = min((int(array.min()) for array in whole), default=0)
    high = max((int(array.max()) for array in whole), default=0)
    if len(whole) == len(filled):
        return _whole_type(low, high)
    limit = 2 ** (np.finfo(wide).nmant + 1)
    if low < -limit or high > limit:
        floats = next(array for array in filled if array.dtype.kind == "f")
        raise _no_type_for(high if high > limit else low, floats.flat[0])
    return wide


def in_type(array: Array, dtype: np.dtype[Any]) -> Array:
    """Return labels in a type that :func:`common_type` found for them."""
    if array.dtype == dtype:
        return array
    try:
        cast = array.astype(dtype)
        changed = dtype.kind in "Mm" and bool((cast.astype(array.dtype) != array).any())
    except OverflowError:
        changed = True
    if changed:
        raise ValueError(
            f"labels of types {array.dtype} and {dtype}: one is too far away to be "
            "written in the finer of the two."
        )
    return cast


def in_type_of(labels: Array, model: Array) -> Array:
    """Give labels the type of ``model`` where nothing is lost by it."""
    wanted = model.dtype
    if labels.dtype == wanted or labels.dtype.kind in "USO" or wanted.kind == "O":
        return labels
    if labels.dtype.kind in "iuf" and wanted.kind in "biu":
        least, most = 0, 1
        if wanted.kind != "b":
            least, most = int(np.iinfo(wanted).min), int(np.iinfo(wanted).max)
        if not least <= labels.min().item() <= labels.max().item() <= most:
            return labels
    with np.errstate(invalid="ignore", over="ignore"):
        cast = labels.astype(wanted)
        same = np.array_equal(cast.astype(labels.dtype), labels)
    return cast if same else labels


def _whole_type(low: int, high: int) -> np.dtype[Any]:
    for dtype in (np.dtype(np.int64), np.dtype(np.uint64)):
        if low >= np.iinfo(dtype).min and high <= np.iinfo(dtype).max:
            return dtype
    raise _no_type_for(low, high)


def _no_type_for(one: Any, other: Any) -> ValueError:
    return ValueError(
        f"no type of number holds both labels {one} and {other} exactly; use text as "
        "labels."
    )


def _unbox(array: Array, name: str) -> Array:
    """Give an object array the dtype of what is in it."""
    values = array.ravel().tolist()
    types = set(map(type, values))
    if not types <= _NEVER_MISSING:
        missing = np.array([_is_missing(value, name) for value in values])
        if missing.any():
            where = first_position(missing.reshape(array.shape))
            raise ValueError(f"{name}: missing label at {where}.")

    def all_are(wanted: Any) -> bool:
        return bool(types) and all(issubclass(kind, wanted) for kind in types)

    if all_are(str) or all_are(bytes):
        return _characters(values, name).reshape(array.shape)
    if all_are(_NUMBERS):
        return _numbers(values, name).reshape(array.shape)
    if all_are(np.datetime64) or all_are(np.timedelta64):
        return np.array(values).reshape(array.shape)
    if len(types) > 1:
        listed = " and ".join(sorted(kind.__name__ for kind in types))
        raise ValueError(f"{name}: labels of mixed types, {listed}.")
    return array


def _characters(values: list[Any], name: str) -> Array:
    """Return text or bytes with a fixed width."""
    kind: Any = str if isinstance(values[0], str) else bytes
    array = np.array([kind.__getitem__(value, slice(None)) for value in values])
    if (np.char.str_len(array) != [kind.__len__(value) for value in values]).any():
        cut = next(v for v in values if len(v) and v[-1] in ("\0", 0))
        raise ValueError(
            f"{name}: the label {cut!r} ends in a NUL, which NumPy does not keep."
        )
    return array


def _numbers(values: list[Any], name: str) -> Array:
    """Return numbers in a type that holds each of them."""
    whole = [int(value) for value in values if isinstance(value, _WHOLE)]
    try:
        if len(whole) == len(values):
            if all(isinstance(value, (bool, np.bool_)) for value in values):
                return np.array(values)
            return np.array(whole, dtype=_whole_type(min(whole), max(whole)))
        large = max(whole, key=abs, default=0)
        if abs(large) > 2**53:
            other = next(value for value in values if not isinstance(value, _WHOLE))
            raise _no_type_for(large, other)
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from error
    return np.array(values)


def _is_missing(value: Any, name: str) -> bool:
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    if isinstance(value, Decimal):
        return value.is_nan()  # some of them cannot even be compared
    try:
        if isinstance(value, (np.ndarray, list)):
            raise TypeError("an array is no label")
        return bool(value != value)
    except (ValueError, TypeError, ArithmeticError) as error:
        raise ValueError(
            f"{name}: labels of type {type(value).__name__} cannot be sorted."
        ) from error
