"""Error over the number of members, with the size that was chosen."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np

from quorate._choosing import SizeCurve, size_curve
from quorate._messages import one_of
from quorate._typing import FloatArray, IntArray
from quorate._votes import Votes, why_not_scorable
from quorate.display._axes import figure_of, one_axes
from quorate.display._base import Display
from quorate.display._colours import ALL, GOOD, KEPT, text_colour
from quorate.display._text import percent, percent_axis, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from quorate._choosing import Selection


@dataclass(eq=False, repr=False)
class SizeCurveDisplay(Display):
    """Error of the vote over the number of members, along the order of a method.

    The band is one standard error to each side. A size whose line is within the band
    of the best is not clearly worse than it; the dashed line is the whole ensemble.

    Where the number of members was found by errors, the line is that of samples that
    did not choose; out of bag, of the first so many that may vote on a sample. The mark
    of such a size is what to expect of it, by samples that found neither members nor
    size, and the line above it what that is at most, with 95 % confidence.

    Parameters
    ----------
    sizes : ndarray of int of shape (n_sizes,)
    errors, standard_errors : ndarray of shape (n_sizes,)
        Error of the vote of the first so many members, and its standard error.
    full_error : float
        Error of the whole ensemble.
    chosen : int, optional
        The size that was chosen.
    rule : str
        How it was chosen.
    scoring : str
        What is drawn, if not errors or accuracy: the name of a score.
    top : float
        The best it can be; errors are what is missing to that.
    expected, limit : float, optional
        Error to expect of the chosen size, and what it is at most.

    Attributes
    ----------
    ax_, figure_
        Where it was drawn.

    Examples
    --------
    >>> import quorate
    >>> votes = dict(quorate.testing.example_votes())["two classes"]
    >>> selection = quorate.select(votes, "re", keep="auto")
    >>> display = quorate.display.SizeCurveDisplay.from_selection(selection)
    >>> display.chosen == selection.n_kept
    True
    """

    sizes: IntArray
    errors: FloatArray
    standard_errors: FloatArray
    full_error: float
    chosen: int | None = None
    rule: str = ""
    scoring: str = "accuracy"
    top: float = 1.0
    expected: float | None = None
    limit: float | None = None

    @classmethod
    def from_selection(cls, selection: "Selection") -> Self:
        """Take the curve of a selection.

        Parameters
        ----------
        selection : Selection
            Of a method with an order of picking.
        """
        if flaw := why_not_scorable(selection.source):
            raise ValueError(f"SizeCurveDisplay: {flaw}.")
        if selection.curve is None:
            raise ValueError(
                f"SizeCurveDisplay: {type(selection.pruner).__name__} has no order of "
                "picking, so there is no curve along it."
            )
        found = cls.from_curve(
            selection.curve, chosen=selection.n_kept, rule=selection.rule
        )
        if selection.expected is not None:
            found.expected, found.limit = (
                selection.expected.error,
                selection.expected.limit,
            )
        return found

    @classmethod
    def from_votes(
        cls, votes: Votes, order: Any, *, chosen: int | None = None, scoring: Any = None
    ) -> Self:
        """Compute the curve along an order of members.

        Parameters
        ----------
        votes : Votes
        order : array-like of int
            Members in the order in which they come in.
        chosen : int, optional
            A size to mark.
        scoring : str, scorer, callable or None
            What to draw instead of errors; see :func:`quorate.select`.
        """
        curve = size_curve(votes, order, scoring=scoring)
        return cls.from_curve(curve, chosen=chosen)

    @classmethod
    def from_curve(
        cls, curve: SizeCurve, *, chosen: int | None = None, rule: str = ""
    ) -> Self:
        """Take a :class:`quorate._choosing.SizeCurve`."""
        if chosen is not None and not 1 <= chosen <= curve.order.size:
            raise ValueError(
                f"SizeCurveDisplay(chosen={chosen!r}): a size from 1 to "
                f"{curve.order.size}."
            )
        return cls(
            curve.sizes,
            curve.errors,
            curve.standard_errors,
            curve.full_error,
            chosen,
            rule,
            curve.scoring,
            1.0 if curve.score is None else curve.score.top,
        )

    def plot(
        self,
        ax: "Axes | None" = None,
        *,
        score: Literal["error", "accuracy"] = "error",
    ) -> Self:
        """Draw the curve.

        Parameters
        ----------
        ax : matplotlib axes, optional
            A new figure by default.
        score : {"error", "accuracy"}
            What to show upwards. A curve of another score shows that score.
        """
        one_of("SizeCurveDisplay.plot", "score", score, ("error", "accuracy"))
        ax = one_axes("SizeCurveDisplay", ax, 6.4, 4.0)
        ink = text_colour(ax)
        named = self.scoring != "accuracy"
        upwards = named or score == "accuracy"
        shown = self.scoring.replace("_", " ") if named else score
        line = self.top - self.errors if upwards else self.errors
        full, at, most = (
            float("nan") if error is None else self.top - error if upwards else error
            for error in (self.full_error, self.expected, self.limit)
        )
        sizes = self.sizes
        written = "{:.4f}".format if named else percent
        ax.fill_between(
            sizes, line - self.standard_errors, line + self.standard_errors,
            color=GOOD, alpha=0.2, lw=0, label="± one standard error",
        )  # fmt: skip
        dots = "o" if sizes.size <= 30 else ""
        ax.plot(
            sizes, line, f"-{dots}", color=GOOD, ms=3, lw=1.8,
            label=f"{shown} of the first members",
        )  # fmt: skip
        ax.axhline(
            full, color=ALL, ls="--", lw=1.4, label=f"all members: {written(full)}"
        )
        if self.chosen is not None:
            if self.expected is None:
                at = float(line[self.chosen - 1])
                told = written(at)
            else:
                bound = "least" if upwards else "most"
                told = f"about {written(at)}, at {bound} {written(most)}"
                ax.plot([self.chosen] * 2, [at, most], color=KEPT, lw=1.6, zorder=3)
            rule = f" ({plain(self.rule, 40)})" if self.rule else ""
            ax.plot(
                self.chosen, at, "D", color=KEPT, ms=8, mec=ink, zorder=4,
                label=f"{self.chosen} kept{rule}: {told}",
            )  # fmt: skip
        ax.set_xlabel("members")
        ax.set_ylabel(shown if named else f"{shown}, %")
        self._look_closely(ax, line, [full, at, most])
        ax.set_xlim(
            0.5 if sizes[-1] <= 10 else 0, max(sizes[-1], self.chosen or 0) + 0.5
        )
        ax.xaxis.get_major_locator().set_params(integer=True)
        if not named:
            percent_axis(ax.yaxis)
        ax.legend(
            frameon=False, labelcolor=ink, fontsize="small",
            loc="lower right" if upwards else "upper right",
        )  # fmt: skip
        self.ax_, self.figure_ = ax, figure_of(ax)
        return self

    def _look_closely(self, ax: "Axes", line: FloatArray, marks: list[float]) -> None:
        """Let the first few members, whose vote is poor, leave the picture."""
        start = min(2 + self.sizes.size // 20, self.sizes.size - 1)
        start = min(start, (self.chosen or self.sizes.size) - 1)
        low = np.append((line - self.standard_errors)[start:], marks)
        high = np.append((line + self.standard_errors)[start:], marks)
        low, high = low[np.isfinite(low)], high[np.isfinite(high)]
        room = 0.08 * max(float(high.max() - low.min()), 1e-3)
        least = 0.0 if self.scoring == "accuracy" else -np.inf
        lowest = max(float(low.min()) - room, least)
        ax.set_ylim(lowest, min(float(high.max()) + room, self.top or np.inf))
