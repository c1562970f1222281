"""``quorate certify``: how much worse a smaller model can be."""

import json
from pathlib import Path
from typing import Any, Literal

import click

from quorate.cli import _options
from quorate.cli._checks import check_files
from quorate.cli._inputs import read_two
from quorate.cli._numbers import SHARE
from quorate.cli._printable import say
from quorate.cli._streams import is_stream, run_pass


@click.command()
@click.argument("big", type=click.Path(path_type=Path))
@click.argument("small", type=click.Path(path_type=Path))
@click.argument("data", type=click.Path(path_type=Path))
@_options.target
@click.option(
    "--tolerance",
    default=0.02,
    type=SHARE,
    show_default=True,
    metavar="SHARE",
    help="By how much the error may exceed that of BIG.",
)
@click.option(
    "--delta",
    default=0.05,
    type=SHARE,
    show_default=True,
    metavar="SHARE",
    help="Probability of a wrong certificate, at most.",
)
@_options.class_weight_of_errors
@_options.rows
@_options.jobs
@_options.dask
@_options.trust
@_options.unsafe_pickle
@_options.as_json
def certify(
    big: Path,
    small: Path,
    data: Path,
    target: str,
    tolerance: float,
    delta: float,
    class_weight: str | None,
    rows: Literal["new", "training"] | None,
    jobs: int | None,
    dask: str | None,
    trust: tuple[str, ...],
    unsafe_pickle: bool,
    as_json: bool,
) -> None:
    """Prove that SMALL errs hardly more than BIG, on samples in DATA.

    DATA are samples that no member was trained or chosen on, drawn as those to come.
    The exit code is 1 if there is no certificate.
    """
    models = big, small
    check_files(
        models,
        [data],
        target,
        unsafe_pickle=unsafe_pickle,
        packages=_options.packages_for(dask),
    )
    from quorate._judging import certify as prove
    from quorate.cli._render import progress_console, results_console

    whole, part, X, y = read_two(models, data, target, trust, unsafe_pickle)
    asked: tuple[Any, ...] = (whole, part, X, y)
    if is_stream(data):
        summary = run_pass(
            whole,
            data,
            target,
            against=part,
            jobs=jobs,
            dask=dask,
            source=rows or "auto",
        )
        asked = (summary,)
    with progress_console().status("asking"):
        found = prove(
            *asked,
            tolerance=tolerance,
            delta=delta,
            class_weight=class_weight,
            source=rows or "auto",
        )
    if as_json:
        say(json.dumps(found.to_dict(), indent=2))
    else:
        results_console().print(str(found), markup=False)
    if not found.holds:
        click.get_current_context().exit(1)
