"""Plot of the error decomposition."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from matplotlib.axes import Axes

from quorate._theory import decompose
from quorate._typing import FloatArray
from quorate._votes import Votes
from quorate.display import _base
from quorate.display._base import (
    ALL,
    BAD,
    GOOD,
    Display,
    as_support,
)
from quorate.display._study import cells_of
from quorate.study import Results


@dataclass(eq=False, repr=False)
class DecompositionDisplay(Display):
    """Ensemble error, members' mean error and diversity of several choices.

    The solid bar is the error of the vote. The hatched part between it and the tick,
    the members' mean error, is the diversity: what the vote saves, or, where the vote
    is worse than its members, what it costs.

    Parameters
    ----------
    names : tuple of str
        The choices.
    error, member_error, diversity : ndarray of shape (n_choices,)
        ``error == member_error - diversity``.

    Attributes
    ----------
    ax_, figure_
        Where it was drawn.

    Examples
    --------
    >>> import quorate
    >>> votes = quorate.Votes([[1, 1, 0, 0], [1, 0, 1, 0], [0, 1, 1, 1]], [1, 1, 1, 1])
    >>> from quorate.display import DecompositionDisplay
    >>> display = DecompositionDisplay.from_votes(votes, {"two": [1, 2]})
    >>> display.names
    ('all members', 'two')
    >>> display.error
    array([0.25 , 0.375])
    """

    names: tuple[str, ...]
    error: FloatArray
    member_error: FloatArray
    diversity: FloatArray

    @classmethod
    def from_votes(
        cls, votes: Votes, selections: Mapping[str, Any] | None = None
    ) -> Self:
        """Decompose the error of all members and of each selection.

        Parameters
        ----------
        votes : Votes
        selections : dict from name to support, optional
            Members kept, each as a mask or positions.
        """
        parts = [decompose(votes)]
        for name, support in (selections or {}).items():
            mask = as_support(f"DecompositionDisplay({name!r})", votes, support)
            parts.append(decompose(votes.keep(mask)))
        numbers = np.array([(p.error, p.member_error, p.diversity) for p in parts])
        return cls(("all members", *map(str, selections or {})), *numbers.T)

    @classmethod
    def from_results(cls, results: Results) -> Self:
        """Average the decompositions of a study over its cells, by method."""
        parts = ["error", "member_error", "diversity"]
        means = cells_of(results).groupby("method")[parts].mean()
        return cls(results.methods, *means.reindex(results.methods).to_numpy().T)

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw a bar for each choice.

        Parameters
        ----------
        ax : matplotlib axes, optional
            A new figure by default.
        """
        n = len(self.names)
        ax, ink = self._axes(ax, 7.0, 1.3 + 0.36 * n)
        rows = np.arange(n)
        ax.barh(rows, self.error, 0.6, color=ALL, label="error of the vote")
        saves = self.diversity >= 0
        for which, hue, hatch, label in (
            (saves, GOOD, "////", "diversity: the vote saves this"),
            (~saves, BAD, "xxxx", "diversity below 0: the vote costs this"),
        ):
            if which.any():
                ax.barh(
                    rows[which], self.diversity[which], 0.6, self.error[which],
                    facecolor="none", edgecolor=hue, hatch=hatch, lw=0, label=label,
                )  # fmt: skip
        ax.plot(
            self.member_error, rows, "|", color=ink, ms=15, mew=2, ls="none",
            label="members' mean error",
        )  # fmt: skip
        reach = np.maximum(self.error, self.member_error)
        look = {"va": "center", "fontsize": "x-small"}
        for row in rows:
            parts = self.error[row], self.member_error[row], abs(self.diversity[row])
            error, mean, apart = (_base.percent(part, 2) for part in parts)
            text = f"{error} = {mean} {'−' if saves[row] else '+'} {apart}"
            _base.note(ax, text, (reach[row], row), (6, 0), **look)
        _base.name_rows(ax, self.names)
        ax.set_xlim(0, 1.45 * max(float(reach.max()), 1e-3))
        ax.set_xlabel("error, %")
        _base.percent_axis(ax.xaxis)
        # By default lines come first in a legend.
        line, *bars = zip(*ax.get_legend_handles_labels(), strict=True)
        handles, labels = zip(*bars, line, strict=True)
        _base.legend(ax, above=True, handles=handles, labels=labels, ncols=2)
        return self
