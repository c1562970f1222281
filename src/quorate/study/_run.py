"""Run the missing parts of a plan, or say what is missing."""

import json
import warnings
from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from dataclasses import dataclass
from datetime import timedelta
from itertools import islice
from pathlib import Path
from pickle import PicklingError
from statistics import fmean
from typing import Any, TypeAlias

from joblib import effective_n_jobs, parallel_config
from sklearn.utils.parallel import Parallel, delayed

from quorate._output import Result
from quorate._progress import advance, stage
from quorate._workers import deaf_to_interrupts, without_forks
from quorate.study._cell import UnitResult, run_unit, unit_keys
from quorate.study._data_set import DataSet
from quorate.study._load_data import IMAGE_SIZE, find_data
from quorate.study._plan import DataSpec, MethodSpec, Plan, Unit
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
    if Path(path).exists():
        # Before reading the data, which can take long.
        with Store(path, read_only=True) as store:
            check_plan(plan, store)
    data = load_plan_data(plan, data_dir)
    with Store(path) as store:
        check_plan(plan, store)
        store.remember_plan(plan)
        todo = missing_units(plan, data, store.done(retry))
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


def check_plan(plan: Plan, store: Store) -> None:
    """Refuse a plan that differs from the plan of the store."""
    # via JSON, which turns tuples into lists
    text = json.dumps(plan.to_dict())
    if store.done() and json.dumps(store.plan.to_dict()) != text:
        raise ValueError(
            f"{store.path}: contains the results of another plan; use another file."
        )


def load_plan_data(plan: Plan, data_dir: str | Path | None) -> dict[str, DataSet]:
    """Return the data sets of a plan by their names in tables.

    Raises
    ------
    ValueError
        If an option does not suit its data set, two data sets are the same, there are
        more folds than rows, or a size is not possible for a method.
    """
    plan.check_sizes()
    # Find all of them before reading the first, which can take long.
    readers = []
    for spec in plan.data_specs:
        if spec.image_size is not None and not Path(spec.source).is_dir():
            raise ValueError(
                f"{spec.label}: image_size is for folders of pictures, but "
                f"{str(spec.source)!r} is not a folder."
            )
        where = (spec.source, spec.target, data_dir)
        size = spec.image_size or IMAGE_SIZE
        readers.append((spec, find_data(*where, plan.seed, spec.rows, size)))
    data: dict[str, DataSet] = {}
    seen: dict[Any, str] = {}
    for spec, read in readers:
        loaded = read()
        _check_rows(loaded.n_rows, spec, plan)
        first = seen.setdefault((loaded.fingerprint, spec.binary, spec.pca), spec.label)
        if first != spec.label:
            raise ValueError(
                f"{plan.name}: {first} and {spec.label} are the same data; "
                "leave one out."
            )
        data[spec.label] = loaded
    return data


def _check_rows(n_rows: int, spec: DataSpec, plan: Plan) -> None:
    """Refuse a data set with too few rows for the plan."""
    if plan.folds > n_rows:
        raise ValueError(
            f"{spec.label}: got {plan.folds} folds for {n_rows} rows; use 2 to "
            f"{n_rows} folds."
        )
    n_train = n_rows * (plan.folds - 1) // plan.folds
    if isinstance(spec.pca, int) and spec.pca > n_train:
        raise ValueError(
            f"{spec.label}: pca is {spec.pca}, more than the number of training rows "
            "in a fold."
        )


def missing_units(plan: Plan, data: dict[str, DataSet], done: set[str]) -> list[Task]:
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


@dataclass(frozen=True, repr=False)
class Forecast(Result):
    """What a run would compute.

    Parameters
    ----------
    name : str
        Name of the plan.
    n_data, n_fits, n_cells : int
        Numbers of data sets, fits and cells of the whole plan.
    n_stored : int
        Cells that are finished.
    n_fits_left : int
        Fits that a run would compute.
    n_jobs : int
        Fits in parallel.
    seconds : float or None
        Time of the fits left, from the mean of the stored ones; None if there are none.

    Examples
    --------
    >>> from quorate.study import Forecast
    >>> Forecast("mine", 3, 15, 45, 42, 1, 2, 95.0)
    mine
    data sets  3
    fits       15, 1 left
    cells      45, 42 stored
    time       about 0:01:35, 2 at a time
    """

    name: str
    n_data: int
    n_fits: int
    n_cells: int
    n_stored: int
    n_fits_left: int
    n_jobs: int
    seconds: float | None

    @property
    def _title(self) -> str:  # type: ignore[override]
        return self.name

    def rows(self) -> list[tuple[str, ...]]:
        """Return the numbers of data sets, fits and cells, and the time."""
        time = "unknown until fits of this plan are stored"
        if self.seconds is not None:
            rounded = timedelta(seconds=round(self.seconds))
            time = f"about {rounded}, {self.n_jobs} at a time"
        return [
            ("data sets", f"{self.n_data}"),
            ("fits", f"{self.n_fits}, {self.n_fits_left} left"),
            ("cells", f"{self.n_cells}, {self.n_stored} stored"),
            ("time", time),
        ]


def forecast_plan(
    plan: Plan,
    path: str | Path | None = None,
    *,
    data_dir: str | Path | None = None,
    n_jobs: int | None = None,
    retry: bool = False,
) -> Forecast:
    """Return what :func:`run_plan` would compute, without running or writing anything.

    Parameters
    ----------
    plan : Plan
    path : path, optional
        The store, if there is one.
    data_dir, n_jobs, retry
        As in :func:`run_plan`.

    Returns
    -------
    Forecast

    Examples
    --------
    >>> from quorate.study import EnsembleSpec, MethodSpec, Plan, forecast_plan
    >>> plan = Plan("x", ("iris",), (EnsembleSpec("bagging"),), (MethodSpec("epbd"),))
    >>> forecast_plan(plan).n_fits_left
    5
    """
    data = load_plan_data(plan, data_dir)
    done: set[str] = set()
    times: list[float] = []
    if path is not None and Path(path).exists():
        with Store(path, read_only=True) as store:
            check_plan(plan, store)
            done = store.done(retry)
            # others ran only some of the methods
            times = [
                fit["seconds"]
                for fit in store.fits()
                if fit["cells"] == len(plan.methods)
            ]
    todo = missing_units(plan, data, done)
    jobs = max(min(effective_n_jobs(n_jobs), len(todo)), 1)
    return Forecast(
        name=plan.name,
        n_data=len(data),
        n_fits=plan.n_fits,
        n_cells=plan.n_cells,
        n_stored=plan.n_cells - sum(len(methods) for _, methods in todo),
        n_fits_left=len(todo),
        n_jobs=jobs,
        seconds=len(todo) * fmean(times) / jobs if times else None,
    )
