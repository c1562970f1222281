"""``quorate study``: run, resume and report comparisons of methods."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from quorate.study import Plan, Results

_EXAMPLE = """\
# A study: every method on every fold of every ensemble of every data set.
[study]
data = ["breast_cancer", "waveform", "twonorm"]  # or files: "my.csv"
folds = 5
repeats = 1
prune_on = "oob"  # "train" as in the paper, "oob" or "holdout"
binary = false    # turn many classes into two
seed = 0

[[ensemble]]
kind = "bagging"  # or adaboost, random_forest, extra_trees
# tree, naive_bayes, knn, knn_distance, linear, linear_svm, svm or mlp
learner = "tree"
members = 50

[[method]]
method = "epbd"   # see: quorate methods
keep = 0.2

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


@study.command()
@click.argument("plan")
@click.option("--quick", is_flag=True, help="Fewer rows, members and data sets.")
@click.option(
    "--data",
    "data_dir",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Folder of data sets.",
)
@click.option(
    "--store",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Where results go; PLAN.sqlite by default.",
)
@click.option("--jobs", type=int, metavar="N", help="Units of work at a time.")
@click.option("--retry", is_flag=True, help="Try failed cells again.")
@click.option("--download", is_flag=True, help="Let data sets come from OpenML.")
@click.option("--dry-run", is_flag=True, help="Say what would be done.")
def run(
    plan: str,
    quick: bool,
    data_dir: Path | None,
    store: Path | None,
    jobs: int | None,
    retry: bool,
    download: bool,
    dry_run: bool,
) -> None:
    """Run PLAN: the name of a preset, or a TOML file."""
    from quorate.study import make_preset, read_plan
    from quorate.study._plan import quicker

    if plan.endswith(".toml"):
        made = quicker(read_plan(plan)) if quick else read_plan(plan)
    else:
        made = make_preset(plan, data_dir=data_dir, quick=quick)
    if dry_run:
        fits = sum(1 for _ in made.units())
        click.echo(
            f"{made.name}: {len(made.data)} data sets, {fits} fits, "
            f"{made.n_cells} cells"
        )
        return
    suffix = "-quick.sqlite" if quick else ".sqlite"
    path = store or Path(f"{Path(plan).stem}{suffix}")
    _go(
        made, path, data_dir=data_dir, n_jobs=jobs, retry=retry, allow_download=download
    )


@study.command()
@click.argument("store", type=click.Path(path_type=Path))
@click.option(
    "--data",
    "data_dir",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Folder of data sets.",
)
@click.option("--jobs", type=int, metavar="N", help="Units of work at a time.")
@click.option("--retry", is_flag=True, help="Try failed cells again.")
@click.option("--download", is_flag=True, help="Let data sets come from OpenML.")
def resume(
    store: Path, data_dir: Path | None, jobs: int | None, retry: bool, download: bool
) -> None:
    """Do what is missing in STORE."""
    from quorate.study._plan import plan_from_dict
    from quorate.study._store import Store

    if not store.exists():
        raise FileNotFoundError(f"{store}: no such file.")
    with Store(store) as opened:
        known = opened.plan
    if known is None:
        raise ValueError(f"{store}: holds no plan to resume.")
    plan = plan_from_dict(known)
    _go(
        plan,
        store,
        data_dir=data_dir,
        n_jobs=jobs,
        retry=retry,
        allow_download=download,
    )


@study.command()
@click.argument("store", type=click.Path(path_type=Path))
@click.option(
    "--format",
    "form",
    default="terminal",
    show_default=True,
    type=click.Choice(["terminal", "markdown", "latex", "csv"]),
    help="How to print the results.",
)
@click.option(
    "--reference",
    metavar="METHOD",
    help="The method the others are compared with; the last by default.",
)
def report(store: Path, form: str, reference: str | None) -> None:
    """Print the results in STORE."""
    from quorate.study import Results

    results = Results.read(store)
    if form == "terminal":
        _show(results, reference)
    elif form == "csv":
        _print_csv(results)
    else:
        table = results.table(reference)
        click.echo(table.to_markdown() if form == "markdown" else table.to_latex())


def _go(plan: "Plan", path: Path, **options: Any) -> None:
    from rich.progress import Progress

    from quorate.cli._render import progress_console
    from quorate.study import Results, run_plan

    console = progress_console()
    if console.is_terminal:
        with Progress(console=console, transient=True) as bar:
            task = bar.add_task(plan.name, total=None)

            def progress(done: int, total: int) -> None:
                bar.update(task, completed=done, total=total)

            outcome = run_plan(plan, path, progress=progress, **options)
    else:
        outcome = run_plan(plan, path, **options)
    _show(Results.read(path), None)
    click.echo(
        f"{outcome.n_run} of {outcome.n_cells} cells computed now, "
        f"{outcome.n_failed} failed; results in {path}"
    )


def _show(results: "Results", reference: str | None) -> None:
    """Print methods with their mean accuracy, size, time and rank."""
    from quorate.cli._render import plain_table, results_console
    from quorate.stats import average_ranks

    console = results_console()
    scores = results.scores().complete_blocks()
    table = plain_table("method", "accuracy", "kept", "ms", "rank", "W/T/L", "")
    for column in table.columns[1:-1]:
        column.justify = "right"
    ranks = dict(zip(scores.methods, average_ranks(scores).average, strict=True))
    means = {
        name: dict(zip(scores.methods, results.mean_of(name), strict=True))
        for name in ("accuracy", "kept", "seconds")
    }
    wins = dict(zip(*results.table(reference).wins(), strict=True))
    widest = max(ranks.values())
    for method in sorted(ranks, key=lambda name: (ranks[name], name)):
        bar = "█" * round(12 * ranks[method] / widest)
        table.add_row(
            method,
            f"{100 * means['accuracy'][method]:.2f}",
            f"{means['kept'][method]:.1f}",
            f"{1e3 * means['seconds'][method]:.1f}",
            f"{ranks[method]:.2f}",
            wins[method],
            bar,
        )
    console.print(
        f"[bold]{results.name}[/]: {scores.n_blocks} data sets, "
        f"{scores.n_repeats} folds"
    )
    console.print(table)
    against = reference or results.methods[-1]
    console.print(
        f"rank 1 is best; W/T/L: wins, ties, losses of {against} against the method",
        markup=False,
    )
    for failure in results.failures[:3]:
        last = failure["error"].strip().splitlines()[-1]
        console.print(
            f"failed: {failure['method']} on {failure['data']}: {last}", markup=False
        )


def _print_csv(results: "Results") -> None:
    import csv
    import sys

    names = list(dict.fromkeys(name for row in results.rows for name in row))
    writer = csv.DictWriter(sys.stdout, names, lineterminator="\n")
    writer.writeheader()
    writer.writerows(results.rows)
