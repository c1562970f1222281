"""Votes from tables: one column per member, and one of true labels."""

import os
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from quorate._data import (
    check_table,
    column_names,
    encode_columns,
    is_csv,
    parse_labels,
    read_table,
)
from quorate._messages import unknown_name
from quorate._votes._labels import as_labels, code_dtype, refuse_probabilities
from quorate._votes._votes import Votes, votes_from_codes

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
    is_text = False
    if isinstance(table, (str, os.PathLike)):
        path, owner = Path(table), str(table)
        check_table(path)
        is_text = is_csv(path)
        wanted = [label, *(members or ())]
        texts = column_names(path) if is_text and members is None else wanted
        table = read_table(path, texts, wanted)
    elif not (hasattr(table, "columns") and hasattr(table, "__getitem__")):
        raise TypeError(
            "Votes.from_table: expected a path or a data frame, got "
            f"{type(table).__name__}."
        )
    names = _choose(list(table.columns), label, members, owner)
    columns = {name: table[name].to_numpy() for name in (label, *names)}
    try:
        if is_text:
            classes, codes = encode_columns(columns)
            codes = codes.astype(code_dtype(classes.size))
            votes = votes_from_codes(codes[1:], codes[0], classes, weights, names)
        else:
            y, *rows = [
                as_labels(values, f"column {str(name)!r}")
                for name, values in columns.items()
            ]
            votes = Votes(rows, y, weights=weights, names=map(str, names))
    except ValueError as error:
        why = str(error).replace(" at sample ", " at row ")
        raise ValueError(f"{owner}: {why}") from error
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


def _refuse_probabilities(votes: Votes, owner: str) -> None:
    """Raise an error for numbers that are not labels, such as probabilities."""
    is_label = np.isin(np.arange(votes.n_classes), votes.y)
    classes, labels = votes.classes, votes.classes[is_label]
    if classes.dtype.kind == "U":  # where the votes may be numbers still
        classes = parse_labels(classes[~is_label].tolist() or [""])
        labels = np.zeros(labels.size)
    refuse_probabilities(classes, labels, owner)
