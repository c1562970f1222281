"""Plots as files, with the same bytes for the same numbers."""

import io
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import matplotlib
from matplotlib.figure import Figure

from quorate._atomic import atomic_write
from quorate._checks import one_of
from quorate.display._ranks import CriticalDifferenceDisplay
from quorate.display._risk import RiskErrorDisplay
from quorate.display._study import (
    CorrelationDisplay,
    QuantityDisplay,
    SizeAccuracyDisplay,
    methods_of_own_size,
)
from quorate.study import Results

# Without dates, so that two runs give the same file.
_NO_DATE: dict[str, dict[str, Any]] = {
    "png": {"Software": None},
    "svg": {"Date": None},
    "pdf": {"CreationDate": None},
}
_DPI = 150
_QUANTITIES = {"time": "seconds", "space": "bytes", "size": "kept"}


def study_figures(
    results: Results,
    folder: str | os.PathLike[str],
    formats: str | Iterable[str] = ("png",),
) -> list[Path]:
    """Draw every figure that fits the results of a study.

    These are the critical-difference diagram (from two data sets and two methods on),
    accuracy, time, space and size by method, gain against each measure of diversity,
    risk against error and diversity, and size against accuracy where methods choose
    their own size.

    Parameters
    ----------
    results : Results
    folder : path
        Made if it does not exist. Files of the same names are replaced.
    formats : iterable of {"png", "svg", "pdf"}

    Returns
    -------
    list of Path
        The files, one per figure and format.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from quorate.display import study_figures
    >>> from quorate.study import EnsembleSpec, MethodSpec, Plan, Results, run_plan
    >>> plan = Plan(
    ...     name="example",
    ...     data=("iris", "wine"),
    ...     ensembles=(EnsembleSpec("bagging", "tree", members=5),),
    ...     methods=(MethodSpec("epbd", 0.4), MethodSpec("random", 0.4)),
    ...     folds=2,
    ... )
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> outcome = run_plan(plan, folder / "example.sqlite")
    >>> results = Results.read(folder / "example.sqlite")
    >>> paths = study_figures(results, folder / "figures", "svg")
    >>> [path.name for path in paths[:2]]
    ['critical-difference.svg', 'accuracy.svg']
    """
    import matplotlib.pyplot as plt

    kinds = [formats] if isinstance(formats, str) else list(formats)
    for kind in kinds:
        one_of("study_figures", "formats", kind, tuple(_NO_DATE))
    displays, folder = study_displays(results), Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for name, shown in displays.items():
        with plt.ioff():  # no window
            figure = shown.plot().figure_
        for kind in kinds:
            path = folder / f"{name}.{kind}"
            with atomic_write(path) as file:
                file.write(figure_bytes(figure, kind, salt=name))
            paths.append(path)
        plt.close(figure)
    return paths


def figure_bytes(figure: Figure, kind: str, *, salt: str = "quorate") -> bytes:
    """Return a figure as a file's content, without a date.

    Parameters
    ----------
    figure : matplotlib figure
    kind : {"png", "svg", "pdf"}
    salt : str
        Makes the ids in an SVG differ from those of others on the same page.
    """
    # Text as paths looks the same everywhere.
    setting = {"svg.hashsalt": salt, "svg.fonttype": "path"}
    buffer = io.BytesIO()
    with matplotlib.rc_context(setting):
        figure.savefig(
            buffer, format=kind, dpi=_DPI, metadata=_NO_DATE[kind], transparent=False
        )
    return buffer.getvalue()


def study_displays(results: Results) -> dict[str, Any]:
    """Return all displays for the results of a study, by name.

    Those of a table of the paper are about the search as printed.
    """
    results = next(iter(results.searches.values()))
    own_size = methods_of_own_size(results)  # refuses a study without results
    scores = results.scores().complete_blocks()
    shown: dict[str, Any] = {}
    if scores.n_methods > 1 and scores.n_blocks > 1:
        shown["critical-difference"] = CriticalDifferenceDisplay.from_results(results)
    shown["accuracy"] = QuantityDisplay.from_results(results, relative=True)
    for name, quantity in _QUANTITIES.items():
        shown[name] = QuantityDisplay.from_results(results, quantity)
    shown["diversity-correlation"] = CorrelationDisplay.from_results(results)
    shown["risk-and-error"] = RiskErrorDisplay.from_results(results)
    if own_size:
        shown["size-and-accuracy"] = SizeAccuracyDisplay.from_results(results)
    return shown
