"""``quorate prune``: a smaller model from a file and samples."""

import json
from pathlib import Path
from typing import Any

import click

from quorate.cli import _options
from quorate.cli._inputs import refuse_to_write_over
from quorate.cli._printable import say


@click.command()
@click.argument("model", type=click.Path(path_type=Path))
@click.option(
    "--data",
    required=True,
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Samples to choose on: CSV, Parquet or ARFF, gzipped or not.",
)
@_options.target
@click.option(
    "--method",
    default="auto",
    show_default=True,
    metavar="NAME",
    help="One of 'quorate methods', or 'auto' for what suits the model.",
)
@_options.keep
@click.option(
    "--tolerance",
    type=float,
    metavar="SHARE",
    help="Instead of --keep: the error may grow by this.",
)
@click.option(
    "--budget",
    multiple=True,
    metavar="KIND=LIMIT",
    help="Instead of --keep: a limit on bytes, nodes or milliseconds.",
)
@click.option(
    "--out-of-bag/--all-votes",
    "out_of_bag",
    default=None,
    help="Choose on out-of-bag votes, or on all; found out by default.",
)
@click.option(
    "--test",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Samples to compare on, that no member has seen; those of --data by default.",
)
@click.option(
    "-o",
    "--output",
    required=True,
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Where to write the smaller model (.skops).",
)
@_options.force
@_options.trust
@_options.unsafe_pickle
@_options.as_json
def prune(
    model: Path,
    data: Path,
    target: str,
    method: str,
    keep: str,
    tolerance: float | None,
    budget: tuple[str, ...],
    out_of_bag: bool | None,
    test: Path | None,
    output: Path,
    force: bool,
    trust: tuple[str, ...],
    unsafe_pickle: bool,
    as_json: bool,
) -> None:
    """Write a smaller MODEL of the same type that keeps the members that decide."""
    from quorate._tables import read_samples_for
    from quorate.cli._render import progress_console, results_console
    from quorate.comparison import compare
    from quorate.persistence import load, save
    from quorate.pruned import prune_with_selection, pruning_record

    refuse_to_write_over(output, force)
    wanted, limits = as_size(keep), _limits(budget)
    console = progress_console()
    with console.status("reading"):
        # A list or dict of classifiers comes out as a model that can predict.
        ensemble = load(model, trust, unsafe_pickle=unsafe_pickle)
        X, y = read_samples_for(ensemble, data, target)
    with console.status("asking the members and choosing"):
        smaller, selection = prune_with_selection(
            ensemble,
            X,
            y,
            method,
            wanted,
            out_of_bag="auto" if out_of_bag is None else out_of_bag,
            tolerance=tolerance,
            budget=limits,
        )
    with console.status("comparing"):
        judged = (X, y) if test is None else read_samples_for(ensemble, test, target)
        compared = compare(ensemble, smaller, *judged)
    save(smaller, output)
    seen = "samples chosen on" if test is None else "test samples"
    record = pruning_record(selection)
    if as_json:
        found = {
            "output": str(output),
            "compared_on": seen,
            "comparison": compared.to_dict(),
            "pruning": record,
        }
        say(json.dumps(found, indent=2))
        return
    _show(results_console(), compared, selection, record, test is None, output)


def _show(
    console: Any,
    compared: Any,
    selection: Any,
    record: Any,
    where_chosen: bool,
    output: Path,
) -> None:
    from quorate.cli._render import plain_table

    table = plain_table("", "before", "after", "")
    for column in table.columns[1:]:
        column.justify = "right"
    for row in compared.rows():
        table.add_row(*row)
    console.print(
        f"{selection.n_kept} of {selection.votes.n_members} members kept by "
        f"{record['method']}{' (auto)' if record['auto'] else ''}, chosen on "
        f"{record['chosen_on']}",
        markup=False,
    )
    console.print(table)
    console.print(compared.note)
    if where_chosen and compared.accuracy is not None:
        console.print(
            "the members were chosen on the same samples, which flatters what is left; "
            "--test FILE compares on others"
        )
    console.print(f"written to {output}", markup=False, soft_wrap=True)


def as_size(keep: str) -> float | int | str | None:
    """Return what ``--keep`` says, as Python has it."""
    if keep in ("auto", "default"):
        return keep
    if keep == "own":
        return None
    try:
        return int(keep) if keep.lstrip("+-").isdigit() else float(keep)
    except ValueError:
        raise click.UsageError(
            f"--keep {keep}: a fraction in (0, 1], a number of members, "
            "'auto' or 'own'."
        ) from None


def _limits(budget: tuple[str, ...]) -> dict[str, float] | None:
    limits = {}
    for given in budget:
        kind, _, limit = given.partition("=")
        try:
            limits[kind] = float(limit)
        except ValueError:
            raise click.UsageError(
                f"--budget {given}: KIND=LIMIT, KIND one of bytes, nodes, milliseconds."
            ) from None
    return limits or None
