"""Plots of diversity measures and of the error decomposition."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from matplotlib.axes import Axes

from quorate._theory import decompose, diversity, measures
from quorate._typing import FloatArray
from quorate._votes import VoteCounts, Votes, check_votes
from quorate.display import _base
from quorate.display._base import (
    ALL,
    BAD,
    GOOD,
    KEPT,
    SupportDisplay,
    VotesDisplay,
    as_support,
)
from quorate.display._study import cells_of
from quorate.study import Results

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
        Values of the kept members.
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
        equal, after = votes.unweighted(), None
        if mask is not None:
            check_votes(votes, "DiversityDisplay(support=...)")
            assert isinstance(equal, Votes)
            after = np.array(list(diversity(equal.keep(mask)).values()))
        before, ranges = diversity(equal), _ranges(votes.n_members, votes.n_classes)
        return cls(tuple(before), np.array(list(before.values())), after, ranges)

    def place(self, values: FloatArray) -> FloatArray:
        """Return where values are in their ranges: 0 least diverse, 1 most."""
        low, high = self.ranges.T
        share = (values - low) / (high - low)
        falls = [measures()[name].direction == "lower" for name in self.measures]
        return np.asarray(np.clip(np.where(falls, 1.0 - share, share), 0.0, 1.0))

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw the measures as bars with their plain values.

        Parameters
        ----------
        ax : matplotlib axes, optional
            A new figure by default.
        """
        ax, ink = self._axes(ax, 7.0, 5.6)
        groups = [(self.before, ALL, "all members")]
        if self.after is not None:
            groups.append((self.after, KEPT, "kept"))
        rows = np.arange(len(self.measures))
        high = 0.78 / len(groups)
        for at, (values, hue, name) in enumerate(groups):
            offset = (at - (len(groups) - 1) / 2) * high
            hatch, fill = ("////", "none") if at else ("", hue)
            bars = ax.barh(
                rows + offset, np.nan_to_num(self.place(values)), high * 0.9,
                label=name, facecolor=fill, edgecolor=hue, hatch=hatch, linewidth=1,
            )  # fmt: skip
            texts = [f"{value:.3f}" for value in values]
            ax.bar_label(bars, texts, padding=3, fontsize="x-small", color=ink)
        known = measures()
        labels = [f"{name} {_ARROWS[known[name].direction]}" for name in self.measures]
        _base.name_rows(ax, labels)
        ax.set_xlim(0, 1.12 * max(float(p.get_width()) for p in ax.patches))
        ax.set_xlabel("place in its range: 0 least, 1 most diverse")
        if len(groups) > 1:
            _base.legend(ax, above=True, ncols=2, fontsize=None)
        return self


def _ranges(n_members: int, n_classes: int) -> FloatArray:
    """Return the smallest and largest value of each measure, from the catalogue."""
    n, n_classes = max(n_members, 2), max(n_classes, 2)
    limits = {
        "[0, 1]": (0.0, 1.0),
        "[-1, 1]": (-1.0, 1.0),
        "[0, 1/4]": (0.0, 0.25),
        "[-1/(n-1), 1]": (-1.0 / (n - 1), 1.0),
        "[0, ln min(n, L)]": (0.0, np.log(min(n, n_classes))),
        "(-1/2, 1 - 1/L)": (-0.5, 1.0 - 1.0 / n_classes),
    }
    return np.array([limits[measure.range] for measure in measures().values()])


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
