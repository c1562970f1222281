"""``quorate measures``: what can be measured."""

import json
from dataclasses import asdict

import click

from quorate.cli import _options
from quorate.cli._printable import say

# Names, directions and summaries fill 80 columns; ranges need more.
_WIDTH_FOR_RANGES = 100


@click.command()
@_options.as_json
def measures(as_json: bool) -> None:
    """List the diversity measures."""
    from rich.text import Text

    from quorate._theory import measures as known
    from quorate.cli._render import plain_table, pointer, results_console

    if as_json:
        say(json.dumps([asdict(measure) for measure in known().values()], indent=2))
        return
    console = results_console()
    wide = console.width >= _WIDTH_FOR_RANGES
    columns = ["measure", "paper", "diverse if", "what it is"]
    table = plain_table(*columns, *(["range"] if wide else []))
    for measure in known().values():
        row = [measure.name, measure.paper_name, pointer(measure.direction)]
        row.append(measure.summary)
        table.add_row(*row, *([Text(measure.range)] if wide else []))
    console.print(table)
