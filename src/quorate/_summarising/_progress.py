"""How far a pass has come, in one line on standard error."""

import sys
import time
from collections.abc import Callable
from typing import Any

_SECONDS_BETWEEN = 0.5

Report = Callable[[int, int | None], object]
"""Called with the rows done and the rows there are, None if that is not known."""


def reporter(progress: bool | Report | None) -> Report:
    """Return what to call: the caller's own, a line on standard error, or nothing."""
    if callable(progress):
        return progress
    if progress is not None and not isinstance(progress, bool):
        raise TypeError(
            f"summarise(progress={progress!r}): True, False, or something to call with "
            "rows done and rows in all."
        )
    if progress is None:
        progress = bool(getattr(sys.stderr, "isatty", bool)())
    return ProgressLine() if progress else _silent


def _silent(done: int, total: int | None) -> None:
    """Report nothing."""


class ProgressLine:
    """Rows done, rows per second and time left, written over itself."""

    def __init__(self, stream: Any = None) -> None:
        self._stream = stream or sys.stderr
        self._start = time.monotonic()
        self._first: int | None = None
        self._last = 0.0
        self._width = 0

    def __call__(self, done: int, total: int | None) -> None:
        """Write the line again, unless that was a moment ago."""
        now = time.monotonic()
        if self._first is None:
            self._first, self._start = done, now  # what was there before is not speed
        finished = total is not None and done >= total
        if now - self._last < _SECONDS_BETWEEN and not finished:
            return
        self._last = now
        text = progress_text(done, total, done - self._first, now - self._start)
        padded = text.ljust(self._width)
        self._width = len(text)
        self._stream.write(f"\r{padded}" + ("\n" if finished else ""))
        self._stream.flush()


def progress_text(done: int, total: int | None, fresh: int, seconds: float) -> str:
    """Say how many rows are done, how fast, and how long the others will take.

    Examples
    --------
    >>> progress_text(2_000_000, 10_000_000, 1_000_000, 20.0)
    '2,000,000 of 10,000,000 rows, 50,000 rows/s, 2 min 40 s left'
    """
    rate = fresh / seconds if seconds > 0 else 0.0
    if total is None:
        return f"{done:,} rows, {rate:,.0f} rows/s"
    left = f", {_duration((total - done) / rate)} left" if rate and fresh else ""
    return f"{done:,} of {total:,} rows, {rate:,.0f} rows/s{left}"


def _duration(seconds: float) -> str:
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"
