"""``quorate study``: create, run, resume and report comparisons of methods."""

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from quorate._atomic import atomic_write
from quorate._messages import plural
from quorate._progress import advance, stage
from quorate.cli import _options
from quorate.cli._console import on_one_line, plain_table, results_console, say
from quorate.cli._errors import interrupted_code, was_interrupted
from quorate.cli._inputs import check_folder
from quorate.cli._study_view import show_check, show_missing, show_results

if TYPE_CHECKING:
    from quorate.study import Plan, Results


@click.group()
def study() -> None:
    """Compare pruning methods on data sets."""


@study.command(name="list")
def list_presets() -> None:
    """List the studies that come with the package."""
    from quorate.study import PRESETS

    table = plain_table("study", "what it compares", numbers=0)
    for name, summary in PRESETS.items():
        table.add_row(name, summary)
    results_console().print(table)


@study.command()
@click.argument("path", type=_options.FILE, default="study.toml")
def new(path: Path) -> None:
    """Write an example plan with comments to PATH (study.toml)."""
    if path.exists():
        raise click.UsageError(f"{path} exists.")
    with atomic_write(path) as file:
        file.write((files("quorate.cli") / "_study_example.toml").read_bytes())
    say(f"written to {path}; run it with: quorate study run {path}")


def _running(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that running and resuming share."""
    for option in (
        _options.flag("--retry", "Try failed cells again."),
        _options.option(
            "--dask", "tcp://HOST:PORT", "Address of a Dask scheduler to run on."
        ),
        _options.option("--jobs", _options.WORKERS, "Number of fits in parallel."),
        _options.option("--data", _options.FILE, "Folder of data sets.", metavar="DIR"),
    ):
        command = option(command)
    return command


@study.command()
@click.argument("plan")
@_options.flag("--quick", "Use fewer rows, members, data sets and repeats.")
@_options.option(
    "--store", _options.FILE, "File for the results; PLAN.sqlite by default."
)
@_running
def run(plan: str, quick: bool, store: Path | None, **options: Any) -> None:
    """Run PLAN: the name of a preset, or a TOML file.

    Results are stored in one file; results that are already in it are not computed
    again. Ctrl-C stops the run and keeps the results so far.
    """
    path = store or Path(f"{Path(plan).stem}{'-quick' * quick}.sqlite")
    check_folder(path)
    from quorate.study import make_preset, read_plan

    if plan.endswith(".toml"):
        made = read_plan(plan)
    else:
        made = make_preset(plan, data_dir=options["data"])
    if quick:
        made = made.quick()
    _run(made, path, **options)


@study.command()
@click.argument("store", type=_options.FILE)
@_running
def resume(store: Path, **options: Any) -> None:
    """Compute the missing results of STORE."""
    from quorate.study import Store

    with Store(store, read_only=True) as opened:
        plan = opened.plan
    _run(plan, store, **options)


def _run(
    plan: "Plan",
    path: Path,
    *,
    data: Path | None,
    jobs: int | None,
    dask: str | None,
    retry: bool,
) -> None:
    from quorate.study import Results, run_plan

    how: dict[str, Any] = {"data_dir": data, "n_jobs": jobs, "retry": retry}
    show_missing(results_console(), plan)
    with _workers(dask):
        try:
            with stage(f"computing cells of {on_one_line(plan.name)}", verbose=1):
                summary = run_plan(plan, path, progress=_advance, **how)
        except KeyboardInterrupt:
            state = "stopped; no results yet."
            if path.exists():
                folder = "" if data is None else f" --data {data}"
                state = (
                    f"stopped; the results so far are in {path}, "
                    f"continue with: quorate study resume {path}{folder}"
                )
            say(state, err=True)
            raise SystemExit(interrupted_code()) from None
    show_results(results_console(), Results.read(path))
    say(
        f"\n{summary.n_run} of {summary.n_cells} cells computed now, "
        f"{summary.n_failed} failed; results in {path}"
    )
    if summary.n_failed == summary.n_cells:
        raise click.ClickException(
            f"{path}: every cell failed, so there is nothing to compare; correct the "
            "plan, or try again with --retry."
        )


def _advance(done: int, total: int) -> None:
    """Show how far a study is; stop after an interrupt that a library dropped."""
    if was_interrupted():
        raise KeyboardInterrupt
    advance(done, total)


@contextmanager
def _workers(dask: str | None) -> Iterator[None]:
    """Make joblib use a Dask cluster inside a ``with`` block, if there is one."""
    from joblib import parallel_config

    from quorate._workers import connect

    with ExitStack() as stack:
        if dask is not None:
            stack.enter_context(connect(dask))
            stack.enter_context(parallel_config(backend="dask"))
        yield


@study.command()
@click.argument("name")
@click.argument("store", type=_options.FILE, required=False)
@_running
def check(name: str, store: Path | None, **options: Any) -> None:
    """Compare cells with the table of the preset NAME that comes with quorate.

    Without STORE the preset is run anew, at its own limits, and its results are kept in
    NAME-check.sqlite; with STORE its results are read. Each cell of the table is the
    same, within tolerance, differs, is incomplete because folds failed or did not run
    yet, or is not computed, such as those of data sets that are not in the folder of
    --data. Cells that are not the same are printed. The exit code is 1 if a cell
    differs or is incomplete, or if there is nothing to compare.
    """
    from quorate.study import Results, make_preset

    path = store or Path(f"{name}-check.sqlite")
    if store is None:
        if path.exists():
            raise click.UsageError(
                f"{path} exists; compare it with: quorate study check {name} {path}"
            )
        _run(make_preset(name, data_dir=options["data"]), path, **options)
    results = Results.read(path)
    if results.name != name:
        raise ValueError(f"{path}: contains the study {results.name}, not {name}.")
    if not show_check(results_console(), results):
        raise SystemExit(1)


@study.command()
@click.argument("store", type=_options.FILE)
@click.argument("others", type=_options.FILE, nargs=-1, required=True)
def merge(store: Path, others: tuple[Path, ...]) -> None:
    """Add the results of OTHERS to STORE.

    Plans may differ in data sets and ensembles only, such as those of several
    machines; data sets of one name must be the same. Cells that STORE has already are
    not replaced, unless they failed.
    """
    from quorate.study import Store

    if not store.exists():
        raise FileNotFoundError(f"{store}: no such file.")
    with Store(store) as opened:
        for other in others:
            say(f"{plural(opened.take(other), 'cell')} added from {other} to {store}")


@study.command()
@click.argument("store", type=_options.FILE)
@_options.option(
    "--format form",
    click.Choice(["terminal", "markdown", "latex", "csv", "json"]),
    "csv has a row per cell.",
    default="terminal",
)
@_options.option("-o --output", _options.FILE, "Write to FILE instead of printing.")
@_options.option(
    "--reference",
    "METHOD",
    "Method that the others are compared with; the last by default.",
)
@_options.flag("-v --verbose", "Also show full tracebacks.")
@_options.option(
    "--figures", _options.FILE, "Save the figures to DIR instead.", metavar="DIR"
)
@_options.option(
    "--figure-format kinds",
    click.Choice(["png", "svg", "pdf"]),
    "Repeat for several.",
    multiple=True,
    default=("png",),
)
@_options.option(
    "--html",
    _options.FILE,
    "Write an HTML report with all tables and figures to FILE instead.",
)
def report(
    store: Path,
    form: str,
    output: Path | None,
    reference: str | None,
    verbose: bool,
    figures: Path | None,
    kinds: tuple[str, ...],
    html: Path | None,
) -> None:
    """Print the results in STORE, write them to a file, or save their figures."""
    for written in filter(None, (output, html)):
        check_folder(written)
    from quorate.study import Results

    results = Results.read(store)
    if html is not None:
        from quorate._report import study_report

        named = {"store": str(store), "reference": reference}
        study_report(results, output=html, **named)
        output = html
    elif figures is not None:
        from quorate.display import study_figures

        drawn = study_figures(results, figures, kinds)
        say(f"{plural(len(drawn), 'figure')} written to {figures}", err=True)
        return
    else:
        text = _as_text(results, form, reference, verbose)
        if output is None:
            say(text, nl=False)
            return
        with atomic_write(output) as file:
            file.write(click.unstyle(text).encode())
    say(f"written to {output}", err=True)


def _as_text(
    results: "Results", form: str, reference: str | None, verbose: bool
) -> str:
    if form == "terminal":
        console = results_console()
        with console.capture() as captured:
            show_missing(console, results.plan)
            show_results(console, results, reference, verbose)
        return captured.get()
    if form == "csv":
        return results.to_csv()
    if form == "json":
        return json.dumps(results.to_dict(reference), indent=2) + "\n"
    if len(results.methods) == 1 and results.rows:
        tables = [results.correlation_table()]
    else:
        tables = [part.table(reference) for part in results.searches.values()]
    return "\n".join(
        table.to_markdown() if form == "markdown" else table.to_latex()
        for table in tables
    )
