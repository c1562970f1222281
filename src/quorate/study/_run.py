"""Run the missing parts of a plan."""

import json
import warnings
from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from pickle import PicklingError
from typing import Any, TypeAlias

from joblib import effective_n_jobs, parallel_config
from sklearn.utils.parallel import Parallel, delayed

from quorate._checks import check_type
from quorate._progress import advance, stage
from quorate._workers import deaf_to_interrupts, without_forks
from quorate.study._cell import UnitResult, run_unit, unit_keys
from quorate.study._data_set import DataSet
from quorate.study._load_data import find_data
from quorate.study._plan import MethodSpec, Plan, Unit
from quorate.study._store import Store

Progress: TypeAlias = Callable[[int, int], object]
Task: TypeAlias = tuple[Unit, list[MethodSpec]]
# Errors that would occur again; any other error can be due to a dead worker.
_REFUSALS = (
    ValueError,
    TypeError,
    ImportError,
    AttributeError,
    TimeoutError,
    PicklingError,
)
_ATTEMPTS = 3
_BATCH = 4


@dataclass(frozen=True, slots=True)
class RunSummary:
    """Summary of a run.

    Parameters
    ----------
    n_cells : int
        Cells of the plan.
    n_run : int
        Cells computed in this run.
    n_failed : int
        Failed cells in the store.
    """

    n_cells: int
    n_run: int
    n_failed: int


def run_plan(
    plan: Plan,
    path: str | Path,
    *,
    data_dir: str | Path | None = None,
    n_jobs: int | None = None,
    retry: bool = False,
    progress: Progress | None = None,
    verbose: int = 1,
) -> RunSummary:
    """Compute the cells of a plan that the store does not have yet.

    Parameters
    ----------
    plan : Plan
    path : path
        Path of the store, which is created if it does not exist.
    data_dir : path, optional
        Folder of data sets that the plan can use.
    n_jobs : int, optional
        Number of units of work in parallel. Inside ``joblib.parallel_config`` its
        backend is used, such as a Dask cluster; the results are the same.
    retry : bool
        Try failed cells again.
    progress : callable, optional
        Called with the number of cells done and the total, first with 0.
    verbose : int
        0 to hide the progress bar, which is shown on a terminal or in a notebook if
        ``progress`` is not given.

    Returns
    -------
    RunSummary
        ``n_cells`` of the plan, ``n_run`` that were computed in this run, and
        ``n_failed`` of the store.

    Raises
    ------
    ValueError
        If the store has results of another plan, or data cannot be used.
    ChildProcessError
        If workers keep dying. Results so far are in the store, as after an interrupt,
        and the next run continues from there.

    Notes
    -----
    The units of a worker that died are repeated by another one. A cell whose method or
    learner raises an error is stored as failed and does not stop the run.
    """
    check_type("run_plan", plan, Plan, "read one with quorate.study.read_plan(path)")
    if Path(path).exists():
        # Before reading the data, which can take long.
        with Store(path, read_only=True) as store:
            _check_plan(plan, store)
    data = _load_plan_data(plan, data_dir)
    with Store(path) as store:
        _check_plan(plan, store)
        store.remember_plan(plan)
        todo = _missing_units(plan, data, store.done(retry))
        total = sum(len(methods) for _, methods in todo)
        count = 0
        show = progress or advance
        # threads that silence learners concurrently can leave them silenced
        with (
            stage("running cells", verbose if progress is None else 0),
            warnings.catch_warnings(),
            closing(_results(todo, data, n_jobs)) as results,
        ):
            show(count, total)
            for result in results:
                store.add(result.rows, result.fit)
                count += len(result.rows)
                show(count, total)
        return RunSummary(plan.n_cells, count, len(store.failures()))


def _check_plan(plan: Plan, store: Store) -> None:
    """Refuse a plan that differs from the plan of the store."""
    # via JSON, which turns tuples into lists
    text = json.dumps(plan.to_dict())
    if store.done() and json.dumps(store.plan.to_dict()) != text:
        raise ValueError(
            f"{store.path}: contains the results of another plan; use another file, "
            "and quorate study merge if only data sets or ensembles differ."
        )


def _load_plan_data(plan: Plan, data_dir: str | Path | None) -> dict[str, DataSet]:
    """Return the data sets of a plan by their names in tables.

    Raises
    ------
    ValueError
        If two data sets are the same, there are more folds than rows, or a size is not
        possible for a method.
    """
    plan.check_sizes()
    # Find all of them before reading the first, which can take long.
    readers = []
    for spec in plan.data_specs:
        where = (spec.source, spec.target, data_dir)
        readers.append((spec, find_data(*where, plan.seed, spec.rows)))
    data: dict[str, DataSet] = {}
    seen: dict[Any, str] = {}
    for spec, read in readers:
        loaded = read()
        if plan.folds > loaded.n_rows:
            raise ValueError(
                f"{spec.label}: got {plan.folds} folds for {loaded.n_rows} rows; use 2 "
                f"to {loaded.n_rows} folds."
            )
        first = seen.setdefault((loaded.fingerprint, spec.binary), spec.label)
        if first != spec.label:
            raise ValueError(
                f"{plan.name}: {first} and {spec.label} are the same data; "
                "leave one out."
            )
        data[spec.label] = loaded
    return data


def _missing_units(plan: Plan, data: dict[str, DataSet], done: set[str]) -> list[Task]:
    """Return the unfinished units and their methods without a result."""
    todo: list[Task] = []
    for unit in plan.units():
        keys = unit_keys(unit, data[unit.data.label].fingerprint)
        methods = [method for method in plan.methods if keys[method.name] not in done]
        if methods:
            todo.append((unit, methods))
    return todo


def _results(
    todo: list[Task], data: dict[str, DataSet], n_jobs: int | None
) -> Generator[UnitResult, None, None]:
    """Yield results as they are computed; repeat units whose worker died."""
    left = dict(enumerate(todo))
    in_vain = 0
    while left:
        try:
            for place, result in _stream(left, data, n_jobs):
                del left[place]
                in_vain = 0
                yield result
        except _REFUSALS:
            raise
        except Exception as error:
            in_vain += 1
            if in_vain == _ATTEMPTS:
                raise ChildProcessError(
                    f"study: workers died {in_vain} times without a result, the last "
                    f"time with {type(error).__name__}; running fewer at a time needs "
                    "less memory. Completed results are stored."
                ) from error
            # units that may have killed a worker go last, after the others
            first = list(islice(left, 2 * effective_n_jobs(n_jobs)))
            left |= {place: left.pop(place) for place in first}


def _stream(
    left: dict[int, Task], data: dict[str, DataSet], n_jobs: int | None
) -> Iterator[tuple[int, UnitResult]]:
    # Each call contains its data set. Joblib would send large ones to a Dask cluster
    # only once, but to the memory of a single worker: if it dies, they would be lost,
    # and calls that need them would never end.
    calls = iter(
        [
            delayed(_run_numbered)(place, unit, data[unit.data.label], methods)
            for place, (unit, methods) in left.items()
        ]
    )
    with without_forks():
        try:
            workers, streams = Parallel(n_jobs, return_as="generator_unordered"), True
        except ValueError:
            # a backend that only returns lists, or an error that is raised again here
            workers, streams = Parallel(n_jobs), False
    if streams:
        with deaf_to_interrupts():  # the call starts the workers
            results = workers(calls)
        yield from results
    else:
        size = _BATCH * effective_n_jobs(n_jobs)
        while batch := list(islice(calls, size)):
            yield from workers(batch)


def _run_numbered(
    place: int, unit: Unit, data: DataSet, methods: list[MethodSpec]
) -> tuple[int, UnitResult]:
    # A unit is the smallest piece of work: its ensemble and votes stay in one worker,
    # whereas Dask would distribute every member.
    with parallel_config(backend="sequential"):
        return place, run_unit(unit, data, methods)
