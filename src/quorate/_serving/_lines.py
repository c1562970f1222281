"""Lines of a CSV file in, answers out."""

import csv
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any

import numpy as np

from quorate._messages import listed
from quorate._serving._rows import RowForm

_BATCH = 4096


def answer(
    model: Any,
    form: RowForm,
    lines: Iterable[str],
    *,
    probabilities: bool = False,
    header: bool = True,
    as_table: Callable[[Any], Any] = lambda rows: rows,
) -> Iterator[list[str]]:
    """Yield the fields of each line of output.

    Parameters
    ----------
    model : object
        Has ``predict`` and perhaps ``predict_proba``.
    form : RowForm
        What the model takes.
    lines : iterable of str
        Lines of a CSV file with their ends.
    as_table : callable
        Makes of what ``form`` reads what the model takes.
    """
    reader = csv.reader(lines, strict=True)
    if probabilities:
        if not hasattr(model, "classes_"):
            raise ValueError("the model predicts numbers and has no probabilities")
        yield [str(label) for label in model.classes_]
    rows = _rows(reader, form, header=header)
    while batch := list(islice(rows, _BATCH)):
        numbers, fields = zip(*batch, strict=True)
        X = as_table(form.read_rows(fields, [f"line {number}" for number in numbers]))
        if probabilities:
            for shares in model.predict_proba(X):
                yield [repr(float(share)) for share in shares]
        else:
            for label in model.predict(X):
                yield [str(each) for each in np.atleast_1d(label)]


def _rows(
    reader: Any, form: RowForm, *, header: bool
) -> Iterator[tuple[int, list[str]]]:
    """Yield the fields of each row that the model takes, with the line they end in."""
    places, width = list(range(form.n_columns)), form.n_columns
    try:
        for fields in reader:
            if header:
                header = False
                if form.names is not None:
                    places, width = _find(form, fields), len(fields)
                    continue
                if form.is_header(fields):
                    continue
            if not fields and width == 1:
                fields = [""]  # a blank line is a missing value
            if len(fields) != width:
                count = f"{len(fields)} field{'s' * (len(fields) != 1)}"
                raise ValueError(
                    f"line {reader.line_num} has {count}, but {width} are needed"
                )
            yield reader.line_num, [fields[place] for place in places]
    except UnicodeDecodeError as error:
        raise ValueError("not a CSV file in UTF-8") from error
    except csv.Error as error:
        raise ValueError(f"line {reader.line_num}: {error}") from error


def _find(form: RowForm, first: list[str]) -> list[int]:
    """Return where the first line has each of the names."""
    names = form.names or []
    given = [field if field in names else field.strip() for field in first]
    given = form.known_names(given)
    problems = {
        "lacks": [name for name in names if name not in given],
        "repeats": [name for name in names if given.count(name) > 1],
    }
    remedy = "use --no-header if there is none"
    if len(first) == 1 and (";" in first[0] or "\t" in first[0]):
        remedy = "columns must be separated by ','"
    for problem, found in problems.items():
        if found:
            raise ValueError(
                "line 1 must be a header with the name of every feature, but "
                f"{problem} {listed(found)}; {remedy}"
            )
    return [given.index(name) for name in names]
