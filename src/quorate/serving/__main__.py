"""Predict rows of a CSV file: ``python -m quorate.serving model.quorate < rows.csv``.

Prints one prediction per line, in order. If the model has feature names, columns are
selected by a header line; an empty field is a missing value. With ``--probabilities``,
prints a line with the classes, then the probability of each class per row.
"""

import csv
import sys
from collections.abc import Iterator
from itertools import chain, islice
from typing import TextIO

import numpy as np

from quorate.serving import CompactModel, load

_USAGE = "usage: python -m quorate.serving MODEL.quorate [--probabilities] < ROWS.csv"
_BATCH = 4096


def answer(
    model: CompactModel, lines: TextIO, *, probabilities: bool = False
) -> Iterator[list[str]]:
    """Yield the fields of each line of output."""
    reader = csv.reader(lines)
    if probabilities:
        yield [str(label) for label in model.classes_]
    first = next(reader, [])
    names = getattr(model, "feature_names_in_", None)
    columns: list[int] | None = None
    if names is not None and set(first) >= set(names):
        columns = [first.index(name) for name in names]
    # A first line of other names is a header too.
    is_header = columns or (not model.takes_text and any(map(_is_text, first)))
    rows = chain([] if is_header else [(1, first)], enumerate(reader, start=2))
    while batch := list(islice(rows, _BATCH)):
        table = [_values(model, line, row, columns) for line, row in batch if row]
        if not table:
            continue
        X = np.array(table, dtype=object if model.takes_text else float)
        if probabilities:
            for shares in model.predict_proba(X):
                yield [repr(float(share)) for share in shares]
        else:
            for label in model.predict(X):
                yield [str(label)]


def _values(
    model: CompactModel, line: int, fields: list[str], columns: list[int] | None
) -> list[float | str]:
    """Return the fields of these columns as numbers, or as text if that is accepted."""
    if columns is not None:
        fields = [fields[column] for column in columns if column < len(fields)]
    if len(fields) != model.n_features_in_:
        raise ValueError(
            f"a row has {len(fields)} values, but {model.n_features_in_} are needed"
        )
    for field in fields:
        if _is_text(field) and not model.takes_text:
            raise ValueError(f"line {line}: could not convert {field!r} to a number")
    return [_value(field) for field in fields]


def _is_text(field: str) -> bool:
    return isinstance(_value(field), str)


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
