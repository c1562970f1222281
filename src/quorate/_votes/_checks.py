"""Validate the arguments of Votes."""

from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np

from quorate._messages import listed, warn
from quorate._typing import Array, BoolArray, FloatArray, IntArray
from quorate._votes._labels import (
    SEQUENCES,
    as_array,
    as_labels,
    check_same_family,
    refuse_masked,
)
from quorate.exceptions import LeftOutWarning

# Keeps sums of weights finite.
_LARGEST_WEIGHT = 1e300

AnyArray = TypeVar("AnyArray", bound=np.ndarray[Any, Any])


def read_only(array: AnyArray) -> AnyArray:
    """Return a read-only view."""
    view: AnyArray = array.view()
    view.flags.writeable = False
    return view


def frozen(value: Any) -> Any:
    """Return arrays as read-only views, anything else unchanged."""
    return read_only(value) if isinstance(value, np.ndarray) else value


def as_rows(predictions: Any, mask: BoolArray | None, y: Array) -> list[Array]:
    """Return votes as rows of labels, one per member.

    Unusable votes may have any value, unless their type would change the usable labels;
    then they are replaced by a usable vote of the same member.
    """
    if isinstance(predictions, dict):
        raise TypeError(
            "Votes: predictions is a dict; pass list(predictions.values()) and its "
            "keys as names."
        )
    if mask is None and not isinstance(predictions, SEQUENCES):
        labels = as_labels(predictions, "predictions")
        _check_shapes(labels.shape, y)
        return list(labels)
    given: Any = as_array(predictions, "predictions")
    if isinstance(predictions, SEQUENCES):
        pairs = enumerate(predictions)
        given = [as_array(row, f"predictions[{place}]") for place, row in pairs]
        lengths = {row.size for row in given if row.ndim == 1}
        if len(lengths) > 1:
            raise ValueError(
                f"Votes: members voted on different numbers of samples, "
                f"{min(lengths)} and {max(lengths)}."
            )
    odd = [row for row in given if row.ndim != 1]
    shape = len(given), *(odd or [*given] or [np.empty(())])[0].shape
    _check_shapes(shape, y)
    if mask is not None:
        check_mask(mask, shape)
    rows = []
    for member, row in enumerate(given):
        if mask is not None and row.dtype.kind not in "biuU":
            usable = mask[member]
            row = row[np.where(usable, np.arange(row.size), usable.argmax())]
        rows.append(as_labels(row, f"predictions[{member}]"))
        check_same_family(rows[0], rows[-1], "predictions", "predictions")
    return rows


def _check_shapes(shape: tuple[int, ...], y: Array) -> None:
    if len(shape) != 2 or y.ndim != 1:
        raise ValueError(
            f"Votes: predictions must be 2-d, (n_members, n_samples), and y 1-d; "
            f"got shapes {shape} and {y.shape}."
        )
    if 0 in shape:
        raise ValueError(f"Votes: predictions of shape {shape} contain no votes.")
    if shape[1] != y.size:
        raise ValueError(
            f"Votes: predictions of shape {shape} and y of shape {y.shape} "
            f"differ in the number of samples, {shape[1]} and {y.size}."
        )


def as_mask(valid: Any) -> BoolArray:
    """Return the mask of usable votes as a boolean array."""
    refuse_masked(valid, "Votes(valid)")
    mask = np.asarray(valid)
    if mask.dtype != bool:
        raise ValueError(f"Votes(valid): must be boolean, got {mask.dtype}.")
    return mask


def check_mask(mask: BoolArray, shape: Sequence[int]) -> None:
    """Raise unless a mask fits the votes and leaves each member at least one vote."""
    if mask.shape != tuple(shape):
        raise ValueError(
            f"Votes(valid): the mask has shape {mask.shape}, but the predictions have "
            f"{tuple(shape)}."
        )
    idle = np.flatnonzero(~mask.any(axis=1))
    if idle.size:
        raise ValueError(f"Votes(valid): member {idle[0]} has no valid sample.")


def leave_out_unvoted(codes: Array, y: Array) -> tuple[Array, Array, IntArray]:
    """Drop samples without votes, with a warning."""
    voted = codes.max(axis=0) >= 0
    samples = np.flatnonzero(voted)
    if samples.size == y.size:
        return codes, y, samples
    warn_left_out(samples.size, y.size)
    return codes[:, voted], y[voted], samples


def warn_left_out(n_left: int, n_given: int) -> None:
    """Warn about samples without votes."""
    warn(
        f"{n_given - n_left} of {n_given} samples have no valid vote and are left out; "
        "the samples attribute lists the remaining ones.",
        LeftOutWarning,
    )


def as_weights(weights: Any, n_members: int) -> FloatArray:
    """Return the voting weights as floats, or raise an error."""
    refuse_masked(weights, "Votes(weights)")
    try:
        given = np.asarray(weights)
    except ValueError:  # ragged
        given = np.asarray(None)
    if given.dtype.kind not in "biuf":
        found = type(weights).__name__ if given.ndim == 0 else str(given.dtype)
        raise ValueError(f"Votes(weights): must be one number per member, got {found}.")
    array = given.astype(float)
    if array.shape != (n_members,):
        raise ValueError(
            f"Votes(weights): must be one weight per member, shape ({n_members},); got "
            f"shape {array.shape}."
        )
    bad = ~((array >= 0) & (array <= _LARGEST_WEIGHT))
    if bad.any():
        t = int(np.argmax(bad))
        raise ValueError(
            "Votes(weights): weights must not be negative, and at most "
            f"{_LARGEST_WEIGHT:g}; member {t} has {array[t]}."
        )
    if not array.any():
        raise ValueError(
            "Votes(weights): all weights are zero; at least one must be positive."
        )
    return read_only(array)


def weights_left(weights: FloatArray) -> FloatArray | None:
    """Return the weights of some members, or None (equal votes) if all are zero."""
    return weights if weights.any() else None


def member_positions(members: Any, n_members: int, owner: str = "keep") -> IntArray:
    """Convert a mask or positions to member positions, in the order given."""
    given = _as_positions(members, n_members, owner, "member")
    if np.unique(given).size < given.size:
        raise ValueError(f"{owner}: a member is named twice.")
    return given


def sample_positions(samples: Any, n_samples: int, owner: str = "at") -> IntArray:
    """Convert a mask or positions to sample positions."""
    return _as_positions(samples, n_samples, owner, "sample")


def _as_positions(places: Any, number: int, owner: str, what: str) -> IntArray:
    given = np.asarray(places)
    if given.dtype == bool:
        if given.shape != (number,):
            raise ValueError(
                f"{owner}: a mask must have shape ({number},), one entry per {what}; "
                f"got {given.shape}."
            )
        given = np.flatnonzero(given)
    if given.ndim != 1 or given.size == 0:
        raise ValueError(
            f"{owner}: expected the positions of at least one {what}, such as [0, 2] "
            "or range(5), or a mask."
        )
    if given.dtype.kind not in "iu":
        raise ValueError(
            f"{owner}: positions must be whole numbers, got {listed(given.tolist())}."
        )
    if given.min() < 0 or given.max() >= number:
        found = places if given.size < 10 else f"{given.min()} to {given.max()}"
        raise ValueError(
            f"{owner}: positions must be from 0 to {number - 1}, got {found!r}."
        )
    return given.astype(np.intp)
