"""Votes from tables: one column per member, and one of true labels."""

import os
import re
from array import array
from collections import Counter
from collections.abc import Callable, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np

from quorate._data import csv_rows, read_parquet
from quorate._messages import unknown_name
from quorate._typing import Array
from quorate._votes._encoding import code_dtype
from quorate._votes._labels import as_labels
from quorate._votes._plausible import refuse_scores
from quorate._votes._votes import Votes
from quorate.exceptions import FileFormatError

# Decimal numbers as programs write them. A code such as 007 is text.
_NUMBER = re.compile(
    r"[+-]?(?:(?:0|[1-9][0-9]*)(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
)
_WHOLE = re.compile(r"[+-]?(?:0|[1-9][0-9]*)")
# How programs write that there is none; the label itself may be meant, so it is asked.
_MISSING = ("", "NA", "N/A", "n/a", "<NA>", "#N/A", "nan", "NaN", "NAN", "NaT", "NULL",
            "null")  # fmt: skip
# What pandas calls a column without a name, an index that was written along.
_UNNAMED = re.compile(r"Unnamed: \d+|__index_level_\d+__")
_LONGEST_LABEL = 1000
_REMEDY = "Probabilities go to Votes(None, y, probabilities=..., classes=...)."


def from_table(
    table: Any,
    label: str,
    members: Sequence[str] | None,
    weights: Any,
) -> Votes:
    """Read one column per member and one label column; see :meth:`Votes.from_table`."""
    owner = "Votes.from_table"
    if isinstance(table, (str, os.PathLike)):
        owner = str(table)
        votes = _from_file(Path(table), label, members, weights)
    elif hasattr(table, "columns") and hasattr(table, "__getitem__"):
        votes = _from_frame(table, owner, label, members, weights)
    else:
        raise TypeError(
            f"Votes.from_table: a path or a data frame, got {type(table).__name__}."
        )
    _refuse_probabilities(votes, owner)
    return votes


def _from_file(
    path: Path, label: str, members: Sequence[str] | None, weights: Any
) -> Votes:
    suffixes = [suffix.lower() for suffix in path.suffixes if suffix.lower() != ".gz"]
    kind = suffixes[-1] if suffixes else ""
    if kind in (".csv", ".txt"):
        return _from_csv(path, label, members, weights)
    if kind in (".parquet", ".pq"):
        frame = read_parquet(path, path.read_bytes())
        return _from_frame(frame, str(path), label, members, weights)
    raise ValueError(f"{path}: votes come as .csv, .csv.gz or .parquet tables.")


def _choose(
    columns: Sequence[Any], label: Any, members: Sequence[Any] | None, owner: str
) -> list[Any]:
    """Return the columns of votes, or say what is wrong with those asked for."""
    _refuse_twice(columns, owner)
    if isinstance(members, str):
        raise ValueError(f"{owner}: members is a list of columns, got {members!r}.")
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
        raise ValueError(f"{owner}: no member column beside {label!r}.")
    if label in names:
        raise ValueError(f"{owner}: column {label!r} has the labels, it is no member.")
    index = [name for name in names if _UNNAMED.fullmatch(str(name))]
    if index and members is None:
        raise ValueError(
            f"{owner}: column {index[0]!r} looks like an index that was written along; "
            "leave it out, or name the members."
        )
    return names


def _refuse_twice(names: Sequence[Any], owner: str) -> None:
    twice = [name for name, times in Counter(map(str, names)).items() if times > 1]
    if twice:
        raise ValueError(f"{owner}: column {twice[0]!r} appears twice.")


def _from_frame(
    frame: Any, owner: str, label: Any, members: Sequence[Any] | None, weights: Any
) -> Votes:
    """Read a pandas or polars frame; both get a column alike."""
    names = _choose(list(frame.columns), label, members, owner)
    try:
        y, *rows = [_column(frame, name) for name in (label, *names)]
        return Votes(rows, y, weights=weights, names=map(str, names))
    except FileFormatError as error:
        raise FileFormatError(f"{owner}: {error}") from error
    except ValueError as error:
        raise ValueError(f"{owner}: {error}") from error


def _column(frame: Any, name: Any) -> Array:
    owner = f"column {str(name)!r}"
    try:
        values = frame[name].to_numpy()
    # Text of a damaged file is decoded only now, and Arrow's errors are its own.
    except Exception as error:
        why = str(error).strip().split("\n")[0]
        raise FileFormatError(f"{owner} cannot be read ({why[:200]}).") from error
    try:
        return as_labels(values, owner)
    except ValueError as error:
        raise ValueError(str(error).replace("sample", "row")) from error


def _from_csv(
    path: Path, label: str, members: Sequence[str] | None, weights: Any
) -> Votes:
    """Read labels as numbers in a dict, so that a table takes about a byte per cell."""
    try:
        names, table, written = _cells(path, label, members, keep_spaces=True)
        readable = not any(_is_quoted_late(text) for text in written)
    except FileFormatError:
        readable = False
    if not readable:
        # Quotes after a space are quotes, if spaces before a text do not count.
        names, table, written = _cells(path, label, members, keep_spaces=False)
    texts, table = _stripped(table, written, [label, *names], path)
    where = _locator(path, table, [label, *names], texts)
    classes, rank = _read_labels(texts, where)
    small = rank.astype(code_dtype(classes.size))
    codes = np.empty((len(names), len(table)), dtype=small.dtype)
    for member, row in enumerate(codes):
        row[:] = small[table[:, member + 1]]
    try:
        return Votes.from_codes(codes, small[table[:, 0]], classes, weights, names)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error


def _cells(
    path: Path, label: str, members: Sequence[str] | None, *, keep_spaces: bool
) -> tuple[list[str], Array, list[str]]:
    """Return the members' names, a table of numbers, and the texts they stand for."""
    lines = csv_rows(path, keep_spaces)
    first = next(lines, [])
    if keep_spaces and any(map(_is_quoted_late, first)):
        raise FileFormatError(f"{path}: quotes after spaces.")
    header = [name.strip() for name in first]
    names = _choose(header, label, members, str(path)) if header else []
    place_of = {name: place for place, name in enumerate(header)}
    wanted = [place_of[name] for name in (label, *names) if header]
    number_of: dict[str, int] = {}
    number = number_of.setdefault
    cells = array("b")
    for line in lines:
        coded = [number(line[place], len(number_of)) for place in wanted]
        if len(number_of) > 2 ** (8 * cells.itemsize - 1):
            cells = array("h" if len(number_of) <= 2**15 else "i", cells)
        cells.extend(coded)
    if not cells:
        raise FileFormatError(
            f"{path}: a header row and at least one sample are needed."
        )
    table = np.frombuffer(cells, dtype=f"i{cells.itemsize}").reshape(-1, len(wanted))
    return names, table, list(number_of)


def _is_quoted_late(text: str) -> bool:
    return text[:1].isspace() and text.lstrip().startswith('"')


def _stripped(
    table: Array, written: list[str], names: list[str], path: Path
) -> tuple[list[str], Array]:
    """Take the spaces around texts away, unless that makes two labels one.

    A column whose texts all begin with a space was written so; one in which the same
    word stands with and without it has two labels.
    """
    short = [text.strip() for text in written]
    texts = list(dict.fromkeys(short))
    if len(texts) == len(written):
        return texts, table
    for place, name in enumerate(names):
        seen: dict[str, str] = {}
        for code in np.unique(table[:, place]):
            other = seen.setdefault(short[code], written[code])
            if other != written[code]:
                raise ValueError(
                    f"{path}: column {name!r} has the labels {other!r} and "
                    f"{written[code]!r}; spaces around a label do not count in a CSV "
                    "file, so pass a data frame, or write them alike."
                )
    rank = {text: place for place, text in enumerate(texts)}
    new = np.array([rank[text] for text in short], dtype=table.dtype)
    return texts, new[table]


def _locator(
    path: Path, table: Array, names: list[str], texts: list[str]
) -> Callable[[str], tuple[str, int]]:
    """Return what says in which column and row a text stands first."""

    def where(text: str) -> tuple[str, int]:
        row, place = np.argwhere(table == texts.index(text))[0]
        return f"{path}: column {names[place]!r}", int(row)

    return where


def _read_labels(
    texts: list[str], where: Callable[[str], tuple[str, int]]
) -> tuple[Array, Array]:
    """Return the labels, sorted, and the place of each text among them."""
    for text in texts:
        if text in _MISSING:
            column, row = where(text)
            why = f"; {text!r} is no label, or pass a data frame" if text else ""
            raise ValueError(f"{column}: missing label at row {row}{why}.")
        if len(text) > _LONGEST_LABEL:
            column, row = where(text)
            raise FileFormatError(
                f"{column}: no label at row {row}, but {len(text)} characters."
            )
    labels = _as_numbers(texts)
    if labels is None:
        cut = next((text for text in texts if text.endswith("\0")), texts[0])
        labels = as_labels(texts, where(cut)[0])
    return np.unique(labels, return_inverse=True)


def _as_numbers(texts: list[str]) -> Array | None:
    """Return numbers if every text is one, and different numbers stay different."""
    if all(map(_WHOLE.fullmatch, texts)):
        if max(map(len, texts)) > 20:
            return None
        whole = [int(text) for text in texts]
        for dtype in (np.int64, np.uint64):
            limits = np.iinfo(dtype)
            if min(whole) >= limits.min and max(whole) <= limits.max:
                return np.array(whole, dtype=dtype)
        return None
    if not all(map(_NUMBER.fullmatch, texts)):
        return None
    numbers: dict[float, Decimal] = {}
    for text in texts:
        value = float(text)
        if not np.isfinite(value) or (value == 0 and text.strip("+-.0eE")):
            return None  # too large, or too small, for a double
        exact = Decimal(text)
        if numbers.setdefault(value, exact) != exact:
            return None
        if abs(value) >= 2**53 and Decimal(value) != exact:
            return None
    return np.array([float(text) for text in texts])


def _refuse_probabilities(votes: Votes, owner: str) -> None:
    """Refuse numbers that are nobody's labels, such as probabilities."""
    is_label = np.zeros(votes.n_classes, dtype=bool)
    is_label[votes.y] = True
    classes = votes.classes
    if classes.dtype.kind == "U":
        strange = classes[~is_label]
        if not all(map(_NUMBER.fullmatch, strange.tolist())):
            return
        # What the labels are does not matter then, as long as they are no numbers.
        numbers = np.full(classes.size, -1.0)
        numbers[~is_label] = strange.astype(float)
        classes = numbers
    refuse_scores(classes, is_label, owner, _REMEDY)
