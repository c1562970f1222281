"""How many members: a number, or a rule that finds it along an order."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np

from quorate._choosing._curve import CrossFittedCurve
from quorate._ensembles import COSTS
from quorate._typing import Array, IntArray
from quorate._units import as_bytes, cost_text
from quorate.pruning import Pruner, members_to_keep

Keep = float | int | str | None
# Limits by what is counted; bytes may be text, such as "50MB".
Budget = Mapping[str, float | str]
# The word for the size that suits the ensemble: what is kept if nothing is said.
DEFAULT = "default"
# That of ensembles whose members are alike; a pool has as many as errors tell.
DEFAULT_KEEP = 0.2
TIME = "milliseconds"
_MOST_ROWS = 1_000_000


@dataclass(frozen=True, slots=True)
class DefaultSize:
    """What suits the ensemble; see ``Chooser``."""

    @property
    def text(self) -> str:
        """The size, as it was given."""
        return f"keep={DEFAULT!r}"


@dataclass(frozen=True, slots=True)
class FixedSize:
    """A number of members, a fraction, or what the method finds itself (None)."""

    keep: float | int | None = DEFAULT_KEEP

    @property
    def text(self) -> str:
        """The size, as it was given."""
        return f"keep={self.keep!r}"

    def check_members(self, n_members: int, owner: str) -> None:
        """Refuse to keep more members than there are, before any of them is asked."""
        if isinstance(self.keep, Integral) and self.keep > n_members:
            members_to_keep(self.keep, n_members, owner)


@dataclass(frozen=True, slots=True)
class SizeByErrors:
    """The number that errors tell, which must be honest then.

    Attributes
    ----------
    tolerance : float | None
        How much more than all members they may err; None for "auto".
    at_best : bool
        Whether the smallest error counts, as in pools by default, not one within its
        standard error.
    """

    tolerance: float | None = None
    at_best: bool = False

    @property
    def text(self) -> str:
        """The size, as it was given."""
        if self.tolerance is not None:
            return f"tolerance={self.tolerance!r}"
        return f"keep={DEFAULT if self.at_best else 'auto'!r}"

    def resolve(self, curve: CrossFittedCurve) -> int | None:
        """Return the number of members; None if none keeps to the tolerance."""
        if self.tolerance is not None:
            return curve.within(self.tolerance)
        return curve.best_size if self.at_best else curve.within_one_standard_error()


@dataclass(frozen=True, slots=True)
class SizeByCost:
    """The largest number that keeps to a budget.

    Attributes
    ----------
    batch : int | None
        Rows in a call, for a limit of milliseconds; one if nothing is said.
    """

    budget: Budget
    batch: int | None = None

    @property
    def text(self) -> str:
        """The size, as it was given."""
        rows = "" if self.batch is None else f", batch={self.batch!r}"
        return f"budget={dict(self.budget)!r}{rows}"

    @property
    def limits(self) -> dict[str, float]:
        """The limits, as numbers."""
        return {kind: _as_limit(kind, limit) for kind, limit in self.budget.items()}

    def resolve(
        self, order: IntArray, costs: Callable[[str], Array], *, timed: bool = False
    ) -> int:
        """Return how many of the first members in an order keep to the limits.

        Time is left out if it is measured on the smaller model (``timed``).
        """
        number = order.size
        for kind, limit in self.limits.items():
            if timed and kind == TIME:
                continue
            spent = np.cumsum(np.asarray(costs(kind))[order])
            if spent[0] > limit:
                raise ValueError(
                    f"budget[{kind!r}]={limit!r}: already the first member costs "
                    f"{cost_text(float(spent[0]), kind)}."
                )
            number = min(number, int(np.flatnonzero(spent <= limit)[-1]) + 1)
        return number


# How many members are wanted, in one of the ways there are to say it.
Size = DefaultSize | FixedSize | SizeByErrors | SizeByCost


def size_for(
    method: Any,
    keep: Keep,
    tolerance: float | None = None,
    budget: Budget | None = None,
    batch: int | None = None,
    owner: str = "select",
) -> Size:
    """Return the size asked for; a pruner object has one of its own.

    That counts unless another is given, in whichever way.

    Examples
    --------
    >>> from quorate._choosing import size_for
    >>> size_for("re", 5)
    FixedSize(keep=5)
    >>> size_for("re", "default", tolerance=0.01).text
    'tolerance=0.01'
    """
    given = [f"keep={keep!r}"] if keep not in (DEFAULT, None) else []
    given += ["tolerance"] if tolerance is not None else []
    given += ["budget"] if budget is not None else []
    if len(given) > 1:
        raise ValueError(
            f"{owner}: {' and '.join(given)}: one of them says how many members stay."
        )
    if batch is not None:
        _check_batch(batch, budget)
    if budget is not None:
        _check_budget(budget)
        return SizeByCost(budget, batch)
    if tolerance is not None:
        if not tolerance >= 0:
            raise ValueError(f"{owner}(tolerance={tolerance!r}): a number, 0 or more.")
        return SizeByErrors(tolerance)
    if isinstance(method, Pruner) and keep == DEFAULT:
        keep = method.keep
    if not isinstance(keep, str):
        return FixedSize(keep)
    if keep not in (DEFAULT, "auto"):
        raise ValueError(f"{owner}(keep={keep!r}): a number, 'auto' or None.")
    return SizeByErrors() if keep == "auto" else DefaultSize()


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
    if TIME not in (budget or {}):
        raise ValueError(
            f"batch={batch!r}: rows in a call go with a budget of milliseconds."
        )
    is_whole = isinstance(batch, Integral) and not isinstance(batch, bool)
    if not is_whole or not 1 <= batch <= _MOST_ROWS:
        raise ValueError(
            f"batch={batch!r}: the number of rows in a call, 1 to {_MOST_ROWS:,}; of "
            "more, give a part of the rows and of the milliseconds."
        )
