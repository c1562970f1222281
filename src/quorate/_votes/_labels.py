"""Read labels of any sortable type so that they come back exactly as they were given.

NumPy would turn numbers into text, large whole numbers into floats, dates into other
dates, and drop what a masked array hides. Here labels get a type that holds each of
them, or are refused with a sentence.
"""

from collections.abc import Iterable, Sequence
from datetime import date, timedelta
from decimal import Decimal
from typing import Any

import numpy as np

from quorate._typing import Array, BoolArray

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
_NUMBERS = (bool, int, float, np.bool_, np.number)
_WHOLE = (bool, int, np.bool_, np.integer)
# From here on, doubles lie more than one apart.
_SPARSE = 2.0**53
# What NumPy makes dates and durations of, next to its own.
_TIMES: dict[str, tuple[type, ...]] = {
    "M": (np.datetime64, date),
    "m": (np.timedelta64, timedelta),
}
# Types of which no value stands for a missing one.
_NEVER_MISSING = {str, bytes, int, bool, np.str_, np.bytes_}


def as_labels(values: Any, name: str) -> Array:
    """Return labels as an array whose dtype says which family they belong to."""
    if values is None:
        raise ValueError(f"{name}: one label per sample is needed, got None.")
    refuse_masked(values, name)
    array = as_array(values, name)
    if array.dtype.kind == "O":
        array = _unbox(array, name)
    if array.dtype.kind not in _FAMILIES and array.dtype.kind != "O":
        raise ValueError(f"{name}: labels of type {array.dtype} cannot be sorted.")
    if array.dtype.kind in "fMm":
        missing = np.isnan(array) if array.dtype.kind == "f" else np.isnat(array)
        if missing.any():
            raise ValueError(f"{name}: missing label at {first_position(missing)}.")
    return array


def as_array(values: Any, name: str) -> Array:
    """Return an array of the values as they are, boxed where NumPy would change any."""
    array = _from_list(values, name) if is_listed(values) else np.asarray(values)
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
    floats = [array for array in filled if array.dtype.kind == "f"]
    low, high = _extremes(whole)
    limit = 2 ** (np.finfo(wide).nmant + 1)
    if floats and -limit <= low and high <= limit:
        return wide
    for array in floats:
        broken = ~_are_whole(array)
        if broken.any():
            large = high if high > limit else low
            raise _no_type_for(large, array[broken][0])
    low, high = _extremes(filled)
    return _whole_type(low, high)


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
        low, high = (0, 1) if wanted.kind == "b" else _range(wanted)
        if not low <= labels.min().item() <= labels.max().item() <= high:
            return labels
    with np.errstate(invalid="ignore", over="ignore"):
        cast = labels.astype(wanted)
        same = np.array_equal(cast.astype(labels.dtype), labels)
    return cast if same else labels


def _range(dtype: np.dtype[Any]) -> tuple[int, int]:
    return int(np.iinfo(dtype).min), int(np.iinfo(dtype).max)


def _extremes(arrays: Iterable[Array]) -> tuple[int, int]:
    ends = [(int(array.min()), int(array.max())) for array in arrays]
    return min((low for low, _ in ends), default=0), max(
        (e for _, e in ends), default=0
    )


def _whole_type(low: int, high: int) -> np.dtype[Any]:
    if low >= -(2**63) and high < 2**63:
        return np.dtype(np.int64)
    if low >= 0 and high < 2**64:
        return np.dtype(np.uint64)
    raise _no_type_for(low, high)


def _no_type_for(one: Any, other: Any) -> ValueError:
    return ValueError(
        f"no type of number holds both labels {one} and {other} exactly; use text as "
        "labels."
    )


def _family(labels: Array) -> str:
    if labels.dtype.kind == "O":
        return type(labels.flat[0]).__name__ if labels.size else "objects"
    return _FAMILIES[labels.dtype.kind]


def _from_list(values: Any, name: str) -> Array:
    """Make an array of a list, boxed where NumPy would change what is in it."""
    try:
        array = np.asarray(values)
    except ValueError as error:  # ragged
        raise ValueError(
            f"{name}: labels must form a regular array: {error}."
        ) from error
    kind = array.dtype.kind
    if kind in "US" or _are_sparse(array):
        return np.asarray(values, dtype=object)
    if kind in "Mm" and array.ndim == 1:
        times = (*_TIMES[kind], type(None))
        others = {type(value) for value in values if not isinstance(value, times)}
        if others:
            family, found = _FAMILIES[kind], others.pop().__name__
            raise ValueError(f"{name}: labels of mixed types, {family} and {found}.")
    return array


def _unbox(array: Array, name: str) -> Array:
    """Give an object array the dtype of what is in it."""
    values = array.ravel().tolist()
    if not values:
        return array
    types = set(map(type, values))
    if not types <= _NEVER_MISSING:
        missing = np.array([_is_missing(value, name) for value in values])
        if missing.any():
            where = first_position(missing.reshape(array.shape))
            raise ValueError(f"{name}: missing label at {where}.")
    if _all_are(types, str):
        return _characters(values, str, np.str_, name).reshape(array.shape)
    if _all_are(types, bytes):
        return _characters(values, bytes, np.bytes_, name).reshape(array.shape)
    if _all_are(types, _NUMBERS):
        return _numbers(values, name).reshape(array.shape)
    if _all_are(types, np.datetime64) or _all_are(types, np.timedelta64):
        return np.array(values).reshape(array.shape)
    if len(types) > 1:
        listed = " and ".join(sorted(kind.__name__ for kind in types))
        raise ValueError(f"{name}: labels of mixed types, {listed}.")
    return array


def _all_are(types: set[type], wanted: Any) -> bool:
    return all(issubclass(kind, wanted) for kind in types)


def _characters(values: list[Any], kind: Any, dtype: Any, name: str) -> Array:
    """Return text or bytes with a fixed width."""
    array = np.array([kind.__getitem__(v, slice(None)) for v in values], dtype=dtype)
    if (np.char.str_len(array) != [kind.__len__(value) for value in values]).any():
        cut = next(v for v in values if len(v) and v[-1] in ("\0", 0))
        raise ValueError(
            f"{name}: the label {cut!r} ends in a NUL, which NumPy does not keep."
        )
    return array


def _numbers(values: list[Any], name: str) -> Array:
    """Return numbers in a type that holds each of them."""
    try:
        array = np.array(values)
    except OverflowError:
        array = np.array(values, dtype=object)
    if not _are_sparse(array) and array.dtype.kind != "O":
        return array
    whole = [int(value) for value in values if isinstance(value, _WHOLE)]
    if not whole:
        return array
    broken = [v for v in values if not isinstance(v, _WHOLE) and not _are_whole(v)]
    try:
        if not broken:
            every = [int(value) for value in values]
            return np.array(every, dtype=_whole_type(min(every), max(every)))
        large = max(whole, key=abs)
        if abs(large) > _SPARSE:
            raise _no_type_for(large, broken[0])
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from error
    return array


def _are_sparse(array: Array) -> bool:
    """Tell whether floats are so large that whole numbers lie between them."""
    if array.dtype.kind != "f":
        return False
    least = array.dtype.type(min(_SPARSE, np.finfo(array.dtype).max))
    return bool((np.abs(array) >= least).any())


def _are_whole(floats: Any) -> Any:
    """Tell which floats are whole numbers of 64 bits."""
    wide = np.asarray(floats, dtype=np.longdouble)
    return (wide >= -(2.0**63)) & (wide < 2.0**64) & (wide == np.floor(wide))


def _is_missing(value: Any, name: str) -> bool:
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    if isinstance(value, Decimal):
        return value.is_nan()  # some of them cannot even be compared
    try:
        if isinstance(value, np.ndarray):
            raise TypeError("an array is no label")
        return bool(value != value)
    except (ValueError, TypeError, ArithmeticError) as error:
        raise ValueError(
            f"{name}: labels of type {type(value).__name__} cannot be sorted."
        ) from error
