"""A vote of trees by kernels: the plan they follow, and the thin door before them.

The kernels (:mod:`quorate._native`) do what :func:`quorate.lazy._engine.vote` does, to
the bit: the same sums in the same order, the same looks, the same rules.
"""

import ctypes
import threading
from typing import Any

import numpy as np

from quorate._data import take_rows
from quorate._messages import warn
from quorate._native import Desk, Kernels, Plan, kernels, misspelt, why_not
from quorate._typing import Array, FloatArray, IntArray
from quorate.exceptions import QuorateWarning
from quorate.lazy._additive import AdditiveEnsemble
from quorate.lazy._arrays import TreeArrays
from quorate.lazy._engine import Outcome
from quorate.lazy._rules import (
    WHOLE,
    BayesRule,
    CalibratedRule,
    ExactRule,
    Rule,
    Stops,
)

ENGINES = ("auto", "compiled", "numpy")

# Batches for which what is needed besides is made once and kept.
_SERVED_ROWS = 128
_SERVED_NUMBERS = 2**16
_DOUBLE, _SINGLE = np.dtype(np.float64), np.dtype(np.float32)
# As in forest.c.
_EXACT, _SHARE, _VOTES, _RELATIVE = range(4)
_LEFT_OPEN, _AVERAGE, _HEADS, _AGAINST = range(4)


def find_kernels(engine: str, ensemble: AdditiveEnsemble, owner: str) -> Kernels | None:
    """Return the kernels if they can answer for an ensemble; None for NumPy.

    Who insists on them is told why they cannot, and who meant to do without them by a
    word that says nothing, that it does not.
    """
    if engine == "numpy":
        return None
    remark = misspelt()
    if remark:
        warn(f"{owner}: {remark}.", QuorateWarning)
    found = kernels()
    if engine == "compiled":
        problem = why_not() if found is None else ensemble.why_no_arrays
        if problem:
            raise ValueError(
                f"{owner}(engine='compiled'): {problem}; engine='auto' answers the "
                "same without."
            )
    return None if ensemble.arrays is None else found


class CompiledVote:
    """An ensemble of trees, an order, stops and a rule, as the kernels take them."""

    def __init__(
        self,
        found: Kernels,
        trees: TreeArrays,
        ensemble: AdditiveEnsemble,
        order: IntArray,
        stops: Stops,
        rule: Rule,
    ) -> None:
        self._kernels = found
        self._ensemble = ensemble
        self._n_classes = trees.n_classes
        self._n_features = trees.n_features
        self.arrays, numbers = plan_of(trees, ensemble, order, stops, rule)
        addresses = {name: _address(array) for name, array in self.arrays.items()}
        self._plan = Plan(**addresses, **numbers)
        self._at = ctypes.addressof(self._plan)
        self._desks = _Desks(trees.n_features, trees.n_classes)

    def ask(
        self,
        raw: Any,
        X: Array,
        *,
        is_finite: bool = False,
        keep_scores: bool = True,
    ) -> Outcome:
        """Ask about prepared rows; the ensemble has the last word where it insists.

        Scores that are not kept are no numbers of anything.
        """
        outcome, close = self._vote(X, is_finite, self._how(), keep_scores)
        if close is not None:
            rows = np.flatnonzero(close)
            outcome.codes[rows] = self._ensemble.reference(
                take_rows(raw, rows), take_rows(X, rows)
            )
        return outcome

    def serve(self, X: Any) -> IntArray | None:
        """Return the codes of a few plain rows; None if it takes more than that.

        It does as little as possible: what Python does here takes as long as the vote.
        The codes lie on this thread's desk until it is asked again.
        """
        if type(X) is not np.ndarray or X.ndim != 2:
            return None
        numbers = X.dtype
        if numbers is not _DOUBLE and numbers is not _SINGLE:
            return None
        n_rows, n_columns = X.shape
        places, at = self._desks.mine
        if n_columns != self._n_features or not 0 < n_rows < len(places):
            return None
        codes: IntArray
        wide, codes = places[n_rows]
        wide[:] = X
        if self._kernels.serve(self._at, at, n_rows, self._how()) != 0:
            return None  # not finite, or rounding decides and the ensemble insists
        return codes

    def narrowed(self, X: Any) -> Array | None:
        """Return a plain array as the kernels take it; None if it needs more than that.

        Plain is a C-contiguous array of floats of the right width whose values are
        finite: nothing that anybody would have to check, convert or refuse.
        """
        if type(X) is not np.ndarray or X.ndim != 2:
            return None
        n_rows, n_columns = X.shape
        flags = X.flags
        if n_columns != self._n_features or n_rows == 0:
            return None
        if not (flags.c_contiguous and flags.aligned):
            return None
        if X.dtype == np.float32:
            return X if self._kernels.finite(_address(X), X.size) else None
        if X.dtype != np.float64:
            return None
        narrow = np.empty((n_rows, n_columns), dtype=np.float32)
        fits = self._kernels.narrow(_address(X), _address(narrow), X.size)
        return narrow if fits else None

    def _how(self) -> int:
        ensemble = self._ensemble
        if not ensemble.adds_in_order():
            return _LEFT_OPEN
        if ensemble.against:
            return _AGAINST
        return _AVERAGE if ensemble.divides else _HEADS

    def _vote(
        self, X: Array, is_finite: bool, how: int, keep_scores: bool
    ) -> tuple[Outcome, Any]:
        n_rows = len(X)
        room = n_rows if keep_scores else min(n_rows, self._kernels.room)
        codes = np.empty(n_rows, dtype=np.int64)
        asked = np.empty(n_rows, dtype=np.int64)
        close = np.empty(n_rows, dtype=np.uint8)
        # One row more, in which close votes are added up again.
        scores = np.empty((room + 1, self._n_classes))
        at = _address(scores)
        n_close = self._kernels.vote(
            self._at,
            _address(X),
            n_rows,
            not (is_finite or self._kernels.finite(_address(X), X.size)),
            how,
            _address(codes),
            _address(asked),
            _address(close),
            at,
            at + room * self._n_classes * 8,
            room,
        )
        return Outcome(codes, asked, scores[:room]), close if n_close else None


class _Desks(threading.local):
    """A desk for each thread."""

    def __init__(self, n_features: int, n_classes: int) -> None:
        n_rows = max(1, min(_SERVED_ROWS, _SERVED_NUMBERS // n_features))
        arrays: dict[str, Array] = {
            "wide": np.empty((n_rows, n_features)),
            "narrow": np.empty((n_rows, n_features), dtype=np.float32),
            "codes": np.empty(n_rows, dtype=np.int64),
            "asked": np.empty(n_rows, dtype=np.int64),
            "close": np.empty(n_rows, dtype=np.uint8),
            "scores": np.empty((n_rows, n_classes)),
            "scratch": np.empty(n_classes),
        }
        self._alive = arrays
        self._desk = Desk(**{name: _address(part) for name, part in arrays.items()})
        # Where rows are put and their codes are found, by how many they are: cutting
        # an array takes longer than looking it up.
        places = [(arrays["wide"][:n], arrays["codes"][:n]) for n in range(n_rows + 1)]
        self.mine = places, ctypes.addressof(self._desk)


def plan_of(
    trees: TreeArrays,
    ensemble: AdditiveEnsemble,
    order: IntArray,
    stops: Stops,
    rule: Rule,
) -> tuple[dict[str, Array], dict[str, Any]]:
    """Return the arrays and the numbers of a plan, by the names in ``forest.c``."""
    last = stops.ends.size - 1
    looks = [step for step in range(last) if rule.possible(step)] + [last]
    kind, limits, numbers = _limits(rule, looks)
    exact = rule if isinstance(rule, ExactRule) else rule.exact  # type: ignore[attr-defined]
    arrays = {
        "nodes": trees.nodes,
        "table": trees.table,
        "own_roots": _whole(trees.roots),
        "own_weights": _float(ensemble.weights),
        "roots": _whole(trees.roots[order]),
        "weights": _float(ensemble.weights[order]),
        "ends": _whole(stops.ends[looks]),
        "handicap": _float(ensemble.handicap),
        "rest": _float(stops.rest[looks] + exact.margin),
        **limits,
    }
    return arrays, {
        "total": float(ensemble.weights.sum()),
        "against": ensemble.against,
        "n_trees": trees.roots.size,
        "n_features": trees.n_features,
        "n_classes": trees.n_classes,
        "n_looks": len(looks),
        "margin": ensemble.margin,
        "rule": kind,
        "n_needed": 0,
        **numbers,
    }


def _limits(
    rule: Rule, looks: list[int]
) -> tuple[int, dict[str, Array], dict[str, Any]]:
    """Return a rule as a number, with the arrays and the numbers it needs."""
    if isinstance(rule, CalibratedRule):
        unit = _float(rule.exact.stops.root[looks])
        return _RELATIVE, {"enough": unit}, {"threshold": rule.threshold}
    if not isinstance(rule, BayesRule):
        return _EXACT, {}, {}
    if rule.between_two is not None:
        return _SHARE, {"enough": _float(rule.between_two[looks])}, {}
    needed = np.ascontiguousarray(rule.needed[looks], dtype=np.int64)
    numbers = {"scale": rule.scale, "whole": WHOLE, "n_needed": needed.shape[1]}
    return _VOTES, {"needed": needed}, numbers


def _whole(numbers: IntArray) -> Array:
    return np.ascontiguousarray(numbers, dtype=np.int32)


def _float(numbers: FloatArray) -> FloatArray:
    return np.ascontiguousarray(numbers, dtype=np.float64)


def _address(array: Array) -> int:
    at: int = array.__array_interface__["data"][0]
    return at
