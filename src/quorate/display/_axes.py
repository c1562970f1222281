"""Figures and axes to draw on: those given, or new ones."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_OFFSCREEN = ContextVar("_OFFSCREEN", default=False)


def require_matplotlib(owner: str) -> None:
    """Raise one helpful sentence where matplotlib is missing."""
    try:
        import matplotlib  # noqa: F401
    except ImportError as error:
        raise ImportError(
            f"{owner}.plot draws with matplotlib, which is not installed; "
            "pip install matplotlib"
        ) from error


@contextmanager
def offscreen() -> Iterator[None]:
    """Let new figures be known to nobody: no window, no list of open figures.

    For files and reports, from any thread.
    """
    token = _OFFSCREEN.set(True)
    try:
        yield
    finally:
        _OFFSCREEN.reset(token)


def new_figure(width: float, height: float) -> "Figure":
    """Return an empty figure; the current one of pyplot unless offscreen."""
    if _OFFSCREEN.get():
        from matplotlib.figure import Figure

        return Figure(figsize=(width, height), layout="constrained")
    import matplotlib.pyplot as plt

    return plt.figure(figsize=(width, height), layout="constrained")


def one_axes(owner: str, ax: "Axes | None", width: float, height: float) -> "Axes":
    """Return the axes to draw on: the ones given, or those of a new figure."""
    require_matplotlib(owner)
    if ax is None:
        ax = new_figure(width, height).subplots()
    for side in ("top", "right"):
        if side in ax.spines:
            ax.spines[side].set_visible(False)
    return ax


def many_axes(
    owner: str,
    axes: Any,
    figure: "Figure | None",
    shape: tuple[int, int],
    size: tuple[float, float],
    **options: Any,
) -> list["Axes"]:
    """Return the axes of a picture of several panels, row by row.

    They are those given, or new ones on the figure given, or on a new figure.
    """
    require_matplotlib(owner)
    n_panels = shape[0] * shape[1]
    if axes is not None:
        found = list(np.ravel(np.asarray(axes, dtype=object)))
        if len(found) < n_panels:
            raise ValueError(
                f"{owner}.plot(axes): {n_panels} axes are needed, got {len(found)}."
            )
    else:
        figure = new_figure(*size) if figure is None else figure
        found = list(np.ravel(figure.subplots(*shape, squeeze=False, **options)))
    for ax in found:
        for side in ("top", "right"):
            ax.spines[side].set_visible(False)
    return found


def figure_of(ax: "Axes") -> "Figure":
    """Return the figure of the axes, also where it is a part of another figure."""
    figure: Any = ax.figure
    while getattr(figure, "figure", figure) is not figure:
        figure = figure.figure
    return figure
