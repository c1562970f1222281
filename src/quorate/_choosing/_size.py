"""How many members: a number, or a rule that finds it on the size curve."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from numbers import Integral, Real
from typing import Any

import numpy as np

from quorate._choosing._curve import SizeCurve
from quorate._typing import Array
from quorate._units import as_bytes
from quorate._votes import Votes, why_not_scorable
from quorate.ensembles import COSTS
from quorate.pruning import Pruner, members_to_keep

Keep = float | int | str | None
Budget = Mapping[str, float | str]
"""Limits by what is counted; bytes may be text, such as "50MB"."""
USUAL = "default"
"""The word for the size that suits the ensemble: what is kept if nothing is said."""
DEFAULT_KEEP = 0.2
"""That of ensembles whose members are alike; a pool has as many as errors tell."""
_MOST_ROWS = 1_000_000


@dataclass(frozen=True, slots=True)
class Size:
    """How many members are wanted, in one of the ways there are to say it."""

    keep: Keep = USUAL
    tolerance: float | None = None
    budget: Budget | None = None
    batch: int | None = None
    """Rows in a call, for a budget of milliseconds; one if nothing is said."""
    at_best: bool = False
    """Whether "auto" stands for the size of the smallest error, as in pools."""
    owner: str = field(default="select", compare=False, repr=False)
    """Who asks, for messages."""

    @classmethod
    def of(
        cls,
        method: Any,
        keep: Keep,
        tolerance: float | None = None,
        budget: Budget | None = None,
        batch: int | None = None,
        owner: str = "select",
    ) -> "Size":
        """Return the size asked for; a pruner object has one of its own.

        That counts unless another is given, in whichever way.
        """
        otherwise = tolerance is not None or budget is not None
        own = isinstance(method, Pruner) and keep in (USUAL, DEFAULT_KEEP)
        if own and not otherwise:
            return cls(method.keep, batch=batch, owner=owner)
        return cls(keep, tolerance, budget, batch, owner=owner)

    def __post_init__(self) -> None:
        given = [
            name
            for name, there in (
                (f"keep={self.keep!r}", self.keep not in (USUAL, None)),
                ("tolerance", self.tolerance is not None),
                ("budget", self.budget is not None),
            )
            if there
        ]
        if len(given) > 1:
            raise ValueError(
                f"{self.owner}: {' and '.join(given)}: one of them says how many "
                "members stay."
            )
        if isinstance(self.keep, str) and self.keep not in ("auto", USUAL):
            raise ValueError(
                f"{self.owner}(keep={self.keep!r}): a number, 'auto' or None."
            )
        if self.tolerance is not None and not self.tolerance >= 0:
            raise ValueError(
                f"{self.owner}(tolerance={self.tolerance!r}): a number, 0 or more."
            )
        if self.budget is not None:
            _check_budget(self.budget)
        if self.batch is not None:
            _check_batch(self.batch, self.budget)

    def for_votes(
        self, votes: Votes, pruner: Pruner, can_find: Callable[[], bool]
    ) -> "Size":
        """Return the size that the usual one stands for.

        A pool has few members, each of its own make. A method that weighs them keeps
        those that have a weight; others keep as many as err least by cross-validation,
        where there are honest errors along an order (``can_find``). Among few, the
        smallest number within a standard error is one more often than not.
        """
        if self.keep != USUAL or self.tolerance is not None or self.budget is not None:
            return self
        if votes.family != "pool" or why_not_scorable(votes.source):
            return Size(DEFAULT_KEEP)
        if pruner.tags.chooses_weights and pruner.tags.finds_size:
            return Size(None)
        return Size("auto", at_best=True) if can_find() else Size(DEFAULT_KEEP)

    def check_members(self, n_members: int, owner: str) -> None:
        """Refuse to keep more members than there are, before any of them is asked."""
        if self.is_fixed and isinstance(self.keep, Integral) and self.keep > n_members:
            members_to_keep(self.keep, n_members, owner)

    @property
    def is_fixed(self) -> bool:
        """Whether the number is known before the members are ordered."""
        return (
            self.tolerance is None
            and self.budget is None
            and not isinstance(self.keep, str)
        )

    @property
    def needs_errors(self) -> bool:
        """Whether the number is found by errors, which must be honest then."""
        return not self.is_fixed and self.budget is None

    @property
    def text(self) -> str:
        """The rule, as it was given."""
        if self.budget is not None:
            batch = "" if self.batch is None else f", batch={self.batch!r}"
            return f"budget={dict(self.budget)!r}{batch}"
        if self.tolerance is not None:
            return f"tolerance={self.tolerance!r}"
        return f"keep={USUAL if self.at_best else self.keep!r}"

    @property
    def name(self) -> str:
        """The parameter that was given, for messages."""
        if self.budget is not None:
            return "budget"
        return "tolerance" if self.tolerance is not None else f"keep={self.keep!r}"

    def limit(self, kind: str) -> float | None:
        """Return what the budget allows of something, None if it does not say."""
        given = (self.budget or {}).get(kind)
        return None if given is None else _as_limit(kind, given)

    def on(
        self,
        curve: SizeCurve,
        costs: Callable[[str], Array],
        timed: Collection[str] = (),
    ) -> int | None:
        """Return the number of members by the size curve and their costs.

        None if no number keeps to the tolerance. Costs that are timed on the smaller
        model itself (``timed``) are not added up.
        """
        if self.budget is not None:
            fits = [
                curve.affordable(np.asarray(costs(kind)), _as_limit(kind, limit), kind)
                for kind, limit in self.budget.items()
                if kind not in timed
            ]
            return min(fits, default=curve.order.size)
        if self.tolerance is not None:
            return curve.within(self.tolerance)
        if self.at_best:
            return curve.best_size
        return curve.within_one_standard_error()


def _check_budget(budget: Any) -> None:
    limits = dict(budget) if isinstance(budget, Mapping) else budget
    if not isinstance(limits, dict) or not limits or not limits.keys() <= set(COSTS):
        raise ValueError(
            f"budget={limits!r}: limits for any of {', '.join(COSTS)}, such as "
            "{'milliseconds': 2}."
        )
    for kind, limit in limits.items():
        _as_limit(kind, limit)


def _as_limit(kind: str, limit: Any) -> float:
    """Return a limit as a number; bytes may be in units that people have."""
    number: Any = limit
    if kind == "bytes" and isinstance(limit, str):
        try:
            number = as_bytes(limit)
        except ValueError:
            number = None
    is_number = isinstance(number, Real) and not isinstance(number, bool)
    if is_number and number > 0:
        return number  # type: ignore[no-any-return]
    units = ", or text such as '50MB' or '1.5 GiB'" if kind == "bytes" else ""
    raise ValueError(f"budget[{kind!r}]={limit!r}: a number above 0{units}.")


def _check_batch(batch: Any, budget: Budget | None) -> None:
    if "milliseconds" not in (budget or {}):
        raise ValueError(
            f"batch={batch!r}: rows in a call go with a budget of milliseconds."
        )
    if isinstance(batch, bool) or not isinstance(batch, Integral) or batch < 1:
        raise ValueError(f"batch={batch!r}: the number of rows in a call, 1 or more.")
    if int(batch) > _MOST_ROWS:
        raise ValueError(
            f"batch={batch!r}: the number of rows in a call, {_MOST_ROWS:,} at most; "
            "give a part of the rows and of the milliseconds."
        )
