"""The target: which column of a table holds the classes, and what they may be."""

from typing import Any

import numpy as np

from quorate._messages import unknown_name
from quorate._typing import Array
from quorate._votes import as_labels


def split_target(frame: Any, target: str | None, owner: str) -> tuple[Any, Array]:
    """Take the column of labels out of a table."""
    names = list(frame.columns)
    if len(names) < 2:
        raise ValueError(
            f"{owner}: needs a target and at least one more column, separated by "
            f"commas; got {names}."
        )
    if target is None:
        target = "target" if "target" in names else names[-1]
    elif target not in names:
        raise ValueError(f"{owner}: {unknown_name('column', target, names)}")
    if names.count(target) > 1:
        raise ValueError(f"{owner}: column {target!r} appears twice.")
    return frame.drop(columns=target), frame[target].astype(object).to_numpy()


def checked_labels(y: Any, owner: str) -> Array:
    """Return labels as an array: two classes or more, none missing, nothing measured.

    Raises
    ------
    ValueError
        If they are anything else.
    """
    values = y if isinstance(y, np.ndarray) else np.asarray(y, dtype=object)
    if values.ndim != 1:
        raise ValueError(f"{owner}: labels must be 1-d; got shape {values.shape}.")
    if not values.size:
        raise ValueError(f"{owner}: the table has no rows.")
    n_missing = _count_missing(values)
    if n_missing:
        rows = "row has" if n_missing == 1 else "rows have"
        raise ValueError(
            f"{owner}: {n_missing} {rows} no label; leave them out or label them."
        )
    labels = as_labels(values, owner)
    if labels.dtype.kind not in "biufU":
        raise ValueError(
            f"{owner}: labels are {labels.dtype}; text, numbers and booleans fit."
        )
    whole = labels.dtype.kind != "f" or (
        np.isfinite(labels).all() and (labels == np.floor(labels)).all()
    )
    if not whole:
        raise ValueError(f"{owner}: the target is a continuous number, not a class.")
    if (labels == labels[0]).all():
        raise ValueError(
            f"{owner}: only one class, {labels[0].item()!r}; a study needs two or more."
        )
    return labels


def _count_missing(labels: Array) -> int:
    if labels.dtype.kind in "biuU":
        return 0
    import pandas as pd

    return int(pd.isna(labels).sum())
