"""A line on the screen that says what is being done, for work that takes a while.

Who starts long work opens a :func:`stage`; what is done inside may open others, which
change the words, and count with :func:`advance`. Nothing is shown in the first two
seconds, where nobody looks at a terminal or a notebook, or if the outermost stage has
``verbose=0``.
"""

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TextIO

_WAIT = 2.0  # seconds before anything is shown
_BETWEEN = 0.2
_BAR = 24


class ProgressBar:
    """What is being done and how far it is, drawn by a thread until it is closed.

    Parameters
    ----------
    stream : file or None
        Where to draw; None draws nothing.
    wait : float
        Seconds before the first line.
    """

    def __init__(self, stream: TextIO | None, wait: float = _WAIT) -> None:
        self.what, self.done, self.total = "", 0, 0
        self._stream, self._wait, self._width = stream, wait, 0
        self._start = time.monotonic()
        self._closed = threading.Event()
        self._thread = threading.Thread(target=self._draw_on, daemon=True)
        if stream is not None:
            self._thread.start()

    @contextmanager
    def doing(self, what: str) -> Iterator[None]:
        """Show these words, and afterwards what was shown before."""
        before = self.what, self.done, self.total
        self.what, self.done, self.total = what, 0, 0
        try:
            yield
        finally:
            self.what, self.done, self.total = before

    def close(self) -> None:
        """Stop drawing and leave the line empty."""
        self._closed.set()
        if self._thread.is_alive():
            self._thread.join()
        if self._width:
            self._write("")

    def _draw_on(self) -> None:
        if self._closed.wait(self._wait):
            return
        while True:
            seconds = time.monotonic() - self._start
            self._write(progress_text(self.what, self.done, self.total, seconds))
            if self._closed.wait(_BETWEEN):
                return

    def _write(self, text: str) -> None:
        assert self._stream is not None
        self._stream.write(f"\r{text.ljust(self._width)}" + ("" if text else "\r"))
        self._stream.flush()
        self._width = len(text)


def progress_text(what: str, done: int, total: int, seconds: float) -> str:
    """Return a line: the words, a bar if there is something to count, the time.

    Examples
    --------
    >>> progress_text("distilling", 5, 20, 12.3)
    'distilling [######------------------] 5 of 20, 12 s'
    >>> progress_text("evaluating members", 0, 0, 3.0)
    'evaluating members, 3 s'
    >>> progress_text("summarising rows", 500_000, 0, 3.0)
    'summarising rows, 500,000 done, 3 s'
    """
    if total <= 0:
        count = f", {done:,} done" if done else ""
        return f"{what}{count}, {seconds:.0f} s"
    full = round(_BAR * min(done / total, 1))
    bar = "#" * full + "-" * (_BAR - full)
    return f"{what} [{bar}] {done:,} of {total:,}, {seconds:.0f} s"


def find_screen() -> TextIO | None:
    """Return where somebody is looking: a terminal, a notebook, or None."""
    if getattr(sys.stderr, "isatty", bool)():
        return sys.stderr
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    # Nobody can be asked where nbconvert and papermill run a notebook.
    asks = getattr(getattr(shell, "kernel", None), "_allow_stdin", False)
    return sys.stdout if asks else None  # notebooks show standard error in red


_CURRENT: ContextVar[ProgressBar | None] = ContextVar("quorate_progress", default=None)


@contextmanager
def stage(what: str, verbose: int | None = None) -> Iterator[None]:
    """Say what is being done, until it is done.

    Parameters
    ----------
    what : str
        In a few words, such as "choosing members".
    verbose : int, optional
        0 for silence, also inside. Inside another stage, that one decides. None shows
        nothing outside of one.
    """
    if not isinstance(verbose, (int, type(None))):
        raise ValueError(f"verbose={verbose!r}: must be 1 to show progress, or 0.")
    bar = _CURRENT.get()
    if bar is not None:
        with bar.doing(what):
            yield
        return
    bar = ProgressBar(find_screen() if verbose else None)
    token = _CURRENT.set(bar)
    try:
        with bar.doing(what):
            yield
    finally:
        _CURRENT.reset(token)
        bar.close()


def advance(done: int, total: int) -> None:
    """Say how far the innermost stage is; a total of 0 is one that nobody knows."""
    bar = _CURRENT.get()
    if bar is not None:
        bar.done, bar.total = done, total
