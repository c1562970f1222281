"""Plot of pairs of members: kappa against error."""

from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap, to_rgb
from scipy.spatial import ConvexHull, QhullError

from quorate._theory import pairwise_diversity
from quorate._typing import BoolArray, FloatArray, IntArray
from quorate._votes import VoteCounts, check_counts
from quorate.display import _base
from quorate.display._base import ALL, CROWD, KEPT, Display, as_support

_MOST = 5000
# From almost transparent to the hue of all members.
_FADING = LinearSegmentedColormap.from_list(
    "fading", [(*to_rgb(ALL), 0.15), (*to_rgb(ALL), 1.0)], N=32
)


@dataclass(eq=False, repr=False)
class KappaErrorDisplay(Display):
    """Kappa-error diagram: a point for each pair of members.

    To the left are pairs that agree little, at the bottom pairs that are seldom wrong.
    A good ensemble has a cloud that reaches far to the lower left; the two aims pull
    in opposite directions, and the cloud shows how far.

    Parameters
    ----------
    kappa, error : ndarray of shape (n_pairs,)
        Agreement beyond chance and mean error of each pair.
    kept : ndarray of bool of shape (n_pairs,), optional
        Which pairs are of two kept members.
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
    def from_votes(cls, votes: VoteCounts, support: Any = None) -> Self:
        """Compute the pairs.

        Parameters
        ----------
        votes : Votes or Summary
            Of two members or more.
        support : array-like of bool or int, optional
            Members kept, as a mask or positions.
        """
        check_counts(votes, "KappaErrorDisplay")
        if votes.n_members < 2:
            raise ValueError("KappaErrorDisplay: a pair needs two members, got one.")
        mask = as_support("KappaErrorDisplay", votes, support)
        first, second = np.triu_indices(votes.n_members, k=1)
        error = 1.0 - votes.accuracies
        return cls(
            kappa=pairwise_diversity(votes, "kappa", outputs="label")[first, second],
            error=(error[first] + error[second]) / 2,
            kept=None if mask is None else mask[first] & mask[second],
            n_members=votes.n_members,
        )

    @property
    def hull(self) -> IntArray:
        """The pairs on the convex hull, in the order of its outline."""
        return hull_of(self.kappa, self.error)

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw the pairs, their convex hull, and the pairs of kept members.

        Parameters
        ----------
        ax : matplotlib axes, optional
            A new figure by default.
        """
        ax, _ = self._axes(ax, 5.6, 4.4)
        if self.kappa.size > _MOST:
            ax.hexbin(
                self.kappa, self.error, gridsize=45, mincnt=1, bins="log",
                cmap=_FADING, linewidths=0, rasterized=True, zorder=1,
            )  # fmt: skip
        else:
            _base.points(ax, self.kappa, self.error, s=9, color=ALL, alpha=0.5, lw=0)
        _outline(ax, self.kappa, self.error, "-", "o", color=ALL, label="all pairs")
        if self.kept is not None and self.kept.any():
            kappa, error = self.kappa[self.kept], self.error[self.kept]
            step = -(-kappa.size // _MOST)
            _base.points(
                ax, kappa[::step], error[::step], s=14 if kappa.size < CROWD else 6,
                color=KEPT, marker="D", alpha=0.8, lw=0, zorder=3,
            )  # fmt: skip
            _outline(ax, kappa, error, "--", "D", color=KEPT, label="pairs kept")
        ax.set_xlabel("kappa: agreement of two members beyond chance")
        ax.set_ylabel("mean error of the two, %")
        _base.percent_axis(ax.yaxis)
        if self.kept is not None:
            _base.legend(ax, loc="best", fontsize=None)
        return self


def _outline(
    ax: Axes, x: FloatArray, y: FloatArray, dash: str, marker: str, **look: str
) -> None:
    on = hull_of(x, y)
    ring = np.append(on, on[0])
    ax.plot(x[ring], y[ring], dash, color=look["color"], lw=1.4, zorder=4)
    ax.plot([], [], dash, marker=marker, ms=4, **look)


def hull_of(x: FloatArray, y: FloatArray) -> IntArray:
    """Return the positions of the points on the convex hull, along its outline.

    Collinear points have no area; their hull is the two ends.
    """
    places = np.column_stack([x, y])
    with suppress(QhullError):  # fewer than three points, or all on a line
        return np.asarray(ConvexHull(places).vertices, dtype=np.intp)
    return np.unique(np.lexsort((y, x))[[0, -1]])
