"""Plots of pairs of members: kappa against error, and agreement."""

from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Self

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap, to_rgb
from scipy.cluster import hierarchy
from scipy.spatial import ConvexHull, QhullError
from scipy.spatial.distance import squareform

from quorate._theory import pairwise_diversity
from quorate._typing import BoolArray, FloatArray, IntArray, Outputs
from quorate._votes import VoteCounts, totals
from quorate.display import _base
from quorate.display._base import ALL, CROWD, KEPT, SupportDisplay, as_support

_MOST = 5000
# From almost transparent to the hue of all members.
_FADING = LinearSegmentedColormap.from_list(
    "fading", [(*to_rgb(ALL), 0.15), (*to_rgb(ALL), 1.0)], N=32
)


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


_READABLE = 40
_FINEST = 150
_WORTH_ORDERING = 150


@dataclass(eq=False, repr=False)
class AgreementDisplay(SupportDisplay):
    """Map of how often each two members vote alike, like members side by side.

    Bright blocks along the diagonal are groups of members that say the same; keeping
    many of one group adds little. Triangles mark the kept members.

    Parameters
    ----------
    agreement : ndarray of shape (n_members, n_members)
        Share of samples on which two members vote for the same class.
    order : ndarray of int of shape (n_members,)
        Members in the order of a hierarchical clustering.
    kept : ndarray of bool of shape (n_members,), optional
        Which members are kept.
    names : tuple of str
        Names of the members.

    Attributes
    ----------
    ax_, figure_
        Where it was drawn.

    Examples
    --------
    >>> import quorate
    >>> votes = quorate.Votes([[0, 1, 1], [1, 0, 0], [0, 1, 0]], [0, 1, 1])
    >>> display = quorate.display.AgreementDisplay.from_votes(votes)
    >>> display.agreement.round(2)
    array([[1.  , 0.  , 0.67],
           [0.  , 1.  , 0.33],
           [0.67, 0.33, 1.  ]])
    """

    agreement: FloatArray
    order: IntArray
    kept: BoolArray | None
    names: tuple[str, ...]

    @classmethod
    def from_votes(cls, votes: VoteCounts, support: Any = None) -> Self:
        """Count equal votes and cluster the members.

        Parameters
        ----------
        votes : Votes or Summary
        support : array-like of bool or int, optional
            Members kept, as a mask or positions.
        """
        same, total = totals.agreement(votes)
        # Agreement is undefined for members without common samples.
        share = np.where(total > 0, same / np.maximum(total, 1), 0.5)
        return cls(
            agreement=share,
            order=_leaves(share),
            kept=as_support("AgreementDisplay", votes, support),
            names=votes.names,
        )

    @property
    def pairs(self) -> FloatArray:
        """Agreement of each pair of different members."""
        return self.agreement[np.triu_indices(self.order.size, k=1)]

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw the map as an image; of many members, averages of neighbours.

        Parameters
        ----------
        ax : matplotlib axes, optional
            A new figure by default.
        """
        ax, ink = self._axes(ax, 6.0, 5.2)
        n = self.order.size
        image = ax.imshow(
            self.image(), extent=(-0.5, n - 0.5, n - 0.5, -0.5), aspect="equal",
            interpolation="nearest", cmap=matplotlib.colormaps["cividis"].resampled(32),
        )  # fmt: skip
        for spine in ax.spines.values():
            spine.set_visible(False)
        labels = [_base.plain(self.names[member], 18) for member in self.order]
        if n <= _READABLE:
            ax.set_yticks(range(n), labels, fontsize="x-small")
            ax.set_xticks(range(n), labels, fontsize="x-small", rotation=90)
            ax.tick_params(length=0, pad=8)
        else:
            ax.set(xticks=[], yticks=[])
            ax.set_xlabel(f"{n} members, similar ones side by side", labelpad=10)
        if self.kept is not None:
            places = np.flatnonzero(self.kept[self.order])
            size = float(np.clip(220 / n, 2.5, 6))
            look = {"ls": "none", "color": KEPT, "ms": size, "clip_on": False}
            above, beside = np.full(places.size, 1.012), np.full(places.size, -0.012)
            across, down = ax.get_xaxis_transform(), ax.get_yaxis_transform()
            ax.plot(places, above, marker="v", transform=across, **look)
            ax.plot(beside, places, marker=">", transform=down, **look)
            _base.heading(ax, f"▼ {places.size} kept", color=KEPT, pad=10)
        bar = self.figure_.colorbar(image, ax=ax, shrink=0.8)
        bar.set_label("share of samples with the same vote", color=ink)
        bar.outline.set_visible(False)
        return self

    def image(self) -> FloatArray:
        """Return the image: agreement in order, empty on the diagonal.

        For many members, neighbours are averaged to keep the image small.
        """
        ordered: FloatArray = self.agreement[np.ix_(self.order, self.order)]
        n = len(ordered)
        if n > 1:
            np.fill_diagonal(ordered, np.nan)
        if n <= _FINEST:
            return ordered
        cuts = np.linspace(0, n, _FINEST + 1).astype(np.intp)[:-1]
        known = ~np.isnan(ordered)
        total, count = (
            np.add.reduceat(np.add.reduceat(table, cuts, axis=0), cuts, axis=1)
            for table in (np.where(known, ordered, 0.0), known.astype(float))
        )
        return np.asarray(np.where(count > 0, total / np.maximum(count, 1), np.nan))


def _leaves(agreement: FloatArray) -> IntArray:
    """Return the members in the leaf order of an average-linkage tree."""
    n = len(agreement)
    if n < 3:
        return np.arange(n)
    distance = squareform(1.0 - agreement, checks=False)
    tree = hierarchy.linkage(distance, "average", optimal_ordering=n <= _WORTH_ORDERING)
    return np.asarray(hierarchy.leaves_list(tree), dtype=np.intp)
