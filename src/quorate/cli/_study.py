"""``quorate study``: run, resume and report comparisons of methods."""

import json
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from quorate.study import Plan, Results

_INTERRUPTED = 130

_EXAMPLE = """\
# A study: every method on every fold of every ensemble of every data set.
[study]
# known by name, in a folder given with --data, or files: "my.csv"
data = ["breast_cancer", "waveform", "twonorm"]
folds = 5
repeats = 1
prune_on = "oob"  # "train" as in the paper, "oob" or "holdout"
binary = false    # turn many classes into two
seed = 0
# rows = 2000     # at most this many of each data set

# Data sets that need options have tables of their own.
# [[data]]
# path = "customers.csv.gz"  # or .parquet, .arff, or a folder of pictures
# name = "customers"         # what tables call it
# target = "churned"         # the column with the classes
# [[data]]
# name = "openml:credit-g"   # needs --download
# version = 1
# [[data]]
# path = "dogs-vs-cats"      # one folder of pictures per class
# image_size = 32
# pca = 50                   # principal components, or a share of the variance

[[ensemble]]
kind = "bagging"  # or adaboost, random_forest, extra_trees
# tree, naive_bayes, knn, knn_distance, linear, linear_svm, svm or mlp
learner = "tree"
members = 50

[[method]]
method = "epbd"   # see: quorate methods
keep = 0.2        # share of the members, or how many

[[method]]
method = "ftad"
label = "FTAD, kappa"
parameters = { measure = "kappa" }

[[method]]
method = "mdm"
keep = 0.2

[[method]]
method = "random"
keep = 0.2
"""


@click.group()
def study() -> None:
    """Compare pruning methods on data sets."""


@study.command(name="list")
def list_presets() -> None:
    """List the studies that come with the package."""
    from quorate.cli._render import plain_table, results_console
    from quorate.study import PRESETS

    table = plain_table("study", "what it compares")
    table.columns[1].justify = "left"
    for name, (summary, _) in PRESETS.items():
        table.add_row(name, summary)
    results_console().print(table)


@study.command()
@click.argument("path", type=click.Path(path_type=Path), default="study.toml")
def new(path: Path) -> None:
    """Write a commented example plan to PATH (study.toml)."""
    if path.exists():
        raise click.UsageError(f"{path} exists.")
    path.write_text(_EXAMPLE)
    click.echo(f"written to {path}; run it with: quorate study run {path}")


Progress = Callable[[int, int], None]
F = TypeVar("F", bound=Callable[..., Any])


def _running(command: F) -> F:
    """Add the options that running and resuming share."""
    for option in reversed(
        (
            click.option(
                "--data",
                "data_dir",
                type=click.Path(path_type=Path),
                metavar="DIR",
                help="Folder of data sets.",
            ),
            click.option("--jobs", type=int, metavar="N", help="Fits at a time."),
            click.option(
                "--dask",
                metavar="tcp://HOST:PORT",
                help="Run on the Dask cluster of this scheduler.",
            ),
            click.option(
                "--backend",
                metavar="NAME",
                help="Run on this joblib backend, such as loky or threading.",
            ),
            click.option("--retry", is_flag=True, help="Try failed cells again."),
            click.option(
                "--download", is_flag=True, help="Let data sets come from OpenML."
            ),
        )
    ):
        command = option(command)
    return command


@study.command()
@click.argument("plan")
@click.option(
    "--quick", is_flag=True, help="Fewer rows, members, data sets and repeats."
)
@click.option(
    "--store",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Where results go; PLAN.sqlite by default.",
)
@click.option(
    "--dry-run", is_flag=True, help="Say what would be done and how long it takes."
)
@_running
def run(
    plan: str, quick: bool, store: Path | None, dry_run: bool, **options: Any
) -> None:
    """Run PLAN: the name of a preset, or a TOML file.

    Results go to one file; what is in it already is not computed again. Ctrl-C stops
    the run and keeps what was computed.
    """
    from quorate.study import make_preset, read_plan
    from quorate.study._plan import quicker

    if plan.endswith(".toml"):
        made = quicker(read_plan(plan)) if quick else read_plan(plan)
    else:
        made = make_preset(plan, data_dir=options["data_dir"], quick=quick)
    suffix = "-quick.sqlite" if quick else ".sqlite"
    path = store or Path(f"{Path(plan).stem}{suffix}")
    if dry_run:
        _forecast(made, path, **options)
    else:
        _go(made, path, **options)


@study.command()
@click.argument("store", type=click.Path(path_type=Path))
@_running
def resume(store: Path, **options: Any) -> None:
    """Do what is missing in STORE."""
    from quorate.study._plan import plan_from_dict
    from quorate.study._store import Store

    if not store.exists():
        raise FileNotFoundError(f"{store}: no such file.")
    with Store(store) as opened:
        known = opened.plan
    if known is None:
        raise ValueError(f"{store}: holds no plan to resume.")
    _go(plan_from_dict(known), store, **options)


@study.command()
@click.argument("store", type=click.Path(path_type=Path))
@click.option(
    "--format",
    "form",
    default="terminal",
    show_default=True,
    type=click.Choice(["terminal", "markdown", "latex", "csv", "parquet", "json"]),
    help="csv and parquet have a row per cell.",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write to FILE instead of printing.",
)
@click.option(
    "--reference",
    metavar="METHOD",
    help="The method the others are compared with; the last by default.",
)
@click.option(
    "-v",
    "--verbose",
    is_flag=True,
    help="Also tell how data was prepared, and whole tracebacks.",
)
@click.option(
    "--figures",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Draw the figures into DIR instead.",
)
@click.option(
    "--figure-format",
    "kinds",
    multiple=True,
    default=("png",),
    show_default=True,
    type=click.Choice(["png", "svg", "pdf"]),
    help="Repeat for several.",
)
@click.option(
    "--html",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write one page with all tables and figures to FILE instead.",
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
    """Print the results in STORE, write them to a file, or draw their figures."""
    from quorate.study import Results

    results = Results.read(store)
    if html is not None:
        _write_page(results, store, html, reference)
    elif figures is not None:
        from quorate.display import study_figures

        drawn = study_figures(results, figures, kinds)
        click.echo(f"{len(drawn)} figures written to {figures}", err=True)
    elif form == "parquet":
        if output is None:
            raise click.UsageError("parquet is not for printing; name a file with -o.")
        results.to_parquet(output)
    elif output is None and form == "terminal":
        _show(results, reference, verbose)
    else:
        _hand_over(_as_text(results, form, reference, verbose), output)
    if output is not None:
        click.echo(f"written to {output}", err=True)


def _write_page(
    results: "Results", store: Path, html: Path, reference: str | None
) -> None:
    from quorate._report import study_report
    from quorate.study import Store

    with Store(store) as opened:
        plan = opened.plan
    study_report(results, output=html, plan=plan, store=str(store), reference=reference)
    click.echo(f"written to {html}", err=True)


def _as_text(
    results: "Results", form: str, reference: str | None, verbose: bool
) -> str:
    if form == "csv":
        from quorate.study._export import csv_text

        return csv_text(results.rows)
    if form == "json":
        return json.dumps(results.to_dict(reference), indent=2) + "\n"
    if form == "terminal":
        from quorate.cli._render import results_console

        console = results_console()
        with console.capture() as captured:
            _show(results, reference, verbose, console)
        return click.unstyle(captured.get())
    table = results.table(reference)
    return table.to_markdown() if form == "markdown" else table.to_latex()


def _hand_over(text: str, output: Path | None) -> None:
    if output is None:
        click.echo(text, nl=False)
        return
    from quorate._atomic import atomic_write

    with atomic_write(output) as file:
        file.write(text.encode())


def _forecast(
    plan: "Plan", path: Path, *, dask: str | None, backend: str | None, **options: Any
) -> None:
    from quorate.study import forecast_plan
    from quorate.study._backend import workers_on

    with _workers(workers_on, dask, backend):
        click.echo(forecast_plan(plan, path, **_as_asked(options)))


def _go(
    plan: "Plan", path: Path, *, dask: str | None, backend: str | None, **options: Any
) -> None:
    from quorate.cli._study_view import progress_bar
    from quorate.study import Results, run_plan
    from quorate.study._backend import workers_on

    try:
        with (
            _workers(workers_on, dask, backend),
            progress_bar(plan.name) as show,
            _heeding_interrupts(show) as progress,
        ):
            outcome = run_plan(plan, path, progress=progress, **_as_asked(options))
    except KeyboardInterrupt:
        folder = options["data_dir"]
        data = "" if folder is None else f" --data {folder}"
        click.echo(
            f"stopped; what was computed is in {path}, "
            f"go on with: quorate study resume {path}{data}",
            err=True,
        )
        raise SystemExit(_INTERRUPTED) from None
    _show(Results.read(path), None, False)
    click.echo(
        f"\n{outcome.n_run} of {outcome.n_cells} cells computed now, "
        f"{outcome.n_failed} failed; results in {path}"
    )


@contextmanager
def _heeding_interrupts(show: Progress | None) -> Iterator[Progress]:
    """Stop at the next result if an interrupt was lost on its way.

    Python drops exceptions that arise while it cleans up, and libraries may: the
    interrupt of somebody who waits must not be among them.
    """
    lost = False

    def note(number: int, frame: Any) -> None:
        nonlocal lost
        lost = True
        signal.default_int_handler(number, frame)

    def progress(done: int, total: int) -> None:
        if lost:
            raise KeyboardInterrupt
        if show is not None:
            show(done, total)

    if threading.current_thread() is not threading.main_thread():
        yield progress
        return
    before = signal.signal(signal.SIGINT, note)
    try:
        yield progress
    finally:
        signal.signal(signal.SIGINT, before)


def _workers(enter: Any, dask: str | None, backend: str | None) -> Any:
    if backend == "dask" and dask is None:
        raise click.UsageError("--backend dask needs to know where: --dask tcp://...")
    if backend is not None and dask is not None and backend != "dask":
        raise click.UsageError("--dask and --backend exclude each other.")
    return enter(backend, dask)


def _as_asked(options: dict[str, Any]) -> dict[str, Any]:
    """Return the options under the names the library has for them."""
    return {
        "data_dir": options["data_dir"],
        "allow_download": options["download"],
        "n_jobs": options["jobs"],
        "retry": options["retry"],
    }


def _show(
    results: "Results", reference: str | None, verbose: bool, console: Any = None
) -> None:
    from quorate.cli._render import results_console
    from quorate.cli._study_view import show_results

    show_results(console or results_console(), results, reference, verbose)
