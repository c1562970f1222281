"""``quorate study report``: results on a terminal, in a file, as figures or a page."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from quorate.cli._checks import check_folder, require_packages
from quorate.cli._printable import say

if TYPE_CHECKING:
    from quorate.study import Results


@click.command()
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
    if html is not None or figures is not None:
        require_packages("matplotlib", *(["jinja2"] if html is not None else []))
    elif form == "parquet":
        if output is None:
            raise click.UsageError("parquet is not for printing; name a file with -o.")
        require_packages("pyarrow")
    for written in filter(None, (output, html)):
        check_folder(written)
    if not store.exists():
        raise FileNotFoundError(f"{store}: no such file.")
    from quorate.study import Results

    results = Results.read(store)
    if html is not None:
        _write_page(results, store, html, reference)
    elif figures is not None:
        from quorate.display import study_figures

        drawn = study_figures(results, figures, kinds)
        say(f"{len(drawn)} figures written to {figures}", err=True)
    elif form == "parquet":
        assert output is not None
        results.to_parquet(output)
    elif output is None and form == "terminal":
        from quorate.cli._render import results_console
        from quorate.cli._study_view import show_results

        show_results(results_console(), results, reference, verbose)
    else:
        _hand_over(_as_text(results, form, reference, verbose), output)
    if output is not None:
        say(f"written to {output}", err=True)


def _write_page(
    results: "Results", store: Path, html: Path, reference: str | None
) -> None:
    from quorate._report import study_report
    from quorate.study import Store

    with Store(store, read_only=True) as opened:
        plan = opened.plan
    known = None if plan is None else plan.to_dict()
    study_report(
        results, output=html, plan=known, store=str(store), reference=reference
    )
    say(f"written to {html}", err=True)


def _as_text(
    results: "Results", form: str, reference: str | None, verbose: bool
) -> str:
    if form == "csv":
        return results.to_csv()
    if form == "json":
        return json.dumps(results.to_dict(reference), indent=2) + "\n"
    if form == "terminal":
        from quorate.cli._render import results_console
        from quorate.cli._study_view import show_results

        console = results_console()
        with console.capture() as captured:
            show_results(console, results, reference, verbose)
        return click.unstyle(captured.get())
    table = results.table(reference)
    return table.to_markdown() if form == "markdown" else table.to_latex()


def _hand_over(text: str, output: Path | None) -> None:
    if output is None:
        say(text, nl=False)
        return
    from quorate._atomic import atomic_write

    with atomic_write(output) as file:
        file.write(text.encode())
