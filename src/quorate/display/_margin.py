"""Margin distribution: how clearly the vote is right, before and after."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from quorate._typing import FloatArray
from quorate._votes import Votes
from quorate.display._axes import figure_of, one_axes
from quorate.display._base import SupportDisplay, as_support
from quorate.display._colours import ALL, KEPT, text_colour
from quorate.display._text import percent, percent_axis, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST_STEPS = 500


@dataclass(eq=False, repr=False)
class MarginDisplay(SupportDisplay):
    """Cumulative distribution of the margins of the vote, before and after.

    The margin of a sample is the share of the vote for its true class minus the largest
    share for another class: 1 if all members are right, below 0 if the vote is wrong.
    The height of a line at 0 is about the error; the further a line stays to the right,
    the clearer the verdicts.

    Parameters
    ----------
    before : ndarray of shape (n_samples,)
        Margins of all members.
    after : ndarray of shape (n_samples,), optional
        Margins of the members kept.

    Attributes
    ----------
    ax_, figure_
        Where it was drawn.

    References
    ----------
    R. Schapire, Y. Freund, P. Bartlett and W. S. Lee, "Boosting the margin", Annals of
    Statistics 26, 1998.

    Examples
    --------
    >>> import quorate
    >>> votes = quorate.Votes([[1, 1, 0], [1, 0, 0], [1, 1, 0]], [1, 1, 1])
    >>> quorate.display.MarginDisplay.from_votes(votes).before
    array([ 1.        ,  0.33333333, -1.        ])
    """

    before: FloatArray
    after: FloatArray | None = None

    @classmethod
    def from_votes(cls, votes: Votes, support: Any = None) -> Self:
        """Compute the margins.

        Parameters
        ----------
        votes : Votes
        support : array-like of bool or int, optional
            Members kept, as a mask or positions.
        """
        mask = as_support("MarginDisplay", votes, support)
        return cls(
            before=margins(votes),
            after=None if mask is None else margins(votes.keep(mask)),
        )

    def plot(
        self,
        ax: "Axes | None" = None,
        *,
        names: tuple[str, str] = ("all members", "kept"),
    ) -> Self:
        """Draw the share of samples up to each margin.

        Parameters
        ----------
        ax : matplotlib axes, optional
            A new figure by default.
        names : pair of str
            What to call the two lines.
        """
        ax = one_axes("MarginDisplay", ax, 5.6, 4.0)
        ax.axvline(0, color=text_colour(ax), lw=0.8, alpha=0.6)
        lines = [(self.before, ALL, "-", names[0])]
        if self.after is not None:
            lines.append((self.after, KEPT, "--", names[1]))
        for values, hue, dash, name in lines:
            wrong = float(np.mean(values < 0))
            label = f"{plain(name)}: {percent(wrong)} of samples below 0"
            ax.plot(
                *cumulative(values), dash, color=hue, lw=2, label=label,
                drawstyle="steps-post",
            )  # fmt: skip
        ax.set(xlim=(-1, 1), ylim=(0, 1))
        ax.set_xlabel("margin: share for the true class − largest other share")
        ax.set_ylabel("samples up to this margin, %")
        percent_axis(ax.yaxis)
        above = ax.get_xaxis_transform()
        for at, word, side in ((-0.02, "wrong", "right"), (0.02, "right", "left")):
            ax.text(
                at, 1.01, word, transform=above, ha=side, va="bottom",
                fontsize="small", color=text_colour(ax),
            )  # fmt: skip
        ax.legend(
            frameon=False, labelcolor=text_colour(ax), fontsize="small",
            loc="lower left", bbox_to_anchor=(0, 1.06), borderaxespad=0,
        )  # fmt: skip
        self.ax_, self.figure_ = ax, figure_of(ax)
        return self


def margins(votes: Votes) -> FloatArray:
    """Return the margin of the vote on each sample; 0 where nobody has a vote."""
    tally = votes.tally().astype(float)
    total = tally.sum(axis=0)
    every = np.arange(votes.n_samples)
    own = tally[votes.y, every]
    tally[votes.y, every] = -np.inf
    rival = tally.max(axis=0) if votes.n_classes > 1 else np.zeros(votes.n_samples)
    return np.asarray((own - rival) / np.where(total > 0, total, 1.0))


def cumulative(values: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return places and heights of the steps of the cumulative distribution.

    There are as many steps as distinct values, or evenly spread ones if those are many.
    """
    places, counts = np.unique(values, return_counts=True)
    heights = np.cumsum(counts) / values.size
    if places.size > _MOST_STEPS:
        some = np.unique(np.linspace(0, places.size - 1, _MOST_STEPS).astype(np.intp))
        places, heights = places[some], heights[some]
    return np.concatenate([[-1.0], places, [1.0]]), np.concatenate(
        [[0.0], heights, [1.0]]
    )
