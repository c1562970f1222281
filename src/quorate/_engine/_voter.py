"""What ``fit`` prepares and ``predict`` uses: members, order, stops and engine.

:class:`Voter` serves both classifiers: the one that holds the ensemble and the compact
one without it. Trees are evaluated by compiled kernels (:mod:`quorate._native`) if
available. These give the same results as :func:`vote`, to the bit: the same sums in the
same order, the same stops, the same rules.
"""

import ctypes
import threading
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from quorate._engine._additive import AdditiveEnsemble
from quorate._engine._rules import EXACT, WHOLE, Rule, Stops, make_rule
from quorate._kernels.verdicts import lead
from quorate._messages import warn
from quorate._native import Buffers, Kernels, Plan, address, kernels, misspelt, why_not
from quorate._rows import count_rows, cut_rows, sliceable, take_rows
from quorate._typing import Array, BoolArray, FloatArray, IntArray
from quorate.exceptions import QuorateWarning

# Batches up to this size use preallocated buffers.
_SERVED_ROWS = 128
_SERVED_NUMBERS = 2**16
_DOUBLE, _SINGLE = np.dtype(np.float64), np.dtype(np.float32)
# Same values as in forest.c.
_DECISIONS = ("left_open", "average", "heads", "against")
_LEFT_OPEN = 0
# Evaluating a tree on a row takes about as long as copying this many columns.
_COLUMNS_PER_MEMBER = 100
# The share of trees after which NumPy looks, and for how many rows at least.
_LOOK = 0.6
_ROWS_THAT_PAY = 64
# As many numbers are kept so that close votes need no member a second time.
_KEPT_NUMBERS = 2**20


@dataclass(frozen=True, slots=True)
class LazyResult:
    """Result of voting with early exit.

    Attributes
    ----------
    codes : IntArray
        Class of each row.
    asked : IntArray
        Members evaluated on each row.
    scores : FloatArray
        Sum of their shares of each class.
    """

    codes: IntArray
    asked: IntArray
    scores: FloatArray


class Voter:
    """An ensemble with an order, stops and a rule, ready to predict.

    Parameters
    ----------
    library : Kernels, optional
        Evaluates the trees of the ensemble; NumPy evaluates the members without it.
    """

    def __init__(
        self,
        ensemble: AdditiveEnsemble,
        stops: Stops,
        rule: Rule,
        mode: str,
        confidence: float,
        library: Kernels | None,
    ) -> None:
        self.ensemble, self.stops, self.rule = ensemble, stops, rule
        self.mode, self.confidence = mode, confidence
        self.engine = "numpy" if library is None else "compiled"
        self._kernels = library
        self._adds_weight = bool((ensemble.weights > 0).all())
        if library is not None:
            self._arrays, numbers = kernel_plan(ensemble, stops, rule)
            addresses = {name: address(array) for name, array in self._arrays.items()}
            self._plan = Plan(**addresses, **numbers)
            self._plan_address = ctypes.addressof(self._plan)
            self._decision = _DECISIONS.index(ensemble.decision)
            self._n_features: int = numbers["n_features"]
            self.buffers = _ThreadBuffers(self._n_features, ensemble.classes.size)

    def serve(self, X: Any) -> tuple[IntArray, FloatArray] | None:
        """Return codes and scores of a few plain rows, or None if they need more work.

        Kept minimal, because Python's overhead here is as large as the vote itself.
        Both are in buffers of this thread and are valid until the next call.
        """
        if self._kernels is None or not self.ensemble.takes_plain:
            return None
        if type(X) is not np.ndarray or X.ndim != 2:
            return None
        numbers = X.dtype
        if numbers is not _DOUBLE and numbers is not _SINGLE:
            return None
        n_rows, n_columns = X.shape
        by_size, buffers = self.buffers.by_size
        if n_columns != self._n_features or not 0 < n_rows < len(by_size):
            return None
        found: tuple[IntArray, FloatArray]
        wide, found = by_size[n_rows]
        wide[:] = X
        how = self._decision if self.ensemble.adds_in_order() else _LEFT_OPEN
        if self._kernels.serve(self._plan_address, buffers, n_rows, how) != 0:
            return None  # not finite, or rounding decides and the ensemble insists
        return found

    def prepare(self, X: Any) -> tuple[Any, Any, bool]:
        """Return raw and prepared rows, and whether all are finite."""
        if self._kernels is not None and self.ensemble.takes_plain:
            plain = self._narrow(self._kernels, X)
            if plain is not None:
                return X, plain, True
        return sliceable(X), sliceable(self.ensemble.prepare(X)), False

    def _narrow(self, library: Kernels, X: Any) -> Array | None:
        """Return a plain array as float32 for the kernels, or None if it is not plain.

        A plain array is a C-contiguous float array of the right width with finite
        values, which needs no validation or conversion.
        """
        is_plain = type(X) is np.ndarray and X.ndim == 2 and X.size > 0
        if not is_plain or X.shape[1] != self._n_features:
            return None
        if not (X.flags.c_contiguous and X.flags.aligned):
            return None
        if X.dtype == np.float32:
            return X if library.finite(address(X), X.size) else None
        if X.dtype != np.float64:
            return None
        narrow = np.empty(X.shape, dtype=np.float32)
        fits = library.narrow(address(X), address(narrow), X.size)
        return narrow if fits else None

    def evaluate(
        self, raw: Any, X: Any, is_finite: bool = False, *, keep_scores: bool = True
    ) -> LazyResult:
        """Evaluate members on rows that :meth:`prepare` returned.

        Without ``keep_scores`` only the codes have a meaning.
        """
        ensemble, library = self.ensemble, self._kernels
        if library is None or not isinstance(X, np.ndarray):
            # The kernels do not support sparse rows.
            return self._vote(raw, X, keep_scores)
        n_rows, n_classes = len(X), ensemble.classes.size
        room = n_rows if keep_scores else min(n_rows, library.room)
        codes = np.empty(n_rows, dtype=np.int64)
        asked = np.empty(n_rows, dtype=np.int64)
        close = np.empty(n_rows, dtype=np.uint8)
        # One extra row, in which close votes are summed again.
        scores = np.empty((room + 1, n_classes))
        n_close = library.vote(
            self._plan_address,
            address(X),
            n_rows,
            not (is_finite or library.finite(address(X), X.size)),
            self._decision if ensemble.adds_in_order() else _LEFT_OPEN,
            *[address(array) for array in (codes, asked, close, scores)],
            address(scores) + room * n_classes * scores.itemsize,
            room,
        )
        if n_close:
            rows = np.flatnonzero(close)
            codes[rows] = ensemble.reference(take_rows(raw, rows), take_rows(X, rows))
        return LazyResult(codes, asked, scores[:room])

    def _vote(self, raw: Any, X: Any, keep_scores: bool) -> LazyResult:
        """Evaluate members in NumPy; trees of compact models in blocks of rows."""
        ensemble, rule, n_rows = self.ensemble, self.rule, count_rows(X)
        walk = ensemble.walk
        if walk is None:
            return vote(ensemble, self.stops, rule, raw, X)
        if rule.kind == EXACT and not keep_scores:
            rule = replace(rule, possible=_few_looks(self.stops, rule, n_rows))
        slices = [
            slice(start, start + walk.n_rows) for start in range(0, n_rows, walk.n_rows)
        ]
        parts = [
            vote(ensemble, self.stops, rule, cut_rows(raw, part), X[part])
            for part in slices or [slice(0)]
        ]
        if len(parts) == 1:
            return parts[0]
        results = [(part.codes, part.asked, part.scores) for part in parts]
        return LazyResult(*map(np.concatenate, zip(*results, strict=True)))

    def probabilities(self, scores: FloatArray) -> FloatArray:
        """Return probabilities if all members were evaluated, else mean shares.

        AdaBoost applies softmax to its decision function; other ensembles average their
        members.
        """
        ensemble = self.ensemble
        total = np.add.reduce(scores, axis=1, keepdims=True)
        shares: FloatArray
        if self._adds_weight:
            shares = scores / total
        else:
            with np.errstate(invalid="ignore"):
                shares = scores / total
        n_classes = ensemble.classes.size
        if self.mode != "all" or not ensemble.against or n_classes == 1:
            return shares
        decision = shares + ensemble.against * (1 - shares)
        if n_classes == 2:
            # One number stands for two classes; half of it goes to each.
            decision = (decision - decision[:, ::-1]) / 2
        else:
            decision /= n_classes - 1
        grown = np.exp(decision - decision.max(axis=1, keepdims=True))
        return np.asarray(grown / grown.sum(axis=1, keepdims=True))


def make_voter(
    ensemble: AdditiveEnsemble,
    stops: Stops,
    threshold: float | None,
    *,
    mode: str,
    confidence: float,
    engine: str = "auto",
) -> Voter:
    """Return a :class:`Voter` for an engine.

    Raises an error if kernels are required but unavailable, and warns if the setting
    that disables them is misspelt.
    """
    library = None
    if engine != "numpy":
        remark = misspelt()
        if remark:
            warn(f"{remark}.", QuorateWarning)
        library = kernels()
        problem = why_not() if library is None else ensemble.why_no_trees
        if engine == "compiled" and problem:
            raise ValueError(
                f"LazyClassifier(engine='compiled'): {problem}; engine='auto' gives "
                "the same predictions without compiled kernels."
            )
        library = library if ensemble.trees is not None else None
    rule = make_rule(ensemble, stops, mode, confidence, threshold)
    return Voter(ensemble, stops, rule, mode, confidence, library)


def vote(
    ensemble: AdditiveEnsemble, stops: Stops, rule: Rule, raw: Any, X: Any
) -> LazyResult:
    """Evaluate members in order until every row is decided or none are left."""
    n_rows, n_classes = count_rows(X), ensemble.classes.size
    codes, asked = np.empty((2, n_rows), dtype=np.intp)
    scores = np.zeros((n_rows, n_classes))
    width = X.shape[1] if isinstance(X, np.ndarray) else 1
    rows, running = np.arange(n_rows), np.zeros((n_rows, n_classes))
    is_open = np.ones(n_rows, dtype=bool)
    last = stops.ends.size - 1
    keeps = ensemble.walk is None and scores.size * ensemble.n_members <= _KEPT_NUMBERS
    start, kept = 0, np.empty((ensemble.n_members * keeps, n_rows, n_classes))
    for step, end in enumerate(stops.ends):
        if step < last and not rule.possible[step]:
            continue
        if ensemble.walk is not None:
            running = ensemble.walk.add(stops.order[start:end], X, running)
        for member in stops.order[start:end] if ensemble.walk is None else ():
            shares = ensemble.members[member](X)
            running += shares
            if keeps:
                kept[member, rows] = shares
        leader, best, second = lead(ensemble.handicapped(running))
        if step == last:
            close = is_open & ~(best - second > ensemble.margin)
            if close.any():
                unsettled = take_rows(X, np.flatnonzero(close))
                in_order = kept[:, rows[close]] if keeps else ensemble.shares(unsettled)
                leader[close] = (
                    ensemble.decide(in_order)
                    if ensemble.adds_in_order()
                    else ensemble.reference(take_rows(raw, rows[close]), unsettled)
                )
            done = is_open
        else:
            done = rule.decided(step, best, second) & is_open
        places = np.flatnonzero(done)
        closed = rows[places]
        codes[closed] = leader[places]
        asked[closed] = end
        scores[closed] = running.take(places, axis=0)
        is_open = is_open & ~done
        n_open = int(np.count_nonzero(is_open))
        if n_open == 0:
            break
        # Whether copying the open rows is cheaper than evaluating closed ones.
        n_saved = (is_open.size - n_open) * (end - start)
        if n_saved * _COLUMNS_PER_MEMBER >= n_open * width:
            keep = np.flatnonzero(is_open)
            rows, X = rows[keep], take_rows(X, keep)
            running = running.take(keep, axis=0)
            is_open = np.ones(n_open, dtype=bool)
        start = end
    return LazyResult(codes, asked, scores)


def _few_looks(stops: Stops, rule: Rule, n_rows: int) -> BoolArray:
    """Return where NumPy looks whether exact votes are decided: once, or never.

    They end the same. Fewer trees for fewer rows do not save the time of a look.
    """
    few = np.zeros_like(rule.possible)
    if n_rows >= _ROWS_THAT_PAY:
        at = np.searchsorted(stops.ends, _LOOK * stops.ends[-1])
        few[at] = rule.possible[at]
    return few


class _ThreadBuffers(threading.local):
    """Preallocated arrays for a few rows, one set per thread."""

    def __init__(self, n_features: int, n_classes: int) -> None:
        n_rows = max(1, min(_SERVED_ROWS, _SERVED_NUMBERS // n_features))
        self.arrays: dict[str, Array] = {
            "wide": np.empty((n_rows, n_features)),
            "narrow": np.empty((n_rows, n_features), dtype=np.float32),
            "codes": np.empty(n_rows, dtype=np.int64),
            "asked": np.empty(n_rows, dtype=np.int64),
            "close": np.empty(n_rows, dtype=np.uint8),
            "scores": np.empty((n_rows, n_classes)),
            "scratch": np.empty(n_classes),
        }
        addresses = {name: address(array) for name, array in self.arrays.items()}
        self._buffers = Buffers(**addresses)
        # Slices by number of rows: a lookup is faster than slicing.
        wide, codes, scores = (self.arrays[n] for n in ("wide", "codes", "scores"))
        slices = [(wide[:n], (codes[:n], scores[:n])) for n in range(n_rows + 1)]
        self.by_size = slices, ctypes.addressof(self._buffers)


def kernel_plan(
    ensemble: AdditiveEnsemble, stops: Stops, rule: Rule
) -> tuple[dict[str, Array], dict[str, Any]]:
    """Return the arrays and numbers of ``plan`` in ``forest.c``, under its names."""
    trees = ensemble.trees
    if trees is None:
        raise TypeError(ensemble.why_no_trees)
    looks = np.flatnonzero(np.r_[rule.possible[:-1], True])
    arrays = {
        "nodes": trees.nodes,
        "table": trees.table,
        "own_roots": _as_array(trees.roots, np.int32),
        "own_weights": _as_array(ensemble.weights, np.float64),
        "roots": _as_array(trees.roots[stops.order], np.int32),
        "weights": _as_array(ensemble.weights[stops.order], np.float64),
        "ends": _as_array(stops.ends[looks], np.int32),
        "handicap": _as_array(ensemble.handicap, np.float64),
        "rest": _as_array(rule.limit[looks], np.float64),
    }
    if rule.enough is not None:
        arrays["enough"] = _as_array(rule.enough[looks], np.float64)
    if rule.needed is not None:
        arrays["needed"] = _as_array(rule.needed[looks], np.int64)
    return arrays, {
        "total": float(ensemble.weights.sum()),
        "against": ensemble.against,
        "n_trees": trees.roots.size,
        "n_features": trees.n_features,
        "n_classes": trees.n_classes,
        "n_looks": looks.size,
        "margin": ensemble.margin,
        "rule": rule.kind,
        "n_needed": 0 if rule.needed is None else rule.needed.shape[1],
        "scale": rule.scale,
        "whole": WHOLE,
        "threshold": rule.threshold,
    }


def _as_array(numbers: Array, kind: type) -> Array:
    return np.ascontiguousarray(numbers, dtype=kind)
