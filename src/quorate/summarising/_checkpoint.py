"""Where a pass has come to, in a file from which it can go on.

The file holds the summary of the first batches and how many these are; beside it stands
the summary of the first batch alone. Whoever resumes votes on the first batch again: a
model or data that have changed give other counts, and are refused.
"""

import os
import time
from dataclasses import dataclass, field
from pathlib import Path

from quorate._warn import warn
from quorate.exceptions import CheckpointWarning
from quorate.votes import Summary, load_with_progress, save_with_progress


@dataclass(slots=True)
class Checkpoint:
    """The file of a pass, or none."""

    path: Path | None
    every: float = 60.0
    """Seconds between two writings."""
    covered: int = 0
    """Rows that the file covers."""
    _last: float = field(default_factory=time.monotonic)
    _warned: bool = False

    @classmethod
    def of(cls, path: str | os.PathLike[str] | None, every: float) -> "Checkpoint":
        """Return the checkpoint at a path."""
        return cls(None if path is None else Path(path), every)

    @property
    def first(self) -> Path:
        """The file beside it, of the first batch."""
        assert self.path is not None
        return self.path.with_name(self.path.name + ".first")

    def load(self) -> "tuple[Summary, int, int, Summary] | None":
        """Return the sum so far, its batches and rows, and that of the first batch."""
        if self.path is None or not self.path.exists():
            return None
        summary, done = load_with_progress(self.path)
        if done is None or not self.first.exists():
            raise ValueError(
                f"summarise(resume={str(self.path)!r}): that is a summary, but not one "
                "of a pass that can go on; give another name."
            )
        first, _ = load_with_progress(self.first)
        self.covered = done[1]
        return summary, *done, first

    def begin(self, first: Summary) -> None:
        """Keep the summary of the first batch, to know model and data again."""
        if self.path is not None:
            self._write(first, self.first, (1, first.n_samples))

    def keep(
        self, summary: Summary, batches: int, rows: int, *, now: bool = False
    ) -> None:
        """Write how far the pass has come, if the last time is long ago."""
        if self.path is None or rows == self.covered:
            return
        if not now and time.monotonic() - self._last < self.every:
            return
        if self._write(summary, self.path, (batches, rows)):
            self.covered = rows
        self._last = time.monotonic()

    def said(self) -> str:
        """Say what is kept of a pass that ends here."""
        if self.path is None:
            return "nothing is kept; a file to resume from would keep what is done"
        if not self.covered:
            return "nothing is kept yet"
        return f"{self.covered:,} rows are kept in {self.path}"

    def _write(self, summary: Summary, path: Path, done: tuple[int, int]) -> bool:
        try:
            save_with_progress(summary, path, done)
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
