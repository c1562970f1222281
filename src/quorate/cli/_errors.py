"""Turn refusals into one sentence and an exit code."""

from typing import Any

import click


class RefusingGroup(click.Group):
    """A group whose commands answer bad input with a sentence, not a traceback."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; input that does not fit ends with exit code 1."""
        try:
            return super().invoke(ctx)
        except (ValueError, TypeError, ImportError, OSError) as error:
            if isinstance(error, BrokenPipeError):
                raise
            raise click.ClickException(_sentence(error)) from error


def _sentence(error: Exception) -> str:
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {error.strerror}"
    return str(error)
