"""Run a plan: what is missing in the store, in parallel, results as they come."""

import json
import warnings
from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from pickle import PicklingError

from joblib import effective_n_jobs, parallel_config
from sklearn.utils.parallel import Parallel, delayed

from quorate._workers import deaf_to_interrupts
from quorate.study._cell import UnitResult, earlier_keys, run_unit, unit_keys
from quorate.study._data_set import DataSet
from quorate.study._plan import MethodSpec, Plan, Unit
from quorate.study._plan_data import load_plan_data
from quorate.study._store import Store
from quorate.study._stored_plan import stored_plan

Progress = Callable[[int, int], object]
Task = tuple[Unit, list[MethodSpec]]
# Errors of a request that will not go away; all others may be of a worker that died.
_REFUSALS = (
    ValueError,
    TypeError,
    ImportError,
    AttributeError,
    TimeoutError,
    PicklingError,
)
_KEYS = (unit_keys, earlier_keys)
_ATTEMPTS = 3
_BATCH = 4


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
        Units of work at a time. Inside ``joblib.parallel_config`` its backend is used,
        such as a Dask cluster; the results are the same.
    retry : bool
        Try failed cells again.
    progress : callable, optional
        Called with the cells done and the number of cells to do, first with 0.

    Returns
    -------
    Outcome

    Raises
    ------
    ValueError
        If the store holds the results of another plan, or data cannot be used.
    ChildProcessError
        If workers keep dying. As after any other end, such as an interrupt, what was
        computed until then is in the store, and the next run goes on from there.

    Notes
    -----
    What a worker that died was doing is done again by another one. A cell whose
    method or learner raises an error is stored as failed and does not stop the run.
    """
    if Path(path).exists():
        # Before the data is read, which may take long.
        with Store(path, read_only=True) as store:
            check_plan(plan, store)
    data = load_plan_data(plan, data_dir, allow_download)
    with Store(path) as store:
        check_plan(plan, store)
        store.remember_plan(plan.to_dict())
        todo = missing_units(plan, data, store.done(retry))
        total = sum(len(methods) for _, methods in todo)
        count = 0
        if progress is not None:
            progress(count, total)
        # threads that silence learners at the same time may leave them silenced
        with (
            warnings.catch_warnings(),
            closing(_results(todo, data, n_jobs)) as results,
        ):
            for result in results:
                store.add(result.rows, result.fit)
                count += len(result.rows)
                if progress is not None:
                    progress(count, total)
        return Outcome(plan.n_cells, count, len(store.failures()))


def check_plan(plan: Plan, store: Store) -> None:
    """Refuse a plan that is not the one whose results the store holds."""
    known = stored_plan(store)
    if known is None or not store.done():
        return
    # through JSON, which makes lists of tuples
    if _text(known) != _text(plan):
        raise ValueError(
            f"{store.path}: holds the results of another plan; choose another file."
        )


def missing_units(plan: Plan, data: dict[str, DataSet], done: set[str]) -> list[Task]:
    """Return the units with work to do, and their methods without a result."""
    todo: list[Task] = []
    for unit in plan.units():
        known = [keys(unit, data[unit.data].fingerprint) for keys in _KEYS]
        methods = [
            m for m in plan.methods if not any(keys[m.name] in done for keys in known)
        ]
        if methods:
            todo.append((unit, methods))
    return todo


def _text(plan: Plan) -> str:
    return json.dumps(plan.to_dict(), sort_keys=True)


def _results(
    todo: list[Task], data: dict[str, DataSet], n_jobs: int | None
) -> Generator[UnitResult, None, None]:
    """Yield results as they come; units whose worker died are done again."""
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
                    f"time with {type(error).__name__}; fewer at a time need less "
                    "memory. What was computed is stored."
                ) from error
            # what was being done goes last, so that it does not take the rest with it
            first = list(islice(left, 2 * effective_n_jobs(n_jobs)))
            left |= {place: left.pop(place) for place in first}


def _stream(
    left: dict[int, Task], data: dict[str, DataSet], n_jobs: int | None
) -> Iterator[tuple[int, UnitResult]]:
    # Each call carries its data set. Joblib would send large ones to a Dask cluster
    # once, if it saw their size, but to the memory of a single worker: they would be
    # lost with it, and the calls that need them would never end.
    calls = iter(
        [
            delayed(_run_numbered)(place, unit, data[unit.data], methods)
            for place, (unit, methods) in left.items()
        ]
    )
    try:
        workers = Parallel(n_jobs=n_jobs, return_as="generator_unordered")
    except ValueError:
        # a backend that returns lists only, or an error that comes again here
        workers = Parallel(n_jobs=n_jobs)
        size = _BATCH * effective_n_jobs(n_jobs)
        while batch := list(islice(calls, size)):
            yield from workers(batch)
    else:
        with deaf_to_interrupts():  # the call starts the workers
            results = workers(calls)
        yield from results


def _run_numbered(
    place: int, unit: Unit, data: DataSet, methods: list[MethodSpec]
) -> tuple[int, UnitResult]:
    # A unit is the smallest piece of work: its ensemble and votes stay in one worker,
    # where Dask would hand out every member.
    with parallel_config(backend="sequential"):
        return place, run_unit(unit, data, methods)
