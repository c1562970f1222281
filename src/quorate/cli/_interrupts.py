"""Interrupts that are not lost on their way, and what they end with."""

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, NoReturn

Progress = Callable[[int, int], None]

# To be told to end is to be interrupted: workers are stopped, files put in order.
_HEEDED = (signal.SIGINT, signal.SIGTERM)
_USUAL = (signal.SIG_DFL, signal.default_int_handler)
_READER_GONE = 141  # 128 and the number of SIGPIPE
_received: list[int] = []
_owner: list[int] = []


@contextmanager
def noting_signals() -> Iterator[None]:
    """Raise KeyboardInterrupt on SIGINT and SIGTERM, and remember that they came.

    Signals that are ignored, as those of a shell's background jobs may be, or that
    somebody else handles are left alone.
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
        # A forked worker has the handler of its parent, and is to end when told so:
        # an exception in the middle of its work with a pool may stop it for ever.
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)
        return
    _received.append(number)
    raise KeyboardInterrupt


def end_quietly() -> NoReturn:
    """End as a command does whose reader has gone, such as ``head``."""
    with suppress(OSError, ValueError):
        # What is still to be written goes nowhere, and without a complaint.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    raise SystemExit(_READER_GONE)


def was_interrupted() -> bool:
    """Tell whether a signal came, also if its interrupt was lost since."""
    return bool(_received)


def interrupted_code() -> int:
    """Return the exit code of a process that a signal ended, as shells have it."""
    return 128 + (_received[0] if _received else signal.SIGINT)


def heeding_interrupts(show: Progress | None) -> Progress:
    """Return a progress that stops at the next result if an interrupt was lost.

    Python drops exceptions that arise while it cleans up, and libraries may: the
    interrupt of somebody who waits must not be among them.
    """

    def progress(done: int, total: int) -> None:
        if was_interrupted():
            raise KeyboardInterrupt
        if show is not None:
            show(done, total)

    return progress
