"""Error over cost: the subsets that nothing cheaper beats."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from quorate._judging import Frontier
from quorate._typing import FloatArray, IntArray
from quorate.display._axes import figure_of, one_axes
from quorate.display._base import Display
from quorate.display._colours import ALL, GOOD, text_colour
from quorate.display._text import percent, percent_axis, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Sizes written beside their points; more would be in each other's way.
_LABELS = 6


@dataclass(eq=False, repr=False)
class FrontierDisplay(Display):
    """Error of the subsets that nothing cheaper beats, over what they cost.

    Each point is a subset, with the number of its members beside some of them. Between
    two points money buys nothing, so the line has steps. The band is one standard error
    to each side, the diamond is the whole ensemble.

    Parameters
    ----------
    costs, errors, standard_errors : ndarray of shape (n_points,)
        From the cheapest to the most accurate subset.
    sizes : ndarray of int of shape (n_points,)
        Members of each.
    full_cost, full_error : float
        Cost and error of the whole ensemble.
    kind : str
        What the cost is counted in.

    Attributes
    ----------
    ax_, figure_
        Where it was drawn.

    Examples
    --------
    >>> import numpy as np
    >>> import quorate
    >>> votes = dict(quorate.testing.example_votes())["two classes"]
    >>> front = quorate.frontier(votes, cost=np.arange(1, votes.n_members + 1))
    >>> display = quorate.display.FrontierDisplay.from_frontier(front)
    >>> display.costs.size == len(front)
    True
    """

    costs: FloatArray
    errors: FloatArray
    standard_errors: FloatArray
    sizes: IntArray
    full_cost: float
    full_error: float
    kind: str = "cost"

    @classmethod
    def from_frontier(cls, front: Frontier) -> Self:
        """Take what :func:`quorate.frontier` found.

        Parameters
        ----------
        front : Frontier
        """
        return cls(
            front.costs,
            front.errors,
            front.standard_errors,
            front.supports.sum(axis=1),
            front.full_cost,
            front.full_error,
            front.kind,
        )

    def plot(self, ax: "Axes | None" = None) -> Self:
        """Draw the front.

        Parameters
        ----------
        ax : matplotlib axes, optional
            A new figure by default.
        """
        ax = one_axes("FrontierDisplay", ax, 6.4, 4.0)
        ink = text_colour(ax)
        ax.fill_between(
            self.costs,
            self.errors - self.standard_errors,
            self.errors + self.standard_errors,
            step="post", color=GOOD, alpha=0.2, lw=0, label="± one standard error",
        )  # fmt: skip
        ax.plot(
            self.costs, self.errors, "o-", drawstyle="steps-post", color=GOOD, ms=5,
            lw=1.6, label="best for its cost",
        )  # fmt: skip
        ax.plot(
            self.full_cost, self.full_error, "D", color=ALL, ms=8, mec=ink, zorder=4,
            label=f"all members: {percent(self.full_error)}",
        )  # fmt: skip
        every = max(1, -(-self.costs.size // _LABELS))
        for place in range(0, self.costs.size, every):
            ax.annotate(
                f"{self.sizes[place]}", (self.costs[place], self.errors[place]),
                xytext=(4, 4), textcoords="offset points", fontsize="small", color=ink,
            )  # fmt: skip
        ax.set_xscale("log")
        ax.set_xlabel(f"{plain(self.kind, 40)} (logarithmic); members at the points")
        ax.set_ylabel("error, %")
        percent_axis(ax.yaxis)
        ax.legend(frameon=False, labelcolor=ink, fontsize="small", loc="upper right")
        self.ax_, self.figure_ = ax, figure_of(ax)
        return self
