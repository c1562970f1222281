"""Costs of members and models: bytes, nodes; prediction time of models."""

import gc
import pickle
import sys
import time
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

import numpy as np

from quorate._ensembles._registry import read_ensemble
from quorate._typing import Array, FloatArray

# Units of cost.
COSTS = ("bytes", "nodes")

_SHARED = (type, ModuleType, FunctionType, BuiltinFunctionType)


def member_costs(ensemble: Any, kind: str) -> Array:
    """Return the cost of each member.

    Parameters
    ----------
    ensemble : fitted ensemble, list or dict
    kind : {"bytes", "nodes"}
        Pickled size, or nodes of a tree.
    """
    if kind not in COSTS:
        raise ValueError(
            f"cost={kind!r}: must be {', '.join(map(repr, COSTS))}, or numbers."
        )
    found = read_ensemble(ensemble)
    if kind == "bytes":
        return np.array([pickled_bytes(m.estimator) for m in found.members])
    nodes = [count_nodes(member.estimator) for member in found.members]
    if None in nodes:
        member = found.members[nodes.index(None)]
        raise ValueError(
            f"member {member.name!r} ({type(member.estimator).__name__}) does not "
            "consist of trees and has no nodes to count."
        )
    return np.array(nodes)


def pickled_bytes(thing: Any) -> int:
    """Return the pickled size of an object."""
    return len(pickle.dumps(thing, pickle.HIGHEST_PROTOCOL))


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
    """Return the best prediction time of each model; the models take turns.

    They take no other turn after a second: long times vary little.
    """
    best = np.full(len(models), np.inf)
    begin = time.perf_counter()
    for turn in range(repeats):
        if turn and time.perf_counter() - begin > 1.0:
            break
        for place, model in enumerate(models):
            start = time.perf_counter()
            model.predict(X)
            best[place] = min(best[place], time.perf_counter() - start)
    return 1e3 * best
