"""Costs of members and ensembles: bytes, nodes, prediction time."""

import gc
import io
import pickle
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from quorate._ensembles._member import Member
from quorate._ensembles._registry import read_ensemble
from quorate._typing import Array, FloatArray, IntArray
from quorate._units import milliseconds_text

# Units of cost.
COSTS = ("bytes", "nodes", "milliseconds")

_TEXTS = (str, tuple)
_SHARED = (type, ModuleType, FunctionType, BuiltinFunctionType)


def member_costs(ensemble: Any, kind: str, X: Any = None, repeats: int = 3) -> Array:
    """Return the cost of each member.

    Parameters
    ----------
    ensemble : fitted ensemble, list or dict
    kind : {"bytes", "nodes", "milliseconds"}
        Pickled size, nodes of a tree, or best measured time to predict ``X``.
    X : array-like, optional
        Samples to measure the time on.
    repeats : int
        Number of time measurements; the best counts.
    """
    if kind not in COSTS:
        raise ValueError(
            f"cost={kind!r}: must be {', '.join(map(repr, COSTS))}, or numbers."
        )
    found = read_ensemble(ensemble)
    if kind == "bytes":
        return np.array([pickled_bytes(m.estimator) for m in found.members])
    if kind == "nodes":
        return np.array([_member_nodes(member) for member in found.members])
    if X is None:
        raise ValueError("cost='milliseconds': needs X to predict.")
    prepared = found.prepare(X)
    calls = [partial(member.vote, prepared) for member in found.members]
    return _best_milliseconds(calls, repeats)


def _member_nodes(member: Member) -> int:
    nodes = count_nodes(member.estimator)
    if nodes is None:
        raise ValueError(
            f"member {member.name!r} ({type(member.estimator).__name__}) does not "
            "consist of trees and has no nodes to count."
        )
    return nodes


def pickled_bytes(thing: Any) -> int:
    """Return the pickled size of an object."""
    written = io.BytesIO()
    InterningPickler(written, protocol=pickle.HIGHEST_PROTOCOL).dump(thing)
    return written.tell()


class InterningPickler(pickle.Pickler):
    """A pickler that writes each attribute name only once.

    Pickle memoises strings by identity. After a process has loaded a tree from a file,
    trees that it fits later hold copies of attribute names such as ``max_depth``, which
    would be written twice.
    """

    def reducer_override(self, obj: Any) -> Any:
        if not isinstance(obj, BaseEstimator):
            return NotImplemented
        reduced = obj.__reduce_ex__(pickle.HIGHEST_PROTOCOL)
        if isinstance(reduced, str) or len(reduced) < 3 or type(reduced[2]) is not dict:
            return reduced
        state = {
            sys.intern(name): _interned(value) if type(value) in _TEXTS else value
            for name, value in reduced[2].items()
        }
        return (*reduced[:2], state, *reduced[3:])


def _interned(value: Any) -> Any:
    """Return text, or a tuple with text in it, with a single copy of each text."""
    if type(value) is tuple:
        return tuple(map(_interned, value))
    return sys.intern(value) if type(value) is str else value


def count_nodes(estimator: Any) -> int | None:
    """Return the number of tree nodes in an estimator, or None without trees."""
    trees, _ = _reachable(estimator)
    return sum(int(tree.node_count) for tree in trees) if trees else None


def memory_bytes(thing: Any) -> int:
    """Return the memory used by an object and everything it refers to."""
    trees, others = _reachable(thing)
    # Trees store their nodes in C; their pickled state exposes them.
    states = [value for tree in trees for value in tree.__getstate__().values()]
    arrays = (value.nbytes for value in states if isinstance(value, np.ndarray))
    return sum(arrays) + sum(map(sys.getsizeof, others))


def _reachable(thing: Any) -> tuple[list[Any], list[Any]]:
    """Return the trees and the other objects reachable from one, once each."""
    seen: dict[int, Any] = {}
    open_ends = [thing]
    while open_ends:
        part = open_ends.pop()
        if id(part) in seen or isinstance(part, _SHARED):
            continue
        seen[id(part)] = part
        open_ends.extend(gc.get_referents(part))
        if isinstance(part, np.ndarray) and part.base is not None:
            open_ends.append(part.base)
    trees: list[Any] = []
    others: list[Any] = []
    for part in seen.values():
        is_tree = hasattr(part, "node_count") and hasattr(part, "children_left")
        (trees if is_tree else others).append(part)
    return trees, others


def predict_milliseconds(models: list[Any], X: Any, repeats: int = 5) -> FloatArray:
    """Return the best prediction time of each model; the models take turns."""
    return _best_milliseconds([partial(model.predict, X) for model in models], repeats)


def _best_milliseconds(calls: Sequence[Callable[[], Any]], repeats: int) -> FloatArray:
    best = np.full(len(calls), np.inf)
    for _ in range(repeats):
        for place, call in enumerate(calls):
            start = time.perf_counter()
            call()
            best[place] = min(best[place], time.perf_counter() - start)
    return 1e3 * best


clock = time.perf_counter
processor_clock = time.process_time

_ON_TIME = 0.95
_FEWEST_CALLS = 5
# Up to this many rows are always copied; more only if X has more.
_ROWS_IN_BATCHES = 2**14


@dataclass(frozen=True, slots=True)
class CallTimes:
    """Measured times of calls, in milliseconds.

    Attributes
    ----------
    median : float
        Median wall-clock time.
    p95 : float
        95 % of the calls take at most this. A call that waited longer than usual counts
        as a usual one, or by its processor time if that is more, so that other programs
        do not count.
    processor : float
        Median of the processor time.
    """

    median: float
    p95: float
    processor: float
    n_calls: int

    def __str__(self) -> str:
        median, late = milliseconds_text(self.median), milliseconds_text(self.p95)
        return f"{median} (95th percentile {late})"

    def to_dict(self) -> dict[str, float | int]:
        """Return the times as plain types."""
        return asdict(self)


def time_calls(
    ask: Callable[[Any], Any],
    batches: Sequence[Any],
    *,
    n_calls: int = 200,
    seconds: float = 1.0,
) -> CallTimes:
    """Time calls, after one that is not counted.

    Parameters
    ----------
    ask : callable
        The function to call, such as ``model.predict``.
    batches : sequence
        Its arguments, used in turn.
    n_calls : int
        Maximum number of calls.
    seconds : float
        Time limit for starting another call, after at least five.

    Examples
    --------
    >>> from quorate._ensembles import time_calls
    >>> times = time_calls(sum, [[1, 2], [3, 4]], n_calls=40)
    >>> 0 < times.median <= times.p95, times.n_calls
    (True, 40)
    """
    ask(batches[0])
    taken: list[tuple[float, float]] = []
    begin = clock()
    while len(taken) < n_calls:
        start, started = clock(), processor_clock()
        if len(taken) >= _FEWEST_CALLS and start - begin > seconds:
            break
        ask(batches[len(taken) % len(batches)])
        taken.append((clock() - start, processor_clock() - started))
    wall, own = 1e3 * np.array(taken).T
    median = float(np.median(wall))
    unhindered = np.minimum(wall, np.maximum(own, median))
    # "higher" returns a measured time, not below that of 95 % of the calls.
    p95 = float(np.quantile(unhindered, _ON_TIME, method="higher"))
    return CallTimes(median, p95, float(np.median(own)), len(taken))


def batch_rows(n_rows: int, batch: int, n_batches: int = 20) -> list[IntArray]:
    """Return row numbers of some batches, spread over all rows.

    At most ``n_batches``, and fewer if they would exceed the number of rows: batches
    are copies and take memory.

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
