"""Run the missing parts of a plan, and estimate how long that takes."""

import json
import warnings
from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from pickle import PicklingError
from typing import Any, TypeAlias

import numpy as np
from joblib import effective_n_jobs, parallel_config
from sklearn.utils.parallel import Parallel, delayed

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
# The second timed data set should be this much larger than the first, so that the
# difference shows the cost of rows and columns.
_LEAP = 10
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
        made = read()
        _check_rows(made.n_rows, spec, plan)
        first = seen.setdefault((made.fingerprint, spec.binary, spec.pca), spec.label)
        if first != spec.label:
            raise ValueError(
                f"{plan.name}: {first} and {spec.label} are the same data; "
                "leave one out."
            )
        data[spec.label] = made
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


@dataclass(frozen=True, slots=True)
class Forecast:
    """Forecast of a run.

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
    seconds : float
        Estimated time.
    basis : str
        Basis of the estimate.

    Examples
    --------
    >>> from quorate.study import Forecast
    >>> print(Forecast("mine", 3, 15, 45, 42, 1, 2, 95.0, "14 stored fits"))
    mine: 3 data sets, 15 fits, 45 cells, 42 of them stored
    about 2 min for 1 fit with 2 at a time, going by 14 stored fits
    """

    name: str
    n_data: int
    n_fits: int
    n_cells: int
    n_stored: int
    n_fits_left: int
    n_jobs: int
    seconds: float
    basis: str

    def __str__(self) -> str:
        sets = _count(self.n_data, "data set")
        first = (
            f"{self.name}: {sets}, {_count(self.n_fits, 'fit')}, "
            f"{_count(self.n_cells, 'cell')}, {self.n_stored} of them stored"
        )
        if not self.n_fits_left:
            return f"{first}\nnothing is left to do"
        return (
            f"{first}\nabout {_span(self.seconds)} for "
            f"{_count(self.n_fits_left, 'fit')} with {self.n_jobs} at a time, "
            f"going by {self.basis}"
        )


def forecast_plan(
    plan: Plan,
    path: str | Path | None = None,
    *,
    data_dir: str | Path | None = None,
    n_jobs: int | None = None,
    retry: bool = False,
) -> Forecast:
    """Forecast what :func:`run_plan` would do, without writing anything.

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

    Notes
    -----
    The time is the mean time of stored fits of the same ensemble on the same data set,
    if there are any. For other data sets it is extrapolated linearly in rows times
    columns. If nothing is stored, one fold of a small and one of a larger data set are
    run for each ensemble. For learners that scale worse than linearly, the estimate is
    too low.

    Examples
    --------
    >>> from quorate.study import EnsembleSpec, MethodSpec, Plan, forecast_plan
    >>> plan = Plan("x", ("iris",), (EnsembleSpec("bagging"),), (MethodSpec("epbd"),))
    >>> forecast_plan(plan).n_fits_left
    5
    """
    data = load_plan_data(plan, data_dir)
    done: set[str] = set()
    timed: list[tuple[str, str, float]] = []
    if path is not None and Path(path).exists():
        with Store(path, read_only=True) as store:
            check_plan(plan, store)
            done = store.done(retry)
            timed = [
                (fit["data"], fit["ensemble"], fit["seconds"])
                for fit in store.fits()
                if fit["cells"] == len(plan.methods)
            ]
    todo = missing_units(plan, data, done)
    sizes = {name: made.n_rows * made.n_features for name, made in data.items()}
    basis = [_count(len(timed), "stored fit")] if timed else []
    kinds = {unit.ensemble.name for unit, _ in todo} - {kind for _, kind, _ in timed}
    trials = _trials(plan, sizes, kinds)
    for unit in trials:
        name = unit.data.label
        fit = run_unit(unit, data[name], list(plan.methods)).fit
        timed.append((name, unit.ensemble.name, fit["seconds"]))
    if trials:
        names = " and ".join(sorted({unit.data.label for unit in trials}))
        basis.append(f"{_count(len(trials), 'fit')} timed now on {names}")
    seconds = sum(
        _guess(
            unit.data.label,
            sizes,
            [(name, s) for name, kind, s in timed if kind == unit.ensemble.name],
        )
        for unit, _ in todo
    )
    jobs = max(min(effective_n_jobs(n_jobs), len(todo)), 1)
    return Forecast(
        name=plan.name,
        n_data=len(data),
        n_fits=plan.n_fits,
        n_cells=plan.n_cells,
        n_stored=plan.n_cells - sum(len(methods) for _, methods in todo),
        n_fits_left=len(todo),
        n_jobs=jobs,
        seconds=seconds / jobs,
        basis=" and ".join(basis),
    )


def _trials(plan: Plan, sizes: dict[str, int], kinds: set[str]) -> list[Unit]:
    """Return one fold of a small and of a larger data set for each ensemble."""
    by_size = sorted(sizes, key=lambda name: (sizes[name], name))
    larger = [name for name in by_size if sizes[name] >= _LEAP * sizes[by_size[0]]]
    chosen = {by_size[0], larger[0] if larger else by_size[-1]}
    return [
        unit
        for unit in plan.units()
        if (unit.repeat, unit.fold) == (0, 0)
        and unit.data.label in chosen
        and unit.ensemble.name in kinds
    ]


def _guess(name: str, sizes: dict[str, int], timed: list[tuple[str, float]]) -> float:
    """Estimate the seconds of a fit on a data set from those on others."""
    same = [seconds for other, seconds in timed if other == name]
    if same:
        return float(np.mean(same))
    size = np.array([sizes[other] for other, _ in timed], dtype=float)
    seconds = np.array([seconds for _, seconds in timed])
    if np.ptp(size) == 0:
        return float(seconds.mean() * max(sizes[name] / size[0], 1.0))
    slope, start = np.polyfit(size, seconds, 1)
    # never faster than the fastest so far
    return float(max(start + max(slope, 0.0) * sizes[name], seconds.min()))


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def _span(seconds: float) -> str:
    for unit, length in (("h", 3600.0), ("min", 60.0)):
        if seconds >= 1.5 * length:
            return f"{seconds / length:.0f} {unit}"
    return f"{max(seconds, 1.0):.0f} s"
