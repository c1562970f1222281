"""``quorate methods``: how members can be chosen."""

import json
from itertools import chain

import click

from quorate.cli import _options
from quorate.cli._printable import say

_PAIRS = 2


@click.command()
@_options.as_json
def methods(as_json: bool) -> None:
    """List the pruning methods."""
    from quorate.cli._render import plain_table, results_console
    from quorate.pruning import AUTO
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
    table = plain_table("method", "size", "what it does", numbers=0)
    table.add_row(AUTO, "usual", "Take the method that suits the model; the default")
    for name, method in known().items():
        exact = "exact" if method.tags.honours_keep else "up to"
        table.add_row(
            name, "own" if method.cls().keep is None else exact, method.summary
        )
    console = results_console()
    console.print(table)
    console.print("\nLong names do as well:")
    long = [
        (name, method.long_name)
        for name, method in known().items()
        if method.long_name.replace("_", "") != name.replace("_", "")
    ]
    names = plain_table(*["short", "long"] * _PAIRS, numbers=0)
    for start in range(0, len(long), _PAIRS):
        names.add_row(*chain.from_iterable(long[start : start + _PAIRS]))
    console.print(names)
