"""Members that answer in time: what a call takes is measured, never added up.

What a call of a model takes is more than its members: it checks its input, goes through
the steps of a pipeline and starts its loops. So the smaller model itself is built and
called, with batches of the size that was stated.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from quorate._choosing import (
    Chooser,
    EnsembleEvidence,
    Latency,
    Selection,
    SizeByCost,
    calls_text,
)
from quorate._data import take_rows
from quorate._ensembles import (
    CallTimes,
    Ensemble,
    WeightedVoting,
    batch_rows,
    find_record,
    set_record,
    time_calls,
)
from quorate._messages import warn
from quorate._typing import Array, FloatArray, IntArray
from quorate._units import milliseconds_text
from quorate.exceptions import QuorateWarning
from quorate.lazy import LazyClassifier, compact

# While sizes are tried, a tenth of the limit stays free: another hour may be busier.
_AIM = 0.9
_LAZY = "quorate.LazyClassifier"
_TRIAL: dict[str, Any] = {"n_calls": 40, "seconds": 0.25}
# In a batch with more rows than there are samples: 0.8 GB of doubles.
_MOST_NUMBERS = 10**8


def choose_in_time(
    chooser: Chooser,
    evidence: EnsembleEvidence,
    size: SizeByCost,
    build: Callable[[Selection], Any],
) -> tuple[Any, Selection]:
    """Return the largest model that answers in time, and its members.

    The record of the model and the selection have its times.

    Parameters
    ----------
    chooser : Chooser
    evidence : EnsembleEvidence
        What is chosen on, of which batches to time are made.
    size : SizeByCost
        Limits, milliseconds among them.
    build : callable
        Makes the model of a choice, which is timed.
    """
    members = chooser.order_members()
    most = size.resolve(members.order, evidence.costs, timed=True)
    budget = LatencyBudget(
        evidence,
        size.limits["milliseconds"],
        size.batch or 1,
        all_may_stay=most == evidence.votes.n_members,
    )
    number = budget.estimate(members.order[:most], members.pruner.new_weights)
    while True:
        selection = chooser.first(members, number)
        model = build(selection)
        times = budget.time(model.predict)  # longer than those that were tried
        if times.p95 <= budget.limit:
            latency = budget.latency(times, selection.n_kept)
            record = {**(find_record(model) or {}), "latency": latency.to_dict()}
            return set_record(model, record), replace(selection, latency=latency)
        if number == 1:
            raise budget.refusal(times)
        number = min(number - 1, int(0.9 * number))


class LatencyBudget:
    """A limit on the time of a call, kept by models that are timed.

    Parameters
    ----------
    evidence : Evidence
        With an ensemble and samples, of which batches are made.
    limit : float
        Milliseconds of a call.
    batch : int
        Rows in a call.
    all_may_stay : bool
        Whether nothing but time is limited, so that all may be asked lazily.
    """

    def __init__(
        self,
        evidence: EnsembleEvidence,
        limit: float,
        batch: int,
        *,
        all_may_stay: bool,
    ) -> None:
        self.ensemble = evidence.ensemble
        self.limit, self.batch, self.all_may_stay = limit, batch, all_may_stay
        self.classes: Array = evidence.votes.classes
        _check_memory(evidence, batch)
        self.batches = [
            take_rows(evidence.X, evidence.rows[places])
            for places in batch_rows(evidence.rows.size, batch)
        ]
        self.preprocessing = self.time(self.ensemble.prepare, **_TRIAL)

    def estimate(self, order: IntArray, weights: FloatArray | None) -> int:
        """Return how many of the first in an order answer in time; refuse if none."""
        one = self._trial(order[:1], weights)
        if one.p95 > self.limit:
            raise self.refusal(one)
        fits, too_many = 1, order.size + 1
        number = order.size  # all of them, as many budgets allow
        while too_many - fits > 1:
            if self._trial(order[:number], weights).p95 <= _AIM * self.limit:
                fits = number
            else:
                too_many = number
            number = (fits + too_many) // 2
        return fits

    def _trial(self, members: IntArray, weights: FloatArray | None) -> CallTimes:
        model = kept_model(self.ensemble, np.sort(members), weights, self.classes)
        return self.time(model.predict, **_TRIAL)

    def time(self, call: Callable[[Any], Any], **options: Any) -> CallTimes:
        """Return what calls with the batches take."""
        return time_calls(call, self.batches, **options)

    def latency(self, times: CallTimes, n_kept: int) -> Latency:
        """Return what is known of the model chosen; say if lazy voting fits as well."""
        n_members = self.ensemble.n_members
        lazily = None if n_kept == n_members else dict(self._alternatives()).get(_LAZY)
        if lazily is not None and lazily.p95 <= self.limit:
            warn(
                f"{self._name}: {n_kept} of {n_members} members are kept, but {_LAZY} "
                f"with all {n_members} members gives the predictions of the whole "
                f"ensemble in {lazily}.",
                QuorateWarning,
            )
        return Latency(self.limit, self.batch, times, self.preprocessing, lazily)

    def refusal(self, one: CallTimes) -> ValueError:
        """Return the complaint that not even one member answers in time."""
        before = self.preprocessing
        if before.p95 <= self.limit:
            what = f"the first member alone takes {one}"
            part = f", of which {before} are preprocessing"
        else:
            what = f"the preprocessing alone takes {before}"
            part = f", and with the first member {one}"
        hint = ""
        if one.processor <= self.limit < one.median:
            own = milliseconds_text(one.processor)
            hint = f"; that is {own} of processor time, so the machine may be busy"
        for name, times in self._alternatives():
            hint += f"; {name} with all {self.ensemble.n_members} members takes {times}"
        return ValueError(
            f"{self._name}: {what}{part}, {calls_text(self.batch)}; no member can be "
            f"kept{hint}."
        )

    @property
    def _name(self) -> str:
        return f"budget['milliseconds']={self.limit!r}"

    def _alternatives(self) -> Iterator[tuple[str, CallTimes]]:
        """Yield what gives the answers of all members, and what a call of it takes."""
        ways: dict[str, Callable[[Any], Any]] = {
            _LAZY: lambda model: LazyClassifier(model, random_state=0).fit(),
            "quorate.compact": compact,
        }
        for name, make in ways.items() if self.all_may_stay else ():
            try:
                times = self.time(make(self.ensemble.model).predict, **_TRIAL)
            except (TypeError, ValueError):
                continue  # not every ensemble can be asked so
            yield name, times


def kept_model(
    ensemble: Ensemble, members: IntArray, weights: FloatArray | None, classes: Array
) -> Any:
    """Return some members as a model; ``weights`` are the new ones of all members."""
    new = None if weights is None else weights[members]
    if ensemble.can_predict:
        return ensemble.keep(members, new)
    return WeightedVoting.of(ensemble, members, new, classes)


def _check_memory(evidence: EnsembleEvidence, batch: int) -> None:
    """Refuse batches that may not fit into memory, where the samples do."""
    shape: Any = getattr(evidence.X, "shape", ())
    n_columns = int(shape[1]) if len(shape) > 1 else 1
    most = max(evidence.rows.size, _MOST_NUMBERS // max(n_columns, 1))
    if batch > most:
        raise ValueError(
            f"batch={batch!r}: calls with this many rows and {n_columns:,} columns may "
            f"not fit into memory; use at most {most:,} rows, and reduce the "
            "milliseconds accordingly."
        )
