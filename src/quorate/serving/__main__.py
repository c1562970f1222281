"""Predict rows of a CSV file: ``python -m quorate.serving model.quorate < rows.csv``.

Prints one prediction per line, in order: a label, or the number of a regressor (fields
of its numbers, if there are several). A model with feature names needs a header line
that has all of them, in any order and beside other columns; with ``--no-header`` the
fields are the features in order. An empty field is a missing value. With
``--probabilities``, prints a line with the classes, then the probability of each class
per row.
"""

import csv
import io
import sys
from typing import Any

from quorate._serving import answer, load

_USAGE = (
    "usage: python -m quorate.serving MODEL.quorate [--probabilities] [--no-header] "
    "< ROWS.csv"
)


def main(words: list[str]) -> int:
    """Run the command; return its exit code."""
    options = {word for word in words if word.startswith("-")}
    paths = [word for word in words if word not in options]
    if options - {"--probabilities", "--no-header"} or len(paths) != 1:
        print(_USAGE, file=sys.stderr)
        return 2
    writer = csv.writer(sys.stdout, lineterminator="\n")
    lines = io.TextIOWrapper(sys.stdin.buffer, encoding="utf-8-sig", newline="")
    how: dict[str, Any] = {
        "probabilities": "--probabilities" in options,
        "header": "--no-header" not in options,
    }
    try:
        model = load(paths[0])
        for fields in answer(model, model._form, lines, **how):
            writer.writerow(fields)
    except (OSError, ValueError) as error:
        print(f"Error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
