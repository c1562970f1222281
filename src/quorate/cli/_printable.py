r"""Text that a terminal only shows.

Names come from files that others made. A terminal obeys what is between the letters:
it can be told to move, to clear, to change its title, to show text backwards.
"""

import re

import click

# C0 and C1 controls without tab and newline, marks that turn the direction of text,
# other ends of lines, and halves of characters, which cannot be printed.
_COMMANDS = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069"
    "\ud800-\udfff]"
)


def printable(text: str) -> str:
    r"""Return text with what a terminal would obey spelt out, as in ``\x1b``.

    Tabs and newlines stay.

    >>> printable("a\x1b[2Jb") == r"a\x1b[2Jb"
    True
    """
    return _COMMANDS.sub(_spelt_out, text)


def on_one_line(text: str) -> str:
    r"""Return a name with newlines spelt out too, so that it cannot make lines up."""
    return printable(text).replace("\n", r"\n").replace("\t", r"\t")


def say(text: object, *, err: bool = False, nl: bool = True) -> None:
    """Print text as it is to be seen; nothing else in this room prints but consoles."""
    click.echo(printable(str(text)), err=err, nl=nl)


def _spelt_out(found: re.Match[str]) -> str:
    return found.group().encode("unicode_escape", "surrogatepass").decode("ascii")
