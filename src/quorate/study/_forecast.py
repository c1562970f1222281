"""What a run would do, and about how long it would take."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from joblib import effective_n_jobs

from quorate.study._cell import run_unit
from quorate.study._plan import Plan, Unit
from quorate.study._run import check_plan, load_plan_data, missing_units
from quorate.study._store import Store

# The second data set to be timed is this much larger than the first, where there is
# one: the difference tells what rows and columns cost.
_LEAP = 10


@dataclass(frozen=True, slots=True)
class Forecast:
    """What a run would do.

    Parameters
    ----------
    name : str
        The name of the plan.
    n_data, n_fits, n_cells : int
        Data sets, fits and cells of the whole plan.
    n_stored : int
        Cells that need no more work.
    n_fits_left : int
        Fits that a run would do.
    n_jobs : int
        Fits at a time.
    seconds : float
        How long that would take, roughly.
    basis : str
        What the time is estimated from.

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
    allow_download: bool = False,
    n_jobs: int | None = None,
    retry: bool = False,
) -> Forecast:
    """Tell what :func:`run_plan` would do, without writing anything.

    Parameters
    ----------
    plan : Plan
    path : path, optional
        The store, if there is one.
    data_dir, allow_download, n_jobs, retry
        As in :func:`run_plan`.

    Returns
    -------
    Forecast

    Notes
    -----
    The time is the mean of what fits of the same ensemble on the same data set took,
    if the store has any. Other data sets are placed on a straight line in rows times
    columns through those that were timed; where nothing is stored, one fold of a small
    data set and one of a larger one are run for each ensemble. Learners whose time
    grows faster than that take longer than it says.

    Examples
    --------
    >>> from quorate.study import EnsembleSpec, MethodSpec, Plan, forecast_plan
    >>> plan = Plan("x", ("iris",), (EnsembleSpec("bagging"),), (MethodSpec("epbd"),))
    >>> forecast_plan(plan).n_fits_left
    5
    """
    data = load_plan_data(plan, data_dir, allow_download)
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
    """Return one fold of a small data set and of a larger one for each ensemble."""
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
    """Return the seconds of a fit on a data set, from those of others."""
    same = [seconds for other, seconds in timed if other == name]
    if same:
        return float(np.mean(same))
    size = np.array([sizes[other] for other, _ in timed], dtype=float)
    seconds = np.array([seconds for _, seconds in timed])
    if np.ptp(size) == 0:
        return float(seconds.mean() * max(sizes[name] / size[0], 1.0))
    slope, start = np.polyfit(size, seconds, 1)
    # never faster than the fastest that was seen
    return float(max(start + max(slope, 0.0) * sizes[name], seconds.min()))


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def _span(seconds: float) -> str:
    for unit, length in (("h", 3600.0), ("min", 60.0)):
        if seconds >= 1.5 * length:
            return f"{seconds / length:.0f} {unit}"
    return f"{max(seconds, 1.0):.0f} s"
