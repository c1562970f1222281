"""What ``fit`` prepares and ``predict`` uses: who is asked, when to stop, and by what.

One object for both classifiers, the one that holds the ensemble and the compact one
that has done away with it.
"""

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from scipy.special import softmax
from sklearn.utils.parallel import Parallel, delayed

from quorate._data import count_rows, cut_rows, sliceable
from quorate._typing import FloatArray, IntArray
from quorate.lazy._additive import AdditiveEnsemble
from quorate.lazy._arrays import TreeArrays
from quorate.lazy._compiled import CompiledVote, find_kernels
from quorate.lazy._engine import Outcome, vote
from quorate.lazy._rules import (
    CalibratedRule,
    ExactRule,
    Rule,
    Stops,
    make_bayes,
)

# Rows that make it worth while to start a worker.
_ROWS_PER_JOB = 500


@dataclass(frozen=True, slots=True, eq=False)
class Ready:
    """An ensemble that can be asked at once."""

    ensemble: AdditiveEnsemble
    order: IntArray
    stops: Stops
    rule: Rule
    compiled: CompiledVote | None
    """None where NumPy is the engine."""

    @property
    def engine(self) -> str:
        """What members are asked by."""
        return "numpy" if self.compiled is None else "compiled"

    def codes(self, X: Any, n_jobs: int | None = None) -> IntArray:
        """Return the class of each row, by the shortest way there is.

        They are for use at once: the next call may write over them.
        """
        if self.compiled is not None and self.ensemble.plain_columns is not None:
            found = self.compiled.serve(X)
            if found is not None:
                return found
        return self.ask(X, n_jobs, keep_scores=False).codes

    def ask(
        self, X: Any, n_jobs: int | None = None, *, keep_scores: bool = True
    ) -> Outcome:
        """Ask about X as it is given; scores that nobody wants need not be kept."""
        if self.compiled is not None and self.ensemble.plain_columns is not None:
            plain = self.compiled.narrowed(X)
            if plain is not None:
                if len(plain) < 2 * _ROWS_PER_JOB or n_jobs is None:
                    return self.compiled.ask(
                        X, plain, is_finite=True, keep_scores=keep_scores
                    )
                return self.ask_prepared(X, plain, n_jobs)
        prepared = sliceable(self.ensemble.prepare(X))
        return self.ask_prepared(sliceable(X), prepared, n_jobs)

    def ask_prepared(self, raw: Any, X: Any, n_jobs: int | None = None) -> Outcome:
        """Ask about rows that are prepared, in as many parts as there are jobs."""
        n_parts = _n_parts(count_rows(X), n_jobs)
        if n_parts == 1:
            return self._ask_part(raw, X)
        bounds = np.linspace(0, count_rows(X), n_parts + 1).astype(int)
        found = Parallel(n_jobs=n_parts, prefer="threads")(
            delayed(self._ask_part)(cut_rows(raw, part), cut_rows(X, part))
            for part in (slice(*pair) for pair in pairwise(bounds))
        )
        return Outcome(
            np.concatenate([part.codes for part in found]),
            np.concatenate([part.asked for part in found]),
            np.concatenate([part.scores for part in found]),
        )

    def _ask_part(self, raw: Any, X: Any) -> Outcome:
        if self.compiled is None or not isinstance(X, np.ndarray):
            # Kernels know no sparse rows.
            return vote(self.ensemble, self.order, self.stops, self.rule, raw, X)
        return self.compiled.ask(raw, X)


def _n_parts(n_rows: int, n_jobs: int | None) -> int:
    if n_rows < 2 * _ROWS_PER_JOB:
        return 1
    return max(1, min(int(effective_n_jobs(n_jobs)), n_rows // _ROWS_PER_JOB))


def make_ready(
    ensemble: AdditiveEnsemble,
    order: IntArray,
    stops: Stops,
    rule: Rule,
    engine: str,
    *,
    trees: TreeArrays | None = None,
    owner: str = "LazyClassifier",
) -> Ready:
    """Put it together for an engine; ``trees`` if there are arrays of them already."""
    found = find_kernels(engine, ensemble, owner)
    compiled = None
    if found is not None:
        assert ensemble.arrays is not None
        arrays = ensemble.arrays() if trees is None else trees
        compiled = CompiledVote(found, arrays, ensemble, order, stops, rule)
    return Ready(ensemble, order, stops, rule, compiled)


def make_rule(
    ensemble: AdditiveEnsemble,
    stops: Stops,
    mode: str,
    confidence: float,
    threshold: float | None,
) -> Rule:
    """Return when a mode stops."""
    exact = ExactRule(stops, ensemble.margin)
    if mode == "bayes":
        return make_bayes(ensemble, stops, confidence)
    if mode == "calibrated":
        assert threshold is not None
        return CalibratedRule(exact, threshold)
    return exact


def probabilities(
    ensemble: AdditiveEnsemble, outcome: Outcome, mode: str
) -> FloatArray:
    """Return scores as the ensemble's own probabilities if all were asked, else shares.

    AdaBoost makes probabilities of its decision function, by softmax; the others have
    the mean of what members give.
    """
    scores = outcome.scores
    with np.errstate(invalid="ignore"):
        shares: FloatArray = scores / scores.sum(axis=1, keepdims=True)
    n_classes = ensemble.classes.size
    if mode != "all" or not ensemble.against or n_classes == 1:
        return shares
    decision = shares + ensemble.against * (1 - shares)
    if n_classes == 2:
        # One number stands for two classes, and half of it goes to each.
        decision = (decision - decision[:, ::-1]) / 2
    else:
        decision /= n_classes - 1
    return np.asarray(softmax(decision, axis=1))
