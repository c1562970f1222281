"""What members and ensembles cost: bytes, nodes, time to predict."""

import gc
import io
import pickle
import sys
import time
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from quorate._ensembles._member import Member
from quorate._ensembles._registry import read_ensemble
from quorate._typing import Array, FloatArray

COSTS = ("bytes", "nodes", "milliseconds")
"""What members can be counted in."""

_SHARED = (type, ModuleType, FunctionType, BuiltinFunctionType)


def member_costs(ensemble: Any, kind: str, X: Any = None, repeats: int = 3) -> Array:
    """Return what each member costs.

    Parameters
    ----------
    ensemble : fitted ensemble, list or dict
    kind : {"bytes", "nodes", "milliseconds"}
        Pickled size, nodes of a tree, or best measured time to predict ``X``.
    X : array-like, optional
        Samples to measure the time on.
    repeats : int
        Measurements of the time, of which the best counts.
    """
    if kind not in COSTS:
        raise ValueError(f"cost={kind!r}: {', '.join(map(repr, COSTS))}, or numbers.")
    found = read_ensemble(ensemble)
    if kind == "bytes":
        return np.array([pickled_bytes(m.estimator) for m in found.members])
    if kind == "nodes":
        return np.array([_member_nodes(member) for member in found.members])
    if X is None:
        raise ValueError("cost='milliseconds': needs X to predict.")
    prepared = found.prepare(X)
    return np.array([_time(m, prepared, repeats) for m in found.members])


def _member_nodes(member: Member) -> int:
    nodes = count_nodes(member.estimator)
    if nodes is None:
        raise ValueError(
            f"member {member.name!r} ({type(member.estimator).__name__}) is not made "
            "of trees and has no nodes to count."
        )
    return nodes


def _time(member: Member, X: Any, repeats: int) -> float:
    best = float("inf")
    for _ in range(repeats):
        start = time.perf_counter()
        member.vote(X)
        best = min(best, time.perf_counter() - start)
    return 1e3 * best


def pickled_bytes(thing: Any) -> int:
    """Return the size of the thing when pickled."""
    written = io.BytesIO()
    _NamesOnce(written, protocol=pickle.HIGHEST_PROTOCOL).dump(thing)
    return written.tell()


class _NamesOnce(pickle.Pickler):
    """Writes a name again as a reference, whatever the process did before.

    Pickle knows a string again by its identity. A process that has read its first tree
    from a file keeps attribute names of its own for the trees it fits later, and the
    name ``max_depth``, which a tree and its nodes share, is written twice.
    """

    def reducer_override(self, obj: Any) -> Any:
        if not isinstance(obj, BaseEstimator):
            return NotImplemented
        reduced = obj.__reduce_ex__(pickle.HIGHEST_PROTOCOL)
        if isinstance(reduced, str) or len(reduced) < 3 or type(reduced[2]) is not dict:
            return reduced
        state = {_interned(key): _interned(reduced[2][key]) for key in reduced[2]}
        return (*reduced[:2], state, *reduced[3:])


def _interned(part: Any) -> Any:
    if type(part) is tuple:
        return tuple(map(_interned, part))
    return sys.intern(part) if type(part) is str else part


def count_nodes(estimator: Any) -> int | None:
    """Return the number of nodes of all trees in an estimator, None if it has none."""
    trees = [thing for thing in _walk(estimator) if _is_tree(thing)]
    return sum(int(tree.node_count) for tree in trees) if trees else None


def memory_bytes(thing: Any) -> int:
    """Return the memory the thing and all it refers to take, arrays included."""
    return sum(_own_bytes(part) for part in _walk(thing))


def _walk(thing: Any) -> list[Any]:
    """Return everything reachable from the thing, once each."""
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
    return list(seen.values())


def _own_bytes(part: Any) -> int:
    if _is_tree(part):
        # Trees keep their nodes outside of Python's sight; their state shows them.
        state = part.__getstate__()
        return sum(a.nbytes for a in state.values() if isinstance(a, np.ndarray))
    return sys.getsizeof(part)


def _is_tree(thing: Any) -> bool:
    return hasattr(thing, "node_count") and hasattr(thing, "children_left")


def predict_milliseconds(models: list[Any], X: Any, repeats: int = 5) -> FloatArray:
    """Return the best time of each model to predict X; models take turns."""
    best = np.full(len(models), np.inf)
    for _ in range(repeats):
        for place, model in enumerate(models):
            start = time.perf_counter()
            model.predict(X)
            best[place] = min(best[place], time.perf_counter() - start)
    return 1e3 * best
