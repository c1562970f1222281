"""Progress of a pass: a checkpoint file to resume from, and a progress line.

The file contains the summary of the first batches and a mark of each. To resume, pass
all batches again: a batch with another mark is rejected, and so is a model with other
member names or classes.
"""

import math
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from quorate._data import Batch
from quorate._ensembles import Ensemble
from quorate._messages import warn
from quorate._progress import is_interactive
from quorate._summarising._tasks import sum_of
from quorate._votes import Progress, Summary, load_summary, save_counts
from quorate.exceptions import QuorateWarning

_SECONDS_BETWEEN = 0.5

# Called with the rows done and the total, or None if unknown.
Report = Callable[[int, int | None], object]


@dataclass(slots=True)
class Checkpoint:
    """The checkpoint file of a pass, if any, and the progress so far.

    Attributes
    ----------
    every : float
        Seconds between two writes.
    total : Summary, optional
        The sum of all finished batches.
    covered : int
        Number of rows that the file covers.
    marks : list of str
        Marks of the batches seen so far, finished or not.
    """

    path: Path | None
    every: float = 60.0
    total: Summary | None = None
    n_batches: int = 0
    n_rows: int = 0
    covered: int = 0
    marks: list[str] = field(default_factory=list)
    _last: float = field(default_factory=time.monotonic)
    _warned: bool = False

    @classmethod
    def at(cls, path: str | os.PathLike[str] | None, every: float) -> "Checkpoint":
        """Open the checkpoint at a path."""
        number = isinstance(every, (int, float)) and not isinstance(every, bool)
        if not number or math.isnan(every) or every < 0:
            raise ValueError(
                f"summarise(every={every!r}): must be a number of seconds, 0 or more."
            )
        if path is None:
            return cls(None, every)
        if not isinstance(path, (str, os.PathLike)):
            raise TypeError(
                f"summarise(resume={path!r}): must be the path of a file, which need "
                "not exist yet."
            )
        if Path(path).is_dir():
            raise IsADirectoryError(
                f"summarise(resume={str(path)!r}): is a folder; pass the path of a "
                "file, which need not exist yet."
            )
        return cls(Path(path), every)

    def resume(self, ensemble: Ensemble, batches: Iterable[Batch]) -> Iterator[Batch]:
        """Return the remaining batches, if an earlier pass left a file.

        Batches that it covers are consumed from the iterator, which may be a one-time
        iterator.
        """
        left = self._marked(batches)
        if self.path is None or not self.path.exists():
            return left
        summary, done = load_summary(self.path)
        if done is None:
            raise self._refusal(
                "the file is a summary, but not of a pass that can be resumed; use "
                "another name."
            )
        self.total, self.n_batches = summary, len(done.marks)
        self.n_rows = self.covered = done.n_rows
        if not is_summary_of(summary, ensemble):
            raise self._refusal("the file is from a pass with another model.")
        for number, mark in enumerate(done.marks):
            batch = next(left, None)
            if batch is None:
                raise self._refusal(
                    f"the file covers {len(done.marks)} batches, but only {number} "
                    "were given."
                )
            if self.marks[number] != mark:
                raise self._refusal(
                    f"{batch.name} has changed; delete the file to start again."
                )
        return left

    def _refusal(self, why: str) -> ValueError:
        return ValueError(f"summarise(resume={str(self.path)!r}): {why}")

    def _marked(self, batches: Iterable[Batch]) -> Iterator[Batch]:
        """Yield batches and record their marks."""
        for batch in batches:
            if self.path is not None:
                self.marks.append(batch.mark())
            yield batch

    def add(self, summary: Summary, n_rows: int) -> None:
        """Add the result of a batch, and save now and then."""
        self.total = sum_of(self.total, summary.shifted(self.n_rows))
        self.n_batches, self.n_rows = self.n_batches + 1, self.n_rows + n_rows
        if time.monotonic() - self._last >= self.every:
            self.write()

    def write(self) -> None:
        """Write the checkpoint file."""
        if self.path is None or self.total is None or self.n_rows == self.covered:
            return
        marks = tuple(self.marks[: self.n_batches])
        done = Progress(marks, self.n_rows)
        try:
            save_counts(self.total, self.path, done)
            self.covered = self.n_rows
        except OSError as error:
            if not self._warned:
                warn(
                    f"summarise: the checkpoint {self.path} could not be written "
                    f"({error.strerror or error}); the pass continues, and the file "
                    f"covers {self.covered:,} rows.",
                    QuorateWarning,
                )
            self._warned = True
        self._last = time.monotonic()

    def __str__(self) -> str:
        """Describe what is saved if the pass ends here."""
        if self.path is None:
            return "nothing is kept; use resume= to keep partial results in a file"
        if not self.covered:
            return "nothing is kept yet"
        return f"{self.covered:,} rows are kept in {self.path}"


def is_summary_of(summary: Summary, ensemble: Ensemble) -> bool:
    """Return whether members and classes match those of an ensemble, by name."""
    classes = [] if ensemble.classes is None else ensemble.classes.tolist()
    known = set(classes) <= set(summary.classes.tolist())
    return known and list(summary.names) == ensemble.names


def reporter(progress: bool | Report | None) -> Report:
    """Return the progress callback: the caller's, a progress line, or none."""
    if callable(progress):
        return progress
    if progress is not None and not isinstance(progress, bool):
        raise TypeError(
            f"summarise(progress={progress!r}): must be True, False, or a function of "
            "the rows done and the total number of rows."
        )
    if progress is None:
        progress = is_interactive(sys.stderr)
    return ProgressLine() if progress else lambda done, total: None


class ProgressLine:
    """A progress line: rows done, rows per second and time left."""

    def __init__(self, stream: Any = None) -> None:
        self._stream = stream or sys.stderr
        self._start = time.monotonic()
        self._first: int | None = None
        self._last = 0.0
        self._width = 0

    def __call__(self, done: int, total: int | None) -> None:
        """Update the line, unless it was updated a moment ago."""
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
    """Return the number of rows done, the speed, and the time left.

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
