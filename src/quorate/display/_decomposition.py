"""Error decomposition of several choices: ensemble = members - diversity."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from quorate._theory import decompose
from quorate._typing import FloatArray
from quorate._votes import Votes
from quorate.display._axes import figure_of, one_axes
from quorate.display._base import VotesDisplay, as_support
from quorate.display._colours import ALL, BAD, GOOD, text_colour
from quorate.display._study_columns import means_by_method
from quorate.display._text import percent, percent_axis, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from quorate.study import Results


@dataclass(eq=False, repr=False)
class DecompositionDisplay(VotesDisplay):
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
        chosen = {
            str(name): as_support(f"DecompositionDisplay({name!r})", votes, support)
            for name, support in (selections or {}).items()
        }
        parts = [decompose(votes)]
        parts += [
            decompose(votes if mask is None else votes.keep(mask))
            for mask in chosen.values()
        ]
        return cls(
            names=("all members", *chosen),
            error=np.array([part.error for part in parts]),
            member_error=np.array([part.member_error for part in parts]),
            diversity=np.array([part.diversity for part in parts]),
        )

    @classmethod
    def from_results(cls, results: "Results") -> Self:
        """Average the decompositions of a study over its cells, by method."""
        means = means_by_method(results, "error", "member_error", "diversity")
        return cls(results.methods, *means)

    def plot(self, ax: "Axes | None" = None) -> Self:
        """Draw a bar for each choice.

        Parameters
        ----------
        ax : matplotlib axes, optional
            A new figure by default.
        """
        n = len(self.names)
        ax = one_axes("DecompositionDisplay", ax, 7.0, 1.3 + 0.36 * n)
        ink, rows = text_colour(ax), np.arange(n)
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
        for row in rows:
            sign = "−" if saves[row] else "+"
            ax.annotate(
                f"{percent(self.error[row], 2)} = "
                f"{percent(self.member_error[row], 2)} {sign} "
                f"{percent(abs(self.diversity[row]), 2)}",
                (reach[row], row), xytext=(6, 0), textcoords="offset points",
                va="center", fontsize="x-small", color=ink,
            )  # fmt: skip
        ax.set_yticks(rows, [plain(name) for name in self.names])
        ax.set_ylim(n - 0.5, -0.5)
        ax.set_xlim(0, 1.45 * max(float(reach.max()), 1e-3))
        ax.set_xlabel("error, %")
        percent_axis(ax.xaxis)
        # Lines come first in a legend unless told otherwise.
        told = sorted(
            zip(*ax.get_legend_handles_labels(), strict=True),
            key=lambda pair: pair[1].startswith("members"),
        )
        ax.legend(
            *zip(*told, strict=True), frameon=False, labelcolor=ink, fontsize="small",
            ncols=2, loc="lower left", bbox_to_anchor=(0, 1),
        )  # fmt: skip
        self.ax_, self.figure_ = ax, figure_of(ax)
        return self
