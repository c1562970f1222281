"""Plot of margins."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from matplotlib.axes import Axes

from quorate._typing import FloatArray
from quorate._votes import Votes, check_votes
from quorate.display import _base
from quorate.display._base import ALL, KEPT, Display, as_support

_MOST_STEPS = 500


@dataclass(eq=False, repr=False)
class MarginDisplay(Display):
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
        Margins of the kept members.

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
        check_votes(votes, "MarginDisplay")
        mask = as_support("MarginDisplay", votes, support)
        after = None if mask is None else margins(votes.keep(mask))
        return cls(margins(votes), after)

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw the share of samples up to each margin.

        Parameters
        ----------
        ax : matplotlib axes, optional
            A new figure by default.
        """
        ax, ink = self._axes(ax, 5.6, 4.0)
        ax.axvline(0, color=ink, lw=0.8, alpha=0.6)
        lines = [(self.before, ALL, "-", "all members")]
        if self.after is not None:
            lines.append((self.after, KEPT, "--", "kept"))
        for values, hue, dash, name in lines:
            wrong = _base.percent(float(np.mean(values < 0)))
            ax.plot(
                *cumulative(values), dash, color=hue, lw=2, drawstyle="steps-post",
                label=f"{name}: {wrong} of samples below 0",
            )  # fmt: skip
        ax.set(xlim=(-1, 1), ylim=(0, 1))
        ax.set_xlabel("margin: share for the true class − largest other share")
        ax.set_ylabel("samples up to this margin, %")
        _base.percent_axis(ax.yaxis)
        for at, word, side in ((-0.02, "wrong", "right"), (0.02, "right", "left")):
            ax.text(
                at, 1.01, word, transform=ax.get_xaxis_transform(), ha=side,
                va="bottom", fontsize="small", color=ink,
            )  # fmt: skip
        _base.legend(ax, above=True, bbox_to_anchor=(0, 1.06), borderaxespad=0)
        return self


def margins(votes: Votes) -> FloatArray:
    """Return the margin of the vote on each sample; 0 without votes."""
    tally = votes.tally().astype(float)
    total = tally.sum(axis=0)
    every = np.arange(votes.n_samples)
    own = tally[votes.y, every]
    tally[votes.y, every] = -np.inf
    rival = tally.max(axis=0) if votes.n_classes > 1 else np.zeros(votes.n_samples)
    return np.asarray((own - rival) / np.where(total > 0, total, 1.0))


def cumulative(values: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the steps of the cumulative distribution.

    There is one step per distinct value, or evenly spaced ones if there are many.
    """
    places, counts = np.unique(values, return_counts=True)
    heights = np.cumsum(counts) / values.size
    if places.size > _MOST_STEPS:
        some = np.unique(np.linspace(0, places.size - 1, _MOST_STEPS).astype(np.intp))
        places, heights = places[some], heights[some]
    return np.r_[-1.0, places, 1.0], np.r_[0.0, heights, 1.0]
