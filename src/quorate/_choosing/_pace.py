"""Members that answer in time: what a call takes is measured, never added up.

What a call of a model takes is more than its members: it checks its input, goes through
the steps of a pipeline and starts its loops. So the smaller model itself is built and
called, with batches of the size that was stated.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from quorate._choosing._evidence import Evidence
from quorate._data import take_rows
from quorate._messages import warn
from quorate._typing import Array, FloatArray, IntArray
from quorate._units import milliseconds_text
from quorate.ensembles import (
    CallTimes,
    Ensemble,
    PooledClassifier,
    batch_rows,
    time_calls,
)
from quorate.exceptions import LatencyWarning
from quorate.lazy import LazyClassifier

# While sizes are tried, a tenth of the limit stays free: another hour may be busier.
_AIM = 0.9
_TRIAL: dict[str, Any] = {"n_calls": 40, "seconds": 0.25}
# In a batch with more rows than there are samples: 0.8 GB of doubles.
_MOST_NUMBERS = 10**8


@dataclass(frozen=True, slots=True)
class Latency:
    """What a call of the members kept takes, beside its limit; in milliseconds."""

    limit: float
    batch: int
    """Rows in a call."""
    whole: CallTimes
    """Calls of the model, whatever stands before its members included."""
    preprocessing: CallTimes
    """Of these, what happens before the first member is asked."""
    lazily: CallTimes | None = None
    """Calls of all members, asked lazily for the same answers; None if nobody was left
    out, if another limit left somebody out, or if they cannot be asked so."""

    def __str__(self) -> str:
        return (
            f"{_per_call(self.batch)}: {self.whole}, of which "
            f"{milliseconds_text(self.preprocessing.median)} are preprocessing; the "
            f"budget is {milliseconds_text(self.limit)}"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers in plain types."""
        lazily = self.lazily
        return {
            "limit": self.limit,
            "batch": self.batch,
            **self.whole.to_dict(),
            "preprocessing": self.preprocessing.to_dict(),
            "lazily": None if lazily is None else lazily.to_dict(),
        }


class Pace:
    """Times models of some members by batches of the samples at hand.

    Parameters
    ----------
    evidence : Evidence
        With an ensemble and samples.
    limit : float
        Milliseconds of a call.
    batch : int
        Rows in a call.
    all_may_stay : bool
        Whether nothing but time is limited, so that all may be asked lazily.
    """

    def __init__(
        self, evidence: Evidence, limit: float, batch: int, *, all_may_stay: bool
    ) -> None:
        assert evidence.ensemble is not None
        self.ensemble: Ensemble = evidence.ensemble
        self.limit = limit
        self.batch = batch
        self.all_may_stay = all_may_stay
        self.classes: Array = evidence.votes.classes
        _check_memory(evidence, batch)
        places = batch_rows(evidence.rows.size, batch)
        self.batches: Sequence[Any] = [
            take_rows(evidence.X, evidence.rows[some]) for some in places
        ]
        self.preprocessing = time_calls(
            self.ensemble.prepare, self.batches, limit=limit, **_TRIAL
        )

    def most(self, order: IntArray, weights: FloatArray | None) -> int:
        """Return how many of the first in an order answer in time; refuse if none.

        Parameters
        ----------
        order : array of int
            Members; more of them take longer.
        weights : array, optional
            New voting weights of all members.
        """
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

    def again(self, model: Any) -> CallTimes:
        """Time a model that was chosen, longer than those that were tried."""
        return time_calls(model.predict, self.batches, limit=self.limit)

    def keeps(self, times: CallTimes) -> bool:
        """Tell whether 19 calls of 20 are in time."""
        return times.p95 <= self.limit

    def latency(self, times: CallTimes, n_kept: int) -> Latency:
        """Return what is known of the model chosen; say if lazy voting fits as well."""
        lazily = None if n_kept == self.ensemble.n_members else self._lazily()
        found = Latency(self.limit, self.batch, times, self.preprocessing, lazily)
        if lazily is not None and self.keeps(lazily):
            warn(
                f"{self._name}: {n_kept} of {self.ensemble.n_members} members are "
                f"kept, but {self._lazy_words(lazily)}.",
                LatencyWarning,
            )
        return found

    def refusal(self, one: CallTimes) -> ValueError:
        """Return the complaint that not even one member answers in time."""
        before = self.preprocessing
        if self.keeps(before):
            what = f"already the first member takes {one}"
            part = f", of which {before} are preprocessing"
        else:
            what = f"the preprocessing alone takes {before}"
            part = f", and with the first member {one}"
        hint = ""
        if one.median <= self.limit:
            hint = "; most calls are in time, so that the machine may be busy"
        lazily = self._lazily()
        if lazily is not None and self.keeps(lazily):
            hint += f"; {self._lazy_words(lazily)}"
        return ValueError(
            f"{self._name}: {what}{part}, {_per_call(self.batch)}; nothing is kept"
            f"{hint}."
        )

    @property
    def _name(self) -> str:
        return f"budget['milliseconds']={self.limit!r}"

    def _lazy_words(self, lazily: CallTimes) -> str:
        return (
            f"quorate.LazyClassifier of all {self.ensemble.n_members} gives their own "
            f"answers in {lazily}"
        )

    def _trial(self, members: IntArray, weights: FloatArray | None) -> CallTimes:
        kept = np.sort(members)
        new = None if weights is None else weights[kept]
        if self.ensemble.can_predict:
            model = self.ensemble.keep(kept, new)
        else:
            model = PooledClassifier.of(self.ensemble, kept, new, self.classes)
        return time_calls(model.predict, self.batches, limit=self.limit, **_TRIAL)

    def _lazily(self) -> CallTimes | None:
        if not self.all_may_stay:
            return None
        try:
            lazy = LazyClassifier(self.ensemble.model, random_state=0).fit()
        except (TypeError, ValueError):
            return None  # not every ensemble can be asked so
        return time_calls(lazy.predict, self.batches, limit=self.limit, **_TRIAL)


def fewer(number: int) -> int:
    """Return the next smaller number of members to try, a tenth less."""
    return min(number - 1, int(0.9 * number))


def _check_memory(evidence: Evidence, batch: int) -> None:
    """Refuse batches that may not fit into memory, where the samples do."""
    shape: Any = getattr(evidence.X, "shape", ())
    n_columns = int(shape[1]) if len(shape) > 1 else 1
    most = max(evidence.rows.size, _MOST_NUMBERS // max(n_columns, 1))
    if batch > most:
        raise ValueError(
            f"batch={batch!r}: calls of so many rows with {n_columns:,} columns may "
            f"not fit into memory; at most {most:,}, with a part of the milliseconds."
        )


def _per_call(batch: int) -> str:
    return f"per call of {batch:,} row{'s' if batch > 1 else ''}"


Build = Callable[[Any], Any]
"""Makes the model of a selection."""
