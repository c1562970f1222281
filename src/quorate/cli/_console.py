r"""Printing: text without control characters, and tables in one style.

Names come from files that others wrote, and may contain control characters that move
the cursor, clear the screen, change the title or reverse text.
"""

import json
import os
import re
import sys
from collections.abc import Iterable
from contextlib import suppress
from typing import TYPE_CHECKING, NoReturn

import click
from rich import box
from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from quorate._output import Result

# C0 and C1 controls except tab and newline, marks that change the direction of text,
# other line separators, and surrogates, which cannot be printed.
_COMMANDS = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069"
    "\ud800-\udfff]"
)
_WIDTH_WITHOUT_TERMINAL = 80
_READER_GONE = 141  # 128 and the number of SIGPIPE


def printable(text: str) -> str:
    r"""Return text with control characters escaped, as in ``\x1b``.

    Tabs and newlines are kept.

    >>> printable("a\x1b[2Jb") == r"a\x1b[2Jb"
    True
    """

    def spelt_out(match: re.Match[str]) -> str:
        return match.group().encode("unicode_escape", "surrogatepass").decode("ascii")

    return _COMMANDS.sub(spelt_out, text)


def on_one_line(text: str) -> str:
    r"""Return a name with newlines and tabs escaped too."""
    return printable(text).replace("\n", r"\n").replace("\t", r"\t")


def say(text: object, *, err: bool = False, nl: bool = True) -> None:
    """Print text with control characters escaped."""
    click.echo(printable(str(text)), err=err, nl=nl)


def say_json(data: object) -> None:
    """Print data as JSON."""
    say(json.dumps(data, indent=2))


def end_quietly() -> NoReturn:
    """End quietly when the reader of a pipe, such as ``head``, has gone."""
    with suppress(OSError, ValueError):
        # Discard what is still to be written, without an error.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    raise SystemExit(_READER_GONE)


class SafeConsole(Console):
    """A console that escapes control characters in texts."""

    def on_broken_pipe(self) -> None:
        """End quietly when the reader of a pipe has gone."""
        end_quietly()

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """Render as usual, with control characters escaped."""
        for segment in super().render(renderable, options):
            yield Segment(printable(segment.text), segment.style)


def results_console() -> Console:
    """Return the console for results: standard output, 80 columns when piped."""
    console = SafeConsole(highlight=False)
    if not console.is_terminal:
        console.width = _WIDTH_WITHOUT_TERMINAL
    return console


def plain_table(*columns: str, numbers: int = 1) -> Table:
    """Return an empty table in the common style: a name, some numbers, then text."""
    table = Table(
        box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, 1, 0, 0)
    )
    for place, column in enumerate(columns):
        table.add_column(column, justify="right" if 1 <= place <= numbers else "left")
    return table


def heading(console: Console, text: str) -> None:
    """Print a section title with an empty line above it."""
    console.print()
    console.print(f"[bold]{text}[/]")


def show_result(console: Console, result: "Result") -> None:
    """Print the title of a result, its table and its note."""
    if result._title:
        console.print(Text(result._title))
    header = result._header or ("", "")
    table = plain_table(*header, numbers=len(header) - 1)
    table.show_header = bool(result._header)
    for row in result.rows():
        table.add_row(*map(Text, row))
    console.print(table)
    if result.note:
        console.print(Text(result.note))
