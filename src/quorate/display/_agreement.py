"""Which members vote alike: a clustered map of agreement."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from scipy.cluster import hierarchy
from scipy.spatial.distance import squareform

from quorate._typing import BoolArray, FloatArray, IntArray
from quorate._votes import VoteCounts
from quorate.display._axes import figure_of, one_axes
from quorate.display._base import SupportDisplay, as_support
from quorate.display._colours import KEPT, text_colour
from quorate.display._text import plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_READABLE = 40
_FINEST = 150
_WORTH_ORDERING = 150


@dataclass(eq=False, repr=False)
class AgreementDisplay(SupportDisplay):
    """Map of how often each two members vote alike, like members side by side.

    Bright blocks along the diagonal are groups of members that say the same; keeping
    many of one group adds little. Triangles mark the members kept.

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
        same, total = votes.agreement()
        # Two members without a sample in common neither agree nor disagree.
        share = np.where(total > 0, same / np.maximum(total, 1), 0.5)
        return cls(
            agreement=share,
            order=_leaves(share),
            kept=as_support("AgreementDisplay", votes, support),
            names=votes.names,
        )

    def plot(self, ax: "Axes | None" = None, *, colorbar: bool = True) -> Self:
        """Draw the map as an image; of many members, averages of neighbours.

        Parameters
        ----------
        ax : matplotlib axes, optional
            A new figure by default.
        colorbar : bool
            Whether to explain the colours beside it.
        """
        ax = one_axes("AgreementDisplay", ax, 6.0, 5.2)
        ink, n = text_colour(ax), self.order.size
        import matplotlib

        image = ax.imshow(
            self.image(), extent=(-0.5, n - 0.5, n - 0.5, -0.5), aspect="equal",
            interpolation="nearest", cmap=matplotlib.colormaps["cividis"].resampled(32),
        )  # fmt: skip
        for spine in ax.spines.values():
            spine.set_visible(False)
        labels = [plain(self.names[member], 18) for member in self.order]
        if n <= _READABLE:
            ax.set_yticks(range(n), labels, fontsize="x-small")
            ax.set_xticks(range(n), labels, fontsize="x-small", rotation=90)
            ax.tick_params(length=0, pad=8)
        else:
            ax.set(xticks=[], yticks=[])
            ax.set_xlabel(f"{n} members, like ones side by side", labelpad=10)
        if self.kept is not None:
            places = np.flatnonzero(self.kept[self.order])
            size = float(np.clip(220 / n, 2.5, 6))
            style = {"ls": "none", "color": KEPT, "ms": size, "clip_on": False}
            gap = 0.012
            ax.plot(
                places, np.full(places.size, 1 + gap), marker="v",
                transform=ax.get_xaxis_transform(), **style,
            )  # fmt: skip
            ax.plot(
                np.full(places.size, -gap), places, marker=">",
                transform=ax.get_yaxis_transform(), **style,
            )  # fmt: skip
            ax.set_title(
                f"▼ {places.size} kept", color=KEPT, fontsize="small", loc="left",
                pad=10,
            )  # fmt: skip
        if colorbar:
            bar = figure_of(ax).colorbar(image, ax=ax, shrink=0.8)
            bar.set_label("share of samples with the same vote", color=ink)
            bar.outline.set_visible(False)
        self.ax_, self.figure_ = ax, figure_of(ax)
        return self

    def image(self) -> FloatArray:
        """Return what is drawn: agreement in order, empty where a member meets itself.

        Of many members, means of neighbours, so that the picture stays small.
        """
        ordered: FloatArray = self.agreement[np.ix_(self.order, self.order)]
        n = len(ordered)
        if n > 1:
            np.fill_diagonal(ordered, np.nan)
        if n <= _FINEST:
            return ordered
        cuts = np.linspace(0, n, _FINEST + 1).astype(np.intp)[:-1]
        known = ~np.isnan(ordered)
        total = _block_sums(np.where(known, ordered, 0.0), cuts)
        count = _block_sums(known.astype(float), cuts)
        return np.asarray(np.where(count > 0, total / np.maximum(count, 1), np.nan))


def _block_sums(table: FloatArray, cuts: IntArray) -> FloatArray:
    return np.asarray(
        np.add.reduceat(np.add.reduceat(table, cuts, axis=0), cuts, axis=1)
    )


def _leaves(agreement: FloatArray) -> IntArray:
    """Return the members in the order of the leaves of an average-linkage tree."""
    n = len(agreement)
    if n < 3:
        return np.arange(n)
    distance = squareform(1.0 - agreement, checks=False)
    tree = hierarchy.linkage(distance, "average", optimal_ordering=n <= _WORTH_ORDERING)
    return np.asarray(hierarchy.leaves_list(tree), dtype=np.intp)
