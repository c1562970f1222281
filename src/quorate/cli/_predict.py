"""``quorate predict``: answers for the rows of a CSV file."""

import csv
import sys
from functools import partial
from pathlib import Path
from typing import Any

import click

from quorate.cli import _options
from quorate.cli._inputs import read_models


@click.command(short_help="Predict the rows of a CSV file.")
@_options.model
@click.argument("rows", type=_options.FILE)
@_options.flag("--probabilities", "Print class probabilities.")
@_options.flag("--no-header", "The first line is a row, too.")
@_options.loading
def predict(
    model: Path,
    rows: Path,
    probabilities: bool,
    no_header: bool,
    loading: dict[str, Any],
) -> None:
    """Print what MODEL predicts for each row of the CSV file ROWS, in order.

    A model with feature names needs a header with all of them, in any order and beside
    other columns. An empty field is a missing value. Columns with categories are read
    as those are: zip codes stay text. "python -m quorate.serving" does the same for
    compact models where there is only NumPy.
    """
    from quorate._serving import answer
    from quorate._trees import as_table, row_form

    (fitted,), _ = read_models([model], [], None, **loading)
    form = row_form(fitted)
    how: dict[str, Any] = {"probabilities": probabilities, "header": not no_header}
    if not hasattr(fitted, "_form"):
        how["as_table"] = partial(as_table, form)
    with rows.open(encoding="utf-8-sig", newline="") as lines:
        writer = csv.writer(sys.stdout, lineterminator="\n")
        try:
            writer.writerows(answer(fitted, form, lines, **how))
        except ValueError as error:
            raise ValueError(f"{rows}: {error}") from error
