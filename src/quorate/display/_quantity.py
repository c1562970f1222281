"""Accuracy, time, space and size of the methods of a study."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np

from quorate._messages import one_of
from quorate._typing import FloatArray
from quorate.display._axes import figure_of, one_axes
from quorate.display._base import Display
from quorate.display._colours import ALL, GOOD, KEPT, text_colour
from quorate.display._text import percent_axis, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from quorate.study import Results

_LABELS = {
    "accuracy": "accuracy, %",
    "seconds": "time to choose members, s",
    "bytes": "memory of the members kept, bytes",
    "kept": "members kept",
}
_RELATIVE = {
    "accuracy": "accuracy − that of the whole ensemble, percentage points",
    "bytes": "memory, % of the whole ensemble's",
    "kept": "members kept, %",
}
_WHOLE = {"accuracy": "full_accuracy", "bytes": "full_bytes", "kept": "members"}


@dataclass(eq=False, repr=False)
class QuantityDisplay(Display):
    """A measured quantity of each method: data sets, quartiles, median.

    Each dot is a data set, the mean over its folds. The bar reaches from the first to
    the third quartile, the diamond is the median.

    Parameters
    ----------
    values : ndarray of shape (n_blocks, n_methods)
        Means over folds.
    methods, blocks : tuple of str
        Their names.
    quantity : {"accuracy", "seconds", "bytes", "kept"}
        What the values are.
    relative : bool
        Whether they are compared with the whole ensemble: a difference of accuracies,
        a share of bytes or members.

    Attributes
    ----------
    ax_, figure_
        Where it was drawn.

    Examples
    --------
    >>> import numpy as np
    >>> from quorate.display import QuantityDisplay
    >>> values = np.array([[0.1, 0.5], [0.2, 0.7]])
    >>> display = QuantityDisplay(values, ("epbd", "pep"), ("iris", "wine"), "seconds")
    >>> np.round(display.medians, 3)
    array([0.15, 0.6 ])
    """

    values: FloatArray
    methods: tuple[str, ...]
    blocks: tuple[str, ...]
    quantity: str = "accuracy"
    relative: bool = False

    def __post_init__(self) -> None:
        one_of("QuantityDisplay", "quantity", self.quantity, tuple(_LABELS))
        if self.relative and self.quantity not in _RELATIVE:
            raise ValueError(
                f"QuantityDisplay(relative=True): {self.quantity} of the whole "
                "ensemble are not known."
            )

    @classmethod
    def from_results(
        cls,
        results: "Results",
        quantity: str = "accuracy",
        *,
        relative: bool = False,
    ) -> Self:
        """Average a quantity over the folds of each complete data set.

        Parameters
        ----------
        results : Results
        quantity : {"accuracy", "seconds", "bytes", "kept"}
        relative : bool
            Compare with the whole ensemble; not for seconds.
        """
        cls(np.zeros((0, 0)), (), (), quantity, relative)  # refuse before computing
        scores = results.scores(quantity).complete_blocks()
        values = scores.means
        if relative:
            whole = results.scores(_WHOLE[quantity])
            some = [whole.blocks.index(block) for block in scores.blocks]
            base = whole.means[some]
            values = values - base if quantity == "accuracy" else values / base
        return cls(values, scores.methods, scores.blocks, quantity, relative)

    @property
    def medians(self) -> FloatArray:
        """The median over data sets, by method."""
        return np.asarray(np.median(self.values, axis=0))

    def plot(self, ax: "Axes | None" = None) -> Self:
        """Draw a row for each method, the best median on top.

        Parameters
        ----------
        ax : matplotlib axes, optional
            A new figure by default.
        """
        n = len(self.methods)
        ax = one_axes("QuantityDisplay", ax, 6.8, 1.0 + 0.3 * n)
        ink = text_colour(ax)
        best_first = -self.medians if self.quantity == "accuracy" else self.medians
        order = np.argsort(best_first, kind="stable")
        rows = np.arange(n)
        absolute = not self.relative
        if absolute and self.quantity in ("seconds", "bytes"):
            ax.set_xscale("log")
            if self.values.size and 0 < self.values.min() == self.values.max():
                # Limits found by matplotlib may differ by a rounding error only.
                ax.set_xlim(self.values.min() / 10, self.values.max() * 10)
        if self.relative and self.quantity == "accuracy":
            ax.axvline(0, color=ink, lw=0.8, alpha=0.6)
        low, middle, high = np.quantile(
            self.values[:, order], [0.25, 0.5, 0.75], axis=0
        )
        ax.hlines(rows, low, high, color=GOOD, lw=7, alpha=0.35)
        for row, method in zip(rows, order, strict=True):
            # A fixed pattern, not chance, keeps dots of one method apart.
            spread = 0.16 * (np.arange(len(self.values)) % 5 - 2) / 2
            ax.plot(
                self.values[:, method], row + spread, "o", color=ALL, ms=3, alpha=0.7,
                mew=0,
            )  # fmt: skip
        ax.plot(middle, rows, "D", color=KEPT, ms=6, mec=ink, mew=0.6, zorder=4)
        ax.set_yticks(rows, [plain(self.methods[at]) for at in order])
        ax.set_ylim(n - 0.5, -0.5)
        labels = _RELATIVE if self.relative else _LABELS
        ax.set_xlabel(labels[self.quantity])
        if self.quantity == "accuracy" or self.relative:
            percent_axis(ax.xaxis)
        elif self.quantity == "kept":
            ax.xaxis.get_major_locator().set_params(integer=True)
        ax.set_title(
            f"● a data set ({len(self.blocks)})   ▬ middle half   ◆ median",
            fontsize="small", loc="left", color=ink,
        )  # fmt: skip
        self.ax_, self.figure_ = ax, figure_of(ax)
        return self
