"""Votes from tables: one column per member, and one of true labels."""

import os
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from quorate._data import (
    MISSING,
    check_table,
    column_names,
    is_csv,
    parse_labels,
    read_label_codes,
    read_table,
)
from quorate._messages import unknown_name
from quorate._typing import Array
from quorate._votes._labels import as_labels, code_dtype, refuse_probabilities
from quorate._votes._votes import Votes, votes_from_codes
from quorate.exceptions import FileFormatError

# Names that pandas gives to unnamed columns, such as a saved index.
_UNNAMED = re.compile(r"Unnamed: \d+|__index_level_\d+__")


def from_table(
    table: Any,
    label: str,
    members: Sequence[str] | None,
    weights: Any,
) -> Votes:
    """Read one column per member and one label column; see :meth:`Votes.from_table`."""
    owner = "Votes.from_table"
    path: Path | None = None
    if isinstance(table, (str, os.PathLike)):
        path, owner = Path(table), str(table)
        check_table(path)
        if is_csv(path):
            columns = column_names(path)
        else:
            table = read_table(path, wanted=[label, *(members or ())])
            columns = list(table.columns)
    elif hasattr(table, "columns") and hasattr(table, "__getitem__"):
        columns = list(table.columns)
    else:
        raise TypeError(
            "Votes.from_table: expected a path or a data frame, got "
            f"{type(table).__name__}."
        )
    names = _choose(columns, label, members, owner)
    try:
        if path is not None and is_csv(path):
            votes = _from_csv(path, label, names, weights)
        else:
            y, *rows = [_column(table, name) for name in (label, *names)]
            votes = Votes(rows, y, weights=weights, names=map(str, names))
    except FileFormatError:
        raise
    except ValueError as error:
        raise ValueError(f"{owner}: {error}") from error
    _refuse_probabilities(votes, owner)
    return votes


def _choose(
    columns: Sequence[Any], label: Any, members: Sequence[Any] | None, owner: str
) -> list[Any]:
    """Return the vote columns, or raise an error about the requested ones."""
    _refuse_twice(columns, owner)
    if isinstance(members, str):
        raise ValueError(
            f"{owner}: members must be a list of columns, got {members!r}."
        )
    names = [name for name in columns if name != label]
    if members is not None:
        names = [*members]
        _refuse_twice(names, owner)
    known = set(columns)
    for name in (label, *names):
        if name not in known:
            raise ValueError(
                f"{owner}: {unknown_name('column', name, map(str, columns))}"
            )
    if not names:
        raise ValueError(f"{owner}: no member columns other than {label!r}.")
    if label in names:
        raise ValueError(
            f"{owner}: column {label!r} contains the labels and cannot be a member."
        )
    index = [name for name in names if _UNNAMED.fullmatch(str(name))]
    if index and members is None:
        raise ValueError(
            f"{owner}: column {index[0]!r} looks like an index saved with the table; "
            "remove it, or name the members."
        )
    return names


def _refuse_twice(names: Sequence[Any], owner: str) -> None:
    twice = [name for name, times in Counter(map(str, names)).items() if times > 1]
    if twice:
        raise ValueError(f"{owner}: column {twice[0]!r} appears twice.")


def _column(frame: Any, name: Any) -> Array:
    try:
        return as_labels(frame[name].to_numpy(), f"column {str(name)!r}")
    except ValueError as error:
        raise ValueError(str(error).replace("sample", "row")) from error


def _from_csv(path: Path, label: str, members: list[str], weights: Any) -> Votes:
    columns = [label, *members]
    table, texts = read_label_codes(path, columns)
    for code, text in enumerate(texts):
        if text in MISSING:
            row, place = np.argwhere(table == code)[0]
            why = (
                f"; {text!r} cannot be a label in a file, pass a data frame instead"
                if text
                else ""
            )
            raise ValueError(
                f"column {columns[place]!r}: missing label at row {row}{why}."
            )
    classes, rank = np.unique(
        as_labels(parse_labels(texts), "labels"), return_inverse=True
    )
    small = rank.astype(code_dtype(classes.size))
    codes = np.empty((len(members), len(table)), dtype=small.dtype)
    for member, row in enumerate(codes):
        row[:] = small[table[:, member + 1]]
    return votes_from_codes(codes, small[table[:, 0]], classes, weights, members)


def _refuse_probabilities(votes: Votes, owner: str) -> None:
    """Raise an error for numbers that are not labels, such as probabilities."""
    is_label = np.isin(np.arange(votes.n_classes), votes.y)
    classes, labels = votes.classes, votes.classes[is_label]
    if classes.dtype.kind == "U":
        if parse_labels(labels.tolist()).dtype.kind != "U":
            return
        # The labels are not numeric; their values do not matter.
        classes = parse_labels(classes[~is_label].tolist() or [""])
        labels = np.zeros(labels.size)
    refuse_probabilities(classes, labels, owner)
