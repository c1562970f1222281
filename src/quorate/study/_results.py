"""What a study found: score tables, the paper's table, and other summaries."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from quorate._messages import in_short, unknown_name
from quorate._output import escape, plain
from quorate._typing import FloatArray
from quorate.exceptions import FileFormatError
from quorate.stats import Scores, average_ranks, win_tie_loss
from quorate.study._export import to_frame, write_csv, write_parquet
from quorate.study._plan import Plan
from quorate.study._store import IDENTITY, Store
from quorate.study._stored_plan import stored_plan
from quorate.study._table import Table, make_table

# What every cell has: which repetition it is of, and numbers measured.
_COUNTED = ("repeat", "fold")
_MEASURED = ("accuracy", "kept", "seconds", "bytes")
_TOO_LARGE = 1e100


@dataclass(frozen=True, slots=True)
class Standing:
    """How a method did, on average over the data sets it has all results on."""

    method: str
    """Its name in the plan."""
    accuracy: float
    """Mean accuracy on the test parts."""
    kept: float
    """Mean number of members kept."""
    seconds: float
    """Mean time to choose them."""
    bytes: float
    """Mean size of the members kept."""
    rank: float
    """Average rank by accuracy, or by the score of the plan; 1 is best."""
    wins: int | None
    """Data sets on which the reference is significantly better; None for itself."""
    ties: int | None
    """Data sets on which neither is."""
    losses: int | None
    """Data sets on which the method is significantly better than the reference."""
    score: float | None = None
    """Mean of the score that the plan asks for; None if it asks for none."""


@dataclass(frozen=True, slots=True, eq=False)
class Results:
    """The cells of a study that went well."""

    name: str
    """The name of the plan."""
    methods: tuple[str, ...]
    """The methods, in the order of the plan."""
    rows: tuple[dict[str, Any], ...]
    """What was measured, a row per cell."""
    failures: tuple[dict[str, Any], ...]
    """The cells that failed, with their tracebacks."""
    preparation: tuple[dict[str, Any], ...] = ()
    """What was done to each data set in each fold before any learner saw it."""

    @classmethod
    def read(cls, path: str | Path) -> "Results":
        """Read the results in a store."""
        with Store(path, read_only=True) as store:
            plan = stored_plan(store)
            if plan is None:
                raise ValueError(f"{path}: holds no study.")
            try:
                return cls._from(store, plan)
            except FileFormatError:
                raise
            except (KeyError, TypeError, ValueError) as error:
                raise FileFormatError(
                    f"{path}: damaged study file, with results of another plan "
                    f"({in_short(error)})."
                ) from error

    @classmethod
    def _from(cls, store: Store, plan: Plan) -> "Results":
        names = tuple(method.name for method in plan.methods)
        kinds = [ensemble.name for ensemble in plan.ensembles]
        found = list(store.rows())
        for row in found:
            _check_numbers(row)
        if len({tuple(row[name] for name in IDENTITY) for row in found}) < len(found):
            raise ValueError("a cell is there twice")
        rows = sorted(
            found,
            key=lambda row: (
                plan.data_names.index(row["data"]),
                names.index(row["method"]),
                kinds.index(row["ensemble"]),
            ),
        )
        return cls(
            plan.name,
            names,
            tuple(rows),
            tuple(store.failures()),
            _preparation(store, plan.data_names),
        )

    @property
    def scoring(self) -> str:
        """What methods are ranked by: accuracy, or the score of the plan."""
        return str(self.rows[0].get("scoring", "accuracy")) if self.rows else "accuracy"

    def scores(self, quantity: str | None = None, sign: float = 1.0) -> Scores:
        """Return a table of a measured quantity, data sets and ensembles by methods.

        Parameters
        ----------
        quantity : str
            A column of the rows, such as "accuracy", "kept", "seconds" or "bytes";
            "score" by default where the plan asks for one, else "accuracy".
        sign : float
            -1 where less is better, so that higher is better in the table.
        """
        if not self.rows:
            raise ValueError(f"{self.name}: no results yet.")
        if quantity is None:
            quantity = "score" if "score" in self.rows[0] else "accuracy"
        if quantity not in self.rows[0]:
            raise ValueError(unknown_name("quantity", quantity, self.rows[0]))
        several = len({row["ensemble"] for row in self.rows}) > 1
        return Scores.from_rows(
            (
                f"{row['data']}, {row['ensemble']}" if several else row["data"],
                row["method"],
                f"{row['repeat']}.{row['fold']}",
                sign * float(row[quantity]),
            )
            for row in self.rows
        )

    def mean_of(self, quantity: str) -> FloatArray:
        """Return the mean of a quantity over complete data sets, by method."""
        scores = self.scores().complete_blocks()
        table = self.scores(quantity)
        kept = [block in scores.blocks for block in table.blocks]
        return np.asarray(table.values[kept].mean(axis=(0, 2)))

    def standings(self, reference: str | None = None) -> tuple[Standing, ...]:
        """Return how each method did, the best average rank first.

        Parameters
        ----------
        reference : str, optional
            The method the others are compared with; the last one by default.
        """
        scores = self.scores().complete_blocks()
        methods = scores.methods
        against = reference or self.methods[-1]
        if against not in methods:
            raise ValueError(unknown_name("method", against, methods))
        ranks, counts = np.ones(1), {}
        if scores.n_methods > 1:
            ranks = average_ranks(scores).average
            compared = win_tie_loss(scores, against)
            columns = compared.wins, compared.ties, compared.losses
            counts = dict(
                zip(compared.methods, zip(*columns, strict=True), strict=True)
            )
        means = {
            name: self.mean_of(name)
            for name in ("accuracy", "kept", "seconds", "bytes")
        }
        if self.scoring != "accuracy":
            means["score"] = self.mean_of("score")
        standings = []
        for at, method in enumerate(methods):
            wins, ties, losses = counts.get(method, (None, None, None))
            standings.append(
                Standing(
                    method,
                    **{name: float(mean[at]) for name, mean in means.items()},
                    rank=float(ranks[at]),
                    wins=_whole(wins),
                    ties=_whole(ties),
                    losses=_whole(losses),
                )
            )
        return tuple(sorted(standings, key=lambda one: (one.rank, one.method)))

    def table(self, reference: str | None = None) -> "Table":
        """Return scores by data set and method, with marks against a reference.

        Scores are accuracies unless the plan asks for another.

        Parameters
        ----------
        reference : str, optional
            The method the others are compared with; the last one by default.
        """
        scores = self.scores().complete_blocks()
        return make_table(scores, reference or self.methods[-1], self.scoring)

    def to_dict(self, reference: str | None = None) -> dict[str, Any]:
        """Return everything as plain types for JSON; None is not a finite number.

        Parameters
        ----------
        reference : str, optional
            As in :meth:`standings`, which are empty if nothing can be compared yet.
        """
        try:
            standings = self.standings(reference)
        except ValueError:
            if reference is not None and self.rows:
                raise
            standings = ()
        found: dict[str, Any] = plain(
            {
                "name": self.name,
                "methods": list(self.methods),
                "standings": [asdict(one) for one in standings],
                "rows": list(self.rows),
                "failures": list(self.failures),
                "preparation": list(self.preparation),
            }
        )
        return found

    def to_frame(self) -> Any:
        """Return the rows as a pandas frame."""
        return to_frame(self.rows)

    def to_csv(self, path: str | Path) -> None:
        """Write the rows as CSV."""
        write_csv(self.rows, path)

    def to_parquet(self, path: str | Path) -> None:
        """Write the rows as Parquet; ``quorate[data]`` brings what it needs."""
        write_parquet(self.rows, path)

    def __repr__(self) -> str:
        sets = len({row["data"] for row in self.rows})
        size = f"{len(self.rows)} cells, {len(self.methods)} methods, {sets} data sets"
        return f"Results({self.name}: {size}; {len(self.failures)} failed)"

    def _repr_html_(self) -> str:
        """Return the table of accuracies for notebooks."""
        summary = f"<p>{escape(repr(self))}</p>"
        try:
            return summary + self.table()._repr_html_()
        except ValueError as error:  # nothing to compare yet
            return f"{summary}<p>{escape(str(error))}</p>"


def _check_numbers(row: Mapping[str, Any]) -> None:
    """Refuse a row that lacks what every cell has, or has it otherwise."""
    for name in _COUNTED:
        if type(row[name]) is not int or row[name] < 0:
            raise ValueError(f"{name} is {row[name]!r}")
    for name in _MEASURED:
        value = row.get(name)
        # In JSON, numbers may be too large to be finite, or none at all.
        if not isinstance(value, (int, float)) or not abs(value) < _TOO_LARGE:
            raise ValueError(f"{name} is {value!r}")


def _preparation(store: Store, data: tuple[str, ...]) -> tuple[dict[str, Any], ...]:
    """Return a record per data set and fold; ensembles share it."""
    found = {
        (data.index(fit["data"]), fit["repeat"], fit["fold"]): {
            "data": fit["data"],
            "repeat": fit["repeat"],
            "fold": fit["fold"],
            **fit["preparation"],
        }
        for fit in store.fits()
        if fit["preparation"]
    }
    return tuple(found[place] for place in sorted(found))


def _whole(count: Any) -> int | None:
    return None if count is None else int(count)
