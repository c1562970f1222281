"""Size against accuracy, for methods that choose their own size."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from quorate._messages import unknown_name
from quorate._typing import Array, FloatArray
from quorate.display._axes import figure_of, one_axes
from quorate.display._base import Display
from quorate.display._colours import ALL, HUES, MARKERS, text_colour
from quorate.display._points import label_points
from quorate.display._study_columns import column, words
from quorate.display._text import percent_axis, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from quorate.study import Results


@dataclass(eq=False, repr=False)
class SizeAccuracyDisplay(Display):
    """Size kept against accuracy, for methods that choose their own size.

    Small marks are data sets, large ones the means of methods. Accuracy is compared
    with the whole ensemble's, as data sets differ more than methods do.

    Parameters
    ----------
    methods : tuple of str
        Names of the methods.
    method : ndarray of int of shape (n_points,)
        The method of each point.
    share : ndarray of shape (n_points,)
        Share of members kept.
    gain : ndarray of shape (n_points,)
        Accuracy minus the whole ensemble's.
    others : dict from name to pair of float, optional
        Mean share and gain of methods that keep what they are told.

    Attributes
    ----------
    ax_, figure_
        Where it was drawn.

    Examples
    --------
    >>> import numpy as np
    >>> from quorate.display import SizeAccuracyDisplay
    >>> display = SizeAccuracyDisplay(("pep",), np.array([0, 0]), np.array([0.2, 0.3]),
    ...                               np.array([0.0, -0.01]))
    >>> display.means
    {'pep': (0.25, -0.005)}
    """

    methods: tuple[str, ...]
    method: Array
    share: FloatArray
    gain: FloatArray
    others: dict[str, tuple[float, float]] | None = None

    @classmethod
    def from_results(cls, results: "Results", *, methods: Any = None) -> Self:
        """Average each data set over its folds, and find the methods to show.

        Parameters
        ----------
        results : Results
        methods : list of str, optional
            The methods to show in full. By default those that anywhere keep another
            number than most methods do with as many members; a method that keeps all
            is not shown.
        """
        chosen = methods_of_own_size(results) if methods is None else tuple(methods)
        for name in chosen:
            if name not in results.methods:
                raise ValueError(unknown_name("method", name, results.methods))
        if not chosen:
            raise ValueError(
                f"{results.name}: every method keeps as many members as the others; "
                "name the methods to show."
            )
        method = words(results, "method")
        block = np.char.add(words(results, "data"), words(results, "ensemble"))
        share = column(results, "kept") / column(results, "members")
        gain = column(results, "accuracy") - column(results, "full_accuracy")
        means: dict[str, list[tuple[float, float]]] = {}
        for name in results.methods:
            mine = method == name
            means[name] = [
                (float(share[cells].mean()), float(gain[cells].mean()))
                for cells in (mine & (block == one) for one in np.unique(block[mine]))
            ]
        flat = [(chosen.index(name), *pair) for name in chosen for pair in means[name]]
        number, shares, gains = (np.array(part) for part in zip(*flat, strict=True))
        others = {
            name: tuple(np.mean(pairs, axis=0).tolist())
            for name, pairs in means.items()
            if name not in chosen and np.mean([pair[0] for pair in pairs]) < 1
        }
        return cls(chosen, number, shares, gains, others)

    @property
    def means(self) -> dict[str, tuple[float, float]]:
        """Mean share kept and mean gain of each method."""
        return {
            name: (
                float(self.share[self.method == at].mean()),
                float(self.gain[self.method == at].mean()),
            )
            for at, name in enumerate(self.methods)
        }

    def plot(self, ax: "Axes | None" = None) -> Self:
        """Draw the data sets and the means.

        Parameters
        ----------
        ax : matplotlib axes, optional
            A new figure by default.
        """
        ax = one_axes("SizeAccuracyDisplay", ax, 6.6, 4.6)
        ink = text_colour(ax)
        ax.axhline(0, color=ink, lw=0.8, alpha=0.6)
        for at in range(len(self.methods)):
            hue, marker = HUES[at % len(HUES)], MARKERS[at % len(MARKERS)]
            mine = self.method == at
            ax.plot(
                self.share[mine], self.gain[mine], marker, color=hue, ms=4, alpha=0.5,
                mew=0,
            )  # fmt: skip
            x, y = self.means[self.methods[at]]
            ax.plot(x, y, marker, color=hue, ms=11, mec=ink, mew=0.8, zorder=4)
        named = dict(self.means)
        if self.others:
            x_all, y_all = zip(*self.others.values(), strict=True)
            ax.plot(x_all, y_all, "+", color=ALL, ms=7, mew=1.4, zorder=3)
            at_mean = np.mean(list(self.others.values()), axis=0)
            named["the others"] = (float(at_mean[0]), float(at_mean[1]))
        ax.set_xlabel("members kept, %")
        ax.set_ylabel("accuracy − that of the whole ensemble,\npercentage points")
        percent_axis(ax.xaxis)
        percent_axis(ax.yaxis)
        ax.set_xlim(0, None)
        ax.set_title(
            "small: data sets, large: means, +: means of methods told their size",
            fontsize="small", loc="left", color=ink,
        )  # fmt: skip
        x_mean, y_mean = zip(*named.values(), strict=True)
        label_points(ax, x_mean, y_mean, [plain(name) for name in named], radius=6)
        self.ax_, self.figure_ = ax, figure_of(ax)
        return self


def methods_of_own_size(results: "Results") -> tuple[str, ...]:
    """Return the methods that keep another number than most, somewhere.

    What most keep is the commonest number, of the cells with as many members, below
    all of them.
    """
    method = words(results, "method")
    kept, members = column(results, "kept"), column(results, "members")
    odd = np.zeros(kept.size, dtype=bool)
    for size in np.unique(members):
        same = (members == size) & (kept < members)
        if same.any():
            numbers, counts = np.unique(kept[same], return_counts=True)
            odd |= same & (kept != numbers[counts.argmax()])
    return tuple(name for name in results.methods if odd[method == name].any())
