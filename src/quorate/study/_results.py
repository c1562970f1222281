"""What a study found: score tables, the paper's table, and other summaries."""

import csv
import io
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from quorate._atomic import atomic_write
from quorate._messages import in_short, unknown_name
from quorate._output import escape, plain
from quorate._typing import FloatArray
from quorate.exceptions import FileFormatError
from quorate.stats import Scores, average_ranks, win_tie_loss
from quorate.study._plan import Plan
from quorate.study._store import IDENTITY, Store
from quorate.study._table import ScoreTable, make_table

_MEANS = ("accuracy", "kept", "seconds", "bytes")
_TOO_LARGE = 1e100
_FORMULAS = ("=", "+", "-", "@")


@dataclass(frozen=True, slots=True)
class Standing:
    """How a method did, on average over the data sets it has all results on.

    Parameters
    ----------
    method : str
        Its name in the plan.
    accuracy : float
        Mean accuracy on the test parts.
    kept : float
        Mean number of members kept.
    seconds : float
        Mean time to choose them.
    bytes : float
        Mean size of the members kept.
    rank : float
        Average rank by accuracy, or by the score of the plan; 1 is best.
    wins, ties, losses : int or None
        Data sets on which the reference is significantly better, neither is, and the
        method is; None for the reference itself.
    score : float or None
        Mean of the score that the plan asks for; None if it asks for none.
    """

    method: str
    accuracy: float
    kept: float
    seconds: float
    bytes: float
    rank: float
    wins: int | None
    ties: int | None
    losses: int | None
    score: float | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Results:
    """The cells of a study that went well.

    Parameters
    ----------
    name : str
        The name of the plan.
    methods : tuple of str
        The methods, in the order of the plan.
    rows : tuple of dict
        What was measured, a row per cell.
    failures : tuple of dict
        The cells that failed, with their tracebacks.
    preparation : tuple of dict
        What was done to each data set in each fold before any learner saw it.
    """

    name: str
    methods: tuple[str, ...]
    rows: tuple[dict[str, Any], ...]
    failures: tuple[dict[str, Any], ...]
    preparation: tuple[dict[str, Any], ...] = ()

    @classmethod
    def read(cls, path: str | Path) -> "Results":
        """Read the results in a store."""
        with Store(path, read_only=True) as store:
            plan = store.plan
            if plan is None:
                raise ValueError(f"{path}: holds no study.")
            try:
                return cls._from_store(store, plan)
            except FileFormatError:
                raise
            except (KeyError, TypeError, ValueError) as error:
                raise FileFormatError(
                    f"{path}: damaged study file, with results of another plan "
                    f"({in_short(error)})."
                ) from error

    @classmethod
    def _from_store(cls, store: Store, plan: Plan) -> "Results":
        data = plan.data_names
        names = tuple(method.name for method in plan.methods)
        kinds = [ensemble.name for ensemble in plan.ensembles]
        rows = list(store.rows())
        for row in rows:
            _check_numbers(row)
        if len({tuple(row[name] for name in IDENTITY) for row in rows}) < len(rows):
            raise ValueError("a cell is there twice")
        rows.sort(
            key=lambda row: (
                data.index(row["data"]),
                names.index(row["method"]),
                kinds.index(row["ensemble"]),
            )
        )
        # a record per data set and fold, which ensembles share
        preparation = {
            (data.index(fit["data"]), fit["repeat"], fit["fold"]): {
                **{name: fit[name] for name in ("data", "repeat", "fold")},
                **fit["preparation"],
            }
            for fit in store.fits()
            if fit["preparation"]
        }
        return cls(
            plan.name,
            names,
            tuple(rows),
            tuple(store.failures()),
            tuple(preparation[place] for place in sorted(preparation)),
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

    def standings(self, reference: str | None = None) -> tuple[Standing, ...]:
        """Return how each method did, the best average rank first.

        Parameters
        ----------
        reference : str, optional
            The method the others are compared with; the last one by default.
        """
        scores = self.scores().complete_blocks()
        against = reference or self.methods[-1]
        if against not in scores.methods:
            raise ValueError(unknown_name("method", against, scores.methods))
        ranks: FloatArray = np.ones(1)
        counts: dict[str, tuple[int, int, int]] = {}
        if scores.n_methods > 1:
            ranks = average_ranks(scores).average
            compared = win_tie_loss(scores, against)
            columns = (compared.wins, compared.ties, compared.losses)
            rows = np.column_stack(columns).tolist()
            counts = dict(zip(compared.methods, map(tuple, rows), strict=True))
        names = _MEANS if self.scoring == "accuracy" else (*_MEANS, "score")
        means = {}
        for name in names:
            table = self.scores(name)
            kept = [block in scores.blocks for block in table.blocks]
            means[name] = table.values[kept].mean(axis=(0, 2))
        standings = []
        for at, method in enumerate(scores.methods):
            wins, ties, losses = counts.get(method, (None, None, None))
            standings.append(
                Standing(
                    method,
                    **{name: float(mean[at]) for name, mean in means.items()},
                    rank=float(ranks[at]),
                    wins=wins,
                    ties=ties,
                    losses=losses,
                )
            )
        return tuple(sorted(standings, key=lambda one: (one.rank, one.method)))

    def table(self, reference: str | None = None) -> ScoreTable:
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
        made: dict[str, Any] = plain(
            {
                "name": self.name,
                "methods": list(self.methods),
                "standings": [asdict(one) for one in standings],
                "rows": list(self.rows),
                "failures": list(self.failures),
                "preparation": list(self.preparation),
            }
        )
        return made

    def to_frame(self) -> pd.DataFrame:
        """Return the rows as a pandas frame."""
        return pd.DataFrame(list(self.rows), columns=self._columns())

    def to_csv(self, path: str | Path | None = None) -> str:
        """Return the rows as CSV, and write them to a file if there is a path.

        Spreadsheets compute what begins with ``=``, ``+``, ``-`` or ``@``. Text that
        does gets an apostrophe before it; numbers are as they are.
        """
        file = io.StringIO()
        columns = self._columns()
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(map(_inert, columns))
        for row in self.rows:
            writer.writerow([_inert(row.get(name)) for name in columns])
        if path is not None:
            with atomic_write(path) as target:
                target.write(file.getvalue().encode())
        return file.getvalue()

    def to_parquet(self, path: str | Path) -> None:
        """Write the rows as Parquet; ``quorate[data]`` brings what it needs."""
        with atomic_write(path) as file:
            try:
                self.to_frame().to_parquet(file, index=False)
            except ImportError as error:
                raise ImportError(
                    f"{path}: Parquet needs pyarrow; pip install pyarrow"
                ) from error

    def _columns(self) -> list[str]:
        return list(dict.fromkeys(name for row in self.rows for name in row))

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
    for name in ("repeat", "fold"):
        if type(row[name]) is not int or row[name] < 0:
            raise ValueError(f"{name} is {row[name]!r}")
    for name in _MEANS:
        value = row.get(name)
        # In JSON, numbers may be too large to be finite, or none at all.
        if not isinstance(value, (int, float)) or not abs(value) < _TOO_LARGE:
            raise ValueError(f"{name} is {value!r}")


def _inert(value: Any) -> Any:
    """Return a value that a spreadsheet does not compute."""
    if not isinstance(value, str) or not value.lstrip().startswith(_FORMULAS):
        return value
    try:
        float(value)  # what is but a number
    except ValueError:
        return f"'{value}"
    return value
