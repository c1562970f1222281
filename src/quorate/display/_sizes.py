"""Plots of errors against the number of members."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from matplotlib.axes import Axes

from quorate._checks import check_type
from quorate._choosing import Selection, SizeCurve, size_curve
from quorate._scoring import score_for
from quorate._typing import FloatArray, IntArray
from quorate._votes import Votes
from quorate.display import _base
from quorate.display._base import ALL, GOOD, KEPT, Display


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
    def from_selection(cls, selection: Selection) -> Self:
        """Take the curve of a selection.

        Parameters
        ----------
        selection : Selection
            Of a method with an order of picking.
        """
        check_type("from_selection", selection, Selection, "call quorate.select(votes)")
        if flaw := selection.votes.why_unreliable:
            raise ValueError(f"SizeCurveDisplay: {flaw}.")
        if selection.curve is None:
            raise ValueError(
                f"SizeCurveDisplay: {type(selection.pruner).__name__} does not rank "
                "the members, so there is no size curve."
            )
        curve, expected = selection.curve, selection.expected
        shown = cls.from_curve(curve, chosen=selection.n_kept, rule=selection.rule)
        # The curve is that of members as they were trained.
        if expected is not None and not selection.distilled:
            shown.expected, shown.limit = expected.error, expected.limit
        return shown

    @classmethod
    def from_votes(
        cls, votes: Votes, order: Any, *, chosen: int | None = None, scoring: Any = None
    ) -> Self:
        """Compute the curve along an order of members.

        Parameters
        ----------
        votes : Votes
        order : array-like of int
            Members in the order in which they are added.
        chosen : int, optional
            A size to mark.
        scoring : str, scorer, callable or None
            What to draw instead of errors; see :func:`quorate.select`.
        """
        score = score_for(scoring, votes, "SizeCurveDisplay")
        return cls.from_curve(size_curve(votes, order, score), chosen=chosen)

    @classmethod
    def from_curve(
        cls, curve: SizeCurve, *, chosen: int | None = None, rule: str = ""
    ) -> Self:
        """Create from a :class:`quorate.results.SizeCurve`."""
        check_type("from_curve", curve, SizeCurve, "use the curve of a Selection")
        if chosen is not None and not 1 <= chosen <= curve.order.size:
            raise ValueError(
                f"SizeCurveDisplay(chosen={chosen!r}): must be a size from 1 to "
                f"{curve.order.size}."
            )
        line = curve.sizes, curve.errors, curve.standard_errors, curve.full_error
        return cls(*line, chosen, rule, curve.scoring, curve.score.top)

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw the curve: errors, or the score if it is not accuracy.

        Parameters
        ----------
        ax : matplotlib axes, optional
            A new figure by default.
        """
        ax, _ = self._axes(ax, 6.4, 4.0)
        named = self.scoring != "accuracy"
        shown = self.scoring.replace("_", " ") if named else "error"
        write = "{:.4f}".format if named else _base.percent
        line = self.top - self.errors if named else self.errors
        full = self.top - self.full_error if named else self.full_error
        sizes = self.sizes
        ax.fill_between(
            sizes, line - self.standard_errors, line + self.standard_errors,
            color=GOOD, alpha=0.2, lw=0, label="± one standard error",
        )  # fmt: skip
        dots = "o" if sizes.size <= 30 else ""
        ax.plot(
            sizes, line, f"-{dots}", color=GOOD, ms=3, lw=1.8,
            label=f"{shown} of the first members",
        )  # fmt: skip
        label = f"all members: {write(full)}"
        ax.axhline(full, color=ALL, ls="--", lw=1.4, label=label)
        marks = [full, *self._mark_chosen(ax, line, named, write)]
        ax.set_xlabel("members")
        ax.set_ylabel(shown if named else f"{shown}, %")
        self._look_closely(ax, line, marks)
        last = max(sizes[-1], self.chosen or 0) + 0.5
        ax.set_xlim(0.5 if sizes[-1] <= 10 else 0, last)
        ax.xaxis.get_major_locator().set_params(integer=True)
        if not named:
            _base.percent_axis(ax.yaxis)
        _base.legend(ax, loc="lower right" if named else "upper right")
        return self

    def _mark_chosen(
        self, ax: Axes, line: FloatArray, upwards: bool, write: Callable[[float], str]
    ) -> list[float]:
        """Mark the chosen size; return the heights of the marks."""
        if self.chosen is None:
            return []
        at = float(line[self.chosen - 1])
        marks, text = [at], write(at)
        if self.expected is not None and self.limit is not None:
            marks = [self.expected, self.limit]
            if upwards:
                marks = [self.top - error for error in marks]
            at, most = marks
            text = (
                f"about {write(at)}, at {'least' if upwards else 'most'} {write(most)}"
            )
            ax.plot([self.chosen] * 2, marks, color=KEPT, lw=1.6, zorder=3)
        rule = f" ({_base.plain(self.rule, 40)})" if self.rule else ""
        ax.plot(
            self.chosen, at, "D", color=KEPT, ms=8, mec=_base.text_colour(ax), zorder=4,
            label=f"{self.chosen} kept{rule}: {text}",
        )  # fmt: skip
        return marks

    def _look_closely(self, ax: Axes, line: FloatArray, marks: list[float]) -> None:
        """Crop the high errors of the first few members."""
        start = min(2 + self.sizes.size // 20, self.sizes.size - 1)
        start = min(start, (self.chosen or self.sizes.size) - 1)
        low = np.nanmin([*(line - self.standard_errors)[start:], *marks])
        high = np.nanmax([*(line + self.standard_errors)[start:], *marks])
        room = 0.08 * max(float(high - low), 1e-3)
        least = 0.0 if self.scoring == "accuracy" else -np.inf
        ax.set_ylim(max(low - room, least), min(high + room, self.top or np.inf))
