"""Labels, and their codes: positions in the sorted classes.

Labels are text, numbers, dates or durations, as scikit-learn's classifiers take them.
NumPy would convert numbers to text, large integers to floats and dates to other dates,
and drop the mask of a masked array. Here labels get a dtype that represents each of
them exactly, or an error is raised. They are returned in the dtype of ``y`` if it can
represent them.
"""

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from quorate._typing import Array, BoolArray, IntArray

_FAMILIES = {
    **dict.fromkeys("biuf", "numbers"),
    "U": "text",
    "M": "dates",
    "m": "durations",
}
_WHOLE = (bool, int, np.bool_, np.integer)
_NUMBERS = (*_WHOLE, float, np.number)
# Dtypes without a missing value.
_NEVER_MISSING = {str, int, bool, np.str_}
# Containers with a type per value.
SEQUENCES = (list, tuple)
# Integers within a range of this size are looked up in a table.
_TABLE_SPAN = 2**16


def as_labels(values: Any, name: str) -> Array:
    """Return labels as an array whose dtype identifies their family."""
    if values is None:
        raise ValueError(f"{name}: one label per sample is needed, got None.")
    array = as_array(values, name)
    if array.dtype.kind == "O":
        array = _unbox(array, name)
    if array.dtype.kind not in _FAMILIES:
        raise ValueError(
            f"{name}: labels of type {array.dtype}; use text or numbers as labels."
        )
    if array.dtype.kind in "fMm":
        _refuse_missing(array != array, name)
    return array


def as_truth(y: Any, owner: str) -> Array:
    """Return the labels of samples, one for each.

    Examples
    --------
    >>> as_truth([["a"], ["b"]], "prune")
    Traceback (most recent call last):
    ValueError: prune: y has shape (2, 1), not one label per sample; pass y[:, 0].
    """
    labels = as_labels(y, "y")
    if labels.ndim == 1:
        return labels
    is_column = labels.ndim == 2 and labels.shape[1] == 1
    column = "y.iloc[:, 0]" if hasattr(y, "iloc") else "y[:, 0]"
    remedy = f"; pass {column}" if is_column else ""
    raise ValueError(
        f"{owner}: y has shape {labels.shape}, not one label per sample{remedy}."
    )


def as_array(values: Any, name: str) -> Array:
    """Return the values as an array, as objects if NumPy would change any."""
    refuse_masked(values, name)
    if isinstance(values, SEQUENCES):
        with suppress(ValueError):  # not of equal lengths
            array = np.asarray(values)
            if array.dtype.kind in "biu":
                return array
        return np.asarray(values, dtype=object)
    array = np.asarray(values)
    # NumPy's variable-width strings may contain missing values and trailing NULs.
    return array.astype(object) if array.dtype.kind == "T" else array


def refuse_masked(values: Any, name: str) -> None:
    """Raise an error for a masked array with masked entries."""
    if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
        where = _first_position(np.ma.getmaskarray(values))
        raise ValueError(
            f"{name}: masked at {where}; pass plain arrays, with valid=~mask for votes."
        )


def _refuse_missing(missing: BoolArray, name: str) -> None:
    if missing.any():
        raise ValueError(f"{name}: missing label at {_first_position(missing)}.")


def _first_position(mask: BoolArray) -> str:
    """Describe the position of the first true entry of a mask."""
    where = np.unravel_index(int(np.argmax(mask)), mask.shape)
    if len(where) == 1:
        return f"sample {where[0]}"
    if len(where) == 2:
        return f"member {where[0]}, sample {where[1]}"
    return f"position {tuple(map(int, where))}"


def check_same_family(first: Array, second: Array, one: str, other: str) -> None:
    """Raise ``ValueError`` if the labels of two arrays cannot be compared."""
    a, b = _FAMILIES[first.dtype.kind], _FAMILIES[second.dtype.kind]
    if a != b:
        place = one if one == other else f"{one} and {other}"
        raise ValueError(f"{place}: labels of mixed types, {a} and {b}.")


# Object arrays


def _unbox(array: Array, name: str) -> Array:
    """Convert an object array to the dtype of its values."""
    values = array.ravel().tolist()
    types = set(map(type, values))
    if not types <= _NEVER_MISSING:
        missing = np.array([_is_missing(value) for value in values])
        _refuse_missing(missing.reshape(array.shape), name)

    def all_are(wanted: Any) -> bool:
        return all(issubclass(kind, wanted) for kind in types)

    if all_are(_NUMBERS):  # also if there are none
        return _numbers(values, name).reshape(array.shape)
    if all_are(str):
        return _text(values, name).reshape(array.shape)
    if all_are(np.datetime64) or all_are(np.timedelta64):
        return np.array(values).reshape(array.shape)
    listed = " and ".join(sorted(kind.__name__ for kind in types))
    if len(types) > 1:
        raise ValueError(f"{name}: labels of mixed types, {listed}.")
    raise ValueError(f"{name}: labels of type {listed}; use text or numbers as labels.")


def _text(values: list[Any], name: str) -> Array:
    """Return text as a fixed-width array."""
    array = np.array([str.__getitem__(value, slice(None)) for value in values])
    if (np.char.str_len(array) != list(map(len, values))).any():
        cut = next(value for value in values if value.endswith("\0"))
        raise ValueError(
            f"{name}: the label {cut!r} ends in a NUL character, which NumPy removes."
        )
    return array


def _numbers(values: list[Any], name: str) -> Array:
    """Return numbers in a dtype that represents each of them."""
    whole = [int(value) for value in values if isinstance(value, _WHOLE)]
    if len(whole) < len(values):
        lost = [value for value in whole if abs(value) > 2**53]
        if lost:
            raise _no_type_for(f"{name}: ", max(lost, key=abs))
        return np.array(values)
    if all(isinstance(value, (bool, np.bool_)) for value in values):
        return np.array(values)
    for dtype in (np.int64, np.uint64):
        with suppress(OverflowError):
            return np.array(whole, dtype=dtype)
    raise _no_type_for(f"{name}: ", max(whole, key=abs))


def _no_type_for(owner: str, label: Any) -> ValueError:
    return ValueError(
        f"{owner}no numeric type represents {label} and the other labels exactly; use "
        "text as labels."
    )


def _is_missing(value: Any) -> bool:
    if isinstance(value, (float, np.floating, np.datetime64, np.timedelta64)):
        return bool(value != value)
    return value is None or type(value).__name__ in ("NAType", "NaTType")


# Common dtypes


def _common_type(arrays: Sequence[Array]) -> np.dtype[Any]:
    """Return the dtype in which labels of one family are compared."""
    dtypes = {array.dtype for array in arrays}
    if len(dtypes) == 1:
        return dtypes.pop()
    families = sorted({_FAMILIES[array.dtype.kind] for array in arrays if array.size})
    if len(families) > 1:
        raise ValueError(f"labels of mixed types, {' and '.join(families)}.")
    try:
        wide = np.result_type(*dtypes)
    except TypeError as error:
        listed = " and ".join(sorted(map(str, dtypes)))
        raise ValueError(f"labels of types {listed} cannot be compared.") from error
    if wide.kind != "f" or any(dtype.kind == "f" for dtype in dtypes):
        return wide
    is_large = any(array.max(initial=0) >= 2**63 for array in arrays)
    return np.dtype(np.uint64 if is_large else np.int64)


def _cast(labels: Array, dtype: np.dtype[Any]) -> Array:
    """Cast labels to another dtype, or raise an error if a label would change."""
    if labels.dtype == dtype:
        return labels
    with np.errstate(all="ignore"):
        try:
            cast = labels.astype(dtype)
            changed = np.asarray(cast.astype(labels.dtype) != labels)
        except OverflowError:
            cast, changed = labels, np.ones(labels.shape, dtype=bool)
    if labels.dtype.kind in "iu":
        changed |= (cast < 0) != (labels < 0)
    if not changed.any():
        return cast
    if dtype.kind in "Mm":
        raise ValueError(
            f"labels of types {labels.dtype} and {dtype}: a value is outside the range "
            "of the finer type."
        )
    raise _no_type_for("", labels[changed][0])


def _cast_if_exact(labels: Array, model: Array) -> Array:
    """Cast labels to the dtype of ``model`` if this loses nothing."""
    if labels.dtype.kind != "U":
        with suppress(ValueError):
            return _cast(labels, model.dtype)
    return labels


def union(arrays: Iterable[Array], model: Array) -> Array:
    """Return the sorted union of labels, in the dtype of ``model`` if possible."""
    every = list(arrays)
    common = _common_type(every)
    unique = np.unique(np.concatenate([_cast(array, common) for array in every]))
    return _cast_if_exact(unique, model)


# Codes


def refuse_probabilities(classes: Array, labels: Array, owner: str) -> None:
    """Refuse votes for more numbers between 0 and 1 than there are whole labels.

    Parameters
    ----------
    classes : array
        All labels and votes, each once.
    labels : array
        The true labels, each once.
    owner : str
        Whose votes they are, for the message.
    """
    if classes.dtype.kind != "f":
        return
    shares = classes[(classes > 0) & (classes < 1)]
    if shares.size > max(2, labels.size) and (labels == np.floor(labels)).all():
        raise ValueError(
            f"{owner}: a vote is a label, but {shares[0]:.6g} is not in y; pass the "
            "most likely classes, and probabilities as probabilities=."
        )


def code_dtype(n_classes: int) -> type[np.signedinteger[Any]]:
    """Return the smallest signed dtype for codes 0..n_classes-1 and -1."""
    if n_classes <= 2**7:
        return np.int8
    return np.int16 if n_classes <= 2**15 else np.int32


def codes_among(labels: Array, classes: Array) -> IntArray:
    """Return the positions of labels among sorted classes, -1 where they are not.

    Examples
    --------
    >>> codes_among(np.array(["b", "x"]), np.array(["a", "b"]))
    array([ 1, -1])
    """
    common = _common_type([classes, labels])
    known, wanted = _cast(classes, common), _cast(labels, common)
    places = np.minimum(np.searchsorted(known, wanted), known.size - 1)
    return np.where(known[places] == wanted, places, -1)


def positions(labels: Array, classes: Array, name: str) -> IntArray:
    """Return the positions of labels in sorted classes, or raise an error."""
    check_same_family(labels, classes, name, "the classes")
    places = codes_among(labels, classes)
    strange = places < 0
    if strange.any():
        raise ValueError(
            f"{name}: {labels[strange][0]} is not among the {classes.size} known "
            f"classes ({', '.join(map(str, classes[:5].tolist()))}"
            f"{', ...' if classes.size > 5 else ''})."
        )
    return places


def encode_rows(
    rows: Sequence[Array], y: Array, mask: BoolArray | None = None
) -> tuple[Array, Array, Array]:
    """Encode votes and truth as positions in the sorted union of their labels.

    Members vote for labels that ``y`` has, but for a few. So only ``y`` is sorted, and
    all rows are looked up again if some labels were not known.

    Parameters
    ----------
    rows : sequence of array
        The labels that each member votes for.
    y : array
    mask : array of bool, optional
        Mask of usable votes; the others get the code -1.

    Returns
    -------
    classes, codes, y_codes
    """
    check_same_family(rows[0], y, "predictions", "y")
    common = _common_type([*rows, y])
    truth = _cast(y, common)
    known = np.unique(truth)
    while True:
        codes = np.empty((len(rows), y.size), dtype=code_dtype(known.size))
        fresh, find = [], _label_lookup(known, rows)
        for member, row in enumerate(rows):
            codes[member] = find(_cast(row, common))
            strange = codes[member] < 0
            if mask is not None:
                codes[member][~mask[member]] = -1
                strange &= mask[member]
            if strange.any():
                fresh.append(np.unique(_cast(row[strange], common)))
        if not fresh:
            break
        known = np.unique(np.concatenate([known, *fresh]))
    return (
        _cast_if_exact(known, y),
        codes,
        codes_among(truth, known).astype(codes.dtype),
    )


def _label_lookup(known: Array, rows: Sequence[Array]) -> Callable[[Array], Array]:
    """Return a function from labels to codes, by table if the range is small."""
    if known.dtype.kind in "iu":
        low = min(int(labels.min()) for labels in (known, *rows))
        high = max(int(labels.max()) for labels in (known, *rows))
        if high - low < _TABLE_SPAN:
            wide: Any = np.uint64 if high >= 2**63 else np.int64
            if known.size == high - low + 1:  # every whole number is a class
                return lambda row: row.astype(wide) - wide(low) if low else row
            table = np.full(high - low + 1, -1, dtype=code_dtype(known.size))
            table[known.astype(wide) - wide(low)] = np.arange(known.size)
            return lambda row: table.take(
                (row.astype(wide, copy=False) - wide(low)).astype(np.int64, copy=False)
            )
    return lambda row: codes_among(row, known)


def encode_truth(y: Array, classes: Array, codes: Array) -> tuple[Array, Array, Array]:
    """Encode ``y`` with an ensemble's classes, adding new labels."""
    check_same_family(classes, y, "the ensemble's classes", "y")
    places = codes_among(y, classes)
    if (places < 0).any():
        classes, codes, _ = add_classes(classes, codes, codes[:0], [y])
        places = codes_among(y, classes)
    return classes, codes, places.astype(codes.dtype)


def add_classes(
    classes: Array, codes: Array, y: Array, labels: Iterable[Array]
) -> tuple[Array, Array, Array]:
    """Add labels without votes to the classes, and recode."""
    every = union([classes, *labels], classes)
    return every, recode(codes, classes, every), recode(y, classes, every)


def recode(codes: Array, classes: Array, every: Array) -> Array:
    """Recode for a larger set of classes; -1 remains missing."""
    if classes.size == every.size:
        return codes
    places = np.append(codes_among(classes, every), -1)
    return places.astype(code_dtype(every.size))[codes]
