"""Where a pass has come to, in a file from which it can go on.

The file holds the summary of the first batches, and a mark of each of them. Whoever
resumes shows all these batches again: one with another mark is refused, and so is a
model with other members or classes, as far as names tell.
"""

import math
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from quorate._data import Batch
from quorate._messages import warn
from quorate._votes import Progress, Summary, load_summary, save_counts
from quorate.exceptions import CheckpointWarning


@dataclass(frozen=True, slots=True)
class Begun:
    """What an earlier pass has done."""

    total: Summary
    marks: tuple[str, ...]
    """The marks of all batches it covers."""
    n_rows: int


@dataclass(slots=True)
class Checkpoint:
    """The file of a pass, or none."""

    path: Path | None
    every: float = 60.0
    """Seconds between two writings."""
    covered: int = 0
    """Rows that the file covers."""
    marks: list[str] = field(default_factory=list)
    """Marks of the batches that have come up, whether they are done or not."""
    _last: float = field(default_factory=time.monotonic)
    _warned: bool = False

    @classmethod
    def of(cls, path: str | os.PathLike[str] | None, every: float) -> "Checkpoint":
        """Return the checkpoint at a path."""
        number = isinstance(every, (int, float)) and not isinstance(every, bool)
        if not number or math.isnan(every) or every < 0:
            raise ValueError(f"summarise(every={every!r}): seconds, 0 or more.")
        if path is None:
            return cls(None, every)
        if not isinstance(path, (str, os.PathLike)):
            raise TypeError(
                f"summarise(resume={path!r}): the path of a file, which need not be "
                "there yet."
            )
        if Path(path).is_dir():
            raise IsADirectoryError(
                f"summarise(resume={str(path)!r}): that is a folder; give the path of "
                "a file, which need not be there yet."
            )
        return cls(Path(path), every)

    def load(self) -> Begun | None:
        """Return what an earlier pass has done, if it left a file."""
        if self.path is None or not self.path.exists():
            return None
        summary, done = load_summary(self.path)
        if done is None:
            raise self.refusal(
                "that is a summary, but not one of a pass that can go on; give another "
                "name."
            )
        self.covered = done.n_rows
        return Begun(summary, done.marks, done.n_rows)

    def refusal(self, why: str) -> ValueError:
        """Return the error of a pass that cannot go on from here."""
        return ValueError(f"summarise(resume={str(self.path)!r}): {why}")

    def marked(self, batches: Iterator[Batch]) -> Iterator[Batch]:
        """Yield batches; their marks are taken as they come by."""
        for batch in batches:
            if self.path is not None:
                self.marks.append(batch.mark())
            yield batch

    def keep(
        self, summary: Summary, batches: int, rows: int, *, now: bool = False
    ) -> None:
        """Write how far the pass has come, if the last time is long ago."""
        if self.path is None or rows == self.covered:
            return
        if not now and time.monotonic() - self._last < self.every:
            return
        if self._write(summary, self.path, batches, rows):
            self.covered = rows
        self._last = time.monotonic()

    def said(self) -> str:
        """Say what is kept of a pass that ends here."""
        if self.path is None:
            return "nothing is kept; a file to resume from would keep what is done"
        if not self.covered:
            return "nothing is kept yet"
        return f"{self.covered:,} rows are kept in {self.path}"

    def _write(self, summary: Summary, path: Path, batches: int, rows: int) -> bool:
        try:
            marks = tuple(self.marks[:batches])
            save_counts(summary, path, Progress(marks, batches, rows))
        except OSError as error:
            if not self._warned:
                warn(
                    f"summarise: the checkpoint {path} could not be written "
                    f"({error.strerror or error}); the pass goes on, and the file "
                    f"covers {self.covered:,} rows.",
                    CheckpointWarning,
                )
            self._warned = True
            return False
        return True
