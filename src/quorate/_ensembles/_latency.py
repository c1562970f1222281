"""How long a call takes for who waits for it: the median and the 95th percentile."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from quorate._typing import IntArray
from quorate._units import milliseconds_text

clock = time.perf_counter

_ON_TIME = 0.95
_FEWEST_CALLS = 5
_MORE_ROUNDS = 2
# As many rows are copied without a thought; more only if there are more.
_ROWS_IN_BATCHES = 2**14


@dataclass(frozen=True, slots=True)
class CallTimes:
    """Measured times of calls, in milliseconds."""

    median: float
    p95: float
    """19 calls of 20 take at most this."""
    n_calls: int

    def __str__(self) -> str:
        median, late = milliseconds_text(self.median), milliseconds_text(self.p95)
        return f"{median} (95th percentile {late})"

    def to_dict(self) -> dict[str, float | int]:
        """Return the numbers in plain types."""
        return {"median": self.median, "p95": self.p95, "n_calls": self.n_calls}


def time_calls(
    ask: Callable[[Any], Any],
    batches: Sequence[Any],
    *,
    n_calls: int = 200,
    seconds: float = 1.0,
    limit: float | None = None,
) -> CallTimes:
    """Measure calls, after one that is not counted.

    Parameters
    ----------
    ask : callable
        What is called, such as ``model.predict``.
    batches : sequence
        What it is called with, in turn.
    n_calls : int
        How many calls at most.
    seconds : float
        After so long no further call is begun, unless there were fewer than five.
    limit : float, optional
        In milliseconds: calls of which most but not 19 of 20 keep to it may have been
        held up by others on the machine; they are measured again, twice at most, and
        the round with the smallest 95th percentile counts.

    Examples
    --------
    >>> from quorate._ensembles import time_calls
    >>> times = time_calls(sum, [[1, 2], [3, 4]], n_calls=40)
    >>> 0 < times.median <= times.p95, times.n_calls
    (True, 40)
    """
    ask(batches[0])
    best = _one_round(ask, batches, n_calls, seconds)
    for _ in range(_MORE_ROUNDS):
        if limit is None or not best.median <= limit < best.p95:
            break
        again = _one_round(ask, batches, n_calls, seconds)
        best = min(best, again, key=lambda times: times.p95)
    return best


def _one_round(
    ask: Callable[[Any], Any], batches: Sequence[Any], n_calls: int, seconds: float
) -> CallTimes:
    times: list[float] = []
    begin = clock()
    while len(times) < n_calls:
        start = clock()
        if len(times) >= _FEWEST_CALLS and start - begin > seconds:
            break
        ask(batches[len(times) % len(batches)])
        times.append(1e3 * (clock() - start))
    # "higher": a time that was measured, and not below what 19 of 20 take.
    p95 = float(np.quantile(times, _ON_TIME, method="higher"))
    return CallTimes(float(np.median(times)), p95, len(times))


def batch_rows(n_rows: int, batch: int, n_batches: int = 20) -> list[IntArray]:
    """Return row numbers of some batches, spread over all rows.

    At most ``n_batches``, and fewer where they would have more rows than there are:
    batches are copies, and large ones would take the memory.

    Examples
    --------
    >>> from quorate._ensembles import batch_rows
    >>> [rows.tolist() for rows in batch_rows(6, 2, 3)]
    [[0, 1], [2, 3], [4, 5]]
    >>> [rows.tolist() for rows in batch_rows(2, 3, 2)]
    [[0, 1, 0], [1, 0, 1]]
    >>> len(batch_rows(100_000, 50_000))
    2
    """
    fits = max(n_rows, _ROWS_IN_BATCHES) // batch
    n_batches = max(1, min(n_batches, fits))
    starts = np.arange(n_batches) * max(batch, n_rows // n_batches)
    return [(start + np.arange(batch)) % n_rows for start in starts]
