"""``quorate measures`` and ``quorate methods``: what can be measured, and chosen by."""

import json
from dataclasses import asdict
from itertools import chain

import click
from rich.text import Text

from quorate.cli import _options
from quorate.cli._console import plain_table, results_console, say

# Names, directions and summaries fill 80 columns; ranges need more.
_WIDTH_FOR_RANGES = 100
_PAIRS = 2


def pointer(direction: str) -> str:
    """Say in a word which values mean more diverse."""
    return {"higher": "high", "lower": "low"}.get(direction, "-")


@click.command()
@_options.as_json
def measures(as_json: bool) -> None:
    """List the diversity measures."""
    from quorate._theory import measures as known

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


@click.command()
@_options.as_json
def methods(as_json: bool) -> None:
    """List the pruning methods."""
    from quorate.pruning import methods as known

    if as_json:
        tags = ("finds_size", "honours_keep", "uses_weights", "takes_summary")
        rows = [
            {
                "name": name,
                "title": method.title,
                "class": method.cls.__name__,
                "summary": method.summary,
                **{tag: getattr(method.tags, tag) for tag in (*tags, "is_random")},
            }
            for name, method in known().items()
        ]
        say(json.dumps(rows, indent=2))
        return
    table = plain_table("method", "size", "what it does", numbers=0)
    table.add_row("auto", "usual", "Take the method that suits the model; the default")
    for name, method in known().items():
        exact = "exact" if method.tags.honours_keep else "up to"
        size = "own" if method.cls().keep is None else exact
        table.add_row(name, size, method.summary)
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
