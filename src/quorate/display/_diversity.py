"""Thirteen measures of diversity, before and after."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np

from quorate._messages import one_of
from quorate._theory import diversity, measures
from quorate._typing import FloatArray
from quorate._votes import VoteCounts, Votes, check_votes
from quorate.display._axes import figure_of, new_figure, one_axes, require_matplotlib
from quorate.display._base import SupportDisplay, as_support
from quorate.display._colours import ALL, KEPT, text_colour
from quorate.display._text import plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_ARROWS = {"higher": "↑", "lower": "↓", "not monotone": "↕"}


@dataclass(eq=False, repr=False)
class DiversityDisplay(SupportDisplay):
    """The measures of diversity side by side, before and after.

    Measures have different ranges, and some fall as diversity grows. The picture shows
    how far up its range each one is, turned so that longer always means more diverse;
    the numbers are the plain values. An arrow says which plain values mean more
    diverse: ↑ higher, ↓ lower, ↕ neither (``error_gap`` is good or bad depending on
    the members' errors, and is shown as its place in its range).

    Parameters
    ----------
    measures : tuple of str
        Their names.
    before : ndarray of shape (n_measures,)
        Values of all members.
    after : ndarray of shape (n_measures,), optional
        Values of the members kept.
    ranges : ndarray of shape (n_measures, 2)
        Smallest and largest value each can take.

    Attributes
    ----------
    ax_, figure_
        Where it was drawn.

    Examples
    --------
    >>> import quorate
    >>> votes = dict(quorate.testing.example_votes())["two classes"]
    >>> display = quorate.display.DiversityDisplay.from_votes(votes, [0, 1, 2])
    >>> len(display.measures), display.before.shape, display.after.shape
    (13, (13,), (13,))
    """

    measures: tuple[str, ...]
    before: FloatArray
    after: FloatArray | None
    ranges: FloatArray

    @classmethod
    def from_votes(cls, votes: VoteCounts, support: Any = None) -> Self:
        """Measure the votes; weights are not looked at.

        Parameters
        ----------
        votes : Votes or Summary
            A summary without ``support``: it has no votes of some members.
        support : array-like of bool or int, optional
            Members kept, as a mask or positions.
        """
        mask = as_support("DiversityDisplay", votes, support)
        equal = votes.unweighted()
        before, after = diversity(equal), None
        if mask is not None:
            check_votes(votes, "DiversityDisplay(support=...)")
            assert isinstance(equal, Votes)
            after = diversity(equal.keep(mask))
        names = tuple(before)
        limits = _ranges(votes.n_members, votes.n_classes)
        return cls(
            measures=names,
            before=np.array([before[name] for name in names]),
            after=None if after is None else np.array([after[name] for name in names]),
            ranges=np.array([limits[name] for name in names]),
        )

    def place(self, values: FloatArray) -> FloatArray:
        """Return where values are in their ranges: 0 least diverse, 1 most."""
        known = measures()
        low, high = self.ranges.T
        share = (values - low) / (high - low)
        falls = np.array([known[name].direction == "lower" for name in self.measures])
        return np.asarray(np.clip(np.where(falls, 1.0 - share, share), 0.0, 1.0))

    def plot(
        self,
        ax: "Axes | None" = None,
        *,
        kind: Literal["bar", "radar"] = "bar",
        names: tuple[str, str] = ("all members", "kept"),
    ) -> Self:
        """Draw the measures.

        Parameters
        ----------
        ax : matplotlib axes, optional
            A new figure by default. A radar needs polar axes.
        kind : {"bar", "radar"}
            Bars with the plain values, or a star with a spoke per measure.
        names : pair of str
            What to call before and after.
        """
        one_of("DiversityDisplay.plot", "kind", kind, ("bar", "radar"))
        ax = self._bars(ax, names) if kind == "bar" else self._radar(ax, names)
        self.ax_, self.figure_ = ax, figure_of(ax)
        return self

    def _labels(self) -> list[str]:
        known = measures()
        return [f"{name} {_ARROWS[known[name].direction]}" for name in self.measures]

    def _groups(self, names: tuple[str, str]) -> list[tuple[FloatArray, str, str, str]]:
        groups = [(self.before, ALL, "", plain(names[0]))]
        if self.after is not None:
            groups.append((self.after, KEPT, "////", plain(names[1])))
        return groups

    def _bars(self, ax: "Axes | None", names: tuple[str, str]) -> "Axes":
        ax = one_axes("DiversityDisplay", ax, 7.0, 5.6)
        rows = np.arange(len(self.measures))
        groups = self._groups(names)
        high = 0.78 / len(groups)
        for at, (values, hue, hatch, name) in enumerate(groups):
            share = self.place(values)
            offset = (at - (len(groups) - 1) / 2) * high
            bars = ax.barh(
                rows + offset, np.nan_to_num(share), high * 0.9, label=name,
                facecolor=hue if not hatch else "none", edgecolor=hue, hatch=hatch,
                linewidth=1,
            )  # fmt: skip
            ax.bar_label(
                bars, [f"{value:.3f}" for value in values], padding=3,
                fontsize="x-small", color=text_colour(ax),
            )  # fmt: skip
        ax.set_yticks(rows, self._labels())
        ax.set_ylim(len(rows) - 0.5, -0.5)
        ax.set_xlim(0, 1.12 * max(float(p.get_width()) for p in ax.patches))
        ax.set_xlabel("place in its range: 0 least, 1 most diverse")
        if len(groups) > 1:
            ax.legend(
                frameon=False, labelcolor=text_colour(ax), ncols=2, loc="lower left",
                bbox_to_anchor=(0, 1),
            )  # fmt: skip
        return ax

    def _radar(self, ax: "Axes | None", names: tuple[str, str]) -> "Axes":
        require_matplotlib("DiversityDisplay")
        if ax is None:
            ax = new_figure(6.4, 5.6).subplots(subplot_kw={"polar": True})
        if ax.name != "polar":
            raise ValueError(
                "DiversityDisplay.plot(kind='radar'): give polar axes, as made with "
                "subplot_kw={'polar': True}."
            )
        turn = np.linspace(0, 2 * np.pi, len(self.measures), endpoint=False)
        around = np.append(turn, 2 * np.pi)
        groups = self._groups(names)
        for at, (values, hue, _, name) in enumerate(groups):
            share = np.nan_to_num(self.place(values))
            ring = np.append(share, share[0])
            ax.plot(
                around, ring, "-o" if at == 0 else "--D", color=hue, lw=1.8, ms=4,
                label=name,
            )  # fmt: skip
            ax.fill(around, ring, color=hue, alpha=0.12, lw=0)
        ax.set_theta_zero_location("N")
        ax.set_theta_direction(-1)
        ax.set_ylim(0, None)
        ax.set_xticks(turn, [""] * turn.size)
        edge = 1.06 * ax.get_ylim()[1]
        for angle, label in zip(turn, self._labels(), strict=True):
            side = np.sin(angle)
            ax.text(
                angle, edge, label, fontsize="small", color=text_colour(ax),
                va="center",
                ha="left" if side > 0.1 else "right" if side < -0.1 else "center",
            )  # fmt: skip
        ax.grid(alpha=0.3)
        ax.spines["polar"].set_visible(False)
        ax.tick_params(axis="y", labelsize="x-small")
        ax.set_title("further out is more diverse", fontsize="small", pad=24)
        if len(groups) > 1:
            ax.legend(
                frameon=False, labelcolor=text_colour(ax), ncols=2, loc="upper center",
                bbox_to_anchor=(0.5, -0.08),
            )  # fmt: skip
        return ax


def _ranges(n_members: int, n_classes: int) -> dict[str, tuple[float, float]]:
    """Return the smallest and largest value of each measure, as in the catalogue."""
    most = np.log(min(max(n_members, 2), max(n_classes, 2)))
    limits = {
        "[0, 1]": (0.0, 1.0),
        "[-1, 1]": (-1.0, 1.0),
        "[0, 1/4]": (0.0, 0.25),
        "[-1/(n-1), 1]": (-1.0 / max(n_members - 1, 1), 1.0),
        "[0, ln min(n, L)]": (0.0, float(most)),
        "(-1/2, 1 - 1/L)": (-0.5, 1.0 - 1.0 / max(n_classes, 2)),
    }
    return {name: limits[measure.range] for name, measure in measures().items()}
