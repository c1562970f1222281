"""``quorate blend``: weight models by their out-of-fold probabilities."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.console import Console

from quorate._atomic import atomic_write
from quorate._messages import listed
from quorate._progress import stage
from quorate.cli import _options
from quorate.cli._console import (
    plain_table,
    results_console,
    say_json,
)
from quorate.cli._inputs import check_output

if TYPE_CHECKING:
    from quorate._blending import Blend


@click.command(short_help="Weight models by their out-of-fold probabilities.")
@click.argument("folder", type=_options.FILE)
@_options.option(
    "--target",
    _options.FILE,
    "Table of true labels: with one column, or see --column.",
    required=True,
)
@_options.option("--column", "NAME", "Column of the labels in the table of --target.")
@_options.option(
    "--classes",
    "A,B,...",
    "Classes of the columns, if the columns are not named after the labels.",
)
@_options.option(
    "--test",
    _options.FILE,
    "Probabilities of the same models on other samples, to blend.",
    metavar="FOLDER",
)
@_options.option(
    "--method",
    "NAME",
    "'simplex': the best weighted mean; 'geometric': the best weighted geometric mean, "
    "sharpened; 'mean': equal weights; 'auto': the mean of the first two or, with "
    "--scoring, the one with the best score.",
    default="auto",
)
@_options.option("--keep", _options.COUNT, "Maximum number of models.")
@_options.option(
    "--scoring",
    "NAME",
    "Name of a scikit-learn scorer; neg_log_loss by default.",
)
@_options.option(
    "-o --output",
    _options.FILE,
    "Output file (.csv, .parquet) for the blend of --test or, without --test, for the "
    "weights and the rule.",
)
@_options.force
@_options.as_json
def blend(
    folder: Path,
    target: Path,
    column: str | None,
    classes: str | None,
    test: Path | None,
    method: str,
    keep: int | None,
    scoring: str | None,
    output: Path | None,
    force: bool,
    as_json: bool,
) -> None:
    """Weight models by the out-of-fold probabilities in FOLDER, one file per model."""
    if output is not None:
        check_output(output, force, ".csv", ".parquet")
    elif test is not None:
        raise click.UsageError("--test needs -o FILE for the blend.")
    from quorate._blending import blend as find_blend
    from quorate._blending import check_request

    how: dict[str, Any] = {"method": method, "keep": keep, "scoring": scoring}
    check_request(folder, **how)
    if test is not None:
        check_request(test)
    y = _labels(target, column)
    if classes is not None:
        # A class without samples is used as written.
        label_of = {str(label): label for label in set(y.tolist())}
        names = [name.strip() for name in classes.split(",")]
        how["classes"] = [label_of.get(name, name) for name in names]
    with stage("finding weights", verbose=1):
        found = find_blend(folder, y, **how)
    if output is not None:
        _write(found, test, output)
    if as_json:
        say_json(found.to_dict())
        return
    console = results_console()
    _show(console, found)
    _show_rule(console, found, test)
    if output is not None:
        what = "weights" if test is None else f"blend of {test}"
        console.print(f"{what} written to {output}", markup=False, soft_wrap=True)


def _labels(path: Path, column: str | None) -> Any:
    from quorate._data import check_table, column_names, read_samples

    check_table(path, column)
    names = [column] if column is not None else column_names(path)
    if len(names) != 1:
        raise click.UsageError(
            f"{path} has {len(names)} columns ({listed(names)}); use "
            "--column NAME to say which one holds the labels."
        )
    return read_samples(path, names[0])[1]


def _write(found: "Blend", test: Path | None, output: Path) -> None:
    import pandas as pd

    if test is None:
        table = pd.DataFrame(found.recipe())
    else:
        columns = [str(label) for label in found.classes]
        table = pd.DataFrame(found.predict_proba(test), columns=columns)
    with atomic_write(output) as file:
        if output.suffix == ".csv":
            file.write(table.to_csv(index=False).encode())
        else:
            table.to_parquet(file, index=False)


def _show(console: Console, found: "Blend") -> None:
    scores = plain_table("", found.scoring, "standard error")
    for row in found.rows():
        scores.add_row(*row)
    console.print(scores)
    console.print(
        f"larger {found.scoring} is better; scores are cross-validated: weights were "
        "chosen on other samples\n"
    )
    recipe = found.recipe()
    shown = [name for name in recipe if name.endswith("weight")]
    weights = plain_table("model", *shown)
    columns = (map("{:.3f}".format, recipe[name]) for name in shown)
    for row in zip(recipe["model"], *columns, strict=True):
        weights.add_row(*row)
    console.print(weights)
    each = "" if len(shown) == 1 else " in each column"
    left = len(found.names) - len(found.weights)
    if left:
        each += f"; {left:,} more {'model has' if left == 1 else 'models have'} none"
    console.print(f"weights add up to 1{each}\n")


def _show_rule(console: Console, found: "Blend", test: Path | None) -> None:
    """Print how the blend is computed from the weights, and what to do with it."""
    console.print(found.formula, markup=False, soft_wrap=True)
    if found.rule == "mean":
        return
    advice = (
        "This is not the weighted mean with these weights; --method simplex finds the "
        "weights for one"
    )
    if test is None:
        advice += (
            ". --test FOLDER -o FILE writes the blended probabilities, as "
            "Blend.predict_proba returns them"
        )
    console.print(f"{advice}.", markup=False)
