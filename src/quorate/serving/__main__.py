"""Predict rows of a CSV file: ``python -m quorate.serving model.quorate < rows.csv``.

Prints one prediction per line, in order. If the model has feature names, columns are
selected by a header line; an empty field is a missing value. With ``--probabilities``,
prints a line with the classes, then the probability of each class per row.
"""

import csv
import sys
from collections.abc import Iterator
from itertools import islice
from typing import Any, TextIO

import numpy as np

from quorate.serving import CompactModel, load

_USAGE = "usage: python -m quorate.serving MODEL.quorate [--probabilities] < ROWS.csv"
_BATCH = 4096


def answer(
    model: CompactModel, lines: TextIO, *, probabilities: bool = False
) -> Iterator[list[str]]:
    """Yield the fields of each line of output."""
    reader = csv.reader(lines)
    columns: list[int] | None = None
    if probabilities:
        yield [str(label) for label in model.classes_]
    first = next(reader, None)
    if first is None:
        return
    names = getattr(model, "feature_names_in_", None)
    if names is not None and set(first) >= set(names):
        columns = [first.index(name) for name in names]
    elif not model.takes_text and _is_text(first):
        columns = list(range(len(first)))  # other names
    else:
        yield from _answers(model, [_values(model, first, 1)], probabilities)
    number = 1
    while batch := list(islice(reader, _BATCH)):
        rows = []
        for fields in batch:
            number += 1
            if fields:
                picked = fields
                if columns is not None and names is not None:
                    picked = [fields[at] for at in columns if at < len(fields)]
                rows.append(_values(model, picked, number))
        yield from _answers(model, rows, probabilities)


def _answers(
    model: CompactModel, rows: list[list[Any]], probabilities: bool
) -> Iterator[list[str]]:
    n_columns = model.n_features_in_
    for row in rows:
        if len(row) != n_columns:
            raise ValueError(f"a row has {len(row)} values, but {n_columns} are needed")
    if not rows:
        return
    X = np.array(rows, dtype=object if model.takes_text else float)
    if probabilities:
        for shares in model.predict_proba(X):
            yield [repr(float(share)) for share in shares]
    else:
        for label in model.predict(X):
            yield [str(label)]


def _is_text(fields: list[str]) -> bool:
    return any(isinstance(_value(field), str) for field in fields)


def _values(model: CompactModel, fields: list[str], line: int) -> list[Any]:
    """Return fields as numbers, or as text for models that accept it."""
    values = [_value(field) for field in fields]
    for value in values:
        if isinstance(value, str) and not model.takes_text:
            raise ValueError(f"line {line}: could not convert {value!r} to a number")
    return values


def _value(field: str) -> float | str:
    try:
        return float(field) if field.strip() else np.nan
    except ValueError:
        return field


def main(words: list[str]) -> int:
    """Run the command; return its exit code."""
    options = [word for word in words if word.startswith("-")]
    paths = [word for word in words if not word.startswith("-")]
    if options not in ([], ["--probabilities"]) or len(paths) != 1:
        print(_USAGE, file=sys.stderr)
        return 2
    writer = csv.writer(sys.stdout, lineterminator="\n")
    try:
        model = load(paths[0])
        for fields in answer(model, sys.stdin, probabilities=bool(options)):
            writer.writerow(fields)
    except (OSError, ValueError) as error:
        print(f"Error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
