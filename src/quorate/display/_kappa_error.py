"""Kappa-error diagram: each pair of members, how alike and how wrong."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from scipy.spatial import ConvexHull, QhullError

from quorate._theory import pairwise_diversity
from quorate._typing import BoolArray, FloatArray, IntArray, Outputs
from quorate._votes import VoteCounts
from quorate.display._axes import figure_of, one_axes
from quorate.display._base import SupportDisplay, as_support
from quorate.display._colours import ALL, KEPT, fading, text_colour
from quorate.display._points import CROWD, points
from quorate.display._text import percent_axis, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST = 5000


@dataclass(eq=False, repr=False)
class KappaErrorDisplay(SupportDisplay):
    """Kappa-error diagram: a point for each pair of members.

    To the left are pairs that agree little, at the bottom pairs that are seldom wrong.
    A good ensemble has a cloud that reaches far to the lower left; the two aims pull
    in opposite directions, and the cloud shows how far.

    Parameters
    ----------
    kappa, error : ndarray of shape (n_pairs,)
        Agreement beyond chance and mean error of each pair.
    kept : ndarray of bool of shape (n_pairs,), optional
        Which pairs are of two members kept.
    n_members : int
        Number of members.

    Attributes
    ----------
    ax_, figure_
        Where it was drawn.

    References
    ----------
    D. Margineantu and T. Dietterich, "Pruning adaptive boosting", ICML, 1997.

    Examples
    --------
    >>> import quorate
    >>> votes = dict(quorate.testing.example_votes())["two classes"]
    >>> display = quorate.display.KappaErrorDisplay.from_votes(votes, [0, 1, 2])
    >>> int(display.kept.sum())
    3
    """

    kappa: FloatArray
    error: FloatArray
    kept: BoolArray | None
    n_members: int

    @classmethod
    def from_votes(
        cls, votes: VoteCounts, support: Any = None, *, outputs: Outputs = "label"
    ) -> Self:
        """Compute the pairs.

        Parameters
        ----------
        votes : Votes or Summary
            Of two members or more.
        support : array-like of bool or int, optional
            Members kept, as a mask or positions.
        outputs : {"label", "oracle"}
            Agreement on the class, as in the literature, or on being right.
        """
        if votes.n_members < 2:
            raise ValueError("KappaErrorDisplay: a pair needs two members, got one.")
        mask = as_support("KappaErrorDisplay", votes, support)
        first, second = np.triu_indices(votes.n_members, k=1)
        error = 1.0 - votes.accuracies
        return cls(
            kappa=pairwise_diversity(votes, "kappa", outputs=outputs)[first, second],
            error=(error[first] + error[second]) / 2,
            kept=None if mask is None else mask[first] & mask[second],
            n_members=votes.n_members,
        )

    @property
    def hull(self) -> IntArray:
        """The pairs on the convex hull of all, in the order of its outline."""
        return hull_of(self.kappa, self.error)

    def plot(self, ax: "Axes | None" = None, *, name: str = "kept") -> Self:
        """Draw the pairs, their convex hull, and the pairs of members kept.

        Parameters
        ----------
        ax : matplotlib axes, optional
            A new figure by default.
        name : str
            What to call the pairs of members kept.
        """
        ax = one_axes("KappaErrorDisplay", ax, 5.6, 4.4)
        if self.kappa.size > _MOST:
            ax.hexbin(
                self.kappa, self.error, gridsize=45, mincnt=1, bins="log",
                cmap=fading(ALL), linewidths=0, rasterized=True, zorder=1,
            )  # fmt: skip
        else:
            points(ax, self.kappa, self.error, s=9, color=ALL, alpha=0.5, lw=0)
        self._outline(ax, self.kappa, self.error, ALL, "-", "all pairs")
        if self.kept is not None and self.kept.any():
            kappa, error = self.kappa[self.kept], self.error[self.kept]
            step = -(-kappa.size // _MOST)
            points(
                ax, kappa[::step], error[::step], s=14 if kappa.size < CROWD else 6,
                color=KEPT, marker="D", alpha=0.8, lw=0, zorder=3,
            )  # fmt: skip
            self._outline(ax, kappa, error, KEPT, "--", f"pairs {plain(name)}")
        ax.set(xlabel="kappa: agreement of two members beyond chance")
        ax.set_ylabel("mean error of the two, %")
        percent_axis(ax.yaxis)
        if self.kept is not None:
            ax.legend(frameon=False, labelcolor=text_colour(ax), loc="best")
        self.ax_, self.figure_ = ax, figure_of(ax)
        return self

    @staticmethod
    def _outline(
        ax: "Axes", x: FloatArray, y: FloatArray, hue: str, dash: str, label: str
    ) -> None:
        on = hull_of(x, y)
        ring = np.append(on, on[0])
        marker = "o" if hue == ALL else "D"
        ax.plot(x[ring], y[ring], dash, color=hue, lw=1.4, zorder=4)
        ax.plot([], [], dash, color=hue, marker=marker, ms=4, label=label)


def hull_of(x: FloatArray, y: FloatArray) -> IntArray:
    """Return the positions of the points on the convex hull, along its outline.

    Points on a line have no area to surround; theirs are the two ends.
    """
    places = np.column_stack([x, y])
    if len(places) > 2:
        try:
            found: IntArray = ConvexHull(places).vertices.astype(np.intp)
        except QhullError:
            pass
        else:
            return found
    order = np.lexsort((y, x))
    return np.unique(order[[0, -1]])
