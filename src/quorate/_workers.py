"""Worker processes that leave the interrupts of a terminal to the process they help."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import resource_tracker


@contextmanager
def deaf_to_interrupts() -> Iterator[None]:
    """Let the processes started meanwhile not hear Ctrl-C, which a whole group gets.

    The caller hears it, also if it comes meanwhile, and ends its workers. One of them
    that heard it too would only print a traceback from wherever it is, its imports for
    example. A blocked signal is inherited by processes, and waits for threads; systems
    without masks of signals are left as they are.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    # It starts with the first worker, and unblocks what was blocked before it did.
    resource_tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
