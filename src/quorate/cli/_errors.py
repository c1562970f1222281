"""Turn errors and interrupts into one sentence and an exit code."""

import os
import re
import signal
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from quorate.cli._console import end_quietly, printable, say
from quorate.exceptions import QuorateWarning

_TABLES = "quorate.tables"
_QUOTES = "'\""
# How errors raised by Python functions begin.
_CALL = re.compile(
    r"^(?:blend|certify|compare|prune|report|select|summarise)\((\w+=[^()]*)\):"
)
_PAIR = re.compile(r"^\w+: (\w+)(?:=\S+)? and (\w+) cannot be combined")
_BUDGET = re.compile(r"\bbudget\['(\w+)'\]=(\d+)(\.0)?")
# scikit-learn's messages for values that were not in the training data.
_UNKNOWN = re.compile(
    r"Found unknown categories \[(.*)\]|could not convert string to float:(.*)"
)
# SIGTERM is handled like an interrupt: workers are stopped, files completed.
_HEEDED = (signal.SIGINT, signal.SIGTERM)
_USUAL = (signal.SIG_DFL, signal.default_int_handler)
_received: list[int] = []
_owner: list[int] = []


class RefusingGroup(click.Group):
    """A group whose commands report bad input in one sentence, without a traceback."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the commands in the order in which they were added."""
        return list(self.commands)

    def main(self, *args: Any, **kwargs: Any) -> Any:
        """Run the command line; help that cannot be written is one sentence, too."""
        try:
            return super().main(*args, **kwargs)
        except OSError as error:
            say(f"Error: {error}", err=True)
            raise SystemExit(1) from error

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; invalid input ends with exit code 1."""
        try:
            with noting_signals():
                return self._invoke(ctx)
        except KeyboardInterrupt:
            pass
        except click.exceptions.Exit:
            raise
        except Exception:
            # an interrupt may surface as another exception
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
            # a new exception would lose the usage that some of them show
            error.message = printable(error.message)  # type: ignore[misc]
            raise
        except (ValueError, TypeError, ImportError, OSError) as error:
            if isinstance(error, BrokenPipeError):
                end_quietly()
            tables = ctx.meta.get(_TABLES, {})
            raise click.ClickException(printable(_sentence(error, tables))) from error


class _Notes:
    """Print every warning once, even if several steps issue it."""

    def __init__(self) -> None:
        self._said: set[str] = set()

    def __call__(self, message: Warning | str, *_: Any, **__: Any) -> None:
        if str(message) not in self._said:
            self._said.add(str(message))
            say(f"Note: {_as_typed(str(message))}", err=True)


def note_table(path: Path, X: Any) -> None:
    """Remember samples that were read, so that errors can name their file."""
    click.get_current_context().meta.setdefault(_TABLES, {})[path] = X


def _sentence(error: Exception, tables: dict[Path, Any]) -> str:
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {error.strerror}"
    match = _UNKNOWN.search(str(error))
    unknown = re.findall(r"'([^']*)'", match[1] or match[2]) if match else []
    for path, X in tables.items():
        for name in getattr(X, "columns", ()):
            if unknown and X[name].isin(unknown[:1]).any():
                return (
                    f"{path}: column {name!r} has {', '.join(map(repr, unknown))}, "
                    "which the model was not trained on."
                )
    return _as_typed(str(error))


def _as_typed(sentence: str) -> str:
    """Return a message with options of the command line: --keep 9 for keep=9."""

    def options(match: re.Match[str]) -> str:
        given = [one.partition("=") for one in match[1].split(", ")]
        words = [
            f"--{name.replace('_', '-')} {value.strip(_QUOTES)}"
            for name, _, value in given
        ]
        return f"{', '.join(words)}:"

    typed = _CALL.sub(options, sentence).replace("--keep None", "--keep own")
    typed = _PAIR.sub(r"--\1 and --\2 cannot be combined", typed)
    return _BUDGET.sub(r"--budget \1=\2", typed)


@contextmanager
def noting_signals() -> Iterator[None]:
    """Raise KeyboardInterrupt on SIGINT and SIGTERM, and remember that they came.

    Signals that are ignored, as in background jobs of a shell, or that have another
    handler are left alone.
    """
    _received.clear()
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {
        number: handler
        for number in _HEEDED
        if (handler := signal.getsignal(number)) in _USUAL
    }
    _owner.append(os.getpid())
    for number in before:
        signal.signal(number, _note)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        _owner.pop()


def _note(number: int, frame: Any) -> None:
    if os.getpid() != _owner[-1]:
        # A forked worker inherits the handler, but must end at once: an exception in
        # the middle of its work with a pool may block it for ever.
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)
        return
    _received.append(number)
    raise KeyboardInterrupt


def was_interrupted() -> bool:
    """Return whether a signal was received, even if its exception was lost."""
    return bool(_received)


def interrupted_code() -> int:
    """Return the exit code of a process ended by a signal, as in shells."""
    return 128 + (_received[0] if _received else signal.SIGINT)
