"""Judge what a Votes is made of; every refusal names the culprit and what would fit."""

from collections.abc import Iterable
from typing import Any, TypeVar

import numpy as np

from quorate._typing import Array, BoolArray, FloatArray, IntArray
from quorate._warn import warn
from quorate.exceptions import LeftOutWarning
from quorate.votes import _labels

AnyArray = TypeVar("AnyArray", bound=np.ndarray[Any, Any])


def read_only(array: AnyArray) -> AnyArray:
    """Return a view that cannot be written to."""
    view: AnyArray = array.view()
    view.flags.writeable = False
    return view


def check_shapes(rows: Array, y: Array) -> None:
    """Raise unless votes and truth have the shapes they should."""
    if rows.ndim != 2 or y.ndim != 1:
        raise ValueError(
            f"Votes: predictions must be 2-d, (n_members, n_samples), and y 1-d; "
            f"got shapes {rows.shape} and {y.shape}."
        )
    if rows.size == 0:
        raise ValueError(f"Votes: no votes in predictions of shape {rows.shape}.")
    if rows.shape[1] != y.size:
        raise ValueError(
            f"Votes: predictions of shape {rows.shape} and y of shape {y.shape} "
            f"differ in the number of samples, {rows.shape[1]} and {y.size}."
        )


def as_mask(valid: Any) -> BoolArray:
    """Return the mask of usable votes as a boolean array."""
    mask = np.asarray(valid)
    if mask.dtype != bool:
        raise ValueError(f"Votes(valid): a mask is boolean, got {mask.dtype}.")
    return mask


def check_mask(mask: BoolArray, shape: tuple[int, ...]) -> None:
    """Raise unless a mask fits the votes and leaves every member some."""
    if mask.shape != shape:
        raise ValueError(
            f"Votes(valid): the mask has shape {mask.shape}, the predictions {shape}."
        )
    idle = np.flatnonzero(~mask.any(axis=1))
    if idle.size:
        raise ValueError(f"Votes(valid): member {idle[0]} has no valid sample.")


def hide_invalid(predictions: Any, y: Array, mask: BoolArray) -> Array:
    """Put the true label where no vote may be used: it cannot be new or missing."""
    if isinstance(predictions, (list, tuple)):
        given = np.array([list(row) for row in predictions], dtype=object)
    else:
        given = np.asarray(predictions)
    if given.shape != mask.shape:
        raise ValueError(
            f"Votes(valid): the mask has shape {mask.shape}, "
            f"the predictions {given.shape}."
        )
    if y.ndim != 1 or mask.ndim != 2 or mask.shape[1] != y.size:
        check_shapes(given, y)
    check_mask(mask, given.shape)
    if given.dtype.kind == "O":
        return np.where(mask, given, y.astype(object))
    _labels.check_same_family(given, y, "predictions", "y")
    return np.where(mask, given, y)


def leave_out_unvoted(codes: Array, y: Array) -> tuple[Array, Array, IntArray]:
    """Drop the samples nobody has a vote on, with a warning."""
    voted = (codes >= 0).any(axis=0)
    samples = np.flatnonzero(voted)
    if samples.size == y.size:
        return codes, y, samples
    warn(
        f"{y.size - samples.size} of {y.size} samples have no valid vote and are left "
        "out; the samples attribute lists those that stay.",
        LeftOutWarning,
    )
    return codes[:, voted], y[voted], samples


def as_weights(weights: Any, n_members: int) -> FloatArray:
    """Return the voting weights as floats, or say what is wrong with them."""
    array = np.array(weights, dtype=float)
    if array.shape != (n_members,):
        raise ValueError(
            f"Votes(weights): one weight per member, shape ({n_members},); "
            f"got shape {array.shape}."
        )
    bad = ~np.isfinite(array) | (array < 0)
    if bad.any():
        t = int(np.argmax(bad))
        raise ValueError(
            f"Votes(weights): weights are finite and not negative; "
            f"member {t} has {array[t]}."
        )
    if not array.any():
        raise ValueError("Votes(weights): all weights are zero, so nobody votes.")
    return read_only(array)


def weights_left(weights: FloatArray) -> FloatArray | None:
    """Return the weights of some members; None, equal votes, if none has any left."""
    return weights if weights.any() else None


def as_names(names: Iterable[str] | None, n_members: int) -> tuple[str, ...]:
    """Return one name per member; positions by default."""
    if names is None:
        return tuple(map(str, range(n_members)))
    if isinstance(names, str):
        raise ValueError(f"Votes(names): a list of names, got the text {names!r}.")
    listed = tuple(map(str, names))
    if len(listed) != n_members:
        raise ValueError(
            f"Votes(names): one name per member, {n_members}; got {len(listed)}."
        )
    return listed


def member_positions(members: Any, n_members: int) -> IntArray:
    """Return the positions that a mask or positions name, in the order given."""
    given = np.asarray(members)
    if given.dtype == bool:
        if given.shape != (n_members,):
            raise ValueError(
                f"keep: a mask needs shape ({n_members},), one entry per member; "
                f"got {given.shape}."
            )
        given = np.flatnonzero(given)
    if given.ndim != 1 or given.size == 0:
        raise ValueError("keep: name at least one member, by mask or position.")
    if given.dtype.kind not in "iu":
        raise ValueError(f"keep: positions are whole numbers, got {given.dtype}.")
    if given.min() < 0 or given.max() >= n_members:
        raise ValueError(
            f"keep: positions go from 0 to {n_members - 1}, got {members!r}."
        )
    if np.unique(given).size < given.size:
        raise ValueError("keep: a member is named twice.")
    return given.astype(np.intp)
