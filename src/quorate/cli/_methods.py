"""``quorate methods``: how members can be chosen."""

import json

import click

from quorate.cli import _options
from quorate.cli._printable import say


@click.command()
@_options.as_json
def methods(as_json: bool) -> None:
    """List the pruning methods."""
    from quorate.cli._render import plain_table, results_console
    from quorate.pruning import methods as known

    if as_json:
        rows = [
            {
                "name": name,
                "title": method.title,
                "class": method.cls.__name__,
                "summary": method.summary,
                "finds_size": method.tags.finds_size,
                "honours_keep": method.tags.honours_keep,
                "uses_weights": method.tags.uses_weights,
                "takes_summary": method.tags.takes_summary,
                "is_random": method.tags.is_random,
            }
            for name, method in known().items()
        ]
        say(json.dumps(rows, indent=2))
        return
    table = plain_table("method", "size", "what it does")
    table.columns[1].justify = "left"
    for name, method in known().items():
        exact = "exact" if method.tags.honours_keep else "up to"
        table.add_row(
            name, "own" if method.cls().keep is None else exact, method.summary
        )
    results_console().print(table)
