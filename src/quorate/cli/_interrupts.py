"""Interrupts that are not lost on their way."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

Progress = Callable[[int, int], None]


@contextmanager
def heeding_interrupts(show: Progress | None) -> Iterator[Progress]:
    """Stop at the next result if an interrupt was lost on its way.

    Python drops exceptions that arise while it cleans up, and libraries may: the
    interrupt of somebody who waits must not be among them.
    """
    lost = False

    def note(number: int, frame: Any) -> None:
        nonlocal lost
        lost = True
        signal.default_int_handler(number, frame)

    def progress(done: int, total: int) -> None:
        if lost:
            raise KeyboardInterrupt
        if show is not None:
            show(done, total)

    if threading.current_thread() is not threading.main_thread():
        yield progress
        return
    before = signal.signal(signal.SIGINT, note)
    try:
        yield progress
    finally:
        signal.signal(signal.SIGINT, before)
