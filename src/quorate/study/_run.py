"""Run a plan: what is missing in the store, in parallel, results as they come."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sklearn.utils.parallel import Parallel, delayed

from quorate.study._cell import run_unit, unit_keys
from quorate.study._data import DataSet, load_data
from quorate.study._plan import MethodSpec, Plan, Unit
from quorate.study._store import Store

Progress = Callable[[int, int], object]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a run did."""

    n_cells: int
    """Cells of the plan."""
    n_run: int
    """Cells computed in this run."""
    n_failed: int
    """Failed cells in the store."""


def run_plan(
    plan: Plan,
    path: str | Path,
    *,
    data_dir: str | Path | None = None,
    allow_download: bool = False,
    n_jobs: int | None = None,
    retry: bool = False,
    progress: Progress | None = None,
) -> Outcome:
    """Compute the cells of a plan that the store does not have yet.

    Parameters
    ----------
    plan : Plan
    path : path
        The store; made if it is not there.
    data_dir : path, optional
        Folder of data sets that the plan may name.
    allow_download : bool
        Let data sets come from OpenML.
    n_jobs : int, optional
        Units of work at a time; any joblib backend works.
    retry : bool
        Try failed cells again.
    progress : callable, optional
        Called with the cells done and their number.

    Returns
    -------
    Outcome
    """
    with Store(path) as store:
        store.remember_plan(plan.to_dict())
        data = {
            name: load_data(
                name,
                data_dir=data_dir,
                allow_download=allow_download,
                random_state=plan.seed,
                n_rows=plan.rows,
            )
            for name in plan.data
        }
        todo = list(_missing(plan, data, store.done(retry)))
        total = sum(len(methods) for _, methods in todo)
        count = 0
        for rows in _results(todo, data, n_jobs):
            store.add(rows)
            count += len(rows)
            if progress is not None:
                progress(count, total)
        return Outcome(plan.n_cells, count, len(store.failures()))


def _missing(
    plan: Plan, data: dict[str, DataSet], done: set[str]
) -> Iterator[tuple[Unit, list[MethodSpec]]]:
    """Yield the units with work to do, and their methods without a result."""
    for unit in plan.units():
        keys = unit_keys(unit, data[unit.data].fingerprint)
        methods = [m for m in plan.methods if keys[m.name] not in done]
        if methods:
            yield unit, methods


def _results(
    todo: list[tuple[Unit, list[MethodSpec]]],
    data: dict[str, DataSet],
    n_jobs: int | None,
) -> Iterator[list[dict[str, Any]]]:
    workers = Parallel(n_jobs=n_jobs, return_as="generator_unordered")
    yield from workers(
        delayed(run_unit)(unit, data[unit.data], methods) for unit, methods in todo
    )
