"""Turn refusals and interrupts into one sentence and an exit code."""

import re
import shlex
import warnings
from pathlib import Path
from typing import Any

import click

from quorate.cli._interrupts import (
    end_quietly,
    interrupted_code,
    noting_signals,
    was_interrupted,
)
from quorate.cli._printable import printable, say
from quorate.exceptions import QuorateWarning

_TYPED = "quorate.typed"
_TABLES = "quorate.tables"
# How refusals in Python begin, where somebody calls a function with parameters.
_CALL = re.compile(
    r"^(?:blend|certify|compare|prune|report|select|summarise)\((\w+=[^()]*)\):"
)
_BUDGET = re.compile(r"\bbudget\['(\w+)'\]=([\d.e+-]+)")
_NO_LABEL = re.compile(
    r"^\w+: the ensemble was trained on none of the labels given \((.*)\); it knows "
)
# What scikit-learn says of a text that no training row had; columns are its own count.
_CATEGORIES = re.compile(r"Found unknown categories \[(.*)\] in column \d+")
_QUOTES = "'\""
_ATTRIBUTE = "; the samples attribute lists those that stay"


class RefusingGroup(click.Group):
    """A group whose commands answer bad input with a sentence, not a traceback."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the commands in the order in which they were added."""
        return list(self.commands)

    def make_context(
        self,
        info_name: str | None,
        args: list[str],
        parent: click.Context | None = None,
        **extra: Any,
    ) -> click.Context:
        """Keep the words as they were typed, to say them again with one more."""
        typed = tuple(args)
        made = super().make_context(info_name, args, parent, **extra)
        made.meta[_TYPED] = typed
        return made

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; input that does not fit ends with exit code 1."""
        try:
            with noting_signals():
                return self._invoke(ctx)
        except KeyboardInterrupt:
            pass
        except click.exceptions.Exit:
            raise
        except Exception:
            # what an interrupt broke may not look like one
            if not was_interrupted():
                raise
        say("stopped.", err=True)
        raise SystemExit(interrupted_code())

    def _invoke(self, ctx: click.Context) -> Any:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("always", QuorateWarning)
                warnings.showwarning = _Notes()
                return super().invoke(ctx)
        except click.ClickException as error:
            # a new one would lose the usage that some kinds of it show
            error.message = printable(error.message)  # type: ignore[misc]
            raise
        except (ValueError, TypeError, ImportError, OSError) as error:
            if isinstance(error, BrokenPipeError):
                end_quietly()
            tables = ctx.meta.get(_TABLES, [])
            raise click.ClickException(printable(_sentence(error, tables))) from error


def typed_again(*more: str) -> str:
    """Return the command as it was typed, with some words more."""
    typed = click.get_current_context().meta.get(_TYPED, ())
    return shlex.join(["quorate", *typed, *more])


def note_table(path: Path, X: Any) -> None:
    """Remember samples that were read, so that refusals can say where they stand."""
    context = click.get_current_context(silent=True)
    if context is not None:
        context.meta.setdefault(_TABLES, []).append((path, X))


class _Notes:
    """Says every warning once, however many steps come upon it."""

    def __init__(self) -> None:
        self._said: set[str] = set()

    def __call__(self, message: Warning | str, *_: Any, **__: Any) -> None:
        if str(message) not in self._said:
            self._said.add(str(message))
            say(f"Note: {_as_typed(str(message))}", err=True)


def _sentence(error: Exception, tables: list[tuple[Path, Any]]) -> str:
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {error.strerror}"
    found = _CATEGORIES.search(str(error))
    placed = None if found is None else _placed(found[1], tables)
    return _as_typed(str(error)) if placed is None else placed


def _placed(categories: str, tables: list[tuple[Path, Any]]) -> str | None:
    """Say in which file and column texts stand that the model does not know."""
    unknown = re.findall(r"'([^']*)'", categories)
    for path, X in reversed(tables):
        for name in getattr(X, "columns", ()):
            values = X[name]
            if unknown and values.isin(unknown[:1]).any():
                shown = ", ".join(map(repr, unknown))
                return (
                    f"{path}: column {name!r} has {shown}, which the model was not "
                    "trained on."
                )
    return None


def _as_typed(sentence: str) -> str:
    """Return what Python says in words of the command line: --keep 9 for keep=9."""
    said = _CALL.sub(lambda found: f"{_options_in(found[1])}:", sentence)
    said = _BUDGET.sub(
        lambda found: f"--budget {found[1]}={float(found[2]):.12g}", said
    )
    said = _NO_LABEL.sub(
        lambda found: (
            f"--target: the model was trained on none of the labels in that "
            f"column ({found[1]}); it knows "
        ),
        said,
    )
    return said.replace(_ATTRIBUTE, "")


def _options_in(parameters: str) -> str:
    given = [one.partition("=") for one in parameters.split(", ")]
    return ", ".join(
        f"--{name.replace('_', '-')} {value.strip(_QUOTES)}" for name, _, value in given
    )
