"""Turn the labels that members vote for into small integer codes, without sorting all.

Only ``y`` is sorted. Votes are compared with the labels known so far, member by member;
the few that are unknown are added to what is known. Labels are compared in a type that
holds each of them exactly, and come back in that of ``y`` where it does. Nothing is
copied that need not be: rows with unusable votes are filled one at a time.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from quorate._typing import Array, BoolArray, IntArray
from quorate._votes._labels import (
    as_array,
    as_labels,
    check_same_family,
    common_type,
    in_type,
    in_type_of,
    is_listed,
    refuse_masked,
)

# A span of integer labels up to this wide is shifted and counted as bytes.
_BYTE_SPAN = 256
# Up to this many labels absent from y are looked for one by one.
_FEW_GAPS = 8


class Rows:
    """One row of labels per member; a usable vote of it stands for unusable ones."""

    def __init__(
        self, given: Array | Sequence[Array], mask: BoolArray | None = None
    ) -> None:
        self._given = given
        self._mask = mask

    @property
    def shape(self) -> tuple[int, ...]:
        """Number of members and samples, if it is a table."""
        if isinstance(self._given, np.ndarray):
            return self._given.shape
        odd = [row for row in self._given if row.ndim != 1]
        return len(self._given), *(odd or self._given or [np.empty(())])[0].shape

    @property
    def dtypes(self) -> set[np.dtype[Any]]:
        """The types of the rows."""
        if isinstance(self._given, np.ndarray):
            return {self._given.dtype}
        return {row.dtype for row in self._given}

    def __iter__(self) -> Iterator[Array]:
        if self._mask is None:
            yield from self._given
            return
        for row, usable in zip(self._given, self._mask, strict=True):
            if row.dtype.kind == "O":  # a label may be a sequence
                yield row[np.where(usable, np.arange(row.size), int(usable.argmax()))]
            else:
                yield np.where(usable, row, row[int(usable.argmax())])


def as_rows(predictions: Any, mask: BoolArray | None, y: Array) -> Rows:
    """Return votes as rows of labels, one per member."""
    listed = is_listed(predictions)
    if listed:
        given: Any = [as_array(row) for row in predictions]
        lengths = {row.size for row in given if row.ndim == 1}
        if len(lengths) > 1:
            raise ValueError(
                f"Votes: members voted on different numbers of samples, "
                f"{min(lengths)} and {max(lengths)}."
            )
    elif mask is None:
        given = as_labels(predictions, "predictions")
    else:
        given = as_array(predictions)
    rows = Rows(given, mask)
    _check_shapes(rows.shape, y)
    if mask is not None:
        check_mask(mask, rows.shape)
    if not listed and (mask is None or given.dtype.kind in "biuUS"):
        return rows
    labels = [as_labels(row, f"predictions[{t}]") for t, row in enumerate(rows)]
    for row in labels[1:]:
        check_same_family(labels[0], row, "predictions", "predictions")
    return Rows(labels) if listed or given.dtype.kind != "f" else rows


def _check_shapes(shape: tuple[int, ...], y: Array) -> None:
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


def encode(rows: Rows, y: Array) -> tuple[Array, Array, Array]:
    """Encode votes and truth as positions in the sorted union of their labels.

    Returns
    -------
    classes, codes, y_codes
    """
    check_same_family(next(iter(rows)), y, "predictions", "y")
    if all(dtype.kind in "biu" for dtype in (*rows.dtypes, y.dtype)):
        low, high = int(y.min()), int(y.max())
        for row in rows:
            low, high = min(low, int(row.min())), max(high, int(row.max()))
        if high - low < _BYTE_SPAN:
            return _encode_bytes(rows, y, low, high)
    return encode_rows(rows, y)


def encode_rows(given: Rows | Sequence[Array], y: Array) -> tuple[Array, Array, Array]:
    """Encode member by member against the labels known so far; any sortable type."""
    rows = given if isinstance(given, Rows) else Rows(given)
    same = rows.dtypes == {y.dtype}
    common = y.dtype if same else common_type([*rows, y])
    known, y_codes = _unique(in_type(y, common))
    # codes are given in the order of discovery and put in label order at the end
    found = np.arange(known.size)
    codes = np.empty(rows.shape, dtype=np.int32)
    for member, votes in enumerate(rows):
        row = in_type(votes, common)
        place = _search(known, row)
        place[place == known.size] = 0
        strange = known[place] != row
        if strange.any():
            fresh, _ = _unique(row[strange])
            numbers = np.arange(found.size, found.size + fresh.size)
            merged = np.concatenate([known, fresh])
            order = np.argsort(merged, kind="stable")
            known, found = merged[order], np.concatenate([found, numbers])[order]
            _check_order(known)
            place = np.searchsorted(known, row)
        codes[member] = found[place]
    rank = np.empty(found.size, dtype=np.int32)
    rank[found] = np.arange(found.size)
    small = rank.astype(code_dtype(found.size))
    return in_type_of(known, y), small[codes], small[y_codes]


def encode_truth(y: Array, classes: Array, codes: Array) -> tuple[Array, Array, Array]:
    """Encode ``y`` against an ensemble's classes; labels new to it are added."""
    check_same_family(classes, y, "the ensemble's classes", "y")
    classes, codes, _ = widened(classes, codes, codes[:0], [y])
    return classes, codes, positions(y, classes, "y").astype(codes.dtype)


def union(arrays: Iterable[Array], model: Array) -> Array:
    """Return all labels once and sorted, in the type of ``model`` if it holds them."""
    every = list(arrays)
    common = common_type(every)
    unique, _ = _unique(np.concatenate([in_type(array, common) for array in every]))
    return in_type_of(unique, model)


def widened(
    classes: Array, codes: Array, y: Array, labels: Iterable[Array]
) -> tuple[Array, Array, Array]:
    """Return classes and codes with room for labels that nobody voted for."""
    every = union([classes, *labels], classes)
    if every.size == classes.size:
        return classes, codes, y
    return every, recoded(codes, classes, every), recoded(y, classes, every)


def recoded(codes: Array, classes: Array, every: Array) -> Array:
    """Return codes of classes as codes of more of them; -1 stays missing."""
    if classes.size == every.size:
        return codes
    places = np.append(positions(classes, every, "the classes"), -1)
    return places.astype(code_dtype(every.size))[codes]


def positions(labels: Array, classes: Array, name: str) -> IntArray:
    """Return where labels stand among sorted classes, or refuse one that does not."""
    check_same_family(labels, classes, name, "the classes")
    common = common_type([labels, classes])
    known, wanted = in_type(classes, common), in_type(labels, common)
    places = _search(known, wanted)
    places[places == known.size] = 0
    strange = known[places] != wanted
    if strange.any():
        raise ValueError(
            f"{name}: {wanted[strange][0]} is none of the {classes.size} classes known "
            f"({', '.join(map(str, classes[:5].tolist()))}"
            f"{', ...' if classes.size > 5 else ''})."
        )
    return places


def refuse_shares(classes: Array, is_label: BoolArray, owner: str) -> None:
    """Refuse votes for more numbers between 0 and 1 than there are whole labels.

    Parameters
    ----------
    classes : array
        All labels and votes, each once.
    is_label : array of bool
        Which of them are true labels.
    owner : str
        Whose votes they are, for the message.
    """
    if classes.dtype.kind != "f":
        return
    shares, labels = (classes > 0) & (classes < 1), classes[is_label]
    many = np.count_nonzero(shares) > max(2, labels.size)
    if many and (labels == np.floor(labels)).all():
        raise ValueError(
            f"{owner}: a vote is a label, and {classes[shares][0]:.6g} is none of "
            "y; probabilities go to Votes(None, y, probabilities=..., classes=...)."
        )


def code_dtype(n_classes: int) -> type[np.signedinteger[Any]]:
    """Return the smallest signed type for codes 0..n_classes-1 and -1."""
    if n_classes <= 2**7:
        return np.int8
    return np.int16 if n_classes <= 2**15 else np.int32


def _encode_bytes(
    rows: Rows, y: Array, low: int, high: int
) -> tuple[Array, Array, Array]:
    wide: Any = np.uint64 if high >= 2**63 else np.int64
    shifted = np.empty(rows.shape, dtype=np.uint8)
    for member, row in enumerate(rows):
        shifted[member] = row.astype(wide) - wide(low) if low else row
    y_shifted = (y.astype(wide) - wide(low)).astype(np.uint8)

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
    classes = in_type_of(values.astype(wide) + wide(low), y)
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
    _check_order(unique)
    return unique, inverse


def _search(known: Array, wanted: Array) -> IntArray:
    try:
        return np.searchsorted(known, wanted)
    except TypeError as error:
        raise ValueError(f"labels cannot be sorted: {error}.") from error


def _check_order(known: Array) -> None:
    """Refuse labels that are ordered in part only, such as sets."""
    if known.dtype.kind == "O" and not (known[:-1] < known[1:]).all():
        place = int(np.argmin(known[:-1] < known[1:]))
        raise ValueError(
            f"labels cannot be sorted: of {known[place]!r} and {known[place + 1]!r} "
            "neither is less."
        )
