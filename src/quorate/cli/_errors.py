"""Turn refusals into one sentence and an exit code."""

import warnings
from typing import Any

import click

from quorate.exceptions import QuorateWarning


class RefusingGroup(click.Group):
    """A group whose commands answer bad input with a sentence, not a traceback."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; input that does not fit ends with exit code 1."""
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("always", QuorateWarning)
                warnings.showwarning = _say
                return super().invoke(ctx)
        except (ValueError, TypeError, ImportError, OSError) as error:
            if isinstance(error, BrokenPipeError):
                raise
            raise click.ClickException(_sentence(error)) from error


def _say(message: Warning | str, *_: Any, **__: Any) -> None:
    click.echo(f"Note: {message}", err=True)


def _sentence(error: Exception) -> str:
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {error.strerror}"
    return str(error)
