"""``quorate study run`` and ``resume``: compute what is missing, then show it."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from quorate.cli import _options
from quorate.cli._checks import check_folder, require_packages
from quorate.cli._interrupts import heeding_interrupts, interrupted_code
from quorate.cli._numbers import WORKERS
from quorate.cli._printable import say

if TYPE_CHECKING:
    from quorate.study import Plan

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
            click.option("--jobs", type=WORKERS, metavar="N", help="Fits at a time."),
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


@click.command()
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
    suffix = "-quick.sqlite" if quick else ".sqlite"
    path = store or Path(f"{Path(plan).stem}{suffix}")
    check_folder(path)
    _check_workers(options["dask"], options["backend"])
    from quorate.study import make_preset, read_plan

    if plan.endswith(".toml"):
        made = read_plan(plan)
    else:
        made = make_preset(plan, data_dir=options["data_dir"])
    if quick:
        made = made.quick()
    if dry_run:
        _forecast(made, path, **options)
    else:
        _go(made, path, **options)


@click.command()
@click.argument("store", type=click.Path(path_type=Path))
@_running
def resume(store: Path, **options: Any) -> None:
    """Do what is missing in STORE."""
    if not store.exists():
        raise FileNotFoundError(f"{store}: no such file.")
    _check_workers(options["dask"], options["backend"])
    from quorate.study import Store

    with Store(store, read_only=True) as opened:
        plan = opened.plan
    if plan is None:
        raise ValueError(f"{store}: holds no plan to resume.")
    _go(plan, store, **options)


def _forecast(
    plan: "Plan", path: Path, *, dask: str | None, backend: str | None, **options: Any
) -> None:
    from quorate.study import forecast_plan

    with _workers(dask, backend):
        say(forecast_plan(plan, path, **_as_asked(options)))


def _go(
    plan: "Plan", path: Path, *, dask: str | None, backend: str | None, **options: Any
) -> None:
    from quorate.cli._render import results_console
    from quorate.cli._study_view import progress_bar, show_results
    from quorate.study import Results, run_plan

    try:
        with (
            _workers(dask, backend),
            progress_bar(plan.name) as show,
        ):
            progress = heeding_interrupts(show)
            outcome = run_plan(plan, path, progress=progress, **_as_asked(options))
    except KeyboardInterrupt:
        say(_where_to_go_on(path, options["data_dir"]), err=True)
        raise SystemExit(interrupted_code()) from None
    show_results(results_console(), Results.read(path))
    say(
        f"\n{outcome.n_run} of {outcome.n_cells} cells computed now, "
        f"{outcome.n_failed} failed; results in {path}"
    )
    if outcome.n_failed == outcome.n_cells:
        raise click.ClickException(
            f"{path}: every cell failed, so nothing can be compared; mend the plan, "
            "or try again with --retry."
        )


def _where_to_go_on(path: Path, folder: Path | None) -> str:
    if not path.exists():
        return "stopped; nothing was computed yet."
    data = "" if folder is None else f" --data {folder}"
    return (
        f"stopped; what was computed is in {path}, "
        f"go on with: quorate study resume {path}{data}"
    )


def _check_workers(dask: str | None, backend: str | None) -> None:
    if backend == "dask" and dask is None:
        raise click.UsageError("--backend dask needs to know where: --dask tcp://...")
    if backend is not None and dask is not None and backend != "dask":
        raise click.UsageError("--dask and --backend exclude each other.")
    require_packages(*_options.packages_for(dask))


@contextmanager
def _workers(dask: str | None, backend: str | None) -> Iterator[None]:
    """Make joblib use a backend, or a Dask cluster, inside a ``with`` block."""
    from joblib import parallel_config

    from quorate._summarising import connect

    with ExitStack() as stack:
        if dask is not None:
            stack.enter_context(connect(dask))
            backend = "dask"
        if backend is not None:
            try:
                stack.enter_context(parallel_config(backend=backend))
            except (ValueError, ImportError) as error:
                raise ValueError(
                    f"backend {backend!r}: joblib cannot use it here; loky, "
                    "multiprocessing, threading are always there."
                ) from error
        yield


def _as_asked(options: dict[str, Any]) -> dict[str, Any]:
    """Return the options under the names the library has for them."""
    return {
        "data_dir": options["data_dir"],
        "allow_download": options["download"],
        "n_jobs": options["jobs"],
        "retry": options["retry"],
    }
