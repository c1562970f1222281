"""``quorate compare`` and ``quorate certify``: two models on the same samples."""

import json
from pathlib import Path
from typing import Any

import click

from quorate.cli import _options
from quorate.cli._console import (
    comparison_table,
    progress_console,
    results_console,
    say,
)
from quorate.cli._inputs import read_models, read_table, run_pass


@click.command(short_help="Set two models side by side, on the same samples.")
@click.argument("before", type=_options.FILE)
@click.argument("after", type=_options.FILE)
@_options.data
@_options.target
@_options.scoring
@_options.rows
@_options.jobs
@_options.dask
@_options.loading
@_options.as_json
def compare(
    before: Path,
    after: Path,
    data: Path,
    target: str,
    n_jobs: int | None,
    dask: str | None,
    as_json: bool,
    trusted: tuple[str, ...],
    unsafe_pickle: bool,
    **how: Any,
) -> None:
    """Set two models side by side: BEFORE and AFTER, on samples in DATA.

    DATA should be samples that neither was trained or chosen on. A folder or pattern of
    files is read in one pass.
    """
    from quorate._ensembles import read_ensemble
    from quorate._judging import compare as compare_models
    from quorate._scoring import check_scoring

    check_scoring(how["scoring"], "compare")
    (first, second), form = read_models(
        [before, after], [data], target, trusted=trusted, unsafe_pickle=unsafe_pickle
    )
    X, y = read_table(form, data, target)
    if y is None:
        classes = read_ensemble(first).classes
        check_scoring(how["scoring"], "compare", classes=classes, counted=True)
        passing = {"against": second, "n_jobs": n_jobs, "source": how["source"]}
        X = run_pass(first, X, target, dask=dask, **passing)
    with progress_console().status("comparing"):
        compared = compare_models(first, second, X, y, **how)
    if as_json:
        say(json.dumps(compared.to_dict(), indent=2))
        return
    console = results_console()
    console.print(comparison_table(compared))
    console.print(compared.note)


@click.command()
@click.argument("big", type=_options.FILE)
@click.argument("small", type=_options.FILE)
@_options.data
@_options.target
@_options.option(
    "--tolerance",
    default=0.02,
    type=_options.SHARE,
    metavar="SHARE",
    help="By how much the error may exceed that of BIG.",
)
@_options.option(
    "--delta",
    default=0.05,
    type=_options.SHARE,
    metavar="SHARE",
    help="Probability of a wrong certificate, at most.",
)
@_options.class_weight(
    "Let every class count the same in the error, however rare it is."
)
@_options.rows
@_options.jobs
@_options.dask
@_options.loading
@_options.as_json
def certify(
    big: Path,
    small: Path,
    data: Path,
    target: str,
    n_jobs: int | None,
    dask: str | None,
    as_json: bool,
    trusted: tuple[str, ...],
    unsafe_pickle: bool,
    **how: Any,
) -> None:
    """Prove that SMALL errs hardly more than BIG, on samples in DATA.

    DATA are samples that no member was trained or chosen on, drawn as those to come.
    The exit code is 1 if there is no certificate.
    """
    from quorate._judging import certify as certify_models

    (whole, part), form = read_models(
        [big, small], [data], target, trusted=trusted, unsafe_pickle=unsafe_pickle
    )
    X, y = read_table(form, data, target)
    evidence: tuple[Any, ...] = (whole, part, X, y)
    if y is None:
        passing = {"against": part, "n_jobs": n_jobs, "source": how["source"]}
        evidence = (run_pass(whole, X, target, dask=dask, **passing),)
    with progress_console().status("asking"):
        certificate = certify_models(*evidence, **how)
    if as_json:
        say(json.dumps(certificate.to_dict(), indent=2))
    else:
        results_console().print(str(certificate), markup=False)
    if not certificate.holds:
        click.get_current_context().exit(1)
