"""What all displays have in common: arrays, one picture, and ways in."""

from abc import ABC, abstractmethod
from dataclasses import fields
from typing import TYPE_CHECKING, Any, Self, cast

import numpy as np

from quorate._typing import BoolArray
from quorate._votes import VoteCounts, Votes
from quorate.ensembles import collect_votes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from quorate._choosing import Selection


class Display:
    """A picture that holds arrays only; ``plot`` draws them."""

    ax_: "Axes"
    """The axes of the last picture, once plotted."""
    figure_: "Figure"
    """Its figure, once plotted."""

    def __repr__(self) -> str:
        parts = ", ".join(
            f"{field.name}={_short(getattr(self, field.name))}"
            for field in fields(cast("Any", self))
            if field.repr
        )
        return f"{type(self).__name__}({parts})"


class PanelsDisplay(Display):
    """A picture of several panels."""

    axes_: "list[Axes]"
    """All panels of the last picture, once plotted."""


class VotesDisplay(Display, ABC):
    """A picture of votes, which an ensemble and samples are enough for."""

    @classmethod
    @abstractmethod
    def from_votes(cls, votes: Votes, *arguments: Any, **options: Any) -> Self:
        """Compute what the picture shows."""

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
        """Ask the members of a fitted ensemble, then do as ``from_votes``.

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
            How many members to ask at a time.
        **options
            Passed to ``from_votes``.
        """
        votes = collect_votes(ensemble, X, y, out_of_bag=out_of_bag, n_jobs=n_jobs)
        return cls.from_votes(votes, **options)


class SupportDisplay(VotesDisplay):
    """A picture of votes before and after, which a selection is enough for."""

    @classmethod
    def from_selection(cls, selection: "Selection", **options: Any) -> Self:
        """Show the votes that were chosen on, and the members kept.

        Parameters
        ----------
        selection : Selection
            From :func:`quorate.select` or :func:`quorate.prune_with_selection`.
        **options
            Passed to ``from_votes``.
        """
        return cls.from_votes(selection.votes, selection.support, **options)


def as_support(owner: str, votes: VoteCounts, support: Any) -> BoolArray | None:
    """Return which members are kept, of a mask or positions; None stays None."""
    if support is None:
        return None
    given = np.asarray(support)
    n = votes.n_members
    if given.dtype == bool and given.shape == (n,) and given.any():
        return given.copy()
    whole = given.ndim == 1 and given.size > 0 and given.dtype.kind in "iu"
    if whole and given.min() >= 0 and given.max() < n:
        mask = np.zeros(n, dtype=bool)
        mask[given] = True
        return mask
    raise ValueError(
        f"{owner}: support is a mask of {n} members, or positions from 0 to {n - 1}, "
        f"of at least one member; got {_short(support)}."
    )


def _short(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"array[{', '.join(map(str, value.shape))}]"
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
