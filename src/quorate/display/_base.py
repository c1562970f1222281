"""Shared code of all displays: arrays, figures and constructors."""

from abc import ABC, abstractmethod
from dataclasses import fields
from typing import Any, Self, cast

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from quorate._choosing import Selection
from quorate._ensembles import collect_votes
from quorate._typing import BoolArray
from quorate._votes import VoteCounts, Votes, member_positions
from quorate.display._style import figure_of, text_colour


class Display:
    """A picture that holds arrays only; ``plot`` draws them.

    Attributes
    ----------
    ax_, figure_
        The axes and the figure of the last picture, once plotted.
    """

    ax_: Axes
    figure_: Figure

    def __repr__(self) -> str:
        parts = ", ".join(
            f"{field.name}={_short(getattr(self, field.name))}"
            for field in fields(cast("Any", self))
        )
        return f"{type(self).__name__}({parts})"

    def _axes(self, ax: Axes | None, width: float, height: float) -> tuple[Axes, str]:
        """Return the axes to draw on, given or new, and their text colour."""
        if ax is None:
            ax = new_figure(width, height).subplots()
        for side in {"top", "right"} & set(ax.spines):
            ax.spines[side].set_visible(False)
        self.ax_, self.figure_ = ax, figure_of(ax)
        return ax, text_colour(ax)


class PanelsDisplay(Display):
    """A plot with several panels, available as ``axes_``."""

    axes_: list[Axes]

    def _panels(
        self,
        axes: Any,
        figure: Figure | None,
        shape: tuple[int, int],
        size: tuple[float, float],
        **options: Any,
    ) -> list[Axes]:
        """Return the axes of all panels, row by row.

        These are the given axes, or new ones on the given or a new figure.
        """
        n_panels = shape[0] * shape[1]
        if axes is None:
            figure = figure or new_figure(*size)
            axes = figure.subplots(*shape, squeeze=False, **options)
        panels = list(np.ravel(np.asarray(axes, dtype=object)))
        if len(panels) < n_panels:
            raise ValueError(
                f"{type(self).__name__}.plot(axes): {n_panels} axes are needed, got "
                f"{len(panels)}."
            )
        self.axes_ = panels[:n_panels]
        for ax in reversed(self.axes_):
            self._axes(ax, *size)
        return self.axes_


class VotesDisplay(Display, ABC):
    """A plot of votes, with a constructor from an ensemble and samples."""

    @classmethod
    @abstractmethod
    def from_votes(cls, votes: Votes, *arguments: Any, **options: Any) -> Self:
        """Compute the arrays from votes."""

    @classmethod
    def from_estimator(
        cls,
        ensemble: Any,
        X: Any,
        y: Any,
        *,
        out_of_bag: bool = False,
        n_jobs: int | None = None,
        **options: Any,
    ) -> Self:
        """Evaluate the members of a fitted ensemble, then do as ``from_votes``.

        Parameters
        ----------
        ensemble : fitted ensemble
            What :func:`quorate.collect_votes` takes.
        X, y : array-like
            Samples and their labels.
        out_of_bag : bool
            Whether members vote only on samples they were not trained on; ``X`` is
            then the training data.
        n_jobs : int, optional
            How many members to evaluate at a time.
        **options
            Passed to ``from_votes``.
        """
        votes = collect_votes(ensemble, X, y, out_of_bag=out_of_bag, n_jobs=n_jobs)
        return cls.from_votes(votes, **options)


class SupportDisplay(VotesDisplay):
    """A plot of votes before and after pruning, with a constructor from a selection."""

    @classmethod
    def from_selection(cls, selection: Selection, **options: Any) -> Self:
        """Show the votes that were chosen on, and the kept members.

        Parameters
        ----------
        selection : Selection
            From :func:`quorate.select` or :func:`quorate.prune`.
        **options
            Passed to ``from_votes``.
        """
        return cls.from_votes(selection.votes, selection.support, **options)


def new_figure(width: float, height: float) -> Figure:
    """Return an empty figure of pyplot, so that it is shown in a notebook."""
    import matplotlib.pyplot as plt

    return plt.figure(figsize=(width, height), layout="constrained")


def as_support(owner: str, votes: VoteCounts, support: Any) -> BoolArray | None:
    """Return the mask of kept members from a mask or positions; None stays None."""
    if support is None:
        return None
    n_members = votes.n_members
    chosen = member_positions(support, n_members, owner)
    return np.isin(np.arange(n_members), chosen)


def _short(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"array[{', '.join(map(str, value.shape))}]"
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
