"""``quorate compare``: two models side by side."""

import json
from pathlib import Path
from typing import Literal

import click

from quorate.cli import _options
from quorate.cli._checks import check_files
from quorate.cli._inputs import read_two
from quorate.cli._printable import say
from quorate.cli._streams import is_stream, run_pass


@click.command(short_help="Set two models side by side, on the same samples.")
@click.argument("before", type=click.Path(path_type=Path))
@click.argument("after", type=click.Path(path_type=Path))
@click.argument("data", type=click.Path(path_type=Path))
@_options.target
@_options.scoring
@_options.rows
@_options.jobs
@_options.dask
@_options.trust
@_options.unsafe_pickle
@_options.as_json
def compare(
    before: Path,
    after: Path,
    data: Path,
    target: str,
    scoring: str | None,
    rows: Literal["new", "training"] | None,
    jobs: int | None,
    dask: str | None,
    trust: tuple[str, ...],
    unsafe_pickle: bool,
    as_json: bool,
) -> None:
    """Set two models side by side: BEFORE and AFTER, on samples in DATA.

    DATA should be samples that neither was trained or chosen on. A folder or pattern of
    files is read in one pass.
    """
    models = before, after
    check_files(
        models,
        [data],
        target,
        unsafe_pickle=unsafe_pickle,
        packages=_options.packages_for(dask),
    )
    from quorate._judging import compare as set_beside
    from quorate._scoring import check_scoring
    from quorate.cli._render import (
        comparison_table,
        progress_console,
        results_console,
    )
    from quorate.ensembles import read_ensemble

    check_scoring(scoring, "compare")
    first, second, X, y = read_two(models, data, target, trust, unsafe_pickle)
    if is_stream(data):
        classes = read_ensemble(first).classes
        check_scoring(scoring, "compare", classes=classes, counted=True)
        X = run_pass(
            first,
            data,
            target,
            against=second,
            jobs=jobs,
            dask=dask,
            source=rows or "auto",
        )
    with progress_console().status("comparing"):
        compared = set_beside(
            first, second, X, y, scoring=scoring, source=rows or "auto"
        )
    if as_json:
        say(json.dumps(compared.to_dict(), indent=2))
        return
    out = results_console()
    out.print(comparison_table(compared))
    out.print(compared.note)
