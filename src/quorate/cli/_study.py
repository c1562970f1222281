"""``quorate study``: make, run, resume and report comparisons of methods."""

import click

from quorate.cli._study_new import new
from quorate.cli._study_report import report
from quorate.cli._study_run import resume, run


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
    for name, summary in PRESETS.items():
        table.add_row(name, summary)
    results_console().print(table)


study.add_command(new)
study.add_command(report)
study.add_command(resume)
study.add_command(run)
