"""Pictures as files, the same bytes for the same numbers."""

import io
import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from quorate._atomic import atomic_write
from quorate._messages import one_of
from quorate.display._axes import offscreen, require_matplotlib
from quorate.display._base import Display
from quorate.display._correlation import CorrelationDisplay
from quorate.display._decomposition import DecompositionDisplay
from quorate.display._quantity import QuantityDisplay
from quorate.display._ranks import CriticalDifferenceDisplay, RankDisplay
from quorate.display._risk_error import RiskErrorDisplay
from quorate.display._size_accuracy import SizeAccuracyDisplay, methods_of_own_size

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from quorate.study import Results

FORMATS = ("png", "svg", "pdf")
# Dates would make two runs differ.
_NO_DATE: dict[str, dict[str, Any]] = {
    "png": {"Software": None},
    "svg": {"Date": None},
    "pdf": {"CreationDate": None},
}


def study_figures(
    results: "Results",
    folder: str | os.PathLike[str],
    formats: str | Iterable[str] = ("png",),
    *,
    dpi: float = 150,
) -> list[Path]:
    """Draw every figure that fits the results of a study.

    These are average ranks and the critical-difference diagram (from two data sets and
    two methods on), accuracy, time, space and size by method, the error decomposition,
    gain against each measure of diversity, risk against error and diversity, and size
    against accuracy where methods choose their own size.

    Parameters
    ----------
    results : Results
    folder : path
        Made if it does not exist. Files of the same names are replaced.
    formats : iterable of {"png", "svg", "pdf"}
    dpi : float
        Dots per inch of PNG files, and of crowded parts of the others.

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
    ['ranks.svg', 'critical-difference.svg']
    """
    require_matplotlib("study_figures")
    kinds = [formats] if isinstance(formats, str) else list(formats)
    for kind in kinds:
        one_of("study_figures", "formats", kind, FORMATS)
    if not results.rows:
        raise ValueError(f"{results.name}: no results yet.")
    home = Path(folder)
    home.mkdir(parents=True, exist_ok=True)
    paths = []
    for name, make in _figures(results):
        with offscreen():
            figure = cast("Any", make()).plot().figure_
        for kind in kinds:
            path = home / f"{name}.{kind}"
            with atomic_write(path) as file:
                file.write(figure_bytes(figure, kind, dpi=dpi, salt=name))
            paths.append(path)
    return paths


def figure_bytes(
    figure: "Figure", kind: str, *, dpi: float = 150, salt: str = "quorate"
) -> bytes:
    """Return a figure as a file's content, without a date.

    Parameters
    ----------
    figure : matplotlib figure
    kind : {"png", "svg", "pdf"}
    dpi : float
        Dots per inch of bitmaps.
    salt : str
        Makes the ids in an SVG differ from those of others on the same page.
    """
    import matplotlib

    # Outlines of letters look the same everywhere.
    setting = {"svg.hashsalt": salt, "svg.fonttype": "path"}
    buffer = io.BytesIO()
    with matplotlib.rc_context(setting):
        figure.savefig(
            buffer, format=kind, dpi=dpi, metadata=_NO_DATE[kind], transparent=False
        )
    return buffer.getvalue()


def _figures(results: "Results") -> Sequence[tuple[str, Callable[[], Display]]]:
    scores = results.scores().complete_blocks()
    several = scores.n_methods > 1
    figures: list[tuple[str, Callable[[], Display]]] = []
    if several and scores.n_blocks > 1:
        figures += [
            ("ranks", lambda: RankDisplay.from_results(results)),
            (
                "critical-difference",
                lambda: CriticalDifferenceDisplay.from_results(results),
            ),
        ]
    figures += [
        (
            "accuracy",
            lambda: QuantityDisplay.from_results(results, "accuracy", relative=True),
        ),
        ("time", lambda: QuantityDisplay.from_results(results, "seconds")),
        ("space", lambda: QuantityDisplay.from_results(results, "bytes")),
        ("size", lambda: QuantityDisplay.from_results(results, "kept")),
        ("decomposition", lambda: DecompositionDisplay.from_results(results)),
        ("diversity-correlation", lambda: CorrelationDisplay.from_results(results)),
        ("risk-and-error", lambda: RiskErrorDisplay.from_results(results)),
    ]
    if methods_of_own_size(results):
        figures.append(
            ("size-and-accuracy", lambda: SizeAccuracyDisplay.from_results(results))
        )
    return figures
