"""Time things against each other in one run, and watch their memory."""

import gc
import time
import tracemalloc
from collections.abc import Callable

from rich.console import Console
from rich.table import Table


def best_of(repeats: int, *tasks: Callable[[], object]) -> list[float]:
    """Return the best time of each task; tasks take turns so that noise is shared."""
    best = [float("inf")] * len(tasks)
    for _ in range(repeats):
        for place, task in enumerate(tasks):
            gc.collect()
            start = time.perf_counter()
            task()
            best[place] = min(best[place], time.perf_counter() - start)
    return best


def peak_extra_bytes(task: Callable[[], object]) -> int:
    """Return the most memory that arrays and objects of the task took at once."""
    gc.collect()
    tracemalloc.start()
    try:
        task()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


class Report:
    """Rows of a quantity, its ratio to a yardstick, and the limit it should keep."""

    def __init__(self, title: str) -> None:
        self.failed = 0
        self.table = Table(title=title, title_justify="left")
        for column in ("what", "against", "ratio", "limit", "ms", ""):
            self.table.add_column(
                column, justify="right" if column in "ratiolimitms" else "left"
            )

    def add(
        self,
        what: str,
        against: str,
        ratio: float,
        limit: float,
        seconds: float | None = None,
        at_least: bool = False,
    ) -> None:
        """Add a row; a ratio past its limit counts as failed."""
        held = ratio >= limit if at_least else ratio <= limit
        self.failed += not held
        self.table.add_row(
            what,
            against,
            f"{ratio:.2f}" if ratio >= 0.1 else f"{ratio:.4f}",
            f"{'>=' if at_least else '<='} {limit:g}",
            "" if seconds is None else f"{seconds * 1e3:.1f}",
            "ok" if held else "MISSED",
        )

    def show(self) -> int:
        """Print the table and return how many limits were missed."""
        Console(width=110).print(self.table)
        return self.failed
